"""How a check runs a reader's function; each check's wrong answers are in test_wrong_answers.py."""

import contextlib
import importlib
import itertools
import random
import sys
import time

import numpy as np
import pytest
import torch

import d2lrnn
from d2lrnn import check
from d2lrnn.check import WrongAnswer
from d2lrnn.check._run import LONGEST, Case, difference, run

TAIL = [
    Case(([1, 2, 3],), [2, 3], "The first one goes."),
    Case((torch.arange(4),), torch.tensor([2, 3]), "Count from 0.", {"k": 2}),
]


def tail(values, k=1):
    return values[k:]


def failure(answer):
    """Return what the reader of `tail` is told who answers with `answer` of the values."""

    def function(values, **_options):
        return answer(values)

    with pytest.raises(WrongAnswer) as raised:
        run("tail", function, TAIL)
    return str(raised.value)


def test_right_answers_are_counted(capsys):
    run("tail", tail, TAIL)
    assert capsys.readouterr().out == "tail: all 2 answers are right\n"


def test_wrong_answer_names_the_input_what_was_expected_and_what_came():
    message = failure(lambda values: values)
    assert "tail([1, 2, 3])" in message
    assert "expected: [2, 3]" in message
    assert "got:      [1, 2, 3]" in message
    assert "The first one goes." in message


def test_keyword_arguments_are_part_of_the_message():
    assert "tail([0, 1, 2, 3], shape (4,), k=2)" in failure(lambda values: values[1:])


def test_a_function_among_the_arguments_is_shown_by_its_name():
    with pytest.raises(WrongAnswer, match=r"twice\(tail, \[1, 2\]\) is wrong"):
        run("twice", lambda _function, values: values, [Case((tail, [1, 2]), [], "Cut twice.")])


def test_error_of_the_function_is_told_with_its_input():
    message = failure(lambda values: values[10])
    assert "tail([1, 2, 3]) raised IndexError" in message
    assert "expected: [2, 3]" in message


def test_nothing_returned_is_said_so():
    assert "returned nothing" in failure(lambda _values: None)


def test_answer_that_can_be_read_only_once_is_shown():
    assert "got:      [1, 2, 3]" in failure(lambda values: (v for v in values))


def test_error_while_an_answer_is_read_is_told_with_its_input():
    assert "tail([1, 2, 3]) raised IndexError" in failure(lambda values: (values[i] for i in range(9)))


ENDLESS = [
    lambda _: itertools.count(),
    lambda _: iter(lambda: 0, None),
    lambda _: [itertools.count(), itertools.count()],
    lambda _: range(10**30),
    lambda _: itertools.repeat(itertools.repeat(2)),
]


@pytest.mark.parametrize("answer", ENDLESS)
def test_answer_without_end_is_wrong(answer):
    assert "tail([1, 2, 3]) is wrong" in failure(answer)


def test_answer_without_end_is_told_so():
    assert "more than 102 values instead of 2" in failure(lambda _: itertools.count())


def test_answer_without_end_is_wrong_where_a_number_is_expected():
    with pytest.raises(WrongAnswer, match="is not 3"):
        run("length", lambda _: itertools.count(), [Case(([1, 2, 3],), 3, "Count them.")])


class Odd:
    def __eq__(self, other):
        raise RuntimeError("no comparison")

    __hash__ = None


def holds_itself():
    values = []
    values.append(values)
    return values


UNREADABLE = {
    "sparse": lambda: torch.ones(2).to_sparse(),
    "meta": lambda: torch.ones(2, device="meta"),
    "list of meta": lambda: [torch.ones((), device="meta")] * 2,
    "meta of another length": lambda: torch.ones(3, device="meta"),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged),
    "too large for a float": lambda: [10**400, 3],
    "5,000 digits": lambda: [10**5000, 3],
    "odd object": Odd,
    "list of odd objects": lambda: [Odd(), Odd()],
    "list in itself": holds_itself,
    "masked": lambda: np.ma.masked_array([2, 3], [True, False]),
    "complex": lambda: [2 + 1j, 3],
    "bytes": lambda: b"\2\3",
    "mapping": lambda: {2: 2, 3: 3},
    "function": lambda: len,
}


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("expected", [[2, 3], [2.5, 3.5], 2, 2.5, "ab", True])
def test_answer_that_cannot_be_read_is_wrong(kind, expected):
    with pytest.raises(WrongAnswer, match=r"f\(1\) (is wrong|returned)"):
        run("f", lambda _: UNREADABLE[kind](), [Case((1,), expected, "")])


def test_tensor_that_has_no_values_of_its_own_is_named():
    assert "returned a Tensor; reading it raised TypeError: it must be a dense tensor" in failure(
        lambda _: torch.ones(2, device="meta")
    )


def recursion(values):
    return recursion(values)


class Speechless(Exception):  # noqa: N818
    def __str__(self):
        raise RuntimeError("no message")


def raising(error):
    def function(_values):
        raise error

    return function


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda _: sys.exit(3), "raised SystemExit: 3"),
        (recursion, "raised RecursionError"),
        (raising(StopIteration()), "raised StopIteration"),
        (raising(Speechless()), "raised Speechless\n"),
        (raising(MemoryError("no room")), "raised MemoryError: no room"),
    ],
)
def test_whatever_the_function_raises_is_told(answer, message):
    assert message in failure(answer)


def test_an_interruption_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        run("tail", raising(KeyboardInterrupt()), TAIL)


LONG = {
    "text": lambda _: "x" * 10**6,
    "error": raising(ValueError("x" * 10**6)),
    "list of texts": lambda _: ["x" * 10**6] * 10**3,
    "matrix": lambda _: np.zeros((1000, 1000)),
    "wide tensor": lambda _: torch.zeros(1).expand(10**9),
    "many axes": lambda _: torch.zeros((1,) * 8).expand((99,) * 4 + (9,) * 4),
}


@pytest.mark.parametrize("kind", LONG)
def test_message_of_a_long_answer_is_short_and_comes_at_once(kind):
    start = time.perf_counter()
    assert len(failure(LONG[kind])) < 3 * LONGEST
    assert time.perf_counter() - start < 5  # reading all would take minutes, or all memory


def test_a_set_has_no_order_to_be_right_in():
    assert "a set instead of 2 values" in failure(lambda _: {2, 3})


def test_changing_the_argument_by_little_is_found():
    def nudge(values):
        values[0] += 1e-9
        return 1.0

    with pytest.raises(WrongAnswer, match="changed its argument"):
        run("first", nudge, [Case(([1.0],), 1.0, "")])


def test_changing_the_argument_to_something_endless_is_found():
    def fill(values):
        values[0] = itertools.count()
        return [2, 3]

    with pytest.raises(WrongAnswer, match="changed its argument"):
        run("tail", fill, TAIL)


def test_changing_the_argument_is_found_even_if_the_answer_is_right():
    def cut(values):
        del values[0]
        return list(values)

    assert "changed its argument" in failure(cut)


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="tail must be a function, got 3"):
        run("tail", 3, TAIL)


SAME = [
    (1, 1.0),
    (torch.tensor([[1, 2]]), [[1, 2]]),
    (np.float64(0.5), 0.5),
    ((1, 2), [1, 2]),
    (iter([1, 2]), [1, 2]),
    (float("nan"), float("nan")),
    (0.1 + 0.2, 0.3),
    ({"a": torch.ones(2)}, {"a": [1, 1]}),
    ("tide", "tide"),
    (np.str_("tide"), "tide"),
    (type("Kind", (str,), {})("tide"), "tide"),
    (torch.tensor([1.0, 2.0], dtype=torch.bfloat16), [1, 2]),
    (torch.tensor(2.5, requires_grad=True), 2.5),
    ({1: 0, 2: 0}.keys(), [1, 2]),
    (np.array([[0.1]], np.float32), [[0.1]]),
    (float("inf"), float("inf")),
]


@pytest.mark.parametrize(("got", "expected"), SAME)
def test_same_values_are_right_whatever_holds_them(got, expected):
    assert difference(got, expected) == ""


DIFFERENT = [
    (1.0000001, 1),
    (0.5001, 0.5),
    ([1, 2], [1, 2, 3]),
    ([[1, 2]], [1, 2]),
    (True, 1),
    (1, True),
    ("1", 1),
    (1, "1"),
    (1, [1]),
    ([1], 1),
    ("ab", ["a", "b"]),
    (None, 0),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 2}),
    ([1], {"a": 1}),
    (float("nan"), 1.0),
    (1.0, float("nan")),
    (torch.ones(2, 1), torch.ones(1, 2)),
    (type("Liar", (str,), {"__eq__": lambda *_: True, "__hash__": str.__hash__})("a"), "b"),
    (10**400, 1),
    (b"\1", [1]),
    (2.0**53, 2**53 + 1),
]


@pytest.mark.parametrize(("got", "expected"), DIFFERENT)
def test_different_values_are_wrong(got, expected):
    assert difference(got, expected)


def test_every_check_is_found_and_another_name_lists_them():
    assert all(callable(getattr(d2lrnn.check, name)) for name in d2lrnn.check.__all__)
    with pytest.raises(AttributeError, match=r"no check 'tide'.*WrongAnswer"):
        d2lrnn.check.tide  # noqa: B018


def test_notebook_shows_the_message_without_a_traceback():
    assert WrongAnswer("f(1) is wrong")._render_traceback_() == ["WrongAnswer: f(1) is wrong"]


# all checks


NAMES = [name for name in check.__all__ if name != "WrongAnswer"]


def cases_of(name, monkeypatch):
    """Return the cases that a check tries."""
    found = []
    with monkeypatch.context() as patch:
        module = importlib.import_module(getattr(check, name).__module__)
        patch.setattr(module, "run", lambda _name, _function, cases: found.extend(cases))
        getattr(check, name)(None)
    return found


def as_python(value, leaf=lambda number: number, hold=list):
    """Return a right answer with each part of it as `leaf` makes it and all that has parts as `hold` does."""
    if isinstance(value, (torch.Tensor, np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return hold([as_python(part, leaf, hold) for part in value])
    return leaf(value)


def small(value):
    """Return a number as the smaller types of NumPy have it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return np.int32(value) if isinstance(value, int) else np.float32(value)


def whole(convert):
    """Return a dress for an answer, or for each part of a list of answers of unequal shapes."""

    def dress(value):
        if isinstance(value, (torch.Tensor, np.ndarray, float)):
            return convert(as_python(value))
        return [dress(part) for part in value] if isinstance(value, list) else value

    return dress


DRESSES = {
    "lists": as_python,
    "tuples": lambda value: as_python(value, hold=tuple),
    "generators": lambda value: as_python(value, hold=iter),
    "numbers of NumPy": lambda value: as_python(value, small),
    "arrays of float32": whole(lambda value: np.array(value, np.float32)),
    "tensors with gradients": whole(lambda value: torch.tensor(value, dtype=torch.float64).requires_grad_()),
    "tensors of float32": whole(lambda value: torch.tensor(value, dtype=torch.float32)),
}


def answering(answers):
    """Return a function that gives the answers one after another, whatever it is asked."""
    left = iter(answers)
    return lambda *_arguments, **_options: next(left)


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("name", NAMES)
def test_right_answers_are_right_in_every_dress(name, dress, monkeypatch):
    getattr(check, name)(answering(DRESSES[dress](case.expected) for case in cases_of(name, monkeypatch)))


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


SETTINGS = {
    "default device": lambda: torch.device("meta"),
    "inference mode": torch.inference_mode,
    "no gradients": torch.no_grad,
    "float16": lambda: default_dtype(torch.float16),
    "float64": lambda: default_dtype(torch.float64),
    "NumPy raises": lambda: np.errstate(all="raise"),
}


def same(one, other):
    if callable(one):
        return callable(other)
    kinds = [value.dtype for value in (one, other) if isinstance(value, (torch.Tensor, np.ndarray))]
    return not difference(one, other, rtol=0) and len(set(kinds)) <= 1


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", NAMES)
def test_check_asks_the_same_under_every_setting(name, setting, monkeypatch):
    expected = cases_of(name, monkeypatch)
    with SETTINGS[setting]():
        found = cases_of(name, monkeypatch)
        getattr(check, name)(answering(as_python(case.expected) for case in found))
    for one, other in zip(found, expected, strict=True):
        assert same(one.expected, other.expected)
        assert all(map(same, one.arguments, other.arguments))


def test_function_computes_with_gradients_on_the_cpu_under_every_setting():
    seen = []

    def deltas(*_):
        seen.append((torch.ones(1).device.type, torch.is_grad_enabled(), torch.is_inference_mode_enabled()))

    with torch.device("meta"), torch.inference_mode(), pytest.raises(WrongAnswer):
        check.tanh_deltas(deltas)
    assert seen == [("cpu", True, False)]


@pytest.mark.parametrize("name", NAMES)
def test_check_leaves_global_random_state_alone(name, monkeypatch):
    def states():
        return random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()  # noqa: NPY002

    before = states()
    getattr(check, name)(answering([case.expected for case in cases_of(name, monkeypatch)]))
    assert states() == before


@pytest.mark.parametrize("name", NAMES)
def test_check_does_not_hang_on_an_endless_answer(name):
    with pytest.raises(WrongAnswer):
        getattr(check, name)(lambda *_: itertools.count())


@pytest.mark.parametrize("name", NAMES)
def test_check_refuses_what_is_no_function(name):
    with pytest.raises(TypeError, match=f"{name} must be a function, got None"):
        getattr(check, name)(None)


def test_number_of_values_is_told_where_it_can_be_counted():
    assert difference([1], [1, 2]) == "1 values instead of 2"
    assert difference([1] * 102, [1, 2]) == "102 values instead of 2"
    assert difference([1] * 103, [1, 2]) == "more than 102 values instead of 2"
