"""What the functions that compute gradients take as arrays and numbers, and how they refuse the rest."""

from __future__ import annotations

import collections
import decimal
import math
import threading
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode

from d2lrnn._support import exact_numbers, floats, real_numbers
from d2lrnn.gradients.gradcheck import compare, numeric_gradient
from d2lrnn.gradients.scalar import (
    full_gradient,
    randomized_gradient,
    scalar_closed_form,
    scalar_recursion,
    scalar_rnn,
    truncated_gradient,
)
from d2lrnn.gradients.vanilla import LinearRNN, VanillaRNN

longdouble = np.finfo(np.longdouble)
wider = pytest.mark.skipif(longdouble.nmant <= 52, reason="longdouble is float64 on this machine")

TAKEN = {
    "bfloat16": torch.tensor([1.0, 2.0], dtype=torch.bfloat16),
    "float16": torch.tensor([1.0, 2.0], dtype=torch.float16),
    "tensor that requires grad": torch.tensor([1.0, 2.0], requires_grad=True),
    "parameter": torch.nn.Parameter(torch.tensor([1.0, 2.0])),
    "negative view": torch.tensor([-1j, -2j]).conj().imag,
    "list of tensors": [torch.tensor(1.0, requires_grad=True), torch.tensor(2.0, dtype=torch.bfloat16)],
    "tuple of arrays": (np.array(1.0), np.array(2)),
    "small integers": np.array([1, 2], np.int8),
    "unsigned integers": np.array([1, 2], np.uint64),
    "objects": np.array([1, 2.0], object),
    "fractions": [Fraction(1), Fraction(2)],
    "longdouble": np.array([1, 2], np.longdouble),
    "numbers of NumPy": [np.int64(1), np.float16(2)],
    "range": range(1, 3),
    "deque": collections.deque([1, 2]),
    "read-only array": np.broadcast_to(np.array([1.0, 2.0]), (2,)),
    "every other element": np.array([1.0, 0.0, 2.0])[::2],
}


@pytest.mark.parametrize("value", TAKEN.values(), ids=TAKEN)
def test_real_numbers_are_taken_whatever_holds_them(value):
    taken = real_numbers("W", value)
    assert (taken.dtype, taken.tolist()) == (np.float64, [1.0, 2.0])


def test_tensor_made_in_inference_mode_is_taken():
    with torch.inference_mode():
        value = torch.tensor([1.0, 2.0])
    assert real_numbers("W", value).tolist() == [1, 2]


@pytest.mark.parametrize("setting", [torch.inference_mode, torch.no_grad, lambda: torch.device("meta")])
def test_settings_of_pytorch_do_not_matter(setting):
    value = torch.tensor([1.0, 2.0])
    with setting():
        assert real_numbers("W", [value, value]).tolist() == [[1, 2], [1, 2]]


def test_what_comes_back_is_the_caller_s_no_more():
    value = np.ones(2)
    real_numbers("W", value)[:] = 5
    assert value.tolist() == [1, 1]


def test_a_tensor_whose_sign_is_a_mark_on_other_memory_is_taken():
    value = torch.tensor([1 + 2j], dtype=torch.complex128).conj().imag
    assert value.is_neg()
    assert real_numbers("W", value).tolist() == [-2]


def test_infinities_and_nan_of_longdouble_are_taken():
    assert repr(real_numbers("W", np.array([math.inf, math.nan], np.longdouble))) == "array([inf, nan])"


def nested(depth):
    value = [1.0]
    for _ in range(depth):
        value = [value]
    return value


def endless():
    value = []
    value.append(value)
    return value


NOT_NUMBERS = {
    "None": None,
    "text": "12",
    "bytes": b"12",
    "bytearray": bytearray(b"12"),
    "list of bytearray": [bytearray(b"12")],
    "bool": True,
    "bool in a list": [1, True],
    "bool of NumPy in a list": [2, np.True_],
    "array of bool": np.array([True]),
    "array of bool in a list": [np.array([True]), np.array([2])],
    "bool among objects": np.array([1, True], object),
    "tensor of bool": torch.tensor([True]),
    "complex": [1j],
    "complex tensor": torch.tensor([1j]),
    "None in a list": [1.0, None],
    "decimal": [decimal.Decimal(1)],
    "set": {1.0},
    "dict": {1: 2},
    "generator": (number for number in [1.0]),
    "date": np.array(["2020"], "M8[Y]"),
    "record": np.zeros(1, [("a", float)]),
    "masked array": np.ma.masked_array([1.0, 2.0], [False, True]),
    "masked array that hides nothing": np.ma.masked_array([1.0, 2.0]),
    "list that holds masked": [1.0, np.ma.masked],
    "list of masked arrays": [np.ma.masked_array([1.0], [True])],
    "meta tensor": torch.ones(2, device="meta"),
    "list of meta tensors": [torch.ones(2, device="meta")],
    "sparse tensor": torch.ones(2, 2).to_sparse(),
    "nested tensor": torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged),
    "function": len,
}
NOT_ONE_ARRAY = {
    "ragged list": [[1.0], [1.0, 2.0]],
    "ragged tensors": [torch.ones(1), torch.ones(2)],
    "too many axes": nested(70),
    "list that holds itself": endless(),
}
TOO_LARGE = {
    "int": [10**400],
    "int of 5,000 digits": [-(10**5000)],
    "fraction": [Fraction(10**400, 3)],
    "int among objects": np.array([1.0, 10**400], object),
}


@pytest.mark.parametrize("value", NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_what_holds_no_real_numbers_is_refused_by_name(value):
    with pytest.raises(TypeError, match=r"^W must "):
        real_numbers("W", value)


@pytest.mark.parametrize("value", NOT_ONE_ARRAY.values(), ids=NOT_ONE_ARRAY)
def test_what_is_not_one_array_is_refused_by_name(value):
    with pytest.raises(ValueError, match=r"^W must be one array"):
        real_numbers("W", value)


@pytest.mark.parametrize("value", TOO_LARGE.values(), ids=TOO_LARGE)
def test_number_too_large_for_float64_is_refused_by_name(value):
    with pytest.raises(ValueError, match=r"^W must be finite in float64, got about 1e(400|5000)"):
        real_numbers("W", value)


@wider
@pytest.mark.parametrize("form", [lambda x: x, lambda x: [x], lambda x: np.array([[x]])])
def test_longdouble_too_large_for_float64_is_refused_by_name(form):
    with pytest.raises(ValueError, match=r"^W must be finite in float64, got about 1e400"):
        real_numbers("W", form(np.longdouble("1e400")))


def test_a_tensor_without_values_of_its_own_is_refused_by_name():
    seen = []

    def function(weight):
        with pytest.raises(TypeError, match=r"^W must be a tensor that holds its values"):
            real_numbers("W", weight)
        seen.append(weight)
        return weight.sum()

    torch.func.grad(function)(torch.ones(2))
    with FakeTensorMode():
        function(torch.ones(2))
    assert len(seen) == 2


EXACT = [
    np.array([2**53 + 1]),
    [2**53 + 1, 0.5],
    collections.deque([2**53 + 1, 0.5]),
    [np.array(2**53 + 1), np.array(0.5)],
    [2**63 + 1, -1],
    np.array([2**64 - 1], np.uint64),
    torch.tensor([2**53 + 1]),
    [Fraction(1, 3)],
]


@pytest.mark.parametrize("value", EXACT, ids=str)
def test_numbers_that_float64_does_not_hold_are_kept_exactly(value):
    kept = exact_numbers("a", value)
    assert kept.tolist() == [getattr(number, "item", lambda number=number: number)() for number in value]


@pytest.mark.parametrize("value", [[2**53, 1e300], [2**70, 1], np.array([2**60]), [2**53 - 1, math.inf]])
def test_numbers_that_float64_holds_are_of_float64(value):
    assert exact_numbers("a", value).dtype == np.float64


def test_shape_is_part_of_what_is_asked_for():
    with pytest.raises(ValueError, match=r"^W must have shape \(3, 3\), got \(2,\)"):
        floats("W", [1.0, 2.0], 3, 3)


# every argument of every function


def vanilla(name):
    """Return a call of each way to use a VanillaRNN whose argument `name` is what it is given."""
    good = {"U": np.ones((2, 3)), "V": np.ones((3, 2)), "W": np.ones((2, 2))}
    return lambda value: VanillaRNN(**{**good, name: value}).gradients([0, 1], [1, 2])


def linear(name):
    weights = {"W_hx": np.ones((2, 1)), "W_hh": np.ones((2, 2)), "W_qh": np.ones((1, 2))}
    data = {"x": np.ones((2, 1)), "y": np.ones((2, 1)), "h0": np.ones(2)}
    where = weights if name in weights else data

    def call(value):
        arguments = {**where, name: value}
        model = LinearRNN(**(arguments if where is weights else weights))
        inputs = data if where is weights else arguments
        return model.gradients(**inputs), model.loss(**inputs)

    return call


MODEL = VanillaRNN(np.ones((2, 3)), np.ones((3, 2)), np.ones((2, 2)))
TWO = [0.5, -0.25]
CALLS = {
    **{f"VanillaRNN {name}": (name, vanilla(name)) for name in "UVW"},
    "VanillaRNN.loss x": ("x", lambda v: MODEL.loss(v, [0, 1])),
    "VanillaRNN.gradients y": ("y", lambda v: MODEL.gradients([0, 1], v)),
    "VanillaRNN.gradients tau": ("tau", lambda v: MODEL.gradients([0, 1], [1, 2], v)),
    "VanillaRNN.gradients_double_loop tau": ("tau", lambda v: MODEL.gradients_double_loop([0, 1], [1, 2], v)),
    "VanillaRNN.forward x": ("x", MODEL.forward),
    "VanillaRNN.init vocab_size": ("vocab_size", lambda v: VanillaRNN.init(v, 2, seed=0).num_parameters),
    "VanillaRNN.init num_hiddens": ("num_hiddens", lambda v: VanillaRNN.init(3, v, seed=0).num_parameters),
    "VanillaRNN.init seed": ("seed", lambda v: VanillaRNN.init(3, 2, seed=v).U),
    **{f"LinearRNN {name}": (name, linear(name)) for name in ("W_hx", "W_hh", "W_qh", "x", "y", "h0")},
    "scalar_rnn x": ("x", lambda v: scalar_rnn(v, 1.5)),
    "scalar_rnn w": ("w", lambda v: scalar_rnn(TWO, v)),
    "scalar_rnn h0": ("h0", lambda v: scalar_rnn(TWO, 1.5, h0=v)),
    "scalar_recursion b": ("b", lambda v: scalar_recursion(v, TWO)),
    "scalar_recursion c": ("c", lambda v: scalar_recursion(TWO, v)),
    "scalar_closed_form b": ("b", lambda v: scalar_closed_form(v, TWO)),
    "scalar_closed_form c": ("c", lambda v: scalar_closed_form(TWO, v)),
    "full_gradient x": ("x", lambda v: full_gradient(v, 1.5)),
    "full_gradient w": ("w", lambda v: full_gradient(TWO, v)),
    "full_gradient h0": ("h0", lambda v: full_gradient(TWO, 1.5, h0=v)),
    "truncated_gradient w": ("w", lambda v: truncated_gradient(TWO, v, tau=1)),
    "truncated_gradient tau": ("tau", lambda v: truncated_gradient(TWO, 1.5, tau=v)),
    "randomized_gradient x": ("x", lambda v: randomized_gradient(v, 1.5, pi=0.5, seed=0)),
    "randomized_gradient pi": ("pi", lambda v: randomized_gradient(TWO, 1.5, pi=v, seed=0)),
    "randomized_gradient num_draws": (
        "num_draws",
        lambda v: randomized_gradient(TWO, 1.5, pi=0.5, num_draws=v, seed=0),
    ),
    "randomized_gradient seed": ("seed", lambda v: randomized_gradient(TWO, 1.5, pi=0.5, seed=v)),
    "compare a": ("a", lambda v: compare("name", v, TWO).unequal),
    "compare tolerance": ("tolerance", lambda v: compare("name", TWO, TWO, tolerance=v).max_rel),
    "numeric_gradient parameters": ("parameters", lambda v: numeric_gradient(np.sum, v)),
    "numeric_gradient W": ("W", lambda v: numeric_gradient(lambda p: p["W"].sum(), {"W": v})),
    "numeric_gradient f": ("f", lambda v: numeric_gradient(lambda _: v, TWO)),
    "numeric_gradient step": ("step", lambda v: numeric_gradient(np.sum, TWO, v)),
}
HOSTILE = {
    **{kind: value for kind, value in NOT_NUMBERS.items() if kind != "list of meta tensors"},
    **NOT_ONE_ARRAY,
    "int": [10**400],
    "empty list": [],
    "no axis": 0.5,
    "three axes": np.ones((1, 1, 1)),
    "nan": math.nan,
    "infinity": -math.inf,
    "nan in a list": [0.5, math.nan],
    "infinity in a matrix": np.full((2, 2), math.inf),
    "zero": 0,
    "less than nothing": -1,
    "number of Python too large for any": 10**400,
    "too many": 10**30,
    "the least number": 5e-324,
    "object": object(),
    "indices beyond": [0, 3],
    "indices below 0": [-1, 0],
    "sparse indices": torch.tensor([0, 1]).to_sparse(),
    "meta indices": torch.tensor([0, 1], device="meta"),
}


def all_finite(result):
    """Tell whether a result, of any of the functions, holds nothing but finite numbers."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, tuple):
        return all(map(all_finite, result))
    return bool(np.isfinite(result).all())


def outcome(call, value):
    """Return what a call says of a value that it refuses, or "" if its result is finite."""
    try:
        result = call(value)
    except (TypeError, ValueError) as error:
        return str(error)
    assert all_finite(result)
    return ""


@pytest.mark.parametrize("kind", HOSTILE)
def test_each_argument_is_refused_by_name_or_gives_a_finite_result(kind):
    said = {where: outcome(call, HOSTILE[kind]) for where, (_, call) in CALLS.items()}
    assert [where for where, text in said.items() if text and CALLS[where][0] not in text] == []


@pytest.mark.parametrize("where", CALLS)
def test_no_argument_takes_everything(where):
    assert any(outcome(CALLS[where][1], value) for value in HOSTILE.values())


numbers = st.floats() | st.sampled_from([1e308, -1e308, 1e200, 1e-308, 5e-324])
NAMES = {"x", "y", "h0", "w", "b", "c", "U", "V", "W", "W_hx", "W_hh", "W_qh"}
law = settings(deadline=None, max_examples=200)


def finite_or_refused(call, *arguments):
    """Tell whether a call gives a finite result or an error that begins with names of arguments."""
    said = outcome(lambda given: call(*given), arguments)
    return not said or set(said.partition(" must ")[0].replace(",", "").replace(" and", "").split()) <= NAMES


@law
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5), numbers, numbers)
@example([(1.0, 1e200)] * 4, 0.0, 0.0)
def test_scalar_functions_are_finite_or_refuse_by_name(steps, w, h0):
    b, c = zip(*steps, strict=True)
    assert finite_or_refused(scalar_recursion, b, c)
    assert finite_or_refused(scalar_closed_form, b, c)
    assert finite_or_refused(lambda x, w, h0: full_gradient(x, w, h0=h0), b, w, h0)
    assert finite_or_refused(lambda x, w, h0: truncated_gradient(x, w, tau=2, h0=h0), b, w, h0)
    assert finite_or_refused(lambda x, w, h0: randomized_gradient(x, w, pi=0.5, seed=0, h0=h0), b, w, h0)


@law
@given(*[st.lists(numbers, min_size=4, max_size=4).map(lambda v: np.reshape(v, (2, 2)))] * 5)
def test_models_are_finite_or_refuse_by_name(one, two, three, x, y):
    words = [0, 1, 1]
    weights = one, two, three
    assert finite_or_refused(lambda *w: VanillaRNN(*w).forward(words), *weights)
    assert finite_or_refused(lambda *w: VanillaRNN(*w).loss(words, words), *weights)
    assert finite_or_refused(lambda *w: VanillaRNN(*w).gradients(words, words), *weights)
    assert finite_or_refused(lambda *w: VanillaRNN(*w).gradients_double_loop(words, words), *weights)
    assert finite_or_refused(lambda *w: LinearRNN(*w).loss(x, y), *weights)
    assert finite_or_refused(lambda *w: LinearRNN(*w).gradients(x, y), *weights)


TOO_LARGE_ON_THE_WAY = [
    (lambda: scalar_recursion([1.0] * 3, [1e200] * 3), "b and c must be small enough .* of a, got inf"),
    (lambda: scalar_closed_form([1.0] * 3, [1e200] * 3), "b and c must be small enough .* of a, got inf"),
    (lambda: full_gradient([0, -1e200 * np.tanh(0.5), 0, 0], 1e200, h0=5e-201), "x, w and h0 must be small"),
    (
        lambda: VanillaRNN([[1, 1]] * 3, [[1e308] * 3] * 2, np.ones((3, 3))).loss([0], [0]),
        "U, V and W must be",
    ),
    (lambda: LinearRNN([[1]], [[1e200]], [[1]]).forward([[1]] * 4), "x, h0, W_hx, W_hh and W_qh must be"),
    (lambda: LinearRNN([[1]], [[0]], [[1]]).loss([[1e200]], [[0]]), "x, y, h0, .* of loss, got inf"),
    (lambda: LinearRNN([[1]], [[0]], [[1e200]]).gradients([[1]], [[-1e200]]), r".* of dL/d\S+, got inf"),
]


@pytest.mark.parametrize(("call", "message"), TOO_LARGE_ON_THE_WAY)
def test_result_too_large_for_float64_is_an_error_and_no_warning(call, message, recwarn):
    with pytest.raises(ValueError, match=message):
        call()
    assert not recwarn.list


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("method", ["forward", "loss", "gradients", "gradients_double_loop"])
def test_weights_that_training_spoilt_are_an_error(method, wrong):
    model = VanillaRNN.init(4, 3, seed=0)
    model.V[:] = wrong
    with pytest.raises(ValueError, match="U, V and W must be small enough for finite values of logits"):
        getattr(model, method)(*[[0, 1]] * (1 if method == "forward" else 2))


SMALL = {  # numbers that vanish on the way
    "VanillaRNN": lambda: VanillaRNN(
        np.full((2, 2), 1e-200), np.array([[1e4, 0], [-1e4, 0]]), np.full((2, 2), 1e-200)
    ).gradients([0, 1, 1], [1, 0, 1]),
    "double loop": lambda: VanillaRNN(
        np.full((2, 2), 1e-200), np.array([[1e4, 0], [-1e4, 0]]), np.full((2, 2), 1e-200)
    ).gradients_double_loop([0, 1, 1], [1, 0, 1]),
    "scalar_rnn": lambda: scalar_rnn([1e-200] * 3, 1e-200, h0=1e-200),
    "loss": lambda: VanillaRNN([[10.0, 10.0]], [[2000.0], [0.0]], [[0.0]]).loss([0], [1]),
    "forward": lambda: VanillaRNN([[10.0, 10.0]], [[2000.0], [0.0]], [[0.0]]).forward([0]),
    "LinearRNN": lambda: LinearRNN([[1e-200]], [[1e-200]], [[1e-200]]).gradients([[1.0]] * 3, [[1.0]] * 3),
    "scalar_recursion": lambda: scalar_recursion([1e-200] * 3, [1e-200] * 3),
    "scalar_closed_form": lambda: scalar_closed_form([1e-200] * 3, [1e-200] * 3),
    "randomized_gradient": lambda: randomized_gradient([1e-200] * 3, 1e-200, pi=1, h0=1e-200),
    "compare": lambda: (compare("x", [1e-320], [math.nan]).unequal, compare("x", [1e308], [-1e308]).unequal),
}


@pytest.mark.parametrize("name", SMALL)
def test_results_do_not_depend_on_what_numpy_does_with_small_numbers(name):
    expected = SMALL[name]()
    with np.errstate(all="raise"):
        assert repr(SMALL[name]()) == repr(expected)


@pytest.mark.parametrize("name", SMALL)
def test_what_numpy_does_with_small_numbers_stays_as_it_was(name):
    with np.errstate(all="raise"):
        SMALL[name]()
        assert set(np.geterr().values()) == {"raise"}


def test_what_numpy_does_with_small_numbers_stays_as_it_was_in_threads():
    model, left = VanillaRNN.init(20, 8, seed=0), []
    words = list(range(20)) * 5

    def work(how):
        with np.errstate(all=how):
            for _ in range(20):
                model.gradients(words, words)
            left.append((how, set(np.geterr().values())))

    threads = [threading.Thread(target=work, args=(how,)) for how in ("raise", "ignore", "warn", "raise")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(left) == sorted((how, {how}) for how in ("raise", "ignore", "warn", "raise"))
