"""Figures: one style for the whole course, and one way to display a figure.

A figure reaches the reader as inline SVG whose text takes the page's colour, so that it is sharp at any size
and legible on a light and on a dark page. With it go a description in words, which is also its alternative
text, and the plotted numbers, which is what two runs are compared by; and a PNG for readers who cannot get
the SVG. JupyterLab strips SVG and style sheets from the HTML of a notebook that is not trusted yet, so the
PNG stands in the HTML too, hidden by a style sheet; viewers and converters without HTML take ``image/png``.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
import io
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TypeAlias

from PIL import Image

from d2lrnn import _support
from d2lrnn._kernel import display
from d2lrnn.drawing import _series
from d2lrnn.drawing._style import BLACK, CourseFigure, Figure, Legend, drawing, style
from d2lrnn.recorded import SIGNIFICANT_DIGITS

SERIES_MIME = "application/vnd.d2lrnn.series+json"
MAX_POINTS = 200  # of a published series
# Takes what lies halfway between two roundings, as powers of two do, to where no last bit decides.
BELOW = 1 - 1e-12

#: The colours of curves, in order: each at least 4 : 1 on white and on the dark page (#121212).
PALETTE = ("#2481c4", "#c85a00", "#008f68", "#b55f97", "#a0750a", "#7a7a7a")
#: The dashes of curves, in order, for matplotlib: they tell curves apart without colour.
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
#: The markers of curves and points, in order, for matplotlib.
MARKERS = ("o", "s", "^", "D", "v", "x")

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | float | None"
Bundle: TypeAlias = dict[str, Json]

WIDTH, MAX_HEIGHT = 5.6, 100  # inches
MAX_AXES = 64  # of a figure: empty, they take 3 s to draw
PNG_DPI, PNG_COLOURS = 100, 32  # sharp enough for a fallback, and about 8 kB

# Of an SVG's coordinates, in points. What lies halfway, as parts of a layout do, would be rounded by a
# last bit; so the edge is a little below half.
DECIMALS, EDGE = 4, 4.3e-6

# Where style sheets are dropped the SVG's box stays hidden, and what is left of it, its labels, with it.
FALLBACK_STYLE = (
    ".d2lrnn-picture[hidden] { display: block !important; } .d2lrnn-fallback { display: none !important; }"
)

_TAG = re.compile(r"<[^<>]+>")
_PLACE = re.compile(r' (?:d|points|transform|width|height|[xy][12]?)="[^"]*"')
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

_captured: ContextVar[tuple[list[Bundle], bool] | None] = ContextVar("captured", default=None)


def new_figure(rows: int = 1, columns: int = 1, *, height: float = 3.2) -> Figure:
    """Return a matplotlib Figure in the course's style, with `rows` x `columns` axes in ``figure.axes``.

    Parameters
    ----------
    rows, columns : int
        The number of axes, each at least 1, their product at most 64: laying out more would take long, and
        there would be no room for them.
    height : float
        Height in inches, at most 100; the width is 5.6 inches, so that text stays legible on a phone.

    Returns
    -------
    Figure
        What is added later by calls on it, on its parts or on axes of any kind in it takes no setting from
        the reader's matplotlib either: what a call does not say is as matplotlib has it by default. That
        does not hold for what the reader makes, as by ``axes.add_line(Line2D(...))``, and for calls on other
        parts of it, as ``axes.xaxis``.

    Raises
    ------
    TypeError
        If `rows` or `columns` is not an integer, or `height` is not a number.
    ValueError
        If one of them is not positive or too large.
    """
    rows = _support.integer("rows", rows, minimum=1)
    columns = _support.integer("columns", columns, minimum=1)
    if rows * columns > MAX_AXES:
        given = f"{_support.short(rows)} x {_support.short(columns)}"
        raise ValueError(f"rows x columns must be at most {MAX_AXES} axes, got {given}")
    if (inches := _support.real("height", height, above=0)) > MAX_HEIGHT:
        raise ValueError(f"height must be at most {MAX_HEIGHT} inches, got {inches}")
    with style():
        figure = CourseFigure(figsize=(WIDTH, inches))
        figure.subplots(rows, columns)
    return figure


def show(fig: Figure, alt: str, data: Mapping[str, Json]) -> None:
    """Display a figure with its description and its data.

    Parameters
    ----------
    fig : Figure
        Of matplotlib, best from `new_figure`. What is black in it takes the page's text colour.
    alt : str
        What the figure shows, in a sentence or two; made from the data, not typed, where it holds numbers.
    data : mapping
        The plotted numbers by name: lists of numbers, nested as the figure needs. Published thinned to at
        most 200 points a list and rounded to six significant digits; the comparison of two runs reads this.

    Raises
    ------
    ValueError
        If `alt` or `data` is empty, a text cannot be written as UTF-8, a whole number does not fit a float,
        two names in a mapping are the same text, as 1 and "1" are, or `data` holds itself.
    TypeError
        If `fig` is no matplotlib Figure, `alt` is no str, `data` is no mapping, or it holds something that is
        not a number, a text, None, or lists, arrays, tensors and mappings of those.
    """
    if not isinstance(fig, Figure):
        raise TypeError(f"fig must be a matplotlib Figure, got {_support.shown(fig)}")
    _series.mapping("data", data)
    if not _series.written("alt", alt).strip():
        raise ValueError(f"alt must say what the figure shows, got {alt!r}")
    if not data:
        raise ValueError("data must hold the plotted numbers, got an empty mapping")
    try:
        published = _publishable(data)
    except RecursionError:
        raise ValueError("data must not hold itself, nor mappings or lists nested without end") from None
    bundles, png = _captured.get() or (None, True)
    with _without_cards(fig):
        bundle: Bundle = {"text/plain": alt, "text/html": _svg(fig, alt), SERIES_MIME: published}
        if png:
            bundle["image/png"] = _png(fig)
    if bundles is None:
        display(displayed(bundle))
    else:
        bundles.append(bundle)


@contextlib.contextmanager
def captured(*, png: bool = True) -> Iterator[list[Bundle]]:
    """Collect the figures that are shown within the block, as bundles by MIME type, instead of displaying.

    The HTML of a bundle is the SVG alone. Without `png` there is no PNG, which takes as long as the SVG.
    """
    bundles: list[Bundle] = []
    token = _captured.set((bundles, png))
    try:
        yield bundles
    finally:
        _captured.reset(token)


def displayed(bundle: Bundle) -> Bundle:
    """Return a bundle that was drawn with its PNG as it is displayed: with the PNG in its HTML, too."""
    parts = (str(bundle[kind]) for kind in ("text/html", "image/png", "text/plain"))
    return {**bundle, "text/html": with_fallback(*parts)}


def with_fallback(svg: str, png: str, alt: str) -> str:
    """Return HTML that shows an SVG or, where SVG and style sheets are stripped from it, the PNG (base64)."""
    return f"""\
<div>
<style>{FALLBACK_STYLE}</style>
<div class="d2lrnn-picture" hidden="hidden">{svg}</div>
<img class="d2lrnn-fallback" src="data:image/png;base64,{png}" alt="{html.escape(alt)}">
</div>"""


def rounded(value: float, digits: int = SIGNIFICANT_DIGITS) -> float:
    """Return `value` rounded to significant digits; what lies halfway goes towards zero."""
    return float(f"{value * BELOW:.{digits}g}")


def _publishable(value: object) -> Json:
    """Thin long lists of numbers, round floats, and write what JSON has no number for as text."""
    value = _series.listed("data", value)
    if isinstance(value, str):
        return _series.written("a text in data", value)
    if isinstance(value, int):
        return _whole(value)
    if value is None:
        return value
    if isinstance(value, float):
        return rounded(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        published = {_name(key): _publishable(value[key]) for key in value}
        if len(published) < len(value):
            names = _support.short(list(value))
            raise ValueError(f"data must have a name of its own for each item, got {names}")
        return published
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        last = len(value) - 1
        if last >= MAX_POINTS and all(isinstance(item, (int, float)) for item in value):
            value = [value[round(i * last / (MAX_POINTS - 1))] for i in range(MAX_POINTS)]
        return [_publishable(item) for item in value]
    raise TypeError(f"data must hold numbers, texts, lists and mappings, got {_support.shown(value)}")


def _whole(value: int) -> int:
    """Return a whole number, or raise if readers of JSON could not take it."""
    if abs(value) > sys.float_info.max:
        raise ValueError(f"data must hold numbers that fit a float, got {_support.short(value)}")
    return value


def _name(key: object) -> str:
    return _series.written("a name in data", str(_whole(key) if isinstance(key, int) else key))


@contextlib.contextmanager
def _without_cards(fig: Figure) -> Iterator[None]:
    """Within the block, take the cards from behind legends: they would be white on a dark page."""
    legends = [legend for legend in fig.findobj(Legend) if isinstance(legend, Legend)]
    framed = [legend for legend in legends if legend.get_frame_on()]
    for legend in framed:
        legend.set_frame_on(False)
    try:
        yield
    finally:
        for legend in framed:
            legend.set_frame_on(True)


def _png(fig: Figure) -> str:
    """Write the figure as a PNG on white with few colours, in base64, without date or version."""
    buffer = io.BytesIO()
    with drawing():
        fig.savefig(buffer, format="png", dpi=PNG_DPI, facecolor="white")
    pixels = Image.open(buffer).convert("RGB").quantize(PNG_COLOURS, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    pixels.save(buffer, format="PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


def _svg(fig: Figure, alt: str) -> str:
    """Write the figure as SVG to stand inside a page: black in the page's text colour, ids of its own."""
    buffer = io.StringIO()
    with drawing():  # the text stays text, for the browser's fonts
        fig.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    width, height = (f"{inches * 96:.0f}" for inches in fig.get_size_inches())  # CSS pixels
    view_box = re.search(r'viewBox="[^"]+"', text)
    if view_box is None:
        raise RuntimeError("matplotlib wrote an SVG without a viewBox")
    content = text[text.index("<defs>") :] if "<defs>" in text else text[text.index("<g ") :]
    content = with_ids(_coarse(content).replace(BLACK, "currentColor"), "")
    prefix = "f" + hashlib.sha256((alt + content).encode()).hexdigest()[:8]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'class="d2lrnn-figure" fill="currentColor" role="img" aria-label="{html.escape(alt)}" {view_box[0]} '
        f'width="{width}" height="{height}" style="max-width: 100%; height: auto">\n'
        + with_ids(content, prefix)
    )


def with_ids(svg: str, prefix: str) -> str:
    """Name the ids of an SVG `prefix` and their number in it; ids that nothing points to are left out.

    matplotlib makes names from random numbers, or from floats whose last bits depend on the processor.
    """
    tags = "".join(_TAG.findall(svg))
    used = set(re.findall(r"#([\w.-]+)", tags))
    found = [name for name in re.findall(r' id="([^"]+)"', tags) if name in used]
    names = {name: f"{prefix}-{number}" for number, name in enumerate(found)}

    def renamed(match: re.Match[str]) -> str:
        if match["target"]:
            return f"#{names.get(match['target'], match['target'])}"
        return f' id="{names[match["id"]]}"' if match["id"] in names else ""

    return _TAG.sub(lambda tag: re.sub(r' id="(?P<id>[^"]+)"|#(?P<target>[\w.-]+)', renamed, tag[0]), svg)


def _coarse(svg: str) -> str:
    """Round the coordinates of an SVG, so that the last bits of a float do not show."""
    return _TAG.sub(lambda tag: _PLACE.sub(lambda place: _NUMBER.sub(_coordinate, place[0]), tag[0]), svg)


def _coordinate(match: re.Match[str]) -> str:
    text = f"{float(match[0]) + EDGE:.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
