"""Mark a printed value as measured on this machine, so that comparing two runs leaves out just that."""

from __future__ import annotations

import math
import re

from d2lrnn import _checks

MEASURED = re.compile(r" *(?<![\w.,])-?\d{1,3}(?:,?\d{3})*(?:\.\d+)?(?:e[-+]\d+)?( \S+ \(measured\)) *")


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
    number = _checks.real("value", _checks.listed("value", value))
    if not _checks.string("unit", unit) or re.search(r"\s", unit):
        raise ValueError(f"unit must be one word, got {unit!r}")
    digits = f"{number:.3g}"
    rounded = float(digits)
    shown = f"{rounded:,g}" if math.isfinite(rounded) else digits  # rounded up, no float holds the largest
    return f"{shown} {unit} (measured)"
