"""What pages are made of and how their parts behave: exercises, terms, contents, scripts, heads, weight."""

import base64
import hashlib
import re
from collections import Counter

import pytest
from browsing import DESK, POLICY, settled
from playwright.sync_api import expect
from small_course import ROOT

from book.recording.notebooks import in_book_order
from book.site import icons, scripts

PHONE = {"width": 320, "height": 700}


@pytest.fixture(scope="module")
def texts(site, pages):
    return {name: (site / name).read_text(encoding="utf-8") for name in pages}


def test_no_id_is_given_twice(texts):
    twice = {}
    for name, text in texts.items():
        ids = Counter(
            re.findall(r'<[^>]+\sid="([^"]+)"', re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL))
        )
        if repeated := [one for one, count in ids.items() if count > 1]:
            twice[name] = repeated
    assert twice == {}


def test_each_page_has_one_viewport_and_one_title(texts):
    for name, text in texts.items():
        assert text.count('<meta name="viewport"') == 1, name
        assert len(re.findall("<title>.*?</title>", text[: text.index("</head>")], re.DOTALL)) == 1, name


def test_titles_name_the_page_and_the_site_once(texts):
    assert "<title>Recurrent neural networks, executed</title>" in texts["index.html"]
    chapter = "<title>Recurrent neural networks — Recurrent neural networks, executed</title>"
    assert chapter in texts["chapters/rnn.html"]


def test_no_page_but_the_lone_one_has_a_script_in_its_text(texts):
    inline = re.compile(r"<script>|\son[a-z]+=\"")
    assert [name for name, text in texts.items() if inline.search(text)] == ["404.html"]


def test_the_policy_names_the_script_of_the_lone_page(texts):
    script = re.search(r"<script>(.*?)</script>", texts["404.html"], re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in POLICY


def test_scripts_move_into_files_that_pages_of_a_folder_find(tmp_path):
    (tmp_path / "scripts").mkdir()
    page = (
        '<p onclick="window.print()"></p><script>\nrun()</script><script type="application/json">{}</script>'
    )
    moved = scripts.move_out(page, "../", tmp_path)
    name = re.search(r'<script src="\.\./_static/scripts/([0-9a-f]{12}\.js)"></script>', moved)[1]
    assert (tmp_path / "scripts" / name).read_text(encoding="utf-8") == "run()"
    assert '<p data-click="window.print"></p>' in moved
    assert '<script type="application/json">{}</script>' in moved


def test_the_answers_of_a_quiz_are_not_on_the_page(texts):
    assert [name for name, text in texts.items() if "Show code cell content" in text] == []
    source = (ROOT / "chapters" / "rnn.md").read_text(encoding="utf-8")
    assert "# Question 2" in source
    assert "# Question 2" not in texts["chapters/rnn.html"]


def test_an_icon_that_a_page_shows_is_in_the_font_and_others_are_not(site):
    css = (site / "_static" / "styles" / "site.css").read_text(encoding="utf-8")
    assert ".fa-magnifying-glass:before" in css
    assert ".fa-volleyball:before" not in css
    assert (site / "_static" / "styles" / "fa-solid-900.woff").stat().st_size < 10_000
    assert not icons.FACE.search(css)


def test_tables_of_times_are_in_the_books_order():
    found = re.findall(
        r"`/(chapters/[\w-]+)`", (ROOT / "book/proof/tables/times.md").read_text(encoding="utf-8")
    )
    assert found == in_book_order(sorted(found)) != sorted(found)


def test_the_footer_says_the_licence(texts):
    assert all("licenses/by/4.0" in text for name, text in texts.items() if name != "404.html")


# In the browser


def test_a_solution_opens_by_a_click_on_its_title_and_by_key(page, address):
    page.goto(f"{address}chapters/sequences.html")
    settled(page)
    solution = page.locator("details.solution").first
    title = solution.locator("summary")
    assert title.inner_text().startswith("Solution: ")
    title.click(position={"x": 300, "y": 10})
    assert solution.get_attribute("open") is not None
    title.press("Enter")
    assert solution.get_attribute("open") is None


def test_solutions_have_the_names_of_their_exercises(page, address, pages):
    for name in [name for name in pages if name.startswith("chapters/")]:
        page.goto(f"{address}{name}")
        exercises = page.locator("div.exercise > .admonition-title").all_text_contents()
        solutions = page.locator("details.solution > summary").all_text_contents()
        assert [f"Exercise ({one.removeprefix('Solution: ')})" for one in solutions] == exercises


@pytest.mark.parametrize("way", ["click", "Enter", "tap"])
def test_a_term_shows_its_meaning_and_stays_on_the_page(way, browser, address):
    context = browser.new_context(viewport=PHONE if way == "tap" else DESK, has_touch=way == "tap")
    page = context.new_page()
    page.goto(f"{address}chapters/rnn.html")
    settled(page)
    term = page.locator("a.d2lrnn-term").first
    term.scroll_into_view_if_needed()
    {"click": term.click, "tap": term.tap}.get(way, lambda: term.press("Enter"))()
    meaning = page.locator(".d2lrnn-meaning")
    assert meaning.locator("p").inner_text() == term.get_attribute("aria-description")
    box = meaning.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]
    page.keyboard.press("Escape")
    assert not meaning.is_visible()
    assert page.url.endswith("rnn.html")
    context.close()


def test_the_contents_mark_the_section_after_a_jump(page, address):
    marked = page.locator(".bd-toc [aria-current]")
    page.goto(f"{address}chapters/bptt.html")
    settled(page)
    page.keyboard.press("End")
    expect(marked.first).to_have_text(re.compile("^\\s*Exercises\\s*$"))
    page.keyboard.press("Home")
    expect(marked).to_have_count(0)
    page.goto(f"{address}chapters/bptt.html#quiz")
    expect(marked.first).to_have_text(re.compile("^\\s*Quiz\\s*$"))


def test_long_lines_of_outputs_wrap(page, address):
    page.goto(f"{address}chapters/text-preprocessing.html")
    settled(page)
    boxes = page.locator(".cell_output .d2lrnn-long pre")
    assert boxes.count() > 0
    assert boxes.evaluate_all("all => all.filter((box) => box.scrollWidth > box.clientWidth + 1).length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_scripts_the_theme_is_whole(scheme, browser, address):
    context = browser.new_context(java_script_enabled=False, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{address}chapters/rnn.html")
    assert page.locator("html").get_attribute("data-theme") == "light"
    assert page.locator("div.cell_input .k").first.is_visible()
    assert page.locator("math").count() > 50
    context.close()


@pytest.mark.parametrize(("scheme", "theme"), [("light", "light"), ("dark", "dark")])
def test_the_systems_theme_is_there_before_anything_is_painted(scheme, theme, browser, address):
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{address}index.html", wait_until="commit")
    page.locator("body").wait_for(state="attached")
    assert page.locator("html").get_attribute("data-theme") == theme
    context.close()
