"""What a model is to PyTorch: parameters, which are finite or an error says not, and a mode."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from d2lrnn import _support

Parameters: TypeAlias = "Tensor | Iterable[Tensor] | Iterable[tuple[str, Tensor]]"
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class NonFiniteError(ValueError):
    """A loss, a gradient or a weight is infinite or not a number.

    Attributes
    ----------
    history : History or None
        If it was `train` that stopped, the history of the epochs completed.
    """

    def __init__(self, message: str, history: Any = None) -> None:
        super().__init__(message)
        self.history = history


def named(parameters: Parameters) -> list[tuple[str, Tensor]]:
    """Return each tensor once, with its name or position, or raise TypeError unless all are dense floats."""
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    if isinstance(given, (str, bytes, dict)) or not isinstance(given, Iterable):
        raise TypeError(
            "parameters must be tensors, or pairs of a name and a tensor, such as model.parameters(); got "
            f"{_support.shown(parameters)}"
        )
    found: dict[int, tuple[str, Tensor]] = {}
    for i, item in enumerate(given):
        name, p = item if isinstance(item, tuple) and len(item) == 2 else (f"parameter {i}", item)
        if not isinstance(p, Tensor):
            raise TypeError(f"parameters must hold tensors, got {_support.shown(p)}")
        if p.dtype not in FLOATS:
            raise TypeError(f"parameters must hold floats of 16 to 64 bits, but {name} is of {p.dtype}")
        _support.dense(f"{name} in parameters", p)
        found.setdefault(id(p), (str(name), p))
    return list(found.values())


def refuse_nonfinite(weights: Iterable[tuple[str, Tensor]]) -> None:
    """Raise NonFiniteError unless all numbers are finite."""
    for name, p in weights:
        finite = torch.isfinite(p)
        if not finite.all():
            raise NonFiniteError(f"{name}, of shape {tuple(p.shape)}, holds {p[~finite][0].item()}")


@contextlib.contextmanager
def mode(model: object, *, training: bool) -> Iterator[None]:
    """Set a model and its parts to training or evaluation within the block, then each back to what it was."""
    parts = list(model.modules()) if isinstance(model, nn.Module) else []
    before = [part.training for part in parts]
    if isinstance(model, nn.Module):
        model.train(training)
    try:
        yield
    finally:
        for part, was in zip(parts, before, strict=True):
            part.training = was
