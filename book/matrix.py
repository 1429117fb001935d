"""Execute the chapters again as other machines would, and compare with the recordings.

Usage: python -m book.matrix [--only WORD ...] [--minutes M] [--jobs N]

Each chapter runs in a fresh process under each of `settings`. What was run is kept in _build/matrix, so that
an interrupted run goes on; once all is done, appendix/matrix.json and appendix/matrix.md are written. With
--only, just the chapters named and the settings whose names hold all other words are run, and the table is
printed only. The short training runs unless a chapter is named.
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import inspect
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

from book import compare, provenance, rerun
from book.compare import TOLERANCES
from book.notebooks import ROOT, read_recording, read_source, recording_of, sources, use_this_checkout
from book.rerun import Outcome
from book.settings import MATPLOTLIBRC, PLAIN, Setting, cpu, emulated, environment, missing, own, settings
from book.short_training import NO_GRID

RESULTS = ROOT / "appendix" / "matrix.json"
TABLE = ROOT / "appendix" / "matrix.md"
CACHE = ROOT / "_build" / "matrix"
CONFIGURATION = CACHE / "matplotlibrc"
SHORT = "short training"
LIMIT = 3600  # seconds that a task may take: an emulated Haswell needs half an hour for its short training

Row: TypeAlias = dict[str, object]
Task: TypeAlias = tuple[Setting, str]  # what to run: a chapter's name, or SHORT


def command(setting: Setting, work: str) -> list[str]:
    """Return what runs a task and prints JSON."""
    python = setting.emulator or (sys.executable,)
    if work == SHORT:
        return [*python, "-m", "book.short_training"]
    return [*python, "-m", "book.rerun", f"chapters/{work}.md"]


def kept(task: Task) -> Path:
    """Return where a task's result is kept; the name has a hash of all that decides it."""
    setting, work = task
    inputs = repr([sorted(own(setting).items()), setting.emulator, basis(work)])
    return CACHE / f"{work}-{hashlib.sha256(inputs.encode()).hexdigest()[:16]}.json"


@functools.cache
def basis(work: str) -> str:
    """Return a hash of what decides a result whatever the setting: code, recording, versions, processor."""
    processor, features = cpu()
    inputs: list[object] = [processor, sorted(features), provenance.installed_versions(), MATPLOTLIBRC]
    if work == SHORT:
        files = [*(ROOT / "d2lrnn").glob("*.py"), *provenance.data_files()]
        files += [ROOT / "book" / name for name in ("short_training.py", "aarch64.sh")]
        inputs += [provenance.digest(file) for file in sorted(files)]
    else:
        noted = read_recording(recording_of(ROOT / "chapters" / f"{work}.md")).metadata[provenance.KEY]
        inputs += [noted[key] for key in ("code", "outputs", "files")]
        # What the modules run that judge; their comments do not count.
        inputs += [ast.dump(ast.parse(inspect.getsource(module))) for module in (compare, rerun)]
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def out_of_step(chapters: list[str]) -> list[str]:
    """List the chapters whose recordings are not of what is here, so that a result would be of nothing."""
    found = []
    for path in (ROOT / "chapters" / f"{name}.md" for name in chapters):
        recording = read_recording(recording_of(path))
        if changes := provenance.changes(recording, read_source(path), provenance.installed_versions()):
            found.append(f"{path.stem}: {changes[0]}: run `make record` first")
    return found


def run(task: Task) -> str:
    """Run a task in a fresh process and keep its result; return what went wrong, if anything."""
    setting, work = task
    target, start = kept(task), time.perf_counter()
    try:
        done = subprocess.run(
            command(setting, work),
            cwd=ROOT,
            env=environment(setting, CONFIGURATION),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{work}, {setting.name}: not done after {LIMIT} s"
    if done.returncode:
        return f"{work}, {setting.name}: " + "".join(done.stderr.strip().splitlines()[-1:])
    target.write_text(done.stdout, encoding="utf-8")
    print(f"{work}, {setting.name}: {time.perf_counter() - start:.0f} s", flush=True)
    return ""


def run_all(tasks: Iterable[Task], jobs: int, end: float) -> list[str]:
    """Run the tasks that have no result yet, `jobs` at a time; none begins once `time.monotonic()` is `end`.

    Returns what went wrong; such a task has no result.
    """

    def run_in_time(task: Task) -> str:
        return run(task) if time.monotonic() < end else ""

    with ThreadPoolExecutor(jobs) as pool:
        left = [task for task in tasks if not kept(task).is_file()]
        return [fault for fault in pool.map(run_in_time, left) if fault]


def result(task: Task) -> dict | None:
    """Return the kept result of a task, if there is one."""
    target = kept(task)
    return json.loads(target.read_text(encoding="utf-8")) if target.is_file() else None


def chapter_row(setting: Setting, chapters: list[str]) -> Row | None:
    """Return a setting's row over all chapters; none if one of them was not run."""
    outcomes: dict[str, Outcome] = {}
    for name in chapters:
        found = result((setting, name))
        if found is None:
            return None
        outcomes[name] = found
    return {
        "setting": setting.name,
        "cells": sum(outcome["cells"] for outcome in outcomes.values()),
        "differing": {
            f"{name}, {cell}": lines
            for name, outcome in outcomes.items()
            for cell, lines in outcome["differing"].items()
        },
        "largest": {
            kind: max(outcome["largest"].get(kind, 0.0) for outcome in outcomes.values())
            for kind in TOLERANCES
        },
    }


def short_row(setting: Setting) -> Row | None:
    """Return a setting's row of the short training, held against the one with no variable set."""
    new, reference = result((setting, SHORT)), result((Setting(PLAIN), SHORT))
    if new is None or reference is None:
        return None
    compared = [
        (f"{model}, {what}", old, new["models"][model][what])
        for model, facts in reference["models"].items()
        if model != NO_GRID
        for what, old in facts.items()
    ]
    sizes = {name: abs(a - b) / abs(a) for name, a, b in compared if isinstance(a, float)}
    # Of nan, no comparison holds.
    moved = [
        (name, a, b)
        for name, a, b in compared
        if not (sizes[name] <= TOLERANCES["printed"] if name in sizes else a == b)
    ]
    return {
        "setting": setting.name,
        "torch": new["torch"],
        "cells": len(compared),
        "differing": {name: [f"recorded {a}, got {b}"] for name, a, b in moved},
        "largest": {"printed": max(sizes.values())},
        "without the grid": new["models"][NO_GRID]["weights"],
    }


def collect(chosen: list[Setting], chapters: list[str], processors: list[Setting]) -> dict[str, object]:
    """Return all results that there are, with what they were made on."""

    def rows(of: Callable[[Setting], Row | None], among: list[Setting]) -> list[Row]:
        return [row for setting in among if (row := of(setting)) is not None]

    return {
        "made with": {
            "processor": cpu()[0],
            "Python": platform.python_version(),
            **provenance.installed_versions(),
        },
        "chapters": chapters,
        "rows": rows(lambda setting: chapter_row(setting, chapters), chosen),
        "short": rows(short_row, [*chosen, *processors]),
        "skipped": {s.name: why for s in [*chosen, *processors] if (why := missing(s))},
        "tolerances": TOLERANCES,
    }


def table(results: dict) -> str:
    """Return the results as the Markdown that the appendix page includes."""
    processor, *versions = results["made with"].items()
    made = ", ".join(f"{name} {version}" for name, version in versions)
    lines = [
        f"Processor: {processor[1]}. Versions: {made}. Chapters: {', '.join(results['chapters'])}.",
        "",
        *_rows("cells", results["rows"]),
        "",
        *_short_part(results),
        "| numbers | largest in any row | tolerance |",
        "| --- | ---: | ---: |",
    ]
    every = [*results["rows"], *results["short"]]
    for kind, tolerance in results["tolerances"].items():
        largest = max((row["largest"].get(kind, 0.0) for row in every), default=0.0)
        lines.append(f"| {kind} | {_size(largest)} | {_size(tolerance)} |")
    lines.append("")
    lines += [f"- Not run: {name}, since {why}." for name, why in results["skipped"].items()]
    return "\n".join(lines).rstrip() + "\n"


def _short_part(results: dict) -> list[str]:
    """Return the lines on the short training; none if it was not run."""
    short = results["short"]
    if not short:
        return []
    usual = results["made with"]["torch"]
    named = [
        {**row, "setting": f"{row['setting']}, torch {row['torch']}"} if row["torch"] != usual else row
        for row in short
    ]
    differing = sum(len(row["differing"]) for row in short)
    ends = len({row["without the grid"] for row in short})
    return [
        "The short training holds four models: the hash of the final weights and the generated text must be "
        "equal, the held-out perplexity within the tolerance of printed numbers.",
        "",
        f":::{{dropdown}} The short training under {len(short)} settings: values that differ, {differing}",
        *_rows("values", named),
        ":::",
        "",
        f"Without the grid, the first of these models ends in {ends} different sets of weights under these "
        f"{len(short)} settings.",
        "",
    ]


def _rows(counted: str, rows: list[dict]) -> list[str]:
    head = ["setting", counted, "differ", "largest"]  # short, so that a name fits beside them
    body = [
        [row["setting"], f"{row['cells']:,}", f"{len(row['differing'])}", _size(max(row["largest"].values()))]
        for row in rows
    ]
    return ["| " + " | ".join(row) + " |" for row in (head, ["---", "---:", "---:", "---:"], *body)]


def _size(value: float) -> str:
    return f"{value:.0e}" if value else "0"


def main(arguments: list[str]) -> int:
    """Run, print the table, and return 1 if a cell differed."""
    parser = argparse.ArgumentParser(prog="python -m book.matrix")
    parser.add_argument("--only", nargs="+", default=[], help="names of chapters, words of settings")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin nothing after this time")
    parser.add_argument("--jobs", type=int, default=2, help="how many to run at a time")
    options = parser.parse_args(arguments)
    use_this_checkout()
    every = [path.stem for path in sources()]
    named = [name for name in every if name in options.only]
    words = [word for word in options.only if word not in every]

    def picked(among: list[Setting]) -> list[Setting]:
        return [s for s in among if all(word in s.name for word in words)]

    if not picked([*settings(), *emulated()]):
        parser.error(
            f"--only: {' '.join(words)!r} is no chapter ({', '.join(every)}), and in no setting's name"
        )
    chapters, chosen = named or every, picked(settings())
    processors = [] if named else picked(emulated())
    plain = settings()[0]  # which the short training is held against
    short = [] if named else [plain, *(s for s in [*chosen, *processors] if s != plain)]
    tasks = [(s, SHORT) for s in short if not missing(s)]
    tasks += [(s, name) for s in chosen if not missing(s) for name in chapters]
    if stale := out_of_step(chapters):
        print("\n".join(stale), file=sys.stderr)
        return 2
    CACHE.mkdir(parents=True, exist_ok=True)
    CONFIGURATION.write_text(MATPLOTLIBRC, encoding="utf-8")
    end = time.monotonic() + options.minutes * 60
    failed = run_all(tasks, options.jobs, end)
    results = collect(chosen, chapters, processors)
    print(table(results))
    left = [task for task in tasks if result(task) is None]
    if options.only or left:
        print(f"{len(tasks) - len(left)} of {len(tasks)} runs are done; the appendix is left as it is.")
    else:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8", newline="\n")
        TABLE.write_text(table(results), encoding="utf-8", newline="\n")
    moved = [(row, cell) for key in ("rows", "short") for row in results[key] for cell in row["differing"]]
    for row, cell in moved:
        print(f"{row['setting']}: {cell}: {row['differing'][cell][0]}", file=sys.stderr)
    for fault in failed:
        print(fault, file=sys.stderr)
    return 1 if moved or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
