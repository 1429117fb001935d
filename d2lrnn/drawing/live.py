"""Curves that grow while a loop runs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from types import TracebackType
from uuid import uuid4

from d2lrnn import _support
from d2lrnn._kernel import display, interactive
from d2lrnn.drawing import _series, figures
from d2lrnn.drawing._progress import bar
from d2lrnn.drawing.curves import plot_curves

MAX_ROUNDS = 10**15  # more could not be told apart by the bar, nor waited for


class LiveCurves:
    """Plot values as a loop makes them; use it in a ``with`` statement.

    With a person at the kernel, the figure and a progress bar are renewed while the loop runs. In a
    recording, a build or a test (see `d2lrnn._kernel.interactive`) nothing is shown until the end, when the
    same figure is displayed once. So the output that remains does not depend on who watched. A loop that ends
    with an error or is stopped leaves the figure of what it had added by then.

    Parameters
    ----------
    total : int
        Number of rounds, at least 1 and at most 10**15, for the progress bar.
    xlabel, ylabel, xscale, yscale : str
        As in `plot_curves`.
    every : float
        Seconds between two updates, at least 0: drawing must not slow the loop down.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of bounds.

    Examples
    --------
    >>> with LiveCurves(3, xlabel="epoch", ylabel="loss") as live:  # doctest: +SKIP
    ...     for epoch in range(1, 4):
    ...         live.add(epoch, {"training": 1 / epoch})
    """

    def __init__(
        self,
        total: int,
        *,
        xlabel: str,
        ylabel: str,
        xscale: str = "linear",
        yscale: str = "linear",
        every: float = 0.5,
    ) -> None:
        self._total = _support.integer("total", total, minimum=1)
        if self._total > MAX_ROUNDS:
            raise ValueError(f"total must be at most 10**15 rounds, got {_support.short(self._total)}")
        self._xlabel, self._ylabel = _series.label("xlabel", xlabel), _series.label("ylabel", ylabel)
        self._xscale = _support.one_of("xscale", xscale, ("linear", "log"))
        self._yscale = _support.one_of("yscale", yscale, ("linear", "log"))
        self._every = _support.real("every", every, minimum=0)
        self._points: dict[str, list[tuple[float, float]]] = {}
        self._rounds = 0
        self._entered = False
        self._display_id: str | None = None  # of the display that is renewed
        self._drawn = -math.inf  # seconds, by the monotonic clock

    def __enter__(self) -> LiveCurves:
        self._entered = True
        if interactive():
            self._display_id = f"d2lrnn-{uuid4().hex}"
            self._put({"text/plain": "", "text/html": self._bar()}, update=False)
        return self

    def add(self, x: float, values: Mapping[str, float]) -> None:
        """Add a point at `x` to each curve that `values` names; one call is one round of the progress bar.

        Parameters
        ----------
        x : float
            Finite, at most 1e200 in magnitude, above 0 on a log axis.
        values : mapping of str to float
            For names of curves, of six over all calls, the new value, within the same bounds; nan and
            infinity leave a gap.

        Raises
        ------
        TypeError, ValueError
            If `plot_curves` could not draw the point, which is then not added. All earlier ones are kept.
        RuntimeError
            Outside the ``with`` statement.
        """
        if not self._entered:
            raise RuntimeError("add must be called within `with LiveCurves(...) as live:`")
        points = self._checked(x, values)
        for name, point in points.items():
            self._points.setdefault(name, []).append(point)
        self._rounds += 1
        if self._display_id is not None and time.monotonic() - self._drawn >= self._every:
            bundle = self._figure(png=False) if self._points else {"text/html": ""}
            self._put({**bundle, "text/html": f"{self._bar()}{bundle['text/html']}"}, update=True)
            self._drawn = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered = False
        if self._points:
            self._put(figures.displayed(self._figure(png=True)), update=self._display_id is not None)

    def _checked(self, x: object, values: Mapping[str, float]) -> dict[str, tuple[float, float]]:
        """Return the new point of each curve, or raise if `plot_curves` would refuse one."""
        place = _support.real("x", _series.number("x", x))
        _series.on_axis("x", [place], self._xscale)
        _series.mapping("values", values)
        if values:
            _series.names("values", dict.fromkeys([*self._points, *values]))
        points = {name: (place, _series.number(f"values[{name!r}]", value)) for name, value in values.items()}
        for name, (_, value) in points.items():
            _series.on_axis(f"values[{name!r}]", [value], self._yscale)
        return points

    def _figure(self, *, png: bool) -> figures.Bundle:
        with figures.captured(png=png) as bundles:
            plot_curves(
                {
                    name: ([x for x, _ in points], [y for _, y in points])
                    for name, points in self._points.items()
                },
                xlabel=self._xlabel,
                ylabel=self._ylabel,
                xscale=self._xscale,
                yscale=self._yscale,
            )
        return bundles[0]

    def _bar(self) -> str:
        return bar(self._rounds, self._total)

    def _put(self, bundle: figures.Bundle, *, update: bool) -> None:
        named = {} if self._display_id is None else {"display_id": self._display_id, "update": update}
        display(bundle, **named)
