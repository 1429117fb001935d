"""Clipping: the gradients' norm, and how it is kept within a bound."""

import math
from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from d2lrnn import NonFiniteError, clip_gradients

law = settings(deadline=None, max_examples=30)  # a busy machine is not a fault


def with_gradients(*gradients):
    parameters = [
        nn.Parameter(torch.zeros(2 if g is None else len(g), dtype=torch.float64)) for g in gradients
    ]
    for p, g in zip(parameters, gradients, strict=True):
        p.grad = None if g is None else torch.tensor(g, dtype=torch.float64)
    return parameters


def test_the_norm_before_clipping_is_returned():
    assert clip_gradients(with_gradients([3.0, 4.0, 0.0], None), 1) == 5.0


def test_clipping_keeps_the_direction():
    p, _ = with_gradients([3.0, 4.0, 0.0], None)
    clip_gradients([p], 1)
    assert p.grad.tolist() == pytest.approx([0.6, 0.8, 0.0], rel=1e-15)


def test_the_norm_is_that_of_all_gradients_together():
    parameters = with_gradients([2.0], None, [1.0, 2.0], [4.0])
    assert clip_gradients(parameters, 1) == 5.0
    assert [p.grad.tolist() for p in parameters if p.grad is not None] == [[0.4], [0.2, 0.4], [0.8]]


@law
@given(
    st.lists(st.lists(st.floats(-100, 100), min_size=1, max_size=4), min_size=1, max_size=4),
    st.floats(0.01, 10),
)
def test_the_norm_after_clipping_is_at_most_theta(gradients, theta):
    parameters = with_gradients(*gradients)
    norm = clip_gradients(parameters, theta)
    vector = torch.cat([p.grad for p in parameters])
    assert norm == pytest.approx(math.hypot(*chain.from_iterable(gradients)), rel=1e-6)
    assert float(vector.norm()) == pytest.approx(min(norm, theta), rel=1e-12)


@pytest.mark.parametrize("theta", [5.0, 6.0, math.inf])
def test_small_gradients_are_left_alone(theta):
    (p,) = with_gradients([3.0, 4.0])
    assert clip_gradients([p], theta) == 5.0
    assert p.grad.tolist() == [3.0, 4.0]


def test_gradients_of_zero_stay_zero():
    (p,) = with_gradients([0.0, 0.0])
    assert clip_gradients([p], 1) == 0.0
    assert p.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("parameters", [[], with_gradients(None)])
def test_the_norm_of_no_gradients_is_zero(parameters):
    assert clip_gradients(parameters, 1) == 0.0


def test_a_generator_of_parameters_is_gone_through_once():
    parameters = with_gradients([3.0], [4.0])
    assert clip_gradients((p for p in parameters), 1) == 5.0
    assert [p.grad.item() for p in parameters] == pytest.approx([0.6, 0.8])


def test_named_parameters_and_a_single_one_are_taken_too():
    (p,) = with_gradients([3.0, 4.0])
    assert clip_gradients([("W", p)], 10) == clip_gradients(p, 10) == 5.0


def test_a_float32_gradient_whose_square_overflows_is_clipped():
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([3e30, 4e30])
    assert clip_gradients([p], 1) == pytest.approx(5e30, rel=1e-6)
    assert p.grad.tolist() == pytest.approx([0.6, 0.8], rel=1e-6)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_gradient_that_is_not_finite_is_an_error_naming_the_parameter(value):
    parameters = with_gradients([3.0, 4.0], None, [1.0, value, 0.0])
    with pytest.raises(NonFiniteError, match=r"gradient of parameter 2, of shape \(3,\), has norm (inf|nan)"):
        clip_gradients(parameters, 1)
    assert parameters[0].grad.tolist() == [3.0, 4.0]


def test_a_parameter_with_a_name_is_called_by_it():
    (p,) = with_gradients([math.nan])
    with pytest.raises(ValueError, match=r"gradient of rnn\.W_hh, of shape \(1,\)"):
        clip_gradients([("rnn.W_hh", p)], 1)


@pytest.mark.parametrize(
    ("parameters", "theta", "error", "message"),
    [
        ([], 0, ValueError, "theta must be greater than 0"),
        ([], -1.0, ValueError, r"theta must be greater than 0\.?0?, got -1"),
        ([], math.nan, ValueError, "theta must be finite, got nan"),
        ([], "1", TypeError, "theta must be a number, got '1'"),
        (["W"], 1, TypeError, "parameters must hold tensors, got 'W'"),
    ],
)
def test_what_cannot_be_clipped_is_an_error(parameters, theta, error, message):
    with pytest.raises(error, match=message):
        clip_gradients(parameters, theta)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e200, 1e300])
def test_a_float64_gradient_whose_square_is_no_float_is_clipped(size):
    parameters = with_gradients([3 * size, 4 * size], [0.0])
    assert clip_gradients(parameters, size) == pytest.approx(5 * size, rel=1e-12, abs=0)
    assert parameters[0].grad.tolist() == pytest.approx([0.6 * size, 0.8 * size], rel=1e-12, abs=0)


@pytest.mark.parametrize("size", [1e-44, 1e-30, 1e-22, 1e20, 3e37])
def test_a_float32_gradient_whose_square_is_no_float32_has_its_norm(size):
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([3 * size, 4 * size])
    expected = math.hypot(*p.grad.tolist())
    assert clip_gradients([p], math.inf) == pytest.approx(expected, rel=1e-6, abs=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_gradient_of_half_precision_is_clipped(dtype):
    p = nn.Parameter(torch.zeros(100, dtype=dtype))
    p.grad = torch.full((100,), 60_000.0, dtype=dtype)
    assert clip_gradients([p], 1.0) == pytest.approx(600_000, rel=1e-2)
    assert float(p.grad.double().norm()) == pytest.approx(1, rel=1e-2)


def test_a_very_large_gradient_keeps_its_direction_where_the_factor_is_no_float32():
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([3e37, 4e37])
    clip_gradients([p], 1e-3)
    assert p.grad.tolist() == pytest.approx([6e-4, 8e-4], rel=1e-6)


def test_a_norm_that_is_no_float_is_an_error():
    parameters = with_gradients([1.5e308, 1.5e308])
    with pytest.raises(NonFiniteError, match="norm"):
        clip_gradients(parameters, 1)
    assert parameters[0].grad.tolist() == [1.5e308, 1.5e308]


def test_a_parameter_that_is_given_twice_counts_once():
    (p,) = with_gradients([3.0, 4.0])
    assert clip_gradients([p, p], 1) == 5.0
    assert p.grad.tolist() == pytest.approx([0.6, 0.8])


def test_an_empty_gradient_has_norm_zero():
    assert clip_gradients(with_gradients([]), 1) == 0.0


def test_a_sparse_gradient_is_an_error():
    embedding = nn.Embedding(4, 2, sparse=True)
    embedding(torch.tensor([1])).sum().backward()
    with pytest.raises(TypeError, match="parameters must have dense gradients, but that of parameter 0 is"):
        clip_gradients(embedding.parameters(), 1)


@pytest.mark.parametrize(
    "parameters",
    [None, 3, nn.Linear(1, 1), "W", nn.Linear(1, 1).state_dict(), torch.zeros(2, dtype=torch.int64)],
)
def test_what_holds_no_parameters_is_named(parameters):
    with pytest.raises(TypeError, match="parameters must"):
        clip_gradients(parameters, 1)


def test_a_gradient_that_two_parameters_share_counts_once():
    p, q = with_gradients([3.0, 4.0], None)
    q.grad = p.grad
    assert clip_gradients([p, q], 1) == 5.0
    assert p.grad.tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("theta", [math.inf, np.float32(math.inf), np.float64(math.inf)])
def test_an_infinite_theta_only_measures(theta):
    assert clip_gradients(with_gradients([3.0, 4.0]), theta) == 5.0


@pytest.mark.parametrize(
    "p", [torch.zeros(2, device="meta"), torch.zeros(2).to_sparse(), torch.zeros(2).to(torch.float8_e5m2)]
)
def test_a_tensor_that_cannot_be_clipped_is_named(p):
    with pytest.raises(TypeError, match="parameter"):
        clip_gradients([p], 1)
