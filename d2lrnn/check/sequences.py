"""Checks for the chapters on sequences and on autoregressive models."""

from __future__ import annotations

from collections.abc import Callable

import torch

from d2lrnn.check._run import Case, own_settings, run


@own_settings()
def count_windows(function: Callable[..., object]) -> None:
    """Check ``count_windows(num_steps, width, stride)``, how many whole windows a series has: an int."""
    sizes = [(1000, 20, 1), (1000, 20, 20), (10, 10, 3), (11, 3, 4), (12, 3, 4), (4, 5, 4), (3, 10, 2)]
    hints = [
        "The last window ends at the last step.",
        "Side by side, 50 windows of 20 steps cover a series of 1,000.",
        "A series as long as a window has one window.",
        "Windows begin at steps 0, 4 and 8, and the last ends with the series.",
        "A window that would reach beyond the end is not counted.",
        "A series shorter than a window has none.",
        "A series much shorter than a window has none either, and not fewer than none.",
    ]
    expected = [max(0, (steps - width) // stride + 1) for steps, width, stride in sizes]
    run("count_windows", function, list(map(Case, sizes, expected, hints)))


@own_settings()
def masked_mean(function: Callable[..., object]) -> None:
    """Check ``masked_mean(batch, lengths)``: the mean of each row's real steps, (batch,).

    `batch` is a tensor, (batch, steps), filled up on the right; `lengths` says how many steps are real.
    """
    batch = torch.tensor([[2.0, 4, 6, 0], [5, 0, 0, 0], [0, 0, 3, 1]], dtype=torch.float32)
    junk = torch.tensor([[1.0, 4, 99], [7, 99, 99]], dtype=torch.float32)
    cases = [
        Case((batch[:1], torch.tensor([4])), [3.0], "With nothing filled up it is the ordinary mean."),
        Case((batch, torch.tensor([3, 1, 4])), [4.0, 5.0, 1.0], "Divide by the row's own length."),
        Case((junk, torch.tensor([2, 1])), [2.5, 7.0], "What fills up need not be 0."),
        Case((batch[2:], torch.tensor([3])), [1.0], "A real step may be 0: zeros are no sign of filling."),
    ]
    run("masked_mean", function, cases)


@own_settings()
def pad_left(function: Callable[..., object]) -> None:
    """Check ``pad_left(sequences)``: lists of numbers to one tensor, (batch, steps), with 0 on the left."""
    cases = [
        Case(([[1, 2, 3], [4]],), [[1, 2, 3], [0, 0, 4]], "The last step of each row is its last number."),
        Case(([[1, 2], [3, 4]],), [[1, 2], [3, 4]], "Equal lengths need no filling."),
        Case(
            ([[7], [1, 2, 3], [5, 6]],), [[0, 0, 7], [1, 2, 3], [0, 5, 6]], "The longest need not be first."
        ),
        Case(([[0.5], [1.5, 2.5]],), [[0, 0.5], [1.5, 2.5]], "Numbers need not be whole."),
        Case(([[], [1, 2]],), [[0, 0], [1, 2]], "A sequence may be empty."),
    ]
    run("pad_left", function, cases)


@own_settings()
def lag_pairs(function: Callable[..., object]) -> None:
    """Check ``lag_pairs(x, tau)``: for a list `x`, a list of pairs (window, label).

    A window is a list of `tau` values, oldest first; its label is the value that follows.
    """
    cases = [
        Case(
            ([10, 20, 30, 40, 50], 2),
            [([10, 20], 30), ([20, 30], 40), ([30, 40], 50)],
            "The label is the value right after the window; the last value is a label too.",
        ),
        Case(([3, 1, 4], 1), [([3], 1), ([1], 4)], "A window may be a single value; it is still a list."),
        Case(([1, 2, 3, 4], 3), [([1, 2, 3], 4)], "With one value more than the window there is one pair."),
        Case(([1, 2, 3], 3), [], "Without a value after the window there is no pair."),
    ]
    run("lag_pairs", function, cases)


@own_settings()
def feed_back(function: Callable[..., object]) -> None:
    """Check ``feed_back(model, window, k)``: the forecast `k` steps ahead of a list `window`, oldest first.

    `model` takes such a list and returns the value after it.
    """

    def half(window: list[float]) -> float:
        return 0.5 * window[-1]

    def straight_line(window: list[float]) -> float:
        return 2 * window[-1] - window[-2]

    def oldest_plus_ten(window: list[float]) -> float:
        return window[0] + 10

    cases = [
        Case((half, [8.0], 1), 4.0, "One step ahead nothing is fed back."),
        Case((half, [8.0], 3), 1.0, "Each prediction takes the place of the newest value."),
        Case((straight_line, [1.0, 2.0], 4), 6.0, "The newest value is the last of the window."),
        Case((oldest_plus_ten, [1.0, 2.0, 3.0], 5), 22.0, "Each time the oldest value goes, and only it."),
    ]
    run("feed_back", function, cases)
