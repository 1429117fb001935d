"""How close a process came to an output that another machine might not share.

Three decisions can turn on a last bit: to which point of the grid a weight is rounded, which of two tokens
has the higher logit, and in which token's share of the distribution a random number lies. `round_to_grid`
and `generate` note here how far from the edge they were, and a recording keeps the orders of magnitude.
"""

from __future__ import annotations

import math

_closest = math.inf
_leads: list[float] = []
_draws: list[float] = []


def note_grid(distance: float) -> None:
    """Note a weight's distance to halfway between two grid points; the smallest is kept."""
    global _closest
    _closest = min(_closest, distance)


def note_text(lead: float) -> None:
    """Note the smallest lead, in logits, of a token of one greedily generated text over the next best."""
    _leads.append(lead)


def note_draws(distance: float) -> None:
    """Note the smallest distance, in probability, of a random number of one drawn text to another token."""
    _draws.append(distance)


def orders() -> dict[str, object]:
    """Return what was noted as powers of ten, which machines that differ in the last bits share.

    Returns
    -------
    dict
        "grid" holds the power of the smallest distance, or None if no weight was rounded; "texts" holds one
        for each greedy text, "draws" one for each drawn text, None where there was but one token to choose.
        A margin of 0 or less, which has no power, is "none".
    """
    texts, draws = ([_order(value) for value in noted] for noted in (_leads, _draws))
    return {"grid": _order(_closest), "texts": texts, "draws": draws}


def _order(value: float) -> int | str | None:
    if value == math.inf:
        return None
    return math.floor(math.log10(value)) if value > 0 else "none"
