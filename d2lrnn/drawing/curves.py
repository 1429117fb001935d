"""Named curves in one pair of axes."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from d2lrnn import _support
from d2lrnn.drawing import _series
from d2lrnn.drawing._series import Numbers
from d2lrnn.drawing._style import Figure, style
from d2lrnn.drawing.figures import DASHES, MARKERS, PALETTE, new_figure, rounded, show

MAX_TICKS = 50  # numbers on an axis: more would stand on each other, and take seconds to lay out
DRAWN_DIGITS = 10  # finer than any screen, coarser than what differs between machines


def plot_curves(
    curves: Mapping[str, tuple[Numbers, Numbers]],
    *,
    xlabel: str,
    ylabel: str,
    xscale: str = "linear",
    yscale: str = "linear",
    markers: bool = False,
    points: Collection[str] = (),
    bands: Mapping[str, tuple[Numbers, Numbers]] | None = None,
    xticks: Numbers | None = None,
    ylim: tuple[float, float] | None = None,
) -> None:
    """Plot named curves in one pair of axes and display them.

    Parameters
    ----------
    curves : mapping of str to (x, y)
        For each curve, of one to six, its name and two sequences, arrays or tensors of numbers, of one
        length. A number is at most 1e200 in magnitude; nan and infinity in y leave a gap.
    xlabel, ylabel : str
        Axis labels, with the unit where there is one. In them and in names, what stands between two dollar
        signs is a formula.
    xscale, yscale : str
        "linear" or "log".
    markers : bool
        Whether to mark each point.
    points : collection of str
        Names of curves to draw as points without a line.
    bands : mapping of str to (low, high), optional
        For the name of a curve two sequences of its length, shaded between.
    xticks : sequence of float, optional
        Where to put ticks and numbers on the x axis, at most 50.
    ylim : (float, float), optional
        The lower and the upper end of the y axis, so that figures side by side compare.

    Raises
    ------
    ValueError
        If there is no curve or more than six, a curve is empty or is not a pair, its x, y or band differ in
        length, a band's low is above its high, a number is too large, a scale is unknown, `points` or `bands`
        names no curve, a name begins with an underscore, a label or name cannot be written or has a formula
        that matplotlib does not know, a value, a tick or an end is on a log axis and not positive, an x, a
        tick or an end is not finite, there are more than 50 ticks, or the upper end is not above the lower
        one.
    TypeError
        If an argument is of another type than above.
    """
    labels = {"xlabel": _series.label("xlabel", xlabel), "ylabel": _series.label("ylabel", ylabel)}
    scales = {"x": _support.one_of("xscale", xscale, ("linear", "log"))}
    scales["y"] = _support.one_of("yscale", yscale, ("linear", "log"))
    marked = _series.flag("markers", markers)
    _series.mapping("curves", curves)
    _series.names("curves", curves)
    bands = {} if bands is None else bands
    _series.mapping("bands", bands)
    _named_curves("bands", bands, curves)
    _named_curves("points", points, curves)
    series = {name: _curve(name, xy, bands.get(name), scales) for name, xy in curves.items()}
    ticks = None if xticks is None else _ticks(xticks, scales["x"])
    ends = None if ylim is None else _ends(ylim, scales["y"])
    figure = new_figure()
    with style():
        _draw_curves(figure, series, marked, points)
        axes = figure.axes[0]
        axes.set(**labels)
        if _seen(series):  # a log axis without a point has no ends
            axes.set(xscale=xscale, yscale=yscale)
        if ends is not None:
            axes.set_ylim(ends)
        if ticks is not None:
            axes.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
            axes.minorticks_off()
    alt = f"Line chart of {ylabel} against {xlabel}. " + " ".join(
        _describe_curve(name, curve) for name, curve in series.items()
    )
    axis = {**labels, "xscale": xscale, "yscale": yscale}
    show(figure, alt, {**axis, "series": series})


def _draw_curves(
    figure: Figure, series: Mapping[str, Mapping[str, Numbers]], markers: bool, points: Collection[str]
) -> None:
    axes = figure.axes[0]
    for number, (name, curve) in enumerate(series.items()):
        colour = PALETTE[number % len(PALETTE)]
        axes.plot(
            curve["x"],
            curve["y"],
            label=name,
            color=colour,
            linestyle="none" if name in points else DASHES[number % len(DASHES)],
            marker=MARKERS[number % len(MARKERS)] if markers or name in points else None,
            markersize=2.5 if name in points else None,
        )
        if "low" in curve:
            axes.fill_between(curve["x"], curve["low"], curve["high"], color=colour, alpha=0.25, linewidth=0)
    if len(series) > 1:  # above the axes, where no curve can be; about 66 letters fit in a row
        columns = max(1, 66 // (6 + max(map(len, series))))
        figure.legend(loc="outside upper center", ncols=min(columns, len(series)))


def _named_curves(argument: str, names: Collection[str], curves: Collection[str]) -> None:
    if isinstance(names, str) or not isinstance(names, Collection):
        raise TypeError(f"{argument} must be a collection of names, got {_support.shown(names)}")
    for name in names:
        _support.one_of(f"a name in {argument}", name, curves)


def _curve(name: str, xy: object, band: object, scales: Mapping[str, str]) -> dict[str, list[float]]:
    """Return the numbers of a curve, and of its band if it has one, by what they are."""
    owner = f"curves[{name!r}]"
    given = dict(zip("xy", _series.two(owner, xy, "x", "y"), strict=True))
    if band is not None:
        ends = _series.two(f"bands[{name!r}]", band, "low", "high")
        given |= zip(("low", "high"), ends, strict=True)
    curve = {key: _series.row(f"{key} of {owner}", values) for key, values in given.items()}
    if len({len(values) for values in curve.values()}) > 1 or not curve["x"]:
        counts = " and ".join(f"{len(values)} {key}" for key, values in curve.items())
        raise ValueError(f"{owner} must have as many {' as '.join(curve)} and at least one, got {counts}")
    for value in curve["x"]:
        _support.real(f"x of {owner}", value)
    for key, values in curve.items():
        _series.on_axis(f"{owner} has {key}", values, scales["x" if key == "x" else "y"])
    for low, high in zip(curve.get("low", ()), curve.get("high", ()), strict=True):
        if low > high:
            raise ValueError(f"bands[{name!r}] must have low at most high, got {low} and {high}")
    return {key: [rounded(value, DRAWN_DIGITS) for value in values] for key, values in curve.items()}


def _seen(series: Mapping[str, Mapping[str, Numbers]]) -> bool:
    """Tell whether there is anything to see of curves and bands."""
    values = (value for curve in series.values() for key in curve if key != "x" for value in curve[key])
    return any(map(math.isfinite, values))


def _finite(argument: str, values: list[float], scale: str) -> list[float]:
    """Return places on an axis, or raise unless it has them all."""
    for value in values:
        _support.real(argument, value)
    _series.on_axis(argument, values, scale)
    return values


def _ticks(xticks: object, scale: str) -> list[float]:
    ticks = _finite("xticks", _series.row("xticks", xticks), scale)
    if len(ticks) > MAX_TICKS:
        raise ValueError(f"xticks must hold at most {MAX_TICKS} ticks, got {len(ticks)}")
    return ticks


def _ends(ylim: object, scale: str) -> tuple[float, float]:
    low, high = _finite("ylim", _series.row("ylim", _series.two("ylim", ylim, "low", "high")), scale)
    if low >= high:
        raise ValueError(f"ylim must have low below high, got {low} and {high}")
    return low, high


def _describe_curve(name: str, curve: Mapping[str, Numbers]) -> str:
    points = [(x, y) for x, y in zip(curve["x"], curve["y"], strict=True) if not math.isnan(y)]
    if not points:
        return f"{name}: no numbers."
    ends, finite = (points[0], points[-1]), [point for point in points if math.isfinite(point[1])]
    text = f"{name}: from {_at(ends[0])} to {_at(ends[1])}"
    lowest, highest = (extreme(finite, key=_y, default=ends[0]) for extreme in (min, max))
    if _y(lowest) < min(map(_y, ends)):
        text += f", lowest {_at(lowest)}"
    if _y(highest) > max(map(_y, ends)):
        text += f", highest {_at(highest)}"
    if "low" in curve:
        low, high = ([value for value in curve[end] if not math.isnan(value)] for end in ("low", "high"))
        text += (
            f", with a band between {min(low, default=math.nan):.4g} and {max(high, default=math.nan):.4g}"
        )
    return text + "."


def _y(point: tuple[float, float]) -> float:
    return point[1]


def _at(point: tuple[float, float]) -> str:
    return f"{point[1]:.4g} at {point[0]:.4g}"
