"""The perplexity of a sum of negative log-likelihoods."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lrnn.text.scoring import perplexity


def test_every_token_has_the_same_weight():
    assert perplexity(10 * 1.0 + 2 * 4.0, 12) == pytest.approx(4.4817, abs=5e-5)


def test_it_is_the_inverse_geometric_mean_of_the_probabilities():
    probabilities = [0.5, 0.1, 0.25]
    total_nll = -sum(map(math.log, probabilities))
    assert perplexity(total_nll, 3) == pytest.approx(math.prod(probabilities) ** (-1 / 3), rel=1e-14)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_uniform_model_has_the_size_of_the_vocabulary(vocab_size, num_tokens):
    assert perplexity(num_tokens * math.log(vocab_size), num_tokens) == pytest.approx(vocab_size, rel=1e-12)


def test_certainty_has_perplexity_one():
    assert perplexity(0.0, 5) == 1.0


@pytest.mark.parametrize("total_nll", [12_000.0, 1e308, math.inf])
def test_what_is_too_large_for_a_float_is_infinite(total_nll):
    assert perplexity(total_nll, 12) == math.inf


def test_nan_propagates():
    assert math.isnan(perplexity(math.nan, 3))


@pytest.mark.parametrize(
    "total_nll",
    [
        2,
        np.float32(2),
        torch.tensor(2.0),
        torch.tensor(2.0).bfloat16(),
        torch.tensor(2.0, dtype=torch.float64, requires_grad=True),
    ],
)
def test_any_scalar_type_is_a_total(total_nll):
    assert perplexity(total_nll, 2) == math.e


def test_the_result_of_a_tensor_is_a_float():
    assert type(perplexity(torch.tensor(2.0), 2)) is float


@pytest.mark.parametrize("num_tokens", [0, -3])
def test_fewer_than_one_token_is_an_error(num_tokens):
    with pytest.raises(ValueError, match=f"num_tokens must be at least 1, got {num_tokens}"):
        perplexity(1.0, num_tokens)


@pytest.mark.parametrize("num_tokens", [2.0, True, "2", None])
def test_a_number_of_tokens_that_is_no_integer_is_an_error(num_tokens):
    with pytest.raises(TypeError, match="num_tokens"):
        perplexity(1.0, num_tokens)


@pytest.mark.parametrize("total_nll", ["1", None, True, [1.0], torch.ones(1)])
def test_a_total_that_is_no_number_is_an_error(total_nll):
    with pytest.raises(TypeError, match="total_nll"):
        perplexity(total_nll, 1)


def test_a_total_on_no_device_is_an_error():
    with pytest.raises(TypeError, match=r"total_nll must be a dense tensor .* a meta one"):
        perplexity(torch.tensor(1.0, device="meta"), 1)


@pytest.mark.parametrize("total_nll", [-0.5, -math.inf, torch.tensor(-0.5)])
def test_a_log_likelihood_with_its_sign_is_an_error(total_nll):
    with pytest.raises(ValueError, match="total_nll must be at least 0, got -"):
        perplexity(total_nll, 1)


@pytest.mark.parametrize(
    ("name", "total", "count"),
    [("num_tokens", 1.0, 10**400), ("total_nll", 10**400, 1)],
    ids=["count", "total"],
)
def test_numbers_too_large_for_a_float_are_refused(name, total, count):
    with pytest.raises(ValueError, match=f"{name} must fit a float"):
        perplexity(total, count)
