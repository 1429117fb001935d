"""Argument checks shared by every module: each error names the argument, its value and what was expected."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    Tokens = Sequence[int] | NDArray[np.integer] | Tensor
    Ids = NDArray[np.integer] | Tensor


T = TypeVar("T")


def short(value: object) -> str:
    """Return a value as text, cut short if it is long."""
    try:
        return reprlib.repr(value)
    except ValueError:  # Python does not write out whole numbers of more than 4,300 digits
        return "a number of thousands of digits"


def shown(value: object) -> str:
    """Return a value, cut short if it is long, and its type."""
    return f"{short(value)} ({type(value).__name__})"


def integer(name: str, value: object, *, minimum: int | None = None) -> int:
    """Return `value` as an int, or raise if it is not a whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {shown(value)}")
    number = int(value)
    if minimum is not None and number < minimum:
        raise ValueError(f"{name} must be at least {short(minimum)}, got {short(number)}")
    return number


def index(name: str, value: object, size: int) -> int:
    """Return `value` as an int, or raise unless it is a whole number in 0..size-1; -1 does not wrap."""
    number = integer(name, value)
    if not 0 <= number < size:
        raise ValueError(f"{name} must be in 0..{short(size - 1)}, got {short(number)}")
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
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} must fit a float, got {shown(value)}") from None
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
        raise TypeError(f"{name} must be a str, got {shown(value)}")
    return value


def ordered(name: str, items: Iterable[T], expected: str) -> Iterable[T]:
    """Return `items` unless it is one str, or something that has no order or holds each item once."""
    if isinstance(items, (str, Mapping, Set)) or not isinstance(items, Iterable):
        raise TypeError(f"{name} must be {expected}, got {shown(items)}")
    return items


def one_of(name: str, value: object, choices: Collection[str]) -> str:
    """Return `value`, or raise ValueError listing the `choices` if it is not one of them."""
    text = string(name, value)
    if text not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {known}; got {text!r}")
    return text


def dense(name: str, value: Tensor) -> Tensor:
    """Return a tensor, or raise TypeError unless it holds a value of its own for every place."""
    import torch

    kinds = (
        ("meta", value.is_meta),
        ("quantized", value.is_quantized),
        ("nested", value.is_nested),
        ("sparse", value.layout is not torch.strided),
    )
    for kind, found in kinds:
        if found:
            raise TypeError(f"{name} must be a dense tensor that holds its values, got a {kind} one")
    return value


def listed(name: str, value: object) -> Any:
    """Return what an array or a tensor holds as lists of Python's numbers, and anything else as it is."""
    if not hasattr(value, "tolist"):
        return value
    if hasattr(value, "layout"):
        dense(name, value)  # type: ignore[arg-type]  # a tensor, to which only they have that
    return unmasked(name, value).tolist()


def unmasked(name: str, value: T) -> T:
    """Return `value`, or raise TypeError if it is a masked array, of which all but the mask would be read."""
    import numpy as np

    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: fill its gaps, or take value.compressed()")
    return value


def corpus(name: str, value: object, *, minimum: int = 1, vocab_size: int | None = None) -> Tensor:
    """Return `value` as a 1-D int64 tensor, or raise if it is not a sequence of token indices.

    It must hold at least `minimum` integers, each at least 0 and, if given, below `vocab_size`.
    An int64 tensor or array that may be written to is not copied. The tensor can be written to, and, made in
    inference mode or not, be used in training.
    """
    import numpy as np
    import torch  # not above: modules that know nothing of tensors use these checks too

    ids = token_ids(name, value, minimum=minimum, vocab_size=vocab_size)
    with torch.inference_mode(mode=False):
        if isinstance(ids, torch.Tensor):
            return ids.clone() if ids.is_inference() else ids
        shared = ids.dtype == np.int64 and ids.flags.carray and ids.strides == (8,)
        return torch.from_numpy(ids if shared else np.array(ids, np.int64, order="C"))


def token_ids(name: str, value: object, *, minimum: int = 1, vocab_size: int | None = None) -> Ids:
    """Return token indices to read from, or raise as `corpus` does.

    They are an array of integers of any type, which may be read-only and shares the memory of the array or
    tensor given; only what is neither is copied. A tensor that is not on the CPU stays where it is, as an
    int64 tensor.
    """
    import torch

    ids = _tensor(name, value) if isinstance(value, torch.Tensor) else _array(name, value)
    if len(ids) < minimum:
        raise ValueError(f"{name} must hold at least {short(minimum)} token(s), got {len(ids)}")
    if len(ids):
        low, high = int(ids.min()), int(ids.max())
        if low < 0:
            raise ValueError(f"{name} must hold token indices of at least 0, got {low}")
        if vocab_size is not None and high >= vocab_size:
            raise ValueError(
                f"{name} must hold token indices below vocab_size={short(vocab_size)}, got {high}"
            )
        _int64(name, high)
    return ids


def tail(name: str, value: object, count: int) -> object:
    """Return the last `count` items of a sequence, none of the others looked at, or raise if it is none."""
    items = _sequence(name, value)
    if getattr(items, "ndim", 1) != 1 or getattr(items, "is_sparse", False):
        return items  # for `token_ids` to refuse
    start = max(len(items) - count, 0)
    return items[start:] if hasattr(items, "ndim") else [items[i] for i in range(start, len(items))]


def _sequence(name: str, value: object) -> Tokens:
    """Return an array, a tensor or another sequence, or raise TypeError if it is none or a text."""
    import numpy as np
    import torch

    wanted = isinstance(value, (Sequence, np.ndarray, torch.Tensor))
    if not wanted or isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{name} must be a sequence of integers, got {shown(value)}")
    return value  # type: ignore[return-value]


def _tensor(name: str, value: Tensor) -> Ids:
    """Return a tensor of integers along one axis: on the CPU as an array of the same memory."""
    if str(value.dtype).removeprefix("torch.").removeprefix("u") not in ("int8", "int16", "int32", "int64"):
        raise TypeError(f"{name} must hold integers, got a tensor of {value.dtype}")
    dense(name, value)
    if value.ndim != 1:
        raise ValueError(f"{name} must have one axis, got shape {tuple(value.shape)}")
    return value.numpy() if value.device.type == "cpu" else value.long()


def _array(name: str, value: object) -> NDArray[np.integer]:
    """Return an array, a list or another sequence of integers as an array; an array is not copied."""
    import numpy as np

    items = unmasked(name, _sequence(name, value))
    try:
        array = np.asarray(items)
    except ValueError:
        raise ValueError(f"{name} must have one axis, got rows of unequal length") from None
    except (RuntimeError, TypeError) as error:  # of meta or sparse tensors in a list
        raise TypeError(f"{name} must hold integers, got {shown(items)}, and {error}") from error
    if array.ndim != 1:
        raise ValueError(f"{name} must have one axis, got shape {array.shape}")
    if array.dtype.kind in "iu" and (array is items or array.base is not None or not _holds_bool(items)):
        return array  # of the memory given, or made of items, among which NumPy takes True for 1
    if array.dtype.kind in "mM":  # times, which NumPy counts among the integers
        raise TypeError(f"{name} must hold integers, got an array of {array.dtype}")
    return np.array([_int64(name, item) for item in items], np.int64)  # objects: each says what it is


def _holds_bool(items: Tokens) -> bool:
    """Tell whether a list of numbers has a bool among them, also as an array or tensor without axes."""
    import numpy as np
    import torch

    kinds = set(map(type, items))  # a list of millions is gone through in C
    if not kinds.isdisjoint((bool, np.bool_)):
        return True
    boxed = not kinds.isdisjoint((np.ndarray, torch.Tensor))
    return boxed and any(str(getattr(item, "dtype", None)).endswith("bool") for item in items)


def _int64(name: str, value: object) -> int:
    """Return one token index as an int, or raise if it is none that 64 bits hold."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must hold 64-bit integers, got {shown(value)}")
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name} must hold 64-bit integers, got {short(number)}")
    return number
