"""Execute the chapters under ten shifts of all seeds, and count in how many runs each finding holds.

Usage: python -m book.proof.findings [CHAPTER ...] [--minutes M] [--jobs N]

What a run shows is written at once, as a row of book/proof/tables/findings.json, so that an interrupted run
goes on; a row of today's code, outputs and versions is not run again. Of an assert that fails under a shift,
and of a cell that raises, the row keeps where that was: such an assert is a finding in disguise.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from datetime import date
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from book.proof import claims, findings_page, rows, times
from book.proof.matrix_rows import key_of
from book.proof.shifted import FAILED_MIME
from book.recording import findings
from book.recording.findings import SHIFTS, Row
from book.recording.notebooks import (
    CELL_TIMEOUT,
    chosen,
    code_cells,
    read_recording,
    recording_of,
    use_this_checkout,
)
from book.recording.provenance import behind, key

LIMIT = 4 * CELL_TIMEOUT  # seconds that a cell may take: two runs at a time share the cores


def run(path: Path, shift: int) -> Row:
    """Execute the chapter at `path` with all seeds shifted, and return what came out as a row."""
    recording = read_recording(recording_of(path))
    notebook = nbformat.from_dict(recording)
    start = nbformat.v4.new_code_cell(f"__import__('book.proof.shifted', fromlist=['begin']).begin({shift})")
    notebook.cells.insert(0, start)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=LIMIT,
        allow_errors=True,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    stopped = []
    try:
        client.execute(env={**os.environ, "OMP_NUM_THREADS": "1"})
    except (CellTimeoutError, DeadKernelError) as error:
        reason = str(error).partition("\n")[0]
        stopped = [f"cell {client.code_cells_executed - 2}: {reason}"]  # without `start`, and from 0
    if start.outputs:
        raise RuntimeError(f"{path.stem}: seeds could not be shifted: {start.outputs[0]}")
    executed = code_cells(notebook)[1:]
    numbers = {one["name"]: [one["left"], one["right"], one["holds"]] for one in findings.shown(executed)}
    return {
        "chapter": path.stem,
        "shift": shift,
        "key": key(recording),
        "date": date.today().isoformat(),
        "findings": numbers,
        "failed": [line for number, cell in enumerate(executed) for line in failures(number, cell)] + stopped,
    }


def failures(number: int, cell: NotebookNode) -> list[str]:
    """Say what failed in an executed cell: asserts, and an error that the cell isn't meant to raise."""
    where, found = f"cell {number}", []
    for output in cell.outputs if "raises-exception" not in cell.metadata.get("tags", []) else []:
        if FAILED_MIME in output.get("data", {}):
            found.append(f"{where}: {output['data'][FAILED_MIME]}")
        elif output.output_type == "error":
            found.append(f"{where} raises {output.ename}: {output.evalue}".partition("\n")[0])
    return list(dict.fromkeys(found))


def place(row: Row) -> tuple[str, int]:
    """Return what a row is the only one of."""
    return row["chapter"], row["shift"]


def to_run(paths: list[Path]) -> list[tuple[Path, int]]:
    """Return the runs that have no row of today's key, the dearest first."""
    known = {(*place(row), row["key"]) for row in findings.rows()}
    today = {path: key_of(path) for path in paths}
    left = [
        (path, shift) for path in paths for shift in SHIFTS if (path.stem, shift, today[path]) not in known
    ]
    return sorted(left, key=lambda task: -seconds(task[0]))


def seconds(path: Path) -> float:
    """Return how long a chapter takes on one thread, as far as that was measured."""
    return times.read().get(times.page_of(path), {}).get("seconds", times.MOST)


def run_all(tasks: list[tuple[Path, int]], jobs: int, minutes: float) -> None:
    """Run tasks, `jobs` at a time, none after so many minutes; write each row, and say what time is left."""
    begun, total, done = time.monotonic(), sum(seconds(path) for path, _ in tasks), 0.0
    left, running = list(tasks), dict[Future[Row], Path]()
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        while True:
            while left and len(running) < jobs and time.monotonic() - begun < minutes * 60:
                task = left.pop(0)
                running[pool.submit(run, *task)] = task[0]
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                row = future.result()
                rows.add(findings.TABLE, row, place)
                done += seconds(running.pop(future))
                minutes_left = (time.monotonic() - begun) / 60 * (total - done) / done
                print(
                    f"{row['chapter']}, seeds + {row['shift']}: {held(row)}; "
                    f"{len(left) + len(running)} left, about {minutes_left:.0f} min",
                    flush=True,
                )


def held(row: Row) -> str:
    """Say in words what a run showed."""
    holding = [found[2] for found in row["findings"].values()]
    failed = f", {len(row['failed'])} failed" if row["failed"] else ""
    return f"{sum(holding)} of {len(holding)} findings hold{failed}"


def main(arguments: list[str]) -> int:
    """Run what has no row, write the page, and return 1 if a chapter claims more than the rows hold."""
    parser = argparse.ArgumentParser(prog="python -m book.proof.findings")
    parser.add_argument("words", nargs="*", help="names of chapters")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin nothing after this time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many to run at a time")
    options = parser.parse_args(arguments)
    use_this_checkout()
    try:
        paths = chosen(options.words)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if stale := behind(paths):
        print("\n".join(stale), file=sys.stderr)
        return 2
    tasks = to_run(paths)
    print(f"{len(tasks)} runs, {options.jobs} at a time", flush=True)
    run_all(tasks, options.jobs, options.minutes)
    findings_page.write()
    faults = [line for path in paths for line in claims.faults(path)]
    for line in faults:
        print(line, file=sys.stderr)
    left = to_run(paths)
    print(f"{len(tasks) - len(left)} of {len(tasks)} were run")
    return 1 if faults or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
