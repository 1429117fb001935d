"""What models take and hold, checked: token indices, states, types of number, and weights that fit memory."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from d2lrnn import _support
from d2lrnn.modules import FLOATS
from d2lrnn.reproducible import uniform


def float_type(dtype: object) -> torch.dtype:
    """Return a type of number that weights can have, or raise."""
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"dtype must be a torch.dtype, got {dtype!r} ({type(dtype).__name__})")
    if dtype not in FLOATS:
        raise ValueError(f"dtype must be one of {', '.join(map(str, FLOATS))}; got {dtype}")
    return dtype


def fits_memory(count: int, dtype: torch.dtype, **sizes: int | None) -> None:
    """Raise unless there is room for so many weights; `sizes` are the arguments that make them so many."""
    try:
        torch.empty(min(count, 2**59), dtype=dtype, device="cpu")  # 2**59 are too many anywhere
    except RuntimeError:
        given = ", ".join(f"{name}={_support.short(size)}" for name, size in sizes.items())
        raise ValueError(
            f"weights must fit in memory, got {given}: {_support.short(count)} of {dtype} or more"
        ) from None


def default_sigma(num_hiddens: int, sigma: float | None = None) -> float:
    """Return `sigma`, or for None what PyTorch has for so many hidden units."""
    size = _support.integer("num_hiddens", num_hiddens, minimum=1)
    return 1 / math.sqrt(3 * size) if sigma is None else _support.real("sigma", sigma, minimum=0)


def weight(rows: int, columns: int, sigma: float, dtype: torch.dtype, rng: torch.Generator) -> nn.Parameter:
    """Return a matrix of random weights."""
    return nn.Parameter(uniform(rows, columns, sigma=sigma, dtype=dtype, generator=rng))


def bias(size: int, dtype: torch.dtype) -> nn.Parameter:
    """Return a vector of zeros, on the CPU whatever PyTorch's default device is."""
    return nn.Parameter(torch.zeros(size, dtype=dtype, device="cpu"))


def initial_state(state: Tensor | None, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Return a state in the dtype of `like`, zeros for None, or raise unless it has the shape and device."""
    if state is None:
        return like.new_zeros(shape)
    state = _real("state", state, " or None")
    if state.shape != shape:
        raise ValueError(f"state must have shape {shape}, got {tuple(state.shape)}")
    return beside("state", state, like).to(like.dtype)


def sequence(inputs: Tensor, num_inputs: int, like: Tensor) -> Tensor:
    """Return vectors, (steps, batch, inputs), in the dtype of `like`, or raise unless they are such."""
    inputs = _real("inputs", inputs)
    if inputs.ndim != 3 or not inputs.numel() or inputs.shape[2] != num_inputs:
        raise ValueError(
            f"inputs must be (steps, batch, {num_inputs}), at least 1 of each, got {tuple(inputs.shape)}"
        )
    return beside("inputs", inputs, like).to(like.dtype)


def token_batch(name: str, X: Tensor) -> Tensor:
    """Return token indices as int64, or raise unless they are integers, (batch, steps), at least one."""
    X = _real(name, X)
    if X.is_floating_point() or X.dtype == torch.bool:
        raise TypeError(f"{name} must hold integers, got a tensor of {X.dtype}")
    if X.ndim != 2 or not X.numel():
        raise ValueError(f"{name} must be (batch, steps), at least 1 of each, got shape {tuple(X.shape)}")
    return X.to(torch.int64)


def in_range(name: str, indices: Tensor, size: int) -> Tensor:
    """Return indices, or raise unless all are in 0..size-1.

    A GPU waits for this once. A meta tensor has no numbers to look at, nor has one that is compiled: there it
    is PyTorch's own look-up that refuses what is out of range.
    """
    if not (indices.is_meta or torch.compiler.is_compiling()):
        low, high = torch.stack(indices.aminmax()).tolist()
        _support.index(name, low if low < 0 else high, size)
    return indices


def beside(name: str, values: Tensor, weights: Tensor) -> Tensor:
    """Return a tensor, or raise unless it is on the device of a model's weights."""
    if values.device != weights.device:
        raise ValueError(f"{name} must be on the model's device, {weights.device}, got {values.device}")
    return values


def look_up(table: Tensor, indices: Tensor) -> Tensor:
    """Return the rows of a table, (n, width), at the indices: (...) to (..., width)."""
    beside("X", indices, table)
    if indices.device.type != "cpu":  # a GPU that met a wrong index would compute no more
        in_range("X", indices, len(table))
    try:
        return nn.functional.embedding(indices, table)
    except IndexError:
        in_range("X", indices, len(table))
        raise


def known_tokens(X: Tensor, size: int, like: Tensor) -> Tensor:
    """Return token indices X as int64, or raise unless a model of `size` tokens has them where `like` is."""
    return in_range("X", beside("X", token_batch("X", X), like), size)


def _real(name: str, values: object, otherwise: str = "") -> Tensor:
    """Return a tensor, or raise unless it is one, dense, and not complex."""
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} must be a tensor{otherwise}, got {_support.shown(values)}")
    if values.is_nested or values.layout != torch.strided:
        kind = "a nested one" if values.is_nested else f"one of layout {values.layout}"
        raise TypeError(f"{name} must be a dense tensor, got {kind}")
    if values.is_complex():
        raise TypeError(f"{name} must hold real numbers, got a tensor of {values.dtype}")
    return values
