"""Lint the code cells of the chapters' sources, of which the recordings may be behind.

Usage: python -m book.lint
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from book.notebooks import CHAPTERS, sources, write_recording
from book.record import expected


def main() -> int:
    """Run ruff over the cells as they would be recorded; return the exit status."""
    ruff = Path(sys.executable).with_name("ruff")
    with tempfile.TemporaryDirectory() as folder:
        for path in sources():
            write_recording(Path(folder) / f"{path.stem}.ipynb", expected(path))
        configuration = ["--no-cache", "--config", str(CHAPTERS / "ruff.toml"), "."]
        runs = [
            subprocess.run([ruff, *command, *configuration], cwd=folder, check=False)
            for command in (["check"], ["format", "--check"])
        ]
    return max(run.returncode for run in runs)


if __name__ == "__main__":
    sys.exit(main())
