"""Where a model computes: on the CPU, unless you name another device."""

from __future__ import annotations

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
    except (AssertionError, NotImplementedError, RuntimeError) as error:  # as PyTorch was built
        raise ValueError(f"device must be one that is here, got {str(name)!r}: {error}") from error
    return device


def where(model: object) -> torch.device | None:
    """Return the device of a model's weights, None for a model without any."""
    weights = model.parameters() if isinstance(model, nn.Module) else iter(())
    return next((p.device for p in weights), None)


def move(model: nn.Module, name: str | torch.device) -> torch.device:
    """Move a model to a device, and return the device.

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
    device = pick_device(name)
    model.to(device)
    return device
