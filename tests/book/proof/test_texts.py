"""The shipped texts behave like natural language, and the appendix shows today's figures."""

import json
import os
import re
from pathlib import Path

import pytest

from book.proof.texts import (
    FIGURES,
    TABLE,
    distinct_share,
    longest_repeat,
    measure_all,
    repeated_sentences,
    table,
)
from d2lrnn import load_text


@pytest.fixture(scope="module")
def measured():
    return measure_all()


@pytest.fixture(scope="module")
def story(measured):
    return measured["tide_clock"]


@pytest.fixture(scope="module")
def tales(measured):
    return measured["stone_bridge"]


LIMITS = {
    "characters": (150_000, 10**6),
    "words": (28_000, 10**6),
    "distinct_words": (4_000, 10**5),
    "once_share": (0.45, 0.60),
    "zipf_slope": (0.95, 1.15),
    "distinct_3grams": (0.88, 1),
    "distinct_4grams": (0.97, 1),
    "distinct_5grams": (0.99, 1),
    "longest_repeat": (1, 80),
    "repeated_sentences": (0, 0),
    "commonest_opening": (1, 6),
}


@pytest.mark.parametrize("figure", LIMITS)
def test_story_is_like_natural_english(figure, story):
    lowest, highest = LIMITS[figure]
    assert lowest <= story[figure] <= highest


def test_story_is_ascii_but_for_accents_in_names():
    assert set(re.findall(r"[^\x00-\x7f]", load_text())) <= set("éç")


def test_story_has_accents():
    assert "é" in load_text()
    assert "ç" in load_text()


def test_tales_have_twelve_thousand_characters(tales):
    assert tales["visible_characters"] >= 12_000


def test_tales_do_not_repeat_sentences(tales):
    assert tales["repeated_sentences"] == 0


def test_tales_hold_only_han_and_chinese_punctuation():
    assert re.sub(r"[\u4e00-\u9fff，。！？：；“”《》、\n]", "", load_text("stone_bridge")) == ""


def test_appendix_figures_are_those_of_the_texts(measured):
    recorded = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert {name: recorded[name] for name in measured} == measured, "run `make corpora`"


def test_appendix_table_is_made_from_the_figures():
    assert TABLE.read_text(encoding="utf-8") == table(json.loads(FIGURES.read_text(encoding="utf-8")))


@pytest.mark.skipif(
    not (Path(os.environ.get("D2LRNN_DATA", "")) / "timemachine.txt").is_file(),
    reason="$D2LRNN_DATA has no timemachine.txt",
)
def test_time_machine_figures_are_the_known_ones(measured):
    known = {"words": 32_775, "distinct_words": 4_579, "once_share": 0.523, "zipf_slope": 1.044}
    assert {key: measured["time_machine"][key] for key in known} == known


def test_longest_repeat_counts_overlaps():
    assert longest_repeat("xababay") == 3


def test_longest_repeat_of_distinct_characters_is_zero():
    assert longest_repeat("abc") == 0


def test_distinct_share_counts_ngrams():
    assert distinct_share(["a", "b", "a", "b"], 2) == pytest.approx(2 / 3)


def test_repeated_sentences_are_found_whatever_follows_them():
    assert repeated_sentences('"Yes." He went. "Yes." He came.', r"(?<=[.!?])[\"')\]]*\s+") == ["Yes."]
