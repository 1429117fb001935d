"""The proofs' README: what it names is there, and its numbers are those of the code."""

import re

import pytest

from book.proof import mutants, times
from book.proof.settings import settings, wanted
from book.recording.notebooks import ROOT, TABLES

TEXT = (ROOT / "book" / "proof" / "README.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())


def test_tables_are_those_that_a_proof_writes():
    assert {path.name for path in TABLES.iterdir()} == set(re.findall(r"`(\w+\.(?:json|md))`", TEXT))


def test_every_target_that_it_names_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"make ([a-z]+)", TEXT))
    assert {"matrix", "mutants", "times"} <= named
    assert [name for name in named if f"\n{name}:" not in makefile] == []


def test_it_is_two_screens_at_most():
    assert len(TEXT.splitlines()) <= 100


@pytest.mark.parametrize(
    "number",
    [
        f"for {len(wanted())} settings",
        f"all {len(settings())} settings",
        f"{times.MOST} s of one thread, some {times.MOST_OF_SOME} s, all {times.MOST_OF_ALL} s",
        f"gets {mutants.PER_MODULE} faults, one that came later {mutants.PER_LATER_MODULE}",
    ],
)
def test_its_numbers_are_those_of_the_code(number):
    assert number in WORDS
