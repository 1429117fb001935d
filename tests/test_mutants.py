import ast
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest

from book import mutants
from book.faults import faults
from book.mutants import (
    NOTHING,
    REGRESSION,
    RESULTS,
    TABLE,
    UNIT,
    check_soundness,
    complaints,
    differing_chapter,
    failing_test,
    table,
)
from book.related import importers, modules, unit_tests

MODULE = '''\
"""Count 1 + 1."""

from typing import TypeAlias

Number: TypeAlias = int | float


def half(value: int | None = 10, *, up: bool = False) -> int | None:
    """Return a half, 1 / 2."""
    if value is None:
        raise ValueError(f"value must be a number, got {value} after {1 + 1} tries")
    return (value + 1) // 2 if up else value // 2
'''


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "half.py"
    path.write_text(MODULE, encoding="utf-8")
    return path


@pytest.fixture
def planted(module):
    return faults(module, module.parent, 100)


def row(by, fault="a.py: x -> y"):
    return {"fault": fault, "operator": "", "by": by, "what": ""}


def test_each_fault_changes_what_runs(planted):
    tree = ast.dump(ast.parse(MODULE))
    assert planted
    assert all(ast.dump(ast.parse(fault.code)) != tree for fault in planted)


def test_faults_are_at_places_of_their_own(planted):
    assert len({fault.name for fault in planted}) == len(planted)


def test_words_annotations_and_messages_are_left_alone(planted):
    idle = ('"""', "TypeAlias", "raise")
    assert not [fault.name for fault in planted if any(word in fault.before for word in idle)]
    assert not [fault.name for fault in planted if "int | None" not in fault.after and "def " in fault.after]


def test_faults_are_the_same_each_time(module, planted):
    assert faults(module, module.parent, 100) == planted


def test_a_limit_takes_the_first_faults(module, planted):
    assert faults(module, module.parent, 2) == planted[:2]


def test_a_change_elsewhere_in_a_module_keeps_its_faults(module, planted):
    module.write_text(MODULE.replace("TypeAlias = int", "TypeAlias = complex"), encoding="utf-8")
    assert [fault.name for fault in faults(module, module.parent, 100)] == [fault.name for fault in planted]


def test_a_module_is_loaded_by_those_that_import_it_at_one_remove():
    assert {"scoring", "training", "ngrams"} <= importers("scoring")
    assert "text" not in importers("scoring")


def test_tests_of_a_module_come_first():
    assert unit_tests("scratch")[0] == "tests/test_scratch.py"


def test_modules_of_a_package_within_the_package_have_its_name():
    assert "check._run" in importers("check._run")
    assert "check.__init__" in importers("check.text")
    assert "text" not in importers("check.text")


def test_checks_have_the_tests_of_their_wrong_answers():
    assert {"tests/test_check.py", "tests/test_wrong_answers.py"} <= set(unit_tests("check.text"))
    assert "tests/test_text.py" not in unit_tests("check.text")


def test_private_modules_have_the_tests_of_those_that_use_them():
    assert "tests/test_ngrams.py" in unit_tests("_ngram_counts")


@pytest.fixture
def copy(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("def test_one():\n    assert 1 == 2\n", encoding="utf-8")
    (tmp_path / "tests" / "test_ok.py").write_text("def test_one():\n    assert 1\n", encoding="utf-8")
    return tmp_path


def test_the_failing_test_is_named(copy):
    assert failing_test(copy, ["tests/test_ok.py", "tests/test_it.py"]) == "tests/test_it.py::test_one"


def test_passing_tests_catch_nothing(copy):
    assert failing_test(copy, ["tests/test_ok.py"]) is None


def test_a_chapter_that_cannot_be_run_is_caught(copy):
    assert differing_chapter(copy, ["nothing"]) == "nothing"


@pytest.fixture
def judged(monkeypatch, tmp_path):
    """Return a function that keeps a result and tells whether it holds after changes of files."""
    fault = faults(mutants.PACKAGE / "margins.py", mutants.PACKAGE, 1)[0]
    monkeypatch.setattr(mutants, "CACHE", tmp_path)

    def holds(by, what, *changed):
        found = {"by": by, "what": what, "files": mutants.deciding(fault, by, what)}
        kept = mutants.kept(fault)
        kept.write_text(json.dumps(found), encoding="utf-8")
        moved = {**mutants.digests(), **dict.fromkeys(changed, "another")}
        monkeypatch.setattr(mutants, "digests", lambda: moved)
        after = mutants.result(fault)
        assert after in (None, {"by": by, "what": what})
        return after is not None

    return holds


OWN, OTHER = "tests/test_margins.py", "tests/test_training.py"
CAUGHT = (UNIT, f"{OWN}::test_one")


def test_a_caught_fault_stays_so_while_the_test_is_the_same(judged):
    assert judged(*CAUGHT, OTHER, "chapters/rnn.ipynb")


@pytest.mark.parametrize("file", [OWN, "d2lrnn/text.py"])
def test_a_caught_fault_is_judged_again_if_the_test_or_the_package_changed(judged, file):
    assert not judged(*CAUGHT, file)


@pytest.mark.parametrize("file", [OWN, OTHER, "chapters/rnn.ipynb", *mutants.COMPARING])
@pytest.mark.parametrize(("by", "what"), [(NOTHING, ""), (REGRESSION, "rnn"), (UNIT, "no test could begin")])
def test_what_no_test_caught_is_judged_again_after_any_change(judged, by, what, file):
    assert judged(by, what)
    assert not judged(by, what, file)


def test_a_fault_caught_by_a_wrong_answer_is_judged_again_if_the_answers_changed(judged):
    answers = next(file for file in mutants.digests() if file.startswith(mutants.WRONG_ANSWERS))
    assert not judged(UNIT, "tests/test_wrong_answers.py::test_one", answers)


class Original:
    """Stands for copies of the project without a fault."""

    def planted(self, fault):
        assert fault is None
        return nullcontext()


@pytest.fixture
def unharmed(monkeypatch, tmp_path):
    """Return a function that checks a package with one test, which fails by the name given."""
    monkeypatch.setattr(mutants, "CACHE", tmp_path)
    monkeypatch.setattr(mutants, "unit_tests", lambda _module: ["tests/test_margins.py"])
    monkeypatch.setattr(mutants, "chapters_of", lambda _module: [])

    def check(failed):
        monkeypatch.setattr(mutants, "failing_test", lambda _copy, _tests: failed)
        with ThreadPoolExecutor(1) as pool:
            check_soundness(Original(), modules()[:1], pool)

    return check


def test_what_fails_without_a_fault_is_refused(unharmed):
    with pytest.raises(RuntimeError, match="without a fault, this fails already: test_one"):
        unharmed("test_one")


def test_what_holds_without_a_fault_is_run_once(unharmed):
    unharmed(None)
    unharmed("test_one")


def test_an_unexplained_survivor_is_complained_of():
    assert "survived: a.py: x -> y" in complaints([row(NOTHING)], {})


def test_an_explanation_of_no_survivor_is_complained_of():
    results = [row(UNIT)] * 20
    assert complaints(results, {"a.py: x -> y": "why"}) == ["explained, but no survivor: a.py: x -> y"]


@pytest.mark.parametrize(("survivors", "fine"), [(5, True), (6, False)])
def test_at_most_one_in_twenty_may_survive(survivors, fine):
    names = [f"a.py: {i}" for i in range(survivors)]
    results = [row(NOTHING, name) for name in names] + [row(UNIT)] * (100 - survivors)
    assert (complaints(results, dict.fromkeys(names, "why")) == []) == fine


def test_table_counts_by_module():
    text = table([row(UNIT), row(REGRESSION), row(NOTHING), row(UNIT, "b.py: x -> y")])
    assert "| a | 3 | 1 | 1 | 1 |" in text
    assert "| all | 4 | 2 | 1 | 1 |" in text


def test_no_table_is_made_of_no_results():
    assert table([]).startswith("Not measured yet")


def test_appendix_results_meet_the_target():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert len(results) >= 60
    assert complaints(results, mutants.explanations()) == []


def test_appendix_table_is_made_from_the_results():
    assert TABLE.read_text(encoding="utf-8") == table(json.loads(RESULTS.read_text(encoding="utf-8")))


def test_explanations_of_what_was_not_judged_are_no_complaint(monkeypatch):
    monkeypatch.setattr(mutants, "run_all", lambda *_: None)
    monkeypatch.setattr(mutants, "collect", lambda _planted: [row(UNIT, "measure.py: x -> y")])
    assert mutants.main(["--only", "measure"]) == 0


def test_a_module_that_is_none_is_named(capsys):
    with pytest.raises(SystemExit):
        mutants.main(["--only", "measure", "d2lrnn/text.py"])
    assert "--only: 'd2lrnn/text.py' is no module to plant faults in (__init__, " in capsys.readouterr().err
