"""Figures: one style for the whole course, and one way to display a figure.

A figure reaches the reader as inline SVG whose text takes the page's colour, so that it is sharp at any size
and legible on a light and on a dark page. With it go a description in words, which is also its alternative
text, and the plotted numbers, which is what two runs are compared by.
"""

from __future__ import annotations

import hashlib
import html
import io
import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # says nothing while it builds its cache

import matplotlib as mpl  # noqa: E402
from IPython.display import display  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from d2lrnn import _checks  # noqa: E402

SERIES_MIME = "application/vnd.d2lrnn.series+json"
MAX_POINTS = 200  # of a published series
SIGNIFICANT_DIGITS = 6  # of a published number: far coarser than what differs between machines

# Each at least 4 : 1 on white and on the dark page (#121212); dashes tell curves apart without colour.
PALETTE = ("#2481c4", "#c85a00", "#008f68", "#b55f97", "#a0750a", "#7a7a7a")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "x")

_INK = "#010203"  # stands for the page's text colour until the SVG is written
STYLE = {
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "figure.constrained_layout.use": True,
    "font.size": 10.5,
    "grid.alpha": 0.15,
    "grid.color": _INK,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "svg.fonttype": "none",  # real text: can be selected, read out and searched
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}

Numbers: TypeAlias = Sequence[float]
Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | float | None"


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
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]  # matplotlib lists the keys it knows
        figure = Figure(figsize=(5.6, _checks.real("height", height, above=0)))
        figure.subplots(rows, columns)
    return figure


def show(fig: Figure, alt: str, data: Mapping[str, Json]) -> None:
    """Display a figure with its description and its data.

    Parameters
    ----------
    fig
        A matplotlib Figure, best one from `new_figure`.
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
        If `data` holds something that is not a number, a text, None, or lists and mappings of those.
    """
    if not _checks.string("alt", alt).strip():
        raise ValueError(f"alt must say what the figure shows, got {alt!r}")
    if not data:
        raise ValueError("data must hold the plotted numbers, got an empty mapping")
    published = _publishable(data)
    bundle = {
        "text/plain": alt,
        "text/html": _svg(fig, alt, salt=json.dumps([alt, published])),
        SERIES_MIME: published,
    }
    display(bundle, raw=True)  # type: ignore[no-untyped-call]


def plot_curves(
    curves: Mapping[str, tuple[Numbers, Numbers]],
    *,
    xlabel: str,
    ylabel: str,
    xscale: str = "linear",
    yscale: str = "linear",
    markers: bool = False,
) -> None:
    """Plot named curves in one pair of axes and display them.

    Parameters
    ----------
    curves
        For each curve its name and ``(x, y)``, two sequences of one length.
    xlabel, ylabel
        Axis labels, with the unit where there is one.
    xscale, yscale
        ``"linear"`` or ``"log"``.
    markers
        Whether to mark each point.

    Raises
    ------
    ValueError
        If there is no curve, a curve is empty, its x and y differ in length, a scale is unknown, or a value
        on a log axis is not positive.
    """
    _checks.one_of("xscale", xscale, ("linear", "log"))
    _checks.one_of("yscale", yscale, ("linear", "log"))
    series = _curve_series(curves, xscale, yscale)
    figure = new_figure()
    axes = figure.axes[0]
    for number, (name, points) in enumerate(series.items()):
        axes.plot(
            points["x"],
            points["y"],
            label=name,
            color=PALETTE[number % len(PALETTE)],
            linestyle=DASHES[number % len(DASHES)],
            marker=MARKERS[number % len(MARKERS)] if markers else None,
        )
    axes.set(xlabel=xlabel, ylabel=ylabel, xscale=xscale, yscale=yscale)
    if len(series) > 1:
        axes.legend()
    alt = f"Line chart of {ylabel} against {xlabel}. " + " ".join(
        _describe_curve(name, points["x"], points["y"]) for name, points in series.items()
    )
    show(
        figure,
        alt,
        {"xlabel": xlabel, "ylabel": ylabel, "xscale": xscale, "yscale": yscale, "series": series},
    )


def _curve_series(
    curves: Mapping[str, tuple[Numbers, Numbers]], xscale: str, yscale: str
) -> dict[str, dict[str, list[float]]]:
    if not curves:
        raise ValueError("curves must hold at least one curve, got none")
    series = {}
    for name, (x, y) in curves.items():
        points = {"x": [_rounded(float(v)) for v in x], "y": [_rounded(float(v)) for v in y]}
        if len(points["x"]) != len(points["y"]) or not points["x"]:
            raise ValueError(
                f"curves[{name!r}] must have as many x as y and at least one, "
                f"got {len(points['x'])} x and {len(points['y'])} y"
            )
        for axis, scale in (("x", xscale), ("y", yscale)):
            lowest = min(points[axis])
            if scale == "log" and lowest <= 0:
                raise ValueError(f"curves[{name!r}] has {axis} = {lowest}, which a log axis cannot show")
        series[name] = points
    return series


def _describe_curve(name: str, x: Numbers, y: Numbers) -> str:
    text = f"{name}: from {y[0]:.4g} at {x[0]:.4g} to {y[-1]:.4g} at {x[-1]:.4g}"
    finite = [value for value in y if math.isfinite(value)]
    if finite and min(finite) < min(y[0], y[-1]):
        text += f", lowest {min(finite):.4g} at {x[list(y).index(min(finite))]:.4g}"
    if finite and max(finite) > max(y[0], y[-1]):
        text += f", highest {max(finite):.4g} at {x[list(y).index(max(finite))]:.4g}"
    return text + "."


def _rounded(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}")


def _publishable(value: Json) -> Json:
    """Thin long lists of numbers, round floats, and write what JSON has no number for as text."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return _rounded(value) if math.isfinite(value) else str(value)
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


def _svg(fig: Figure, alt: str, salt: str) -> str:
    """Write the figure as SVG to stand inside a page: text in the page's colour, ids of its own."""
    hashsalt = hashlib.sha256(salt.encode()).hexdigest()
    buffer = io.StringIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": hashsalt}):  # type: ignore[dict-item]
        fig.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    width, height = (f"{inches * 96:.0f}" for inches in fig.get_size_inches())  # CSS pixels
    view_box = re.search(r'viewBox="[^"]+"', text)
    if view_box is None:
        raise RuntimeError("matplotlib wrote an SVG without a viewBox")
    content = text[text.index("<defs>") :] if "<defs>" in text else text[text.index("<g ") :]
    used = set(re.findall(r"#([\w.-]+)", content))
    content = re.sub(r' id="([^"]+)"', lambda match: match[0] if match[1] in used else "", content)
    content = content.replace(_INK, "currentColor")
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'class="d2lrnn-figure" role="img" aria-label="{html.escape(alt)}" {view_box[0]} '
        f'width="{width}" height="{height}" style="max-width: 100%; height: auto">\n{content}'
    )
