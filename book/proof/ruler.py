"""Measure in Chromium how much of each chapter's built page is code and pictures.

Usage: python -m book.proof.ruler [CHAPTER ...]   (all chapters when none is named; the site must be built)

Code that is folded away is not seen, and not counted. Explorers are pictures, with their controls.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from book.proof.browser import ARGUMENTS, installed
from book.recording.notebooks import ROOT, chosen

PAGES = ROOT / "_build" / "html" / "chapters"
WIDTH, HEIGHT = 1440, 900  # pixels of the window
MOST_CODE, LEAST_PICTURES, LATEST_PICTURE = 1 / 3, 1 / 6, 900  # what chapters aim at

# From which pixel to which each visible element of a kind reaches, below the upper end of the text. A picture
# is no sign on a button: it is at least 60 pixels high.
MEASURE = """async () => {
  await document.fonts.ready;
  const article = document.querySelector("article");
  const { top, height } = article.getBoundingClientRect();
  const spans = (selector, least) => [...article.querySelectorAll(selector)]
    .filter((part) => part.checkVisibility({ visibilityProperty: true }))
    .map((part) => part.getBoundingClientRect())
    .filter((box) => box.height >= least)
    .map((box) => [box.top - top, box.bottom - top]);
  return {
    top: top + scrollY,
    height,
    code: spans(".cell_input, div.highlight:not(.cell_output *)", 1),
    pictures: spans(".d2lrnn-explorer, .d2lrnn-text, svg, img, canvas, video", 60),
  };
}"""


@dataclass(frozen=True)
class Proportions:
    """How high a page's text is, the shares of it that show code and pictures, and where pictures begin."""

    height: float
    code: float
    pictures: float
    first_picture: float | None


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium, or the one that Playwright installed."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=ARGUMENTS)
        yield browser
        browser.close()


def measure(page: Page, path: Path) -> Proportions:
    """Open a built page and measure it."""
    page.goto(path.as_uri(), wait_until="load")
    found = page.evaluate(MEASURE)
    height, pictures = found["height"], found["pictures"]
    return Proportions(
        height=height,
        code=covered(found["code"]) / height,
        pictures=covered(pictures) / height,
        first_picture=min((found["top"] + start for start, _ in pictures), default=None),
    )


def covered(spans: list[tuple[float, float]]) -> float:
    """Return how many pixels spans cover, each counted once."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(spans):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total


def table(pages: dict[str, Proportions]) -> str:
    """Return the proportions of pages below what they aim at; a star marks what misses it."""
    rows = [("chapter", "height", "code", "pictures", "first picture")]
    aims = (f"at most {MOST_CODE:.0%}", f"at least {LEAST_PICTURES:.0%}", f"by {LATEST_PICTURE}")
    rows.append(("aim", "", *aims))
    for name, one in pages.items():
        first = one.first_picture
        late = first is None or first > LATEST_PICTURE
        rows.append(
            (
                name,
                f"{one.height:,.0f}",
                f"{one.code:.0%}{'*' * (one.code > MOST_CODE)}",
                f"{one.pictures:.0%}{'*' * (one.pictures < LEAST_PICTURES)}",
                f"{'none' if first is None else f'{first:,.0f}'}{'*' * late}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    )


def main(arguments: list[str]) -> int:
    """Measure the named chapters, or all, and print the table."""
    try:
        named = chosen(arguments)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    with chromium() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        pages = {path.stem: measure(page, PAGES / f"{path.stem}.html") for path in named}
    print(table(pages))
    print("Pixels of the text, and from the page's upper end, in a window 1,440 wide; * misses the aim.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
