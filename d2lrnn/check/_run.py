"""Try a reader's function on inputs with known answers."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TypeGuard

import numpy as np
import torch
from torch import Tensor

from d2lrnn import _support

RTOL = 1e-5  # between two floats, relative to the larger: float32 is good enough
LONGEST = 400  # characters of one value, or of an error, in a message
FURTHER = 100  # values beyond as many as expected that are read at most: an answer may be endless


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


@contextlib.contextmanager
def own_settings() -> Iterator[None]:
    """Have PyTorch compute on the CPU and with gradients, whatever the reader has set.

    As a decorator it does so within a check.
    """
    with torch.inference_mode(mode=False), torch.device("cpu"):  # the former turns gradients on, too
        yield


def run(name: str, function: Callable[..., object], cases: Sequence[Case]) -> None:
    """Call `function` with the arguments of each case, and print how many were right if all are.

    No more than `FURTHER` values are read beyond as many as the right answer has, so that an answer may be
    endless. A function that never returns is not stopped: it takes an interruption by the reader. What the
    function prints is shown, and what it does to global random state stays.

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
        An interruption by the user is passed on.
    """
    if not callable(function):
        raise TypeError(f"{name} must be a function, got {function!r} ({type(function).__name__})")
    for case in cases:
        call = _call(name, case)
        given, options = copy.deepcopy((case.arguments, dict(case.options)))
        with _told(f"{call} raised", case):
            got = _read_once(function(*given, **options), case.expected)
        with _told(f"{call} changed its argument: comparing it raised", case):
            changed = difference(given, case.arguments, rtol=0) or difference(options, case.options, rtol=0)
        if changed:
            raise WrongAnswer(f"{call} changed its argument, which the caller still needs: work on a copy")
        with _told(f"{call} returned a {type(got).__name__}; reading it raised", case):
            what = difference(got, case.expected)
            answers = f"expected: {show(case.expected)}\ngot:      {show(got)}" if what else ""
        if what:
            raise WrongAnswer(f"{call} is wrong: {what}\n{answers}\n{case.hint}")
    print(f"{name}: all {len(cases)} answers are right")


@contextlib.contextmanager
def _told(what: str, case: Case) -> Iterator[None]:
    """Raise a WrongAnswer for an error within the block, and if the function wants to end Python."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise WrongAnswer(f"{what} {_said(error)}\nexpected: {show(case.expected)}\n{case.hint}") from error


def difference(got: object, expected: object, *, rtol: float = RTOL) -> str:
    """Say how an answer differs from the expected one, in type, shape or value; "" if it does not.

    Tensors and arrays are the same as nested lists of their values, and lists the same as tuples. Two floats
    are the same if they differ by no more than `rtol` of the larger.
    """
    if got is None and expected is not None:
        return "it returned nothing (None)"
    got, expected = _number(got), _plain(expected)
    pairs: Iterable[tuple[object, tuple[object, object]]]
    if isinstance(expected, Mapping):
        if not isinstance(got, Mapping):
            return f"a {type(got).__name__} instead of a mapping"
        if got.keys() != expected.keys():
            return f"its keys are {show(sorted(map(str, got)))}"
        where, pairs = "at", ((key, (got[key], expected[key])) for key in expected)
    elif isinstance(expected, list):
        if not _in_order(got):
            return f"a {type(got).__name__} instead of {len(expected)} values"
        most = len(expected) + FURTHER
        values = _first(got, most + 1)
        if len(values) != len(expected):
            count = len(values) if len(values) <= most else f"more than {most}"
            return f"{count} values instead of {len(expected)}"
        where, pairs = "at place", enumerate(zip(values, expected, strict=True))
    else:
        return "" if _same(got, expected, rtol) else f"{show(got)} is not {show(expected)}"
    found = ((key, difference(a, b, rtol=rtol)) for key, (a, b) in pairs)
    return next((f"{where} {key!r}: {what}" for key, what in found if what), "")


def _same(got: object, expected: object, rtol: float) -> bool:
    """Tell whether two values without parts are the same; whole numbers must be so exactly."""
    if isinstance(expected, str):
        return isinstance(got, str) and str.__eq__(expected, got)  # whatever a kind of str calls equal
    numbers = isinstance(got, Real) and isinstance(expected, Real)
    if not numbers or isinstance(got, bool) or isinstance(expected, bool):
        return type(got) is type(expected) and bool(got == expected)
    if isinstance(expected, Integral):
        return bool(got == expected)
    a, b = float(got), float(expected)  # type: ignore[arg-type]
    if math.isnan(b):
        return math.isnan(a)
    return math.isclose(a, b, rel_tol=rtol, abs_tol=1e-12 if rtol else 0)


def _plain(value: object) -> object:
    """Return a right answer as Python's own lists and numbers."""
    if isinstance(value, Tensor):
        value = value.detach().numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return list(value) if _in_order(value) else value


def _number(value: object) -> object:
    """Return Python's own number for an answer that is a tensor or an array without axes."""
    if isinstance(value, Tensor):
        _support.dense("it", value)
    if isinstance(value, (Tensor, np.ndarray, np.generic)) and not value.ndim:
        return value.tolist()
    return value


def _in_order(value: object) -> TypeGuard[Iterable[object]]:
    """Tell whether a value has parts in an order of their own: a str is one value, and a set has no order."""
    return isinstance(value, Iterable) and not isinstance(
        value, (str, bytes, bytearray, Mapping, set, frozenset)
    )


def _first(values: Iterable[object], count: int) -> list[object]:
    """Return the first values, as many as there are up to `count`."""
    if isinstance(values, (Tensor, np.ndarray)):
        return list(values[:count])  # PyTorch would make a tensor of each before the first is there
    return list(itertools.islice(values, count))


def _read_once(got: object, expected: object) -> object:
    """Return an answer that can be read only once as a list, and another as it is."""
    right = _plain(expected)
    if isinstance(got, Iterator) and isinstance(right, list):
        return _first(got, len(right) + FURTHER + 1)
    return got


_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = 12
_short.maxstring = _short.maxother = 120


def show(value: object) -> str:
    """Return a value as a message shows it: a function by its name, a tensor by its values, long ones cut."""
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    if not isinstance(value, (Tensor, np.ndarray)):
        return _cut(_short.repr(_number(value)))
    few = value[(slice(1),) * (value.ndim - 3) + (slice(_short.maxlist + 1),) * min(value.ndim, 3)]
    return f"{_cut(_short.repr(few.tolist()))}, shape {tuple(value.shape)}"


def _said(error: BaseException) -> str:
    """Return an error's type and message; a reader's own kind of error may fail to say one."""
    try:
        return _cut(f"{type(error).__name__}: {error}")
    except Exception:
        return type(error).__name__


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _call(name: str, case: Case) -> str:
    options = [f"{key}={show(value)}" for key, value in case.options.items()]
    return f"{name}({', '.join([*map(show, case.arguments), *options])})"
