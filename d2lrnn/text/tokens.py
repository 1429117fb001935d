"""From text to indices: cleaning, tokenizing by word or by character, and corpora of indices."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from d2lrnn._support import one_of, string
from d2lrnn.text import _codec, _letters
from d2lrnn.text.vocabulary import UNITS

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
