"""Execute a chapter's notebook in the conditions of the tests, and note what they would not see as it was.

nbval, which the tests run cells with, keeps what a cell displays as it comes; nothing is cleared or changed
later. ipykernel, when it runs below pytest, takes in what is written by Python alone.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.client import KernelClient
from nbclient import NotebookClient
from nbclient.util import ensure_async, run_sync
from nbformat import NotebookNode

from book.recording.notebooks import CELL_TIMEOUT
from book.recording.provenance import PROBE

LAST_STATE = "show only what is to stay, or use d2lrnn.LiveCurves"
OTHERWISE = {
    "clear_output": f"clears what it has shown: {LAST_STATE}",
    "update_display_data": f"changes what was shown before: {LAST_STATE}",
    "comm_open": "makes a live widget, which a page cannot show: use d2lrnn.explore",
}
OUTPUTS = {"clear_output", "display_data", "error", "execute_result", "stream", "update_display_data"}


@dataclass(frozen=True)
class Execution:
    """What was noted: the kernel's modules before and after, margins, and by a cell's position its faults."""

    bare: dict[str, str | None]
    modules: dict[str, str | None]
    margins: dict[str, object]
    faults: dict[int, list[str]]


def execute(notebook: NotebookNode, folder: Path) -> Execution:
    """Execute a notebook in place, in `folder`.

    Raises
    ------
    CellExecutionError, CellTimeoutError, DeadKernelError
        If a cell raises or takes too long, or the kernel dies.
    """
    client = _Client(notebook, timeout=CELL_TIMEOUT, record_timing=False)
    client.resources = {"metadata": {"path": str(folder)}}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:  # the kernel may not be gone yet
        done: Execution = run_sync(client.run)(Path(place) / "written")
    return done


class _Client(NotebookClient):
    """nbclient's, with an ear for what concerns no cell, or not the one that runs."""

    async def run(self, log: Path) -> Execution:
        """Execute all cells; what the kernel's process writes past Python goes to the file `log`."""
        self.running: int | None = None  # position of the cell that runs
        self.cells_by_request: dict[str, int] = {}
        self.faults: dict[int, list[str]] = defaultdict(list)
        probe = nbformat.v4.new_code_cell(PROBE)
        self.nb.cells.append(probe)
        log.touch()
        with log.open("ab") as sink, log.open("rb") as written:
            as_below_pytest = {**os.environ, "PYTEST_CURRENT_TEST": "recording"}
            async with self.async_setup_kernel(env=as_below_pytest, stdout=sink, stderr=sink):
                before = await self.ask(probe)
                written.read()
                for number, cell in enumerate(self.nb.cells[:-1]):
                    self.running = number
                    count = 1 + len(self.cells_by_request)
                    await self.async_execute_cell(cell, number, execution_count=count)
                    if text := written.read().decode(errors="replace"):
                        past = "writes past Python, as a subprocess does: capture it, and print it"
                        self.faults[number].append(f"{past}:\n{text}")
                self.running = None
                after = await self.ask(probe)
        self.nb.cells.remove(probe)
        return Execution(before["modules"], **after, faults=dict(self.faults))

    async def ask(self, probe: NotebookNode) -> dict[str, Any]:
        """Run the probe so that the chapter cannot tell, and return its answer."""
        await self.async_execute_cell(probe, len(self.nb.cells) - 1, store_history=False)
        answer: dict[str, Any] = json.loads("".join(output.text for output in probe.outputs))
        return answer

    async def async_start_new_kernel_client(self) -> KernelClient:
        """Start a client that listens to every message."""
        client = await super().async_start_new_kernel_client()
        receive = client.iopub_channel.get_msg

        async def listening(*args: object, **options: object) -> dict[str, Any]:
            message: dict[str, Any] = await ensure_async(receive(*args, **options))
            self.hear(message)
            return message

        client.iopub_channel.get_msg = listening
        return client

    def hear(self, message: dict[str, Any]) -> None:
        """Note a message that the tests' runner does not know, or that comes when its cell has ended."""
        kind, request = message["msg_type"], message["parent_header"].get("msg_id", "")
        if kind == "execute_input" and self.running is not None:
            self.cells_by_request[request] = self.running
        number = self.cells_by_request.get(request)
        if number is None:
            return
        found = [OTHERWISE[kind]] if kind in OTHERWISE else []
        if kind in OUTPUTS and number != self.running:
            found.append("prints after its end, as a thread does: wait for it in the cell")
        self.faults[number] += [fault for fault in found if fault not in self.faults[number]]
