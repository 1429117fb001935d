"""The site in a browser: each page as a reader meets it, by light, in the dark and on a phone.

It is served below a sub-path and under the strict policy of the README. The screenshots are in
`_build/screenshots`, for a person to look at.
"""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from browsing import (
    COLOUR_RULES,
    DESK,
    EXPLORERS,
    FOLD_DRAWINGS,
    KNOWN,
    POLICY,
    settled,
    too_close,
    violations,
)
from small_course import ROOT

SCREENSHOTS = ROOT / "_build" / "screenshots"
PHONE, SMALL = {"width": 390, "height": 844}, {"width": 320, "height": 700}
# Of a page's first load, as sent: when this was written at most 712 kB, 403 of them the formulas' font, and
# 11 requests; 125 kB for the first page.
MOST_BYTES, MOST_REQUESTS, MOST_BYTES_OF_INDEX = 800_000, 14, 250_000
# At most 13,783 elements and 159 stops of the tab key, both on chapters/rnn-scratch.html, where the most code
# is; 299 on the index of names, which is all links.
MOST_ELEMENTS, MOST_STOPS, ALL_LINKS = 15_000, 180, {"genindex.html"}
MOST_SHIFT = 0.1  # of the layout while a page loads: a reader does not see it
# Text that only a source should have: roles, fences and labels of MyST, commands and braces of LaTeX.
RAW = re.compile(r"\{[\w:.-]+\}`|^\s*(?:```|:::)|\$\$|^\(\S+\)=|\\[a-zA-Z]+|\]\(\S+\)|[_^]\{", re.MULTILINE)
PROSE = """() => {
  const copy = document.querySelector("main").cloneNode(true);
  const not_prose = "pre, code, script, style, svg, math, .headerlink";
  copy.querySelectorAll(not_prose).forEach((part) => part.remove());
  return copy.textContent;
}"""
# Formulas without a size, or with TeX that was not read.
UNSEEN = """() => [...document.querySelectorAll("main math")].filter((formula) => {
  const shown = formula.checkVisibility() ? formula.getBoundingClientRect().width > 1 : true;
  return !shown || !formula.textContent.trim() || formula.textContent.includes("\\\\");
}).length"""
SIZE = "() => document.querySelectorAll('*').length"
STOPS = """() => [...document.querySelectorAll("main *")]
  .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility()).length"""
SHIFT = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.hadRecentInput ? 0 : entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 50);
})"""
UNFRAMED = """() => {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement);
  const framed = (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
  return framed ? null : document.activeElement.outerHTML.slice(0, 100);
}"""


@dataclass
class Visit:
    """What the visit of a page, with nothing cached, came to."""

    faults: list[str] = field(default_factory=list)  # of the console, of scripts and of requests
    requests: list[tuple[str, int]] = field(default_factory=list)  # address, bytes of the answer
    violations: list[str] = field(default_factory=list)
    close: dict[str, list[str]] = field(default_factory=dict)  # colours too close to one another, by scheme
    sideways: dict[int, int] = field(default_factory=dict)  # pixels that the page is wider than a window
    shift: float = 0.0  # of the layout, cumulative
    unseen: int = 0  # formulas without a size
    prose: str = ""
    still: list[str] = field(default_factory=list)  # controls that no key moves
    elements: int = 0
    stops: int = 0  # of the tab key, in the main part


def watched(page):
    visit = Visit()
    page.on("console", lambda m: visit.faults.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: visit.faults.append(f"script: {error}"))
    page.on("requestfailed", lambda request: visit.faults.append(f"failed: {request.url}"))
    page.on("requestfinished", lambda request: answered(request, visit))
    return visit


def answered(request, visit):
    if not request.url.startswith("data:"):
        visit.requests.append((request.url, request.sizes()["responseBodySize"]))
        if (status := request.response().status) >= 400:
            visit.faults.append(f"{status}: {request.url}")


@pytest.fixture(scope="module")
def visits(browser, address, pages):
    """Visit every page once, by light, in the dark and as on a phone; check, measure and photograph it."""
    return {name: visited(browser, address, name) for name in pages}


def visited(browser, address, name):
    """Visit a page by light and as on a phone, in the dark, and by light once more."""
    context = browser.new_context(color_scheme="light", reduced_motion="reduce", viewport=DESK)
    page = context.new_page()
    visit = watched(page)
    page.goto(address + name)
    settled(page)
    visit.prose, visit.unseen = page.evaluate(PROSE), page.evaluate(UNSEEN)
    visit.elements, visit.stops, visit.shift = page.evaluate(SIZE), page.evaluate(STOPS), page.evaluate(SHIFT)
    visit.close["light"] = too_close(page)
    photograph(page, name, "light")
    for size in (SMALL, PHONE):
        page.set_viewport_size(size)
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        visit.sideways |= {size["width"]: wider} if wider > 0 else {}
    photograph(page, name, "phone")
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="dark")
    photograph(page, name, "dark")
    visit.close["dark"] = too_close(page)
    visit.still = [fault for box in page.locator(EXPLORERS).all() for fault in still_controls(box)]
    visit.close["dark"] += [colours for colours in too_close(page) if colours not in visit.close["dark"]]
    page.evaluate(FOLD_DRAWINGS)
    visit.violations = [f"dark: {line}" for line in violations(page, COLOUR_RULES)]
    page.emulate_media(color_scheme="light")
    visit.violations += violations(page)
    context.close()
    return visit


def photograph(page, name, mode):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    file = f"{name.removesuffix('.html').replace('/', '-')}-{mode}.png"
    page.screenshot(path=SCREENSHOTS / file, full_page=True, animations="disabled")


def still_controls(box):
    """Return the controls of an explorer that are out of the keyboard's reach or change nothing."""
    still = []
    for control in box.locator("input, select, button").all():
        before = box.inner_html()
        control.focus()
        kind = control.get_attribute("type") or "select"
        keys = {"range": ["ArrowRight"], "select": ["ArrowDown"], "text": ["End", "e"], "button": ["Enter"]}
        for key in keys[kind]:
            control.page.keyboard.press(key)
        if control.evaluate("control => control.tabIndex < 0") or box.inner_html() == before:
            still.append(control.evaluate("control => control.outerHTML"))
    return still


def listed(visits, faults_of):
    """Return the visits' faults, each with its page."""
    return [f"{name}: {fault}" for name, visit in visits.items() for fault in faults_of(visit)]


def test_no_page_has_an_error_or_a_failed_request(visits):
    assert listed(visits, lambda visit: visit.faults) == []


def test_no_page_asks_another_host(visits, address):
    host = urlsplit(address).netloc
    assert listed(visits, lambda v: [url for url, _ in v.requests if urlsplit(url).netloc != host]) == []


def test_first_load_of_each_page_is_light(visits):
    total = {name: sum(size for _, size in visit.requests) for name, visit in visits.items()}
    assert {name: size for name, size in total.items() if size > MOST_BYTES} == {}


def test_first_load_of_each_page_takes_few_requests(visits):
    total = {name: len(visit.requests) for name, visit in visits.items()}
    assert {name: number for name, number in total.items() if number > MOST_REQUESTS} == {}


def test_no_page_loads_a_widget_runtime(visits):
    found = listed(visits, lambda v: [url for url, _ in v.requests if re.search("require|widget|thebe", url)])
    assert found == []


def test_no_page_breaks_an_accessibility_rule(visits):
    assert listed(visits, lambda visit: visit.violations) == []


def test_no_page_scrolls_sideways_on_a_phone(visits):
    assert {name: visit.sideways for name, visit in visits.items() if visit.sideways} == {}


def test_no_page_jumps_while_it_loads(visits):
    assert {name: visit.shift for name, visit in visits.items() if visit.shift > MOST_SHIFT} == {}


def test_no_page_is_made_of_too_many_elements(visits):
    assert {n: visit.elements for n, visit in visits.items() if visit.elements > MOST_ELEMENTS} == {}


def test_the_tab_key_gets_through_every_page(visits):
    stops = {name: visit.stops for name, visit in visits.items() if name not in ALL_LINKS}
    assert {name: number for name, number in stops.items() if number > MOST_STOPS} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_carries_meaning_stands_out_from_its_ground(scheme, visits):
    close = {name: visit.close[scheme] for name, visit in visits.items()}
    known = {name: count for (known_scheme, name), (_, count) in KNOWN.items() if known_scheme == scheme}
    assert {n: found for n, found in close.items() if len(found) != known.get(n, 0)} == {}


def test_first_page_is_lightest(visits):
    assert sum(size for _, size in visits["index.html"].requests) < MOST_BYTES_OF_INDEX


def test_every_formula_is_seen(visits):
    assert {name: visit.unseen for name, visit in visits.items() if visit.unseen} == {}


def test_no_raw_markup_is_left_in_the_text(visits):
    assert listed(visits, lambda visit: [match[0] for match in RAW.finditer(visit.prose)]) == []


def test_keys_move_every_control_of_every_explorer(visits):
    assert listed(visits, lambda visit: visit.still) == []


def test_pages_work_from_files(page, site, pages):
    faults = {}
    for name in pages:
        visit = watched(page)
        page.goto((site / name).as_uri())
        settled(page)
        faults |= {name: visit.faults} if visit.faults else {}
    assert faults == {}


def test_focus_is_visible_wherever_the_tab_key_leads(page, address):
    page.goto(f"{address}chapters/sequence-models.html")
    settled(page)
    unframed = []
    for _ in range(60):
        page.keyboard.press("Tab")
        unframed.append(page.evaluate(UNFRAMED))
    assert [element for element in unframed if element] == []


def test_missing_page_leads_to_the_first_page_of_a_sub_path(page, address):
    page.goto(f"{address}chapters/nothing/here.html")
    page.locator("#start[href$='index.html']").click()
    assert page.url == f"{address}index.html"


def test_first_state_of_explorers_is_there_without_scripts(browser, address):
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(f"{address}chapters/sequence-models.html")
    view, controls = (opened.locator(f".d2lrnn-{part}").first for part in ("view", "controls"))
    assert view.locator("svg").is_visible()
    assert not controls.is_visible()
    context.close()


def test_quiz_answers_open_without_scripts(browser, address):
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(f"{address}chapters/rnn.html")
    choice = opened.locator("#quiz details").first
    explanation = choice.locator("p").last
    assert not explanation.is_visible()
    choice.locator("summary").press("Enter")
    assert explanation.is_visible()
    assert explanation.inner_text().startswith(("Right.", "No."))
    context.close()


def test_policy_of_the_readme_is_the_one_under_which_the_site_was_served():
    assert POLICY in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


# Without a browser


class Anchors(HTMLParser):
    """Collects the addresses that a page links to or loads, and its ids."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.ids, self.metas = [], set(), {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.addresses += [given[key] for key in ("href", "src", "action") if given.get(key)]
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "meta":
            self.metas[given.get("name") or given.get("property")] = given.get("content")


@pytest.fixture(scope="module")
def anchors(site, pages):
    return {name: Anchors((site / name).read_text(encoding="utf-8")) for name in pages}


def test_links_and_anchors_resolve(anchors, site):
    broken = []
    for name, parsed in anchors.items():
        for link in parsed.addresses:
            target = urlsplit(urljoin(f"http://site/{name}", link))
            file = unquote(target.path).lstrip("/")
            if target.netloc != "site" or (name == "404.html" and link == "/"):
                continue
            ids = anchors[file].ids if file in anchors else {target.fragment}
            if not (site / file).is_file() or (target.fragment and unquote(target.fragment) not in ids):
                broken.append(f"{name}: {link}")
    assert broken == []


def test_every_chapter_links_to_the_glossary(anchors):
    chapters = {name: parsed for name, parsed in anchors.items() if name.startswith("chapters/")}
    links = {name: [a for a in p.addresses if "glossary.html#term-" in a] for name, p in chapters.items()}
    assert chapters
    assert [name for name, found in links.items() if not found] == []


def test_every_page_describes_itself(anchors):
    needed = {"description", "og:title", "og:description", "og:type"}
    assert {
        name: needed - parsed.metas.keys() for name, parsed in anchors.items() if needed - parsed.metas.keys()
    } == {}


def test_pages_of_the_course_have_descriptions_of_their_own(anchors):
    own = [p.metas["description"] for name, p in anchors.items() if "/" in name or name == "index.html"]
    assert len(set(own)) == len(own)
    assert all(40 <= len(text) <= 202 for text in own)


def test_chapters_offer_notebook_and_source(anchors, site):
    for path in sorted((ROOT / "chapters").glob("*.md")):
        links = anchors[f"chapters/{path.stem}.html"].addresses
        for suffix in (".md", ".ipynb"):
            assert f"../_sources/chapters/{path.stem}{suffix}" in links
