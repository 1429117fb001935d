"""How close a process came to an output that another machine might not share.

Two decisions can turn on a last bit: to which point of the grid a weight is rounded, and which of two tokens
has the higher logit. `round_to_grid` and `generate` note here how far from the edge they were, and a
recording keeps the orders of magnitude.
"""

from __future__ import annotations

import math

_closest = math.inf
_leads: list[float] = []


def note_grid(distance: float) -> None:
    """Note a weight's distance to halfway between two grid points; the smallest is kept."""
    global _closest
    _closest = min(_closest, distance)


def note_text(lead: float) -> None:
    """Note the smallest lead, in logits, of a token of one greedily generated text over the next best."""
    _leads.append(lead)


def orders() -> dict[str, object]:
    """Return what was noted as powers of ten, which machines that differ in the last bits share.

    Returns
    -------
    dict
        "grid" holds the power of the smallest distance, or None if no weight was rounded; "texts" holds one
        for each text. A margin of 0 or less, where no power says anything, is None too.
    """
    return {"grid": _order(_closest), "texts": [_order(lead) for lead in _leads]}


def _order(value: float) -> int | None:
    return math.floor(math.log10(value)) if 0 < value < math.inf else None
