"""Pages on paper: light, nothing cut, nothing that only works on a screen."""

import re

import pytest
from browsing import settled
from playwright.sync_api import expect

A4 = {"width": 680, "height": 1000}  # pixels inside the margins
PAGES = ["chapters/rnn", "chapters/text-preprocessing", "appendix/instructors", "appendix/glossary"]
CUT = """() => {
  const { right } = document.querySelector("article").getBoundingClientRect();
  const wide = (part) => part.getBoundingClientRect().right > right + 2;
  const cut = (part) => part.tagName === "PRE" && part.scrollWidth > part.clientWidth + 1;
  return [...document.querySelectorAll("article :is(pre, table, svg, .d2lrnn-equation)")]
    .filter((part) => part.checkVisibility() && (wide(part) || cut(part)))
    .map((part) => part.outerHTML.slice(0, 120));
}"""
FOR_THE_SCREEN = (
    ".copybtn, .headerlink, .d2lrnn-controls, .d2lrnn-explorer details, .bd-sidebar-primary, "
    ".bd-sidebar-secondary"
)


@pytest.fixture(scope="module", params=["light", "dark"])
def printed(request, browser, address):
    context = browser.new_context(color_scheme=request.param, viewport=A4)
    page = context.new_page()
    yield page
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_and_nothing_stands_there_for_the_screen(name, printed, address):
    printed.emulate_media(media="screen")
    printed.goto(f"{address}{name}.html")
    settled(printed)
    printed.emulate_media(media="print")
    expect(printed.locator("html")).to_have_attribute("data-theme", "light")
    assert printed.evaluate(CUT) == []
    shown = printed.locator(FOR_THE_SCREEN).evaluate_all(
        "all => all.filter((one) => one.checkVisibility()).length"
    )
    assert shown == 0


def test_quizzes_and_solutions_are_printed_open_and_folded_again_afterwards(printed, address):
    printed.emulate_media(media="screen")
    printed.goto(f"{address}chapters/rnn.html")
    settled(printed)
    folded = "article details:not([open], .d2lrnn-explorer *)"
    before = printed.locator(folded).count()
    theme = printed.locator("html").get_attribute("data-theme")
    printed.emulate_media(media="print")
    assert before > 10
    expect(printed.locator(folded)).to_have_count(0)
    printed.emulate_media(media="screen")
    expect(printed.locator(folded)).to_have_count(before)
    expect(printed.locator("html")).to_have_attribute("data-theme", theme)


def test_folded_parts_are_printed_without_scripts_too(browser, address):
    context = browser.new_context(java_script_enabled=False, viewport=A4)
    page = context.new_page()
    page.goto(f"{address}chapters/rnn.html")
    page.emulate_media(media="print")
    box = page.locator("details.solution p").first.bounding_box()
    assert box
    assert box["height"] > 10
    context.close()


def test_a_printed_chapter_has_no_nearly_empty_page(printed, address):
    printed.emulate_media(media="screen")
    printed.goto(f"{address}appendix/instructors.html")
    settled(printed)
    pdf = printed.pdf(format="A4")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    printed.emulate_media(media="print")
    height = printed.evaluate("document.querySelector('article').scrollHeight")
    assert 1 <= pages <= height / 1000 * 1.4 + 1
