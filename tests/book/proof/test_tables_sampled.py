"""A part of two tables, picked by the commit, is made anew, so that neither is edited by hand."""

import hashlib
import json
import math
import shutil
import subprocess

import pytest

from book.proof import claims, matrix, matrix_rows
from book.proof import findings as proof
from book.proof.claims import all_faults
from book.proof.matrix_rows import CHAPTERS, key_of
from book.proof.settings import MATPLOTLIBRC, environment, missing, wanted
from book.recording import findings
from book.recording.findings import SHIFTS
from book.recording.notebooks import ROOT, sources, use_this_checkout

CLOSE = 1e-5  # relative: what machines share of a number that is published


def picked(what, among):
    """Return one of several, by what is looked for and by the commit, or the tables where there is none."""
    git = shutil.which("git")
    done = git and subprocess.run([git, "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False)
    if done and done.returncode == 0:
        seed = done.stdout.strip()
    else:
        seed = findings.TABLE.read_bytes() + matrix_rows.RESULTS.read_bytes()
    digest = hashlib.sha256(what.encode() + seed).hexdigest()
    return among[int(digest, 16) % len(among)]


def alike(then, now):
    """Tell whether two runs have the same of a finding: both its numbers, and whether it holds."""
    if then is None or now is None or then[2] is not now[2]:
        return False
    return all(
        a == b if isinstance(a, str) or isinstance(b, str) else math.isclose(a, b, rel_tol=CLOSE)
        for a, b in zip(then[:2], now[:2], strict=True)
    )


def against_a_new_run(kept, made):
    """List in what a row of the table of findings is not that of a new run."""
    where = f"{made['chapter']}, seeds + {made['shift']}"
    pairs = [
        (name, kept["findings"].get(name), made["findings"].get(name))
        for name in dict.fromkeys([*kept["findings"], *made["findings"]])
    ]
    found = [
        f"{where}: {name}: the table has {then}, a new run {now}"
        for name, then, now in pairs
        if not alike(then, now)
    ]
    if kept["failed"] != made["failed"]:
        found.append(f"{where}: failed: the table has {kept['failed']}, a new run {made['failed']}")
    return found


def against_a_new_outcome(kept, outcome):
    """List in what rows of the matrix, of one chapter and setting, are not what came out now."""
    where = f"{kept[0]['chapter']}, {kept[0]['setting']}"
    found = [f"{where}: {cell}: {lines[0]}" for cell, lines in outcome["differing"].items()]
    cells = {row["cells"] for row in kept} - {outcome["cells"]}
    return found + [f"{where}: the table has {one} cells, a new run {outcome['cells']}" for one in cells]


def named(lines):
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


# What is made anew


def test_chapters_claim_no_more_than_their_counts():
    named(all_faults())


def test_a_chapter_under_a_shift_shows_what_the_table_says():
    path, shift = picked("chapter under a shift", sources()), picked("shift", SHIFTS)
    today = key_of(path)
    kept = [row for row in findings.rows() if (*proof.place(row), row["key"]) == (path.stem, shift, today)]
    if not kept:
        named([f"{path.stem}, seeds + {shift}: no run of today's code: run `make findings ONLY={path.stem}`"])
    use_this_checkout()
    named(against_a_new_run(kept[0], proof.run(path, shift)))


def test_a_chapter_under_a_setting_shows_what_was_recorded(tmp_path):
    path = picked("chapter under a setting", sources())
    setting = picked("setting", [one for one in wanted() if not missing(one)])
    kept = [
        row
        for row in matrix_rows.read()[CHAPTERS]
        if (row["chapter"], row["setting"], row["key"]) == (path.stem, setting.name, key_of(path))
    ]
    if not kept:
        named([f"{path.stem}, {setting.name}: no row of today's code: run `make matrix ONLY={path.stem}`"])
    (tmp_path / "matplotlibrc").write_text(MATPLOTLIBRC, encoding="utf-8")
    done = subprocess.run(
        matrix.command((setting, path.stem)),
        cwd=ROOT,
        env=environment(setting, tmp_path / "matplotlibrc"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    named(against_a_new_outcome(kept, json.loads(done.stdout)))


# How it is picked and compared


def test_what_is_picked_is_the_same_each_time_and_hangs_on_what_is_looked_for():
    among = range(10**6)
    assert picked("shift", among) == picked("shift", among) != picked("setting", among)


def test_without_git_the_tables_pick(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    before = picked("shift", range(10**6))
    assert picked("shift", range(10**6)) == before
    monkeypatch.setattr(findings, "TABLE", tmp_path / "findings.json")
    findings.TABLE.write_text("[ ]", encoding="utf-8")
    assert picked("shift", range(10**6)) != before


def test_a_folder_that_is_no_commit_is_picked_for_by_the_tables(monkeypatch, tmp_path):
    monkeypatch.setattr("test_tables_sampled.ROOT", tmp_path)
    found = picked("shift", range(10**6))
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert picked("shift", range(10**6)) == found


def made(**changes):
    usual = {"sure": [1.5, 2, True], "never": [3, "inf", False]}
    return {"chapter": "rnn", "shift": 3000, "findings": usual, "failed": ["cell 2: assert x"], **changes}


def test_a_row_that_is_as_it_was_made_has_no_difference():
    assert against_a_new_run(made(), made()) == []


@pytest.mark.parametrize(
    ("then", "now", "same"),
    [
        ([1.5, 2, True], [1.500001, 2, True], True),
        ([1.5, 2, True], [1.50002, 2, True], False),
        ([1.5, 2, True], [1.5, 2.001, True], False),
        ([1.5, 2, True], [1.5, 2, False], False),
        ([-1.5, 0, True], [1.5, 0, True], False),
        ([0, 0.0, False], [0.0, 0, False], True),
        (["nan", 2, False], ["nan", 2, False], True),
        (["nan", 2, False], [1.5, 2, False], False),
        (["inf", 2, False], ["-inf", 2, False], False),
    ],
)
def test_numbers_are_alike_to_five_digits_and_flags_as_they_are(then, now, same):
    assert alike(then, now) is same


@pytest.mark.parametrize(
    ("edited", "line"),
    [
        (
            {"sure": [1.4, 2, True]},
            "rnn, seeds + 3000: sure: the table has [1.4, 2, True], a new run [1.5, 2, True]",
        ),
        (
            {"sure": [1.5, 2, False]},
            "rnn, seeds + 3000: sure: the table has [1.5, 2, False], a new run [1.5, 2, True]",
        ),
        (
            {"more": [1, 2, True]},
            "rnn, seeds + 3000: more: the table has [1, 2, True], a new run None",
        ),
    ],
    ids=["number", "flag", "finding more"],
)
def test_a_finding_that_was_edited_is_named_by_chapter_and_shift(edited, line):
    kept = made(findings={**made()["findings"], **edited})
    assert against_a_new_run(kept, made()) == [line]


def test_a_finding_that_was_taken_out_is_named():
    assert against_a_new_run(made(findings={"sure": [1.5, 2, True]}), made()) == [
        "rnn, seeds + 3000: never: the table has None, a new run [3, 'inf', False]"
    ]


def test_a_failed_assert_that_was_taken_out_is_named():
    assert against_a_new_run(made(failed=[]), made()) == [
        "rnn, seeds + 3000: failed: the table has [], a new run ['cell 2: assert x']"
    ]


def outcome(**changes):
    return {"cells": 5, "differing": {}, "largest": {}, **changes}


def kept(**changes):
    return [{"chapter": "rnn", "setting": "no variable set", **outcome(**changes)}]


def test_a_row_of_the_matrix_that_is_as_it_was_made_has_no_difference():
    assert against_a_new_outcome(kept(largest={"printed": 0.1}), outcome()) == []


def test_a_cell_that_differs_though_the_table_has_none_is_named():
    found = outcome(differing={"cell 3": ["recorded 1, got 2", "recorded 3, got 4"]})
    assert against_a_new_outcome(kept(), found) == ["rnn, no variable set: cell 3: recorded 1, got 2"]


def test_another_number_of_cells_is_named():
    assert against_a_new_outcome(kept(cells=6), outcome()) == [
        "rnn, no variable set: the table has 6 cells, a new run 5"
    ]


@pytest.mark.parametrize("chapter", sorted(claims.TO_BE_REWRITTEN))
def test_an_exception_is_of_a_chapter_with_a_failing_assert(chapter):
    today = key_of(ROOT / "chapters" / f"{chapter}.md")
    assert any(row["failed"] for row in findings.rows() if (row["chapter"], row["key"]) == (chapter, today))
