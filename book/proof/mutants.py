"""Plant small faults in the package, and count how many the tests and the recordings catch.

Usage: python -m book.proof.mutants [MODULE ...] [--minutes M] [--jobs N]

Each fault is planted in a copy of the project. The unit tests that have to do with its module run first, file
by file, and before them the test that caught the same fault the last time; if none fails, the recordings of
the chapters that use the module are executed again. What catches a fault is run once without it, and must
hold. What was run is kept in _build/mutants, so that an interrupted run goes on. A run writes the rows of the
modules that it is done with into book/proof/tables/mutants.json, from which mutants.md is made. A module is
named as text.ngrams, ngrams or by its path; a folder names all its modules. A survivor that changes nothing
has a line in book/proof/equivalent.yml that says why.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import yaml

from book.proof.faults import Fault, faults
from book.proof.related import PACKAGE, chapters_of, modules, name_of, unit_tests
from book.recording import provenance
from book.recording.notebooks import ROOT, TABLES

RESULTS = TABLES / "mutants.json"
TABLE = TABLES / "mutants.md"
EQUIVALENT = ROOT / "book" / "proof" / "equivalent.yml"
CACHE = ROOT / "_build" / "mutants"
PER_MODULE, PER_LATER_MODULE = 3, 15
FIRST_EDITION = frozenset(
    """
    __init__ _kernel _support files modules recorded reproducible series
    check.__init__ check._run
    drawing._progress drawing._series drawing._style drawing.curves drawing.diagrams drawing.explorers
    drawing.figures drawing.live
    gradients._backward gradients.gradcheck gradients.linear_rnn gradients.scalar gradients.vanilla
    models._tensors models.concise models.contract models.scratch
    text._codec text._frequencies text._letters text._ngram_counts text._pairs text.batching text.bpe
    text.corpora text.ngrams text.scoring text.tokens text.vocabulary
    training.checkpoints training.clipping training.devices training.evaluate training.history training.train
    writing.generate writing.text_explorer
    """.split()  # noqa: SIM905  # a list would be forty lines
)
TARGET = 0.95
TIMEOUT = 600  # seconds that a file of tests, or a chapter, may take: longer is caught
QUICK = TIMEOUT // 3  # seconds that it may take without a fault, so that a busy machine catches nothing
COMPARING = ("book/recording/compare.py", "book/recording/rerun.py")  # what decides whether a recording holds
UNIT, REGRESSION, NOTHING = "unit tests", "regression", "nothing"


@functools.cache
def digests() -> dict[str, str]:
    """Return a hash of each file that may decide a result, as they are before the first fault is planted."""
    files = [*modules(), *(ROOT / "tests").rglob("*.py"), *(ROOT / "chapters").glob("*.ipynb")]
    files += [ROOT / file for file in COMPARING]
    return {path.relative_to(ROOT).as_posix(): provenance.digest(path) for path in files}


def to_plant_in() -> list[Path]:
    """Return the modules to plant faults in.

    Of `check` that is what runs and finds the checks. The others are tables of questions and answers, where a
    fault mostly makes another question of the same kind; their wrong answers are tests of their own.
    """
    names = {name_of(path): path for path in modules()}
    questions = {name for name in names if name.startswith("check.") and not name.startswith("check._")}
    return [path for name, path in names.items() if name not in questions]


def picked(words: list[str]) -> list[Path]:
    """Return the modules that words name, by name, last name, folder or path; all if there is no word.

    Raises
    ------
    ValueError
        If a word names no module to plant faults in; the message is one line.
    """
    every = {name_of(path): path for path in to_plant_in()}
    found: list[Path] = []
    for word in words:
        name = word.removesuffix(".py").replace("/", ".").removeprefix("d2lrnn.").strip(".")
        named = [every[name]] if name in every else []
        named = named or [path for one, path in every.items() if one.startswith(f"{name}.")]
        named = named or [path for one, path in every.items() if one.endswith(f".{name}")]
        if not named:
            raise ValueError(f"{word!r} is no module to plant faults in ({', '.join(every)})")
        found += named
    return [path for path in every.values() if path in found or not words]


def planned(path: Path) -> list[Fault]:
    """Return the faults to plant in a module: more in one that the first edition did not have."""
    return faults(path, PACKAGE, PER_MODULE if name_of(path) in FIRST_EDITION else PER_LATER_MODULE)


def module_of(fault: Fault) -> str:
    """Return the name of the module that a fault is in."""
    return name_of(PACKAGE / fault.module)


class Copies:
    """Copies of the project outside of it, one for each job, to plant faults in."""

    def __init__(self, folder: Path, count: int) -> None:
        self._free: queue.SimpleQueue[Path] = queue.SimpleQueue()
        ignore = shutil.ignore_patterns(".*", "_build", "__pycache__", "*.egg-info")
        for number in range(count):
            copy = folder / f"copy{number}"
            shutil.copytree(ROOT, copy, ignore=ignore)
            self._free.put(copy)

    @contextmanager
    def planted(self, fault: Fault | None) -> Iterator[Path]:
        """Take a copy that holds the fault, or none; the copy is mended afterwards."""
        copy = self._free.get()
        path = copy / "d2lrnn" / fault.module if fault else None
        try:
            if fault and path:
                path.write_text(fault.code, encoding="utf-8")
            yield copy
        finally:
            if fault and path:
                shutil.copy(PACKAGE / fault.module, path)
            self._free.put(copy)


def run(copy: Path, limit: float, *arguments: str) -> tuple[int, str]:
    """Run Python in a copy, and return its exit status and what it printed; too long is a failure."""
    variables = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",  # code of the same size and second would be taken for the old
        "PYTEST_ADDOPTS": "",
        "NO_COLOR": "1",
    }
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=copy,
            env=variables,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, ""
    return done.returncode, done.stdout


def failing_test(copy: Path, tests: list[str], limit: float = TIMEOUT, hint: str = "") -> str | None:
    """Return the first unit test that fails in a copy, or the file if none is to blame.

    Files run one after the other; before them the test `hint`, if it is still there.
    """
    options = [
        "-x",
        "-q",
        "-o",
        "addopts=",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--hypothesis-seed=0",
    ]
    options.append("--confcutdir=tests")  # the recordings' own plugin would only take time
    for work in [*filter(None, [hint]), *tests]:
        status, output = run(copy, limit, "-m", "pytest", *options, work)
        if status == 1 or (status and work != hint):
            named = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.M)
            return named[1] if named else work
    return None


def differing_chapter(copy: Path, chapters: list[str], limit: float = TIMEOUT) -> str | None:
    """Return the first chapter whose outputs in a copy are not the recorded ones."""
    for name in chapters:
        status, output = run(copy, limit, "-m", "book.recording.rerun", f"chapters/{name}.md")
        if status or json.loads(output)["differing"]:
            return name
    return None


def judge(fault: Fault, copies: Copies) -> tuple[str, str]:
    """Return what catches a fault: UNIT, REGRESSION or NOTHING, and the test's or the chapter's name."""
    module = module_of(fault)
    with copies.planted(fault) as copy:
        if test := failing_test(copy, unit_tests(module), hint=last_catcher(fault.name)):
            by, what = UNIT, test
        elif chapter := differing_chapter(copy, chapters_of(module)):
            by, what = REGRESSION, chapter
        else:
            return NOTHING, ""
    check_soundness(copies, by, what)
    return by, what


@functools.cache
def last_catcher(name: str) -> str:
    """Return the unit test that caught a fault the last time, if its file is still there."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    tests = {row["fault"]: row["what"] for row in rows if row["by"] == UNIT}
    found = tests.get(name, "")
    return found if "::" in found and (ROOT / found.partition("::")[0]).is_file() else ""


def check_soundness(copies: Copies, by: str, what: str) -> None:
    """Check, once, that what caught a fault holds without one, or everything would count as caught.

    Raises
    ------
    RuntimeError
        If it fails already, or takes so long that it may have been stopped for that alone.
    """
    work = what.partition("::")[0]
    file = work if by == UNIT else f"chapters/{work}.ipynb"
    mark = CACHE / f"sound-{_hash(work, digests()[file])}"
    if mark.is_file():
        return
    with copies.planted(None) as copy:
        if failed := (failing_test if by == UNIT else differing_chapter)(copy, [work], QUICK):
            raise RuntimeError(f"without a fault, this fails already or takes over {QUICK} s: {failed}")
    print(f"holds without a fault: {file}", flush=True)
    mark.touch()


def kept(fault: Fault) -> Path:
    """Return where a fault's result is kept; the name has a hash of the package's code."""
    return CACHE / f"{module_of(fault)}-{_hash(fault.name)}.json"


def _hash(*inputs: str) -> str:
    package = [found for file, found in digests().items() if file.startswith("d2lrnn/")]
    return hashlib.sha256(repr([*inputs, *package]).encode()).hexdigest()[:16]


def deciding(fault: Fault, by: str, what: str) -> dict[str, str]:
    """Return the hashes of the files that a result hangs on.

    A fault that a unit test catches is caught as long as that test's file is the same, and what tests share,
    whatever the others.
    """
    module = module_of(fault)
    files = [*unit_tests(module), *(f"chapters/{name}.ipynb" for name in chapters_of(module)), *COMPARING]
    caught = what.partition("::")[0]
    if by == UNIT and caught in files:
        files = [caught]
    shared = [file for file in digests() if file.startswith("tests/") and "/test_" not in file]
    return {file: digests()[file] for file in [*files, *shared]}


def result(fault: Fault) -> dict[str, str] | None:
    """Return a fault's kept result, if there is one that still holds."""
    target = kept(fault)
    if not target.is_file():
        return None
    found = json.loads(target.read_text(encoding="utf-8"))
    holds = found.pop("files") == deciding(fault, found["by"], found["what"])
    return found if holds else None


def run_all(planted: list[Fault], jobs: int, seconds: float) -> None:
    """Judge the faults that have no result yet, `jobs` at a time, and begin none after so many seconds.

    Raises
    ------
    RuntimeError
        If what catches a fault fails without it too; no further fault is judged.
    """
    left = [fault for fault in planted if result(fault) is None]
    if not left:
        return
    end = time.monotonic() + seconds
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        copies = Copies(Path(folder), jobs)

        def judge_in_time(fault: Fault) -> None:
            if time.monotonic() < end:
                by, what = judge(fault, copies)
                found = {"by": by, "what": what, "files": deciding(fault, by, what)}
                kept(fault).write_text(json.dumps(found), encoding="utf-8")
                print(f"{by}: {fault.name}", flush=True)

        try:
            list(pool.map(judge_in_time, left))
        except RuntimeError:
            pool.shutdown(cancel_futures=True)
            raise


def collect(planted: list[Fault]) -> list[dict[str, str]]:
    """Return what is known of each fault that was judged."""
    explained = explanations()
    found = []
    for fault in planted:
        if judged := result(fault):
            row = {"fault": fault.name, "operator": fault.operator, **judged}
            if judged["by"] == NOTHING and fault.name in explained:
                row["equivalent"] = explained[fault.name]
            found.append(row)
    return found


def explanations() -> dict[str, str]:
    """Return why some survivors change nothing, by the fault's name."""
    return yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) or {}


def complaints(results: list[dict[str, str]], explained: dict[str, str]) -> list[str]:
    """List survivors without an explanation, explanations of no survivor, and a share below the target."""
    survivors = {row["fault"] for row in results if row["by"] == NOTHING}
    found = [f"survived: {name}" for name in sorted(survivors - explained.keys())]
    found += [f"explained, but no survivor: {name}" for name in sorted(explained.keys() - survivors)]
    if len(survivors) > (1 - TARGET) * len(results):
        found.append(f"{len(survivors)} of {len(results)} faults survived, at most {1 - TARGET:.0%} may")
    return found


def table(results: list[dict[str, str]]) -> str:
    """Return the results as the Markdown that the appendix page includes."""
    by_module: dict[str, Counter[str]] = {}
    for row in results:
        by_module.setdefault(row["fault"].partition(".py:")[0], Counter())[row["by"]] += 1
    if not results:
        return "Not measured yet: `make mutants` writes its table here.\n"
    total = sum(by_module.values(), Counter())
    lines = ["| module | faults | caught by unit tests | caught by the recordings | survived |"]
    lines.append("| --- | ---: | ---: | ---: | ---: |")
    for name, counts in [*by_module.items(), ("all", total)]:
        numbers = (counts.total(), counts[UNIT], counts[REGRESSION], counts[NOTHING])
        lines.append(f"| {name if name == 'all' else f'`{name}`'} | " + " | ".join(map(str, numbers)) + " |")
    lines += ["", f"Caught: {(total[UNIT] + total[REGRESSION]) / total.total():.1%}.", ""]
    survivors = [row for row in results if row["by"] == NOTHING]
    if survivors:
        lines += ["| survivor | why it changes nothing |", "| --- | --- |"]
        lines += [f"| `{row['fault']}` | {row.get('equivalent', 'not explained')} |" for row in survivors]
        lines.append("")
    return "\n".join(lines)


def merged(
    old: list[dict[str, str]], planted: list[Fault], new: list[dict[str, str]]
) -> list[dict[str, str]]:
    """Return old rows with those of the modules that all planted faults have a row of in their place.

    Rows of modules that are gone are left out.
    """
    wanted = Counter(fault.module for fault in planted)
    done = Counter(module_in(row) for row in new)
    finished = {module for module, count in wanted.items() if done[module] == count}
    known = {path.relative_to(PACKAGE).as_posix() for path in to_plant_in()} - finished
    found = [row for row in old if module_in(row) in known] + [
        row for row in new if module_in(row) in finished
    ]
    return sorted(found, key=module_in)


def module_in(row: dict[str, str]) -> str:
    """Return the path of the module that a row is of."""
    return row["fault"].partition(": ")[0]


def main(arguments: list[str]) -> int:
    """Plant, run, print the table, and return 1 if there is something to complain of."""
    parser = argparse.ArgumentParser(prog="python -m book.proof.mutants")
    parser.add_argument("words", nargs="*", help="names of modules")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin nothing after this time")
    parser.add_argument("--jobs", type=int, default=2, help="how many to run at a time")
    options = parser.parse_args(arguments)
    try:
        chosen = picked(options.words)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    planted = [fault for path in chosen for fault in planned(path)]
    try:
        run_all(planted, options.jobs, options.minutes * 60)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 2
    results = collect(planted)
    rows = merged(json.loads(RESULTS.read_text(encoding="utf-8")), planted, results)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8", newline="\n")
    TABLE.write_text(table(rows), encoding="utf-8", newline="\n")
    print(table(results))
    print(f"{len(results)} of {len(planted)} faults were judged")
    explained = explanations()
    if options.words or len(results) < len(planted):
        judged = {row["fault"] for row in results}
        explained = {name: why for name, why in explained.items() if name in judged}
    found = complaints(results, explained)
    for complaint in found:
        print(complaint)
    return 1 if found or len(results) < len(planted) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
