"""Training of language models, of which `d2lrnn.models.contract` says how they are called."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from tqdm.auto import tqdm  # type: ignore[import-untyped]

from d2lrnn import _support, files
from d2lrnn._kernel import interactive
from d2lrnn._support import room_for
from d2lrnn.models.contract import (
    call,
    detached,
    first_call,
    original,
    refuse_bidirectional,
    vocab_size,
)
from d2lrnn.modules import NonFiniteError, mode, refuse_nonfinite
from d2lrnn.reproducible import Seed, check_grid, generator, randint, round_to_grid
from d2lrnn.text.batching import Batches, random_batches, sequential_batches
from d2lrnn.text.scoring import perplexity
from d2lrnn.training import checkpoints
from d2lrnn.training.checkpoints import Plan, Progress
from d2lrnn.training.clipping import clip_gradients, largest_norm
from d2lrnn.training.devices import destination, where
from d2lrnn.training.evaluate import evaluate
from d2lrnn.training.history import History

if TYPE_CHECKING:
    from d2lrnn._support import Tokens

BATCHES = {"sequential": sequential_batches, "random": random_batches}
OPTIMIZERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
SCHEDULES = {"linear": 1.0, "constant": 0.0}  # how much of the learning rate is gone at the end of a run


def train(
    model: nn.Module,
    corpus: Tokens,
    *,
    batch_size: int = 32,
    num_steps: int = 35,
    num_epochs: int,
    lr: float,
    theta: float | None = 1.0,
    sampling: str = "sequential",
    held_out: Tokens | None = None,
    optimizer: str = "adam",
    schedule: str = "linear",
    grid: int | None = 5,
    seed: Seed = None,
    device: str | torch.device | None = None,
    progress: bool | None = None,
    after_epoch: Callable[[History], object] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> History:
    """Train a language model to predict each next token, so that every machine gets the same weights.

    Parameters
    ----------
    model : nn.Module
        A language model: called with token indices, (batch, steps), and a state or None, it returns logits,
        (batch, steps, vocab), and a state: a tensor, a tuple of tensors or None. It starts from the weights
        that it has; those that need no gradient stay as they are.
    corpus : sequence of int or Tensor of shape (T,)
        Token indices, at least batch_size * num_steps + 1.
    batch_size, num_steps : int
        Rows of a batch, and tokens in each.
    num_epochs : int
        Passes over the corpus.
    lr : float
        Learning rate at the beginning.
    theta : float or None
        Largest gradient norm; larger gradients are clipped (`clip_gradients`). None does not clip.
    sampling : str
        "sequential" carries the values of the state from batch to batch, not its gradients;
        "random" starts each batch from no state. See `sequential_batches` and `random_batches`.
    held_out : sequence of int or Tensor of shape (n,), optional
        Text to evaluate after every epoch, at least two tokens.
    optimizer : str
        "adam" or "sgd".
    schedule : str
        "linear" lets the learning rate fall to 0 in a straight line, "constant" keeps it.
    grid : int or None
        Decimals to round the weights to after each step (`round_to_grid`), so that small differences between
        machines do not grow. None does not round, and is not reproducible elsewhere. Weights of float16 and
        bfloat16 need None: they are coarser than a grid.
    seed : int, torch.Generator or None
        Draws the batches, new ones each epoch. None draws from PyTorch's global generator.
    device : str, torch.device or None
        Where to compute (see `pick_device`); the model moves there and stays. None computes where the model
        is, which is the CPU unless you moved it.
    progress : bool or None
        Whether to show a progress bar. None shows one where a person may be looking: in a notebook or a
        terminal, and not when a notebook is recorded or tested.
    after_epoch : function, optional
        Called after each epoch with the history so far. If it returns False, the run ends.
    checkpoint : path, optional
        Where to save, after each epoch, all that it takes to go on. The file is always whole: it is replaced
        by the next one at once.
    checkpoint_every : int, optional
        Save after so many steps, too.
    resume : path, optional
        A checkpoint to go on from, to the same bits as if the run had not been interrupted: with its weights,
        optimizer, batches and carried state, and PyTorch's global random state, which dropout draws from. It
        must be of the same corpus and arguments, and of weights of the same names, shapes and dtypes; what
        else the model does is not compared, and `held_out` may be another text.

    Returns
    -------
    History
        Perplexities, gradient norms, speed; of a resumed run, from its beginning.

    Raises
    ------
    NonFiniteError
        If a logit of the first batch, a loss, a gradient or a weight after a step is infinite or nan; its
        `history` holds the epochs completed.
    KeyboardInterrupt
        If you stop the run. Its `history` holds the epochs completed, and the model stays as it is then.
    FileNotFoundError, IsADirectoryError
        If there is no folder for `checkpoint`, or no file `resume`.
    TypeError, ValueError
        If an argument is not as described, or the model is bidirectional: before the model moves. If what the
        model returns for the first batch is not of the kind, shape or dtype described, or a row's logits
        depend on another row: before the first step.
        Where no shape tells whether its steps come first, the model reads parts of that batch again, in
        evaluation.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be an nn.Module, got {model!r} ({type(model).__name__})")
    refuse_bidirectional(model)
    width = vocab_size(model)
    tokens = _support.token_ids("corpus", corpus, minimum=0, vocab_size=width)
    if held_out is not None:
        held_out = _support.token_ids("held_out", held_out, minimum=2, vocab_size=width)
    weights = _trained(original(model))
    if grid is not None:
        check_grid("grid", grid, weights)
    target, every = _checkpoints_wanted(checkpoint, checkpoint_every)
    plan = Plan(
        batch_size=_support.integer("batch_size", batch_size, minimum=1),
        num_steps=_support.integer("num_steps", num_steps, minimum=1),
        num_epochs=_support.integer("num_epochs", num_epochs, minimum=1),
        lr=_support.real("lr", lr, above=0, below=_too_fast(weights, optimizer)),
        theta=math.inf if theta is None else largest_norm(theta),
        sampling=_support.one_of("sampling", sampling, BATCHES),
        optimizer=_support.one_of("optimizer", optimizer, OPTIMIZERS),
        schedule=_support.one_of("schedule", schedule, SCHEDULES),
        grid=None if grid is None else int(grid),
        corpus="" if target is resume is None else checkpoints.digest(tokens),
        parameters=checkpoints.described(model),
        trained=[name for name, _ in weights],
    )
    if after_epoch is not None and not callable(after_epoch):
        raise TypeError(f"after_epoch must be a function, got {after_epoch!r} ({type(after_epoch).__name__})")
    if not isinstance(progress, (bool, np.bool_, type(None))):
        raise TypeError(f"progress must be True, False or None, got {progress!r}")
    read = BATCHES[plan.sampling]
    read(tokens, plan.batch_size, plan.num_steps, seed=0)  # raises unless there is a batch
    rng = generator(seed)
    place = where(model) if device is None else destination(model, device)
    saved = None if resume is None else checkpoints.load(files.path_of("resume", resume), plan)
    room_for("num_epochs", plan.num_epochs)
    seeds = [] if saved and seed is None else randint(2**62, plan.num_epochs, rng).tolist()
    if saved and seeds not in ([], saved["progress"]["seeds"]):
        raise ValueError(f"seed must be None or that of the run to resume, got {seed!r}")
    with torch.inference_mode(False):  # a user's: what is moved or loaded in it could not be trained
        if device is not None:
            model.to(place)
            weights = _trained(original(model))  # PyTorch may make others
        optimize = OPTIMIZERS[plan.optimizer]([p for _, p in weights], lr=plan.lr)
        done = checkpoints.restore(saved, model, optimize) if saved else Progress(seeds)
    largest = max(int(text.max()) for text in (tokens, held_out) if text is not None)
    run = _Run(model, weights, optimize, plan, done, place, width, largest, target, every)
    shown = interactive() or _in_terminal() if progress is None else bool(progress)
    with tqdm(total=plan.num_epochs, initial=run.epoch, unit="epoch", disable=not shown) as bar:
        try:
            while run.epoch < plan.num_epochs:
                batches = read(tokens, plan.batch_size, plan.num_steps, seed=run.progress.seeds[run.epoch])
                try:
                    last = run.one_pass(batches)
                    if held_out is not None:
                        last = replace(last, held_out_perplexity=(evaluate(model, held_out),))
                except NonFiniteError as error:
                    reached = f"training stopped in epoch {run.epoch + 1} of {plan.num_epochs}"
                    reason = f"{reached}: {error}; lr={lr}, theta={theta}"
                    raise NonFiniteError(reason, run.progress.history) from error
                run.progress = Progress(run.progress.seeds, run.progress.history + last)
                run.save()
                speed = f"{last.tokens_per_second:,.0f} tokens/s"
                bar.set_postfix_str(f"perplexity {last.perplexity[0]:.3g}, {speed}")
                bar.update()
                answer = None if after_epoch is None else after_epoch(run.progress.history)
                if isinstance(answer, (bool, np.bool_)) and not answer:
                    break
        except KeyboardInterrupt as stop:
            stop.history = run.progress.history  # type: ignore[attr-defined]
            raise
    return run.progress.history


@dataclass
class _Run:
    """A run of `train`: what it does, to what, and how far it is."""

    model: nn.Module
    weights: list[tuple[str, Tensor]]
    optimizer: torch.optim.Optimizer
    plan: Plan
    progress: Progress
    place: torch.device | None
    width: int | None  # tokens that the model knows
    largest: int  # token index
    target: Path | None  # of the checkpoint
    every: int | None
    checked: bool = False  # whether the model is one

    @property
    def epoch(self) -> int:
        """How many passes are completed."""
        return len(self.progress.history.perplexity)

    def save(self) -> None:
        """Save a checkpoint, if one is wanted."""
        if self.target is not None:
            checkpoints.save(self.target, self.plan, self.progress, self.model, self.optimizer)

    def one_pass(self, batches: Batches) -> History:
        """Take the steps of a pass that are not taken yet, and return what the whole pass did."""
        done = self.progress
        start = time.perf_counter()
        # A user's inference mode or no_grad would leave nothing to learn from.
        with mode(self.model, training=True), torch.inference_mode(False), torch.enable_grad():
            for i, (X, Y) in enumerate(batches):
                if i < done.steps:
                    continue
                self._step(X.to(device=self.place), Y.to(device=self.place), i / len(batches))
                if self.every is not None and done.steps % self.every == 0:
                    done.seconds += time.perf_counter() - start
                    self.save()
                    start = time.perf_counter()
        done.seconds += time.perf_counter() - start
        refuse_nonfinite(self.weights)
        return History(
            perplexity=(perplexity(done.nll, done.num_tokens),),
            gradient_norm=(done.largest_norm,),
            margin=done.margin,
            num_tokens=done.num_tokens,
            seconds=done.seconds,
        )

    def _step(self, X: Tensor, Y: Tensor, share: float) -> None:
        """Learn from one batch, of which so large a share of the pass comes before."""
        plan, done = self.plan, self.progress
        if self.checked:
            logits, state = call(self.model, X, done.state, self.width)
        else:
            logits, state = first_call(self.model, X, done.state, self.width, self.largest)
            self.checked = True
        wide = torch.promote_types(logits.dtype, torch.float32)  # half precision cannot sum a batch's losses
        loss = nn.functional.cross_entropy(logits.flatten(0, 1).to(wide), Y.flatten())
        value = loss.item()
        if not math.isfinite(value):
            raise NonFiniteError(f"the loss of batch {done.steps + 1} is {value}")
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = clip_gradients(self.weights, plan.theta)
        fall = SCHEDULES[plan.schedule]
        self.optimizer.param_groups[0]["lr"] = plan.lr * (1 - fall * (self.epoch + share) / plan.num_epochs)
        self.optimizer.step()
        if plan.grid is not None:
            done.margin = min(done.margin, round_to_grid(self.weights, plan.grid))
        done.state = detached(state) if plan.sampling == "sequential" else None
        done.steps += 1
        done.nll += value * Y.numel()
        done.num_tokens += Y.numel()
        done.largest_norm = max(done.largest_norm, norm)


def _too_fast(weights: list[tuple[str, Tensor]], optimizer: str) -> float:
    """Return a learning rate that the weights' type cannot hold; Adam's first step has ten times the rate."""
    return min(torch.finfo(p.dtype).max for _, p in weights) / (10 if optimizer == "adam" else 1)


def _trained(model: nn.Module) -> list[tuple[str, Tensor]]:
    """Return the parameters that are trained, with their names, or raise unless there is one."""
    weights: list[tuple[str, Tensor]] = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    if not weights:
        raise ValueError("model must have a parameter to train, but none of them requires a gradient")
    for name, p in weights:
        if p.is_inference():
            raise ValueError(
                f"model must not be made in inference mode, but {name} was: no step can change it"
            )
    return weights


def _in_terminal() -> bool:
    """Tell whether what is written to stderr is seen; a program without a window's console has none."""
    return bool(getattr(sys.stderr, "isatty", lambda: False)())


def _checkpoints_wanted(checkpoint: object, every: object) -> tuple[Path | None, int | None]:
    """Return where to save checkpoints, and after how many steps besides."""
    if every is not None and checkpoint is None:
        raise ValueError(f"checkpoint_every needs a path to save to as checkpoint, got {every!r} and None")
    return (
        None if checkpoint is None else files.writable("checkpoint", checkpoint),
        None if every is None else _support.integer("checkpoint_every", every, minimum=1),
    )
