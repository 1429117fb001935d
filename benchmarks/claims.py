"""A claim about speed or memory, and how two programs are timed against each other."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A figure and the bound that it must keep."""

    text: str
    figure: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the figure keeps the bound."""
        return (self.at_least is None or self.figure >= self.at_least) and (
            self.at_most is None or self.figure <= self.at_most
        )

    def __str__(self) -> str:
        bound = f"at least {self.at_least:g}" if self.at_most is None else f"at most {self.at_most:g}"
        return f"{'ok  ' if self.holds else 'FAIL'} {self.text}: {self.figure:.3g}, {bound}"


def ratio(slow: Callable[[], object], fast: Callable[[], object], repeats: int) -> float:
    """Return how many times as long the first takes: the median over pairs of runs."""
    fast()
    return statistics.median(seconds(slow) / seconds(fast) for _ in range(repeats))


def seconds(run: Callable[[], object]) -> float:
    """Time one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
