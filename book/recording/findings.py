"""Findings of chapters: what their code claims, what a recording shows, and in how many runs it was so.

A finding is a conclusion that may hang on a seed. `make findings` executes each chapter again under ten
shifts of all its seeds and keeps a row for each run; a chapter may claim no more than these rows hold. Words
and strength of a finding are read from the code; they are no part of what makes a row stale.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from nbformat import NotebookNode

from book.recording.notebooks import TABLES
from d2lrnn.recorded import FINDING_MIME, STRENGTHS

TABLE = TABLES / "findings.json"
SHIFTS = tuple(range(1000, 11_000, 1000))  # added to all seeds of a run
NEEDED = dict(zip(STRENGTHS, (9, 6, 0), strict=True))  # runs in which a finding of that strength must hold
WORDING = ("words", "strength")

Row: TypeAlias = dict  # a line of the table: what one chapter showed under one shift
Shown: TypeAlias = dict  # what an output of FINDING_MIME holds


@dataclass(frozen=True)
class Claim:
    """What the code of a chapter claims."""

    name: str
    words: str
    strength: str


@dataclass(frozen=True)
class Count:
    """What ten runs say of a finding: its numbers and whether it held, or None where it was not reached."""

    runs: tuple[tuple[float, float, bool] | None, ...]

    @property
    def held(self) -> int:
        """In how many runs it held."""
        return sum(run is not None and run[2] for run in self.runs)

    @property
    def computed(self) -> bool:
        """Whether its numbers are the same in all runs, so that there was no seed for it to hang on."""
        return None not in self.runs and len(set(self.runs)) == 1


def claims(cells: Iterable[NotebookNode]) -> list[Claim]:
    """Return what code cells claim, in order.

    Raises
    ------
    ValueError
        If a name, words or a strength is not written out where `finding` is called.
    """
    found = []
    for cell in cells:
        for call in _calls(cell.source):
            given = dict(zip(("name", "words"), call.args, strict=False))
            given |= {str(word.arg): word.value for word in call.keywords}
            given.setdefault("strength", ast.Constant("is"))
            written = [given.get(field) for field in ("name", *WORDING)]
            if not all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in written):
                raise ValueError(
                    "name, words and strength of a finding must be written out where it is called, "
                    f"got {ast.unparse(call)}"
                )
            found.append(Claim(*(one.value for one in written)))  # type: ignore[union-attr]
    return found


def without_wording(code: str) -> str:
    """Return code with its findings' words and strengths left out, and any other code as it is."""
    content = code.encode()
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for call in sorted(_calls(code), key=lambda call: (call.lineno, call.col_offset), reverse=True):
        first = starts[call.lineno - 1] + call.col_offset
        end = starts[(call.end_lineno or 1) - 1] + (call.end_col_offset or 0)
        call.args[1:2] = []
        call.keywords = [word for word in call.keywords if word.arg not in WORDING]
        content = content[:first] + ast.unparse(call).encode() + content[end:]
    return content.decode()


def shown(cells: Iterable[NotebookNode]) -> list[Shown]:
    """Return the findings that executed cells show, in order."""
    return [
        output["data"][FINDING_MIME]
        for cell in cells
        for output in cell.outputs
        if FINDING_MIME in output.get("data", {})
    ]


def lasting(output: Mapping[str, object]) -> Mapping[str, object]:
    """Return an output but for what a finding says in words, and any other output as it is."""
    data = output.get("data", {})
    if not isinstance(data, Mapping) or FINDING_MIME not in data:
        return output
    kept = {key: value for key, value in data[FINDING_MIME].items() if key not in WORDING}
    return {**output, "data": {FINDING_MIME: kept}}


def rows() -> list[Row]:
    """Return what is known of chapters under shifts, as `make findings` keeps it."""
    found: list[Row] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def counted(among: Iterable[Row], chapter: str, key: str) -> dict[str, Count] | None:
    """Return a chapter's counts by the findings' names; None if a run of today's key is missing."""
    by_shift = {row["shift"]: row for row in among if (row["chapter"], row["key"]) == (chapter, key)}
    if not by_shift.keys() >= set(SHIFTS):
        return None
    runs = [by_shift[shift]["findings"] for shift in SHIFTS]
    names = dict.fromkeys(name for run in runs for name in run)
    return {name: Count(tuple(tuple(run[name]) if run.get(name) else None for run in runs)) for name in names}


def _calls(code: str) -> Iterator[ast.Call]:
    try:
        tree = ast.parse(code)
    except SyntaxError:  # a cell magic, or a lesson on syntax errors
        return
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) == "finding"
        ):
            yield node
