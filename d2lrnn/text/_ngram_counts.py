"""Counts of n-grams as sorted arrays: no n-gram is a Python object.

The *key* of an n-gram of k tokens is the rank of its first k - 1 tokens among the distinct (k - 1)-grams,
times the vocabulary's size, plus its last token; its own rank is the place of that key among the distinct
ones. So keys stay below ``|V|`` times the number of distinct histories, whatever the order.

Counting stops at the first order at which no n-gram occurs twice. A longer one can only be where its first
tokens are, so that its rank is the place at which it begins, and it is compared with the text itself.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2lrnn import _support

if TYPE_CHECKING:
    from d2lrnn._support import Tokens

    Ints = NDArray[np.signedinteger]  # of the narrowest type that holds the values
    Text = NDArray[np.integer]
    Floats = NDArray[np.float64]

_BLOCK = 1 << 13  # keys looked up at a time: NumPy's answers take 8 bytes each, those kept fewer


class Followers:
    """The tokens that follow one history, and how often each does.

    `keys` ascend, and from place `low` up to `high` they are `base` plus a token. Before place i there are
    `starts[i]` occurrences, those of keys below `low` included.
    """

    __slots__ = ("base", "before", "high", "keys", "low", "starts", "total")  # asked for thousands of times

    def __init__(self, keys: Sequence[int], starts: Sequence[int], base: int, low: int, high: int) -> None:
        self.keys, self.starts, self.base, self.low, self.high = keys, starts, base, low, high
        self.before = starts[low]
        self.total = starts[high] - starts[low]  # how often any token follows

    def count(self, token: int) -> int:
        """Return how often a token follows."""
        i = bisect_left(self.keys, self.base + token, self.low, self.high)
        found = i < self.high and self.keys[i] == self.base + token
        return self.starts[i + 1] - self.starts[i] if found else 0

    def count_to(self, token: int) -> int:
        """Return how often a token of at most this index follows."""
        return self.starts[bisect_right(self.keys, self.base + token, self.low, self.high)] - self.before

    def counts(self, vocab_size: int) -> Floats:
        """Return how often each token follows, of shape (vocab_size,)."""
        every = np.zeros(vocab_size)
        tokens = np.asarray(self.keys[self.low : self.high], np.int64) - self.base
        every[tokens] = np.diff(self.starts[self.low : self.high + 1])
        return every


class Counts:
    """How often each n-gram of up to `order` tokens occurs in a text of token indices below `vocab_size`."""

    def __init__(self, text: Text, vocab_size: int, order: int) -> None:
        if vocab_size * (len(text) + 1) >= 2**63:
            raise ValueError(
                f"vocab_size={_support.short(vocab_size)} is too large for {len(text)} tokens: "
                "keys need 64 bits"
            )
        self.length, self.order = len(text), order
        self._levels = [_Level(0, np.zeros(1, np.int8), np.array([0, len(text)]), np.array([len(text)]))]
        self._text, self._places = np.zeros(0, np.int8), np.zeros(0, np.int8)  # for longer n-grams, if any
        ranks: Ints = np.zeros(len(text), np.int8)  # all texts begin with the one 0-gram
        for k in range(1, order + 1):
            above = vocab_size * len(self._levels[-1].keys)
            keys = _join(ranks, text[k - 1 :], vocab_size, _type(above))
            level = _Level.of(keys, vocab_size, above)
            self._levels.append(level)
            if k < order and len(level.keys) == len(keys) + 1:  # each occurs once
                self._text = np.append(text, -1).astype(_type(vocab_size))
                self._places = np.append(np.argsort(keys), len(text)).astype(_type(len(text)))
                break
            if k < order:
                ranks = level.find_keys(keys)

    def ranks(self, text: Text) -> Iterator[tuple[Ints, Ints]]:
        """Yield, for order 1, 2, ..., the ranks of all histories and of all n-grams, from left to right."""
        ranks: Ints = np.zeros(len(text), np.int8)
        for k in range(1, min(self.order, len(text)) + 1):
            histories, ends = ranks[: len(text) - k + 1], text[k - 1 :]
            if k < len(self._levels):
                ranks = self._levels[k].find(histories, ends)
            else:
                histories = self._places[histories] if k == len(self._levels) else histories
                ranks = np.where(self._next(k, histories) == ends, histories, self._places[-1])
            yield histories, ranks

    def lookup(self, text: Text) -> Iterator[tuple[Floats, Floats]]:
        """Yield, likewise, how often a token follows each history, and how often the n-gram occurs."""
        for k, (histories, ngrams) in enumerate(self.ranks(text), start=1):
            if k < len(self._levels):
                yield (
                    _floats(self._levels[k - 1].followed[histories]),
                    _floats(self._levels[k].counts(ngrams)),
                )
            else:
                yield _floats(self._next(k, histories) >= 0), _floats(ngrams < self.length)

    def suffixes(self, history: Sequence[int]) -> list[int]:
        """Return the ranks of the last 0, 1, 2, ... tokens of a text, up to the most that are counted.

        One token more needs no others: see `extended`.
        """
        ranks = [0]
        for n in range(1, min(len(history) + 1, len(self._levels), self.order)):
            rank = self._rank(history[len(history) - n :])
            if rank < 0:
                break
            ranks.append(rank)
        return ranks

    def extended(self, ranks: Sequence[int], token: int) -> list[int]:
        """Return the ranks that `suffixes` has for a text with one more token."""
        longer = [0]
        for level, history in zip(self._levels[1 : self.order], ranks, strict=False):
            rank = level.find_one(history, token)
            if rank < 0:  # nor does a longer one occur, of which this is the end
                break
            longer.append(rank)
        return longer

    def after(self, history: Sequence[int], ranks: Sequence[int]) -> list[Followers]:
        """Return what follows the last 0, 1, 2, ... tokens of a text, up to the most of them that occur.

        `ranks` are its `suffixes`. There are at most `order` answers, since no longer history counts.
        """
        answers: list[Followers] = []
        rank = 0
        for n in range(min(len(history), self.order - 1) + 1):
            if n < len(self._levels):
                rank = ranks[n] if n < len(ranks) else -1
            else:  # a longer one begins one token further left; left of all is -1, the last of the text
                rank = rank - 1 if self._text[rank - 1] == history[-n] else -1
            if rank < 0:
                break
            if n + 1 < len(self._levels):
                answers.append(self._levels[n + 1].followers(rank))
            else:
                rank = int(self._places[rank]) if n + 1 == len(self._levels) else rank
                token = int(self._text[rank + n])
                answers.append(Followers([token], range(2), 0, 0, int(token >= 0)))
        return answers

    def _rank(self, ngram: Sequence[int]) -> int:
        """Return the rank of one n-gram, or -1 if it does not occur."""
        rank = 0
        for level, token in zip(self._levels[1:], ngram, strict=False):  # which may be shorter
            rank = level.find_one(rank, token)
            if rank < 0:
                break
        return rank

    def _next(self, k: int, places: Ints) -> Ints:
        """Return the last token of the k-gram at each place of the text, and -1 where there is none."""
        ends: Ints = self._text[np.minimum(places + np.int64(k - 1), self.length)]
        return ends


class _Level(NamedTuple):
    """The distinct n-grams of one order by rank, then, above order 0, one entry for all that do not occur."""

    vocab_size: int
    keys: Ints  # (distinct + 1,), ascending; the last is above the key of any n-gram
    starts: Ints  # (distinct + 2,), how often all of lower rank occur: sums of counts; the last count is 0
    followed: Ints  # (distinct + 1,), how often with a token after it: all but at the end of the text

    @classmethod
    def of(cls, keys: Ints, vocab_size: int, above: int) -> _Level:
        """Count the keys of all n-grams of a text, in its order, given a number above any key."""
        ordered = np.sort(keys)
        first = np.ones(len(ordered), np.bool_)  # of its value
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        starts = np.append(np.flatnonzero(first), [len(ordered)] * 2).astype(_type(len(keys)))
        distinct = np.append(ordered[starts[:-2]], keys.dtype.type(above))
        followed = np.diff(starts)
        followed[np.searchsorted(distinct, keys[-1:])] -= 1
        return cls(vocab_size, distinct, starts, followed)

    def find(self, histories: Ints, ends: Text) -> Ints:
        """Return the rank of each n-gram, given by its history's rank and its last token."""
        return self.find_keys(_join(histories, ends, self.vocab_size, self.keys.dtype))

    def find_keys(self, keys: Ints) -> Ints:
        """Return the rank of each key; that of a key that does not occur is the last one."""
        absent = len(self.keys) - 1
        ranks = np.empty(len(keys), _type(absent))
        for start in range(0, len(keys), _BLOCK):
            block = keys[start : start + _BLOCK]
            found = np.searchsorted(self.keys, block)
            found[self.keys[found] != block] = absent
            ranks[start : start + _BLOCK] = found
        return ranks

    def find_one(self, history: int, token: int) -> int:
        """Return the rank of one n-gram, or -1 if it does not occur."""
        key, keys = history * self.vocab_size + token, self.keys.data
        rank = bisect_left(keys, key)
        return rank if keys[rank] == key else -1

    def counts(self, ranks: Ints) -> Ints:
        """Return how often each n-gram occurs."""
        return self.starts[1:][ranks] - self.starts[:-1][ranks]

    def followers(self, history: int) -> Followers:
        """Return the last tokens of all n-grams with this history."""
        keys, base = self.keys.data, history * self.vocab_size  # its items are ints
        low = bisect_left(keys, base, 0, len(keys) - 1)
        high = bisect_left(keys, base + self.vocab_size, low, len(keys) - 1)
        return Followers(keys, self.starts.data, base, low, high)


def text_array(
    name: str, value: Tokens, *, minimum: int, vocab_size: int | None = None
) -> NDArray[np.integer]:
    """Return token indices as an array to read from, of any integers that 63 bits hold."""
    ids = _support.token_ids(name, value, minimum=minimum, vocab_size=vocab_size)
    array: NDArray[np.integer] = ids if isinstance(ids, np.ndarray) else ids.cpu().numpy()
    return array.astype(np.int64) if array.dtype == np.uint64 else array  # NumPy adds uint64 to int as floats


def _join(histories: Ints, ends: Text, vocab_size: int, dtype: np.dtype[np.signedinteger]) -> Ints:
    """Return the keys of n-grams from the ranks of their histories, of which there may be more, and ends."""
    keys = histories[: len(ends)].astype(dtype)
    keys *= vocab_size
    return np.add(keys, ends, out=keys, casting="unsafe")


def _floats(counts: NDArray[np.generic]) -> Floats:
    return counts.astype(np.float64)


def _type(largest: int) -> np.dtype[np.signedinteger]:
    """Return the narrowest signed type that holds 0 to `largest`."""
    return np.min_scalar_type(-largest - 1)
