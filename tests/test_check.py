"""How a check runs a reader's function; each check's wrong answers are in test_wrong_answers.py."""

import numpy as np
import pytest
import torch

import d2lrnn
from d2lrnn.check import WrongAnswer
from d2lrnn.check._run import Case, difference, run

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
