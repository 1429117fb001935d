"""Named curves in one pair of axes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from matplotlib.figure import Figure

from d2lrnn import _checks
from d2lrnn.figures import DASHES, MARKERS, PALETTE, Numbers, new_figure, rounded, show, style

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
    curves
        For each curve its name and ``(x, y)``, two sequences of one length.
    xlabel, ylabel
        Axis labels, with the unit where there is one.
    xscale, yscale
        ``"linear"`` or ``"log"``.
    markers
        Whether to mark each point.
    points
        Names of curves to draw as points without a line.
    bands
        For the name of a curve ``(low, high)``, two sequences of its length, shaded between.
    xticks
        Where to put ticks and numbers on the x axis.
    ylim
        Ends of the y axis, so that figures side by side compare.

    Raises
    ------
    ValueError
        If there is no curve or more than six, a curve is empty, its x, y or band differ in length, a scale
        is unknown, `points` or `bands` names no curve, or a value on a log axis is not positive.
    TypeError
        If `curves` is no mapping, a name is no str, or x, y or a band are no numbers in one row.
    """
    _checks.one_of("xscale", xscale, ("linear", "log"))
    _checks.one_of("yscale", yscale, ("linear", "log"))
    for argument, names in (("points", points), ("bands", bands or {})):
        for name in names:
            _checks.one_of(f"a name in {argument}", name, curves)
    series = _curve_series(curves, bands or {}, xscale, yscale)
    figure = new_figure()
    with style():
        _draw_curves(figure, series, markers, points)
        axes = figure.axes[0]
        axes.set(xlabel=xlabel, ylabel=ylabel, xscale=xscale, yscale=yscale, ylim=ylim)
        if xticks is not None:
            axes.set_xticks(xticks, labels=[f"{tick:g}" for tick in xticks])
            axes.minorticks_off()
    alt = f"Line chart of {ylabel} against {xlabel}. " + " ".join(
        _describe_curve(name, curve) for name, curve in series.items()
    )
    axis = {"xlabel": xlabel, "ylabel": ylabel, "xscale": xscale, "yscale": yscale}
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


def _curve_series(
    curves: Mapping[str, tuple[Numbers, Numbers]],
    bands: Mapping[str, tuple[Numbers, Numbers]],
    xscale: str,
    yscale: str,
) -> dict[str, dict[str, list[float]]]:
    if not isinstance(curves, Mapping):
        raise TypeError(f"curves must be a mapping, got {curves!r} ({type(curves).__name__})")
    if not 1 <= len(curves) <= len(PALETTE):  # more could not be told apart
        raise ValueError(f"curves must hold 1 to {len(PALETTE)} curves, got {len(curves)}")
    series = {}
    for name, pair in curves.items():
        if _checks.string("a name in curves", name).startswith("_"):
            raise ValueError(f"a name in curves must not begin with an underscore, got {name!r}")
        given = dict(zip(("x", "y", "low", "high"), (*pair, *bands.get(name, ())), strict=False))
        curve = {key: _numbers(f"{key} of curves[{name!r}]", values) for key, values in given.items()}
        if len({len(values) for values in curve.values()}) > 1 or not curve["x"]:
            counts = " and ".join(f"{len(values)} {key}" for key, values in curve.items())
            raise ValueError(
                f"curves[{name!r}] must have as many {' as '.join(curve)} and at least one, got {counts}"
            )
        for key, values in curve.items():
            lowest = min((value for value in values if not math.isnan(value)), default=1.0)
            if (xscale if key == "x" else yscale) == "log" and lowest <= 0:
                raise ValueError(f"curves[{name!r}] has {key} = {lowest}, which a log axis cannot show")
        series[name] = curve
    return series


def _numbers(name: str, values: Numbers) -> list[float]:
    row = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(row, str) or not isinstance(row, Iterable):
        raise TypeError(f"{name} must be a sequence of numbers, got {values!r} ({type(values).__name__})")
    try:
        return [rounded(float(value), DRAWN_DIGITS) for value in row]
    except TypeError:
        raise TypeError(f"{name} must be numbers in one row, got {values!r}") from None


def _describe_curve(name: str, curve: Mapping[str, Numbers]) -> str:
    x, y = curve["x"], curve["y"]
    text = f"{name}: from {y[0]:.4g} at {x[0]:.4g} to {y[-1]:.4g} at {x[-1]:.4g}"
    finite = [value for value in y if math.isfinite(value)]
    if finite and min(finite) < min(y[0], y[-1]):
        text += f", lowest {min(finite):.4g} at {x[list(y).index(min(finite))]:.4g}"
    if finite and max(finite) > max(y[0], y[-1]):
        text += f", highest {max(finite):.4g} at {x[list(y).index(max(finite))]:.4g}"
    if "low" in curve:
        text += f", with a band between {min(curve['low']):.4g} and {max(curve['high']):.4g}"
    return text + "."
