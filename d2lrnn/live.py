"""Curves that grow while a loop runs."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Mapping
from types import TracebackType
from uuid import uuid4

from IPython.display import display

from d2lrnn import _checks, figures
from d2lrnn._kernel import interactive
from d2lrnn.curves import plot_curves


class LiveCurves:
    """Plot values as a loop makes them; use it in a ``with`` statement.

    With a person at the kernel, the figure and a progress bar are renewed while the loop runs. In a
    recording, a build or a test (see `d2lrnn._kernel.interactive`) nothing is shown until the end, when the
    same figure is displayed once. So the output that remains does not depend on who watched.

    Parameters
    ----------
    total : int
        Number of rounds, at least 1, for the progress bar.
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
        self._total = _checks.integer("total", total, minimum=1)
        self._xlabel, self._ylabel = _checks.string("xlabel", xlabel), _checks.string("ylabel", ylabel)
        self._xscale = _checks.one_of("xscale", xscale, ("linear", "log"))
        self._yscale = _checks.one_of("yscale", yscale, ("linear", "log"))
        self._every = _checks.real("every", every, minimum=0)
        self._curves: dict[str, tuple[list[float], list[float]]] = {}
        self._rounds = 0
        self._display_id: str | None = None  # of the display that is renewed
        self._drawn = -math.inf  # seconds, by the monotonic clock

    def __enter__(self) -> LiveCurves:
        if interactive():
            self._display_id = f"d2lrnn-{uuid4().hex}"
            self._put({"text/plain": "", "text/html": self._bar()}, update=False)
        return self

    def add(self, x: float, values: Mapping[str, float]) -> None:
        """Add a point at `x` to each curve that `values` names; one call is one round of the progress bar."""
        for name, value in values.items():
            xs, ys = self._curves.setdefault(name, ([], []))
            xs.append(float(x))
            ys.append(float(value))
        self._rounds += 1
        if self._display_id is not None and time.monotonic() - self._drawn >= self._every:
            bundle = self._figure(png=False) if self._curves else {"text/html": ""}
            self._put({**bundle, "text/html": f"{self._bar()}{bundle['text/html']}"}, update=True)
            self._drawn = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._curves:
            self._put(figures.displayed(self._figure(png=True)), update=self._display_id is not None)

    def _figure(self, *, png: bool) -> figures.Bundle:
        with figures.captured(png=png) as bundles:
            plot_curves(
                self._curves,
                xlabel=self._xlabel,
                ylabel=self._ylabel,
                xscale=self._xscale,
                yscale=self._yscale,
            )
        return bundles[0]

    def _bar(self) -> str:
        label = html.escape(f"{self._rounds:,} of {self._total:,}")
        return (
            f'<div><progress max="{self._total}" value="{self._rounds}" aria-label="progress"></progress> '
            f"{label}</div>"
        )

    def _put(self, bundle: figures.Bundle, *, update: bool) -> None:
        named = {} if self._display_id is None else {"display_id": self._display_id, "update": update}
        display(bundle, raw=True, **named)  # type: ignore[no-untyped-call]
