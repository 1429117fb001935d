"""Checks for the chapter on the recurrent idea."""

from __future__ import annotations

from collections.abc import Callable

import torch

from d2lrnn.check._run import Case, own_settings, run


@own_settings()
def num_parameters(function: Callable[..., object]) -> None:
    """Check ``num_parameters(vocab_size, num_hiddens)`` of an RNN with an output layer, an int."""
    hint = "W_xh, W_hh, b_h, W_hq and b_q: each of the five counts once, whatever the length of a text."
    sizes = [(28, 32), (4000, 100), (1, 1), (5, 2)]
    expected = [V * h + h * h + h + h * V + V for V, h in sizes]
    run("num_parameters", function, [Case(s, n, hint) for s, n in zip(sizes, expected, strict=True)])


@own_settings()
def rnn_states(function: Callable[..., object]) -> None:
    """Check ``rnn_states(X, H_0, W_xh, W_hh, b_h)``: the hidden states of all steps, (steps, batch, hiddens).

    `X` is (steps, batch, inputs), `H_0`, (batch, hiddens), is the state before them, `b_h` is (1, hiddens).
    """
    draw = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return 2 * torch.rand(shape, dtype=torch.float64, generator=draw) - 1

    weights = random(3, 4), random(4, 4), random(1, 4)
    cases = []
    for steps, batch, start, hint in [
        (1, 1, torch.zeros(1, 4).double(), "A single step: tanh(X W_xh + H_0 W_hh + b_h)."),
        (1, 2, random(2, 4), "H_0 need not be zero, and counts at the first step."),
        (5, 2, torch.zeros(2, 4).double(), "Each state is made from the one before, and all are kept."),
        (2, 5, random(5, 4), "The steps are the first axis of X and of the result."),
    ]:
        X, H, states = random(steps, batch, 3), start, []
        for X_t in X:
            H = torch.tanh(X_t @ weights[0] + H @ weights[1] + weights[2])
            states.append(H)
        cases.append(Case((X, start, *weights), torch.stack(states), hint))
    run("rnn_states", function, cases)
