"""What `VanillaRNN` computes on its way back, with a row for each of T steps."""

from __future__ import annotations

import numpy as np

from d2lrnn._support import Floats, Ints


def softmax(z: Floats) -> Floats:
    """Turn rows of logits, of which the largest is 0, into probabilities, in place."""
    np.exp(z, out=z)
    z /= z.sum(axis=1, keepdims=True)
    return z


def pass_back(ds: Floats, slope: Floats, W: Floats) -> Floats:
    """Return delta_t for every step, (T, H), with the errors of all later outputs in it."""
    delta = ds * slope
    for t in range(len(delta) - 2, -1, -1):
        delta[t] += (W.T @ delta[t + 1]) * slope[t]
    return delta


def pass_back_truncated(ds: Floats, slope: Floats, W: Floats, tau: int) -> Floats:
    """Return the sum of the deltas at every step, (T, H), of its own output and the next `tau`."""
    total = delta = ds * slope  # each output's, at its own step
    for lag in range(1, tau + 1):  # in row t now the delta of output t + lag, for those that have such a t
        delta = (delta[1:] @ W) * slope[:-lag]  # (T - lag, H)
        total[:-lag] += delta
    return total


def add_columns(delta: Floats, x: Ints, vocab_size: int) -> Floats:
    """Return sum_t delta_t x_t^T, (H, C), for one-hot x_t."""
    order = np.argsort(x, kind="stable")
    words, starts = np.unique(x[order], return_index=True)
    columns = np.zeros((vocab_size, delta.shape[1]))  # of the sum, as rows; most are never touched
    columns[words] = np.add.reduceat(delta[order], starts)
    return columns.T
