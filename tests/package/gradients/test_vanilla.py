"""Gradients by hand against autograd, central differences, and loops that follow each formula by index."""

from __future__ import annotations

import math
import tracemalloc
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import assert_close, linear_case, require_grad
from torch.nn.functional import cross_entropy, embedding

import d2lrnn.gradients.vanilla
from d2lrnn._support import word_ids
from d2lrnn.gradients.gradcheck import compare, numeric_gradient
from d2lrnn.gradients.vanilla import BLOCK, LinearRNN, VanillaRNN

law = settings(deadline=None, max_examples=50)  # a busy machine is not a fault
TAUS = [0, 1, 2, 5, 6, 7, 8, 100, None]  # for T = 8: from 7 on, all steps


# vanilla RNN


def vanilla(H=4, C=6, seed=0, scale=1.0):
    """Return a model whose every product of weights matters: no two sizes are equal and tanh is not flat."""
    rng = np.random.default_rng(seed)
    return VanillaRNN(*(scale * rng.normal(size=shape) for shape in ((H, C), (C, H), (H, H))))


def sentence(T=8, C=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, C, T), rng.integers(0, C, T)


@st.composite
def vanilla_cases(draw, longest=10, fewest=1, scale=1.0):
    """Draw a model of random sizes with a pair of sequences in which words come again, and tau."""
    T, H, C = draw(st.integers(1, longest)), draw(st.integers(1, 5)), draw(st.integers(fewest, 6))
    words = st.lists(st.integers(0, C - 1), min_size=T, max_size=T)
    model = vanilla(H, C, draw(st.integers(0, 2**32)), scale)
    return model, draw(words), draw(words), draw(st.none() | st.integers(0, T + 1))


def vanilla_autograd(model, x, y, tau=None):
    """Return gradients by autograd, where the state tau + 1 steps before each output is cut off."""
    U, V, W = require_grad(model.U, model.V, model.W)
    embedded, targets = embedding(torch.tensor(x), U.T), torch.tensor(y)
    states = [torch.zeros(len(W), dtype=torch.float64)]  # states[t] is s_t; x_t is x[t - 1]
    for e in embedded:
        states.append(torch.tanh(e + W @ states[-1]))
    T = len(x)
    if tau is not None:
        before, states = states, [None]
        for t in range(1, T + 1):
            first = max(t - tau, 1)
            s = before[first - 1].detach()
            for k in range(first, t + 1):
                s = torch.tanh(embedded[k - 1] + W @ s)
            states.append(s)
    loss = cross_entropy(torch.stack(states[1:]) @ V.T, targets, reduction="sum")
    return dict(zip("UVW", torch.autograd.grad(loss, (U, V, W)), strict=True))


def vanilla_formulas(model, x, y, tau):
    """Return the sum over t and k of dE_t/ds_t ds_t/ds_k d+s_k/dW, each factor from its own formula.

    ds_t/ds_k is a product of Jacobians, a total derivative by way of the states between; d+ is the immediate
    derivative, with s_{k-1} held fixed. Steps are 1, ..., T, as in the equations.
    """
    U, V, W = model.U, model.V, model.W
    (H, C), T = U.shape, len(x)
    s = {0: np.zeros(H)}
    for t in range(1, T + 1):
        s[t] = np.array([math.tanh(U[i, x[t - 1]] + sum(W[i] * s[t - 1])) for i in range(H)])
    dU, dV, dW = np.zeros((H, C)), np.zeros((C, H)), np.zeros((H, H))
    for t in range(1, T + 1):
        z = [sum(V[c, i] * s[t][i] for i in range(H)) for c in range(C)]
        yhat = [math.exp(z[c]) / sum(map(math.exp, z)) for c in range(C)]
        dE_dz = [yhat[c] - (c == y[t - 1]) for c in range(C)]
        for c, i in product(range(C), range(H)):
            dV[c, i] += dE_dz[c] * s[t][i]
        dE_ds = np.array([sum(dE_dz[c] * V[c, i] for c in range(C)) for i in range(H)])
        for k in range(t, max(t - tau, 1) - 1, -1):
            ds_t_ds_k = np.eye(H)
            for j in range(t, k, -1):
                ds_t_ds_k = ds_t_ds_k @ [[(1 - s[j][a] ** 2) * W[a, b] for b in range(H)] for a in range(H)]
            for m, a in product(range(H), range(H)):
                by_tanh_s_argument = dE_ds[m] * ds_t_ds_k[m, a] * (1 - s[k][a] ** 2)
                dU[a, x[k - 1]] += by_tanh_s_argument
                for b in range(H):
                    dW[a, b] += by_tanh_s_argument * s[k - 1][b]
    return {"U": dU, "V": dV, "W": dW}


@law
@given(vanilla_cases())
def test_vanilla_gradients_are_those_of_autograd(case):
    model, x, y, _ = case
    assert_close(model.gradients(x, y), vanilla_autograd(model, x, y))


@law
@given(vanilla_cases())
def test_truncated_gradients_are_those_of_autograd_with_states_cut_off(case):
    model, x, y, tau = case
    assert_close(model.gradients(x, y, tau), vanilla_autograd(model, x, y, tau))


@law
@given(vanilla_cases())
def test_double_loop_has_the_gradients_of_autograd_with_states_cut_off(case):
    model, x, y, tau = case
    assert_close(model.gradients_double_loop(x, y, tau), vanilla_autograd(model, x, y, tau))


@settings(law, max_examples=15)
@given(vanilla_cases(longest=6))
def test_truncated_gradients_are_those_of_the_formulas(case):
    model, x, y, tau = case
    steps = len(x) if tau is None else tau
    assert_close(model.gradients(x, y, tau), vanilla_formulas(model, x, y, steps))


@settings(law, max_examples=20)
@given(vanilla_cases(fewest=2, scale=0.5))
def test_vanilla_gradients_are_those_of_central_differences(case):
    model, x, y, _ = case
    weights = {"U": model.U, "V": model.V, "W": model.W}
    # The rounding error, about 1e-16 of the loss over the step, must be small beside a small gradient.
    numeric = numeric_gradient(lambda p: VanillaRNN(**p).loss(x, y), weights, step=1e-5)
    ours = model.gradients(x, y)
    if len(x) == 1:
        assert not numeric.pop("W").any()
        assert not ours.pop("W").any()
    assert_close(ours, numeric, tolerance=1e-6)


@pytest.mark.parametrize("tau", TAUS)
def test_one_pass_is_the_double_loop(tau):
    model, (x, y) = vanilla(), sentence()
    assert_close(model.gradients(x, y, tau), model.gradients_double_loop(x, y, tau), tolerance=1e-13)


@pytest.mark.parametrize("tau", [7, 8, 100, np.int64(7)])
def test_all_steps_back_is_exactly_no_truncation(tau):
    model, (x, y) = vanilla(), sentence()
    assert_close(model.gradients(x, y, tau), model.gradients(x, y), tolerance=0)


@pytest.mark.parametrize("tau", [7, 8, 100])
def test_all_steps_back_is_exactly_no_truncation_in_the_double_loop(tau):
    model, (x, y) = vanilla(), sentence()
    assert_close(model.gradients_double_loop(x, y, tau), model.gradients_double_loop(x, y, None), tolerance=0)


@pytest.mark.parametrize("tau", range(7))
def test_each_further_step_back_changes_the_gradient(tau):
    model, (x, y) = vanilla(), sentence()
    less, more = model.gradients(x, y, tau), model.gradients(x, y, tau + 1)
    assert not compare("U", less["U"], more["U"]).close


@pytest.mark.parametrize("method", ["gradients", "gradients_double_loop"])
def test_truncation_leaves_the_gradient_of_v_alone(method):
    model, (x, y) = vanilla(), sentence()
    gradients = getattr(model, method)
    assert np.array_equal(gradients(x, y, 0)["V"], gradients(x, y)["V"])


def test_the_error_signal_of_one_step_is_prediction_less_target():
    model, y = vanilla(), [2]
    yhat, s = model.forward([5])
    e = yhat[0] - np.eye(6)[2]
    delta = (model.V.T @ e) * (1 - s[0] ** 2)
    expected = {"U": np.outer(delta, np.eye(6)[5]), "V": np.outer(e, s[0]), "W": np.zeros((4, 4))}
    assert_close(model.gradients([5], y), expected, tolerance=1e-14)


def test_a_small_step_against_the_gradient_lowers_the_loss():
    model, (x, y) = vanilla(), sentence()
    before, gradients = model.loss(x, y), model.gradients(x, y)
    for name, gradient in gradients.items():
        weight = getattr(model, name)
        weight -= 1e-3 * gradient
    assert model.loss(x, y) < before


@pytest.mark.parametrize("tau", [None, 0, 3])
@pytest.mark.parametrize("T", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 9])
def test_gradients_of_more_steps_than_a_block(T, tau):
    model, (x, y) = vanilla(scale=0.5), sentence(T)
    assert_close(model.gradients(x, y, tau), vanilla_autograd(model, x, y, tau))


@law
@given(vanilla_cases())
def test_predictions_and_states_follow_their_equations(case):
    model, x, _, _ = case
    yhat, s = model.forward(x)
    before = np.vstack([np.zeros(s.shape[1]), s[:-1]])
    one_hot = np.eye(model.U.shape[1])[x]
    z = np.einsum("ch,th->tc", model.V, s)
    expected = {
        "s": np.tanh(np.einsum("hc,tc->th", model.U, one_hot) + np.einsum("hg,tg->th", model.W, before)),
        "yhat": torch.softmax(torch.tensor(z), dim=1),
    }
    assert_close({"s": s, "yhat": yhat}, expected, tolerance=1e-13)


@pytest.mark.parametrize("T", [1, 8, 2 * BLOCK + 9])
def test_vanilla_loss_is_the_sum_of_cross_entropies(T):
    model, (x, y) = vanilla(), sentence(T)
    yhat, _ = model.forward(x)
    assert model.loss(x, y) == pytest.approx(-sum(math.log(yhat[t][y[t]]) for t in range(T)), rel=1e-12)


@pytest.mark.parametrize("method", ["loss", "gradients", "gradients_double_loop"])
def test_large_logits_raise_no_warning(method, recwarn):
    model, (x, y) = vanilla(scale=1e4), sentence()
    getattr(model, method)(x, y)
    assert not recwarn.list


def test_the_loss_of_an_impossible_word_is_finite():
    model = VanillaRNN([[10.0, 10.0]], [[2000.0], [0.0]], [[0.0]])  # s = tanh(10)
    assert model.loss([0], [1]) == pytest.approx(2000 * math.tanh(10), rel=1e-14)


def test_probabilities_of_large_logits_sum_to_one():
    assert vanilla(scale=1e4).forward(sentence()[0])[0].sum(axis=1) == pytest.approx([1] * 8, rel=1e-14)


def test_one_word_is_certain():
    assert vanilla(C=1).loss([0, 0], [0, 0]) == 0


# the model of the chapter: 8,000 words, 100 hidden units


@pytest.fixture(scope="module")
def large():
    return VanillaRNN.init(8000, 100, seed=0)


def test_the_large_model_has_1_610_000_parameters(large):
    assert large.num_parameters == 1_610_000


@pytest.mark.parametrize("seed", range(3))
def test_the_loss_per_word_at_initialisation_is_about_log_c(seed):
    x, y = sentence(50, 8000, seed)
    assert abs(VanillaRNN.init(8000, 100, seed=seed).loss(x, y) / 50 - math.log(8000)) < 0.1


@pytest.mark.parametrize("tau", [None, 2])
def test_gradients_of_the_large_model_are_those_of_autograd(large, tau):
    x, y = sentence(20, 8000)
    assert_close(large.gradients(x, y, tau), vanilla_autograd(large, x, y, tau))


def test_one_pass_is_the_double_loop_for_the_large_model(large):
    x, y = sentence(20, 8000)
    assert_close(large.gradients(x, y), large.gradients_double_loop(x, y, tau=20), tolerance=1e-12)


def test_memory_does_not_grow_with_the_outputs_of_all_steps(large):
    x, y = sentence(5 * BLOCK, 8000)
    tracemalloc.start()
    large.gradients(x, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(x) * 8000 * 8 / 2


@pytest.mark.parametrize(("name", "bound"), [("U", 1 / 80), ("V", 1 / 8), ("W", 1 / 8)])
def test_initial_weights_are_uniform_within_one_by_the_root_of_what_comes_in(name, bound):
    weights = getattr(VanillaRNN.init(6400, 64, seed=0), name)
    assert np.abs(weights).max() == pytest.approx(bound, rel=2e-3)
    assert weights.mean() == pytest.approx(0, abs=0.03 * bound)
    assert weights.std() == pytest.approx(bound / math.sqrt(3), rel=0.03)


def test_the_same_seed_gives_the_same_weights():
    assert np.array_equal(VanillaRNN.init(5, 3, seed=1).U, VanillaRNN.init(5, 3, seed=1).U)


@pytest.mark.parametrize(("one", "other"), [(0, 1), (None, None)])
def test_another_seed_gives_other_weights(one, other):
    assert not np.array_equal(VanillaRNN.init(5, 3, seed=one).U, VanillaRNN.init(5, 3, seed=other).U)


@pytest.mark.parametrize("seed", [0, None])
def test_initialisation_leaves_global_random_state_alone(seed):
    before = repr(np.random.get_state()), torch.get_rng_state().tolist()  # noqa: NPY002
    VanillaRNN.init(5, 3, seed=seed)
    assert (repr(np.random.get_state()), torch.get_rng_state().tolist()) == before  # noqa: NPY002


# what goes in stays as it is


def snapshot(arrays):
    return [array.copy() for array in arrays]


def unchanged(arrays, before):
    return all(np.array_equal(array, old) for array, old in zip(arrays, before, strict=True))


@pytest.mark.parametrize("method", ["loss", "gradients"])
def test_linear_inputs_and_weights_stay_as_they_are(method):
    model, x, y, h0 = linear_case()
    arrays = [x, y, h0, model.W_hx, model.W_hh, model.W_qh]
    before = snapshot(arrays)
    getattr(model, method)(x, y, h0)
    assert unchanged(arrays, before)


@pytest.mark.parametrize("tau", [None, 2])
@pytest.mark.parametrize("method", ["gradients", "gradients_double_loop"])
def test_vanilla_inputs_and_weights_stay_as_they_are(method, tau):
    model, (x, y) = vanilla(), sentence()
    arrays = [x, y, model.U, model.V, model.W]
    before = snapshot(arrays)
    getattr(model, method)(x, y, tau)
    assert unchanged(arrays, before)


def test_read_only_arrays_are_taken():
    x, y = sentence()
    for array in (x, y):
        array.setflags(write=False)
    assert vanilla().gradients(x, y)


def test_training_a_model_leaves_the_arrays_it_was_made_from():
    U, V, W = np.ones((4, 6)), np.ones((6, 4)), np.ones((4, 4))
    model = VanillaRNN(U, V, W)
    for weight in (model.U, model.V, model.W):
        weight += 1
    assert {array.sum() for array in (U, V, W)} == {24, 16}


def test_training_a_linear_model_leaves_the_arrays_it_was_made_from():
    W_hx, W_hh, W_qh = np.ones((3, 2)), np.ones((3, 3)), np.ones((4, 3))
    model = LinearRNN(W_hx, W_hh, W_qh)
    for weight in (model.W_hx, model.W_hh, model.W_qh):
        weight += 1
    assert {array.sum() for array in (W_hx, W_hh, W_qh)} == {6, 9, 12}


def test_a_second_call_leaves_the_results_of_the_first():
    model, (x, y) = vanilla(), sentence()
    first = model.gradients(x, y)
    before = {name: gradient.copy() for name, gradient in first.items()}
    model.gradients(*sentence(seed=1))
    assert_close(first, before, tolerance=0)


def test_lists_tensors_and_small_types_are_taken_as_arrays():
    model, (x, y) = vanilla(), sentence()
    expected = model.gradients(x, y)
    assert_close(model.gradients(x.tolist(), y.tolist()), expected, tolerance=0)
    assert_close(model.gradients(torch.tensor(x), y.astype(np.int8)), expected, tolerance=0)


def test_gradients_are_float64_whatever_the_weights():
    weights = [torch.ones(4, 6), np.ones((6, 4), np.int32), np.ones((4, 4), np.float32).tolist()]
    assert {g.dtype for g in VanillaRNN(*weights).gradients(*sentence()).values()} == {np.dtype(np.float64)}


def test_the_module_has_the_names_of_its_parts():
    assert all(hasattr(d2lrnn.gradients.vanilla, name) for name in d2lrnn.gradients.vanilla.__all__)


def test_a_model_is_shown_with_its_sizes():
    assert repr(vanilla(H=4, C=6)) == "VanillaRNN(vocab_size=6, num_hiddens=4)"
    assert repr(linear_case(d=2, n=3, q=4)[0]) == "LinearRNN(num_inputs=2, num_hiddens=3, num_outputs=4)"


def test_integers_of_numpy_are_integers():
    x, y = sentence()
    one = VanillaRNN.init(np.int64(6), np.uint8(4), seed=np.int32(1)).gradients(x, y, np.int16(2))
    assert_close(one, VanillaRNN.init(6, 4, seed=1).gradients(x, y, 2), tolerance=0)


def test_a_generator_of_pytorch_seeds_a_model():
    one, other = (VanillaRNN.init(5, 3, seed=torch.Generator().manual_seed(s)) for s in (1, 1))
    assert np.array_equal(one.U, other.U)


# bad input


GOOD = {"W_hx": np.ones((3, 2)), "W_hh": np.ones((3, 3)), "W_qh": np.ones((4, 3))}


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"W_hx": np.ones(3)}, ValueError, r"W_hx must have shape \(n, d\), got \(3,\)"),
        ({"W_hx": np.ones((0, 2))}, ValueError, r"W_hx must have shape \(n, d\), got \(0, 2\)"),
        ({"W_hh": np.ones((3, 2))}, ValueError, r"W_hh must have shape \(3, 3\), got \(3, 2\)"),
        ({"W_hh": np.ones((2, 2))}, ValueError, r"W_hh must have shape \(3, 3\), got \(2, 2\)"),
        ({"W_qh": np.ones((3, 4))}, ValueError, r"W_qh must have shape \(q, 3\), got \(3, 4\)"),
        ({"W_qh": np.full((4, 3), np.nan)}, ValueError, "W_qh must be finite, got nan"),
        ({"W_hx": [[1, 2], [3]]}, ValueError, "W_hx must be one array, got rows of unequal shape"),
        ({"W_hx": np.ones((3, 2), complex)}, TypeError, "W_hx must hold real numbers, got .* complex128"),
        ({"W_hx": np.ones((3, 2), bool)}, TypeError, "W_hx must hold real numbers, got .* bool"),
        ({"W_hh": "W"}, TypeError, "W_hh must hold real numbers, got 'W'"),
        ({"W_hh": None}, TypeError, "W_hh must hold real numbers, got None"),
    ],
)
def test_a_linear_model_that_cannot_be_is_an_error(wrong, error, message):
    with pytest.raises(error, match=message):
        LinearRNN(**{**GOOD, **wrong})


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"x": np.ones((5, 3))}, ValueError, r"x must have shape \(T, 2\), got \(5, 3\)"),
        ({"x": np.ones((0, 2))}, ValueError, r"x must have shape \(T, 2\), got \(0, 2\)"),
        ({"x": np.ones(2)}, ValueError, r"x must have shape \(T, 2\), got \(2,\)"),
        ({"x": np.full((5, 2), np.inf)}, ValueError, "x must be finite, got inf"),
        ({"y": np.ones((4, 4))}, ValueError, r"y must have shape \(5, 4\), got \(4, 4\)"),
        ({"y": np.ones((5, 1))}, ValueError, r"y must have shape \(5, 4\), got \(5, 1\)"),
        ({"h0": np.ones(2)}, ValueError, r"h0 must have shape \(3,\), got \(2,\)"),
        ({"h0": np.ones((1, 3))}, ValueError, r"h0 must have shape \(3,\), got \(1, 3\)"),
        ({"h0": 0}, ValueError, r"h0 must have shape \(3,\), got \(\)"),
        ({"h0": [0, 0, np.nan]}, ValueError, "h0 must be finite, got nan"),
        ({"h0": "zeros"}, TypeError, "h0 must hold real numbers, got 'zeros'"),
    ],
)
@pytest.mark.parametrize("method", ["loss", "gradients"])
def test_linear_data_of_another_shape_is_an_error(method, wrong, error, message):
    data = {"x": np.ones((5, 2)), "y": np.ones((5, 4)), "h0": np.ones(3)}
    with pytest.raises(error, match=message):
        getattr(LinearRNN(**GOOD), method)(**{**data, **wrong})


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"U": np.ones(3)}, ValueError, r"U must have shape \(H, C\), got \(3,\)"),
        ({"V": np.ones((4, 6))}, ValueError, r"V must have shape \(6, 4\), got \(4, 6\)"),
        ({"W": np.ones((6, 6))}, ValueError, r"W must have shape \(4, 4\), got \(6, 6\)"),
        ({"W": np.full((4, 4), -np.inf)}, ValueError, "W must be finite, got -inf"),
        ({"V": [[None] * 4] * 6}, TypeError, "V must hold real numbers"),
    ],
)
def test_a_vanilla_model_that_cannot_be_is_an_error(wrong, error, message):
    weights = {"U": np.ones((4, 6)), "V": np.ones((6, 4)), "W": np.ones((4, 4))}
    with pytest.raises(error, match=message):
        VanillaRNN(**{**weights, **wrong})


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"x": []}, ValueError, r"x must hold at least 1 token\(s\), got 0"),
        ({"x": [0, 6, 0]}, ValueError, "x must hold token indices below vocab_size=6, got 6"),
        ({"x": [0, -1, 0]}, ValueError, "x must hold token indices of at least 0, got -1"),
        ({"x": [0, 1.0, 0]}, TypeError, "x must hold 64-bit integers, got 1.0"),
        ({"x": np.ones((3, 6), int)}, ValueError, r"x must have one axis, got shape \(3, 6\)"),
        ({"x": 3}, TypeError, "x must be a sequence of integers, got 3"),
        ({"y": [0, 6, 0]}, ValueError, "y must hold token indices below vocab_size=6, got 6"),
        ({"y": [0, 1]}, ValueError, "y must have one id for each of the 3 of x, got 2"),
        ({"y": [0, 1, 2, 3]}, ValueError, "y must have one id for each of the 3 of x, got 4"),
    ],
)
@pytest.mark.parametrize("method", ["loss", "gradients", "gradients_double_loop"])
def test_words_that_the_model_does_not_have_are_an_error(method, wrong, error, message):
    with pytest.raises(error, match=message):
        getattr(vanilla(), method)(**{"x": [0, 1, 2], "y": [1, 2, 3], **wrong})


def test_forward_of_a_word_that_the_model_does_not_have_is_an_error():
    with pytest.raises(ValueError, match="x must hold token indices below vocab_size=6, got 7"):
        vanilla().forward([7])


@pytest.mark.parametrize(
    ("tau", "error", "message"),
    [
        (-1, ValueError, "tau must be at least 0, got -1"),
        (1.0, TypeError, r"tau must be an integer, got 1\.0"),
        (math.inf, TypeError, "tau must be an integer, got inf"),
        (True, TypeError, "tau must be an integer, got True"),
        ("all", TypeError, "tau must be an integer, got 'all'"),
    ],
)
@pytest.mark.parametrize("method", ["gradients", "gradients_double_loop"])
def test_steps_back_that_are_no_number_of_steps_are_an_error(method, tau, error, message):
    with pytest.raises(error, match=message):
        getattr(vanilla(), method)([0, 1], [1, 2], tau)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"vocab_size": 0}, ValueError, "vocab_size must be at least 1, got 0"),
        ({"vocab_size": 5.0}, TypeError, r"vocab_size must be an integer, got 5\.0"),
        ({"num_hiddens": 0}, ValueError, "num_hiddens must be at least 1, got 0"),
        ({"vocab_size": 10**30}, ValueError, "must fit in memory, got vocab_size=1000"),
        ({"num_hiddens": 10**12}, ValueError, "must fit in memory, got .* num_hiddens=1000"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"seed": "1"}, TypeError, "seed must be an integer, got '1'"),
    ],
)
def test_a_model_that_cannot_be_initialised_is_an_error(arguments, error, message):
    with pytest.raises(error, match=message):
        VanillaRNN.init(**{"vocab_size": 5, "num_hiddens": 3, **arguments})


@pytest.mark.parametrize("sizes", [(10**5000, 1), (1, 10**5000)], ids=["first", "second"])
def test_sizes_too_long_to_write_out_are_refused_by_name(sizes):
    with pytest.raises(ValueError, match=r"weights must fit in memory, got vocab_size=.*, num_hiddens="):
        VanillaRNN.init(*sizes)


def test_draws_too_many_to_write_out_are_refused_by_name():
    with pytest.raises(ValueError, match="num_draws must be so few that they fit in memory"):
        d2lrnn.gradients.vanilla.randomized_gradient([1.0], 0.5, pi=0.5, num_draws=10**5000)


def test_word_ids_that_are_only_read_are_not_copied():
    ids = np.arange(4)
    ids.flags.writeable = False
    assert np.shares_memory(word_ids("x", ids, 4), ids)
