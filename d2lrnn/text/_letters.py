"""What single characters become when a text is normalised."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

# What nobody sees beside the characters of category Cf (format): others that Unicode has programs ignore,
# such as variation selectors and the fillers of Hangul.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)

# Letters that Unicode neither takes apart nor names after a letter of the alphabet; after the first line, by
# their sound: African and Zhuang letters, and the clicks as in Naro.
_BY_HAND = {
    "ð": "d", "þ": "th", "ŋ": "n", "ĸ": "q", "ƿ": "w", "ȝ": "gh", "ẟ": "d", "ƍ": "d", "ƛ": "l",
    "ə": "e", "ɑ": "a", "ɣ": "g", "ɩ": "i", "ʊ": "u", "ʉ": "u", "ʃ": "sh", "ƪ": "sh", "ʒ": "zh", "ƹ": "zh",
    "ƺ": "zh", "ƣ": "gh", "ɂ": "q", "ƾ": "ts", "ƻ": "dz", "ƨ": "z", "ƽ": "q", "ƅ": "h",
    "ǀ": "c", "ǁ": "x", "ǂ": "tc", "ǃ": "q",
}  # fmt: skip
_NAME = re.compile("LATIN (?:[A-Z-]{3,} )+([A-Z]{1,2})(?: DIGRAPH)?(?: WITH .*)?")  # of h with stroke, of ae


def latin(character: str) -> str:
    """Return the letters a to z that a character stands for, "" for a mark and what nobody sees, or " "."""
    category = unicodedata.category(character)
    if category.startswith("M") or _is_unseen(character):
        return ""
    if not category.startswith("L") and category != "Nl":  # Nl: Roman numerals
        return " "
    return "".join(map(_spelt, unicodedata.normalize("NFKD", character).casefold())) or " "


def _spelt(letter: str) -> str:
    """Return the letters a to z of a small letter without marks, "" if there are none."""
    if "a" <= letter <= "z":
        return letter
    named = _NAME.fullmatch(unicodedata.name(letter, ""))
    return _BY_HAND.get(letter) or (named[1].lower() if named else "")


def han(character: str) -> str:
    """Return a character as it is, or "" for whitespace, control characters and what nobody sees."""
    blank = character.isspace() or character == "\u2800"  # the Braille pattern without a dot
    return "" if blank or unicodedata.category(character) == "Cc" or _is_unseen(character) else character


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) == "Cf" or _UNSEEN.match(character) is not None


class Table(dict[int, str]):
    """What characters become, by code point for `str.translate`: worked out when they are first met."""

    def __init__(self, becomes: Callable[[str], str]) -> None:
        self._becomes = becomes

    def __missing__(self, code: int) -> str:
        self[code] = letters = self._becomes(chr(code))
        return letters
