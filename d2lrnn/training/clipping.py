"""Clipping: keep the gradients' norm within a bound."""

from __future__ import annotations

import math
from numbers import Real

import torch
from torch import Tensor

from d2lrnn import _support
from d2lrnn.modules import NonFiniteError, Parameters, named


def clip_gradients(parameters: Parameters, theta: float) -> float:
    """Scale all gradients so that their norm is at most `theta`, and return what it was before.

    g becomes ``min(1, theta / ||g||) g``, where g is all gradients as one vector and ``||g||`` its L2 norm:
    the direction stays. Parameters without a gradient are left out, and one that is given twice counts once.

    Parameters
    ----------
    parameters : Tensor, or iterable of Tensor or of (str, Tensor)
        As `model.parameters()` or `model.named_parameters()` gives them; gone through once.
    theta : float
        The largest norm, greater than 0; infinity only measures.

    Returns
    -------
    float
        The norm before clipping.

    Raises
    ------
    NonFiniteError
        If a gradient holds infinity or nan, or the norm is too large for a float. The message names the
        parameter, by its name or position, and its shape. No gradient is changed.
    TypeError, ValueError
        If an argument is not as described, or a gradient is sparse.

    References
    ----------
    - Pascanu, Mikolov and Bengio (2013), "On the difficulty of training recurrent neural networks".
    """
    bound = largest_norm(theta)
    gradients: list[Tensor] = []
    norms = []
    for name, p in named(parameters):
        if p.grad is None or any(p.grad is gradient for gradient in gradients):
            continue
        if p.grad.layout != torch.strided:
            raise TypeError(f"parameters must have dense gradients, but that of {name} is {p.grad.layout}")
        norm = _norm(p.grad)
        if not math.isfinite(norm):
            raise NonFiniteError(f"the gradient of {name}, of shape {tuple(p.shape)}, has norm {norm}")
        gradients.append(p.grad)
        norms.append(norm)
    total = math.hypot(*norms)
    if not math.isfinite(total):
        raise NonFiniteError(f"the norm of all {len(norms)} gradients together is too large for a float")
    if total > bound:
        for gradient in gradients:
            _scale(gradient, bound, total)
    return total


def largest_norm(theta: object) -> float:
    """Return `theta`, or raise unless it is a number greater than 0 or infinity."""
    return (
        math.inf if isinstance(theta, Real) and theta == math.inf else _support.real("theta", theta, above=0)
    )


def _norm(gradient: Tensor) -> float:
    """Return the L2 norm, also where squares are too large or too small for the gradient's type."""
    limits = torch.finfo(gradient.dtype)
    norm = float(torch.linalg.vector_norm(gradient))
    if limits.bits >= 32 and math.sqrt(limits.tiny) / limits.eps < norm < math.inf:
        return norm
    numbers = gradient.detach().to("cpu", torch.float64)  # Apple's device has no float64
    largest = float(numbers.abs().max()) if numbers.numel() else 0.0
    if largest == 0 or not math.isfinite(largest):
        return largest
    return largest * float(torch.linalg.vector_norm(numbers / largest))


def _scale(gradient: Tensor, bound: float, total: float) -> None:
    """Multiply by bound / total, also where that is too small a number for the gradient's type."""
    if bound / total >= torch.finfo(gradient.dtype).tiny:
        gradient.mul_(bound / total)
    else:
        gradient.copy_(gradient.to("cpu", torch.float64) / total * bound)
