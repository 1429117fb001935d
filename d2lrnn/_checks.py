"""Argument checks shared by every module: each error names the argument, its value and what was expected."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    Tokens = Sequence[int] | NDArray[np.int64] | Tensor


T = TypeVar("T")


def _shown(value: object) -> str:
    """Return a value, cut short if it is long, and its type."""
    return f"{reprlib.repr(value)} ({type(value).__name__})"


def integer(name: str, value: object, *, minimum: int | None = None) -> int:
    """Return `value` as an int, or raise if it is not a whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {_shown(value)}")
    if minimum is not None and value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {int(value)}")
    return int(value)


def index(name: str, value: object, size: int) -> int:
    """Return `value` as an int, or raise unless it is a whole number in 0..size-1; -1 does not wrap."""
    number = integer(name, value)
    if not 0 <= number < size:
        raise ValueError(f"{name} must be in 0..{size - 1}, got {number}")
    return number


def real(
    name: str,
    value: object,
    *,
    minimum: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """Return `value` as a finite float within the bounds (only `minimum` may be met)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {_shown(value)}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    if minimum is not None and number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {number}")
    if above is not None and number <= above:
        raise ValueError(f"{name} must be greater than {above}, got {number}")
    if below is not None and number >= below:
        raise ValueError(f"{name} must be less than {below}, got {number}")
    return number


def string(name: str, value: object) -> str:
    """Return `value`, or raise TypeError if it is not a str."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, got {_shown(value)}")
    return value


def ordered(name: str, items: Iterable[T], expected: str) -> Iterable[T]:
    """Return `items` unless it is one str, or something that has no order or holds each item once."""
    if isinstance(items, (str, Mapping, Set)) or not isinstance(items, Iterable):
        raise TypeError(f"{name} must be {expected}, got {_shown(items)}")
    return items


def one_of(name: str, value: object, choices: Collection[str]) -> str:
    """Return `value`, or raise ValueError listing the `choices` if it is not one of them."""
    text = string(name, value)
    if text not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {known}; got {text!r}")
    return text


def corpus(name: str, value: object, *, minimum: int = 1, vocab_size: int | None = None) -> Tensor:
    """Return `value` as a 1-D int64 tensor, or raise if it is not a sequence of token indices.

    It must hold at least `minimum` integers, each at least 0 and, if given, below `vocab_size`.
    An int64 tensor or array is not copied.
    """
    import torch  # not above: modules that know nothing of tensors use these checks too

    tokens = value if isinstance(value, torch.Tensor) else torch.from_numpy(_integers(name, value))
    if tokens.is_floating_point() or tokens.is_complex() or tokens.dtype == torch.bool:
        raise TypeError(f"{name} must hold integers, got a tensor of {tokens.dtype}")
    if tokens.ndim != 1:
        raise ValueError(f"{name} must have one axis, got shape {tuple(tokens.shape)}")
    if len(tokens) < minimum:
        raise ValueError(f"{name} must hold at least {minimum} token(s), got {len(tokens)}")
    tokens = tokens.to(torch.int64)
    if len(tokens):
        low, high = (int(end) for end in torch.aminmax(tokens))
        if low < 0:
            raise ValueError(f"{name} must hold token indices of at least 0, got {low}")
        if vocab_size is not None and high >= vocab_size:
            raise ValueError(f"{name} must hold token indices below vocab_size={vocab_size}, got {high}")
    return tokens


def _integers(name: str, value: object) -> NDArray[np.int64]:
    """Return a list (or another sequence, or an array) of integers as a writable int64 array."""
    import numpy as np

    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, (Sequence, np.ndarray)):
        raise TypeError(f"{name} must be a sequence of integers, got {_shown(value)}")
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must have one axis, got rows of unequal length") from None
    if array.size and array.dtype.kind not in "iu":
        odd = [item for item in value if isinstance(item, bool) or not isinstance(item, Integral)]
        first = odd[0] if odd else max(value, key=abs)  # too large for 64 bits
        raise TypeError(f"{name} must hold 64-bit integers, got {first!r} ({type(first).__name__})")
    return np.require(array, np.int64, ["C", "W"])
