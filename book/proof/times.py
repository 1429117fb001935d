"""Measure how long each chapter's code runs, for the chapters' heads, the status page and the time budget.

Usage: python -m book.proof.times [CHAPTER ...]   (all chapters when none is named)

Measured is processor time on one thread, which another program that runs meanwhile hardly changes. Recordings
hold no times, so that making one twice gives the same bytes; times are kept with the processor, and with the
key of the recording whose code ran. That lets a test hold chapters to the budget without running them: it
cannot fail because a machine is busy, and a chapter that changed has to be measured again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from book.proof.settings import PLAIN, Setting, cpu, environment
from book.recording.notebooks import (
    CELL_TIMEOUT,
    ROOT,
    chosen,
    code_cells,
    in_book_order,
    read_recording,
    read_source,
    recording_of,
    sources,
    use_this_checkout,
)
from book.recording.provenance import key
from book.site.meta import TIMES

TABLE = TIMES.with_suffix(".md")
MOST, MOST_OF_SOME, MOST_OF_ALL = 40, 80, 800  # seconds
DEARER = ("fair-comparison", "linear-recurrences", "memory-and-attention")
# Chapters of the first edition that take longer: how long they may, and the issue that writes them anew.
EXCEPTIONS = {"rnn-concise": (85, 23), "rnn-scratch": (60, 23), "vanishing-gradients": (52, 24)}
CLEAR = 3 / 4  # of the budget: what takes less on one machine needs no exception on another
PROBE = "import builtins, os\nbuiltins.print(sum(os.times()[:4]))"  # of the kernel and what it started


def measured(path: Path) -> dict[str, object]:
    """Return the processor time that a chapter's recording takes when it is executed on one thread."""
    recording = read_recording(recording_of(path))
    notebook = nbformat.from_dict(recording)
    probe = nbformat.v4.new_code_cell(PROBE)
    notebook.cells.append(probe)
    client = NotebookClient(
        notebook, timeout=CELL_TIMEOUT, resources={"metadata": {"path": str(path.parent)}}
    )
    plain = environment(Setting(PLAIN), Path())
    client.execute(env={**plain, "OMP_NUM_THREADS": "1"})
    seconds = round(float(probe.outputs[0].text))
    return {"seconds": seconds, "key": key(recording), "processor": cpu()[0]}


def read() -> dict[str, dict]:
    """Return what was measured, by page."""
    return json.loads(TIMES.read_text(encoding="utf-8"))


def write(found: dict[str, dict]) -> None:
    """Write what was measured of pages that are there, one line each, and the status page's table."""
    pages = [page_of(path) for path in sources()]
    lines = [f"{json.dumps(page)}: {json.dumps(found[page])}" for page in pages if page in found]
    TIMES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")
    TABLE.write_text(table(read()), encoding="utf-8", newline="\n")


def page_of(path: Path) -> str:
    """Return a chapter's page as the site names it."""
    return path.relative_to(ROOT).with_suffix("").as_posix()


def table(found: dict[str, dict]) -> str:
    """Return the status page's table, in Markdown."""
    lines = ["| chapter | code cells | seconds |", "| --- | ---: | ---: |"]
    for page in in_book_order(found):
        one = found[page]
        cells = len(code_cells(read_source(ROOT / f"{page}.md")))
        lines.append(f"| {{doc}}`/{page}` | {cells} | {one['seconds']} |")
    lines.append(f"| together | | {sum(one['seconds'] for one in found.values())} |")
    processors = sorted({one["processor"] for one in found.values()})
    return "\n".join(lines) + f"\n\nMeasured on: {', '.join(processors)}.\n"


def complaints(found: dict[str, dict], keys: dict[str, str]) -> list[str]:
    """Return one line for each chapter without a time of today's key, and for what is over the budget."""
    lines = []
    for name, today in keys.items():
        one = found.get(f"chapters/{name}")
        limit = MOST_OF_SOME if name in DEARER else MOST
        allowed, issue = EXCEPTIONS.get(name, (limit, None))
        if one is None or one["key"] != today:
            lines.append(f"{name}: no time of today's code and outputs: run `make times ONLY={name}`")
        elif one["seconds"] > allowed:
            lines.append(f"{name}: {one['seconds']} s on one thread, at most {allowed} are allowed")
        elif issue and one["seconds"] <= CLEAR * limit:
            lines.append(f"{name}: {one['seconds']} s on one thread need no exception (issue {issue})")
    if (total := sum(one["seconds"] for one in found.values())) > MOST_OF_ALL:
        lines.append(f"all chapters: {total} s on one thread, at most {MOST_OF_ALL} are allowed")
    return lines


def main(arguments: list[str]) -> int:
    """Measure the named chapters, or all, and write each time at once."""
    try:
        named = chosen(arguments)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    use_this_checkout()
    for path in named:
        one = measured(path)
        write({**read(), page_of(path): one})
        print(f"{path.stem}: {one['seconds']} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
