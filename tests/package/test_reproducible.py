"""The grid that weights are rounded to."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import text
from torch import nn

from d2lrnn import NonFiniteError, recorded, round_to_grid

law = settings(deadline=None, max_examples=50)  # a busy machine is not a fault


def test_weights_go_to_the_nearest_point_of_the_grid():
    p = nn.Parameter(torch.tensor([0.123456, -0.123454, 2.0, 0.000004], dtype=torch.float64))
    round_to_grid([p], 5)
    assert p.tolist() == [0.12346, -0.12345, 2.0, 0.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_is_pytorchs_rounding_to_decimals(dtype):
    p = nn.Parameter(text(1000, 10**6).to(dtype) / 333_333)
    expected = p.detach().round(decimals=4)
    round_to_grid([p], 4)
    assert torch.equal(p, expected)


def test_the_margin_is_the_smallest_distance_to_halfway():
    p = nn.Parameter(torch.tensor([0.1, 0.24, 0.37], dtype=torch.float64))
    q = nn.Parameter(torch.tensor([-0.452], dtype=torch.float64))
    assert round_to_grid([p, q], 1) == pytest.approx(0.002, rel=1e-9)


@pytest.mark.parametrize(("decimals", "error"), [(-1, ValueError), (1.5, TypeError)])
def test_a_grid_without_decimals_is_an_error(decimals, error):
    with pytest.raises(error, match="decimals"):
        round_to_grid([], decimals)


def weights(*values, dtype=torch.float64):
    return nn.Parameter(torch.tensor(values, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_too_coarse_for_a_grid_are_refused_and_left_alone(dtype):
    p = weights(0.66, 0.1, dtype=dtype)
    before = p.detach().clone()
    with pytest.raises(ValueError, match=rf"decimals=5 needs weights of float32 or float64, .* of {dtype}"):
        round_to_grid([p], 5)
    assert torch.equal(p, before)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(torch.float64, 1e300), (torch.float64, 3e11), (torch.float64, 5e10), (torch.float32, 200.3)],
)
def test_a_weight_larger_than_the_grid_can_tell_is_left_alone_and_has_no_margin(dtype, value):
    p = weights(value, 0.123456, dtype=dtype)
    before = p.detach().clone()
    assert round_to_grid([p], 5) == 0
    assert p[0] == before[0]
    assert p[1] == weights(0.12346, dtype=dtype)


@law
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    st.integers(0, 22),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_rounding_moves_no_weight_by_more_than_half_a_step(values, decimals, dtype):
    p = torch.tensor(values, dtype=torch.float64).clamp(-3e38, 3e38).to(dtype)
    before = p.clone()
    margin = round_to_grid([p], decimals)
    assert bool(torch.isfinite(p).all())
    spacing = before.abs().double() * torch.finfo(dtype).eps
    assert bool(((p.double() - before.double()).abs() <= 0.5 * 10.0**-decimals + spacing).all())
    assert 0 <= margin <= 0.5 * 10.0**-decimals


@law
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5), st.integers(0, 9))
def test_rounding_twice_is_rounding_once(values, decimals):
    p = torch.tensor(values, dtype=torch.float64)
    round_to_grid([p], decimals)
    once = p.clone()
    round_to_grid([p], decimals)
    assert torch.equal(p, once)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_weight_that_is_not_finite_is_an_error_and_none_is_changed(value):
    p, q = weights(0.123456), weights(0.1, value)
    with pytest.raises(NonFiniteError, match=r"W_hh, of shape \(2,\), holds"):
        round_to_grid([("W_xh", p), ("W_hh", q)], 3)
    assert p.item() == 0.123456


def test_no_weights_have_every_margin():
    assert round_to_grid([], 5) == round_to_grid([weights()], 5) == math.inf


def test_named_weights_and_a_single_one_are_taken_too():
    p = weights(0.16)
    assert round_to_grid([("W", p)], 1) == pytest.approx(0.01)
    assert round_to_grid(p, 1) == pytest.approx(0.05)


@pytest.mark.parametrize("decimals", [23, 39, 400, np.int64(23)])
def test_a_grid_finer_than_any_float_is_an_error(decimals):
    with pytest.raises(ValueError, match=f"decimals must be at most 22, got {decimals}"):
        round_to_grid([weights(0.1)], decimals)


def test_decimals_of_numpy_are_taken():
    p = weights(0.16)
    round_to_grid([p], np.int64(1))
    assert p.item() == 0.2


@pytest.mark.parametrize(
    "parameters", [None, nn.Linear(1, 1), nn.Linear(1, 1).state_dict(), [torch.tensor([1, 2])], [[0.1]], "W"]
)
def test_what_cannot_be_rounded_is_named(parameters):
    with pytest.raises(TypeError, match="parameters must"):
        round_to_grid(parameters, 3)


def test_weights_made_in_inference_mode_are_rounded_in_it_and_refused_outside():
    with torch.inference_mode():
        p = torch.tensor([0.26])
        round_to_grid({"W": p}.items(), 1)
        assert p.tolist() == torch.tensor([0.3]).tolist()
    with pytest.raises(ValueError, match="parameters must not be made in inference mode, but W was"):
        round_to_grid({"W": p}.items(), 1)


def test_the_margin_of_float64_weights_is_noted(monkeypatch):
    noted = []
    monkeypatch.setattr(recorded, "note_grid", noted.append)
    round_to_grid([weights(0.14)], 1)
    round_to_grid([weights(0.14, dtype=torch.float32)], 1)
    assert noted == [pytest.approx(0.01)]
