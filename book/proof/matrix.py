"""Execute the chapters again as other machines would, and compare with the recordings.

Usage: python -m book.proof.matrix [WORD ...] [--all] [--since DATE] [--minutes M] [--jobs N]

Each chapter runs in a fresh process under each of `settings`. What a run finds is written at once, as a row
of book/proof/tables/matrix.json, so that an interrupted run goes on; matrix.md is made from the rows.

What has a good row on this processor is not run again. Without words, the chapters and settings are those
that `make test` still asks for. Words name chapters, and settings by words of their names; --all takes all
settings. The word short-training names the short training, which --all runs too. With --since, a row must be
of that day or later to be good.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import TypeAlias

from book.proof import matrix_rows, times
from book.proof.matrix_page import TABLE, page
from book.proof.matrix_rows import CHAPTERS, SHORT, Row, holds, key_of, lacking, place
from book.proof.related import modules
from book.proof.settings import (
    MATPLOTLIBRC,
    PLAIN,
    Setting,
    cpu,
    emulated,
    environment,
    missing,
    settings,
    wanted,
)
from book.recording import provenance
from book.recording.notebooks import (
    ROOT,
    chosen,
    read_recording,
    recording_of,
    sources,
    use_this_checkout,
)

CONFIGURATION = ROOT / "_build" / "matrix" / "matplotlibrc"
LIMIT = 3600  # seconds that a task may take: an emulated Haswell needs half an hour for its short training
OF_SHORT = ("short_training.py", "aarch64.sh")
WRITING = threading.Lock()

Task: TypeAlias = tuple[Setting, str]  # what to run: a chapter's name, or SHORT


def picked(words: list[str], everything: bool) -> tuple[list[str], list[Setting]]:
    """Return the chapters, or SHORT, and the settings that words name.

    Raises
    ------
    ValueError
        If a word is of nothing, or no setting's name has all of them; the message is one line.
    """
    works: list[str] = []
    others: list[str] = []
    for word in words:
        try:
            works += [SHORT] if word == SHORT else [path.stem for path in chosen([word])]
        except ValueError:
            others.append(word.strip(","))
    among = [*settings(), *(emulated() if works == [SHORT] else [])]
    known = {part for setting in among for part in parts(setting)}
    if unknown := [word for word in others if word not in known]:
        raise ValueError(
            f"{', '.join(map(repr, unknown))}: no chapter ({', '.join(path.stem for path in sources())}), "
            f"not {SHORT}, and no word of a setting ({', '.join(sorted(known))})"
        )
    found = [setting for setting in among if parts(setting).issuperset(others)]
    if not found:
        raise ValueError(f"no setting has all of these words: {', '.join(others)}")
    if not others and not everything:
        found = wanted()
    return works, found


def parts(setting: Setting) -> set[str]:
    """Return the words of a setting's name."""
    return set(setting.name.replace(",", "").split())


def tasks(works: list[str], among: list[Setting], since: str) -> list[Task]:
    """Return what has no good row on this processor yet and can be run here, the slowest first."""
    table, processor = matrix_rows.read(), cpu()[0]
    rows = [row for part in (CHAPTERS, SHORT) for row in table[part] if row["processor"] == processor]
    found = []
    for work in works:
        key = today(work)
        good = {row["setting"] for row in rows if place(row)[0] == work and holds(row, key, since)}
        # The short training is held against the one with no variable set.
        plain = [one for one in settings() if one.name == PLAIN and one not in among and work == SHORT]
        found += [(one, work) for one in [*plain, *among] if one.name not in good and not missing(one)]
    known = times.read()

    def seconds(task: Task) -> float:
        return LIMIT if task[0].emulator else known.get(f"chapters/{task[1]}", {}).get("seconds", 0)

    return sorted(found, key=seconds, reverse=True)


def today(work: str) -> str:
    """Return the key that a row of a chapter, or of the short training, must have today."""
    return short_key() if work == SHORT else key_of(ROOT / "chapters" / f"{work}.md")


def short_key() -> str:
    """Return a hash of what decides the short training: package, texts, versions, and its own code."""
    files = [*modules(), *provenance.data_files(), *map(Path(__file__).with_name, OF_SHORT)]
    inputs = [
        [metadata.version(name) for name in ("numpy", "torch")],
        [provenance.digest(file) for file in files],
    ]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:16]


def command(task: Task) -> list[str]:
    """Return what runs a task and prints JSON."""
    setting, work = task
    python = setting.emulator or (sys.executable,)
    if work == SHORT:
        return [*python, "-m", "book.proof.short_training"]
    # A cell may take as long as the task, so that a busy machine makes no difference.
    return [*python, "-m", "book.recording.rerun", f"chapters/{work}.md", str(LIMIT)]


def run(task: Task) -> str:
    """Run a task in a fresh process and write its row; return what went wrong, if anything."""
    setting, work = task
    key, start = today(work), time.perf_counter()
    try:
        done = subprocess.run(
            command(task),
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
    if today(work) != key:
        return f"{work}, {setting.name}: the recording changed while it ran; run it again"
    with WRITING:
        matrix_rows.add(SHORT if work == SHORT else CHAPTERS, row_of(task, key, json.loads(done.stdout)))
        write_page()
    print(f"{work}, {setting.name}: {time.perf_counter() - start:.0f} s", flush=True)
    return ""


def row_of(task: Task, key: str, found: dict[str, object]) -> Row:
    """Return the row of what a task found."""
    setting, work = task
    return {
        **({} if work == SHORT else {"chapter": work}),
        "setting": setting.name,
        "processor": cpu()[0],
        "key": key,
        "date": date.today().isoformat(),
        **({} if work == SHORT else {"versions": versions_of(work)}),
        **found,
    }


def versions_of(chapter: str) -> dict[str, str]:
    """Return Python's version, and those that a chapter was recorded with, which are the installed ones."""
    noted = read_recording(recording_of(ROOT / "chapters" / f"{chapter}.md")).metadata[provenance.KEY]
    return {"Python": platform.python_version(), **noted["versions"]}


def run_all(planned: list[Task], jobs: int, end: float) -> list[str]:
    """Run tasks, `jobs` at a time; none begins once `time.monotonic()` is `end`. Return what went wrong."""

    def run_in_time(task: Task) -> str:
        return run(task) if time.monotonic() < end else ""

    with ThreadPoolExecutor(jobs) as pool:
        return [fault for fault in pool.map(run_in_time, planned) if fault]


def write_page() -> None:
    """Make the appendix page's table from the rows that there are."""
    TABLE.write_text(page(matrix_rows.read(), matrix_rows.keys()), encoding="utf-8", newline="\n")


def main(arguments: list[str]) -> int:
    """Run, say what is left, and return 1 if a cell differs, a task failed or one was left undone."""
    parser = argparse.ArgumentParser(prog="python -m book.proof.matrix")
    parser.add_argument("words", nargs="*", help="names of chapters, words of settings")
    parser.add_argument("--all", action="store_true", help="all settings, and the short training")
    parser.add_argument(
        "--since", default="", help="run again what has no row of this day (YYYY-MM-DD) or later"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin nothing after this time")
    parser.add_argument("--jobs", type=int, default=2, help="how many to run at a time")
    options = parser.parse_args(arguments)
    use_this_checkout()
    try:
        works, among = picked(options.words, options.all)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if not works:
        works = [path.stem for path in sources()]
        if not options.words and not options.all:
            rows = matrix_rows.read()[CHAPTERS]
            works = [one for one in works if lacking(rows, one, today(one), options.since)]
        works += [SHORT] if options.all else []
    if stale := provenance.behind(ROOT / "chapters" / f"{name}.md" for name in works if name != SHORT):
        print("\n".join(stale), file=sys.stderr)
        return 2
    CONFIGURATION.parent.mkdir(parents=True, exist_ok=True)
    CONFIGURATION.write_text(MATPLOTLIBRC, encoding="utf-8")
    planned = tasks(works, among, options.since)
    print(f"{len(planned)} to run, {options.jobs} at a time", flush=True)
    failed = run_all(planned, options.jobs, time.monotonic() + options.minutes * 60)
    write_page()
    unable = {one.name: why for one in among if (why := missing(one))}
    differing = [line for line in matrix_rows.differing() if line.partition(",")[0] in works]
    for line in [*differing, *failed, *(f"{name} was not run: {why}" for name, why in unable.items())]:
        print(line, file=sys.stderr)
    left = tasks(works, among, options.since)
    print(f"{len(planned) - len(left)} of {len(planned)} have a good row now")
    return 1 if left or differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
