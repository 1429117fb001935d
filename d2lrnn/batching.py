"""Read one long sequence of tokens as batches of windows, and hold out the end of it.

A model that reads `num_steps` tokens predicts each one's successor, so a window of inputs has labels that
are the same window moved on by one token. Everything here hands out views or gathers of one int64 tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from d2lrnn import _checks
from d2lrnn._random import generator

if TYPE_CHECKING:
    from d2lrnn._checks import Tokens

Slices = TypeVar("Slices", list[int], Tensor, NDArray[np.int64])


def random_batches(
    corpus: Tokens, batch_size: int, num_steps: int, *, seed: int | None = None
) -> Iterator[tuple[Tensor, Tensor]]:
    """Return an iterator over batches of windows in random order.

    One pass drops a random number of tokens, the offset, cuts the rest into windows of `num_steps` tokens
    side by side, and deals them out in random order. So no token is an input twice in a pass, and
    windows that are neighbours in a batch are not neighbours in the text: start each from a fresh state.
    Windows that do not fill a last batch are left out; another seed leaves out others.

    Parameters
    ----------
    corpus : sequence of int or Tensor of shape (T,)
        Token indices. A pass over an int64 tensor copies only its batches; a list is first copied whole.
    batch_size : int
        Windows in a batch.
    num_steps : int
        Tokens in a window.
    seed : int, optional
        Draws the offset, uniform over 0..num_steps-1, and the order. The same seed gives the same batches.
        None draws from fresh entropy. Global random state is neither read nor written. In a corpus so
        short that a large offset would leave no batch, the offsets drawn are those that leave one.

    Returns
    -------
    iterator of (X, Y)
        int64 tensors of shape (batch_size, num_steps); Y is X shifted by one token.

    Raises
    ------
    TypeError, ValueError
        At the call, before any batch: if an argument is not as described, or the corpus holds fewer than
        batch_size * num_steps + 1 tokens.

    References
    ----------
    "Random sampling" in the language-model sections of *Dive into Deep Learning*, https://d2l.ai.
    """
    tokens, offset, own = _start(corpus, batch_size, num_steps, seed)
    num_windows = (len(tokens) - 1 - offset) // num_steps
    inputs = tokens[offset:][: num_windows * num_steps].view(num_windows, num_steps)
    labels = tokens[offset + 1 :][: num_windows * num_steps].view(num_windows, num_steps)
    order = torch.randperm(num_windows, generator=own).to(tokens.device)
    batches = order[: num_windows // batch_size * batch_size].view(-1, batch_size)
    return ((inputs.index_select(0, rows), labels.index_select(0, rows)) for rows in batches)


def sequential_batches(
    corpus: Tokens, batch_size: int, num_steps: int, *, seed: int | None = None
) -> Iterator[tuple[Tensor, Tensor]]:
    """Return an iterator over batches whose rows continue from one batch to the next.

    One pass drops a random number of tokens, the offset, cuts the rest into `batch_size` rows of equal
    length, and reads all rows from left to right, `num_steps` tokens at a time. Row i of a batch begins
    where row i of the batch before it ended, so a model's state can be carried over.
    A pass leaves unread the last few tokens of each row that do not fill a batch, fewer than `num_steps`,
    and fewer than `batch_size` tokens at the end of the corpus.

    Parameters
    ----------
    corpus : sequence of int or Tensor of shape (T,)
        Token indices.
    batch_size : int
        Rows in a batch.
    num_steps : int
        Tokens in each row of a batch.
    seed : int, optional
        Draws the offset, as in `random_batches`.

    Returns
    -------
    iterator of (X, Y)
        int64 tensors of shape (batch_size, num_steps); Y is X shifted by one token. Both are views of the
        corpus: copy a batch before you write to it.

    Raises
    ------
    TypeError, ValueError
        As `random_batches`.

    References
    ----------
    "Sequential partitioning" in the language-model sections of *Dive into Deep Learning*, https://d2l.ai.
    """
    tokens, offset, _ = _start(corpus, batch_size, num_steps, seed)
    length = (len(tokens) - 1 - offset) // batch_size
    inputs = tokens[offset:][: batch_size * length].view(batch_size, length)
    labels = tokens[offset + 1 :][: batch_size * length].view(batch_size, length)
    starts = range(0, length - num_steps + 1, num_steps)
    return ((inputs[:, i : i + num_steps], labels[:, i : i + num_steps]) for i in starts)


class WindowDataset(Dataset[tuple[Tensor, Tensor]]):
    """Hold every window of `num_steps` tokens, overlapping, for a `torch.utils.data.DataLoader`.

    Item i is (corpus[i : i + num_steps], corpus[i + 1 : i + 1 + num_steps]), two int64 views of shape
    (num_steps,); there are len(corpus) - num_steps items. All but the tokens near the ends are inputs
    `num_steps` times in one pass. Split the corpus before you cut windows, never the windows
    (see `split_corpus`).

    Parameters
    ----------
    corpus : sequence of int or Tensor of shape (T,)
        Token indices.
    num_steps : int
        Tokens in a window.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the corpus holds fewer than num_steps + 1 tokens.
    IndexError
        From `dataset[i]` if there is no item i.
    """

    def __init__(self, corpus: Tokens, num_steps: int) -> None:
        self.num_steps = _checks.integer("num_steps", num_steps, minimum=1)
        self.corpus = _checks.corpus("corpus", corpus, minimum=0)
        if len(self.corpus) <= num_steps:
            raise ValueError(
                f"a window of num_steps={num_steps} and its labels need {num_steps + 1} tokens, "
                f"but corpus holds {len(self.corpus)}"
            )

    def __len__(self) -> int:
        return len(self.corpus) - self.num_steps

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        start = range(len(self))[operator.index(index)]  # counts negative indices, raises IndexError
        window = self.corpus[start : start + self.num_steps + 1]
        return window[:-1], window[1:]


def split_corpus(corpus: Slices, held_out: float = 0.1) -> tuple[Slices, Slices]:
    """Split a corpus in two stretches, the first for training and the last held out.

    No token is in both, so no window cut from one shares a token with a window cut from the other.
    Splitting overlapping windows instead would put most held-out tokens into training windows too.

    Parameters
    ----------
    corpus : list of int, Tensor or array of shape (T,)
        Token indices.
    held_out : float
        Share of the tokens to hold out, between 0 and 1; round(held_out * T) tokens are.

    Returns
    -------
    train, held_out : of the same type as `corpus`
        Slices: copies of a list, views of a tensor or array.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or one of the parts would be empty.
    """
    share = _checks.real("held_out", held_out, above=0, below=1)
    length = len(_checks.corpus("corpus", corpus))
    cut = length - round(share * length)
    if not 0 < cut < length:
        raise ValueError(f"held_out={held_out} of a corpus of {length} token(s) leaves one part empty")
    return corpus[:cut], corpus[cut:]


def _start(
    corpus: Tokens, batch_size: int, num_steps: int, seed: int | None
) -> tuple[Tensor, int, torch.Generator]:
    """Check the arguments of a batch iterator and draw its offset, with which at least one batch is left."""
    tokens = _checks.corpus("corpus", corpus, minimum=0)
    needed = _checks.integer("batch_size", batch_size, minimum=1)
    needed *= _checks.integer("num_steps", num_steps, minimum=1)
    spare = len(tokens) - 1 - needed
    if spare < 0:
        raise ValueError(
            f"one batch of batch_size={batch_size} windows of num_steps={num_steps} and its labels need "
            f"{needed + 1} tokens, but corpus holds {len(tokens)}"
        )
    own = generator(seed)
    offset = torch.randint(min(num_steps, spare + 1), (1,), generator=own)
    return tokens, int(offset), own
