"""Arrays of what a caller gives, checked, and of what is made of them: each error names the argument."""

from __future__ import annotations

import contextlib
import math
import reprlib
from collections.abc import Iterator
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from d2lrnn import _checks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALL_EXACT = 2**53  # float64 holds every whole number below this one


def floats(name: str, value: ArrayLike, *shape: int | str) -> Floats:
    """Return a copy of `value` as float64, or raise unless it holds finite numbers and has the shape.

    A letter in `shape` stands for any length of at least 1. Tensors are taken too, detached.
    """
    array = real_numbers(name, value)
    fits = array.ndim == len(shape) and all(
        found and (isinstance(length, str) or found == length)
        for length, found in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        raise ValueError(f"{name} must have shape ({wanted}), got {array.shape}")
    return finite(name, array)


def finite(name: str, array: Floats) -> Floats:
    """Return an array as it is, or raise ValueError unless all that it holds is finite."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array


def real_numbers(name: str, value: ArrayLike) -> Floats:
    """Return a copy of `value`, of any shape, as float64, or raise unless it holds real numbers.

    Infinities and nan are taken, but no finite number that is too large for float64.
    """
    return exact_numbers(name, value).astype(np.float64, copy=False)


def exact_numbers(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return a copy of `value`, of any shape, or raise as `real_numbers` does.

    It is of float64 if that holds each number exactly, else of integers, or of objects: fractions, and floats
    for what is not finite.
    """
    array = _array(name, value)
    double = array.dtype.kind == "f" and array.dtype.itemsize <= 8
    whole = array.dtype.kind in "iu"
    if double or whole:  # a copy, so that the caller's may change
        held = double or _all_exact(array) or _of_53_digits(array)
        return np.array(array, np.float64 if held else array.dtype, order="C")
    exact = np.asarray(np.frompyfunc(lambda item: _exact(name, item), 1, 1)(array), object)
    rounded = exact.astype(np.float64)
    return rounded if ((rounded == exact) | np.isnan(rounded)).all() else exact


def word_ids(name: str, value: object, size: int) -> Ints:
    """Return ids as an int64 array, (T,), or raise unless there is at least one and each is in 0..size-1."""
    ids = _checks.token_ids(name, value, vocab_size=size)
    array: NDArray[np.integer] = ids if isinstance(ids, np.ndarray) else ids.cpu().numpy()
    return array.astype(np.int64, copy=False)


def own(values: torch.Tensor | NDArray[np.integer]) -> torch.Tensor:
    """Return a copy of a tensor, or of whole numbers as int64, which training can use.

    It can do so even if the copy is made in inference mode, where what comes of it has no gradient.
    """
    if torch.is_inference_mode_enabled():
        with torch.inference_mode(mode=False), torch.no_grad():
            return own(values)
    if isinstance(values, torch.Tensor):
        return values.clone()
    return torch.from_numpy(np.array(values, np.int64, order="C"))


def room_for(name: str, count: int) -> None:
    """Raise ValueError, naming an argument, unless memory has room for as many numbers as it says."""
    try:
        np.empty(count)
    except (MemoryError, OverflowError, ValueError):
        raise ValueError(
            f"{name} must be so few that they fit in memory, got {_checks.short(count)}"
        ) from None


@contextlib.contextmanager
def numpy_silent() -> Iterator[None]:
    """Have NumPy neither warn nor raise, whatever the caller's settings: `small_enough` looks at results.

    As a decorator it does so within a function.
    """
    with np.errstate(all="ignore"):
        yield


def small_enough(arguments: str, **results: Floats | float) -> None:
    """Raise ValueError unless all results are finite: if one is not, the arguments were too large for it."""
    for name, result in results.items():
        values = np.asarray(result)
        if not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)][0]
            raise ValueError(f"{arguments} must be small enough for finite values of {name}, got {wrong}")


def _array(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return `value` as an array of real numbers, or of objects that have yet to be looked at."""
    try:
        plain = _plain(name, value)
        array = np.asarray(plain)
        if not (isinstance(plain, np.ndarray) or array.dtype.kind != "f" or _all_exact(array)):
            array = np.asarray(plain, object)  # a whole number beside a float has been rounded to one
    except (ValueError, RecursionError):
        raise ValueError(f"{name} must be one array, got rows of unequal shape or too many axes") from None
    if array.dtype.kind not in "iufO":
        raise _no_real_numbers(name, value, array.dtype)
    return array


def _plain(name: str, value: Any) -> Any:
    """Return `value` with every tensor in it as an array and every tuple as a list."""
    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    if isinstance(value, torch.Tensor):
        array = _of_tensor(name, value)
        return array if array.ndim else array.item()  # as a whole number, not rounded to a float beside it
    if isinstance(value, (bool, bytearray)):  # NumPy would take True for 1, and bytes for numbers
        raise _no_real_numbers(name, value, type(value).__name__)
    if isinstance(value, (np.ndarray, np.generic)):
        _checks.unmasked(name, value)
        if value.dtype.kind not in "iufO":
            raise _no_real_numbers(name, value, value.dtype)
        return value if value.ndim else value.item()
    return value


def _of_tensor(name: str, tensor: torch.Tensor) -> NDArray[Any]:
    """Return the values of a tensor, of float64 if they are floats: NumPy has no bfloat16."""
    values = _checks.dense(name, tensor).detach().cpu()
    try:
        array: NDArray[Any] = (values.double() if values.is_floating_point() else values).numpy(force=True)
    except RuntimeError as error:  # within torch.func, say
        raise TypeError(
            f"{name} must be a tensor that holds its values, got {type(tensor).__name__}"
        ) from error
    if array.dtype.kind not in "iuf":
        raise _no_real_numbers(name, tensor, tensor.dtype)
    return array


def _exact(name: str, number: object) -> Fraction | float:
    """Return a number as a fraction, or as a float if it is not finite, or raise if float64 has no room."""
    if isinstance(number, Integral) and not isinstance(number, bool):
        exact = Fraction(int(number))
    elif isinstance(number, Fraction):
        exact = number
    elif not isinstance(number, (float, np.floating)):
        raise _no_real_numbers(name, number, type(number).__name__)
    elif np.isfinite(number):
        exact = Fraction(*number.as_integer_ratio())
    else:
        return float(number)
    try:
        float(exact)
    except OverflowError:
        size = math.log10(abs(exact.numerator)) - math.log10(exact.denominator)
        raise ValueError(f"{name} must be finite in float64, got about 1e{size:.0f}") from None
    return exact


def _all_exact(array: NDArray[Any]) -> bool:
    """Tell whether float64 holds whole numbers as large as any in an array."""
    return not ((array >= ALL_EXACT) | (array <= -ALL_EXACT)).any()


def _of_53_digits(array: NDArray[np.integer]) -> bool:
    """Tell whether each whole number has at most 53 binary digits, zeros at its end not counted."""
    size = np.abs(array).astype(np.uint64)  # of -2**63, too
    last = np.maximum(size & (~size + np.uint64(1)), np.uint64(1))  # the lowest digit that is 1
    return bool((size // last < ALL_EXACT).all())


def _no_real_numbers(name: str, value: object, kind: object) -> TypeError:
    return TypeError(f"{name} must hold real numbers, got {reprlib.repr(value)} of {kind}")
