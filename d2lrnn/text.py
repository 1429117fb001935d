"""From text to indices: cleaning, tokenizing by word or by character, and corpora of indices."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain

from d2lrnn import _codec, _letters
from d2lrnn._checks import integer, one_of, string
from d2lrnn.corpora import CORPORA, DEFAULT, load_text
from d2lrnn.vocab import UNITS, Vocab

_SCRIPT = {"en": "latin", "zh": "han"}  # of a language
_LETTER = {
    "latin": re.compile("[a-z]"),
    "han": re.compile("[\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
}
_LATIN, _HAN = _letters.Table(_letters.latin), _letters.Table(_letters.han)


def clean_lines(text: str, *, script: str = "latin") -> list[str]:
    r"""Normalise a text line by line.

    For `script="latin"`, lower-case letters a to z and single spaces are kept. Accents are dropped (é becomes
    e), and what Unicode takes apart into letters is (ﬁ, Ⅳ, ｆ, ª: fi, iv, f, a). Every other letter of
    Latin-1 and of Latin Extended-A, -B and Additional is spelt out: one with a stroke, hook or turn as the
    letter it is made of (ø, ħ, ƒ, ǝ: o, h, f, e), some by custom (æ, ß, þ, ŋ, ĸ, ə: ae, ss, th, n, q, e),
    clicks as in Naro (ǀ, ǁ, ǂ, ǃ: c, x, tc, q). So are most of the rarer Latin letters. Each run of anything
    else is one space: letters of other scripts, digits, symbols (™, ①, ㎏), control characters, punctuation,
    quotes of either shape, so that both don't and don’t become "don t", as in d2l. Marks and invisible
    characters (the soft hyphen, a byte-order mark, joiners, marks of direction) vanish and divide no word.

    For `script="han"`, whitespace, control characters and invisible ones (variation selectors, too) vanish.
    All else is kept, punctuation too, with marks composed (NFC).

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
    TypeError
        If `text` is not a str.
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
    return " ".join(line.translate(_LATIN).split())


def _han(line: str) -> str:
    return unicodedata.normalize("NFC", line.translate(_HAN))  # NFKC would turn ，？！ into , ? !


def tokenize(lines: Iterable[str], unit: str = "word") -> list[list[str]]:
    """Cut each line into tokens.

    Parameters
    ----------
    lines : iterable of str
        Lines, as `clean_lines` returns them.
    unit : str
        "word" splits a line at any whitespace, "char" into its characters, whitespace included.

    Returns
    -------
    list of list of str
        The tokens of each line; none for an empty line.

    Raises
    ------
    ValueError
        If `unit` is neither "word" nor "char".
    TypeError
        If `lines` is one str, or if an item of it or `unit` is not a str.
    """
    one_of("unit", unit, UNITS)
    return [line.split() if unit == "word" else list(line) for line in _codec.strings("lines", lines)]


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
        The vocabulary, which knows its unit.

    Raises
    ------
    ValueError
        If `name` or `unit` is unknown, if `max_tokens` is below 1, or if `unit` is "word" for a Chinese text.
    TypeError
        If `max_tokens` is neither None nor an integer, or if `name` or `unit` is not a str.
    ConnectionError, OSError
        As `load_text`.
    """
    one_of("unit", unit, UNITS)
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
    vocab = Vocab(tokens, unit=unit)
    return vocab[tokens[:max_tokens]], vocab
