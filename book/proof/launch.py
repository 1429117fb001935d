"""Run recordings as a reader would who has the notebook and nothing else, and compare.

Usage: python -m book.proof.launch [NAME ...] [--no-lab]   (all chapters when none is named)

Each chapter starts from an environment with nothing but torch, matplotlib, ipywidgets and a kernel, an empty
home folder, and an empty folder with the recording. Its first cell installs the release as it will for
readers, but from a web server on this machine that stands in for the repository's host. There is no other
network. Warnings are errors, and a word on stderr is one too. At the end, two chapters with a live widget run
in JupyterLab in a browser (see `launch_lab`).
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from book.proof.browser import installed
from book.recording import address, compare
from book.recording.address import Repository
from book.recording.notebooks import (
    CELL_TIMEOUT,
    ROOT,
    chosen,
    code_cells,
    own_code_cells,
    read_recording,
    recording_of,
    write_recording,
)
from book.recording.release import build_wheel, copy_package
from book.recording.setup_cell import setup_cell
from d2lrnn import __version__

WORK = ROOT / "_build" / "launch"
WHEELS, SERVED, READER, LAB = WORK / "wheels", WORK / "served", WORK / "reader", WORK / "lab"
HAS = ("torch", "numpy", "matplotlib", "ipywidgets", "ipykernel")  # what the reader has installed
LACKS = ("pooch", "tqdm", "statsmodels", "setuptools")  # what pip may fetch besides, and what that needs
EXAMPLE = Repository("https://github.com/someone/course")  # stands in as long as no address is recorded
NOTE = "Note: you may need to restart the kernel to use updated packages."  # IPython's, after each %pip
NOWHERE = "http://127.0.0.1:9"  # where nothing answers
CHROMIUM = os.environ.get("CHROMIUM") or installed() or ""
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


def release() -> str:
    """Return the address from which first cells install: the recorded one, or one as it would be."""
    recorded = address.recorded()
    return (recorded.package(__version__) if recorded else "") or EXAMPLE.package(__version__)


def fill_served(release: str) -> None:
    """Put the release where its address says, and beside it an index of what pip may fetch besides."""
    shutil.rmtree(SERVED, ignore_errors=True)
    target = SERVED / urlsplit(release).path.strip("/")
    target.parent.mkdir(parents=True)
    if target.suffix == ".whl":
        build_wheel(target.parent)
    else:  # a host that offers a tag's files
        copy_package(SERVED / "source" / target.stem)
        shutil.make_archive(str(target.with_suffix("")), "zip", SERVED / "source", target.stem)
        shutil.rmtree(SERVED / "source")
    for wheel in fetched():
        folder = SERVED / "simple" / re.sub("[-_.]+", "-", wheel.name.partition("-")[0]).lower()
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, folder)


def fetched() -> list[Path]:
    """Return the wheels of what the reader lacks, fetched when the pins have changed."""
    WHEELS.mkdir(parents=True, exist_ok=True)
    constraints = "\n".join(pins())
    stamp = WHEELS / "constraints.txt"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != constraints:
        shutil.rmtree(WHEELS)
        WHEELS.mkdir()
        wanted = WORK / "constraints.txt"
        wanted.write_text(constraints, encoding="utf-8")
        options = ["--quiet", "--only-binary", ":all:", "--constraint", wanted, "--dest", WHEELS]
        subprocess.run([sys.executable, "-m", "pip", "download", *LACKS, *options], check=True)
        wanted.replace(stamp)
    return sorted(WHEELS.glob("*.whl"))


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine alone while the block runs, and give the server's address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def readers_notebook(recording: Path, origin: str) -> NotebookNode:
    """Return a recording whose first cell finds the release's host at `origin`.

    Raises
    ------
    ValueError
        If the first cell does not install the release from the address that is recorded.
    """
    notebook = read_recording(recording)
    setup, source = code_cells(notebook)[0], release()
    if source.startswith(EXAMPLE.url):
        setup.source = setup_cell([cell.source for cell in own_code_cells(notebook)], EXAMPLE).source
    if source not in setup.source:
        raise ValueError(f"its first cell does not install {source}: run `make record`")
    setup.source = setup.source.replace(source, origin + urlsplit(source).path)
    return notebook


def environment(folder: Path, *install: str | Path) -> Path:
    """Return the Python of a virtual environment, made anew when what it is to hold has changed."""
    stamp, wanted = folder / "installed", "\n".join(map(str, install))
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-I", "-m", "pip", "install", "--quiet", *install], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def reset(python: Path, keep: set[str]) -> None:
    """Uninstall all that the reader's environment has beyond the packages to keep."""
    more = [line.partition("==")[0] for line in sorted(frozen(python) - keep)]
    if more:
        subprocess.run([python, "-I", "-m", "pip", "uninstall", "--quiet", "--yes", *more], check=True)


def frozen(python: Path) -> set[str]:
    """Return what an environment has, as name==version, and not what lies where this is started."""
    command = [python, "-I", "-m", "pip", "list", "--format=freeze"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def empty_place(name: str, python: Path, origin: str) -> tuple[Path, dict[str, str]]:
    """Make an empty folder and an empty home for a chapter, and return the folder and the environment.

    What is not at `origin` cannot be reached: pip is sent to a proxy that does not answer.
    """
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
        "PIP_INDEX_URL": f"{origin}/simple",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1",
    }
    kept = ("OMP_NUM_THREADS", "SYSTEMROOT", "TMPDIR")
    return place / "here", variables | {key: os.environ[key] for key in kept if key in os.environ}


def launch(recording: Path, python: Path, before: set[str], origin: str) -> list[str]:
    """Run a recording alone in an empty folder; print what it took, and return what is wrong."""
    reset(python, before)
    here, variables = empty_place(recording.stem, python, origin)
    recorded = read_recording(recording)
    try:
        notebook = readers_notebook(recording, origin)
    except ValueError as error:
        return [str(error)]
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    write_recording(here / recording.name, notebook)
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
        fault = f"{error.ename}: {error.evalue} (in the cell that begins with {first!r})"
        return [*first_cell_says(notebook), fault]
    except (CellTimeoutError, DeadKernelError) as error:
        return [str(error)]
    seconds = time.monotonic() - start
    print(
        f"{recording.stem}: {seconds:.0f} s, at most {probe.outputs[0].text.strip()} MiB in the kernel",
        flush=True,
    )
    found = first_cell_says(notebook)
    pairs = zip(own_code_cells(recorded), own_code_cells(notebook)[:-1], strict=True)
    for number, (old, new) in enumerate(pairs, 1):
        found += [f"code cell {number}: {line}" for line in compare.differences(old.outputs, new.outputs)]
        found += [
            f"code cell {number} writes to stderr: {output.text}"
            for output in new.outputs
            if output.get("name") == "stderr"
        ]
    found += changed(before, frozen(python))
    left = {path.name for path in here.iterdir()} - {recording.name}
    return found + [f"it left {name} in the folder" for name in sorted(left)]


def first_cell_says(notebook: NotebookNode) -> list[str]:
    """Return what the first cell of an executed notebook says beyond IPython's note."""
    said = "".join(output.get("text", "") for output in code_cells(notebook)[0].outputs).strip()
    return [f"the first cell says: {said}"] if said not in ("", NOTE) else []


def changed(before: set[str], after: set[str]) -> list[str]:
    """Say which of the packages that were there are not any more, in that version."""
    return [f"{name} was changed or removed by the first cell" for name in sorted(before - after)]


def launch_in_lab(recordings: Sequence[Path], python: Path, before: set[str], origin: str) -> int:
    """Run recordings in JupyterLab in a browser, move their widgets, and return how many failed."""
    lab = environment(LAB, "--requirement", ROOT / "requirements-launch.txt")
    failed = 0
    for recording in recordings:
        reset(python, before)
        here, variables = empty_place(f"lab-{recording.stem}", python, origin)
        write_recording(here / recording.name, readers_notebook(recording, origin))
        # The server and the browser are no part of what is tested, but share the reader's home and kernel.
        command = [lab, ROOT / "book" / "proof" / "launch_lab.py", here / recording.name]
        done = subprocess.run(command, cwd=here, env={**variables, "CHROMIUM": CHROMIUM}, check=False)
        failed += done.returncode != 0
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Launch the chapters named, or all, then two of them in JupyterLab; return the exit status."""
    parser = argparse.ArgumentParser(description="Run recordings where there is nothing but them.")
    parser.add_argument("chapters", nargs="*", help="by name or path; all when none is named")
    parser.add_argument("--no-lab", action="store_true", help="leave out JupyterLab in a browser")
    options = parser.parse_args(arguments)
    try:
        recordings = [recording_of(path) for path in chosen(options.chapters)]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    os.environ.pop("PYTHONPATH", None)  # or a checkout on it would count as installed
    fill_served(release())
    python = environment(READER, *pins(HAS))
    before = frozen(python)
    failed = 0
    with serving(SERVED) as origin:
        for recording in recordings:
            found = launch(recording, python, before, origin)
            failed += bool(found)
            for line in found:
                print(f"{recording.stem}: {line}", file=sys.stderr)
        if not options.no_lab:
            in_lab = [path for path in recordings if path.stem in LAB_CHAPTERS]
            failed += launch_in_lab(in_lab, python, before, origin)
    print(f"{len(recordings)} chapters launched, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
