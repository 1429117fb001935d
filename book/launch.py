"""Run recordings as a reader would who has the notebook and nothing else, and compare.

Usage: python -m book.launch [chapters/NAME.md ...]   (all chapters when none is named)

Each chapter starts from an environment with nothing but torch, matplotlib, ipywidgets and a kernel, an empty
home folder, and an empty folder with the recording. There is no network; what pip may install lies in a
folder of wheels. Warnings are errors, and a word on stderr is one too. At the end, two chapters with a live
widget run in JupyterLab in a browser (see `launch_lab`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from book import compare
from book.notebooks import CELL_TIMEOUT, ROOT, code_cells, read_recording, recording_of, sources

WORK = ROOT / "_build" / "launch"
WHEELS, READER, LAB = WORK / "wheels", WORK / "reader", WORK / "lab"
HAS = ("torch", "numpy", "matplotlib", "ipywidgets", "ipykernel")  # what the reader has installed
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""
LAB_CHAPTERS = ("long-sequences", "rnn")  # with a live widget each

# Run when the kernel starts, before the notebook's own cells.
STARTUP = """\
import socket, warnings

warnings.simplefilter("error")
_connect = socket.socket.connect

def _connect_here_only(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):
        raise OSError(f"no network here: {address}")
    return _connect(self, address)

socket.socket.connect = _connect_here_only
"""
PEAK = """\
import resource, sys
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (2**20 if sys.platform == "darwin" else 2**10))
"""


def pins(names: Sequence[str] = ()) -> list[str]:
    """Return the pins of requirements.txt, all or those of the packages named."""
    found = re.findall(r"^([\w.-]+)(==[\w.]+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.M)
    return [name + version for name, version in found if not names or name in names]


def build_wheel(target: Path) -> Path:
    """Build the package's wheel into a folder, from a copy, since building leaves files beside the source."""
    source = target / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "d2lrnn", source / "d2lrnn", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, source)
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", target]
    subprocess.run([sys.executable, "-m", "pip", "wheel", source, *options], check=True)
    shutil.rmtree(source)
    return next(target.glob("d2lrnn-*.whl"))


def fill_wheels() -> None:
    """Put the package's wheel, and what it and the chapters need beyond what the reader has, in a folder."""
    for old in WHEELS.glob("d2lrnn-*.whl"):
        old.unlink()
    WHEELS.mkdir(parents=True, exist_ok=True)
    build_wheel(WHEELS)
    constraints = WORK / "constraints.txt"
    constraints.write_text("\n".join(pins()), encoding="utf-8")
    if not any(WHEELS.glob("statsmodels-*")):
        options = ["--quiet", "--constraint", constraints, "--dest", WHEELS]
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "pooch", "tqdm", "statsmodels", *options], check=True
        )


def environment(folder: Path, *install: str | Path) -> Path:
    """Return the Python of a virtual environment, made anew when what it is to hold has changed."""
    stamp, wanted = folder / "installed", "\n".join(map(str, install))
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *install], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def reset(python: Path, keep: set[str]) -> None:
    """Uninstall all that the reader's environment has beyond the packages to keep."""
    more = [line.partition("==")[0] for line in sorted(frozen(python) - keep)]
    if more:
        subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", *more], check=True)


def frozen(python: Path) -> set[str]:
    """Return what an environment has, as name==version."""
    command = [python, "-m", "pip", "list", "--format=freeze"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def empty_place(name: str, python: Path) -> tuple[Path, dict[str, str]]:
    """Make an empty folder and an empty home for a chapter, and return the folder and the environment."""
    place = WORK / "places" / name
    shutil.rmtree(place, ignore_errors=True)
    for folder in ("here", "home", "jupyter/kernels/python3", "ipython/profile_default/startup"):
        (place / folder).mkdir(parents=True)
    (place / "ipython/profile_default/startup/first.py").write_text(STARTUP, encoding="utf-8")
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"})
    (place / "jupyter/kernels/python3/kernel.json").write_text(spec, encoding="utf-8")
    variables = {
        "HOME": str(place / "home"),
        "IPYTHONDIR": str(place / "ipython"),
        "JUPYTER_PATH": str(place / "jupyter"),
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join([str(python.parent), os.defpath]),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_FIND_LINKS": str(WHEELS),
        "PIP_NO_INDEX": "1",
    }
    kept = ("OMP_NUM_THREADS", "SYSTEMROOT", "TMPDIR")
    return place / "here", variables | {key: os.environ[key] for key in kept if key in os.environ}


def launch(recording: Path, python: Path, before: set[str]) -> list[str]:
    """Run a recording alone in an empty folder; print what it took, and return what is wrong."""
    reset(python, before)
    here, variables = empty_place(recording.stem, python)
    shutil.copy(recording, here)
    recorded = read_recording(recording)
    notebook = read_recording(here / recording.name)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    probe = nbformat.v4.new_code_cell(PEAK)
    notebook.cells.append(probe)
    kernels = KernelSpecManager(
        kernel_dirs=[str(here.parent / "jupyter/kernels")], ensure_native_kernel=False
    )
    client = NotebookClient(notebook, timeout=CELL_TIMEOUT)
    client.km = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=kernels)
    start = time.monotonic()
    try:
        client.execute(env=variables, cwd=str(here))
    except CellExecutionError as error:
        cell = next(
            cell for cell in code_cells(notebook) if cell.outputs[-1:] and "ename" in cell.outputs[-1]
        )
        first = cell.source.strip().splitlines()[0]
        return [f"{error.ename}: {error.evalue} (in the cell that begins with {first!r})"]
    except (CellTimeoutError, DeadKernelError) as error:
        return [str(error)]
    seconds = time.monotonic() - start
    print(
        f"{recording.stem}: {seconds:.0f} s, at most {probe.outputs[0].text.strip()} MiB in the kernel",
        flush=True,
    )
    found = []
    for number, (old, new) in enumerate(zip(code_cells(recorded), code_cells(notebook)[:-1], strict=True)):
        found += [f"code cell {number}: {line}" for line in compare.differences(old.outputs, new.outputs)]
        found += [
            f"code cell {number} writes to stderr: {output.text}"
            for output in new.outputs
            if output.get("name") == "stderr"
        ]
    found += changed(before, frozen(python))
    left = {path.name for path in here.iterdir()} - {recording.name}
    return found + [f"it left {name} in the folder" for name in sorted(left)]


def changed(before: set[str], after: set[str]) -> list[str]:
    """Say which of the packages that were there are not any more, in that version."""
    return [f"{name} was changed or removed by the first cell" for name in sorted(before - after)]


def launch_in_lab(recordings: Sequence[Path], python: Path, before: set[str]) -> int:
    """Run recordings in JupyterLab in a browser, move their widgets, and return how many failed."""
    lab = environment(LAB, "--requirement", ROOT / "requirements-launch.txt")
    failed = 0
    for recording in recordings:
        reset(python, before)
        here, variables = empty_place(f"lab-{recording.stem}", python)
        shutil.copy(recording, here)
        # The server and the browser are no part of what is tested, but share the reader's home and kernel.
        command = [lab, ROOT / "book" / "launch_lab.py", here / recording.name]
        done = subprocess.run(command, cwd=here, env={**variables, "CHROMIUM": CHROMIUM}, check=False)
        failed += done.returncode != 0
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Launch the chapters named, or all, then two of them in JupyterLab; return the exit status."""
    parser = argparse.ArgumentParser(description="Run recordings where there is nothing but them.")
    parser.add_argument("chapters", nargs="*", type=Path, help="chapters/NAME.md; all when none is named")
    parser.add_argument("--no-lab", action="store_true", help="leave out JupyterLab in a browser")
    options = parser.parse_args(arguments)
    recordings = [recording_of(path.resolve()) for path in options.chapters or sources()]
    os.environ.pop("PYTHONPATH", None)  # or a checkout on it would count as installed
    fill_wheels()
    python = environment(READER, *pins(HAS))
    before = frozen(python)
    failed = 0
    for recording in recordings:
        found = launch(recording, python, before)
        failed += bool(found)
        for line in found:
            print(f"{recording.stem}: {line}", file=sys.stderr)
    if not options.no_lab:
        in_lab = [path for path in recordings if path.stem in LAB_CHAPTERS]
        failed += launch_in_lab(in_lab, python, before)
    print(f"{len(recordings)} chapters launched, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
