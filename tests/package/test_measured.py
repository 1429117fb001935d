import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lrnn import measured
from d2lrnn.recorded import MEASURED


def test_measured_value_has_three_digits_and_is_marked():
    assert measured(1.23456, "s") == "1.23 s (measured)"


def test_large_measured_values_are_written_out():
    assert measured(113_800, "tokens/s") == "114,000 tokens/s (measured)"


@pytest.mark.parametrize(
    "value",
    [np.float32(1.5), np.array(1.5), torch.tensor(1.5), torch.tensor(1.5, dtype=torch.bfloat16)],
    ids=lambda value: str(value.dtype),
)
def test_numbers_of_every_kind_are_measured(value):
    assert measured(value, "s") == "1.5 s (measured)"


@given(st.floats(-1e308, 1e308))
def test_every_measured_value_is_left_out_of_a_comparison(value):
    assert MEASURED.fullmatch(measured(value, "s"))


@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        (float("nan"), "s", "value must be finite, got nan"),
        (1.0, "", "unit must be one word, got ''"),
        (1.0, "tokens a second", "unit must be one word"),
    ],
)
def test_bad_measurements_are_named(value, unit, message):
    with pytest.raises(ValueError, match=message):
        measured(value, unit)


@pytest.mark.parametrize(("value", "unit"), [("1", "s"), (True, "s"), (1.0, None), (np.ones(1), "s")])
def test_measurements_of_the_wrong_type_are_refused(value, unit):
    with pytest.raises(TypeError, match="must be a"):
        measured(value, unit)


@pytest.mark.parametrize("value", [torch.zeros((), device="meta"), torch.tensor(1.0).to_sparse()])
def test_tensors_that_do_not_hold_their_values_are_refused(value):
    with pytest.raises(TypeError, match="value must be a dense tensor"):
        measured(value, "s")


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_float_is_measured(sign):
    shown = measured(sign * sys.float_info.max, "s")
    assert shown == f"{'-' * (sign < 0)}1.8e+308 s (measured)"
    assert MEASURED.fullmatch(shown)
