"""The table of the appendix page that says how close each recording came to another output.

Usage: python -m book.proof.margins   (after recording)
"""

from __future__ import annotations

import math
from pathlib import Path

from book.recording.notebooks import TABLES, read_recording, recording_of, sources
from book.recording.provenance import KEY, NO_MARGINS

TABLE = TABLES / "margins.md"


def table(chapters: list[Path]) -> str:
    """Return, for every chapter that has a recording, its margins as Markdown."""
    rows = [["chapter", "distance of a weight", "greedy texts", "lead of a token"]]
    rows[0] += ["drawn texts", "distance of a draw"]
    rows.append(["---", *["---:"] * 5])
    for source in chapters:
        if not recording_of(source).is_file():
            continue
        noted = read_recording(recording_of(source)).metadata.get(KEY, {}).get("margins", NO_MARGINS)
        row = [source.stem, _power(noted["grid"])]
        for kind in ("texts", "draws"):
            powers = [power for power in noted[kind] if power is not None]
            row += [f"{len(noted[kind])}", _power(min(powers, default=None, key=_size))]
        rows.append(row)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def _size(order: int | str) -> float:
    return order if isinstance(order, int) else -math.inf


def _power(order: int | str | None) -> str:
    if order is None:
        return "–"
    if isinstance(order, str):
        return order
    return f"10{str(order).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


if __name__ == "__main__":
    TABLE.write_text(table(sources()), encoding="utf-8", newline="\n")
