"""What keeps an executed cell from being recorded: outputs that no later run could show again."""

from __future__ import annotations

import datetime
import json
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from book.recording.compare import differences
from book.recording.notebooks import ROOT
from d2lrnn.drawing.figures import SERIES_MIME

_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,}", re.IGNORECASE)
_TEXT = r"(?:'[^'\n]*'|\"[^\"\n]*\")"
_SET = re.compile(rf"\{{{_TEXT}(?:, {_TEXT})+\}}")  # as print writes one; Jupyter sorts what ends a cell


def fault(cell: NotebookNode) -> str | None:
    """Say what keeps an executed cell from being recorded, and what to do; None if nothing does."""
    if not cell.source.strip():
        return "is empty: take it out"
    if cell.execution_count is None:
        return "was not run: take its tag skip-execution out"
    raises = any(output.output_type == "error" for output in cell.outputs)
    if "raises-exception" in cell.metadata.get("tags", []) and not raises:
        return "is tagged raises-exception and did not raise: take the tag out"
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stderr":
            return f"writes to stderr, as a warning does: mend what warns, or print it:\n{output.text}"
        if found := _ADDRESS.search(json.dumps(output)):
            return f"shows a memory address, {found[0]}: print what the object holds"
        if output.output_type == "stream" and (found := _SET.search(output.text)):
            return f"prints a set of texts, {found[0]}, whose order is by chance: print it sorted"
        for text in _read(output):
            if found := _of_here(text):
                return found
    if lines := differences(cell.outputs, cell.outputs):  # not even equal to itself
        return f"cannot be compared: {lines[0]}"
    return None


def _read(output: NotebookNode) -> Iterator[str]:
    """Yield the texts of an output that somebody reads: not a picture's."""
    yield from (output[key] for key in ("text", "ename", "evalue") if key in output)
    data = output.get("data", {})
    for kind, text in data.items():
        if kind.startswith("text/") and not (kind == "text/html" and SERIES_MIME in data):
            yield text


def _of_here(text: str) -> str | None:
    """Say what a text has of this machine or this day, if it has anything."""
    for place in (ROOT, Path(sys.prefix), Path.home(), Path(tempfile.gettempdir())):
        if len(place.parts) > 1 and re.search(rf"{re.escape(str(place))}(?![\w.-])", text):
            return f"shows a path of this machine, {place}: print the part below it"
    today = datetime.datetime.now()
    for day in (f"{today:%Y-%m-%d}", f"{today:%a %b} {today.day:2}"):
        if day in text:
            return f"shows today's date, {day}: leave it out"
    for what in (sys.version, platform.platform()):
        if what in text:
            return f"shows what this machine runs, {what}: leave it out"
    return None
