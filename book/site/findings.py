"""How a finding looks on a page: its line with the count of runs in which it held, and the runs as dots."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from nbformat import NotebookNode

from book.recording.findings import Count, Shown
from d2lrnn.drawing.figures import PALETTE
from d2lrnn.recorded import FINDING_MIME, number_in_words, numbers_of

PAGE = "appendix/findings"
WIDTH, ROW, RADIUS = 150, 9, 3  # of the dots, in pixels
LOGARITHMIC = 30  # times that the largest number exceeds the smallest, from where on an axis is logarithmic


def counted_outputs(cell: NotebookNode, chapter: str, counts: dict[str, Count] | None) -> list[NotebookNode]:
    """Return a cell's outputs, with HTML for each finding that says in how many runs it held."""
    found = []
    for output in cell.outputs:
        data = dict(output.get("data", {}))
        if shown := data.get(FINDING_MIME):
            data["text/html"] = line(shown, chapter, (counts or {}).get(shown["name"]))
        found.append(NotebookNode(output, data=data) if data else output)
    return found


def line(shown: Shown, chapter: str, count: Count | None) -> str:
    """Return the HTML of one finding; `count` is None where its runs have not been made."""
    here = "holds here" if shown["holds"] else "does not hold here"
    link = f'<a href="../{PAGE}.html#{anchor(chapter, shown["name"])}">{tally(count)}</a>'
    return (
        f'<p class="d2lrnn-finding">{here}, {link}: {escape(shown["words"])} '
        f"<span>({escape(numbers_of(shown))})</span> {dots(count)}</p>"
    )


def tally(count: Count | None) -> str:
    """Say in how many runs a finding held."""
    if count is None:
        return "not counted yet"
    return "computed on this text" if count.computed else f"in {count.held} of {len(count.runs)} runs"


def anchor(chapter: str, name: str) -> str:
    """Return the id of a finding's row on the page of all findings."""
    return f"finding-{chapter}-{name}"


def dots(count: Count | None) -> str:
    """Return a small picture of both numbers in all runs, the control's below; none without runs or seeds."""
    if count is None or count.computed:
        return ""
    both = sides(count)
    x = _scale([value for values in both for value in values])
    marks = []
    for row, (values, color) in enumerate(zip(both, PALETTE, strict=False)):
        y = ROW * (row + 0.5)
        fill = (
            f'fill="{color}" stroke="var(--pst-color-background)" stroke-width="0.6"'
            if row == 0
            else f'fill="none" stroke="{color}"'
        )
        marks += [f'<circle cx="{x(value):.1f}" cy="{y:g}" r="{RADIUS}" {fill}/>' for value in values]
    said = f"left {spread(both[0])}, control {spread(both[1])}"
    return (
        f'<svg class="d2lrnn-dots" role="img" width="{WIDTH}" height="{2 * ROW}" '
        f'viewBox="0 0 {WIDTH} {2 * ROW}"><title>{said}</title>{"".join(marks)}</svg>'
    )


def sides(count: Count) -> list[list[float]]:
    """Return the numbers of each side in the runs that reached the finding; whole ones stay whole."""
    runs = [run for run in count.runs if run]
    return [
        [run[side] if isinstance(run[side], int) else float(run[side]) for run in runs] for side in (0, 1)
    ]


def spread(values: Sequence[float]) -> str:
    """Say between which numbers all values lie."""
    if not values:
        return "never reached"
    if any(map(math.isnan, values)):
        return "not always a number"
    low, high = (number_in_words(one) for one in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _scale(values: list[float]) -> Callable[[float], float]:
    """Return a function from a number to its place; what is not finite stands at the right end."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    as_is = not 0 < low * LOGARITHMIC < high
    low, high = (one if as_is else math.log(one) for one in (low, high))

    def place(value: float) -> float:
        if not math.isfinite(value):
            return WIDTH - RADIUS - 1
        share = ((value if as_is else math.log(value)) - low) / ((high - low) or 1)
        return RADIUS + 1 + share * (WIDTH - 4 * RADIUS - 4)

    return place
