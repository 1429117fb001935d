"""From text to indices: cleaning, tokenizing by word or by character, and the vocabulary."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import overload

from d2lrnn._checks import index, integer, one_of, ordered, string
from d2lrnn.corpora import CORPORA, DEFAULT, load_text

UNKNOWN = "<unk>"

_SCRIPT = {"en": "latin", "zh": "han"}  # of a language
_LETTER = {
    "latin": re.compile("[a-z]"),
    "han": re.compile("[\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
}
# Letters that Unicode does not take apart into a base letter and marks, and the invisible soft hyphen.
_SPELT_OUT = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "\u00ad": ""}
)


def clean_lines(text: str, *, script: str = "latin") -> list[str]:
    r"""Normalise a text line by line.

    For `script="latin"`, lower-case letters a to z and single spaces are kept. Accents are dropped (é becomes
    e), other Latin letters spelt out (æ becomes ae, ß ss), and each run of anything else becomes one space:
    digits, punctuation, quotes of either shape, so that both don't and don’t become "don t", as in d2l.
    For `script="han"`, whitespace is dropped and all else kept, punctuation too.

    Only "\n", "\r\n" and "\r" end a line; a form feed, say, is whitespace. A line without letters is kept, as
    "". As with `readlines`, a newline at the end of the text starts no other line, and "" gives [].

    Parameters
    ----------
    text : str
        Any text.
    script : str
        "latin" or "han".

    Returns
    -------
    list of str
        One entry a line.

    Raises
    ------
    ValueError
        If `script` is unknown, or if `text` has letters but none of that script: all would be lost.
    """
    one_of("script", script, _LETTER)
    raw = string("text", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if raw[-1] == "":
        raw.pop()
    lines = [_latin(line) if script == "latin" else _han(line) for line in raw]
    if any(map(str.isalpha, text)) and not any(map(_LETTER[script].search, lines)):
        other = "han" if script == "latin" else "latin"
        raise ValueError(
            f"text has letters, but none that script={script!r} keeps; there is script={other!r}, too"
        )
    return lines


def _latin(line: str) -> str:
    decomposed = unicodedata.normalize("NFKD", line).casefold().translate(_SPELT_OUT)
    letters = "".join(c for c in decomposed if not unicodedata.category(c).startswith("M"))  # M: marks
    return re.sub("[^a-z]+", " ", letters).strip()


def _han(line: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFC", line))  # NFKC would turn ，？！ into , ? !


def tokenize(lines: Iterable[str], unit: str = "word") -> list[list[str]]:
    """Cut each line into tokens.

    Parameters
    ----------
    lines : iterable of str
        Lines, as `clean_lines` returns them.
    unit : str
        "word" splits a line at its spaces, "char" into its characters, spaces included.

    Returns
    -------
    list of list of str
        The tokens of each line; none for an empty line.

    Raises
    ------
    ValueError
        If `unit` is neither "word" nor "char".
    TypeError
        If `lines` is one str, or if an item of it is not a str.
    """
    one_of("unit", unit, ("word", "char"))
    return [line.split() if unit == "word" else list(line) for line in _strings("lines", lines)]


class Vocab:
    """Map tokens to indices and back.

    Index 0 is "<unk>", which stands for any unknown token. Then come the reserved tokens in the order given,
    then the text's tokens, the most frequent first; of equally frequent ones, the first seen comes first.

    Parameters
    ----------
    tokens : iterable of str, or of lists of str
        The tokens of a text in reading order, flat or by line.
    min_freq : int
        Tokens seen fewer times than this are left out, and so are unknown.
    reserved_tokens : iterable of str
        Tokens that get an index whether they occur or not, such as "<pad>".

    Raises
    ------
    ValueError
        If `min_freq` is negative, or if a reserved token is given twice or is "<unk>".
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
    ) -> None:
        integer("min_freq", min_freq, minimum=0)
        reserved = [UNKNOWN, *_strings("reserved_tokens", reserved_tokens)]
        for token, count in Counter(reserved).items():
            if count > 1:
                raise ValueError(f"reserved_tokens must be distinct and not {UNKNOWN!r}, got {token!r} again")
        self._token_freqs = Counter(_flat("tokens", tokens)).most_common()  # ties stay in first-seen order
        frequent = (token for token, count in self._token_freqs if count >= min_freq)
        self._tokens = tuple(dict.fromkeys([*reserved, *frequent]))
        self._indices = {token: i for i, token in enumerate(self._tokens)}

    @property
    def unk(self) -> int:
        """Index of "<unk>": 0."""
        return 0

    @property
    def token_freqs(self) -> list[tuple[str, int]]:
        """All tokens of the text, rare ones too, as (token, count), the most frequent first."""
        return list(self._token_freqs)

    def __len__(self) -> int:
        return len(self._tokens)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._indices

    def __repr__(self) -> str:
        first = ", ".join(map(repr, self._tokens[:5]))
        return f"Vocab({len(self)} tokens: {first}{', ...' if len(self) > 5 else ''})"

    @overload
    def __getitem__(self, tokens: str) -> int: ...
    @overload
    def __getitem__(self, tokens: list[str] | tuple[str, ...]) -> list[int]: ...
    @overload
    def __getitem__(self, tokens: object) -> object: ...
    def __getitem__(self, tokens: object) -> object:
        """Return a token's index, 0 if it is unknown; for lists or tuples, lists nested in the same way."""
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
        """Return an index's token; for a sequence, array or tensor, lists of tokens nested in the same way.

        One index in a list gives a list of one token. An array or tensor without dimensions counts as an int.

        Raises
        ------
        ValueError
            If an index is negative or not below the size of the vocabulary.
        TypeError
            If an index is not an integer.
        """
        if hasattr(indices, "tolist"):
            indices = indices.tolist()
        if isinstance(indices, Sequence) and not isinstance(indices, str):
            return [self.to_tokens(i) for i in indices]
        return self._tokens[index("index", indices, len(self))]


def _strings(name: str, items: Iterable[str], expected: str = "a list of str") -> list[str]:
    return [string(f"{name}[{i}]", item) for i, item in enumerate(ordered(name, items, expected))]


def _flat(name: str, tokens: Iterable[str | Iterable[str]]) -> Iterator[str]:
    for i, item in enumerate(ordered(name, tokens, "a list of str, or of lists of str")):
        if isinstance(item, str):
            yield item
        else:
            yield from _strings(f"{name}[{i}]", item, "a str or a list of str")


def load_corpus(
    name: str = DEFAULT, unit: str = "char", max_tokens: int | None = None
) -> tuple[list[int], Vocab]:
    """Return a named text as indices, and its vocabulary.

    The lines' tokens are put in one list; empty lines leave no trace. Between the characters of two lines
    there is what `CORPORA[name].line_end` says: a space in "tide_clock", so that no two words are glued
    together, a newline in "stone_bridge", which has no spaces, and nothing in "time_machine", as in d2l
    (170,580 characters).

    Parameters
    ----------
    name : str
        A key of `CORPORA`.
    unit : str
        "char" or "word".
    max_tokens : int or None
        Number of tokens to keep, from the first; None keeps all. The vocabulary is that of the whole text.

    Returns
    -------
    corpus : list of int
        The tokens' indices, in reading order.
    vocab : Vocab
        The vocabulary.

    Raises
    ------
    ValueError
        If `name` or `unit` is unknown, if `max_tokens` is below 1, or if `unit` is "word" for a Chinese text.
    TypeError
        If `max_tokens` is neither None nor an integer.
    """
    one_of("unit", unit, ("word", "char"))
    if max_tokens is not None:
        integer("max_tokens", max_tokens, minimum=1)
    text = load_text(name)
    known = CORPORA[name]
    if known.words is None and unit == "word":
        raise ValueError(f"unit must be 'char' for {name!r}, got 'word': Chinese has no spaces between words")
    lines = [line for line in clean_lines(text, script=_SCRIPT[known.language]) if line]
    if unit == "char":
        lines = [known.line_end.join(lines)]
    tokens = list(chain.from_iterable(tokenize(lines, unit)))
    vocab = Vocab(tokens)
    return vocab[tokens[:max_tokens]], vocab
