"""Training and evaluation of language models, of which `models` says how they are called."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm  # type: ignore[import-untyped]

from d2lrnn import _checks
from d2lrnn._kernel import interactive
from d2lrnn._random import generator
from d2lrnn.batching import random_batches, sequential_batches
from d2lrnn.devices import move, where
from d2lrnn.history import History
from d2lrnn.models import Model, State, detached, mode, refuse_bidirectional
from d2lrnn.reproducible import round_to_grid
from d2lrnn.scoring import perplexity

if TYPE_CHECKING:
    from d2lrnn._checks import Tokens

BATCHES = {"sequential": sequential_batches, "random": random_batches}
OPTIMIZERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
SCHEDULES = {"linear": 1.0, "constant": 0.0}  # how much of the learning rate is gone at the end of a run


class NonFiniteError(ValueError):
    """A loss or a gradient is infinite or not a number.

    Attributes
    ----------
    history : History or None
        If it was `train` that stopped, the history of the epochs completed.
    """

    def __init__(self, message: str, history: History | None = None) -> None:
        super().__init__(message)
        self.history = history


def clip_gradients(parameters: Iterable[Tensor] | Iterable[tuple[str, Tensor]], theta: float) -> float:
    """Scale all gradients so that their norm is at most `theta`, and return what it was before.

    g becomes min(1, theta / ||g||) g, where g is all gradients as one vector and ||g|| its L2 norm: the
    direction stays. Parameters without a gradient are left out.

    Parameters
    ----------
    parameters : iterable of Tensor, or of (str, Tensor)
        As `model.parameters()` or `model.named_parameters()` gives them; gone through once.
    theta : float
        The largest norm, greater than 0; infinity only measures.

    Returns
    -------
    float
        The norm before clipping.

    Raises
    ------
    NonFiniteError
        If a gradient holds infinity or nan. The message names the parameter, by its name or position, and its
        shape. No gradient is changed.
    TypeError, ValueError
        If an argument is not as described.

    References
    ----------
    R. Pascanu, T. Mikolov and Y. Bengio, "On the difficulty of training recurrent neural networks", 2013.
    """
    bound = theta if theta == math.inf else _checks.real("theta", theta, above=0)
    gradients, norms = [], []
    for i, item in enumerate([parameters] if isinstance(parameters, Tensor) else parameters):
        name, p = item if isinstance(item, tuple) else (f"parameter {i}", item)
        if not isinstance(p, Tensor):
            raise TypeError(f"parameters must hold tensors, got {p!r} ({type(p).__name__})")
        if p.grad is None:
            continue
        norm = float(torch.linalg.vector_norm(p.grad))
        if not math.isfinite(norm):  # or did only its square not fit a float32?
            norm = float(torch.linalg.vector_norm(p.grad, dtype=torch.float64))
        if not math.isfinite(norm):
            raise NonFiniteError(f"the gradient of {name}, of shape {tuple(p.shape)}, has norm {norm}")
        gradients.append(p.grad)
        norms.append(norm)
    total = math.hypot(*norms)
    if total > bound:
        for gradient in gradients:
            gradient.mul_(bound / total)
    return total


def evaluate(model: Model, corpus: Tokens, num_steps: int = 35) -> float:
    """Return a model's perplexity on a text, each token but the first predicted from all those before it.

    The text is read from left to right by one row, the state carried along, so that the result depends
    neither on a batch size nor, but for rounding, on `num_steps`. All tokens have the same weight.

    Parameters
    ----------
    model : nn.Module or function
        A language model (see `models`). An nn.Module is set to evaluation and back, and reads the text on the
        device of its weights.
    corpus : sequence of int or Tensor of shape (T,)
        Token indices, at least two.
    num_steps : int
        Tokens that the model reads at once; more are faster, and take more memory.

    Returns
    -------
    float
        The perplexity of the T - 1 tokens.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the model is bidirectional.
    """
    refuse_bidirectional(model)
    size = _checks.integer("num_steps", num_steps, minimum=1)
    tokens = _checks.corpus("corpus", corpus, minimum=2, vocab_size=getattr(model, "vocab_size", None))
    inputs, labels = tokens[:-1].to(device=where(model)), tokens[1:].cpu()
    state: State | None = None
    total_nll = 0.0
    with mode(model, training=False), torch.no_grad():
        for i in range(0, len(labels), size):
            X, Y = inputs[i : i + size], labels[i : i + size]  # (steps,)
            logits, state = model(X[None], state)  # (1, steps, vocab)
            scores = logits[0].to("cpu", torch.float64)  # Apple's device has no float64
            total_nll += float(nn.functional.cross_entropy(scores, Y, reduction="sum"))
    return perplexity(total_nll, len(tokens) - 1)


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
    seed: int | None = 0,
    device: str | torch.device | None = None,
    progress: bool | None = None,
    after_epoch: Callable[[History], None] | None = None,
) -> History:
    """Train a language model to predict each next token, so that every machine gets the same weights.

    Parameters
    ----------
    model : nn.Module
        A language model (see `models`); it starts from the weights that it has.
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
        machines do not grow. None does not round, and is not reproducible elsewhere.
    seed : int or None
        Draws the batches, new ones each epoch. None draws from fresh entropy. Global random state is neither
        read nor written.
    device : str, torch.device or None
        Where to compute (see `pick_device`); the model moves there and stays. None computes where the model
        is, which is the CPU unless you moved it.
    progress : bool or None
        Whether to show a progress bar. None shows one where a person may be looking: in a notebook or a
        terminal, and not when a notebook is recorded or tested.
    after_epoch : function, optional
        Called after each epoch with the history so far.

    Returns
    -------
    History
        Perplexities, gradient norms, speed.

    Raises
    ------
    NonFiniteError
        If a loss or gradient is infinite or nan; its `history` holds the epochs completed.
    TypeError, ValueError
        If an argument is not as described, or the model is bidirectional.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be an nn.Module, got {model!r} ({type(model).__name__})")
    refuse_bidirectional(model)
    vocab_size = getattr(model, "vocab_size", None)
    tokens = _checks.corpus("corpus", corpus, minimum=0, vocab_size=vocab_size)
    if held_out is not None:
        held_out = _checks.corpus("held_out", held_out, minimum=2, vocab_size=vocab_size)
    read = BATCHES[_checks.one_of("sampling", sampling, BATCHES)]
    fall = SCHEDULES[_checks.one_of("schedule", schedule, SCHEDULES)]
    first_lr = _checks.real("lr", lr, above=0)
    place = where(model) if device is None else move(model, device)
    weights = [p for p in model.parameters() if p.requires_grad]
    optimize = OPTIMIZERS[_checks.one_of("optimizer", optimizer, OPTIMIZERS)](weights, lr=first_lr)
    epochs = _checks.integer("num_epochs", num_epochs, minimum=1)
    if grid is not None:
        _checks.integer("grid", grid, minimum=0)
    seeds = torch.randint(2**62, (epochs,), generator=generator(seed)).tolist()
    shown = interactive() or sys.stderr.isatty() if progress is None else progress
    history = History()
    with mode(model, training=True), tqdm(total=epochs, unit="epoch", disable=not shown) as bar:
        for epoch in range(epochs):
            pairs = read(tokens, batch_size, num_steps, seed=seeds[epoch])
            batches = [(X.to(device=place), Y.to(device=place)) for X, Y in pairs]
            rates = [first_lr * (1 - fall * (epoch + i / len(batches)) / epochs) for i in range(len(batches))]
            try:
                done = _one_pass(
                    model, batches, rates, optimize, carry=sampling == "sequential", theta=theta, grid=grid
                )
            except NonFiniteError as error:
                reason = f"training stopped in epoch {epoch + 1} of {epochs}: {error}; lr={lr}, theta={theta}"
                raise NonFiniteError(reason, history) from error
            if held_out is not None:
                done = replace(done, held_out_perplexity=(evaluate(model, held_out),))
            history += done
            bar.set_postfix_str(
                f"perplexity {done.perplexity[0]:.3g}, {done.tokens_per_second:,.0f} tokens/s"
            )
            bar.update()
            if after_epoch is not None:
                after_epoch(history)
    return history


def _one_pass(
    model: nn.Module,
    batches: list[tuple[Tensor, Tensor]],
    rates: list[float],
    optimizer: torch.optim.Optimizer,
    *,
    carry: bool,
    theta: float | None,
    grid: int | None,
) -> History:
    """Take one step for each batch, with the learning rate that goes with it."""
    start = time.perf_counter()
    state: State | None = None
    total_nll, largest_norm, margin = 0.0, 0.0, math.inf
    for i, ((X, Y), lr) in enumerate(zip(batches, rates, strict=True)):
        state = detached(state) if carry else None
        logits, state = model(X, state)  # (batch, steps, vocab)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), Y.flatten())
        value = loss.item()
        if not math.isfinite(value):
            raise NonFiniteError(f"the loss of batch {i + 1} is {value}")
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = clip_gradients(model.named_parameters(), math.inf if theta is None else theta)
        optimizer.param_groups[0]["lr"] = lr
        optimizer.step()
        if grid is not None:
            margin = min(margin, round_to_grid(optimizer.param_groups[0]["params"], grid))
        total_nll += value * Y.numel()
        largest_norm = max(largest_norm, norm)
    num_tokens = sum(Y.numel() for _, Y in batches)
    return History(
        perplexity=(perplexity(total_nll, num_tokens),),
        gradient_norm=(largest_norm,),
        margin=margin,
        num_tokens=num_tokens,
        seconds=time.perf_counter() - start,
    )
