"""The running times on chapters and status page: measured for every chapter, and within the budget."""

import pytest
from small_course import chapter

from book.proof import times
from book.proof.matrix_rows import keys
from book.proof.times import DEARER, EXCEPTIONS, MOST, MOST_OF_ALL, MOST_OF_SOME, complaints
from book.recording.notebooks import sources

# Works for two seconds on one thread, and not at all on more.
WORK = """\
import os
import time

seconds = 2 if os.environ["OMP_NUM_THREADS"] == "1" else 0
while time.process_time() < seconds:
    pass"""


def time(seconds, key="now"):
    return {"seconds": seconds, "key": key, "processor": "A"}


def said(name, seconds, **others):
    return complaints({f"chapters/{name}": time(seconds, **others)}, {name: "now"})


def test_every_chapter_is_within_the_budget_and_has_a_time_of_today():
    if found := complaints(times.read(), keys()):
        pytest.fail("\n".join(found), pytrace=False)


def test_times_are_of_the_chapters_that_there_are():
    pages = [times.page_of(path) for path in sources()]
    assert [page for page in times.read() if page not in pages] == []


def test_table_is_made_from_the_times():
    assert times.TABLE.read_text(encoding="utf-8") == times.table(times.read())


@pytest.mark.parametrize(("name", "most"), [("a", MOST), *((name, MOST_OF_SOME) for name in DEARER)])
def test_a_chapter_over_its_budget_is_named(name, most):
    assert said(name, most) == []
    assert said(name, most + 1) == [f"{name}: {most + 1} s on one thread, at most {most} are allowed"]


def test_an_exception_has_a_bound_of_its_own_and_is_named_once_it_is_not_needed(monkeypatch):
    monkeypatch.setitem(EXCEPTIONS, "a", (MOST + 20, 22))
    assert said("a", MOST + 20) == []
    assert said("a", MOST + 21) == [f"a: {MOST + 21} s on one thread, at most {MOST + 20} are allowed"]
    assert said("a", MOST) == []
    assert said("a", 30) == ["a: 30 s on one thread need no exception (issue 22)"]


def test_exceptions_are_of_chapters_and_over_the_budget():
    assert EXCEPTIONS.keys() <= {path.stem for path in sources()}
    assert all(bound > MOST for bound, _issue in EXCEPTIONS.values())


@pytest.mark.parametrize("found", [{}, {"chapters/a": time(1, key="old")}])
def test_a_chapter_without_a_time_of_today_is_named_with_the_command(found):
    line = "a: no time of today's code and outputs: run `make times ONLY=a`"
    assert complaints(found, {"a": "now"}) == [line]


def test_all_chapters_together_have_a_budget():
    count = MOST_OF_ALL // MOST
    found = {f"chapters/{number}": time(MOST) for number in range(count)}
    today = {str(number): "now" for number in range(count)}
    assert complaints(found, today) == []
    found["chapters/more"] = time(1)
    line = f"all chapters: {MOST_OF_ALL + 1} s on one thread, at most {MOST_OF_ALL} are allowed"
    assert complaints(found, {**today, "more": "now"}) == [line]


def test_measured_is_processor_time_on_one_thread(course):
    course.write("tiny.md", chapter(WORK, "time.sleep(4)"))
    course.write("other.md", chapter("1 + 1"))
    done = course.record(OMP_NUM_THREADS="2")
    assert done.returncode == 0, done.stderr
    done = course.run("python", "-m", "book.proof.times", "tiny", OMP_NUM_THREADS="2")
    assert done.returncode == 0, done.stderr
    found = (course.root / "book" / "proof" / "tables" / "times.json").read_text(encoding="utf-8")
    assert list(times.json.loads(found)) == ["chapters/tiny"]
    assert 2 <= times.json.loads(found)["chapters/tiny"]["seconds"] < 6


def test_a_word_that_names_no_chapter_is_named_in_one_line(capsys):
    assert times.main(["rnn", "nothing"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("'nothing' is no chapter with code; there are: ")
    assert error.count("\n") == 1
