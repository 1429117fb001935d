import ast
import json
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import pytest

from book.proof import mutants
from book.proof.faults import Fault, faults
from book.proof.mutants import (
    FIRST_EDITION,
    NOTHING,
    REGRESSION,
    RESULTS,
    TABLE,
    UNIT,
    complaints,
    differing_chapter,
    failing_test,
    judge,
    merged,
    picked,
    planned,
    table,
    to_plant_in,
)
from book.proof.related import importers, name_of, own_test, unit_tests

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
    assert {"text.scoring", "training.train", "text.ngrams"} <= importers("text.scoring")
    assert "text.tokens" not in importers("text.scoring")


def test_a_private_module_that_is_imported_from_its_folder_is_loaded():
    assert "text.bpe" in importers("text._pairs")


def test_tests_of_a_module_come_first():
    assert unit_tests("models.scratch")[0] == "tests/package/models/test_scratch.py"
    assert unit_tests("series")[0] == "tests/package/test_series.py"


@pytest.mark.parametrize("path", to_plant_in(), ids=name_of)
def test_the_test_of_a_module_s_own_is_among_its_tests(path):
    own = own_test(name_of(path))
    assert (own in unit_tests(name_of(path))) == (mutants.ROOT / own).is_file()


def test_all_modules_of_check_are_loaded_by_it():
    assert "check._run" in importers("check._run")
    assert "check.__init__" in importers("check.text")
    assert "text.tokens" not in importers("check.text")


def test_checks_have_the_tests_of_their_wrong_answers():
    found = {f"tests/package/check/test_{name}.py" for name in ("check", "wrong_answers")}
    assert found <= set(unit_tests("check.text"))
    assert "tests/package/text/test_tokens.py" not in unit_tests("check.text")


def test_private_modules_have_the_tests_of_those_that_use_them():
    assert "tests/package/text/test_ngrams.py" in unit_tests("text._ngram_counts")


def test_tests_that_record_a_course_are_no_unit_tests():
    assert "tests/book/recording/test_recordings.py" not in unit_tests("_support")


def test_folders_files_are_all_planted_in_but_the_questions():
    found = {name_of(path) for path in to_plant_in()}
    assert {"text.ngrams", "check._run", "check.__init__", "models._tensors", "__init__"} <= found
    assert "check.text" not in found


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("text.ngrams", ["text.ngrams"]),
        ("ngrams", ["text.ngrams"]),
        ("d2lrnn/text/ngrams.py", ["text.ngrams"]),
        ("text/ngrams", ["text.ngrams"]),
        ("check", ["check.__init__", "check._run"]),
        ("d2lrnn/writing", ["writing.__init__", "writing.generate", "writing.text_explorer"]),
    ],
)
def test_a_module_is_named_by_name_last_name_path_or_folder(word, names):
    assert [name_of(path) for path in picked([word])] == names


def test_several_modules_can_be_named():
    assert [name_of(path) for path in picked(["series", "ngrams"])] == ["series", "text.ngrams"]


def test_without_words_all_modules_are_meant():
    assert picked([]) == to_plant_in()


@pytest.mark.parametrize("word", ["check.text", "no_such_module"])
def test_a_word_that_names_no_module_is_named_in_one_line(word, capsys):
    assert mutants.main(["series", word]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{word!r} is no module to plant faults in (__init__, _kernel, ")
    assert error.count("\n") == 1


def test_modules_of_the_first_edition_are_there():
    assert {name_of(path) for path in to_plant_in()} >= FIRST_EDITION


def test_a_module_that_came_later_gets_more_faults(monkeypatch):
    path = mutants.PACKAGE / "series.py"
    assert len(planned(path)) == 3
    monkeypatch.setattr(mutants, "FIRST_EDITION", FIRST_EDITION - {"series"})
    assert len(planned(path)) == 15


@pytest.fixture
def copy(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("def test_one():\n    assert 1 == 2\n", encoding="utf-8")
    (tmp_path / "tests" / "test_ok.py").write_text("def test_one():\n    assert 1\n", encoding="utf-8")
    return tmp_path


OK, IT = "tests/test_ok.py", "tests/test_it.py"


def test_the_failing_test_is_named(copy):
    assert failing_test(copy, [OK, IT]) == f"{IT}::test_one"


def test_the_test_that_caught_a_fault_the_last_time_runs_first(copy):
    assert failing_test(copy, [OK], hint=f"{IT}::test_one") == f"{IT}::test_one"


@pytest.mark.parametrize("hint", [f"{IT}::test_gone", "tests/test_gone.py::test_one", f"{OK}::test_one"])
def test_a_test_that_is_gone_or_passes_catches_nothing(copy, hint):
    assert failing_test(copy, [OK], hint=hint) is None


def test_tests_that_take_too_long_catch(copy):
    assert failing_test(copy, [OK], limit=0.01) == OK


def test_passing_tests_catch_nothing(copy):
    assert failing_test(copy, [OK]) is None


def test_a_chapter_that_cannot_be_run_is_caught(copy):
    assert differing_chapter(copy, ["nothing"]) == "nothing"


@pytest.fixture
def judged(monkeypatch, tmp_path):
    """Return a function that keeps a result and tells whether it holds after changes of files."""
    fault = faults(mutants.PACKAGE / "recorded.py", mutants.PACKAGE, 1)[0]
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


OWN, OTHER = "tests/package/test_recorded.py", "tests/package/training/test_train.py"
CAUGHT = (UNIT, f"{OWN}::test_one")


def test_a_caught_fault_stays_so_while_the_test_is_the_same(judged):
    assert judged(*CAUGHT, OTHER, "chapters/rnn.ipynb")


@pytest.mark.parametrize("file", [OWN, "d2lrnn/text/tokens.py"])
def test_a_caught_fault_is_judged_again_if_the_test_or_the_package_changed(judged, file):
    assert not judged(*CAUGHT, file)


@pytest.mark.parametrize("file", [OWN, OTHER, "chapters/rnn.ipynb", *mutants.COMPARING])
@pytest.mark.parametrize(("by", "what"), [(NOTHING, ""), (REGRESSION, "rnn"), (UNIT, "no test could begin")])
def test_what_no_test_caught_is_judged_again_after_any_change(judged, by, what, file):
    assert judged(by, what)
    assert not judged(by, what, file)


def test_a_caught_fault_is_judged_again_if_what_tests_share_changed(judged):
    shared = next(file for file in mutants.digests() if file.startswith("tests/package/check/wrong_answers/"))
    assert not judged(*CAUGHT, shared)


class Copies:
    """Stands for copies of the project, and notes what is planted."""

    def __init__(self):
        self.planted_faults = []

    def planted(self, fault):
        self.planted_faults.append(fault)
        return nullcontext(Path())


@pytest.fixture
def catching(monkeypatch, tmp_path):
    """Return a function that judges a fault; a unit test or a chapter is said to fail with it, or without."""
    fault = Fault("recorded.py", "", "x", "y", "")
    monkeypatch.setattr(mutants, "CACHE", tmp_path)
    copies = Copies()

    def run(test, chapter, always=False):
        def failing(_copy, _work, limit=0.0, hint=""):
            return test if always or copies.planted_faults[-1] else None

        def differing(_copy, _work, limit=0.0):
            return chapter if always or copies.planted_faults[-1] else None

        monkeypatch.setattr(mutants, "failing_test", failing)
        monkeypatch.setattr(mutants, "differing_chapter", differing)
        return judge(fault, copies), copies.planted_faults

    return run


@pytest.mark.parametrize(
    ("test", "chapter", "found"),
    [
        (f"{OWN}::test_one", "rnn", (UNIT, f"{OWN}::test_one")),
        (None, "rnn", (REGRESSION, "rnn")),
        (None, None, (NOTHING, "")),
    ],
)
def test_a_fault_is_caught_by_a_unit_test_or_else_by_a_chapter(catching, test, chapter, found):
    assert catching(test, chapter)[0] == found


@pytest.mark.parametrize(("test", "chapter"), [(f"{OWN}::test_one", None), (None, "rnn")])
def test_what_fails_without_a_fault_is_refused(catching, test, chapter):
    with pytest.raises(RuntimeError, match="without a fault, this fails already"):
        catching(test, chapter, always=True)


def test_what_fails_without_a_fault_ends_the_run_with_one_line(monkeypatch, tmp_path, capsys):
    judged = []

    def judge(one, _copies):
        judged.append(one)
        raise RuntimeError("without a fault, this fails already")

    monkeypatch.setattr(mutants, "CACHE", tmp_path)
    monkeypatch.setattr(mutants, "Copies", lambda *_: None)
    monkeypatch.setattr(mutants, "judge", judge)
    assert mutants.main(["series", "--jobs", "1"]) == 2
    assert capsys.readouterr().err == "without a fault, this fails already\n"
    assert len(judged) == 1


def test_what_holds_without_a_fault_is_run_once(catching):
    for _ in range(2):
        planted = catching(f"{OWN}::test_one", None)[1]
    assert [fault is None for fault in planted] == [False, True, False]


def test_a_hint_is_the_test_that_caught_the_fault(monkeypatch, tmp_path):
    results = tmp_path / "mutants.json"
    rows = [{**row(UNIT), "what": f"{OWN}::test_one"}, row(REGRESSION, "b.py: x -> y")]
    rows.append({**row(UNIT, "c.py: x -> y"), "what": "tests/gone.py::test_one"})
    results.write_text(json.dumps(rows), encoding="utf-8")
    monkeypatch.setattr(mutants, "RESULTS", results)
    mutants.last_catcher.cache_clear()
    found = [mutants.last_catcher(one["fault"]) for one in rows]
    mutants.last_catcher.cache_clear()
    assert found == [f"{OWN}::test_one", "", ""]


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
    assert "| `a` | 3 | 1 | 1 | 1 |" in text
    assert "| all | 4 | 2 | 1 | 1 |" in text


def test_no_table_is_made_of_no_results():
    assert table([]).startswith("Not measured yet")


def fault(name):
    module, _, change = name.partition(": ")
    before, _, after = change.partition(" -> ")
    return Fault(module, "", before, after, "")


def test_a_part_replaces_the_rows_of_its_modules():
    old = [row(UNIT, f"{module}.py: x -> y") for module in ("files", "gone", "series")]
    names = ["series.py: v -> w", "series.py: w -> x", "modules.py: x -> y", "modules.py: y -> z"]
    new = [row(UNIT, name) for name in names[:3]]
    found = [one["fault"] for one in merged(old, [fault(name) for name in names], new)]
    assert found == ["files.py: x -> y", "series.py: v -> w", "series.py: w -> x"]


def test_appendix_results_meet_the_target():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert complaints(results, mutants.explanations()) == []


def test_appendix_results_have_all_faults_of_each_module():
    counts = Counter(mutants.module_in(one) for one in json.loads(RESULTS.read_text(encoding="utf-8")))
    lacking = []
    for path in to_plant_in():
        count = counts[path.relative_to(mutants.PACKAGE).as_posix()]
        wanted = 3 if name_of(path) in FIRST_EDITION else 15
        if count < wanted and count < (wanted := len(planned(path))):
            lacking.append(f"{count} of {wanted} faults: run `make mutants ONLY={name_of(path)}`")
    if lacking:
        pytest.fail("\n".join(lacking), pytrace=False)


def test_appendix_table_is_made_from_the_results():
    assert TABLE.read_text(encoding="utf-8") == table(json.loads(RESULTS.read_text(encoding="utf-8")))


def test_explanations_of_what_was_not_judged_are_no_complaint(monkeypatch, tmp_path):
    for name in ("RESULTS", "TABLE"):
        path = tmp_path / name
        path.write_text("[]", encoding="utf-8")
        monkeypatch.setattr(mutants, name, path)
    monkeypatch.setattr(mutants, "run_all", lambda *_: None)
    monkeypatch.setattr(mutants, "planned", lambda _path: [fault("recorded.py: x -> y")])
    monkeypatch.setattr(mutants, "collect", lambda _planted: [row(UNIT, "recorded.py: x -> y")])
    assert mutants.main(["recorded"]) == 0
    assert json.loads(mutants.RESULTS.read_text(encoding="utf-8")) == [row(UNIT, "recorded.py: x -> y")]
