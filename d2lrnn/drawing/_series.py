"""What curves are given as, checked: each error names the argument, its value and what was expected."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np

from d2lrnn import _support
from d2lrnn._support import listed as listed
from d2lrnn.drawing._style import check_math

Numbers: TypeAlias = Sequence[float]

MAX_CURVES = 6  # in one pair of axes: more could not be told apart
LARGEST = 1e200  # on an axis: further out, what matplotlib computes for its ticks overflows


def written(argument: str, value: object) -> str:
    """Return a text that can stand on a page, or raise: a lone surrogate has no UTF-8."""
    text = _support.string(argument, value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{argument} must be text that UTF-8 can write, got {text!r}") from None
    return text


def label(argument: str, value: object) -> str:
    """Return a text that can stand in a figure; what is between two dollar signs is a formula."""
    text = written(argument, value)
    try:
        check_math(text)
    except ValueError as error:
        fault = str(error).strip().splitlines()[-1]
        raise ValueError(
            f"{argument} must hold formulas that matplotlib knows, got {text!r}: {fault}"
        ) from None
    return text


def names(argument: str, value: Collection[object]) -> None:
    """Raise unless these are names for the curves of one figure."""
    if not 1 <= len(value) <= MAX_CURVES:
        raise ValueError(f"{argument} must hold 1 to {MAX_CURVES} curves, got {len(value)}")
    for name in value:
        if label(f"a name in {argument}", name).startswith("_"):  # which matplotlib leaves out of legends
            raise ValueError(f"a name in {argument} must not begin with an underscore, got {name!r}")


def flag(argument: str, value: object) -> bool:
    """Return a bool, also NumPy's, as a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{argument} must be True or False, got {_support.shown(value)}")
    return bool(value)


def mapping(argument: str, value: Mapping[str, object]) -> None:
    """Raise TypeError unless this is a mapping."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{argument} must be a mapping, got {_support.shown(value)}")


def two(argument: str, value: object, first: str, second: str) -> tuple[Numbers, Numbers]:
    """Return two things that stand in a row."""
    plain = listed(argument, value)
    if isinstance(plain, (str, bytes, Mapping, Set)) or not isinstance(plain, Iterable):
        raise TypeError(f"{argument} must be ({first}, {second}), got {_support.shown(value)}")
    items = tuple(plain)
    if len(items) != 2:
        raise ValueError(f"{argument} must be ({first}, {second}), got {len(items)} item(s)")
    return items


def row(argument: str, values: object) -> list[float]:
    """Return a sequence, array or tensor of numbers as floats; nan and infinity are gaps."""
    plain = listed(argument, values)
    if isinstance(plain, (str, bytes, Mapping, Set)) or not isinstance(plain, Iterable):
        raise TypeError(f"{argument} must be a sequence of numbers, got {_support.shown(values)}")
    return [number(argument, value, "numbers in one row") for value in plain]


def number(argument: str, value: object, expected: str = "a number") -> float:
    """Return a number as a float; nan and infinity are gaps."""
    plain = listed(argument, value)
    if isinstance(plain, (str, bytes, bytearray)):  # which float would read
        raise TypeError(f"{argument} must be {expected}, got {_support.shown(value)}")
    try:
        found = float(plain)
    except TypeError:
        raise TypeError(f"{argument} must be {expected}, got {_support.shown(value)}") from None
    except OverflowError:  # of an int
        found = LARGEST * 10
    if LARGEST < abs(found) < math.inf:
        raise ValueError(f"{argument} must be at most {LARGEST:g} in magnitude, got {_support.shown(value)}")
    return found


def on_axis(argument: str, values: Iterable[float], scale: str) -> None:
    """Raise unless an axis of this scale can show the values."""
    lowest = min((value for value in values if not math.isnan(value)), default=1.0)
    if scale == "log" and lowest <= 0:
        raise ValueError(f"{argument} = {lowest}, which a log axis cannot show")
