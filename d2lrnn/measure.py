"""Mark a printed value as measured on this machine, so that comparing two runs leaves out just that."""

from __future__ import annotations

import re

from d2lrnn import _checks

MEASURED = re.compile(r" *(?<![\w.,])-?\d{1,3}(?:,?\d{3})*(?:\.\d+)?(?:e[-+]\d+)?( \S+ \(measured\)) *")


def measured(value: float, unit: str) -> str:
    """Format a value that differs from run to run, such as a time, to three significant digits.

    Parameters
    ----------
    value
        The value, in `unit`.
    unit
        The unit, one word, such as ``"s"`` or ``"tokens/s"``.

    Returns
    -------
    str
        For example ``"1.24 s (measured)"``. Comparing two recordings skips the number and nothing else.

    Raises
    ------
    TypeError, ValueError
        If `value` is not a finite number, or `unit` is empty or holds a space.
    """
    number = _checks.real("value", value)
    if not _checks.string("unit", unit) or re.search(r"\s", unit):
        raise ValueError(f"unit must be one word, got {unit!r}")
    rounded = float(f"{number:.3g}")
    return f"{rounded:,g} {unit} (measured)"
