"""The linear network: states and gradients in closed form."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import assert_close, linear_case, require_grad

from d2lrnn.gradients.gradcheck import compare, numeric_gradient
from d2lrnn.gradients.vanilla import LinearRNN

law = settings(deadline=None, max_examples=50)  # a busy machine is not a fault
TAUS = [0, 1, 2, 5, 6, 7, 8, 100, None]  # for T = 8: from 7 on, all steps


@st.composite
def linear_cases(draw):
    """Draw a model of random sizes, all of them different at times, with x, y and a state before them."""
    T, d, n, q = (draw(st.integers(1, most)) for most in (9, 4, 5, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    model = LinearRNN(rng.normal(size=(n, d)), rng.normal(size=(n, n)), rng.normal(size=(q, n)))
    return model, rng.normal(size=(T, d)), rng.normal(size=(T, q)), rng.normal(size=n)


def linear_autograd(model, x, y, h0):
    W_hx, W_hh, W_qh = require_grad(model.W_hx, model.W_hh, model.W_qh)
    h, hs, os = torch.tensor(h0), [], []
    for x_t in torch.tensor(x):
        h = W_hx @ x_t + W_hh @ h
        o = W_qh @ h
        h.retain_grad()
        o.retain_grad()
        hs.append(h)
        os.append(o)
    loss = sum(0.5 * ((o - y_t) ** 2).sum() for o, y_t in zip(os, torch.tensor(y), strict=True)) / len(x)
    loss.backward()
    return {
        "W_hx": W_hx.grad,
        "W_hh": W_hh.grad,
        "W_qh": W_qh.grad,
        "h": torch.stack([h.grad for h in hs]),
        "o": torch.stack([o.grad for o in os]),
    }


def linear_formulas(model, x, y, h0):
    """Return the gradients from the closed form: every sum an explicit loop, total derivatives from powers.

    Steps are 1, ..., T, as in the equations; h[0] is the state before them.
    """
    W_hx, W_hh, W_qh = model.W_hx, model.W_hh, model.W_qh
    (n, d), q, T = W_hx.shape, len(W_qh), len(x)
    steps = range(1, T + 1)
    h = {0: h0}
    o, total_o, total_h = {}, {}, {}
    for t in steps:
        h[t] = np.zeros(n)
        for i in range(n):
            h[t][i] = sum(W_hx[i, j] * x[t - 1][j] for j in range(d))
            h[t][i] += sum(W_hh[i, j] * h[t - 1][j] for j in range(n))
        o[t] = np.array([sum(W_qh[k, i] * h[t][i] for i in range(n)) for k in range(q)])
        total_o[t] = np.array([(o[t][k] - y[t - 1][k]) / T for k in range(q)])
    for t in steps:  # dL/dh_t = sum_{i=t}^{T} (W_hh^T)^{T-i} W_qh^T dL/do_{T+t-i}
        total_h[t] = np.zeros(n)
        for i in range(t, T + 1):
            power = np.linalg.matrix_power(W_hh.T, T - i)
            for a, b, k in product(range(n), range(n), range(q)):
                total_h[t][a] += power[a, b] * W_qh[k, b] * total_o[T + t - i][k]
    dW_hx, dW_hh, dW_qh = np.zeros((n, d)), np.zeros((n, n)), np.zeros((q, n))
    for t in steps:
        for a, j in product(range(n), range(d)):
            dW_hx[a, j] += total_h[t][a] * x[t - 1][j]
        for a, j in product(range(n), range(n)):
            dW_hh[a, j] += total_h[t][a] * h[t - 1][j]
        for k, a in product(range(q), range(n)):
            dW_qh[k, a] += total_o[t][k] * h[t][a]
    stacked = {name: np.array([array[t] for t in steps]) for name, array in (("h", total_h), ("o", total_o))}
    return {"W_hx": dW_hx, "W_hh": dW_hh, "W_qh": dW_qh, **stacked}


@law
@given(linear_cases())
def test_linear_gradients_are_those_of_autograd(case):
    model, x, y, h0 = case
    assert_close(model.gradients(x, y, h0), linear_autograd(*case))


@law
@given(linear_cases())
def test_linear_gradients_are_those_of_the_closed_form(case):
    model, x, y, h0 = case
    assert_close(model.gradients(x, y, h0), linear_formulas(*case))


@settings(law, max_examples=20)
@given(linear_cases())
def test_linear_gradients_are_those_of_central_differences(case):
    model, x, y, h0 = case
    weights = {"W_hx": model.W_hx, "W_hh": model.W_hh, "W_qh": model.W_qh}
    numeric = numeric_gradient(lambda p: LinearRNN(**p).loss(x, y, h0), weights)
    ours = model.gradients(x, y, h0)
    assert_close({name: ours[name] for name in weights}, numeric, tolerance=1e-6)


def test_linear_gradients_of_one_step_have_no_recursion():
    model, x, y, h0 = linear_case(T=1)
    h = model.W_hx @ x[0] + model.W_hh @ h0
    do = model.W_qh @ h - y[0]
    dh = model.W_qh.T @ do
    expected = {"W_hx": np.outer(dh, x[0]), "W_hh": np.outer(dh, h0), "W_qh": np.outer(do, h)}
    assert_close(model.gradients(x, y, h0), {**expected, "h": dh[None], "o": do[None]}, tolerance=1e-14)


def test_linear_state_before_the_first_step_is_zero_unless_given():
    model, x, y, h0 = linear_case()
    assert_close(model.gradients(x, y), model.gradients(x, y, np.zeros_like(h0)), tolerance=0)


def test_linear_state_before_the_first_step_matters():
    model, x, y, h0 = linear_case()
    assert not compare("W_hh", model.gradients(x, y)["W_hh"], model.gradients(x, y, h0)["W_hh"]).close


@law
@given(linear_cases())
def test_linear_outputs_and_states_follow_their_equations(case):
    model, x, _, h0 = case
    o, h = model.forward(x, h0)
    before = np.vstack([h0, h[:-1]])
    expected_h = np.einsum("ni,ti->tn", model.W_hx, x) + np.einsum("nm,tm->tn", model.W_hh, before)
    expected_o = np.einsum("qn,tn->tq", model.W_qh, h)
    assert_close({"o": o, "h": h}, {"o": expected_o, "h": expected_h}, tolerance=1e-13)


@law
@given(linear_cases())
def test_linear_loss_is_the_mean_of_half_the_squared_error(case):
    model, x, y, h0 = case
    o, _ = model.forward(x, h0)
    mean = sum(0.5 * (o[t][k] - y[t][k]) ** 2 for t in range(len(x)) for k in range(y.shape[1])) / len(x)
    assert model.loss(x, y, h0) == pytest.approx(mean, rel=1e-12)


def test_linear_gradient_at_the_targets_is_zero():
    model, x, _, h0 = linear_case()
    gradients = model.gradients(x, model.forward(x, h0)[0], h0)
    assert all(not gradient.any() for gradient in gradients.values())
