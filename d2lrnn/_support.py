"""What a caller gives, checked, and the arrays made of it: each error names the argument and its value.

NumPy and torch are imported where they are used: what reads texts needs neither.
"""

from __future__ import annotations

import contextlib
import math
import reprlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from torch import Tensor

T = TypeVar("T")
Tokens: TypeAlias = "Sequence[int] | NDArray[np.integer] | Tensor"
Ids: TypeAlias = "NDArray[np.integer] | Tensor"
Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.int64]"

ALL_EXACT = 2**53  # float64 holds every whole number below this one


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
    import numpy as np

    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array


def real_numbers(name: str, value: ArrayLike) -> Floats:
    """Return a copy of `value`, of any shape, as float64, or raise unless it holds real numbers.

    Infinities and nan are taken, but no finite number that is too large for float64.
    """
    import numpy as np

    return exact_numbers(name, value).astype(np.float64, copy=False)


def exact_numbers(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return a copy of `value`, of any shape, or raise as `real_numbers` does.

    It is of float64 if that holds each number exactly, else of integers, or of objects: fractions, and floats
    for what is not finite.
    """
    import numpy as np

    array = _real_array(name, value)
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
    import numpy as np

    ids = token_ids(name, value, vocab_size=size)
    array: NDArray[np.integer] = ids if isinstance(ids, np.ndarray) else ids.cpu().numpy()
    return array.astype(np.int64, copy=False)


def own(values: Tensor | NDArray[np.integer]) -> Tensor:
    """Return a copy of a tensor, or of whole numbers as int64, which training can use.

    It can do so even if the copy is made in inference mode, where what comes of it has no gradient.
    """
    import numpy as np
    import torch

    if torch.is_inference_mode_enabled():
        with torch.inference_mode(mode=False), torch.no_grad():
            return own(values)
    if isinstance(values, torch.Tensor):
        return values.clone()
    return torch.from_numpy(np.array(values, np.int64, order="C"))


def room_for(name: str, count: int) -> None:
    """Raise ValueError, naming an argument, unless memory has room for as many numbers as it says."""
    import numpy as np

    try:
        np.empty(count)
    except (MemoryError, OverflowError, ValueError):
        raise ValueError(f"{name} must be so few that they fit in memory, got {short(count)}") from None


@contextlib.contextmanager
def numpy_silent() -> Iterator[None]:
    """Have NumPy neither warn nor raise, whatever the caller's settings: `small_enough` looks at results.

    As a decorator it does so within a function.
    """
    import numpy as np

    with np.errstate(all="ignore"):
        yield


def small_enough(arguments: str, **results: Floats | float) -> None:
    """Raise ValueError unless all results are finite: if one is not, the arguments were too large for it."""
    import numpy as np

    for name, result in results.items():
        values = np.asarray(result)
        if not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)][0]
            raise ValueError(f"{arguments} must be small enough for finite values of {name}, got {wrong}")


def _real_array(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return `value` as an array of real numbers, or of objects that have yet to be looked at."""
    import numpy as np

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
    import numpy as np
    import torch

    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    if isinstance(value, torch.Tensor):
        array = _of_tensor(name, value)
        return array if array.ndim else array.item()  # as a whole number, not rounded to a float beside it
    if isinstance(value, (bool, bytearray)):  # NumPy would take True for 1, and bytes for numbers
        raise _no_real_numbers(name, value, type(value).__name__)
    if isinstance(value, (np.ndarray, np.generic)):
        unmasked(name, value)
        if value.dtype.kind not in "iufO":
            raise _no_real_numbers(name, value, value.dtype)
        return value if value.ndim else value.item()
    return value


def _of_tensor(name: str, tensor: Tensor) -> NDArray[Any]:
    """Return the values of a tensor, of float64 if they are floats: NumPy has no bfloat16."""
    values = dense(name, tensor).detach().cpu()
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
    import numpy as np

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
    import numpy as np

    size = np.abs(array).astype(np.uint64)  # of -2**63, too
    last = np.maximum(size & (~size + np.uint64(1)), np.uint64(1))  # the lowest digit that is 1
    return bool((size // last < ALL_EXACT).all())


def _no_real_numbers(name: str, value: object, kind: object) -> TypeError:
    return TypeError(f"{name} must hold real numbers, got {reprlib.repr(value)} of {kind}")
