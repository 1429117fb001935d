"""What a language model is to the rest of the package, and the one check that a reader's own model is one.

A language model is called with token indices X, (batch, steps), and the state that an earlier call returned,
or None; it returns logits, (batch, steps, vocab), and its state: a tensor, a plain tuple of tensors, or None
from a model that carries none.
"""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from d2lrnn import _support
from d2lrnn.modules import NonFiniteError, mode

STEPS_FIRST = ": steps come first, as in nn.RNN without batch_first=True"

State: TypeAlias = Tensor | tuple[Tensor, ...]
Model: TypeAlias = Callable[[Tensor, State | None], tuple[Tensor, State | None]]  # an nn.Module is one


def vocab_size(model: object) -> int | None:
    """Return how many tokens a model says that it knows, None where it says nothing."""
    size = getattr(model, "vocab_size", None)
    return int(size) if isinstance(size, Integral) else None


def call(model: Model, X: Tensor, state: State | None, width: int | None) -> tuple[Tensor, State | None]:
    """Call a model and return its logits and state, or raise unless their kinds and shapes are as above.

    `width` is how many logits there must be for each token, None for any number.
    """
    answer = model(X, state)
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise TypeError(f"model must return logits and a state, got {_kind(answer)}")
    logits, state = answer
    if not isinstance(logits, Tensor) or not logits.is_floating_point() or logits.layout != torch.strided:
        raise TypeError(f"model must return logits as a dense tensor of floats, got {_kind(logits)}")
    if not (type(state) is tuple and all(isinstance(part, Tensor) for part in state)) and not (
        state is None or isinstance(state, Tensor)
    ):
        raise TypeError(
            f"model must return a state that is a tensor, a plain tuple of them or None, got {_kind(state)}"
        )
    got = tuple(logits.shape)
    if len(got) != 3 or got[:2] != X.shape or width not in (None, got[2]):
        shown = ", ".join(map(str, (*X.shape, "vocab" if width is None else width)))
        swapped = got[:2] != X.shape and got[:2] == X.shape[::-1]
        raise ValueError(
            f"model must return logits of shape ({shown}), (batch, steps, vocab), got {got}"
            + (STEPS_FIRST if swapped else "")
        )
    return logits, state


def first_call(
    model: Model, X: Tensor, state: State | None, width: int | None, largest: int = 0
) -> tuple[Tensor, State | None]:
    """Do what `call` does; raise also if a logit is not finite, or if the model takes rows for steps.

    `largest` is the highest token index, which must have a logit.
    """
    logits, after = call(model, X, state, width)
    if logits.shape[2] <= largest:
        raise ValueError(
            f"model must return a logit for each token, of which {largest} is the highest, got "
            f"{logits.shape[2]} logits"
        )
    refuse_nonfinite_logits(logits)
    rows, steps = X.shape
    if rows * steps > 1:
        with _random_state_kept(X.device), torch.no_grad():
            if rows == steps or _with_axis(steps, after):
                with mode(model, training=False):
                    _refuse_steps_first(model, X, width, after)
            if rows > 1 and isinstance(model, nn.Module):
                _refuse_mixed_rows(model, X[:2])
    return logits, after


def refuse_nonfinite_logits(logits: Tensor) -> None:
    """Raise NonFiniteError unless all logits are finite."""
    finite = torch.isfinite(logits)
    if not finite.all():
        raise NonFiniteError(f"model must return finite logits, got {logits[~finite][0].item()}")


def _refuse_steps_first(model: Model, X: Tensor, width: int | None, state: State | None) -> None:
    """Raise if a model takes rows for steps, though its logits and `state` have shapes that could be right.

    It reads the batch again without its first row (a single row twice). Logits with steps first have another
    shape then. A state of the network's steps, not rows, has the same, and another with a step more.
    """
    rows, steps = X.shape
    _, other = call(model, X[1:] if rows > 1 else X.repeat(2, 1), None, width)
    if unmoved := [i for i, part in _with_axis(steps, state) if part.shape == _parts(other)[i].shape]:
        longer = _parts(call(model, torch.cat([X, X[:, :1]], 1), None, width)[1])
        for i in unmoved:
            if longer[i].shape != (shape := _parts(state)[i].shape):
                raise ValueError(
                    f"model's state must have an axis of the batch's {rows} rows, got shape {tuple(shape)}, "
                    f"with one of its {steps} steps{STEPS_FIRST}"
                )


def _refuse_mixed_rows(model: nn.Module, X: Tensor) -> None:
    """Raise if logits of a row depend on the row before it, as after a reshape in the place of a transpose.

    A copy of the model reads, without its hooks, so that nothing that the model keeps or counts changes.
    Nothing can be said of a model that cannot be copied, that reads no fewer rows than its batch has, or that
    draws random numbers in evaluation, too.
    """
    try:
        reader = copy.deepcopy(original(model)).eval()
        for part in reader.modules():
            part._forward_hooks.clear()
            part._forward_pre_hooks.clear()
        once, again, alone = (reader(rows, None)[0] for rows in (X, X, X[1:]))
    except Exception:  # whatever a reader's own code raises
        return
    if alone.shape != once[1:].shape:
        return
    if _apart(once[1:], alone) and not _apart(once, again):
        raise ValueError(f"model's rows must not depend on one another, but they do{STEPS_FIRST}")


def original(model: nn.Module) -> nn.Module:
    """Return the model that `torch.compile` wrapped, or the model itself."""
    found: nn.Module = getattr(model, "_orig_mod", model)
    return found


def _parts(state: State | None) -> tuple[Tensor, ...]:
    """Return the tensors of a state."""
    return state if isinstance(state, tuple) else () if state is None else (state,)


def _with_axis(size: int, state: State | None) -> list[tuple[int, Tensor]]:
    """Return the parts of a state, numbered, that have an axis of that size before the last, the features."""
    return [(i, part) for i, part in enumerate(_parts(state)) if size in part.shape[:-1]]


def _apart(a: Tensor, b: Tensor) -> bool:
    """Tell whether logits differ by more than rounding can make them, also on a GPU with short products."""
    bound = max(1e-2, 16 * torch.finfo(a.dtype).eps) * float(a.abs().max())
    return bool((a - b).abs().max() > bound)


def detached(state: State | None) -> State | None:
    """Return the values of a state without the graph that computed them."""
    return _each(torch.Tensor.detach, state)


def moved(state: State | None, place: torch.device | None) -> State | None:
    """Return a state on another device."""
    return _each(lambda part: part.to(device=place), state)


def _each(change: Callable[[Tensor], Tensor], state: State | None) -> State | None:
    """Return a state with each of its tensors changed."""
    if isinstance(state, tuple):
        return tuple(map(change, state))
    return None if state is None else change(state)


def refuse_bidirectional(model: object) -> None:
    """Raise unless a model can be called and reads from left to right only."""
    if not callable(model):
        raise TypeError(f"model must be an nn.Module or a function, got {model!r} ({type(model).__name__})")
    parts = model.modules() if isinstance(model, nn.Module) else (model,)
    if any(getattr(part, "bidirectional", False) for part in parts):
        raise ValueError(
            "model must read from left to right, but is bidirectional: what it says of the next token comes "
            "from a state that has seen that token and all after it"
        )


@contextlib.contextmanager
def _random_state_kept(device: torch.device) -> Iterator[None]:
    """Put global random state of PyTorch, NumPy and Python back at the end of the block."""
    of_numpy, of_python = np.random.get_state(), random.getstate()  # noqa: NPY002  # whatever a model draws from
    try:
        with torch.random.fork_rng([device.index] if device.type == "cuda" else []):
            yield
    finally:
        np.random.set_state(of_numpy)  # noqa: NPY002
        random.setstate(of_python)


def _kind(value: object) -> str:
    """Say what a value is: a tensor by its dtype and shape, a collection by what it holds."""
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype}, shape {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(type(part).__name__ for part in value[:4]) + (", ..." if len(value) > 4 else "")
        return f"a {type(value).__name__} of {len(value)}: {inside}"
    return _support.shown(value)
