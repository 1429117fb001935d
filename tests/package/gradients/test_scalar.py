"""The scalar network's derivative against autograd, its closed form, and what randomness promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from d2lrnn.gradients.scalar import (
    full_gradient,
    randomized_gradient,
    scalar_closed_form,
    scalar_recursion,
    scalar_rnn,
    truncated_gradient,
)

law = settings(deadline=None)  # a busy machine is not a fault
numbers = st.floats(-2, 2)
inputs = st.lists(numbers, min_size=1, max_size=12)
X = np.random.default_rng(0).normal(size=12) * 0.3  # states away from +-1, so that early steps matter
W = 1.2
H0 = 0.4
NUM_DRAWS = 200_000


def terms(x, w, h0):
    """Return the terms of dh_T/dw by how many steps back they are, each product factor by factor."""
    h = [h0]  # h[t] is h_t
    for x_t in x:
        h.append(math.tanh(x_t + w * h[-1]))
    T, result = len(x), []
    for i in range(T, 0, -1):
        term = (1 - h[i] ** 2) * h[i - 1]
        for j in range(i + 1, T + 1):
            term *= (1 - h[j] ** 2) * w
        result.append(term)
    return result


def autograd(x, w, h0):
    weight = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    h = torch.tensor(h0, dtype=torch.float64)
    for x_t in x:
        h = torch.tanh(x_t + weight * h)
    return torch.autograd.grad(h, weight)[0].item()


@law
@given(inputs, numbers, numbers)
def test_states_follow_their_equation(x, w, h0):
    h, _, _ = scalar_rnn(x, w, h0=h0)
    before = [h0, *h[:-1]]
    assert h.tolist() == pytest.approx([math.tanh(a + w * b) for a, b in zip(x, before, strict=True)], 1e-14)


@law
@given(inputs, numbers, numbers)
def test_immediate_derivatives_hold_the_other_fixed(x, w, h0):
    h, b, c = scalar_rnn(x, w, h0=h0)
    before = torch.tensor([h0, *h[:-1]], dtype=torch.float64, requires_grad=True)  # leaves: no way back
    weights = torch.full_like(before, w).requires_grad_()
    states = torch.tanh(torch.tensor(x, dtype=torch.float64) + weights * before)
    by_w, by_h = torch.autograd.grad(states.sum(), (weights, before))
    assert b.tolist() == pytest.approx(by_w.tolist(), rel=1e-10, abs=1e-15)
    assert c.tolist() == pytest.approx(by_h.tolist(), rel=1e-10, abs=1e-15)


@law
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12))
def test_the_recursion_is_followed_step_by_step(steps):
    b, c = np.transpose(steps)
    a, expected = 0.0, []
    for b_t, c_t in steps:
        a = b_t + c_t * a
        expected.append(a)
    assert scalar_recursion(b, c).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)


@law
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12))
def test_the_closed_form_solves_the_recursion(steps):
    b, c = np.transpose(steps)
    scale = float(np.abs(scalar_closed_form(np.abs(b), np.abs(c))).max())
    assert np.abs(scalar_closed_form(b, c) - scalar_recursion(b, c)).max() <= 1e-13 * scale


def test_the_closed_form_of_three_steps():
    b, c = [2.0, 3.0, 5.0], [7.0, 11.0, 13.0]
    assert scalar_closed_form(b, c).tolist() == [2, 3 + 11 * 2, 5 + 13 * 3 + 13 * 11 * 2]


@law
@given(inputs, numbers, numbers)
def test_the_full_gradient_is_that_of_autograd(x, w, h0):
    scale = sum(map(abs, terms(x, w, h0)))
    assert full_gradient(x, w, h0=h0) == pytest.approx(autograd(x, w, h0), rel=1e-10, abs=1e-13 * scale)


@law
@given(inputs, numbers, numbers, st.integers(0, 13))
def test_the_truncated_gradient_is_the_sum_of_the_last_terms(x, w, h0, tau):
    parts = terms(x, w, h0)
    expected, scale = sum(parts[: tau + 1]), sum(map(abs, parts))
    assert truncated_gradient(x, w, tau=tau, h0=h0) == pytest.approx(expected, rel=1e-10, abs=1e-13 * scale)


@pytest.mark.parametrize("tau", [11, 12, 100])
def test_all_steps_back_is_exactly_the_full_gradient(tau):
    assert truncated_gradient(X, W, tau=tau, h0=H0) == full_gradient(X, W, h0=H0)


def test_one_step_less_is_not_the_full_gradient():
    assert truncated_gradient(X, W, tau=10, h0=H0) != full_gradient(X, W, h0=H0)


# randomized truncation


@pytest.mark.parametrize("pi", [0.3, 0.5, 0.8, 0.95])
def test_the_mean_of_many_estimates_is_the_full_gradient(pi):
    draws = randomized_gradient(X, W, pi=pi, num_draws=NUM_DRAWS, h0=H0, seed=0)
    _, variance = moments(pi)
    standard_error = math.sqrt(variance / NUM_DRAWS)
    assert abs(draws.mean() - full_gradient(X, W, h0=H0)) < 4 * standard_error


def test_that_mean_can_tell_a_truncated_gradient_from_the_full_one():
    standard_error = math.sqrt(moments(0.8)[1] / NUM_DRAWS)
    bias = truncated_gradient(X, W, tau=4, h0=H0) - full_gradient(X, W, h0=H0)
    assert abs(bias) > 20 * standard_error


def moments(pi):
    """Return mean and variance from the distribution of the number of steps k that a sum goes back.

    P(k) = pi^k (1 - pi), but pi^(T-1) for k = T - 1; the sum's term k steps back is divided by pi^k.
    """
    parts = terms(X, W, H0)
    sums = np.cumsum([part / pi**k for k, part in enumerate(parts)])
    probabilities = np.array([pi**k * (1 - pi) for k in range(len(parts))])
    probabilities[-1] = pi ** (len(parts) - 1)
    mean = float(probabilities @ sums)
    return mean, float(probabilities @ (sums - mean) ** 2)


@pytest.mark.parametrize("pi", [0.3, 0.8])
def test_the_mean_by_the_distribution_of_steps_back_is_the_full_gradient(pi):
    assert moments(pi)[0] == pytest.approx(full_gradient(X, W, h0=H0), rel=1e-12)


@pytest.mark.parametrize("pi", [0.5, 0.8, 0.95])
def test_the_variance_is_that_of_the_distribution_of_steps_back(pi):
    draws = randomized_gradient(X, W, pi=pi, num_draws=NUM_DRAWS, h0=H0, seed=0)
    assert draws.var() == pytest.approx(moments(pi)[1], rel=0.05)


@pytest.mark.parametrize("pi", [0.5, 0.8])
def test_an_estimate_is_one_of_the_reweighted_partial_sums(pi):
    sums = np.cumsum([part / pi**k for k, part in enumerate(terms(X, W, H0))])
    draws = randomized_gradient(X, W, pi=pi, num_draws=2000, h0=H0, seed=0)
    assert np.abs(draws[:, None] - sums).min(axis=1).max() < 1e-9


@pytest.mark.parametrize("pi", [0.5, 0.8])
def test_a_sum_stops_at_once_with_the_probability_of_a_zero(pi):
    draws = randomized_gradient(X, W, pi=pi, num_draws=NUM_DRAWS, h0=H0, seed=0)
    stopped = np.mean(np.abs(draws - terms(X, W, H0)[0]) < 1e-12)
    assert abs(stopped - (1 - pi)) < 4 * math.sqrt(pi * (1 - pi) / NUM_DRAWS)


def test_certain_steps_back_give_exactly_the_full_gradient():
    assert set(randomized_gradient(X, W, pi=1, num_draws=3, h0=H0, seed=0)) == {full_gradient(X, W, h0=H0)}


def test_one_step_has_nothing_to_truncate():
    assert set(randomized_gradient([0.3], W, pi=0.5, num_draws=9, h0=H0, seed=0)) == {
        full_gradient([0.3], W, h0=H0)
    }


def test_one_estimate_is_drawn_unless_told_otherwise():
    assert randomized_gradient(X, W, pi=0.5, seed=0).shape == (1,)


def test_estimates_are_drawn_independently():
    draws = randomized_gradient(X, W, pi=0.5, num_draws=NUM_DRAWS, h0=H0, seed=0)
    centred = draws - draws.mean()
    assert abs(np.mean(centred[1:] * centred[:-1]) / draws.var()) < 4 / math.sqrt(NUM_DRAWS)


def test_the_same_seed_gives_the_same_estimates():
    one, other = (randomized_gradient(X, W, pi=0.5, num_draws=50, seed=3) for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize(("one", "other"), [(0, 1), (None, None)])
def test_another_seed_gives_other_estimates(one, other):
    first, second = (randomized_gradient(X, W, pi=0.5, num_draws=50, seed=seed) for seed in (one, other))
    assert not np.array_equal(first, second)


def test_estimates_leave_global_random_state_alone():
    before = repr(np.random.get_state())  # noqa: NPY002
    randomized_gradient(X, W, pi=0.5, seed=0)
    assert repr(np.random.get_state()) == before  # noqa: NPY002


def test_a_generator_of_pytorch_seeds_estimates():
    one, other = (
        randomized_gradient(X, W, pi=0.5, num_draws=50, seed=torch.Generator().manual_seed(s)) for s in (1, 1)
    )
    assert np.array_equal(one, other)


def test_inputs_stay_as_they_are():
    x = X.copy()
    randomized_gradient(x, W, pi=0.5, seed=0)
    truncated_gradient(x, W, tau=3)
    assert np.array_equal(x, X)


def test_the_recursion_leaves_its_arguments_as_they_are():
    b, c = np.ones(5), np.ones(5)
    scalar_recursion(b, c)
    assert b.tolist() == c.tolist() == [1] * 5


# bad input


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: full_gradient([], W), ValueError, r"x must have shape \(T,\), got \(0,\)"),
        (lambda: full_gradient([[1.0]], W), ValueError, r"x must have shape \(T,\), got \(1, 1\)"),
        (lambda: full_gradient([1.0, math.nan], W), ValueError, "x must be finite, got nan"),
        (lambda: full_gradient(["a"], W), TypeError, "x must hold real numbers"),
        (lambda: full_gradient(X, math.inf), ValueError, "w must be finite, got inf"),
        (lambda: full_gradient(X, [1.0]), TypeError, "w must be a number"),
        (lambda: full_gradient(X, W, h0=math.nan), ValueError, "h0 must be finite, got nan"),
        (lambda: full_gradient(X, W, h0="0"), TypeError, "h0 must be a number"),
        (lambda: truncated_gradient(X, W, tau=-1), ValueError, "tau must be at least 0, got -1"),
        (lambda: truncated_gradient(X, W, tau=2.0), TypeError, r"tau must be an integer, got 2\.0"),
        (lambda: truncated_gradient(X, W, tau=None), TypeError, "tau must be an integer, got None"),
        (lambda: randomized_gradient(X, W, pi=0, seed=0), ValueError, r"pi must be greater than 0, got 0\.0"),
        (lambda: randomized_gradient(X, W, pi=1.01, seed=0), ValueError, r"pi must be at most 1, got 1\.01"),
        (lambda: randomized_gradient(X, W, pi=math.nan, seed=0), ValueError, "pi must be finite, got nan"),
        (lambda: randomized_gradient(X, W, pi="1", seed=0), TypeError, "pi must be a number, got '1'"),
        (
            lambda: randomized_gradient(X, W, pi=1, num_draws=0, seed=0),
            ValueError,
            "num_draws must be at least 1",
        ),
        (
            lambda: randomized_gradient(X, W, pi=1, num_draws=1.5, seed=0),
            TypeError,
            "num_draws must be an integer",
        ),
        (lambda: randomized_gradient(X, W, pi=1, num_draws=10**30), ValueError, "num_draws must be so few"),
        (lambda: randomized_gradient(X, W, pi=1, num_draws=2**52), ValueError, "num_draws must be so few"),
        (lambda: randomized_gradient(X, W, pi=1, num_draws=2**62), ValueError, "num_draws must be so few"),
        (lambda: full_gradient(X, 10**400), ValueError, "w must fit a float"),
        (lambda: randomized_gradient(X, W, pi=1, seed=-1), ValueError, "seed must be at least 0, got -1"),
        (lambda: scalar_recursion([1.0, 2.0], [1.0]), ValueError, r"c must have shape \(2,\), got \(1,\)"),
        (lambda: scalar_recursion([], []), ValueError, r"b must have shape \(T,\), got \(0,\)"),
        (lambda: scalar_closed_form([1.0], [1.0, 2.0]), ValueError, r"c must have shape \(1,\), got \(2,\)"),
    ],
)
def test_arguments_that_mean_nothing_are_an_error(call, error, message):
    with pytest.raises(error, match=message):
        call()
