"""Findings: one quiet line, both numbers, and nothing raised because a conclusion does not hold."""

import json
import math

import numpy as np
import pytest
import torch

from d2lrnn import finding, recorded
from d2lrnn.recorded import FINDING_MIME

WORDS = "the GRU's perplexity is below the 5-gram's"


@pytest.fixture
def bundles(monkeypatch):
    """Return the list of what is displayed."""
    found = []
    monkeypatch.setattr(recorded, "display", found.append)
    return found


def test_plain_python_reads_one_line(capsys):
    finding("gru-beats-5-gram", WORDS, 3.41459, "<", 3.97)
    finding("gru-beats-5-gram", WORDS, 4.5, "<", 3.97)
    assert capsys.readouterr().out.splitlines() == [
        f"holds here: {WORDS} (3.415 < 3.97)",
        f"does not hold here: {WORDS} (4.5 not < 3.97)",
    ]


def test_output_carries_all_that_counting_needs(bundles):
    finding("gru-beats-5-gram", WORDS, torch.tensor(3.41459265), "<", np.float64(4), strength="mostly")
    (bundle,) = bundles
    assert bundle[FINDING_MIME] == {
        "name": "gru-beats-5-gram",
        "words": WORDS,
        "left": 3.41459,
        "relation": "<",
        "right": 4.0,
        "holds": True,
        "strength": "mostly",
    }
    assert bundle["text/plain"] == f"holds here: {WORDS} (3.415 < 4)"
    assert json.loads(json.dumps(bundle, allow_nan=False)) == bundle


def test_it_returns_nothing(bundles):
    assert finding("a", "b", 1, "<", 2) is None
    assert bundles


@pytest.mark.parametrize(
    ("left", "relation", "right", "holds"),
    [
        (1, "<", 2, True),
        (2, "<", 2, False),
        (3, "<", 2, False),
        (2, "<=", 2, True),
        (3, "<=", 2, False),
        (3, ">", 2, True),
        (2, ">", 2, False),
        (2, ">=", 2, True),
        (1, ">=", 2, False),
        (math.nan, "<", 2, False),
        (math.nan, ">=", 2, False),
        (2, "<", math.inf, True),
        (-math.inf, "<", 2, True),
    ],
)
def test_relations(bundles, left, relation, right, holds):
    finding("a", "b", left, relation, right)
    assert bundles[0][FINDING_MIME]["holds"] is holds


def test_the_relation_is_of_the_numbers_and_not_of_what_is_shown(bundles):
    finding("a", "b", 0.5, "<", 0.5 + 1e-12)
    assert bundles[0][FINDING_MIME]["holds"]
    finding("a", "b", 2**53, "<", 2**53 + 1)
    assert bundles[1][FINDING_MIME]["holds"]


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        (0.50001, 0.50002, "0.50001 < 0.50002"),
        (14_002, 77_600, "14,002 < 77,600"),
        (0.00001234, 1.0, "1.234e-05 < 1"),
        (1.0, math.inf, "1 < inf"),
        (True + 1, 3, "2 < 3"),
        (-1.5, 0, "-1.5 < 0"),
    ],
)
def test_numbers_as_they_are_shown(bundles, left, right, shown):
    finding("a", "b", left, "<", right)
    assert bundles[0]["text/plain"] == f"holds here: b ({shown})"


def test_nan_and_infinity_are_text_in_the_output(bundles):
    finding("a", "b", math.nan, "<", -math.inf)
    found = bundles[0][FINDING_MIME]
    assert (found["left"], found["right"]) == ("nan", "-inf")
    assert bundles[0]["text/plain"] == "does not hold here: b (nan not < -inf)"


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"name": ""}, ValueError, "name must be lower-case words joined by hyphens, got ''"),
        ({"name": "Two Words"}, ValueError, "name must be lower-case"),
        ({"name": "a-"}, ValueError, "name must be lower-case"),
        ({"name": 3}, TypeError, "name must be a str, got 3"),
        ({"words": " "}, ValueError, "words must be one line of text"),
        ({"words": "two\nlines"}, ValueError, "words must be one line of text"),
        ({"words": None}, TypeError, "words must be a str"),
        ({"relation": "=="}, ValueError, "relation"),
        ({"relation": ["<"]}, TypeError, "relation must be a str"),
        ({"strength": "always"}, ValueError, "strength"),
        ({"left": "3"}, TypeError, "left must be a number"),
        ({"left": True}, TypeError, "left must be a number"),
        ({"left": [1, 2]}, TypeError, "left must be a number"),
        ({"right": np.array([1, 2])}, TypeError, "right must be a number"),
        ({"right": torch.tensor([1.0])}, TypeError, "right must be a number"),
        ({"right": 1j}, TypeError, "right must be a number"),
        ({"right": None}, TypeError, "right must be a number"),
        ({"right": 10**400}, ValueError, "right must fit a float"),
    ],
)
def test_bad_arguments_are_named_and_nothing_is_shown(bundles, changed, error, message):
    given = {"name": "a", "words": "b", "left": 1, "relation": "<", "right": 2} | changed
    with pytest.raises(error, match=message):
        finding(**given)
    assert bundles == []
