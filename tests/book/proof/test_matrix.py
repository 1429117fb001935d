import hashlib
import json
import math
from itertools import combinations, product
from pathlib import Path

import pytest
from small_course import chapter

from book.proof import matrix, matrix_rows, settings
from book.proof.matrix_page import TABLE, page
from book.proof.matrix_rows import CHAPTERS, FIRST, SHORT, held_against, lacking, short_rows
from book.proof.settings import (
    ATEN,
    COMBINED,
    MKL,
    OLDEST,
    PLAIN,
    THREADS,
    Setting,
    environment,
    missing,
    wanted,
)
from book.proof.short_training import NO_GRID
from book.recording.compare import TOLERANCES

ALL_WANTED = [setting.name for setting in wanted()]
COMBINATIONS = [s for s in settings.settings() if set(s.variables) == set(COMBINED)]
FIRST_BLOB = "ec9cba58cfa6f4db24980705f0e864718252397b"  # git's name for the first edition's file of rows


def values(setting):
    return tuple(setting.variables[name] for name in COMBINED)


def row(setting, **facts):
    """Return a good row of the chapter `rnn`, but for `facts`."""
    usual = {
        "chapter": "rnn",
        "processor": "A",
        "key": "now",
        "date": "2026-12-01",
        "versions": {"torch": "2"},
    }
    return {"setting": setting, **usual, "cells": 5, "differing": {}, "largest": {}, **facts}


def shorts(setting=PLAIN, key="now", **models):
    facts = {"weights": "ab", "text": "the tide", "perplexity": 9.5}
    models = {"scratch": {**facts, **models}, NO_GRID: {**facts, "weights": "cd"}}
    return {"setting": setting, "processor": "A", "key": key, "date": "2026-12-01", "models": models}


@pytest.fixture
def file(monkeypatch, tmp_path):
    """Put a file of rows with nothing but the first edition's in place of the project's."""
    first = matrix_rows.read()[FIRST]
    path = tmp_path / "matrix.json"
    path.write_text(json.dumps({CHAPTERS: [], SHORT: [], FIRST: first}), encoding="utf-8")
    monkeypatch.setattr(matrix_rows, "RESULTS", path)
    return path


def test_every_combination_of_the_three_is_a_setting():
    assert sorted(map(values, COMBINATIONS)) == sorted(product(ATEN, MKL, map(str, THREADS)))


def test_wanted_are_the_plain_one_that_of_an_old_processor_and_twelve_combinations():
    assert ALL_WANTED[:2] == [PLAIN, OLDEST]
    assert [setting for setting in wanted() if setting in COMBINATIONS] == wanted()[2:]
    assert len(wanted()) == 14


def test_wanted_combinations_hold_every_pair():
    first = [values(setting) for setting in wanted()[2:]]
    for (i, one), (j, other) in combinations(enumerate((ATEN, MKL, [str(n) for n in THREADS])), 2):
        assert {(row[i], row[j]) for row in first} == set(product(one, other))


def test_settings_have_names_of_their_own():
    names = [s.name for s in [*settings.settings(), *settings.emulated()]]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["MKL_CBWR", "OMP_WAIT_POLICY", "MATPLOTLIBRC", "TZ"])
def test_the_plain_setting_takes_away_what_steers_the_libraries(name, monkeypatch):
    monkeypatch.setenv(name, "COMPATIBLE")
    assert name not in environment(Setting(PLAIN), Path("rc"))


def test_a_setting_comes_over_the_reader_s_own_variables(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    found = environment(Setting("four", {"OMP_NUM_THREADS": "4"}), Path("rc"))
    assert (found["OMP_NUM_THREADS"], found["LC_ALL"], found["MATPLOTLIBRC"]) == ("4", "C", "rc")


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("as on a Haswell", "avx2"),
        ("as on a Nehalem", ""),
        ("ATen default, MKL SSE4_2, 1 thread", ""),
        ("ATen default, MKL AVX2, 1 thread", "avx2"),
        ("ATen avx2, MKL AVX512, 1 thread", "avx512f"),
    ],
)
def test_a_setting_needs_no_more_than_it_uses(name, needs):
    assert [s.needs for s in settings.settings() if s.name == name] == [needs]


def test_a_processor_without_the_feature_is_told(monkeypatch):
    monkeypatch.setattr(settings, "cpu", lambda: ("old", frozenset({"sse2"})))
    assert missing(Setting("new", needs="avx512f")) == "this processor has no avx512f"


def test_a_missing_emulator_is_told():
    assert missing(Setting("strange", emulator=("no-such-program",))) == "no qemu-user-static"


def test_equal_short_trainings_have_no_difference():
    found = held_against(shorts(), shorts())
    assert (found["cells"], found["differing"], found["largest"]["printed"]) == (3, {}, 0)


@pytest.mark.parametrize(
    "moved", [{"weights": "ba"}, {"text": "the time"}, {"perplexity": 9.6}, {"perplexity": math.nan}]
)
def test_a_short_training_that_moved_is_named(moved):
    assert list(held_against(shorts(), shorts(**moved))["differing"]) == [f"scratch, {next(iter(moved))}"]


def test_last_bits_of_a_perplexity_are_measured_and_allowed():
    found = held_against(shorts(), shorts(perplexity=math.nextafter(9.5, 10)))
    assert found["differing"] == {}
    assert found["largest"]["printed"] == pytest.approx(math.ulp(9.5) / 9.5)


def test_short_trainings_are_held_against_one_of_the_same_code():
    rows = [shorts(key="old", weights="xy"), shorts(OLDEST), {**shorts(), "date": "2026-12-02"}]
    assert [found["setting"] for found in short_rows(rows)] == [PLAIN, OLDEST]
    assert not any(found["differing"] for found in short_rows(rows))


def test_of_the_short_training_nothing_is_said_where_it_was_not_run():
    table = {**matrix_rows.read(), SHORT: []}
    assert "holds four models" not in page(table, {})
    assert "holds four models" in page({**table, SHORT: [{**shorts(), "versions": {"torch": "2"}}]}, {})


# What is lacking


def test_nothing_lacks_where_one_processor_has_all_wanted_settings():
    rows = [row(name) for name in ALL_WANTED]
    assert lacking(rows, "rnn", "now") == []
    assert lacking(rows, "bptt", "now") == ALL_WANTED


@pytest.mark.parametrize(
    "other", [{"key": "old"}, {"differing": {"cell 1": ["recorded 1, got 2"]}}, {"processor": "B"}]
)
def test_a_row_of_other_outputs_with_a_difference_or_of_another_processor_proves_nothing(other):
    rows = [row(name, **(other if name == OLDEST else {})) for name in ALL_WANTED]
    assert lacking(rows, "rnn", "now") == [OLDEST]


def test_a_release_may_ask_for_rows_from_a_day_on():
    rows = [row(name, date="2026-12-02" if name == PLAIN else "2026-12-01") for name in ALL_WANTED]
    assert lacking(rows, "rnn", "now", "2026-12-01") == []
    assert lacking(rows, "rnn", "now", "2026-12-02") == ALL_WANTED[1:]


def test_of_two_processors_the_one_that_lacks_less_is_asked_for_the_rest():
    rows = [row(PLAIN, processor="B"), *(row(name) for name in ALL_WANTED[:3])]
    assert lacking(rows, "rnn", "now") == ALL_WANTED[3:]


def test_what_lacks_is_said_in_one_line_a_chapter_with_the_command(file, monkeypatch):
    monkeypatch.setattr(matrix_rows, "keys", lambda: {"rnn": "now", "bptt": "now"})
    for name in ALL_WANTED[3:]:
        matrix_rows.add(CHAPTERS, row(name))
        matrix_rows.add(CHAPTERS, row(name, chapter="bptt"))
    for name in ALL_WANTED[:3]:
        matrix_rows.add(CHAPTERS, row(name, chapter="bptt"))
    assert matrix_rows.complaints() == [
        "rnn: no good row of today's code and outputs for 3 of 14 settings "
        f"({PLAIN}; {OLDEST} and 1 more): run `make matrix ONLY=rnn`"
    ]


@pytest.mark.parametrize("key", ["now", "old"])
def test_a_difference_under_any_setting_is_complained_of_while_its_row_is_of_today(key, file, monkeypatch):
    monkeypatch.setattr(matrix_rows, "keys", lambda: {"rnn": "now"})
    matrix_rows.add(CHAPTERS, row("as on a Haswell", key=key, differing={"cell 1": ["recorded 1, got 2"]}))
    line = "rnn, as on a Haswell, A: cell 1: recorded 1, got 2"
    assert (line in matrix_rows.complaints()) == (key == "now")


def test_a_short_training_that_differs_is_complained_of(file):
    matrix_rows.add(SHORT, shorts())
    matrix_rows.add(SHORT, shorts(OLDEST, text="the time"))
    line = f"{SHORT}, {OLDEST}, A: scratch, text: recorded the tide, got the time"
    assert line in matrix_rows.complaints()


# The file


def test_rows_of_processors_stand_side_by_side(file):
    for processor in ("B", "A"):
        matrix_rows.add(CHAPTERS, row(PLAIN, processor=processor))
    assert [found["processor"] for found in matrix_rows.read()[CHAPTERS]] == ["A", "B"]


def test_a_newer_row_replaces_that_of_the_same_chapter_setting_and_processor(file):
    for key in ("old", "now"):
        matrix_rows.add(CHAPTERS, row(PLAIN, key=key))
    assert [found["key"] for found in matrix_rows.read()[CHAPTERS]] == ["now"]


@pytest.mark.parametrize("gone", [{"chapter": "no-such-chapter"}, {"setting": "no such setting"}])
def test_rows_of_what_is_gone_are_left_out(gone, file):
    matrix_rows.add(CHAPTERS, {**row(PLAIN), **gone})
    matrix_rows.add(CHAPTERS, row(OLDEST))
    assert matrix_rows.read()[CHAPTERS] == [row(OLDEST)]


def test_each_row_has_a_line_of_its_own(file):
    for name in (PLAIN, OLDEST):
        matrix_rows.add(CHAPTERS, row(name))
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line.rstrip(",")) for line in lines if '"rnn", "processor"' in line] == [
        row(OLDEST),
        row(PLAIN),
    ]


def test_the_first_edition_s_rows_are_what_they_were():
    first = matrix_rows.read()[FIRST]
    then = json.dumps({name: part for name, part in first.items() if name != "date"}, indent=1) + "\n"
    blob = f"blob {len(then)}\0{then}".encode()
    assert hashlib.sha1(blob, usedforsecurity=False).hexdigest() == FIRST_BLOB
    assert (len(first["rows"]), len(first["short"])) == (45, 48)


# Runs on a small course


@pytest.fixture(scope="module")
def prepared(course):
    """Record three chapters; of the first, one cell depends on a variable."""
    follows = "import os\n\nprint(os.environ.get('MKL_CBWR'))"
    course.write("tiny.md", chapter("print(0.25)", follows, "40 + 2;"))
    course.write("third.md", chapter("print(1.25)"))
    course.write("other.md", chapter("import d2lrnn._support\n\nprint(0.75)"))
    done = course.record()
    assert done.returncode == 0, done.stderr
    return course


def run(course, *words):
    return course.run("python", "-m", "book.proof.matrix", *words)


def rows(course):
    text = (course.root / "book" / "proof" / "tables" / "matrix.json").read_text(encoding="utf-8")
    return json.loads(text)[CHAPTERS]


PART = ("tiny", "ATen", "avx2,", "MKL", "SSE4_2,", "1", "thread")


@pytest.fixture(scope="module")
def outcome(prepared):
    """Run the first chapter under one setting."""
    return run(prepared, *PART)


def test_a_cell_that_follows_a_setting_is_named(outcome):
    assert outcome.returncode == 1
    assert "tiny, ATen avx2, MKL SSE4_2, 1 thread, " in outcome.stderr
    assert "cell 2: output 1 (stdout)" in outcome.stderr


def test_a_cell_that_does_not_is_not(outcome):
    assert "cell 1:" not in outcome.stderr
    assert "cell 3:" not in outcome.stderr


def test_a_run_writes_its_row_and_no_other(outcome, prepared):
    found = [one for one in rows(prepared) if one["chapter"] == "tiny"]
    assert [(one["setting"], one["cells"], list(one["differing"])) for one in found] == [
        ("ATen avx2, MKL SSE4_2, 1 thread", 4, ["cell 2"])
    ]


def test_a_row_says_what_it_was_made_with(outcome, prepared):
    found = next(one for one in rows(prepared) if one["chapter"] == "tiny")
    assert found["processor"] == settings.cpu()[0]
    assert {"Python"} <= found["versions"].keys()
    assert len(found["key"]) >= 16


def test_the_page_counts_the_row(outcome, prepared):
    text = (prepared.root / "book" / "proof" / "tables" / "matrix.md").read_text(encoding="utf-8")
    assert "| tiny | 1 | 1 of 4 | 0, 0 |" in text
    assert "| ATen avx2, MKL SSE4_2, 1 thread | 1 | 1 of 4 | 0, 0 |" in text


def test_a_row_with_a_difference_is_run_again(outcome, prepared):
    assert "1 to run" in run(prepared, *PART).stdout


def test_an_unfinished_run_says_so(prepared):
    done = run(prepared, "other", "--minutes", "0")
    assert (done.returncode, done.stdout) == (1, "14 to run, 2 at a time\n0 of 14 have a good row now\n")


def test_a_docstring_of_the_lowest_module_makes_no_row_stale_and_a_chapter_only_its_own(prepared):
    plain = ("third", "other", "variable")
    first = run(prepared, *plain)
    assert (first.returncode, first.stderr) == (0, "")
    lowest = prepared.root / "d2lrnn" / "_support.py"
    text = lowest.read_text(encoding="utf-8")
    lowest.write_text(text.replace('"""', '"""Another word: ', 1), encoding="utf-8")
    assert "other: d2lrnn/_support.py changed" in run(prepared, *plain).stderr
    assert prepared.record().returncode == 0
    assert run(prepared, *plain).stdout == "0 to run, 2 at a time\n0 of 0 have a good row now\n"

    path = prepared.root / "chapters" / "third.md"
    path.write_text(path.read_text(encoding="utf-8").replace("1.25", "1.5"), encoding="utf-8")
    assert prepared.record().returncode == 0
    again = run(prepared, *plain)
    assert again.stdout.startswith("1 to run, 2 at a time\nthird, no variable set: ")
    assert again.returncode == 0


def test_a_task_that_takes_too_long_has_no_row(file, monkeypatch):
    monkeypatch.setattr(matrix, "today", lambda _work: "now")
    monkeypatch.setattr(matrix, "LIMIT", 0.01)
    assert matrix.run((wanted()[0], "rnn")) == f"rnn, {PLAIN}: not done after 0.01 s"
    assert matrix_rows.read()[CHAPTERS] == []


def test_a_cell_may_take_as_long_as_the_task():
    assert matrix.command((wanted()[0], "rnn"))[-1] == str(matrix.LIMIT)


def test_a_recording_out_of_step_is_refused(prepared):
    path = prepared.root / "chapters" / "other.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("0.75", "0.5"), encoding="utf-8")
    done = run(prepared, "other", "variable")
    path.write_text(text, encoding="utf-8")
    line = "other: the chapter's code changed: run `make record ONLY=other` first\n"
    assert (done.returncode, done.stderr) == (2, line)


# Words


def picked(*words, everything=False):
    works, among = matrix.picked(words, everything)
    return works, [setting.name for setting in among]


def test_a_chapter_alone_has_the_wanted_settings():
    assert picked("chapters/rnn.md") == (["rnn"], ALL_WANTED)


def test_all_words_of_a_name_pick_one_setting():
    assert picked("rnn", "ATen", "avx2,", "SSE4_2", "1") == (["rnn"], ["ATen avx2, MKL SSE4_2, 1 thread"])


def test_all_means_all_settings():
    assert picked(everything=True) == ([], [setting.name for setting in settings.settings()])


def test_emulated_processors_are_for_the_short_training():
    assert picked(SHORT, "emulated") == ([SHORT], [setting.name for setting in settings.emulated()])
    assert picked(SHORT) == ([SHORT], ALL_WANTED)


@pytest.mark.parametrize("word", ["chapters/nothing.md", "avx1024", "emulated"])
def test_a_word_that_is_of_nothing_is_named_in_one_line(word, capsys):
    assert matrix.main(["rnn", word]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"'{word}': no chapter (bptt-vanilla, bptt, ")
    assert error.count("\n") == 1


def test_words_of_no_one_setting_are_named_in_one_line(capsys):
    assert matrix.main(["rnn", "default", "avx2"]) == 2
    assert capsys.readouterr().err == "no setting has all of these words: default, avx2\n"


# What is run


@pytest.fixture
def planned(file, monkeypatch):
    """Return a function that tells what is run on processor A; there, all keys are `now`."""
    monkeypatch.setattr(matrix, "cpu", lambda: ("A", frozenset()))
    monkeypatch.setattr(matrix, "missing", lambda setting: "why" if setting.emulator else "")
    monkeypatch.setattr(matrix, "today", lambda _work: "now")
    monkeypatch.setattr(matrix.times, "read", lambda: {"chapters/rnn": {"seconds": 3}})

    def names(works, among):
        return [(setting.name, work) for setting, work in matrix.tasks(works, among, "")]

    return names


def test_what_has_a_good_row_on_this_processor_is_not_run(planned):
    matrix_rows.add(CHAPTERS, row(PLAIN))
    matrix_rows.add(CHAPTERS, row(OLDEST, processor="B"))
    assert planned(["rnn"], wanted()) == [(name, "rnn") for name in ALL_WANTED[1:]]


def test_the_slowest_chapter_is_run_first(planned):
    assert planned(["bptt", "rnn"], wanted()[:1]) == [(PLAIN, "rnn"), (PLAIN, "bptt")]


def test_a_short_training_is_run_with_what_it_is_held_against(planned):
    assert planned([SHORT], wanted()[1:2]) == [(PLAIN, SHORT), (OLDEST, SHORT)]


def test_what_cannot_be_run_here_is_not(planned):
    assert planned([SHORT], settings.emulated()) == [(PLAIN, SHORT)]


@pytest.mark.parametrize(
    ("name", "other"),
    [("provenance.digest", lambda _path: "another"), ("metadata.version", lambda _name: "1.0")],
)
def test_a_short_training_is_of_today_s_package_texts_and_versions(name, other, monkeypatch):
    before = matrix.short_key()
    assert matrix.short_key() == before
    monkeypatch.setattr(f"book.proof.matrix.{name}", other)
    assert matrix.short_key() != before


# The tables of the project


def test_appendix_table_is_made_from_the_rows():
    assert TABLE.read_text(encoding="utf-8") == page(matrix_rows.read(), matrix_rows.keys())


def test_each_chapter_has_a_row_for_each_wanted_setting_on_one_processor_and_no_cell_differs():
    if found := matrix_rows.complaints():
        pytest.fail("\n".join(found), pytrace=False)


@pytest.mark.parametrize("kind", TOLERANCES)
def test_tolerances_are_hardly_more_than_what_was_measured(kind):
    table = matrix_rows.read()
    measured = [*table[CHAPTERS], *short_rows(table[SHORT]), *table[FIRST]["rows"], *table[FIRST]["short"]]
    largest = max(one["largest"].get(kind, 0) for one in measured)
    assert largest <= TOLERANCES[kind] < 20 * largest
