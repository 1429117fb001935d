import math

import pytest
import torch

from d2lrnn import Vocab, generate, margins, round_to_grid


@pytest.fixture(autouse=True)
def _empty_log(monkeypatch):
    monkeypatch.setattr(margins, "_closest", math.inf)
    monkeypatch.setattr(margins, "_leads", [])


def constant(*logits):
    return lambda X, state: (torch.tensor(logits).expand(*X.shape, -1), state)


def test_nothing_noted_has_no_order():
    assert margins.orders() == {"grid": None, "texts": []}


def test_rounding_notes_the_order_of_the_smallest_distance():
    round_to_grid([torch.tensor([0.1234, 0.5])], 1)  # 0.0266 and 0.05 from halfway
    round_to_grid([torch.tensor([0.1])], 1)
    assert margins.orders()["grid"] == -2


def test_a_weight_that_is_halfway_has_no_order():
    round_to_grid([torch.tensor([0.5])], 0)
    assert margins.orders()["grid"] is None


def test_a_greedy_text_notes_the_order_of_its_smallest_lead():
    vocab = Vocab(list("ab"))
    generate(constant(9.0, 2.5, 2.0), vocab, "a", 3)
    generate(constant(9.0, 2.5, 2.5 - 0.003), vocab, "a", 3)
    assert margins.orders()["texts"] == [-1, -3]


def test_the_order_is_the_power_of_ten_below():
    for lead in (9.0, 10.0, 0.1):
        margins.note_text(lead)
    assert margins.orders()["texts"] == [0, 1, -1]


def test_a_text_with_one_possible_token_has_no_order():
    generate(constant(9.0, 2.5), Vocab(list("a")), "a", 3)
    assert margins.orders()["texts"] == [None]


@pytest.mark.parametrize("options", [{"temperature": 1.0, "seed": 0}, {"num_preds": 0}])
def test_a_text_that_was_not_chosen_greedily_notes_nothing(options):
    generate(constant(9.0, 2.5, 2.0), Vocab(list("ab")), "a", **{"num_preds": 3, **options})
    assert margins.orders()["texts"] == []
