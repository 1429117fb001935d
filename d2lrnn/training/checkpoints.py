"""Checkpoints of a training run: all that it takes to go on to the same bits."""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from d2lrnn import files
from d2lrnn.models.contract import State, moved, original
from d2lrnn.training.devices import where
from d2lrnn.training.history import History

if TYPE_CHECKING:
    from d2lrnn._support import Ids

FORMAT = 1
KEYS = {
    "d2lrnn checkpoint",
    "plan",
    "progress",
    "model",
    "optimizer",
    "random state",
    "random states of devices",
}
BLOCK = 1 << 20  # tokens that are hashed at a time


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run does: with another plan, a checkpoint's numbers would mean something else.

    Attributes
    ----------
    batch_size, num_steps, num_epochs, lr, theta, sampling, optimizer, schedule, grid
        The arguments of `train`.
    corpus : str
        A hash of the tokens.
    parameters : dict of str to str
        The dtype and shape of each parameter and buffer by name.
    trained : list of str
        The names of those that are trained.
    """

    batch_size: int
    num_steps: int
    num_epochs: int
    lr: float
    theta: float
    sampling: str
    optimizer: str
    schedule: str
    grid: int | None
    corpus: str
    parameters: dict[str, str]
    trained: list[str]


@dataclasses.dataclass
class Progress:
    """How far a run is: the passes before, and in the present one the steps taken and what they came to.

    Attributes
    ----------
    seeds : list of int
        What draws each pass's batches.
    history : History
        The passes completed.
    steps : int
        Steps taken in the present pass; the rest is about these.
    state : State or None
        The model's state.
    nll, num_tokens : float, int
        Sum of the negative log-likelihoods, and of how many tokens.
    largest_norm, margin, seconds : float
        As in `History`.
    """

    seeds: list[int]
    history: History = dataclasses.field(default_factory=History)
    steps: int = 0
    state: State | None = None
    nll: float = 0.0
    num_tokens: int = 0
    largest_norm: float = 0.0
    margin: float = float("inf")
    seconds: float = 0.0


def described(model: nn.Module) -> dict[str, str]:
    """Return the dtype and shape of each parameter and buffer by name."""
    state = original(model).state_dict()
    return {
        name: f"{value.dtype} {tuple(value.shape)}"
        for name, value in state.items()
        if isinstance(value, Tensor)
    }


def digest(tokens: Ids) -> str:
    """Return a hash of a corpus, the same for whatever type of integers it is kept in."""
    found = hashlib.sha256()
    for start in range(0, len(tokens), BLOCK):
        block = tokens[start : start + BLOCK]
        found.update(np.array(block.cpu() if isinstance(block, Tensor) else block, np.int64).tobytes())
    return found.hexdigest()


def save(
    target: Path, plan: Plan, progress: Progress, model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Write a checkpoint, whole or not at all."""
    content = {
        "d2lrnn checkpoint": FORMAT,
        "plan": dataclasses.asdict(plan),
        "progress": {**vars(progress), "history": dataclasses.asdict(progress.history)},
        "model": original(model).state_dict(),
        "optimizer": optimizer.state_dict(),
        "random state": torch.get_rng_state(),
        "random states of devices": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }
    with files.replacing(target) as file:
        torch.save(content, file)


def load(source: Path, plan: Plan) -> dict[str, Any]:
    """Return the content of a checkpoint, or raise ValueError unless it is one of a run with this plan."""
    if not source.is_file():
        raise FileNotFoundError(f"resume must be a checkpoint of train, but there is no {str(source)!r}")
    refusal = f"resume must be a checkpoint of this version of train, {str(source)!r} is none"
    try:
        with zipfile.ZipFile(source) as archive:  # whose checksums torch.load does not look at
            if (damaged := archive.testzip()) is not None:
                raise ValueError(f"{refusal}: its {damaged} is damaged")
        with torch.inference_mode(False):
            content = torch.load(source, map_location="cpu", weights_only=True)
    except (zipfile.BadZipFile, pickle.UnpicklingError, OSError, RuntimeError, EOFError, KeyError) as error:
        raise ValueError(refusal) from error
    if not isinstance(content, dict) or content.get("d2lrnn checkpoint") != FORMAT or content.keys() != KEYS:
        raise ValueError(refusal)
    saved = content["plan"]
    for key, now in dataclasses.asdict(plan).items():
        if saved[key] != now:
            raise ValueError(f"resume={str(source)!r}: {_difference(key, saved[key], now)}")
    return content


def restore(content: dict[str, Any], model: nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
    """Set weights, optimizer and random state to those of a checkpoint, and return how far its run was."""
    original(model).load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    torch.set_rng_state(content["random state"])
    if torch.cuda.is_available() and len(content["random states of devices"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(content["random states of devices"])
    saved = content["progress"]
    state = moved(saved["state"], where(model))
    return Progress(**{**saved, "history": History(**saved["history"]), "state": state})


def _difference(key: str, saved: object, now: object) -> str:
    """Say what differs: of what goes by name, the first that does."""
    if isinstance(saved, dict) and isinstance(now, dict):
        name = next(name for name in {**saved, **now} if saved.get(name) != now.get(name))
        before, after = (values.get(name, "not there") for values in (saved, now))
        return f"the model's {name} was {before}, now it is {after}"
    if key == "corpus":
        return "corpus is not the one that the run began with"
    return f"{key} was {saved!r}, now it is {now!r}"
