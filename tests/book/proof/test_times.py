"""The running times on chapters and status page: measured for every chapter, and one table of them."""

import json

from book.proof import times
from book.recording.notebooks import ROOT, sources

MEASURED = json.loads(times.TIMES.read_text(encoding="utf-8"))


def test_every_chapter_has_a_running_time():
    pages = [path.relative_to(ROOT).with_suffix("").as_posix() for path in sources()]
    assert list(MEASURED["seconds"]) == pages


def test_times_are_whole_seconds():
    assert all(isinstance(value, int) and value >= 1 for value in MEASURED["seconds"].values())


def test_table_is_made_from_the_times():
    assert times.TABLE.read_text(encoding="utf-8") == times.table(MEASURED["seconds"], MEASURED["cores"])
