"""Central differences of functions whose gradients are known, and what counts as exact and as close."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from book.recording.compare import mask_measured
from d2lrnn.gradients import gradcheck
from d2lrnn.gradients.gradcheck import Comparison, compare, numeric_gradient

law = settings(deadline=None)  # a busy machine is not a fault
arrays = hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.floats(-10, 10))

# central differences


def test_the_gradient_of_an_array_has_its_shape_and_values():
    p = np.array([[0.5, -1.0, 2.0], [0.0, 3.0, -0.25]])
    factors = np.arange(6.0).reshape(2, 3)
    gradient = numeric_gradient(lambda p: (factors * np.sin(p)).sum(), p)
    assert np.abs(gradient - factors * np.cos(p)).max() < 1e-8


def test_the_gradient_of_named_arrays_has_their_names_and_shapes():
    a, b = np.array([2.0, 3.0]), np.array([[5.0], [7.0]])
    gradient = numeric_gradient(lambda p: (p["a"] @ p["b"]).item(), {"a": a, "b": b})
    assert {name: value.shape for name, value in gradient.items()} == {"a": (2,), "b": (2, 1)}
    assert gradient["a"].tolist() == pytest.approx([5, 7], rel=1e-8)
    assert gradient["b"].ravel().tolist() == pytest.approx([2, 3], rel=1e-8)


def test_differences_are_central():
    assert abs(numeric_gradient(lambda p: p**3, 2.0, step=1e-3) - 12) < 2e-6  # one-sided: 6e-3 off


def test_the_step_is_the_one_asked_for():
    assert numeric_gradient(lambda p: p**3, 2.0, step=0.5) == 12.25  # 3 p^2 + step^2


def test_the_step_is_a_millionth_unless_told_otherwise():
    seen = []
    numeric_gradient(lambda p: seen.append(p.item()) or 0.0, 1.0)
    assert sorted(seen) == [1 - 1e-6, 1 + 1e-6]


@pytest.mark.parametrize(
    "value", [1, 1.0, np.float64(1), np.array(1.0), torch.tensor(1.0, requires_grad=True)]
)
def test_any_kind_of_number_is_a_value(value):
    assert numeric_gradient(lambda _: value, [3.0]).tolist() == [0.0]


@law
@given(arrays)
def test_parameters_stay_as_they_are(p):
    before = p.copy()
    numeric_gradient(lambda q: q.sum(), p)
    assert np.array_equal(p, before)


@pytest.mark.parametrize("form", [lambda p: p, lambda p: {"p": p}])
def test_parameters_stay_as_they_are_when_the_function_raises(form):
    p = np.ones(3)

    def f(_):
        raise RuntimeError("no value")

    with pytest.raises(RuntimeError, match="no value"):
        numeric_gradient(f, form(p))
    assert p.tolist() == [1, 1, 1]


def test_a_function_that_changes_its_argument_changes_nothing_else():
    def f(p):
        value = (p["a"] * p["b"]).sum()
        p["a"] += 100
        p["b"] += 100
        return value

    a, b = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    gradient = numeric_gradient(f, {"a": a, "b": b})
    assert [*gradient["a"], *gradient["b"]] == pytest.approx([5, 7, 2, 3], rel=1e-8)
    assert [*a, *b] == [2, 3, 5, 7]


def test_integers_are_moved_by_the_step():
    assert numeric_gradient(lambda p: (p**2).sum(), [3, 4]).tolist() == pytest.approx([6, 8], rel=1e-8)


@pytest.mark.parametrize(
    ("f", "arguments", "error", "message"),
    [
        (lambda _: 0.0, ({},), ValueError, "parameters must hold at least one array, got {}"),
        (lambda _: 0.0, ({"W": "weights"},), TypeError, "W must hold real numbers, got 'weights'"),
        (lambda _: 0.0, ([1.0], 0), ValueError, r"step must be greater than 0, got 0\.0"),
        (lambda _: 0.0, ([1.0], "small"), TypeError, "step must be a number, got 'small'"),
        (
            lambda _: 0.0,
            ([1e12],),
            ValueError,
            "large enough to change parameters, which holds 1",
        ),
        (
            lambda _: 0.0,
            ({"W": [math.nan]},),
            ValueError,
            "W must be finite, got nan",
        ),
        (lambda p: p, ([1.0, 2.0],), TypeError, r"f\(parameters\) must be a number, got array"),
        (lambda _: None, ([1.0],), TypeError, r"f\(parameters\) must be a number, got None"),
        (lambda _: math.nan, ([1.0],), ValueError, r"f\(parameters\) must be finite, got nan"),
    ],
)
def test_a_gradient_that_cannot_be_taken_is_an_error(f, arguments, error, message):
    with pytest.raises(error, match=message):
        numeric_gradient(f, *arguments)


@pytest.mark.parametrize(
    ("f", "arguments", "error", "message"),
    [
        (3, ([1.0],), TypeError, r"f must be a function, got 3 \(int\)"),
        (np.sum, ([1.0], 1e308 * 1.5), ValueError, "step must be small enough to be added to parameters"),
        (
            lambda p: math.copysign(1e308, p),
            (0.0,),
            ValueError,
            "f must have a slope that float64 has room for",
        ),
        (np.sum, ({1: [1.0]},), TypeError, r"a name in parameters must be a str, got 1 \(int\)"),
        (lambda _: torch.ones((), device="meta"), ([1.0],), TypeError, r"f\(parameters\) must be a dense"),
        (lambda _: np.array(True), ([1.0],), TypeError, r"f\(parameters\) must hold real numbers"),
        (lambda _: np.ones(1), ([1.0],), TypeError, r"f\(parameters\) must be a number, got array"),
        (lambda _: 10**400, ([1.0],), ValueError, r"f\(parameters\) must"),
        (np.sum, ({"W": [math.inf]},), ValueError, "W must be finite, got inf"),
    ],
)
def test_a_gradient_without_meaning_is_an_error(f, arguments, error, message):
    with pytest.raises(error, match=message):
        numeric_gradient(f, *arguments)


@pytest.mark.parametrize("value", [torch.tensor(1.0, dtype=torch.bfloat16), np.float32(1), np.array(1)])
def test_a_value_may_be_of_any_type_of_number(value):
    assert numeric_gradient(lambda _: value, [3.0]).tolist() == [0.0]


def test_an_array_without_elements_has_an_empty_gradient():
    assert numeric_gradient(lambda _: math.nan, np.ones((0, 3))).shape == (0, 3)


def test_a_number_has_a_gradient_without_axes():
    assert numeric_gradient(lambda p: 3 * p, 2).shape == ()


# comparison


UNEQUAL = {  # as numbers, and the same when rounded to float64
    "int": ([2**53], [2**53 + 1]),
    "int and float": ([2.0**53], [2**53 + 1]),
    "int64 and uint64": (np.array([2**63 - 1]), np.array([2**63], np.uint64)),
    "int64": (np.array([-(2**63)]), np.array([-(2**63) + 1])),
    "tensors": (torch.tensor([2**53]), torch.tensor([2**53 + 1])),
    "int beside a float": ([2**53 + 1, 0.5], [2**53, 0.5]),
    "int of 100 bits": ([2**100], [2**100 + 1]),
    "fraction": ([Fraction(1, 3)], [1 / 3]),
    "no axis": (2**53, 2**53 + 1),
}
EQUAL = {
    "int and float": ([5], [5.0]),
    "large int and float": ([2**60], [2.0**60]),
    "int64 and uint64": (np.array([2**63 - 1]), np.array([2**63 - 1], np.uint64)),
    "tensor and int": (torch.tensor([2**53 + 1]), [2**53 + 1]),
    "fraction": ([Fraction(1, 4)], [0.25]),
    "float32": (np.float32([0.1]), [float(np.float32(0.1))]),
    "longdouble": (np.array([0.1], np.longdouble), [0.1]),
    "infinity beside a large int": ([2**53 + 1, math.inf], [2**53 + 1, math.inf]),
}


@pytest.mark.parametrize(("a", "b"), UNEQUAL.values(), ids=UNEQUAL)
def test_numbers_that_only_rounding_makes_equal_are_not_exact(a, b):
    comparison = compare("a", a, b)
    assert (comparison.exact, comparison.unequal, comparison.close) == (False, 1, True)
    assert 0 < comparison.max_rel < 1e-15


@pytest.mark.parametrize(("a", "b"), EQUAL.values(), ids=EQUAL)
def test_the_same_number_is_exact_whatever_its_type(a, b):
    assert compare("a", a, b) == Comparison(True, True, 0.0, 0.0, name="a", unequal=0)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="longdouble is float64 on this machine")
def test_longdouble_is_not_rounded():
    one = np.longdouble(1)
    comparison = compare("a", [one], [one + np.finfo(np.longdouble).eps])
    assert (comparison.exact, comparison.max_abs) == (False, float(np.finfo(np.longdouble).eps))


def test_the_difference_of_large_integers_is_taken_before_it_is_rounded():
    comparison = compare("a", [2**62 + 3, 0], [2**62, 0])
    assert (comparison.max_abs, comparison.max_rel) == (3.0, 3 / 2**62)


@pytest.mark.parametrize("large", [1e308, 2**1023 + 1])
def test_a_difference_too_large_for_a_float_still_has_its_share(large):
    comparison = compare("a", [large], [-large], tolerance=2)
    assert (comparison.max_abs, comparison.max_rel, comparison.close) == (math.inf, 2.0, True)


@pytest.mark.parametrize(("other", "far"), [(math.nan, "nan"), (1.0, "inf"), (-math.inf, "inf")])
def test_infinity_and_nan_beside_large_integers_are_as_far_as_without(other, far):
    comparison = compare("a", [2**53 + 1, math.inf], [2**53 + 1, other])
    assert (str(comparison.max_abs), str(comparison.max_rel), comparison.close) == (far, far, False)


def test_a_comparison_is_neither_true_nor_false():
    with pytest.raises(TypeError, match=r"say \.close or \.exact"):
        assert compare("a", [1.0], [2.0])


def test_equal_arrays_are_exact_and_close():
    assert compare("a", [1.0, -2.0], [1.0, -2.0]) == Comparison(True, True, 0.0, 0.0, name="a", unequal=0)


def test_the_last_bit_makes_arrays_inexact():
    comparison = compare("a", [1.0, 2.0], [1.0, np.nextafter(2, 3)])
    assert (comparison.exact, comparison.close, comparison.unequal) == (False, True, 1)


def test_the_largest_difference_is_found_whatever_its_sign():
    comparison = compare("a", [1.0, 2.0, 4.0], [1.5, 1.0, 4.0])
    assert (comparison.max_abs, comparison.max_rel, comparison.unequal) == (1.0, 0.25, 2)


def test_the_larger_magnitude_may_be_in_either_array():
    assert compare("a", [1.0], [-4.0]).max_rel == compare("a", [-4.0], [1.0]).max_rel == 1.25


def test_zeros_are_exact():
    assert compare("a", [0.0, 0.0], [0.0, -0.0]) == Comparison(True, True, 0.0, 0.0, name="a")


def test_an_element_that_is_zero_but_for_rounding_does_not_decide():
    assert compare("a", [1.0, 1e-17], [1.0, 0.0]).max_rel == 1e-17


@pytest.mark.parametrize(("tolerance", "close"), [(0.25, True), (0.24, False)])
def test_the_tolerance_is_the_largest_that_is_close(tolerance, close):
    assert compare("a", [3.0], [4.0], tolerance=tolerance).close is close


@pytest.mark.parametrize(("other", "close"), [(1 + 9e-11, True), (1 + 2e-10, False)])
def test_the_tolerance_is_1e_10_unless_told_otherwise(other, close):
    assert compare("a", [1.0], [other]).close is close


@pytest.mark.parametrize("tolerance", [0, 1e300])
@pytest.mark.parametrize(
    ("a", "b"), [([math.nan], [math.nan]), ([1.0, math.nan], [1.0, 2.0]), ([1.0], [math.nan])]
)
def test_nan_is_neither_exact_nor_close(a, b, tolerance):
    comparison = compare("a", a, b, tolerance=tolerance)
    assert (comparison.exact, comparison.close) == (False, False)


def test_nan_makes_the_differences_nan():
    comparison = compare("a", [1.0, math.nan], [5.0, math.nan])
    assert math.isnan(comparison.max_abs)
    assert math.isnan(comparison.max_rel)


def test_the_same_infinity_is_exact():
    assert compare("a", [math.inf, 1.0], [math.inf, 1.0]).exact


def test_an_infinity_does_not_hide_a_difference():
    comparison = compare("a", [math.inf, 1.0], [math.inf, 2.0])
    assert (comparison.close, comparison.max_rel) == (False, 0.5)


@pytest.mark.parametrize("other", [1.0, -math.inf])
def test_another_infinity_is_infinitely_far(other):
    comparison = compare("a", [math.inf], [other])
    assert (comparison.close, comparison.max_abs, comparison.max_rel) == (False, math.inf, math.inf)


def test_no_warning_comes_from_infinities(recwarn):
    compare("a", [math.inf, 1e308, math.nan], [math.inf, -1e308, 1.0])
    assert not recwarn.list


@law
@given(arrays, st.data())
def test_a_comparison_is_the_same_both_ways(a, data):
    b = data.draw(hnp.arrays(np.float64, a.shape, elements=st.floats(-10, 10)))
    assert compare("a", a, b) == compare("a", b, a)


def test_tensors_are_compared_without_their_graph():
    assert compare("a", torch.ones(2, requires_grad=True), [1, 1]).exact


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1.0, 2.0], [[1.0, 2.0]], r"same shape, got \(2,\) and \(1, 2\) for 'dW'"),
        ([[1.0], [2.0]], [[1.0, 2.0]], r"same shape, got \(2, 1\) and \(1, 2\) for 'dW'"),
        ([1.0], 1.0, r"same shape, got \(1,\) and \(\) for 'dW'"),
        ([], [], r"at least one element, got shape \(0,\) for 'dW'"),
        ([[1.0], [1.0, 2.0]], [1.0], "a must be one array, got rows of unequal shape"),
    ],
)
def test_arrays_that_do_not_match_are_an_error(a, b, message):
    with pytest.raises(ValueError, match=message):
        compare("dW", a, b)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, [1.0], [1.0]), "name must be a str, got 1"),
        (("a", None, [1.0]), "a must hold real numbers, got None"),
        (("a", [1.0], [1j]), "b must hold real numbers"),
        (("a", [True], [1.0]), "a must hold real numbers, got True of bool"),
        (("a", [1.0], np.ma.masked_array([1.0], [True])), "b must not be a masked array"),
    ],
)
def test_what_is_no_array_is_an_error(arguments, message):
    with pytest.raises(TypeError, match=message):
        compare(*arguments)


def test_a_negative_tolerance_is_an_error():
    with pytest.raises(ValueError, match="tolerance must be at least 0, got -1"):
        compare("a", [1.0], [1.0], tolerance=-1)


def test_a_comparison_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        compare("a", [1.0], [1.0]).close = False


def test_a_comparison_is_shown_as_one_line_with_measured_numbers_marked():
    assert str(compare("dL/dW", [1.0, 3.0], [1.0, 4.0])) == (
        "dL/dW     FAR     1 differ (measured)  0.25 off (measured)"
    )


def test_a_close_comparison_says_so():
    assert repr(compare("autograd", [2.0], [2.0])) == (
        "autograd  close   0 differ (measured)  0 off (measured)"
    )


def test_the_difference_is_shown_with_two_digits():
    assert str(compare("W", [3.0], [4.0], tolerance=1)).endswith("1 differ (measured)  0.25 off (measured)")
    assert str(compare("W", [1.0], [1.5])).endswith("  0.33 off (measured)")
    assert str(compare("W", [1e-300], [0.0])).endswith("  1 off (measured)")


def test_a_line_is_at_most_61_columns_for_up_to_99_elements_that_differ():
    zeros = np.zeros(99)
    zeros[0] = 1
    line = str(compare("autograd", zeros, zeros - 1.2345e-16))
    assert "1.2e-16 off" in line
    assert len(line) <= 61


@pytest.mark.parametrize("close", [True, False])
def test_two_lines_differ_in_what_is_not_measured_only_by_the_verdict(close):
    lines = [compare("W", a, [1.0, 2.0], tolerance=9) for a in ([1.0, 2.0], [2.0, 9.0])]
    shown = {mask_measured(str(dataclasses.replace(line, close=close))) for line in lines}
    assert len(shown) == 1
    assert ("close" in shown.pop()) is close


def test_a_comparison_with_nan_is_shown():
    assert str(compare("W", [math.nan], [2.0])).endswith("1 differ (measured)  nan off")


def test_whole_numbers_of_tensors_without_axes_are_not_rounded():
    comparison = compare("x", [torch.tensor(2**53 + 1), torch.tensor(0.5)], [2**53 + 1, 0.5])
    assert comparison.exact
    assert compare("x", [torch.tensor(2**53 + 1), torch.tensor(0.5)], [1, 0.5]).unequal == 1


wide = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), 2**63 - 1, 0])


@law
@given(st.lists(st.tuples(wide, wide), min_size=1, max_size=4))
def test_whole_numbers_of_64_bits_are_compared_exactly(pairs):
    pairs.append((2**53 + 1, 2**53 + 1))  # which float64 does not hold
    a, b = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    gap = max(abs(p - q) for p, q in pairs)
    scale = max(abs(p) for pair in pairs for p in pair)
    comparison = compare("x", a, b)
    assert comparison.max_rel == float(Fraction(gap, scale))
    assert comparison.max_abs == float(gap)
    assert comparison.unequal == sum(p != q for p, q in pairs)


def test_many_large_whole_numbers_are_compared_without_fractions(monkeypatch):
    monkeypatch.setattr(gradcheck, "_fraction", None)
    a = np.arange(2**60, 2**60 + 9)
    assert compare("x", a, a + 1).max_abs == 1
