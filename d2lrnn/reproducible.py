"""What makes training end in the same weights on every machine: random numbers and a grid.

Every draw of the package is from a generator made here, so that a seed leaves global random state alone. A
draw names its generator's device, since PyTorch's own default for where numbers are made may be another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from d2lrnn import _support, recorded
from d2lrnn.modules import Parameters, named, refuse_nonfinite

MAX_DECIMALS = 22  # 10**22 is the largest power of ten that float64 holds exactly
Seed: TypeAlias = int | torch.Generator | None


def generator(seed: Seed) -> torch.Generator:
    """Return PyTorch's global generator for None, a new one for an int; a generator is returned as it is."""
    if isinstance(seed, torch.Generator):
        return seed
    if seed is None:
        return torch.default_generator
    return torch.Generator("cpu").manual_seed(_number(seed))


def numpy_generator(seed: Seed) -> np.random.Generator:
    """Return a NumPy generator: from fresh entropy for None, from one number that a torch.Generator draws."""
    if isinstance(seed, torch.Generator):
        return np.random.default_rng(int(randint(2**62, 1, seed)))
    return np.random.default_rng(None if seed is None else _number(seed))


def rand(shape: tuple[int, ...], rng: torch.Generator) -> Tensor:
    """Draw float64 numbers in [0, 1)."""
    return torch.rand(shape, dtype=torch.float64, generator=rng, device=rng.device).cpu()


def randint(high: int, count: int, rng: torch.Generator) -> Tensor:
    """Draw `count` whole numbers below `high`."""
    return torch.randint(high, (count,), generator=rng, device=rng.device).cpu()


def randperm(length: int, rng: torch.Generator) -> Tensor:
    """Draw an order of 0..length-1."""
    return torch.randperm(length, generator=rng, device=rng.device).cpu()


def _number(seed: object) -> int:
    number = _support.integer("seed", seed, minimum=0)
    if number >= 2**64:
        raise ValueError(f"seed must be below 2**64, got {_support.short(number)}")
    return number


def uniform(*shape: int, sigma: float, dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    """Draw numbers evenly around 0 with standard deviation `sigma`: between -sqrt(3) sigma and sqrt(3) sigma.

    `torch.rand` gives the same multiples of 2**-53 whatever the processor's vectors (`torch.randn` does not);
    2 u - 1 is exact, and the one product is rounded alike everywhere.
    """
    bound = math.sqrt(3) * _support.real("sigma", sigma, minimum=0)
    if bound > torch.finfo(dtype).max:
        raise ValueError(f"sigma={sigma} must give weights that {dtype} can hold, but they reach {bound:.3g}")
    return rand(shape, generator).mul_(2).sub_(1).mul_(bound).to(dtype)


def round_to_grid(parameters: Parameters, decimals: int) -> float:
    """Round weights to so many decimals, and return how close one of them came to be rounded the other way.

    Machines add in different orders, so that their weights differ in the last bits after a step, and each
    further step makes more of the difference. Rounding makes them equal again, as long as no weight is so
    close to halfway between two grid points that the last bits decide to which it goes.

    Parameters
    ----------
    parameters : Tensor, or iterable of Tensor or of (str, Tensor)
        The weights, of float64 or float32, rounded in place. One so large that neighbouring floats are
        further apart than grid points is left as it is: nothing is there to round.
    decimals : int
        From 0 to 22; the grid points are 10**-decimals apart. (10**22 is the largest power of ten that a
        float holds exactly.)

    Returns
    -------
    float
        The smallest distance of a weight, before rounding, to halfway between two grid points; 0 if one was
        left as it is, and infinity if there is none.

    Raises
    ------
    NonFiniteError
        If a weight is infinite or nan; none is changed.
    TypeError, ValueError
        If an argument is not as described.
    """
    weights = named(parameters)
    check_grid("decimals", decimals, weights)
    for name, p in weights:
        if p.is_inference() and not torch.is_inference_mode_enabled():
            raise ValueError(f"parameters must not be made in inference mode, but {name} was")
    scale = 10.0 ** int(decimals)
    sizes = [float(torch.linalg.vector_norm(p.detach(), math.inf)) if p.numel() else 0.0 for _, p in weights]
    if not all(map(math.isfinite, sizes)):
        refuse_nonfinite(weights)
    margin = math.inf
    with torch.no_grad():
        for (_, p), size in zip(weights, sizes, strict=True):
            if not p.numel():
                continue
            scaled = p * scale
            rounded = scaled.round()
            if size * scale < 1 / torch.finfo(p.dtype).eps:
                farthest = float(scaled.sub_(rounded).abs_().max())  # from its grid point, in grid steps
                torch.div(rounded, scale, out=p)
            else:
                farthest = 0.5
                p.copy_(torch.where(scaled.abs() < 1 / torch.finfo(p.dtype).eps, rounded / scale, p))
            margin = min(margin, (0.5 - farthest) / scale)
    if weights and all(p.dtype == torch.float64 for _, p in weights):  # float32's last bits are too coarse
        recorded.note_grid(margin)
    return margin


def check_grid(name: str, decimals: object, weights: Sequence[tuple[str, Tensor]]) -> None:
    """Raise unless weights can be rounded to so many decimals; `name` is what the caller calls the number."""
    if _support.integer(name, decimals, minimum=0) > MAX_DECIMALS:
        raise ValueError(f"{name} must be at most {MAX_DECIMALS}, got {decimals}")
    for weight, p in weights:
        if p.dtype not in (torch.float32, torch.float64):
            raise ValueError(
                f"{name}={decimals} needs weights of float32 or float64, but {weight} is of {p.dtype}, whose "
                "numbers are too far apart for a grid"
            )
