"""The vocabulary: a numbering of the tokens of a text."""

from __future__ import annotations

import os
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import cast, overload

from d2lrnn._support import index, integer, listed, one_of, string
from d2lrnn.text import _codec

UNKNOWN = "<unk>"
BEGINNING = "<bos>"
UNITS = ("word", "char")


class Vocab:
    """Map tokens to indices and back.

    Index 0 is "<unk>", which stands for any unknown token. Then come the reserved tokens in the order given,
    then the text's tokens, the most frequent first; of equally frequent ones, the first seen comes first.
    Vocabularies with the same numbering, frequencies and unit are equal.

    Parameters
    ----------
    tokens : iterable of str, or of lists of str
        The tokens of a text in reading order, flat or by line; an array of str, too.
    min_freq : int
        Tokens seen fewer times than this are left out, and so are unknown.
    reserved_tokens : iterable of str
        Tokens that get an index whether they occur or not, such as "<pad>". They are never generated.
    unit : str, optional
        What a token is: "char", a character, or "word", what stands between whitespace. None is "char" where
        each token of the text has one character, else "word"; "<unk>" and reserved tokens don't count.

    Raises
    ------
    ValueError
        If `min_freq` is negative, if a reserved token is given twice or is "<unk>", if `unit` is unknown, or
        if it is "char" and a token of the text is no single character, or "word" and one is empty or holds
        whitespace. (For None such a token makes `encode` raise where it is part of a text.)
    TypeError
        If a token is not a str, or if `tokens` is one str, a mapping or a set.

    Notes
    -----
    After *Dive into Deep Learning*, section "Text Preprocessing".
    """

    def __init__(
        self,
        tokens: Iterable[str | Iterable[str]],
        min_freq: int = 0,
        reserved_tokens: Iterable[str] = (),
        *,
        unit: str | None = None,
    ) -> None:
        least, special = integer("min_freq", min_freq, minimum=0), _special(reserved_tokens)
        freqs = Counter(_codec.flat("tokens", tokens)).most_common()  # ties stay in first-seen order
        self._number(freqs, least, special, unit)
        odd = [token for token in self._odd if token not in special]
        if unit == "word" and odd:
            raise ValueError(f"tokens must be words, without whitespace, for unit='word', got {odd[0]!r}")

    def _number(self, freqs: list[tuple[str, int]], least: int, special: list[str], unit: object) -> None:
        """Give the special tokens indices, then the frequent ones, and settle the unit."""
        self._token_freqs = tuple(freqs)
        self._min_freq = least
        self._special = tuple(special)
        aside = set(special)
        self._unit = _unit(unit, (token for token, _ in freqs if token not in aside))
        self._tokens = tuple(dict.fromkeys([*special, *(token for token, n in freqs if n >= least)]))
        self._indices = {token: i for i, token in enumerate(self._tokens)}
        in_words = self._tokens if self._unit == "word" else ()
        self._odd = [token for token in in_words if token.split() != [token]]  # which no text is split into

    @property
    def unk(self) -> int:
        """Index of "<unk>", which is 0."""
        return 0

    @property
    def bos(self) -> int | None:
        """Index of "<bos>", which begins a text, if it is one of the reserved tokens, else None."""
        return self._indices[BEGINNING] if BEGINNING in self._special else None

    @property
    def unit(self) -> str:
        """What a token of the text is, "char" or "word"."""
        return self._unit

    @property
    def reserved(self) -> range:
        """Indices that are no text and are never generated, of "<unk>" and of the reserved tokens."""
        return range(len(self._special))

    @property
    def reserved_tokens(self) -> tuple[str, ...]:
        """The reserved tokens, without "<unk>", in the order given."""
        return self._special[1:]

    @property
    def token_freqs(self) -> list[tuple[str, int]]:
        """All tokens of the text, rare ones too, as (token, count), the most frequent first."""
        return list(self._token_freqs)

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tokens)

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str) and token in self._indices

    def __repr__(self) -> str:
        first = ", ".join(map(repr, self._tokens[:5]))
        return f"Vocab({len(self)} tokens: {first}{', ...' if len(self) > 5 else ''})"

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Vocab) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        return self._special, self._tokens, self._token_freqs, self._unit

    @overload
    def __getitem__(self, tokens: str) -> int: ...
    @overload
    def __getitem__(self, tokens: list[str] | tuple[str, ...]) -> list[int]: ...
    @overload
    def __getitem__(self, tokens: object) -> object: ...
    def __getitem__(self, tokens: object) -> object:
        """Return a token's index, 0 if unknown; for lists, tuples or arrays, lists nested in the same way."""
        tokens = listed("token", tokens)
        if isinstance(tokens, (list, tuple)):
            return [self[token] for token in tokens]
        return self._indices.get(string("token", tokens), self.unk)

    @overload
    def to_tokens(self, indices: int) -> str: ...
    @overload
    def to_tokens(self, indices: Sequence[int]) -> list[str]: ...
    @overload
    def to_tokens(self, indices: object) -> object: ...
    def to_tokens(self, indices: object) -> object:
        """Return the tokens of indices.

        Parameters
        ----------
        indices : int, sequence, array or tensor of int
            Indices from 0 to `len(vocab) - 1`, nested to any depth. An array or tensor without dimensions
            counts as an int.

        Returns
        -------
        str or list
            The token of an int; else lists of tokens, nested as `indices` are. One index in a list gives a
            list of one token.

        Raises
        ------
        ValueError
            If an index is negative or not below the size of the vocabulary.
        TypeError
            If an index is not an integer.
        """
        indices = listed("index", indices)
        if isinstance(indices, Sequence) and not isinstance(indices, str):
            return [self.to_tokens(i) for i in indices]
        return self._tokens[index("index", indices, len(self))]

    def encode(self, text: str) -> list[int]:
        """Return the indices of a text's tokens: its characters, or its words, as `unit` says.

        Parameters
        ----------
        text : str
            A text of known tokens. (`vocab[tokens]` takes unknown ones, too.)

        Returns
        -------
        list of int
            The indices, in reading order; none for "".

        Raises
        ------
        ValueError
            If a token is not in the vocabulary; the message lists such tokens. Also if `text` is of words and
            holds a token that has whitespace in it.
        TypeError
            If `text` is not a str.
        """
        string("text", text)
        if odd := [token for token in self._odd if token in text]:
            raise ValueError(
                f"text must be cut into tokens by you, as vocab[tokens], where {odd[0]!r} is one: "
                f"no word is that; got {reprlib.repr(text)}"
            )
        tokens = list(text) if self._unit == "char" else text.split()
        unknown = [repr(token) for token in dict.fromkeys(tokens) if token not in self._indices]
        if unknown:
            unit = {"char": "characters", "word": "words"}[self._unit]
            first = ", ".join(unknown[:9]) + (", ..." if len(unknown) > 9 else "")
            raise ValueError(
                f"text must be of {unit} in the vocabulary, which has no {first}; got {reprlib.repr(text)}"
            )
        return [self._indices[token] for token in tokens]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of some indices: characters side by side, words with a space between.

        Parameters
        ----------
        ids : iterable, array or tensor of int
            Indices with one axis, each from 0 to `len(vocab) - 1`.

        Returns
        -------
        str
            The text.

        Raises
        ------
        ValueError
            If an index is negative or not below the size of the vocabulary.
        TypeError
            If an index is not an integer, or if `ids` is not as described.
        """
        separator = "" if self._unit == "char" else " "
        return separator.join(self._tokens[i] for i in _codec.token_ids(ids, len(self)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary to a JSON file, from which `load` makes an equal one.

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
            If `path` can be no file's, as "" or an address, or if a token holds two lone surrogates that JSON
            would read as one character.
        """
        contents = {
            "unit": self._unit,
            "min_freq": self._min_freq,
            "reserved_tokens": self.reserved_tokens,
            "token_freqs": self._token_freqs,
        }
        _codec.save(path, "Vocab", contents)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Vocab:
        """Read a vocabulary that `save` has written.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        Vocab
            A vocabulary equal to the one saved.

        Raises
        ------
        ValueError
            If the file is not one that `Vocab.save` writes.
        OSError, TypeError
            As `read_text`.
        """
        keys = ("unit", "min_freq", "reserved_tokens", "token_freqs")
        with _codec.loading(path, "Vocab", keys) as (unit, min_freq, reserved, freqs):
            vocab = cls.__new__(cls)
            vocab._number(
                _codec.counted(freqs),
                integer("min_freq", min_freq, minimum=0),
                _special(cast("list[str]", reserved)),  # which checks them
                one_of("unit", unit, UNITS),
            )
            return vocab


def _special(reserved_tokens: Iterable[str]) -> list[str]:
    """Return "<unk>" and the reserved tokens, or raise if one comes twice."""
    special = [UNKNOWN, *_codec.strings("reserved_tokens", reserved_tokens)]
    for token, count in Counter(special).items():
        if count > 1:
            raise ValueError(f"reserved_tokens must be distinct and not {UNKNOWN!r}, got {token!r} again")
    return special


def _unit(unit: object, tokens: Iterable[str]) -> str:
    """Return the unit of a text's tokens as given or, for None, as their lengths say."""
    odd = next((token for token in tokens if len(token) != 1), None)
    if unit is None:
        return "char" if odd is None else "word"
    if one_of("unit", unit, UNITS) == "char" and odd is not None:
        raise ValueError(
            f"tokens must be of one character each for unit='char', got {odd!r}; "
            "a token that is no text goes into reserved_tokens"
        )
    return str(unit)
