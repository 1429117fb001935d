"""What makes training end in the same weights on every machine: random numbers and a grid."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from d2lrnn import _checks, margins


def uniform(*shape: int, sigma: float, dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    """Draw numbers evenly around 0 with standard deviation `sigma`: between -sqrt(3) sigma and sqrt(3) sigma.

    `torch.rand` gives the same multiples of 2**-53 whatever the processor's vectors (`torch.randn` does not);
    2 u - 1 is exact, and the one product is rounded alike everywhere.
    """
    bound = math.sqrt(3) * _checks.real("sigma", sigma, minimum=0)
    return torch.rand(shape, dtype=torch.float64, generator=generator).mul_(2).sub_(1).mul_(bound).to(dtype)


def round_to_grid(parameters: Iterable[Tensor], decimals: int) -> float:
    """Round weights to so many decimals, and return how close one of them came to be rounded the other way.

    Machines add in different orders, so that their weights differ in the last bits after a step, and each
    further step makes more of the difference. Rounding makes them equal again, as long as no weight is so
    close to halfway between two grid points that the last bits decide to which it goes.

    Parameters
    ----------
    parameters : iterable of Tensor
        The weights, rounded in place.
    decimals : int
        At least 0; the grid points are 10**-decimals apart.

    Returns
    -------
    float
        The smallest distance of a weight, before rounding, to halfway between two grid points.

    Raises
    ------
    TypeError, ValueError
        If `decimals` is not as described.
    """
    parameters = list(parameters)
    scale = 10.0 ** _checks.integer("decimals", decimals, minimum=0)
    farthest = 0.0  # from its grid point, in grid steps
    with torch.no_grad():
        for p in parameters:
            scaled = p * scale
            rounded = scaled.round()
            farthest = max(farthest, float(scaled.sub_(rounded).abs_().max()))
            torch.div(rounded, scale, out=p)
    margin = (0.5 - farthest) / scale
    if all(p.dtype == torch.float64 for p in parameters):  # float32's last bits are too coarse for any grid
        margins.note_grid(margin)
    return margin
