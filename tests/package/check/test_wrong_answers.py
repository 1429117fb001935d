"""Each check of an exercise refuses the common wrong answers that `wrong_answers/` keeps for it."""

import importlib
from pathlib import Path

import pytest

from d2lrnn import check
from d2lrnn.check import WrongAnswer

MODULES = sorted(path.stem for path in (Path(__file__).parent / "wrong_answers").glob("*.py"))
WRONG = {}
for module in MODULES:
    WRONG |= importlib.import_module(f"wrong_answers.{module}").WRONG
PAIRS = [(name, answer) for name, answers in WRONG.items() for answer in answers]


def test_every_check_has_three_wrong_answers():
    assert WRONG.keys() == {name for name in check.__all__ if name != "WrongAnswer"}
    assert all(len({answer.__name__ for answer in answers}) >= 3 for answers in WRONG.values())


@pytest.mark.parametrize(("name", "answer"), PAIRS, ids=[f"{n}-{a.__name__}" for n, a in PAIRS])
def test_wrong_answer_is_refused(name, answer):
    with pytest.raises(WrongAnswer):
        getattr(check, name)(answer)
