"""What a recording keeps beside its outputs: which values were measured, and how firm the others are.

`measured` marks a value that differs from run to run, so that comparing two runs leaves out just that.

The rest says how close a process came to an output that another machine might not share. Three decisions can
turn on a last bit: to which point of the grid a weight is rounded, which of two tokens has the higher logit,
and in which token's share of the distribution a random number lies. `round_to_grid` and `generate` note here
how far from the edge they were, and a recording keeps the orders of magnitude. The notes are the process's,
of all threads together, and stay small: one number for the grid, and at most 10,000 each for greedy and for
drawn texts.
"""

from __future__ import annotations

import math
import re
import threading

from d2lrnn import _support

MEASURED = re.compile(r" *(?<![\w.,])-?\d{1,3}(?:,?\d{3})*(?:\.\d+)?(?:e[-+]\d+)?( \S+ \(measured\)) *")
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
