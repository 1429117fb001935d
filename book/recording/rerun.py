"""Execute a chapter's recording again, and tell what came out otherwise.

Usage: python -m book.recording.rerun chapters/NAME.md [SECONDS]   (that a cell may take; prints JSON)

`matrix` and `mutants` start it in fresh processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from typing import TypedDict

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from book.recording.compare import deviations
from book.recording.notebooks import (
    CELL_TIMEOUT,
    ROOT,
    code_cells,
    read_recording,
    recording_of,
    use_this_checkout,
)


class Outcome(TypedDict):
    """What a run compared: how many cells, what differs by cell, and how far numbers of a kind came apart."""

    cells: int
    differing: dict[str, list[str]]
    largest: dict[str, float]


def rerun(path: Path, limit: int = CELL_TIMEOUT) -> Outcome:
    """Execute the recording of the chapter at `path` in a new kernel and compare each cell's outputs.

    A kernel that dies, or a cell that takes more than `limit` seconds, is a difference of the cell where that
    happened.
    """
    recording = read_recording(recording_of(path))
    notebook = nbformat.from_dict(recording)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=limit,
        allow_errors=True,  # an error is an output, and compared
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
        stopped = None
    except (CellTimeoutError, DeadKernelError) as error:
        stopped = str(error).partition("\n")[0]
    differing: dict[str, list[str]] = {}
    largest: dict[str, float] = defaultdict(float)
    pairs = zip(code_cells(recording), code_cells(notebook), strict=True)
    for number, (recorded, new) in enumerate(pairs):
        if new.execution_count is None:
            differing[f"cell {number}"] = [stopped or "was not run"]
            continue
        found = deviations(recorded.outputs, new.outputs)
        if lines := [one.line for one in found if one.size > one.allowed]:
            differing[f"cell {number}"] = lines
        for one in found:
            if one.kind:
                largest[one.kind] = max(largest[one.kind], one.size)
    return {"cells": len(code_cells(recording)), "differing": differing, "largest": dict(largest)}


def as_tests_do(path: Path) -> list[str]:
    """Hold the recording of the chapter at `path` against a new run, as pytest does; list what fails.

    Raises
    ------
    RuntimeError
        If pytest came to no result.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["--quiet", "--color=no", "-p", "no:cacheprovider", f"--junitxml={report}"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", recording_of(path), *options],
            cwd=ROOT,
            env={**os.environ, "PYTEST_ADDOPTS": ""},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(f"pytest could not hold {path.stem} against a new run:\n{done.stdout}")
        cases = list(ET.parse(report).iter("testcase"))
    return [_failed(case.get("name", ""), failure.text or "") for case in cases for failure in case]


def _failed(test: str, text: str) -> str:
    """Say what is to be known of a failed test; nbval names a cell's `Cell NUMBER`."""
    if not test.startswith("Cell "):
        return text
    what = text.partition("Traceback:")[2].strip() or text
    return (
        f"code {test.lower()} shows something else when it is executed again: seed what is random, sort what "
        f"has no order, and give times to d2lrnn.measured:\n{what}"
    )


if __name__ == "__main__":
    use_this_checkout()
    print(json.dumps(rerun(Path(sys.argv[1]).resolve(), *map(int, sys.argv[2:]))))
