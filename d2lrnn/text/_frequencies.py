"""How often n-grams occur: their counts, how many are new in another text, and Zipf's law."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from d2lrnn import _support
from d2lrnn._support import real_numbers
from d2lrnn.text._ngram_counts import Counts, text_array

if TYPE_CHECKING:
    from torch import Tensor

    from d2lrnn._support import Tokens
    from d2lrnn.text._ngram_counts import Text

    Floats = NDArray[np.float64]


def ngram_counts(corpus: Tokens, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct n-grams of a corpus and how often each occurs, most frequent first.

    Parameters
    ----------
    corpus : sequence of int, array or Tensor of shape (T,)
        Token indices, at least n.
    n : int
        Tokens in an n-gram, at least 1.

    Returns
    -------
    ngrams : int64 array of shape (distinct, n)
    counts : int64 array of shape (distinct,)
        Ties are in the order in which the corpus first has them.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    size = _support.integer("n", n, minimum=1)
    tokens = text_array("corpus", corpus, minimum=size)
    (numbers,), vocab_size = _numbered(tokens)
    *_, (_, ranks) = Counts(numbers, vocab_size, size).ranks(numbers)
    _, firsts, counts = np.unique(ranks, return_index=True, return_counts=True)
    order = np.lexsort((firsts, -counts))
    return tokens[firsts[order, None] + np.arange(size)].astype(np.int64), counts[order]


def unseen_share(train: Tokens, held_out: Tokens, n: int) -> float:
    """Return the share of the n-grams of `held_out` that do not occur in `train`.

    An n-gram counts as often as it occurs in `held_out`: it is the share of the places at which relative
    frequencies fail.

    Parameters
    ----------
    train, held_out : sequence of int, array or Tensor of shape (T,)
        Token indices; at least one in `train` and at least n in `held_out`.
    n : int
        Tokens in an n-gram, at least 1.

    Returns
    -------
    float
        In 0..1.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    size = _support.integer("n", n, minimum=1)
    seen = text_array("train", train, minimum=1)
    tokens = text_array("held_out", held_out, minimum=size)
    (seen, tokens), vocab_size = _numbered(seen, tokens)
    *_, (_, occurrences) = Counts(seen, vocab_size, size).lookup(tokens)
    return float(np.mean(occurrences == 0))


def _numbered(*texts: Text) -> tuple[Sequence[Text], int]:
    """Return texts of token indices below a size that is returned too, numbered anew if that were large."""
    size = max(int(text.max()) for text in texts) + 1
    if size < 2**31:  # keys of n-grams stay far below 2**63
        return texts, size
    types, numbers = np.unique(np.concatenate(texts), return_inverse=True)
    return np.split(numbers, np.cumsum([len(text) for text in texts])[:-1]), len(types)


def zipf_fit(
    counts: Sequence[float] | Floats | Tensor, skip: int = 10, until: int = 1000
) -> tuple[float, float]:
    """Fit Zipf's law, log n_i = -alpha log i + c, to the count n_i of the i-th most frequent n-gram.

    The fit is by least squares, with natural logarithms, over the ranks i = skip + 1, ..., until, or to the
    last rank if there are fewer. (Ranks 10 to 1,000 are skip=9, until=1000.)

    Parameters
    ----------
    counts : sequence, array or Tensor of shape (distinct,)
        Positive numbers in any order.
    skip : int
        How many of the most frequent to leave out, at least 0.
    until : int
        The last rank to use, counted from 1.

    Returns
    -------
    alpha, c : float
        The exponent and, in nats, the logarithm of the count that the law gives rank 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or fewer than two ranks are left.

    References
    ----------
    - Zipf (1949), *Human Behavior and the Principle of Least Effort*.
    """
    first = _support.integer("skip", skip, minimum=0)
    last = _support.integer("until", until, minimum=1)
    n = np.sort(real_numbers("counts", counts))[::-1]
    if n.ndim != 1 or not np.all((n > 0) & np.isfinite(n)):
        raise ValueError(f"counts must be positive numbers along one axis, got {reprlib.repr(counts)}")
    y = np.log(n[first:last])
    if len(y) < 2:
        raise ValueError(
            f"skip={_support.short(first)} and until={_support.short(last)} "
            f"leave fewer than 2 of {len(n)} counts to fit"
        )
    x = np.log(np.arange(first + 1, first + len(y) + 1))
    alpha = -np.dot(x - x.mean(), y) / np.dot(x - x.mean(), x - x.mean())
    return float(alpha), float(y.mean() + alpha * x.mean())
