"""Pages in Firefox: what a reader without Chromium meets."""

from dataclasses import dataclass

import pytest
from browsing import KNOWN, served
from firefox import firefox

WIDTHS = (320, 390, 1280)
SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"
# Formulas that take no room, of those that are not folded away.
UNSEEN = """() => [...document.querySelectorAll("main math")].filter((formula) => {
  const { width, height } = formula.getBoundingClientRect();
  return formula.checkVisibility() && (width < 2 || height < 2);
}).map((formula) => formula.textContent)"""
SEARCH = """() => {
  document.querySelector(".search-button-field")?.click();
  const box = [...document.querySelectorAll("dialog input")].find((one) => one.checkVisibility());
  box?.closest("dialog").close();
  return Boolean(box);
}"""


@dataclass
class Visit:
    """What the visit of a page came to."""

    errors: list[str]
    sideways: dict[int, int]
    unseen: list[str]
    searches: bool
    controls: int
    still: list[str]
    violations: list[str]


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    with firefox(tmp_path_factory.mktemp("firefox")) as started:
        yield started


@pytest.fixture(scope="module")
def visits(driven, address, sample):
    return {name: visited(driven, address + name) for name in sample}


def visited(driven, address):
    driven.visit(address)
    sideways = {}
    for width in WIDTHS:
        driven.resize(width)
        sideways[width] = driven.evaluate(SIDEWAYS)
    still, controls = driven.still_controls()
    return Visit(
        errors=driven.errors(),
        sideways={width: wider for width, wider in sideways.items() if wider > 0},
        unseen=driven.evaluate(UNSEEN),
        searches=address.endswith(("404.html", "search.html")) or driven.evaluate(SEARCH),
        controls=controls,
        still=still,
        violations=driven.violations(),
    )


def test_errors_and_faults_are_seen(driven, tmp_path):
    (tmp_path / "script.js").write_text("nowhere()", encoding="utf-8")
    (tmp_path / "index.html").write_text(
        "<!doctype html><script src='script.js'></script><main><img src='none.png'>"
        "<p style='color: #aaa; width: 500px'>pale</p><math></math></main>",
        encoding="utf-8",
    )
    with served(tmp_path) as address:
        found = visited(driven, f"{address}index.html")
    assert ["nowhere is not defined" in error for error in found.errors] == [True]
    assert found.sideways.keys() == {320, 390}
    assert found.unseen == [""]
    assert found.violations[0] == "text #aaaaaa on #ffffff: 2.32"
    assert {line.split()[0] for line in found.violations[1:]} >= {"image-alt", "html-has-lang"}
    assert not found.searches


@pytest.mark.parametrize("fault", ["errors", "sideways", "unseen", "still"])
def test_no_page_has(fault, visits):
    assert {name: getattr(visit, fault) for name, visit in visits.items() if getattr(visit, fault)} == {}


def test_no_page_breaks_an_accessibility_rule(visits):
    known = {name: count for (scheme, name), (_, count) in KNOWN.items() if scheme == "light"}
    broken = {name: visit.violations for name, visit in visits.items()}
    assert {name: found for name, found in broken.items() if len(found) > known.get(name, 0)} == {}


def test_every_page_has_a_search_box(visits):
    assert [name for name, visit in visits.items() if not visit.searches] == []


def test_chapters_have_controls_that_keys_move(visits):
    assert all(visit.controls for name, visit in visits.items() if name.startswith("chapters/"))
