"""Byte-pair encoding: subwords learnt from a text."""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

from d2lrnn._checks import index, integer, ordered, string

Pair = tuple[int, int]

# A piece is a word or a run of symbols with the space before it, or whitespace. No merge crosses pieces.
# 64 characters at most, so that a text without spaces is not one piece, which each merge would go through.
_PIECE = re.compile(r" ?\w{1,64}| ?[^\w\s]{1,64}|\s{1,64}(?!\S)|\s")


class BPETokenizer:
    """Cut text into subwords by byte-pair encoding.

    Ids 0 to 255 are the bytes, so that any text can be encoded; id 256 + i is what merge i makes of two ids.

    Parameters
    ----------
    merges : iterable of (int, int)
        Pairs of ids in the order learnt, as in `BPETokenizer.train(text, vocab_size).merges`.

    Raises
    ------
    ValueError
        If a pair is given twice, or if it has an id that no merge before it makes.
    TypeError
        If an item is no pair of integers.

    Notes
    -----
    Gage (1994), *A New Algorithm for Data Compression*; Sennrich, Haddow and Birch (2016), *Neural Machine
    Translation of Rare Words with Subword Units*; over bytes as in GPT-2 (Radford et al., 2019).
    """

    def __init__(self, merges: Iterable[Pair] = ()) -> None:
        self._bytes = [bytes([byte]) for byte in range(256)]
        self._ids: dict[Pair, int] = {}  # what a pair becomes, in the order learnt
        self._encoded: dict[str, list[int]] = {}  # pieces met so far
        for n, pair in enumerate(ordered("merges", merges, "a list of pairs of ids")):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(f"merges[{n}] must be a pair of ids, got {pair!r}")
            left, right = (index(f"id in merges[{n}]", i, len(self)) for i in pair)
            if (left, right) in self._ids:
                raise ValueError(f"merges must be distinct, got {(left, right)} again")
            self._ids[left, right] = len(self)
            self._bytes.append(self._bytes[left] + self._bytes[right])

    @classmethod
    def train(cls, text: str, vocab_size: int) -> BPETokenizer:
        """Learn merges from a text: over and over, the most frequent pair of neighbours becomes an id.

        Of equally frequent pairs, the one with the lowest ids is merged. Pairs are counted over the distinct
        words, and only those that a merge changes are counted again.

        Parameters
        ----------
        text : str
            Any text, cleaned or not.
        vocab_size : int
            Number of ids: the 256 bytes and `vocab_size - 256` merges.

        Returns
        -------
        BPETokenizer
            The tokenizer.

        Raises
        ------
        ValueError
            If `vocab_size` is below 256, or so large that no pair is left to merge.
        """
        integer("vocab_size", vocab_size, minimum=256)
        freqs = Counter(_pieces(text))
        pieces = {piece: list(piece.encode()) for piece in freqs}
        counts: Counter[Pair] = Counter()
        where: defaultdict[Pair, set[str]] = defaultdict(set)  # pieces that have, or once had, the pair
        for piece, ids in pieces.items():
            for pair in pairwise(ids):
                counts[pair] += freqs[piece]
                where[pair].add(piece)
        heap = [(-count, pair) for pair, count in counts.items()]
        heapq.heapify(heap)
        merges: list[Pair] = []
        while (new := 256 + len(merges)) < vocab_size:
            while heap and -heap[0][0] != counts[heap[0][1]]:
                heapq.heappop(heap)  # outdated: the pair came in again with its new count
            if not heap:
                raise ValueError(
                    f"vocab_size must be at most {new}: no pair is left in text; got {vocab_size}"
                )
            best = heap[0][1]
            merges.append(best)
            changed: Counter[Pair] = Counter()
            for piece in where.pop(best):
                merged = _merge(pieces[piece], best, new)
                for pair in pairwise(pieces[piece]):
                    changed[pair] -= freqs[piece]
                for pair in pairwise(merged):
                    changed[pair] += freqs[piece]
                    where[pair].add(piece)
                pieces[piece] = merged
            counts.update(changed)
            for pair, change in changed.items():
                if change and counts[pair]:
                    heapq.heappush(heap, (-counts[pair], pair))
        return cls(merges)

    @property
    def merges(self) -> list[Pair]:
        """The merged pairs of ids, in the order learnt."""
        return list(self._ids)

    def __len__(self) -> int:
        return len(self._bytes)

    def __repr__(self) -> str:
        return f"BPETokenizer({len(self)} ids: 256 bytes, {len(self._ids)} merges)"

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that an id stands for, or raise ValueError if there is no such id."""
        return self._bytes[index("id", token_id, len(self))]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text; `decode` gives the same text back, whatever its characters.

        Raises
        ------
        ValueError
            If `text` holds a lone surrogate, which is no character and has no bytes.
        """
        ids: list[int] = []
        for piece in _pieces(text):
            if piece not in self._encoded:
                self._encoded[piece] = self._encode_piece(piece)
            ids += self._encoded[piece]
        return ids

    def _encode_piece(self, piece: str) -> list[int]:
        ids = list(piece.encode())
        while known := [pair for pair in pairwise(ids) if pair in self._ids]:
            first = min(known, key=self._ids.__getitem__)  # of those here, the one learnt first
            ids = _merge(ids, first, self._ids[first])
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of a sequence, array or tensor of ids.

        Bytes that are no whole character, as where a list of ids was cut, become U+FFFD.

        Raises
        ------
        ValueError
            If an id is negative or not below the number of ids.
        TypeError
            If an id is not an integer.
        """
        ids = ids.tolist() if hasattr(ids, "tolist") else ids
        return b"".join(map(self.token_bytes, ordered("ids", ids, "a list of ids"))).decode(
            "utf-8", errors="replace"
        )


def _pieces(text: str) -> list[str]:
    try:
        string("text", text).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"text must hold no lone surrogate, got {text[error.start]!a} at {error.start}"
        ) from error
    return _PIECE.findall(text)


def _merge(ids: list[int], pair: Pair, new: int) -> list[int]:
    """Return `ids` with each occurrence of `pair`, from the left, replaced by `new`."""
    merged: list[int] = []
    for i in ids:
        if merged and (merged[-1], i) == pair:
            merged[-1] = new
        else:
            merged.append(i)
    return merged
