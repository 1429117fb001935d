"""Byte-pair encoding: subwords learnt from a text."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import cast

from d2lrnn._support import index, integer, listed, ordered, short, string
from d2lrnn.text import _codec, _pairs

Pair = _pairs.Pair

# A piece is a word or a run of symbols with the space before it, or whitespace. No merge crosses pieces.
# 64 characters at most, so that a text without spaces is not one piece, to be kept whole with its ids.
PIECE = re.compile(r" ?\w{1,64}| ?[^\w\s]{1,64}|\s{1,64}(?!\S)|\s")

_REMEMBERED = 2**16  # pieces whose ids are kept, of at most so many characters: longer ones hardly return
_SHORT = 32


class BPETokenizer:
    """Cut text into subwords by byte-pair encoding.

    Ids 0 to 255 are the bytes, so that any text can be encoded; id 256 + i is what merge i makes of two ids.
    Tokenizers with the same merges are equal.

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

    References
    ----------
    - Gage (1994), "A New Algorithm for Data Compression".
    - Sennrich, Haddow and Birch (2016), "Neural Machine Translation of Rare Words with Subword Units".
    - Radford et al. (2019), "Language Models are Unsupervised Multitask Learners": over bytes, as in GPT-2.
    """

    def __init__(self, merges: Iterable[Pair] = ()) -> None:
        self._bytes = [bytes([byte]) for byte in range(256)]
        self._ids: dict[Pair, int] = {}  # what a pair becomes, in the order learnt
        self._encoded: dict[str, list[int]] = {}  # pieces met so far
        for n, pair in enumerate(ordered("merges", listed("merges", merges), "a list of pairs of ids")):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(f"merges[{n}] must be a pair of ids, got {short(pair)}")
            left, right = (index(f"id in merges[{n}]", i, len(self)) for i in pair)
            if (left, right) in self._ids:
                raise ValueError(f"merges must be distinct, got {(left, right)} again")
            self._ids[left, right] = len(self)
            self._bytes.append(self._bytes[left] + self._bytes[right])

    @classmethod
    def train(cls, text: str, vocab_size: int) -> BPETokenizer:
        """Learn merges from a text: over and over, the most frequent pair of neighbours becomes an id.

        Of equally frequent pairs, the one with the lowest ids is merged. Pairs are counted over the distinct
        words, and after a merge only those beside it are counted again.

        Parameters
        ----------
        text : str
            Any text, cleaned or not.
        vocab_size : int
            Number of ids: the 256 bytes and `vocab_size - 256` merges.

        Returns
        -------
        BPETokenizer
            The tokenizer. It has fewer ids if every piece of the text is one id before; a warning says so.

        Raises
        ------
        ValueError
            If `vocab_size` is below 256, or if `text` holds a lone surrogate.
        TypeError
            If `text` is not a str, or if `vocab_size` is not an integer.

        Warns
        -----
        UserWarning
            If no pair is left to merge before there are `vocab_size` ids.
        """
        most = integer("vocab_size", vocab_size, minimum=256)
        tokenizer = cls(_pairs.learn(Counter(_pieces(text)), most - 256))
        if len(tokenizer) < most:
            warnings.warn(
                f"text has no pair left to merge after {len(tokenizer)} ids, "
                f"fewer than vocab_size={short(most)}",
                stacklevel=2,
            )
        return tokenizer

    @property
    def merges(self) -> list[Pair]:
        """The merged pairs of ids, in the order learnt."""
        return list(self._ids)

    @property
    def reserved(self) -> range:
        """Ids that stand for no text and are never generated, of which there are none."""
        return range(0)

    @property
    def bos(self) -> int | None:
        """Id that begins a text; there is none."""
        return None

    def __len__(self) -> int:
        return len(self._bytes)

    def __repr__(self) -> str:
        return f"BPETokenizer({len(self)} ids: 256 bytes, {len(self._ids)} merges)"

    def __eq__(self, other: object) -> bool:
        return self.merges == other.merges if isinstance(other, BPETokenizer) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._ids))

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_encoded": {}}  # the pieces met so far are no part of what it is

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that an id stands for.

        Parameters
        ----------
        token_id : int
            The id, from 0 to `len(tokenizer) - 1`.

        Returns
        -------
        bytes
            At least one byte. They need not be whole characters.

        Raises
        ------
        ValueError
            If there is no such id.
        TypeError
            If `token_id` is not an integer.
        """
        return self._bytes[index("id", token_id, len(self))]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text; `decode` gives the same text back, whatever its characters.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        list of int
            Its ids, in reading order; none for "".

        Raises
        ------
        ValueError
            If `text` holds a lone surrogate, which is no character and has no bytes.
        TypeError
            If `text` is not a str.
        """
        ids: list[int] = []
        for piece in _pieces(text):
            known = self._encoded.get(piece)
            if known is None:
                known = _pairs.apply(piece.encode(), self._ids)
                self._remember(piece, known)
            ids += known
        return ids

    def _remember(self, piece: str, ids: list[int]) -> None:
        """Keep the ids of a piece. Threads may do so together: each may only lose what another has kept."""
        if len(self._encoded) >= _REMEMBERED:
            self._encoded.clear()
        if len(piece) <= _SHORT:
            self._encoded[piece] = ids

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of some ids.

        Parameters
        ----------
        ids : iterable, array or tensor of int
            Ids with one axis, each from 0 to `len(tokenizer) - 1`.

        Returns
        -------
        str
            The text. Bytes that are no whole character, as where a list of ids was cut, become U+FFFD.

        Raises
        ------
        ValueError
            If an id is negative or not below the number of ids.
        TypeError
            If an id is not an integer, or if `ids` is not as described.
        """
        found = _codec.token_ids(ids, len(self))
        return b"".join(self._bytes[i] for i in found).decode("utf-8", errors="replace")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the merges to a JSON file, from which `load` makes an equal tokenizer.

        Parameters
        ----------
        path : str or path
            The file. One that is there is replaced as a whole.

        Raises
        ------
        OSError
            If `path` is a folder, lies in none, or can't be written.
        TypeError
            If `path` is no path.
        ValueError
            If `path` can be no file's, as "" or an address.
        """
        _codec.save(path, "BPETokenizer", {"merges": self.merges})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BPETokenizer:
        """Read a tokenizer that `save` has written.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        BPETokenizer
            A tokenizer equal to the one saved.

        Raises
        ------
        ValueError
            If the file is not one that `BPETokenizer.save` writes.
        OSError, TypeError
            As `read_text`.
        """
        with _codec.loading(path, "BPETokenizer", ("merges",)) as (merges,):
            return cls(cast("list[Pair]", merges))  # which checks them


def _pieces(text: str) -> list[str]:
    try:
        string("text", text).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"text must hold no lone surrogate, got {text[error.start]!a} at {error.start}"
        ) from error
    return PIECE.findall(text)
