"""Evaluation of a language model on a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from d2lrnn import _support
from d2lrnn.models.contract import (
    Model,
    State,
    call,
    first_call,
    refuse_bidirectional,
    refuse_nonfinite_logits,
    vocab_size,
)
from d2lrnn.modules import mode
from d2lrnn.text.scoring import perplexity
from d2lrnn.training.devices import where

if TYPE_CHECKING:
    from d2lrnn._support import Ids, Tokens

IGNORED = -100  # the label that PyTorch's cross-entropy leaves out


def evaluate(model: Model, corpus: Tokens, num_steps: int = 35, *, batch_size: int = 1) -> float:
    """Return a model's perplexity on a text, each token but the first predicted from all those before it.

    The text is read from left to right, the state carried along, so that the result does not depend, but for
    rounding, on `num_steps`. All tokens have the same weight. With more rows the text is cut into as many
    stretches, as equal as can be, which are read side by side, each from no state and each token but its
    first predicted: faster, and a little harder for the model, which has no past at a stretch's beginning.

    Parameters
    ----------
    model : nn.Module or function
        A language model: called with token indices, (batch, steps), and a state or None, it returns logits,
        (batch, steps, vocab), and a state. An nn.Module is set to evaluation and back, and reads the text on
        the device of its weights. Threads that evaluate one model need it in evaluation before they start:
        each puts back the mode that it found.
    corpus : sequence of int or Tensor of shape (T,)
        Token indices, at least two for each row.
    num_steps : int
        Tokens of a row that the model reads at once; more are faster, and take more memory.
    batch_size : int
        Rows, at least 1.

    Returns
    -------
    float
        The perplexity of the T - batch_size tokens predicted.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, if the model is bidirectional, or if what it returns is not of the
        kind, shape or dtype described or not finite. Where no shape tells whether its steps come first, the
        model reads parts of the first batch again.
    """
    refuse_bidirectional(model)
    size = _support.integer("num_steps", num_steps, minimum=1)
    rows = _support.integer("batch_size", batch_size, minimum=1)
    width = vocab_size(model)
    tokens = _support.token_ids("corpus", corpus, minimum=2, vocab_size=width)
    if len(tokens) < 2 * rows:
        raise ValueError(f"batch_size must leave two of {len(tokens)} tokens for each row, got {rows}")
    largest = int(tokens.max()) if width is None else width - 1
    place, total_nll = where(model), 0.0
    state: State | None = None
    with mode(model, training=False), torch.no_grad():
        for i, (X, Y) in enumerate(_side_by_side(tokens, rows, size)):
            X = X.to(device=place)
            if i == 0:
                logits, state = first_call(model, X, state, width, largest)
            else:
                logits, state = call(model, X, state, logits.shape[2])
                refuse_nonfinite_logits(logits)
            scores = logits.flatten(0, 1).to("cpu", torch.float64)  # Apple's device has no float64
            total_nll += float(
                nn.functional.cross_entropy(scores, Y.flatten(), reduction="sum", ignore_index=IGNORED)
            )
    return perplexity(total_nll, len(tokens) - rows)


def _side_by_side(tokens: Ids, rows: int, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield inputs and labels, (rows, steps), of stretches that differ by one token at most.

    The label after the end of a shorter one is `IGNORED`.
    """
    ends = np.arange(1, rows + 1)[:, None] * len(tokens) // rows  # (rows, 1)
    starts = np.vstack([[[0]], ends[:-1]])
    longest = int((ends - starts).max()) - 1
    for i in range(0, longest, size):
        here = starts + np.arange(i, min(i + size, longest))  # (rows, steps)
        labels = _taken(tokens, np.minimum(here + 1, ends - 1)).cpu()
        labels[torch.from_numpy(here + 1 == ends)] = IGNORED
        yield _taken(tokens, here), labels


def _taken(tokens: Ids, places: NDArray[np.int64]) -> Tensor:
    """Return the tokens at some places."""
    if isinstance(tokens, Tensor):
        return tokens[torch.from_numpy(places).to(tokens.device)]
    return torch.from_numpy(tokens[places].astype(np.int64))
