"""Make recordings: execute chapters and write them with their outputs and provenance.

Usage: python -m book.record [chapters/NAME.md ...]   (all chapters when none is named)
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from book import margins, provenance
from book.compare import mask_measured
from book.notebooks import (
    CELL_TIMEOUT,
    CHAPTERS,
    ROOT,
    code_cells,
    portable,
    read_recording,
    read_source,
    recording_of,
    sources,
    use_this_checkout,
    write_recording,
)


class RecordingError(Exception):
    """A chapter could not be recorded; the message names the chapter and the cell."""


def expected(path: Path) -> NotebookNode:
    """Return the notebook that the chapter at `path` should be recorded as, without outputs."""
    return portable(read_source(path), path.relative_to(ROOT).as_posix())


def record(path: Path) -> NotebookNode:
    """Execute the chapter at `path` and return its recording.

    Raises
    ------
    RecordingError
        If a cell raises, times out, is not run, or shows what differs from run to run or machine to machine.
    """
    name = path.relative_to(ROOT).as_posix()
    notebook = expected(path)
    probe = nbformat.v4.new_code_cell(provenance.PROBE)
    notebook.cells.append(probe)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise RecordingError(f"{name}: {error}") from error
    notebook.cells.remove(probe)
    for number, cell in enumerate(code_cells(notebook)):
        cell.outputs = _settle(cell.outputs)
        if fault := _fault(cell):
            raise RecordingError(f"{name}, code cell {number} {fault}")
    source, noted = read_source(path), json.loads(probe.outputs[0].text)
    notebook.metadata = {
        "kernelspec": notebook.metadata.kernelspec,
        "language_info": {"name": "python"},
        provenance.KEY: provenance.describe(source, notebook, **noted),
    }
    return nbformat.from_dict(notebook)


def _fault(cell: NotebookNode) -> str | None:
    """Say what keeps an executed cell from being recorded, if anything does."""
    if cell.execution_count is None:
        return "was not run"
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            return f"writes to stderr:\n{output.text}"
        text = json.dumps(output)
        if address := re.search(r"\b0x[0-9a-f]{8,}", text):
            return f"shows a memory address: {address[0]}"
        if str(ROOT) in text:
            return f"shows a path of this machine: {ROOT}"
        if "application/vnd.jupyter.widget-view+json" in text:
            return "shows a live widget, which a page cannot: use d2lrnn.explore"
    return None


def _settle(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join a stream's pieces, whose cuts depend on timing, and drop a traceback's paths and line noise."""
    settled: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        last = settled[-1] if settled else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            settled.append(output)
    return settled


def same_but_for_times(a: NotebookNode, b: NotebookNode) -> bool:
    """Tell whether two recordings differ in nothing but values marked as measured, and margins.

    Margins are powers of ten, so that the last bits of another machine seldom show in them, but they can.
    """
    return _lasting(a) == _lasting(b)


def _lasting(recording: NotebookNode) -> object:
    copy = nbformat.from_dict(recording)
    noted = copy.metadata.get(provenance.KEY, {})
    if "margins" in noted:
        noted["margins"] = provenance.NO_MARGINS
    return provenance.in_strings(mask_measured, json.loads(nbformat.writes(copy)))


def main(arguments: list[str]) -> int:
    """Record the named chapters, or all; return the exit status."""
    use_this_checkout()
    known = sources()
    chosen = [Path(argument).resolve() for argument in arguments] or known
    for path in chosen:
        if path not in known:
            names = ", ".join(source.relative_to(ROOT).as_posix() for source in known)
            print(f"{path} is not a chapter with code; those are: {names}", file=sys.stderr)
            return 2
    for path in chosen:
        target = recording_of(path)
        try:
            new = record(path)
        except (RecordingError, RuntimeError, ValueError) as error:
            print(error, file=sys.stderr)
            return 1
        if target.is_file() and same_but_for_times(read_recording(target), new):
            print(f"{target.relative_to(ROOT)}: unchanged")
        else:
            write_recording(target, new)
            print(f"{target.relative_to(ROOT)}: written")
    margins.write(known)
    if not arguments:
        for orphan in sorted(set(CHAPTERS.glob("*.ipynb")) - {recording_of(path) for path in known}):
            print(f"{orphan.relative_to(ROOT)} has no chapter beside it: remove it", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
