import math
import threading

import pytest
import torch

from d2lrnn import Vocab, generate, recorded, round_to_grid


@pytest.fixture(autouse=True)
def _empty_log(monkeypatch):
    monkeypatch.setattr(recorded, "_closest", math.inf)
    monkeypatch.setattr(recorded, "_leads", [])
    monkeypatch.setattr(recorded, "_draws", [])


def constant(*logits):
    return lambda X, state: (torch.tensor(logits).expand(*X.shape, -1), state)


def test_nothing_noted_has_no_order():
    assert recorded.orders() == {"grid": None, "texts": [], "draws": []}


def test_rounding_notes_the_order_of_the_smallest_distance():
    round_to_grid([torch.tensor([0.1234, 0.5]).double()], 1)  # 0.0266 and 0.05 from halfway
    round_to_grid([torch.tensor([0.1]).double()], 1)
    assert recorded.orders()["grid"] == -2


def test_a_weight_that_is_halfway_has_no_margin():
    round_to_grid([torch.tensor([0.5]).double()], 0)
    assert recorded.orders()["grid"] == "none"


def test_a_tie_has_no_margin():
    generate(constant(9.0, 2.5, 2.5), Vocab(list("ab")), "a", 3)
    assert recorded.orders()["texts"] == ["none"]


def test_weights_in_float32_which_no_grid_makes_equal_note_nothing():
    round_to_grid([torch.tensor([0.1]).double(), torch.tensor([0.4])], 0)
    assert recorded.orders()["grid"] is None


def test_a_greedy_text_notes_the_order_of_its_smallest_lead():
    vocab = Vocab(list("ab"))
    generate(constant(9.0, 2.5, 2.0), vocab, "a", 3)
    generate(constant(9.0, 2.5, 2.5 - 0.003), vocab, "a", 3)
    assert recorded.orders()["texts"] == [-1, -3]


def test_the_order_is_the_power_of_ten_below():
    for lead in (9.0, 10.0, 0.1):
        recorded.note_text(lead)
    assert recorded.orders()["texts"] == [0, 1, -1]


def test_a_text_with_one_possible_token_has_no_order():
    generate(constant(9.0, 2.5), Vocab(list("a")), "a", 3)
    assert recorded.orders()["texts"] == [None]


def test_a_drawn_text_notes_the_order_of_its_closest_draw():
    chances = torch.rand(40, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    share = 1 / (1 + math.exp(-0.5))  # of the likelier token
    closest = float((chances - share).abs().min())
    generate(constant(9.0, 2.5, 2.0), Vocab(list("ab")), "a", 40, temperature=1.0, seed=3)
    assert recorded.orders() == {"grid": None, "texts": [], "draws": [math.floor(math.log10(closest))]}


def test_a_draw_among_one_token_has_no_order():
    generate(constant(9.0, 2.5, 2.0), Vocab(list("ab")), "a", 3, temperature=1.0, top_k=1, seed=0)
    assert recorded.orders()["draws"] == [None]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_text_of_no_new_token_notes_nothing(temperature):
    generate(constant(9.0, 2.5, 2.0), Vocab(list("ab")), "a", 0, temperature=temperature)
    assert recorded.orders() == {"grid": None, "texts": [], "draws": []}


@pytest.mark.parametrize(("note", "kind"), [(recorded.note_text, "texts"), (recorded.note_draws, "draws")])
def test_notes_end_in_one_for_all_later_texts(note, kind, monkeypatch):
    monkeypatch.setattr(recorded, "MOST", 3)
    for value in (1.0, 10.0, 0.1, 0.001, 1.0):
        note(value)
    assert recorded.orders()[kind] == [0, 1, -3]


def test_a_course_of_texts_has_a_note_for_each():
    assert recorded.MOST >= 10_000


@pytest.mark.parametrize("note", [recorded.note_grid, recorded.note_text, recorded.note_draws])
def test_one_thread_notes_at_a_time(note):
    before = recorded.orders()
    with recorded._lock:
        thread = threading.Thread(target=note, args=(0.1,))
        thread.start()
        thread.join(0.01)
        assert (recorded._closest, recorded._leads, recorded._draws) == (math.inf, [], [])
    thread.join()
    assert recorded.orders() != before
