"""Lint the code cells of the chapters' sources, of which the recordings may be behind.

Usage: python -m book.recording.lint
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from book.recording.notebooks import CHAPTERS, code_cells, sources, write_recording
from book.recording.record import expected


def main() -> int:
    """Run ruff over the cells as they would be recorded; return the exit status."""
    ruff = Path(sys.executable).with_name("ruff")
    with tempfile.TemporaryDirectory() as folder:
        for path in sources():
            notebook = expected(path)
            notebook.cells.remove(code_cells(notebook)[0])  # the set-up cell is no part of the source
            write_recording(Path(folder) / f"{path.stem}.ipynb", notebook)
        configuration = ["--no-cache", "--config", str(CHAPTERS / "ruff.toml"), "."]
        runs = [
            subprocess.run([ruff, *command, *configuration], cwd=folder, check=False)
            for command in (["check"], ["format", "--check"])
        ]
    return max(run.returncode for run in runs)


if __name__ == "__main__":
    sys.exit(main())
