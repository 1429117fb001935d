"""The one way to draw: from a generator for the seed, so that a seed leaves global random state alone.

A draw names its generator's device, since PyTorch's own default for where numbers are made may be another.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from d2lrnn import _checks

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
        return np.random.default_rng(int(whole(2**62, 1, seed)))
    return np.random.default_rng(None if seed is None else _number(seed))


def uniform(shape: tuple[int, ...], rng: torch.Generator) -> Tensor:
    """Draw float64 numbers in [0, 1)."""
    return torch.rand(shape, dtype=torch.float64, generator=rng, device=rng.device).cpu()


def whole(high: int, count: int, rng: torch.Generator) -> Tensor:
    """Draw `count` whole numbers below `high`."""
    return torch.randint(high, (count,), generator=rng, device=rng.device).cpu()


def permutation(length: int, rng: torch.Generator) -> Tensor:
    """Draw an order of 0..length-1."""
    return torch.randperm(length, generator=rng, device=rng.device).cpu()


def _number(seed: object) -> int:
    number = _checks.integer("seed", seed, minimum=0)
    if number >= 2**64:
        raise ValueError(f"seed must be below 2**64, got {_checks.short(number)}")
    return number
