"""Read one long sequence of tokens as batches of windows, and hold out the end of it.

A model that reads `num_steps` tokens predicts each one's successor, so a window of inputs has labels that
are the same window moved on by one token. Every batch and window handed out is a copy, made when it is asked
for, so that what is done to it changes neither the corpus nor its labels; the corpus itself is not copied.
"""

from __future__ import annotations

import operator
import reprlib
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from d2lrnn import _support
from d2lrnn._support import own
from d2lrnn.reproducible import Seed, generator, randint, randperm

if TYPE_CHECKING:
    from d2lrnn._support import Ids, Tokens

Pair: TypeAlias = tuple[Tensor, Tensor]
Slices = TypeVar("Slices", list[int], Tensor, NDArray[np.integer])

_DRAWING = threading.Lock()  # so that no pass draws between another one's offset and order


class Batches:
    """Batches of a corpus, to be gone through as often as you like: each pass is cut anew.

    `random_batches` and `sequential_batches` make them. `len` is the number of batches, of every pass alike.
    """

    _maker: str

    def __init__(self, corpus: Tokens, batch_size: int, num_steps: int, seed: Seed) -> None:
        self._tokens = _support.token_ids("corpus", corpus, minimum=0)
        self.batch_size = _support.integer("batch_size", batch_size, minimum=1)
        self.num_steps = _support.integer("num_steps", num_steps, minimum=1)
        if len(self) == 0:
            raise ValueError(
                f"one batch of batch_size={_support.short(self.batch_size)} windows of "
                f"num_steps={_support.short(self.num_steps)} and its labels need "
                f"{_support.short(self.batch_size * self.num_steps + 1)} tokens, "
                f"but corpus holds {len(self._tokens)}"
            )
        # None stays None: a copy or a pickle would hold a global generator of its own
        self._generator = None if seed is None else generator(seed)

    def __len__(self) -> int:
        return max(len(self._tokens) - 1, 0) // (self.batch_size * self.num_steps)

    def __iter__(self) -> Iterator[Pair]:
        spare = (len(self._tokens) - 1) % (self.batch_size * self.num_steps)
        rng = generator(self._generator)
        with _DRAWING:
            offset = int(randint(min(self.num_steps, spare + 1), 1, rng))
            return self._cut(offset, rng)

    def __repr__(self) -> str:
        return (
            f"<{self._maker}: {len(self):,} batches of {self.batch_size} x {self.num_steps} tokens "
            f"from a corpus of {len(self._tokens):,}>"
        )

    def _cut(self, offset: int, rng: torch.Generator) -> Iterator[Pair]:
        """Return one pass over the tokens from an offset on."""
        raise NotImplementedError


class _RandomBatches(Batches):
    _maker = "random_batches"

    def _cut(self, offset: int, rng: torch.Generator) -> Iterator[Pair]:
        num_windows = (len(self._tokens) - 1 - offset) // self.num_steps
        inputs, labels = _rows(self._tokens, offset, num_windows, self.num_steps)
        order = randperm(num_windows, rng)[: len(self) * self.batch_size]
        rows = order.numpy() if isinstance(inputs, np.ndarray) else order.to(inputs.device)
        starts = range(0, len(rows), self.batch_size)
        return (
            (own(inputs[rows[i : i + self.batch_size]]), own(labels[rows[i : i + self.batch_size]]))
            for i in starts
        )


class _SequentialBatches(Batches):
    _maker = "sequential_batches"

    def _cut(self, offset: int, rng: torch.Generator) -> Iterator[Pair]:  # noqa: ARG002
        length = (len(self._tokens) - 1 - offset) // self.batch_size
        inputs, labels = _rows(self._tokens, offset, self.batch_size, length)
        starts = range(0, len(self) * self.num_steps, self.num_steps)
        return (
            (own(inputs[:, i : i + self.num_steps]), own(labels[:, i : i + self.num_steps])) for i in starts
        )


def random_batches(corpus: Tokens, batch_size: int, num_steps: int, *, seed: Seed = None) -> Batches:
    """Return batches of windows in random order.

    One pass drops a random number of tokens, the offset, cuts the rest into windows of `num_steps` tokens
    side by side, and deals them out in random order. So no token is an input twice in a pass, and
    windows that are neighbours in a batch are not neighbours in the text: start each from a fresh state.
    Windows that do not fill a last batch are left out; another pass leaves out others.

    Parameters
    ----------
    corpus : sequence of int, array or Tensor of shape (T,)
        Token indices. A pass copies only its batches, of whatever integers, a read-only memory map included;
        a list is first copied whole. The batches are on the corpus's device.
    batch_size : int
        Windows in a batch.
    num_steps : int
        Tokens in a window.
    seed : int, torch.Generator or None
        Draws the offset and the order of each pass. An int fixes the whole sequence of passes, and the same
        int repeats it. A generator is drawn from at each pass. None draws from torch's global generator;
        otherwise global random state is left alone.

    Returns
    -------
    Batches of (X, Y)
        A collection with `len`, which can be gone through again. X and Y are int64 tensors of their own, of
        shape (batch_size, num_steps); Y is X shifted by one token.

    Raises
    ------
    TypeError, ValueError
        At the call, before any batch: if an argument is not as described, or the corpus holds fewer than
        batch_size * num_steps + 1 tokens.

    Notes
    -----
    There are (T - 1) // (batch_size * num_steps) batches in every pass. The offset is uniform over
    0..num_steps-1, or where some of these would cost a batch, over those that do not: up to the remainder of
    that division.

    References
    ----------
    - "Random sampling" in the language-model sections of *Dive into Deep Learning*, https://d2l.ai.
    """
    return _RandomBatches(corpus, batch_size, num_steps, seed)


def sequential_batches(corpus: Tokens, batch_size: int, num_steps: int, *, seed: Seed = None) -> Batches:
    """Return batches whose rows continue from one batch to the next.

    One pass drops a random number of tokens, the offset, cuts the rest into `batch_size` rows of equal
    length, and reads all rows from left to right, `num_steps` tokens at a time. Row i of a batch begins
    where row i of the batch before it ended, so a model's state can be carried over.
    A pass leaves unread the last few tokens of each row that do not fill a batch, fewer than `num_steps`,
    and fewer than `batch_size` tokens at the end of the corpus.

    Parameters
    ----------
    corpus : sequence of int, array or Tensor of shape (T,)
        Token indices, as for `random_batches`.
    batch_size : int
        Rows in a batch.
    num_steps : int
        Tokens in each row of a batch.
    seed : int, torch.Generator or None
        Draws the offset of each pass, as for `random_batches`.

    Returns
    -------
    Batches of (X, Y)
        As `random_batches`.

    Raises
    ------
    TypeError, ValueError
        As `random_batches`.

    Notes
    -----
    The number of batches and the offsets are those of `random_batches`.

    References
    ----------
    - "Sequential partitioning" in the language-model sections of *Dive into Deep Learning*, https://d2l.ai.
    """
    return _SequentialBatches(corpus, batch_size, num_steps, seed)


class WindowDataset(Dataset[Pair]):
    """Hold every window of `num_steps` tokens, overlapping, for a `torch.utils.data.DataLoader`.

    Item i is (corpus[i : i + num_steps], corpus[i + 1 : i + 1 + num_steps]), two int64 tensors of their own,
    of shape (num_steps,); there are len(corpus) - num_steps items, and -1 is the last. All but the tokens
    near the ends are inputs `num_steps` times in one pass. Split the corpus before you cut windows, never the
    windows (see `split_corpus`). A DataLoader takes a batch's items together, by `__getitems__`, which is
    quicker than one by one.

    Parameters
    ----------
    corpus : sequence of int, array or Tensor of shape (T,)
        Token indices, copied only if they are a list.
    num_steps : int
        Tokens in a window.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the corpus holds fewer than num_steps + 1 tokens.
    IndexError, TypeError
        From `dataset[i]` if there is no item i, or i is not an integer: a slice is none.
    """

    def __init__(self, corpus: Tokens, num_steps: int) -> None:
        self.num_steps = _support.integer("num_steps", num_steps, minimum=1)
        self._tokens = _support.token_ids("corpus", corpus, minimum=0)
        if len(self._tokens) <= self.num_steps:
            raise ValueError(
                f"a window of num_steps={_support.short(self.num_steps)} and its labels need "
                f"{_support.short(self.num_steps + 1)} tokens, but corpus holds {len(self._tokens)}"
            )

    def __len__(self) -> int:
        return len(self._tokens) - self.num_steps

    def __getitem__(self, index: int) -> Pair:
        (start,) = self._starts([index])
        window = self._tokens[start : start + self.num_steps + 1]
        return own(window[:-1]), own(window[1:])

    def __getitems__(self, indices: Sequence[int]) -> list[Pair]:
        """Return the items of several indices."""
        places = np.array(self._starts(indices), np.int64)[:, None] + np.arange(self.num_steps + 1)
        if isinstance(self._tokens, Tensor):
            windows: Ids = self._tokens[torch.from_numpy(places).to(self._tokens.device)]
        else:
            windows = self._tokens[places]  # (batch, num_steps + 1)
        return list(zip(own(windows[:, :-1]).unbind(), own(windows[:, 1:]).unbind(), strict=True))

    def _starts(self, indices: Sequence[int]) -> list[int]:
        """Return where windows begin; indices below 0 count from the end."""
        every = range(len(self))
        try:
            return [every[_place(index)] for index in indices]
        except TypeError:
            raise TypeError(f"each index must be an integer, got {reprlib.repr(indices)}") from None
        except IndexError:
            bounds = f"{-len(self)}..{len(self) - 1}"
            raise IndexError(f"each index must be in {bounds}, got {reprlib.repr(indices)}") from None

    def __repr__(self) -> str:
        return f"<WindowDataset: {len(self):,} windows of {self.num_steps} tokens>"


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
        Slices: copies of a list, views of a tensor, an array or a memory map.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or one of the parts would be empty.
    """
    share = _support.real("held_out", held_out, above=0, below=1)
    length = len(_support.token_ids("corpus", corpus))
    cut = length - round(share * length)
    if not 0 < cut < length:
        raise ValueError(f"held_out={held_out} of a corpus of {length} token(s) leaves one part empty")
    try:
        return corpus[:cut], corpus[cut:]
    except TypeError:
        raise TypeError(f"corpus must be something to slice, got a {type(corpus).__name__}") from None


def _place(index: object) -> int:
    """Return an index as an int, or raise TypeError: True is none, though Python counts it among the ints."""
    if isinstance(index, bool) or getattr(index, "dtype", None) is torch.bool:
        raise TypeError
    return operator.index(index)  # type: ignore[arg-type]  # it says so itself


def _rows(tokens: Ids, offset: int, count: int, length: int) -> tuple[Ids, Ids]:
    """Return views of inputs and labels as `count` rows of `length` tokens, from an offset on."""
    inputs = tokens[offset : offset + count * length].reshape(count, length)
    labels = tokens[offset + 1 : offset + 1 + count * length].reshape(count, length)
    return inputs, labels
