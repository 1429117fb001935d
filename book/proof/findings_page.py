"""The findings of all chapters as the Markdown that the appendix page includes.

Usage: python -m book.proof.findings_page   (after recording)
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from book.recording import findings
from book.recording.findings import Count, Shown, counted
from book.recording.notebooks import (
    TABLES,
    own_code_cells,
    read_recording,
    read_source,
    recording_of,
    sources,
)
from book.recording.provenance import KEY, key
from book.site.findings import anchor, dots, sides, spread, tally
from d2lrnn.recorded import numbers_of

TABLE = TABLES / "findings.md"
HEAD = "| finding, with the recorded run's numbers | held | ten runs |\n| --- | --- | --- |"


def page() -> str:
    """Return a table for each chapter that has findings."""
    rows, parts = findings.rows(), []
    for path in sources():
        recorded = recording_of(path)
        recording = read_recording(recorded) if recorded.is_file() else None
        if recording is None or KEY not in recording.metadata:
            continue
        counts = counted(rows, path.stem, key(recording)) or {}
        lines = [
            _row(path.stem, shown, counts.get(shown["name"]))
            for shown in findings.shown(own_code_cells(recording))
        ]
        if lines:
            title = f"**[{_title(path)}](../../../chapters/{path.stem})**"
            parts.append("\n".join([title, "", HEAD, *lines]))
    return "\n\n".join(parts or ["No chapter has a finding yet."]) + "\n"


def _row(chapter: str, shown: Shown, count: Count | None) -> str:
    words = f'<span id="{anchor(chapter, shown["name"])}"></span>{_cell(shown["words"])}'
    held, runs = tally(count).removeprefix("in ").removesuffix(" runs"), ""
    if count and not count.computed:
        left, control = map(spread, sides(count))
        runs = f"{dots(count)}<br>{left}; control {control}"
    return f"| {words} ({_cell(numbers_of(shown))}) | {held} | {runs} |"


def _cell(text: str) -> str:
    return escape(text).replace("|", "&#124;")


def _title(path: Path) -> str:
    first = next(cell.source for cell in read_source(path).cells if cell.cell_type == "markdown")
    return first.lstrip("# ").partition("\n")[0]


def write() -> None:
    """Write the page's table."""
    TABLE.write_text(page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
