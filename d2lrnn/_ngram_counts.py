"""Counts of n-grams as sorted arrays: no n-gram is a Python object.

The *key* of an n-gram of k tokens is the rank of its first k - 1 tokens among the distinct (k - 1)-grams,
times the vocabulary's size, plus its last token; its own rank is the place of that key among the distinct
ones. So keys stay below |V| times the number of distinct histories, whatever the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Ints = NDArray[np.signedinteger]  # of the narrowest type that holds the values
    Text = NDArray[np.int64]
    Floats = NDArray[np.float64]

_BLOCK = 1 << 13  # keys looked up at a time: NumPy's answers take 8 bytes each, those kept fewer


class Counts:
    """How often each n-gram of up to `order` tokens occurs in a text of token indices below `vocab_size`."""

    def __init__(self, text: Text, vocab_size: int, order: int) -> None:
        if vocab_size * (len(text) + 1) >= 2**63:
            raise ValueError(
                f"vocab_size={vocab_size} is too large for {len(text)} tokens: keys need 64 bits"
            )
        self.vocab_size = vocab_size
        self._levels = [_Level(np.zeros(1, np.int8), np.array([len(text) + 1]), np.array([len(text)]))]
        ranks = np.zeros(len(text), np.int8)  # all texts begin with the one 0-gram
        for k in range(1, order + 1):
            keys = self._keys(k, ranks, text)
            self._levels.append(_Level.of(keys, above=vocab_size * len(self._levels[-1].keys)))
            if k < order:
                ranks = self._levels[k].find(keys)

    def ranks(self, text: Text) -> Iterator[tuple[Ints, Ints]]:
        """Yield, for order 1, 2, ..., the ranks of all n-grams' histories and of all n-grams, left to right.

        The n-grams run along the last axis of `text`.
        """
        ranks = np.zeros(text.shape, np.int8)
        for k in range(1, len(self._levels)):
            histories = ranks[..., : max(text.shape[-1] - k + 1, 0)]
            ranks = self._levels[k].find(self._keys(k, histories, text))
            yield histories, ranks

    def lookup(self, text: Text) -> Iterator[tuple[Floats, Floats]]:
        """Yield, likewise, how often a token follows each history, and how often the n-gram occurs."""
        for k, (histories, ngrams) in enumerate(self.ranks(text), start=1):
            n_h, n_hx = self._levels[k - 1].followed[histories], self._levels[k].counts[ngrams]
            yield n_h.astype(np.float64), n_hx.astype(np.float64)

    def _keys(self, k: int, histories: Ints, text: Text) -> Ints:
        """Return the keys of all k-grams of a text from the ranks of their histories."""
        ends = text[..., k - 1 :]
        keys = histories[..., : ends.shape[-1]].astype(_type(self.vocab_size * len(self._levels[k - 1].keys)))
        keys *= self.vocab_size
        return np.add(keys, ends, out=keys, casting="unsafe")


class _Level(NamedTuple):
    """The distinct n-grams of one order by rank, then, above order 0, one entry for all that do not occur."""

    keys: Ints  # (distinct + 1,), ascending; the last is above the key of any n-gram
    counts: Ints  # (distinct + 1,), how often each occurs; the last is 0
    followed: Ints  # (distinct + 1,), how often with a token after it: all but at the end of the text

    @classmethod
    def of(cls, keys: Ints, above: int) -> _Level:
        """Count the keys of all n-grams of a text, in its order, given a number above any key."""
        ordered = np.sort(keys)
        first = np.ones(len(ordered), np.bool_)  # of its value
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        starts = np.append(np.flatnonzero(first), len(ordered))
        distinct = np.append(ordered[starts[:-1]], keys.dtype.type(above))
        counts = np.zeros(len(starts), _type(len(keys)))
        np.subtract(starts[1:], starts[:-1], out=counts[:-1], casting="unsafe")
        followed = counts.copy()
        followed[np.searchsorted(distinct, keys[-1:])] -= 1
        return cls(distinct, counts, followed)

    def find(self, keys: Ints) -> Ints:
        """Return the rank of each key; that of a key that does not occur is the last one."""
        absent = len(self.keys) - 1
        flat = keys.reshape(-1)
        ranks = np.empty(len(flat), _type(absent))
        for start in range(0, len(flat), _BLOCK):
            block = flat[start : start + _BLOCK]
            found = np.searchsorted(self.keys, block)
            found[self.keys[found] != block] = absent
            ranks[start : start + _BLOCK] = found
        return ranks.reshape(keys.shape)


def _type(largest: int) -> np.dtype[np.signedinteger]:
    """Return the narrowest signed type that holds 0 to `largest`."""
    return np.min_scalar_type(-largest - 1)
