"""Try a reader's function on inputs with known answers."""

from __future__ import annotations

import copy
import math
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real

import numpy as np
from torch import Tensor

RTOL = 1e-5  # between two floats, relative to the larger: float32 is good enough

_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = 12
_short.maxstring = _short.maxother = 120


class WrongAnswer(AssertionError):  # noqa: N818
    """A function's answer is not the expected one; the message says to what input, and how."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows instead of a traceback through this package."""
        return [f"{type(self).__name__}: {self}"]


@dataclass(frozen=True)
class Case:
    """Arguments for the reader's function, the right answer, and what a wrong one may have missed."""

    arguments: tuple[object, ...]
    expected: object
    hint: str
    options: Mapping[str, object] = field(default_factory=dict)  # keyword arguments


def run(name: str, function: Callable[..., object], cases: Sequence[Case]) -> None:
    """Call `function` with the arguments of each case, and print how many were right if all are.

    Parameters
    ----------
    name : str
        What messages call the function.
    function
        The reader's.
    cases
        In the order to try them: the plainest first.

    Raises
    ------
    TypeError
        If `function` cannot be called.
    WrongAnswer
        For the first case in which the function raises, changes its arguments, or returns something else.
    """
    if not callable(function):
        raise TypeError(f"{name} must be a function, got {function!r} ({type(function).__name__})")
    for case in cases:
        call = _call(name, case)
        given, options = copy.deepcopy((case.arguments, dict(case.options)))
        try:
            got = function(*given, **options)
            if isinstance(got, Iterator):  # it can be read only once, and may raise while it is
                got = list(got)
        except Exception as error:
            what = f"{call} raised {type(error).__name__}: {error}"
            raise WrongAnswer(f"{what}\nexpected: {show(case.expected)}\n{case.hint}") from error
        if difference(given, case.arguments) or difference(options, dict(case.options)):
            raise WrongAnswer(f"{call} changed its argument, which the caller still needs: work on a copy")
        if what := difference(got, case.expected):
            answers = f"expected: {show(case.expected)}\ngot:      {show(got)}"
            raise WrongAnswer(f"{call} is wrong: {what}\n{answers}\n{case.hint}")
    print(f"{name}: all {len(cases)} answers are right")


def difference(got: object, expected: object) -> str:
    """Say how an answer differs from the expected one, in type, shape or value; "" if it does not.

    Tensors and arrays are the same as nested lists of their values, and lists the same as tuples.
    """
    if got is None and expected is not None:
        return "it returned nothing (None)"
    got, expected = _plain(got), _plain(expected)
    if isinstance(expected, Mapping):
        if not isinstance(got, Mapping):
            return f"a {type(got).__name__} instead of a mapping"
        if got.keys() != expected.keys():
            return f"its keys are {sorted(map(str, got))}"
        pairs: Iterable[tuple[object, tuple[object, object]]]
        pairs = ((key, (got[key], expected[key])) for key in expected)
        return next((f"at {key!r}: {what}" for key, (a, b) in pairs if (what := difference(a, b))), "")
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        if not isinstance(got, Sequence) or isinstance(got, str):
            return f"a {type(got).__name__} instead of {len(expected)} values"
        if len(got) != len(expected):
            return f"{len(got)} values instead of {len(expected)}"
        pairs = enumerate(zip(got, expected, strict=True))
        return next((f"at place {i}: {what}" for i, (a, b) in pairs if (what := difference(a, b))), "")
    return "" if _same(got, expected) else f"{show(got)} is not {show(expected)}"


def _same(got: object, expected: object) -> bool:
    """Tell whether two values without parts are the same; whole numbers must be so exactly."""
    numbers = isinstance(got, Real) and isinstance(expected, Real)
    if not numbers or isinstance(got, bool) or isinstance(expected, bool):
        return type(got) is type(expected) and got == expected
    if isinstance(expected, Integral):
        return float(got) == float(expected)  # type: ignore[arg-type]
    if math.isnan(float(expected)):  # type: ignore[arg-type]
        return math.isnan(float(got))  # type: ignore[arg-type]
    return math.isclose(float(got), float(expected), rel_tol=RTOL, abs_tol=1e-12)  # type: ignore[arg-type]


def _plain(value: object) -> object:
    """Return tensors, arrays and their numbers as Python's own, and iterators as lists."""
    if isinstance(value, Tensor):
        return value.detach().tolist()
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, (str, Mapping, Sequence)):
        return list(value)
    return value


def show(value: object) -> str:
    """Return a value as a message shows it: a function by its name, a tensor by its values, long ones cut."""
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    shape = f", shape {tuple(value.shape)}" if isinstance(value, (Tensor, np.ndarray)) else ""
    return _short.repr(_plain(value)) + shape


def _call(name: str, case: Case) -> str:
    options = [f"{key}={show(value)}" for key, value in case.options.items()]
    return f"{name}({', '.join([*map(show, case.arguments), *options])})"
