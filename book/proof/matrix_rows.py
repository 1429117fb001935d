"""The rows of the matrix: the file that keeps them, and what it lacks.

A row says what came out when one chapter was executed again under one setting on one processor. Its key is
that of the chapter's recording: once code, outputs or pinned versions have changed, the row proves nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

from book.proof import rows
from book.proof.rows import Row
from book.proof.settings import PLAIN, emulated, settings, wanted
from book.proof.short_training import NO_GRID
from book.recording import provenance
from book.recording.compare import TOLERANCES
from book.recording.notebooks import TABLES, read_recording, recording_of, sources

RESULTS = TABLES / "matrix.json"
# The file's parts. The first edition's rows, each over all its chapters together, are kept as they were.
CHAPTERS, SHORT, FIRST = "chapters", "short-training", "first edition"
ORDER = {setting.name: number for number, setting in enumerate([*settings(), *emulated()])}


def read() -> dict[str, list[Row]]:
    """Return the file's parts."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def add(part: str, row: Row) -> None:
    """Write a row into the file, in place of the one of the same chapter, setting and processor.

    Rows of chapters and settings that are gone are left out.
    """
    table = read()
    works = {path.stem for path in sources()} | {SHORT}
    known = [one for one in table[part] if place(one)[0] in works and one["setting"] in ORDER]
    table[part] = rows.with_row(known, row, place)
    rows.write(RESULTS, table)


def place(row: Row) -> tuple[str, str, str]:
    """Return what a row is the only one of."""
    return row.get("chapter", SHORT), row["processor"], row["setting"]


def keys() -> dict[str, str]:
    """Return the key of each chapter's recording; a chapter without one has none."""
    return {path.stem: key for path in sources() if (key := key_of(path))}


def key_of(source: Path) -> str:
    """Return the key of a chapter's recording, or nothing if there is none."""
    path = recording_of(source)
    recording = read_recording(path) if path.is_file() else None
    return provenance.key(recording) if recording and provenance.KEY in recording.metadata else ""


def holds(row: Row, key: str, since: str = "") -> bool:
    """Tell whether a row is of this key, not older than a date, and without a difference."""
    return row["key"] == key and row["date"] >= since and not row.get("differing")


def short_rows(rows: list[Row]) -> list[Row]:
    """Return the rows of the latest short training, each held against the first with no variable set."""
    plain = [row for row in rows if row["setting"] == PLAIN]
    if not plain:
        return []
    latest = max(plain, key=lambda row: row["date"])["key"]
    reference = next(row for row in plain if row["key"] == latest)
    found = [held_against(reference, row) for row in rows if row["key"] == latest]
    return sorted(found, key=lambda row: (row["processor"], ORDER[row["setting"]]))


def held_against(reference: Row, row: Row) -> Row:
    """Return a row of the short training with how many values it has, and what differs from a reference."""
    compared = [
        (f"{model}, {what}", old, row["models"][model][what])
        for model, facts in reference["models"].items()
        if model != NO_GRID
        for what, old in facts.items()
    ]
    sizes = {name: abs(a - b) / abs(a) for name, a, b in compared if isinstance(a, float)}
    # Of nan, no comparison holds.
    moved = [
        (name, a, b)
        for name, a, b in compared
        if not (sizes[name] <= TOLERANCES["printed"] if name in sizes else a == b)
    ]
    return {
        **row,
        "cells": len(compared),
        "differing": {name: [f"recorded {a}, got {b}"] for name, a, b in moved},
        "largest": {"printed": max(sizes.values())},
        "without the grid": row["models"][NO_GRID]["weights"],
    }


def lacking(rows: list[Row], chapter: str, key: str, since: str = "") -> list[str]:
    """Return the wanted settings that no row proves, on the processor that lacks the fewest."""
    held: dict[str, set[str]] = {}
    for row in rows:
        if row["chapter"] == chapter and holds(row, key, since):
            held.setdefault(row["processor"], set()).add(row["setting"])
    names = [setting.name for setting in wanted()]
    left = [[name for name in names if name not in found] for found in held.values()]
    return min(left, key=len, default=names)


def complaints() -> list[str]:
    """Return one line for each chapter that lacks a row, and for each row of today's key that differs."""
    rows, found = read()[CHAPTERS], []
    for chapter, key in keys().items():
        if left := lacking(rows, chapter, key):
            more = f" and {len(left) - 2} more" if len(left) > 2 else ""
            found.append(
                f"{chapter}: no good row of today's code and outputs for {len(left)} of {len(wanted())} "
                f"settings ({'; '.join(left[:2])}{more}): run `make matrix ONLY={chapter}`"
            )
    return found + differing()


def differing() -> list[str]:
    """Return one line for each cell that a row of today's key, or of the short training, says differs."""
    table, today = read(), keys()
    rows = [row for row in table[CHAPTERS] if row["key"] == today.get(row["chapter"])]
    return [
        f"{row.get('chapter', SHORT)}, {row['setting']}, {row['processor']}: {cell}: {lines[0]}"
        for row in [*rows, *short_rows(table[SHORT])]
        for cell, lines in row["differing"].items()
    ]
