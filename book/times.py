"""Measure how long each chapter's code runs, for the chapters' heads and the status page.

Usage: python -m book.times

Recordings hold no times, so that making one twice gives the same bytes. Times differ from computer to
computer and from day to day; those here are of one run on one computer.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from book.meta import TIMES
from book.notebooks import ROOT, code_cells, read_source, sources, use_this_checkout
from book.record import record

TABLE = TIMES.with_suffix(".md")


def measured(path: Path) -> int:
    """Return the seconds, at least 1, from the start of a chapter's kernel to its last output."""
    start = time.monotonic()
    record(path)
    return max(1, round(time.monotonic() - start))


def table(seconds: dict[str, int], cores: int) -> str:
    """Return the status page's table, in Markdown."""
    lines = ["| chapter | code cells | seconds |", "| --- | ---: | ---: |"]
    for page, value in seconds.items():
        path = ROOT / f"{page}.md"
        lines.append(f"| {{doc}}`/{page}` | {len(code_cells(read_source(path)))} | {value} |")
    lines.append(f"| together, on {cores} cores | | {sum(seconds.values())} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Execute every chapter and write the times and their table."""
    use_this_checkout()
    seconds = {path.relative_to(ROOT).with_suffix("").as_posix(): measured(path) for path in sources()}
    cores = os.cpu_count() or 1
    TIMES.write_text(json.dumps({"cores": cores, "seconds": seconds}, indent=1) + "\n", encoding="utf-8")
    TABLE.write_text(table(seconds, cores), encoding="utf-8")


if __name__ == "__main__":
    main()
