"""Arrays of what a caller gives, checked: each error names the argument and what was expected."""

from __future__ import annotations

import reprlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from d2lrnn import _checks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    if not np.isfinite(array).all():
        first = array[~np.isfinite(array)][0]
        raise ValueError(f"{name} must be finite, got {first}")
    return array


def real_numbers(name: str, value: ArrayLike) -> Floats:
    """Return a copy of `value`, of any shape, as float64, or raise TypeError unless it holds real numbers."""
    if hasattr(value, "detach"):  # a tensor; this module needs no torch to know
        value = value.detach().cpu().numpy()
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be one array, got rows of unequal shape") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold real numbers, got {reprlib.repr(value)} of {array.dtype}")
    # A copy, so that what the caller does with theirs later changes nothing here.
    return np.array(array, np.float64, order="C")


def word_ids(name: str, value: object, size: int) -> Ints:
    """Return ids as an int64 array, (T,), or raise unless there is at least one and each is in 0..size-1."""
    array: Ints = _checks.corpus(name, value, vocab_size=size).cpu().numpy()
    return array
