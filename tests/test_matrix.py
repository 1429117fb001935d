import json
import math
from itertools import combinations, product
from pathlib import Path

import pytest
from small_course import chapter

from book import matrix, provenance, settings
from book.compare import TOLERANCES
from book.matrix import RESULTS, TABLE, short_row, table
from book.notebooks import sources
from book.settings import ATEN, MKL, PLAIN, THREADS, Setting, environment, missing

NAMES = ("ATEN_CPU_CAPABILITY", "MKL_CBWR", "OMP_NUM_THREADS")
COMBINED = [s for s in settings.settings() if set(s.variables) == set(NAMES)]


def values(setting):
    return tuple(setting.variables[name] for name in NAMES)


def shorts(**models):
    facts = {"weights": "ab", "text": "the tide", "perplexity": 9.5}
    changed = {**facts, **models}
    return {"torch": "2.0", "models": {"scratch": changed, matrix.NO_GRID: {**facts, "weights": "cd"}}}


@pytest.fixture
def compared(monkeypatch):
    """Return a function that holds one result of the short training against another."""

    def hold(old, new):
        results = {PLAIN: old, "other": new}
        monkeypatch.setattr(matrix, "result", lambda task: results[task[0].name])
        return short_row(Setting("other"))

    return hold


def test_every_combination_of_the_three_is_a_setting():
    assert sorted(map(values, COMBINED)) == sorted(product(ATEN, MKL, map(str, THREADS)))


def test_the_first_twelve_combinations_hold_every_pair():
    first = [values(setting) for setting in COMBINED[:12]]
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


def test_equal_short_trainings_have_no_difference(compared):
    row = compared(shorts(), shorts())
    assert (row["cells"], row["differing"], row["largest"]["printed"]) == (3, {}, 0)


@pytest.mark.parametrize(
    "moved", [{"weights": "ba"}, {"text": "the time"}, {"perplexity": 9.6}, {"perplexity": math.nan}]
)
def test_a_short_training_that_moved_is_named(moved, compared):
    assert list(compared(shorts(), shorts(**moved))["differing"]) == [f"scratch, {next(iter(moved))}"]


def test_last_bits_of_a_perplexity_are_measured_and_allowed(compared):
    row = compared(shorts(), shorts(perplexity=math.nextafter(9.5, 10)))
    assert row["differing"] == {}
    assert row["largest"]["printed"] == pytest.approx(math.ulp(9.5) / 9.5)


PART = ("--only", "tiny", "ATen", "avx2,", "MKL", "SSE4_2,", "1", "thread")


@pytest.fixture(scope="module")
def outcome(course):
    """Record a chapter one cell of which depends on a variable, and run the matrix on it."""
    cells = ["print(0.25)", "import os\n\nprint(os.environ.get('MKL_CBWR'))", "40 + 2;"]
    course.write("tiny.md", chapter(*cells))
    (course.root / "appendix").mkdir()
    done = course.record()
    assert done.returncode == 0, done.stderr
    return course.run("python", "-m", "book.matrix", *PART)


def test_a_cell_that_follows_a_setting_is_named(outcome):
    assert outcome.returncode == 1
    assert "ATen avx2, MKL SSE4_2, 1 thread: tiny, cell 2: output 1 (stdout)" in outcome.stderr


def test_a_cell_that_does_not_is_not(outcome):
    assert "tiny, cell 1" not in outcome.stderr
    assert "tiny, cell 3" not in outcome.stderr


def test_each_row_counts_all_cells(outcome, course):
    assert "| ATen avx2, MKL SSE4_2, 1 thread | 4 | 1 | 0 |" in outcome.stdout
    plain = course.run("python", "-m", "book.matrix", "--only", "tiny", "variable")
    assert (plain.returncode, plain.stderr) == (0, "")
    assert "| no variable set | 4 | 0 | 0 |" in plain.stdout


def test_all_words_of_a_name_pick_one_setting(outcome):
    assert outcome.stdout.count("| 4 |") == 1


def test_of_the_short_training_nothing_is_said_where_it_was_not_run(outcome):
    assert "short training" not in outcome.stdout


def test_a_part_of_the_matrix_leaves_the_appendix_as_it_is(outcome, course):
    assert not (course.root / "appendix" / "matrix.json").exists()


def test_an_interrupted_run_goes_on_where_it_stopped(outcome, course):
    again = course.run("python", "-m", "book.matrix", *PART)
    assert "tiny, ATen avx2, MKL SSE4_2, 1 thread: " in outcome.stdout
    assert "tiny, ATen avx2, MKL SSE4_2, 1 thread: " not in again.stdout
    assert again.returncode == 1


def test_an_unfinished_run_leaves_the_appendix_as_it_is(outcome, course):
    done = course.run("python", "-m", "book.matrix", "--minutes", "0")
    assert "runs are done; the appendix is left as it is." in done.stdout
    assert done.returncode == 1
    assert not (course.root / "appendix" / "matrix.json").exists()


@pytest.mark.parametrize("word", ["chapters/rnn.md", "avx1024"])
def test_a_word_that_is_of_nothing_is_named(word, capsys):
    with pytest.raises(SystemExit):
        matrix.main(["--only", "rnn", word])
    assert f"--only: {word!r} is no chapter (bptt-vanilla, bptt, " in capsys.readouterr().err


def test_a_recording_out_of_step_is_refused(outcome, course):
    path = course.root / "chapters" / "tiny.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("0.25", "0.5"), encoding="utf-8")
    done = course.run("python", "-m", "book.matrix", *PART)
    path.write_text(text, encoding="utf-8")
    assert (done.returncode, done.stderr) == (
        2,
        "tiny: the chapter's code changed: run `make record` first\n",
    )


def test_a_result_is_kept_while_what_decides_it_is_the_same():
    task = settings.settings()[1], "rnn"
    before = matrix.kept(task)
    matrix.basis.cache_clear()
    assert matrix.kept(task) == before


@pytest.mark.parametrize(
    ("work", "name", "other"),
    [
        *product(
            ("rnn", matrix.SHORT),
            ("matrix.MATPLOTLIBRC", "settings.READERS_OWN", "settings.ASLEEP"),
            ({"LC_ALL": "C.UTF-8"},),
        ),
        ("rnn", "matrix.cpu", lambda: ("another", frozenset())),
        ("rnn", "provenance.installed_versions", lambda: {"torch": "1.0"}),
        ("rnn", "matrix.inspect.getsource", lambda _module: "pass"),
        (matrix.SHORT, "provenance.digest", lambda _path: "another"),
    ],
)
def test_a_result_is_not_kept_after_a_change_of_what_decides_it(work, name, other, monkeypatch):
    task = settings.settings()[1], work
    matrix.basis.cache_clear()
    before = matrix.kept(task)
    monkeypatch.setattr(f"book.{name}", other)
    matrix.basis.cache_clear()
    after = matrix.kept(task)
    matrix.basis.cache_clear()
    assert after != before


def test_appendix_table_is_made_from_the_results():
    assert TABLE.read_text(encoding="utf-8") == table(json.loads(RESULTS.read_text(encoding="utf-8")))


def test_appendix_results_have_no_differing_cell():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert [row for row in [*results["rows"], *results["short"]] if row["differing"]] == []


def test_appendix_results_have_a_row_for_each_setting_that_can_be_run():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    chapters = [s.name for s in settings.settings()]
    for key, names in (("rows", chapters), ("short", [*chapters, *(s.name for s in settings.emulated())])):
        assert [row["setting"] for row in results[key]] == [n for n in names if n not in results["skipped"]]


@pytest.mark.parametrize("kind", TOLERANCES)
def test_tolerances_are_hardly_more_than_what_was_measured(kind):
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    largest = max(row["largest"].get(kind, 0) for row in [*results["rows"], *results["short"]])
    assert largest <= TOLERANCES[kind] < 20 * largest


def test_appendix_results_are_of_the_chapters_versions_and_tolerances_of_today():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert results["chapters"] == [path.stem for path in sources()]
    assert results["made with"].items() >= provenance.pinned_versions().items()
    assert results["tolerances"] == TOLERANCES
