"""Check a gradient: central differences to compare it with, and the comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from d2lrnn import _checks
from d2lrnn._arrays import Floats, real_numbers
from d2lrnn.measure import measured


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
    of step^2 where f is smooth, and of 1e-16 |f| / step from rounding. It takes two calls of f per element.

    Parameters
    ----------
    f : callable
        Takes parameters in the form in which `parameters` has them, as float64, and returns a number. Every
        call gets arrays of its own: those in `parameters` never change.
    parameters : array or mapping of str to array
        Where to take the gradient: one array of any shape, or arrays by name, such as
        ``numeric_gradient(lambda p: VanillaRNN(**p).loss(x, y), {"U": U, "V": V, "W": W})``.
    step : float
        Greater than 0.

    Returns
    -------
    array, or dict of str to array
        The form of `parameters`, each array of the shape of its parameter.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, f returns anything but a finite number, or a parameter is so large
        that adding `step` does not change it.
    """
    step = _checks.real("step", step, above=0)
    if not isinstance(parameters, Mapping):
        return _central_differences("parameters", f, real_numbers("parameters", parameters), step)
    if not parameters:
        raise ValueError(f"parameters must hold at least one array, got {parameters!r}")
    arrays = {name: real_numbers(name, value) for name, value in parameters.items()}

    def along(name: str) -> Callable[[Floats], float]:
        return lambda p: f({key: p if key == name else array.copy() for key, array in arrays.items()})

    return {name: _central_differences(name, along(name), array, step) for name, array in arrays.items()}


def _central_differences(name: str, f: Callable[[Floats], float], p: Floats, step: float) -> Floats:
    """Return the gradient of f at one array."""

    def at(i: int, value: float) -> float:
        moved = p.copy()
        moved.flat[i] = value
        result = f(moved)
        if getattr(result, "ndim", None) == 0:  # a NumPy number or a tensor
            result = getattr(result, "item")()  # noqa: B009  # a float has none
        return _checks.real("f(parameters)", result)

    gradient = np.empty_like(p)
    for i, value in enumerate(p.flat):
        low, high = value - step, value + step
        if not low < value < high:
            raise ValueError(f"step must be large enough to change {name}, which holds {value}, got {step}")
        gradient.flat[i] = (at(i, high) - at(i, low)) / (high - low)
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
        Whether every element equals its counterpart. nan equals nothing.
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


def compare(name: str, a: ArrayLike, b: ArrayLike, *, tolerance: float = 1e-10) -> Comparison:
    """Compare two arrays of one shape, such as a gradient by hand and the same from autograd.

    Parameters
    ----------
    name : str
        What is compared, for the line that the result is shown as.
    a, b : array or Tensor
        Real numbers, at least one, in any shape. Tensors are detached.
    tolerance : float
        The largest relative difference that counts as close, at least 0: for central differences, say, 1e-6.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the shapes are not the same.
    """
    _checks.string("name", name)
    bound = _checks.real("tolerance", tolerance, minimum=0)
    a, b = real_numbers("a", a), real_numbers("b", b)
    if a.shape != b.shape:
        raise ValueError(f"a and b must have the same shape, got {a.shape} and {b.shape} for {name!r}")
    if not a.size:
        raise ValueError(f"a and b must hold at least one element, got shape {a.shape} for {name!r}")
    same = a == b  # infinities too, whose difference is nan
    with np.errstate(invalid="ignore", over="ignore"):
        max_abs = float(np.where(same, 0.0, np.abs(a - b)).max())  # nan if any is
    magnitudes = np.abs([a, b])
    scale = float(magnitudes.max(initial=0.0, where=np.isfinite(magnitudes)))
    max_rel = max_abs / scale if scale and math.isfinite(max_abs) else max_abs
    return Comparison(
        exact=bool(same.all()),
        close=max_rel <= bound,
        max_abs=max_abs,
        max_rel=max_rel,
        name=name,
        unequal=int(np.sum(~same)),
    )


def _shown(value: float, unit: str) -> str:
    """Return a value with two significant digits and the mark of `measured`."""
    return measured(float(f"{value:.2g}"), unit) if math.isfinite(value) else f"{value} {unit}"
