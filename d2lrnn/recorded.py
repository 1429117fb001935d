"""What a recording keeps beside its outputs: what was measured, what was found, and how firm the rest is.

`measured` marks a value that differs from run to run, so that comparing two runs leaves out just that.
`finding` shows a conclusion that may hang on a seed, with both its numbers, so that runs can be counted.

The rest says how close a process came to an output that another machine might not share. Three decisions can
turn on a last bit: to which point of the grid a weight is rounded, which of two tokens has the higher logit,
and in which token's share of the distribution a random number lies. `round_to_grid` and `generate` note here
how far from the edge they were, and a recording keeps the orders of magnitude. The notes are the process's,
of all threads together, and stay small: one number for the grid, and at most 10,000 each for greedy and for
drawn texts.
"""

from __future__ import annotations

import math
import operator
import re
import threading
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from d2lrnn import _support
from d2lrnn._kernel import display

MEASURED = re.compile(r" *(?<![\w.,])-?\d{1,3}(?:,?\d{3})*(?:\.\d+)?(?:e[-+]\d+)?( \S+ \(measured\)) *")
FINDING_MIME = "application/vnd.d2lrnn.finding+json"
RELATIONS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
STRENGTHS = ("is", "mostly", "here")
SIGNIFICANT_DIGITS = 6  # of a published number: far coarser than what differs between machines
MOST = 10_000  # texts of a kind with a note of their own; a chapter makes fewer than 100

_lock = threading.Lock()
_closest = math.inf
_leads: list[float] = []
_draws: list[float] = []


def measured(value: float, unit: str) -> str:
    """Format a value that differs from run to run, such as a time, to three significant digits.

    Parameters
    ----------
    value : float
        The value, in `unit`; also a number of NumPy, or an array or tensor without axes.
    unit : str
        The unit, one word, such as "s" or "tokens/s".

    Returns
    -------
    str
        For example ``"1.24 s (measured)"``. Comparing two recordings skips the number and nothing else.

    Raises
    ------
    TypeError
        If `value` is not a number or `unit` is not a str.
    ValueError
        If `value` is not finite, or `unit` is empty or holds a space.
    """
    number = _support.real("value", _support.listed("value", value))
    if not _support.string("unit", unit) or re.search(r"\s", unit):
        raise ValueError(f"unit must be one word, got {unit!r}")
    digits = f"{number:.3g}"
    rounded = float(digits)
    shown = f"{rounded:,g}" if math.isfinite(rounded) else digits  # rounded up, no float holds the largest
    return f"{shown} {unit} (measured)"


def finding(name: str, words: str, left: float, relation: str, right: float, *, strength: str = "is") -> None:
    """Show whether a conclusion holds in this run, with its numbers; one that does not hold raises nothing.

    A conclusion of this kind, such as that one model predicts better than another, may hang on a seed. Where
    a course counts runs with other seeds, `strength` says how much of them its text may claim.

    Parameters
    ----------
    name : str
        What it is called, unlike any other of the notebook: lower-case words joined by hyphens.
    words : str
        The conclusion in one line, as ``"the GRU's perplexity is below the 5-gram's"``.
    left, right : float
        Its two numbers, in the same unit; `right` is the control's. Numbers of NumPy and arrays or tensors
        without axes are taken too; nan and infinities are, and nan is in no relation.
    relation : {"<", ">", "<=", ">="}
        What is claimed of `left` and `right`.
    strength : {"is", "mostly", "here"}
        Of ten runs with other seeds, it must hold in nine, in six, or in none: "here" claims it of this run
        alone.

    Raises
    ------
    TypeError
        If `left` or `right` is not a number, or another argument not a str.
    ValueError
        If `name`, `words`, `relation` or `strength` is not as described.
    """
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", _support.string("name", name)):
        raise ValueError(f"name must be lower-case words joined by hyphens, got {_support.short(name)}")
    if not _support.string("words", words).strip() or len(words.splitlines()) > 1:
        raise ValueError(f"words must be one line of text, got {_support.short(words)}")
    _support.one_of("relation", relation, tuple(RELATIONS))
    _support.one_of("strength", strength, STRENGTHS)
    numbers = _number("left", left), _number("right", right)
    found = {
        "name": name,
        "words": words,
        "left": _published(numbers[0]),
        "relation": relation,
        "right": _published(numbers[1]),
        "holds": bool(RELATIONS[relation](*numbers)),
        "strength": strength,
    }
    display({FINDING_MIME: found, "text/plain": in_words(found)})


def in_words(found: Mapping[str, Any]) -> str:
    """Return the line that shows a finding, by what its output of type `FINDING_MIME` holds."""
    held = "holds here" if found["holds"] else "does not hold here"
    return f"{held}: {found['words']} ({numbers_of(found)})"


def numbers_of(found: Mapping[str, Any]) -> str:
    """Return a finding's numbers and what is between them: "3.41 < 3.98", or "not" what was claimed."""
    sides = found["left"], found["right"]
    for digits in (4, SIGNIFICANT_DIGITS):
        left, right = (number_in_words(side, digits) for side in sides)
        if left != right:
            break
    return f"{left} {'' if found['holds'] else 'not '}{found['relation']} {right}"


def number_in_words(number: float | str, digits: int = 4) -> str:
    """Return a number as a finding shows it: a whole one in full, any other to so many digits."""
    return f"{number:,}" if isinstance(number, int) else f"{float(number):.{digits}g}"


def _number(name: str, value: object) -> float:
    """Return a number: a whole one as an int, any other as a float, which may be infinite or nan."""
    value = _support.listed(name, value)
    if isinstance(value, float) and not math.isfinite(value):
        return float(value)
    number = _support.real(name, value)
    return int(value) if isinstance(value, Integral) else number


def _published(number: float) -> float | str:
    """Return a float to so many digits as machines share, or as text if JSON has no number for it."""
    if isinstance(number, int):
        return number
    return float(f"{number:.{SIGNIFICANT_DIGITS}g}") if math.isfinite(number) else str(number)


def note_grid(distance: float) -> None:
    """Note a weight's distance to halfway between two grid points; the smallest is kept."""
    global _closest
    with _lock:
        _closest = min(_closest, distance)


def note_text(lead: float) -> None:
    """Note the smallest lead, in logits, of a token of one greedily generated text over the next best."""
    _note(_leads, lead)


def note_draws(distance: float) -> None:
    """Note the smallest distance, in probability, of a random number of one drawn text to another token."""
    _note(_draws, distance)


def orders() -> dict[str, object]:
    """Return what was noted as powers of ten, which machines that differ in the last bits share.

    Returns
    -------
    dict
        "grid" holds the power of the smallest distance, or None if no weight was rounded; "texts" holds one
        for each greedy text, "draws" one for each drawn text, None where there was but one token to choose.
        A margin of 0 or less, which has no power, is "none". The 10,000th entry of a list stands for that
        text and all later ones, with the smallest of their margins.
    """
    with _lock:
        closest, leads, draws = _closest, list(_leads), list(_draws)
    return {"grid": _order(closest), "texts": list(map(_order, leads)), "draws": list(map(_order, draws))}


def _note(noted: list[float], value: float) -> None:
    """Append a value, or, to a list that is full, let its last one be the smaller."""
    with _lock:
        if len(noted) < MOST:
            noted.append(value)
        else:
            noted[-1] = min(noted[-1], value)


def _order(value: float) -> int | str | None:
    if value == math.inf:
        return None
    return math.floor(math.log10(value)) if value > 0 else "none"
