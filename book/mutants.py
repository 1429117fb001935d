"""Plant small faults in the package, and count how many the tests and the recordings catch.

Usage: python -m book.mutants [--only WORD ...] [--minutes M] [--jobs N]

Each fault is planted in a copy of the project. The unit tests that have to do with its module run first; if
none fails, the recordings of the chapters that use the module are executed again. What was run is kept in
_build/mutants, so that an interrupted run goes on. A full run writes appendix/mutants.json and
appendix/mutants.md; with --only, just the modules named are done and the table is printed only.
A survivor that changes nothing has a line in book/equivalent.yml that says why.
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

from book import provenance
from book.faults import Fault, faults
from book.notebooks import ROOT
from book.related import PACKAGE, chapters_of, modules, name_of, unit_tests

RESULTS = ROOT / "appendix" / "mutants.json"
TABLE = ROOT / "appendix" / "mutants.md"
EQUIVALENT = ROOT / "book" / "equivalent.yml"
CACHE = ROOT / "_build" / "mutants"
PER_MODULE = 3
TARGET = 0.95
TIMEOUT = 300  # seconds that tests, or a chapter, may take: longer is caught
COMPARING = ("book/compare.py", "book/rerun.py")  # what decides whether a recording holds
WRONG_ANSWERS = "tests/wrong_answers/"  # the cases of tests/test_wrong_answers.py
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
    return sorted([*PACKAGE.glob("*.py"), *PACKAGE.glob("check/_*.py")])


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


def run(copy: Path, *arguments: str) -> tuple[int, str]:
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
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, "took too long"
    return done.returncode, done.stdout


def failing_test(copy: Path, tests: list[str]) -> str | None:
    """Return the first unit test that fails in a copy; the first file runs alone, as it mostly suffices."""
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
    for part in filter(None, (tests[:1], tests[1:])):
        status, output = run(copy, "-m", "pytest", *options, *part)
        if status:
            named = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.M)
            return named[1] if named else "no test could begin"
    return None


def differing_chapter(copy: Path, chapters: list[str]) -> str | None:
    """Return the first chapter whose outputs in a copy are not the recorded ones."""
    for name in chapters:
        status, output = run(copy, "-m", "book.rerun", f"chapters/{name}.md")
        if status or json.loads(output)["differing"]:
            return name
    return None


def judge(fault: Fault, copies: Copies) -> tuple[str, str]:
    """Return what catches a fault: UNIT, REGRESSION or NOTHING, and the test's or the chapter's name."""
    module = module_of(fault)
    with copies.planted(fault) as copy:
        if test := failing_test(copy, unit_tests(module)):
            return UNIT, test
        if chapter := differing_chapter(copy, chapters_of(module)):
            return REGRESSION, chapter
    return NOTHING, ""


def kept(fault: Fault) -> Path:
    """Return where a fault's result is kept; the name has a hash of the package's code."""
    return CACHE / f"{module_of(fault)}-{_hash(fault.name)}.json"


def _hash(*inputs: str) -> str:
    package = [found for file, found in digests().items() if file.startswith("d2lrnn/")]
    return hashlib.sha256(repr([*inputs, *package]).encode()).hexdigest()[:16]


def deciding(fault: Fault, by: str, what: str) -> dict[str, str]:
    """Return the hashes of the files that a result hangs on.

    A fault that a unit test catches is caught as long as that test's file is the same, whatever the others.
    """
    module = module_of(fault)
    files = [*unit_tests(module), *(f"chapters/{name}.ipynb" for name in chapters_of(module)), *COMPARING]
    caught = what.partition("::")[0]
    if by == UNIT and caught in files:
        files = [caught]
    if "tests/test_wrong_answers.py" in files:
        files += [file for file in digests() if file.startswith(WRONG_ANSWERS)]
    return {file: digests()[file] for file in files}


def result(fault: Fault) -> dict[str, str] | None:
    """Return a fault's kept result, if there is one that still holds."""
    target = kept(fault)
    if not target.is_file():
        return None
    found = json.loads(target.read_text(encoding="utf-8"))
    holds = found.pop("files") == deciding(fault, found["by"], found["what"])
    return found if holds else None


def check_soundness(copies: Copies, chosen: list[Path], pool: ThreadPoolExecutor) -> None:
    """Check, once, that without a fault nothing fails, or everything would count as caught.

    Raises
    ------
    RuntimeError
        If a test fails, or a recording does not hold.
    """
    names = [name_of(path) for path in chosen]
    chapters = {chapter for name in names for chapter in chapters_of(name)}
    tests = {test for name in names for test in unit_tests(name)}

    def check(work: str) -> None:
        file = f"chapters/{work}.ipynb" if work in chapters else work
        mark = CACHE / f"sound-{_hash(work, digests()[file])}"
        if mark.is_file():
            return
        with copies.planted(None) as copy:
            if failed := (differing_chapter if work in chapters else failing_test)(copy, [work]):
                raise RuntimeError(f"without a fault, this fails already: {failed}")
        print(f"holds without a fault: {file}", flush=True)
        mark.touch()

    list(pool.map(check, [*sorted(chapters), *sorted(tests)]))


def run_all(planted: list[Fault], chosen: list[Path], jobs: int, seconds: float) -> None:
    """Judge the faults that have no result yet, `jobs` at a time, and begin none after so many seconds."""
    left = [fault for fault in planted if result(fault) is None]
    if not left:
        return
    end = time.monotonic() + seconds
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        copies = Copies(Path(folder), jobs)
        check_soundness(copies, chosen, pool)

        def judge_in_time(fault: Fault) -> None:
            if time.monotonic() < end:
                by, what = judge(fault, copies)
                found = {"by": by, "what": what, "files": deciding(fault, by, what)}
                kept(fault).write_text(json.dumps(found), encoding="utf-8")
                print(f"{by}: {fault.name}", flush=True)

        list(pool.map(judge_in_time, left))


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
        lines.append(f"| {name} | " + " | ".join(map(str, numbers)) + " |")
    lines += ["", f"Caught: {(total[UNIT] + total[REGRESSION]) / total.total():.1%}.", ""]
    survivors = [row for row in results if row["by"] == NOTHING]
    if survivors:
        lines += ["| survivor | why it changes nothing |", "| --- | --- |"]
        lines += [f"| `{row['fault']}` | {row.get('equivalent', 'not explained')} |" for row in survivors]
        lines.append("")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Plant, run, print the table, and return 1 if there is something to complain of."""
    parser = argparse.ArgumentParser(prog="python -m book.mutants")
    parser.add_argument("--only", nargs="+", default=[], help="names of modules")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin nothing after this time")
    parser.add_argument("--jobs", type=int, default=2, help="how many to run at a time")
    options = parser.parse_args(arguments)
    every = [name_of(path) for path in to_plant_in()]
    for name in options.only:
        if name not in every:
            parser.error(f"--only: {name!r} is no module to plant faults in ({', '.join(every)})")
    chosen = [path for path in to_plant_in() if not options.only or name_of(path) in options.only]
    planted = [fault for path in chosen for fault in faults(path, PACKAGE, PER_MODULE)]
    run_all(planted, chosen, options.jobs, options.minutes * 60)
    results = collect(planted)
    print(table(results))
    explained = explanations()
    if unfinished := bool(options.only) or len(results) < len(planted):
        judged = {row["fault"] for row in results}
        explained = {name: why for name, why in explained.items() if name in judged}
    found = complaints(results, explained)
    if unfinished:
        print(f"{len(results)} of {len(planted)} faults were judged; the appendix is left as it is.")
    else:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8", newline="\n")
        TABLE.write_text(table(results), encoding="utf-8", newline="\n")
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
