"""Tables that proofs keep: JSON with a line for each row, so that a row more is a line more in git's eyes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from book.recording.notebooks import sources
from d2lrnn.files import replacing

Row: TypeAlias = dict


def written(table: object, depth: int = 0) -> str:
    """Return a table's text but for its last line's end."""
    if isinstance(table, dict) and depth < 2:
        parts = (f"{json.dumps(name)}: {written(part, depth + 1)}" for name, part in table.items())
        return "{\n" + ",\n".join(parts) + "\n}"
    if isinstance(table, list) and table and isinstance(table[0], dict):
        return "[\n" + ",\n".join(map(json.dumps, table)) + "\n]"
    return json.dumps(table)


def write(path: Path, table: object) -> None:
    """Write a table as a whole file."""
    with replacing(path) as file:
        file.write(f"{written(table)}\n".encode())


def with_row(rows: list[Row], row: Row, place: Callable[[Row], tuple]) -> list[Row]:
    """Return rows in order of their places, with one in the place of that which was there."""
    by_place = {place(one): one for one in [*rows, row]}
    return [by_place[one] for one in sorted(by_place)]


def add(path: Path, row: Row, place: Callable[[Row], tuple]) -> None:
    """Write a row into a table of rows alone; those of chapters that are gone are left out."""
    known = {source.stem for source in sources()}
    old = [one for one in json.loads(path.read_text(encoding="utf-8")) if one["chapter"] in known]
    write(path, with_row(old, row, place))
