"""The one way to seed: a generator of its own, so that global random state is neither read nor written."""

from __future__ import annotations

from typing import TypeAlias

import torch

from d2lrnn import _checks

Seed: TypeAlias = int | torch.Generator | None


def generator(seed: Seed) -> torch.Generator:
    """Return a new generator for a seed, from fresh entropy for None; a generator is returned as it is."""
    if isinstance(seed, torch.Generator):
        return seed
    own = torch.Generator()
    if seed is None:
        own.seed()
        return own
    number = _checks.integer("seed", seed, minimum=0)
    if number >= 2**64:
        raise ValueError(f"seed must be below 2**64, got {number}")
    return own.manual_seed(number)
