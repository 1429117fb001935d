"""Checks for the chapters on gradients through time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.autograd import grad
from torch.nn.functional import cross_entropy

from d2lrnn._support import Floats
from d2lrnn.check._run import Case, own_settings, run
from d2lrnn.gradients.scalar import scalar_recursion
from d2lrnn.training.clipping import clip_gradients


@own_settings()
def truncated_sum(function: Callable[..., object]) -> None:
    """Check ``truncated_sum(b, c, tau)``: the terms of a_T from at most `tau` steps back, added up, a float.

    `b` and `c` are lists of T numbers, at least one; ``b[0]`` is b_1. For the chapter on backpropagation
    through time, as are the next two.
    """
    b, c = [4.0, 2.0, 1.0, 5.0], [9.0, 0.5, 3.0, 0.25]
    hints = {
        0: "Without a step back b_T alone is left.",
        1: "One step back adds a second term, b_{T-1} times c_T.",
        2: "b_i is multiplied by c_{i+1}, ..., c_T, and not by its own c_i.",
        3: "T - 1 steps back leave nothing out.",
        7: "There is nothing before the first step: a larger tau changes nothing.",
    }
    cases = []
    for tau, hint in hints.items():
        left_out = max(len(b) - 1 - tau, 0)
        near = [0.0] * left_out + b[left_out:]
        cases.append(Case((b, c, tau), scalar_recursion(near, c)[-1], hint))
    cases.append(Case(([7.0], [2.0], 1), 7.0, "A sequence of a single step has one term."))
    run("truncated_sum", function, cases)


@own_settings()
def tanh_deltas(function: Callable[..., object]) -> None:
    """Check ``tanh_deltas(G, H, W_hh)``: the total derivatives of the loss by all A_t, (steps, rows, units).

    `G` has the immediate derivatives of the loss by the states, `H` the states after each step, both arrays
    of that shape, and tanh is taken of A_t, which contains ``H_{t-1} W_hh``.
    """
    draw = _draw(0)
    cases = []
    for steps, rows, units, hint in [
        (1, 1, 2, "A single step has its own error alone, times 1 - H^2."),
        (2, 1, 3, "The step after comes in through W_hh transposed."),
        (5, 2, 3, "Each step takes the delta of the step after it, so begin with the last."),
        (4, 3, 1, "The first axis is the steps, the second the rows of a batch."),
    ]:
        A, G = draw(steps, rows, units).requires_grad_(), draw(steps, rows, units)
        W, states = draw(units, units), [torch.zeros(rows, units).double()]
        for A_t in A:
            states.append(torch.tanh(A_t + states[-1] @ W))
        H = torch.stack(states[1:])
        (deltas,) = grad((H * G).sum(), A)
        cases.append(Case((G.numpy(), H.detach().numpy(), W.numpy()), deltas, hint))
    run("tanh_deltas", function, cases)


@own_settings()
def steps_back(function: Callable[..., object]) -> None:
    """Check ``steps_back(num_steps, window)``: how far back the loss of each step goes, a list of ints.

    The state is detached before the first step of each window, and windows follow each other without a gap.
    """
    hints = {
        (7, 3): "The first step of each window has no way back: begin anew with 0.",
        (4, 4): "The last step of a window goes back to its first, one step less than the window has.",
        (5, 1): "Windows of one step leave no way back.",
        (2, 6): "A text shorter than the window is a window of its own.",
    }
    cases = [Case(sizes, [t % sizes[1] for t in range(sizes[0])], hint) for sizes, hint in hints.items()]
    run("steps_back", function, cases)


@own_settings()
def logit_gradients(function: Callable[..., object]) -> None:
    """Check ``logit_gradients(logits, y)``: the derivative of the loss by the logits, (steps, words).

    The loss is the cross-entropy of softmax, summed over steps; `logits` is an array of that shape, `y` one
    of the targets' indices, (steps,). For the chapter on the vanilla RNN, as are the next two.
    """
    draw, large = _draw(1), torch.tensor([[1000.0, 0.0, -1000.0]], dtype=torch.float64)
    cases = []
    for logits, y, hint in [
        (torch.zeros(1, 4).double(), [2], "It is yhat - y: negative at the target, positive at all others."),
        (draw(1, 3), [0], "The prediction yhat is the softmax of the logits."),
        (draw(3, 5), [4, 0, 2], "The loss is a sum over steps, not a mean."),
        (draw(4, 2), [1, 1, 0, 1], "Each row has its own target, and sums to 0."),
        (large, [1], "Large logits: subtract the largest before exp."),
    ]:
        leaf = logits.clone().requires_grad_()
        (expected,) = grad(cross_entropy(leaf, torch.tensor(y), reduction="sum"), leaf)
        cases.append(Case((logits.numpy(), np.array(y)), expected, hint))
    run("logit_gradients", function, cases)


@own_settings()
def word_gradient(function: Callable[..., object]) -> None:
    """Check ``word_gradient(delta, x, num_words)``: the gradient of U, an array (units, words).

    `delta` is an array, (steps, units), of the derivatives by U x_t; `x`, (steps,), has the words' indices.
    """
    draw = _draw(2)
    cases = []
    for x, num_words, hint in [
        ([1, 0], 2, "The column of a word is the delta of the step that read it."),
        ([2], 5, "Words that were not read have columns of 0."),
        ([0, 3, 0, 1], 4, "A word that is read twice has the sum of two deltas."),
        ([1, 1, 1], 3, "All deltas of a word count, not the last one alone, and not their mean."),
    ]:
        delta = draw(len(x), 2).numpy()
        cases.append(Case((delta, np.array(x), num_words), delta.T @ np.eye(num_words)[x], hint))
    run("word_gradient", function, cases)


@own_settings()
def draw_word(function: Callable[..., object]) -> None:
    """Check ``draw_word(logits, temperature, u)``: the index of the word that the number `u` draws, an int.

    The logits, an array, are divided by `temperature` before softmax. The word is the first at which the sum
    of probabilities, word by word, exceeds `u`, which is in [0, 1).
    """
    cases = [
        Case((np.zeros(4), 1.0, 0.6), 2, "Of the sums 0.25, 0.5, 0.75, 1 the third is the first above 0.6."),
        Case((np.array([3.0, 0.0, 0.0]), 1.0, 0.99), 2, "Draw: the likeliest word is not always the next."),
        Case((np.zeros(2), 1.0, 0.5), 1, "The sum must exceed u, not only reach it."),
        Case((np.array([math.log(4), 0.0]), 0.5, 0.9), 0, "A low temperature makes likely words likelier."),
        Case((np.array([math.log(4), 0.0]), 2.0, 0.7), 1, "A high temperature makes rare words likelier."),
        Case((np.array([0.0, 1.0, 2.0]), 1.0, 0.0), 0, "Words keep their order, whatever their probability."),
        Case((np.array([1000.0, 999.0]), 1.0, 0.8), 1, "Large logits: subtract the largest before exp."),
    ]
    run("draw_word", function, cases)


@own_settings()
def chain_slope(function: Callable[..., object]) -> None:
    """Check ``chain_slope(w, h_0, num_steps)``: the derivative of the last state by the first, a float.

    The states are numbers, ``h_t = tanh(w h_{t-1})``. For the chapter on vanishing gradients, as are
    the next two.
    """
    hints = {
        (0.5, 0.8, 1): "One step has the factor w (1 - h_1^2).",
        (2.0, 0.0, 4): "At 0 the slope of tanh is 1, so that each step has the factor w.",
        (1.1, -0.4, 10): "The state changes, and the slope with it: a new factor at each step.",
        (-1.2, 0.5, 3): "A negative weight turns the sign at each step.",
        (3.0, 0.5, 3): "The slope at a_t is 1 - h_t^2, by the state after the step.",
        (0.9, 0.3, 0): "Without a step the last state is the first.",
    }
    cases = []
    for arguments, hint in hints.items():
        w, start, num_steps = arguments
        leaf = state = torch.tensor(start, dtype=torch.float64, requires_grad=True)
        for _ in range(num_steps):
            state = torch.tanh(w * state)
        cases.append(Case(arguments, grad(state, leaf)[0], hint))
    run("chain_slope", function, cases)


@own_settings()
def jacobian_product(function: Callable[..., object]) -> None:
    """Check ``jacobian_product(W_hh, states)``: the derivative of the last state by h_0, a tensor.

    `states`, (steps, units), are h_1, ..., h_T of ``h_t = tanh(W_hx x_t + W_hh h_{t-1} + b_h)``, and entry
    (i, j) belongs to unit i of h_T and unit j of h_0.
    """
    draw = _draw(3)
    cases = []
    for steps, units, hint in [
        (1, 2, "One step: diag(1 - h_1^2) W_hh, which scales the rows of W_hh."),
        (2, 3, "The Jacobian of the last step stands on the left."),
        (6, 4, "Each step has its own Jacobian."),
        (3, 1, "With one unit it is a product of numbers, in a matrix of 1 by 1."),
        (0, 3, "Without a step the last state is h_0, and its derivative the identity."),
    ]:
        W, h_0, states = draw(units, units), draw(units).requires_grad_(), []
        h_t = h_0
        for a_t in draw(steps, units):
            h_t = torch.tanh(a_t + W @ h_t)
            states.append(h_t.detach())
        rows = [grad(h_t[i], h_0, retain_graph=True)[0] for i in range(units)]
        found = torch.stack(states) if states else torch.zeros(0, units, dtype=torch.float64)
        cases.append(Case((W, found), torch.stack(rows), hint))
    run("jacobian_product", function, cases)


@own_settings()
def clip_together(function: Callable[..., object]) -> None:
    """Check ``clip_together(gradients, theta)``: the gradients, scaled so that their norm is at most `theta`.

    `gradients` is a list of arrays of any shapes, and the norm that of all of them as one vector; the result
    is a list of arrays.
    """
    draw = _draw(4)
    hints: list[tuple[list[Floats], float, str]] = [
        ([np.array([3.0, 4.0])], 1.0, "The norm is 5, so that each number is divided by 5."),
        ([np.array([3.0]), np.array([4.0])], 1.0, "There is one norm for all arrays together."),
        ([np.array([0.3, -0.4])], 1.0, "A gradient within the bound stays as it is."),
        ([draw(2, 3).numpy(), 9 * draw(4).numpy()], 2.0, "Squares of all entries are added, then the root."),
        ([np.zeros(3)], 1.0, "A gradient of 0 stays 0: do not divide by its norm."),
    ]
    cases = []
    for gradients, theta, hint in hints:
        parameters = [torch.zeros(gradient.shape, dtype=torch.float64) for gradient in gradients]
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = torch.tensor(gradient)
        clip_gradients(parameters, theta)
        cases.append(Case((gradients, theta), [parameter.grad for parameter in parameters], hint))
    run("clip_together", function, cases)


def _draw(seed: int) -> Callable[..., Tensor]:
    """Return a function that draws numbers between -1 and 1 in the shape it is given."""
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: 2 * torch.rand(shape, dtype=torch.float64, generator=generator) - 1
