"""Where a model computes: on the CPU, unless you name another device."""

from __future__ import annotations

from itertools import chain

import torch
from torch import nn


def pick_device(name: str | torch.device = "cpu") -> torch.device:
    """Return a device that is there.

    Parameters
    ----------
    name : str or torch.device
        "cpu"; "cuda", or "cuda:1" for a second one; "mps", Apple's, which has no float64; or "auto", a CUDA
        device where there is one, else the CPU. "auto" never is Apple's: the course computes in float64.

    Raises
    ------
    TypeError, ValueError
        If `name` is not as described, or there is no such device here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not isinstance(name, (str, torch.device)):
        raise TypeError(f"device must be a str or a torch.device, got {name!r} ({type(name).__name__})")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (AssertionError, ImportError, NotImplementedError, RuntimeError) as error:  # as it was built
        reason = str(error).splitlines()[0].partition(". ")[0]  # the rest is of how PyTorch was built
        raise ValueError(f"device must be one that is here, got {str(name)!r}: {reason}") from error
    return device


def where(model: object) -> torch.device | None:
    """Return the device of a model's first weight, or first buffer; None for a model without any."""
    if not isinstance(model, nn.Module):
        return None
    return next((values.device for values in chain(model.parameters(), model.buffers())), None)


def destination(model: nn.Module, name: str | torch.device) -> torch.device:
    """Return a device that is there and that a model can move to.

    Raises
    ------
    TypeError, ValueError
        As `pick_device`; and if the device is Apple's and a weight of the model is of float64.
    """
    wanted = str(name).partition(":")[0]
    if wanted == "mps" and any(p.dtype == torch.float64 for p in model.parameters()):
        raise ValueError(
            f"device={str(name)!r} has no float64, of which model's weights are: make the model with "
            "dtype=torch.float32"
        )
    return pick_device(name)
