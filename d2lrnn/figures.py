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
import json
import logging
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TypeAlias

logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # says nothing while it builds its cache

import matplotlib as mpl  # noqa: E402
from IPython.display import display  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.legend import Legend  # noqa: E402
from PIL import Image  # noqa: E402

from d2lrnn import _checks  # noqa: E402

SERIES_MIME = "application/vnd.d2lrnn.series+json"
MAX_POINTS = 200  # of a published series
SIGNIFICANT_DIGITS = 6  # of a published number: far coarser than what differs between machines

# Each at least 4 : 1 on white and on the dark page (#121212); dashes tell curves apart without colour.
PALETTE = ("#2481c4", "#c85a00", "#008f68", "#b55f97", "#a0750a", "#7a7a7a")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "x")

_BLACK = "#000000"  # becomes the page's text colour when the SVG is written
STYLE = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "figure.constrained_layout.use": True,
    "font.size": 10.5,
    "grid.alpha": 0.15,
    "grid.color": _BLACK,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "svg.fonttype": "none",  # real text: can be selected, read out and searched
}

Numbers: TypeAlias = Sequence[float]
Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | float | None"
Bundle: TypeAlias = dict[str, Json]

PNG_DPI, PNG_COLOURS = 100, 32  # sharp enough for a fallback, and about 8 kB

# Where style sheets are dropped the SVG's box stays hidden, and what is left of it, its labels, with it.
FALLBACK_STYLE = (
    ".d2lrnn-picture[hidden] { display: block !important; } .d2lrnn-fallback { display: none !important; }"
)

_captured: ContextVar[tuple[list[Bundle], bool] | None] = ContextVar("captured", default=None)


@contextlib.contextmanager
def style(**more: object) -> Iterator[None]:
    """Draw in the course's style within the block, whatever the reader's own matplotlib settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({**STYLE, **more})  # type: ignore[dict-item]  # matplotlib lists the keys it knows
        yield


def new_figure(rows: int = 1, columns: int = 1, *, height: float = 3.2) -> Figure:
    """Return a matplotlib Figure in the course's style, with `rows` x `columns` axes in ``figure.axes``.

    Parameters
    ----------
    rows, columns
        The number of axes, each at least 1.
    height
        Height in inches; the width is 5.6 inches, so that text stays legible on a phone.

    Raises
    ------
    TypeError, ValueError
        If `rows` or `columns` is not a positive integer, or `height` is not a positive number.
    """
    rows = _checks.integer("rows", rows, minimum=1)
    columns = _checks.integer("columns", columns, minimum=1)
    with style():
        figure = Figure(figsize=(5.6, _checks.real("height", height, above=0)))
        figure.subplots(rows, columns)
    return figure


def show(fig: Figure, alt: str, data: Mapping[str, Json]) -> None:
    """Display a figure with its description and its data.

    Parameters
    ----------
    fig
        A matplotlib Figure, best one from `new_figure`. What is black in it takes the page's text colour.
    alt
        What the figure shows, in a sentence or two; made from the data, not typed, where it holds numbers.
    data
        The plotted numbers by name: lists of numbers, nested as the figure needs. Published thinned to at
        most 200 points a list and rounded to six significant digits; the comparison of two runs reads this.

    Raises
    ------
    ValueError
        If `alt` or `data` is empty.
    TypeError
        If `fig` is no matplotlib Figure, `data` is no mapping, or it holds something that is not a number, a
        text, None, or lists, arrays, tensors and mappings of those.
    """
    if not isinstance(fig, Figure):
        raise TypeError(f"fig must be a matplotlib Figure, got {fig!r} ({type(fig).__name__})")
    if not isinstance(data, Mapping):
        raise TypeError(f"data must be a mapping, got {data!r} ({type(data).__name__})")
    if not _checks.string("alt", alt).strip():
        raise ValueError(f"alt must say what the figure shows, got {alt!r}")
    if not data:
        raise ValueError("data must hold the plotted numbers, got an empty mapping")
    published = _publishable(data)
    bundles, png = _captured.get() or (None, True)
    picture = _svg(fig, alt, salt=json.dumps([alt, published]))
    bundle: Bundle = {"text/plain": alt, "text/html": picture, SERIES_MIME: published}
    if png:
        bundle["image/png"] = _png(fig)
    if bundles is None:
        display(displayed(bundle), raw=True)  # type: ignore[no-untyped-call]
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
    """Return `value` rounded to significant digits."""
    return float(f"{value:.{digits}g}")


def _publishable(value: Json) -> Json:
    """Thin long lists of numbers, round floats, and write what JSON has no number for as text."""
    if hasattr(value, "tolist"):  # of NumPy or torch
        value = value.tolist()  # type: ignore[union-attr]
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return rounded(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _publishable(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        last = len(value) - 1
        if last >= MAX_POINTS and all(isinstance(item, (int, float)) for item in value):
            value = [value[round(i * last / (MAX_POINTS - 1))] for i in range(MAX_POINTS)]
        return [_publishable(item) for item in value]
    raise TypeError(
        f"data must hold numbers, texts, lists and mappings, got {value!r} ({type(value).__name__})"
    )


def _png(fig: Figure) -> str:
    """Write the figure as a PNG on white with few colours, in base64, without date or version."""
    buffer = io.BytesIO()
    with _drawing():
        fig.savefig(buffer, format="png", dpi=PNG_DPI, facecolor="white")
    pixels = Image.open(buffer).convert("RGB").quantize(PNG_COLOURS, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    pixels.save(buffer, format="PNG", optimize=True)
    return base64.b64encode(buffer.getvalue()).decode()


@contextlib.contextmanager
def _drawing(**more: object) -> Iterator[None]:
    """Draw in the course's style, with no word about characters that matplotlib's font has not."""
    with style(**more), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def _svg(fig: Figure, alt: str, salt: str) -> str:
    """Write the figure as SVG to stand inside a page: black in the page's text colour, ids of its own."""
    for legend in fig.findobj(Legend):
        legend.set_frame_on(False)  # its card would be white on a dark page
    hashsalt = hashlib.sha256(salt.encode()).hexdigest()
    buffer = io.StringIO()
    with _drawing(**{"svg.hashsalt": hashsalt}):  # the text stays text, for the browser's fonts
        fig.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    width, height = (f"{inches * 96:.0f}" for inches in fig.get_size_inches())  # CSS pixels
    view_box = re.search(r'viewBox="[^"]+"', text)
    if view_box is None:
        raise RuntimeError("matplotlib wrote an SVG without a viewBox")
    content = text[text.index("<defs>") :] if "<defs>" in text else text[text.index("<g ") :]
    used = set(re.findall(r"#([\w.-]+)", content))
    content = re.sub(r' id="([^"]+)"', lambda match: match[0] if match[1] in used else "", content)
    content = content.replace(_BLACK, "currentColor")
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'class="d2lrnn-figure" fill="currentColor" role="img" aria-label="{html.escape(alt)}" {view_box[0]} '
        f'width="{width}" height="{height}" style="max-width: 100%; height: auto">\n{content}'
    )
