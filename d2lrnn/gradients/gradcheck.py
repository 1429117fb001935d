"""Check a gradient: central differences to compare it with, and the comparison."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from d2lrnn import _support
from d2lrnn._support import Floats, exact_numbers, finite, numpy_silent, real_numbers
from d2lrnn.recorded import measured


@overload
def numeric_gradient(
    f: Callable[[dict[str, Floats]], float], parameters: Mapping[str, ArrayLike], step: float = 1e-6
) -> dict[str, Floats]: ...
@overload
def numeric_gradient(f: Callable[[Floats], float], parameters: ArrayLike, step: float = 1e-6) -> Floats: ...
def numeric_gradient(
    f: Callable[..., float], parameters: Mapping[str, ArrayLike] | ArrayLike, step: float = 1e-6
) -> dict[str, Floats] | Floats:
    """Return the gradient of a function by central differences, one element of its parameters at a time.

    The derivative by an element p is about (f(p + step) - f(p - step)) / (2 step). Its error is of the order
    of step^2 where f is smooth, and of ``1e-16 |f| / step`` from rounding. It takes two calls of f per
    element.

    Parameters
    ----------
    f : callable
        Takes parameters in the form in which `parameters` has them, as float64, and returns a number: a
        float, or an array or tensor without axes. Every call gets arrays of its own: those in `parameters`
        never change.
    parameters : array or mapping of str to array
        Where to take the gradient: one array of any shape, or arrays by name, such as
        ``numeric_gradient(lambda p: VanillaRNN(**p).loss(x, y), {"U": U, "V": V, "W": W})``. Whole numbers
        become floats. An array without elements has an empty gradient, for which f is not called.
    step : float
        Greater than 0.

    Returns
    -------
    array, or dict of str to array
        The form of `parameters`, each array of the shape of its parameter.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, a parameter or what f returns is not finite, `step` is too small
        to change a parameter or too large to be added to it, or a slope is too large for float64.
    """
    step = _support.real("step", step, above=0)
    if not callable(f):
        raise TypeError(f"f must be a function, got {f!r} ({type(f).__name__})")
    if not isinstance(parameters, Mapping):
        return _central_differences("parameters", f, _point("parameters", parameters), step)
    if not parameters:
        raise ValueError(f"parameters must hold at least one array, got {parameters!r}")
    arrays = {
        _support.string("a name in parameters", name): _point(name, parameters[name]) for name in parameters
    }

    def along(name: str) -> Callable[[Floats], float]:
        return lambda p: f({key: p if key == name else array.copy() for key, array in arrays.items()})

    return {name: _central_differences(name, along(name), array, step) for name, array in arrays.items()}


def _point(name: str, value: ArrayLike) -> Floats:
    return finite(name, real_numbers(name, value))


def _central_differences(name: str, f: Callable[[Floats], float], p: Floats, step: float) -> Floats:
    """Return the gradient of f at one array."""

    def at(i: int, value: float) -> float:
        moved = p.copy()
        moved.flat[i] = value
        result: Any = f(moved)
        if not isinstance(result, Real) and getattr(result, "ndim", None) == 0:
            result = real_numbers("f(parameters)", result).item()
        return _support.real("f(parameters)", result)

    gradient = np.empty_like(p)
    for i, value in enumerate(p.ravel().tolist()):
        low, high = value - step, value + step
        if not low < value < high:
            raise ValueError(f"step must be large enough to change {name}, which holds {value}, got {step}")
        if not math.isfinite(high - low):
            raise ValueError(
                f"step must be small enough to be added to {name}, which holds {value}, got {step}"
            )
        above, below = at(i, high), at(i, low)
        slope = (above - below) / (high - low)
        if not math.isfinite(slope):
            values = f"{below} and {above} for {name} = {low} and {high}"
            raise ValueError(f"f must have a slope that float64 has room for, got {values}")
        gradient.flat[i] = slope
    return gradient


@dataclass(frozen=True, repr=False)
class Comparison:
    """How far apart two arrays are.

    Shown as one line that fits a phone turned sideways, it says close or FAR, how many elements differ (0 if
    the arrays are exactly equal) and `max_rel`. These numbers are decided by rounding, and so by the machine,
    and carry the mark of `measured`: two recordings are not compared in them.

    Attributes
    ----------
    exact : bool
        Whether every element equals its counterpart, as numbers do, whatever their types: 1 equals 1.0, and
        2**53 + 1 does not equal 2.0**53. nan equals nothing.
    close : bool
        Whether `max_rel` is at most the tolerance that was asked for.
    max_abs : float
        The largest absolute difference; nan if there is a nan.
    max_rel : float
        `max_abs` divided by the largest magnitude in either array, 0 if both hold zeros alone. It is not the
        largest of the elements' own relative differences: an element that is 0 but for rounding would decide.
    name : str
        What was compared.
    unequal : int
        How many elements differ from their counterparts.
    """

    exact: bool
    close: bool
    max_abs: float
    max_rel: float
    name: str = field(default="", kw_only=True)
    unequal: int = field(default=0, kw_only=True)

    def __repr__(self) -> str:
        parts = (
            f"{self.name:<8}",
            f"{'close' if self.close else 'FAR':<5}",
            f"{measured(self.unequal, 'differ'):>20}",
            _shown(self.max_rel, "off"),
        )
        return "  ".join(parts)

    def __bool__(self) -> bool:
        raise TypeError("a Comparison is neither true nor false: say .close or .exact")


def compare(name: str, a: ArrayLike, b: ArrayLike, *, tolerance: float = 1e-10) -> Comparison:
    """Compare two arrays of one shape, such as a gradient by hand and the same from autograd.

    Parameters
    ----------
    name : str
        What is compared, for the line that the result is shown as.
    a, b : array or Tensor
        Real numbers, at least one, in any shape. Whole numbers, fractions and longdouble are compared as
        they are, not rounded to float64, in which they must be finite. Tensors are detached.
    tolerance : float
        The largest relative difference that counts as close, at least 0: for central differences, say, 1e-6.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the shapes are not the same.
    """
    _support.string("name", name)
    bound = _support.real("tolerance", tolerance, minimum=0)
    x, y = exact_numbers("a", a), exact_numbers("b", b)
    if x.shape != y.shape:
        raise ValueError(f"a and b must have the same shape, got {x.shape} and {y.shape} for {name!r}")
    if not x.size:
        raise ValueError(f"a and b must hold at least one element, got shape {x.shape} for {name!r}")
    if x.dtype != y.dtype:  # NumPy would round to what is common to both
        x, y = x.astype(object), y.astype(object)
    same = np.asarray(x == y)  # infinities too, whose difference is nan
    if x.dtype == np.float64:
        max_abs, max_rel = _distance(x, y, same)
    else:
        max_abs, max_rel = _exact_distance(x, y) if x.dtype == object else _whole_distance(x, y)
    return Comparison(
        exact=bool(same.all()),
        close=max_rel <= bound,
        max_abs=max_abs,
        max_rel=max_rel,
        name=name,
        unequal=int(np.sum(~same)),
    )


@numpy_silent()
def _distance(a: Floats, b: Floats, same: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the largest difference, and its share of the largest magnitude; nan if there is a nan."""
    max_abs = float(np.where(same, 0.0, np.abs(a - b)).max())
    magnitudes = np.abs([a, b])
    scale = float(magnitudes.max(initial=0.0, where=np.isfinite(magnitudes)))
    if math.isfinite(max_abs):
        return max_abs, max_abs / scale if scale else max_abs
    if scale > 1:  # a difference of finite numbers may be too large for a float; of their halves it is not
        halves = float(np.where(same, 0.0, np.abs(a / 2 - b / 2)).max())
        return max_abs, halves / (scale / 2)
    return max_abs, max_abs


def _exact_distance(a: NDArray[Any], b: NDArray[Any]) -> tuple[float, float]:
    """Return what `_distance` does, computed with fractions."""
    pairs: list[tuple[Any, Any]]
    pairs = [(_fraction(p), _fraction(q)) for p, q in zip(a.flat, b.flat, strict=True)]
    gaps = [abs(p - q) for p, q in pairs if p != q]
    endless = [gap for gap in gaps if not isinstance(gap, Fraction)]  # of infinity or nan
    if endless:
        far = math.nan if any(map(math.isnan, endless)) else math.inf
        return far, far
    gap = _largest(gaps)
    scale = _largest(abs(number) for pair in pairs for number in pair)
    max_abs = float(gap) if gap <= sys.float_info.max else math.inf
    return max_abs, float(gap / scale) if scale else 0.0


def _whole_distance(a: NDArray[np.integer], b: NDArray[np.integer]) -> tuple[float, float]:
    """Return what `_exact_distance` does for whole numbers of one type."""
    low, high = (bound(a, b).astype(np.uint64) for bound in (np.minimum, np.maximum))
    gap = int((high - low).max())  # modulo 2**64, which is above any
    scale = max(abs(int(end)) for array in (a, b) for end in (array.min(), array.max()))
    return float(gap), float(Fraction(gap, scale))


def _fraction(number: float | Fraction) -> float | Fraction:
    """Return a finite number as a fraction, and another as a float."""
    return Fraction(number) if math.isfinite(number) else float(number)


def _largest(numbers: Iterable[object]) -> Fraction:
    """Return the largest of the numbers that are finite, 0 if there is none."""
    return max((number for number in numbers if isinstance(number, Fraction)), default=Fraction(0))


def _shown(value: float, unit: str) -> str:
    """Return a value with two significant digits and the mark of `measured`."""
    return measured(float(f"{value:.2g}"), unit) if math.isfinite(value) else f"{value} {unit}"
