import math
import os

import nbformat
import pytest
import torch
from small_course import chapter

from book.margins import TABLE, table
from book.notebooks import sources
from d2lrnn import Vocab, generate, margins, round_to_grid

TRAINING = """\
from d2lrnn import RNNLMScratch, generate, load_corpus, train

corpus, vocab = load_corpus(max_tokens=2000)
model = RNNLMScratch(len(vocab), 64)
train(model, corpus, num_epochs=2, lr=1e-2).perplexity"""
TEXT = "generate(model, vocab, 'the tide', 20)"


@pytest.fixture(autouse=True)
def _empty_log(monkeypatch):
    monkeypatch.setattr(margins, "_closest", math.inf)
    monkeypatch.setattr(margins, "_leads", [])


@pytest.fixture(scope="module")
def recordings(course):
    """Record a chapter that trains, from nothing, on one thread and on four."""
    course.write("tiny.md", chapter(TRAINING, TEXT))
    path, found = course.root / "chapters" / "tiny.ipynb", []
    before = os.environ.get("OMP_NUM_THREADS")
    for threads in ("1", "4"):
        path.unlink(missing_ok=True)
        os.environ["OMP_NUM_THREADS"] = threads
        done = course.record()
        assert done.returncode == 0, done.stderr
        found.append(path.read_bytes())
    if before is None:
        del os.environ["OMP_NUM_THREADS"]
    else:
        os.environ["OMP_NUM_THREADS"] = before
    return found


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


def test_a_recording_holds_its_margins(recordings):
    noted = nbformat.reads(recordings[0].decode(), as_version=4).metadata["d2lrnn"]["margins"]
    assert -20 < noted["grid"] < -5
    assert len(noted["texts"]) == 1


def test_recordings_from_different_thread_counts_have_the_same_bytes(recordings):
    # All but the times, which `history` prints as measured; this chapter prints none.
    assert recordings[0] == recordings[1]


def test_a_recording_whose_margins_alone_moved_is_kept(course, recordings):
    path = course.root / "chapters" / "tiny.ipynb"
    moved = recordings[0].replace(b'"grid": -', b'"grid": -1', 1)
    assert moved != recordings[0]
    path.write_bytes(moved)
    course.record()
    assert path.read_bytes() == moved


def test_recording_writes_the_table_of_margins(course, recordings):
    text = (course.root / "appendix" / "margins.md").read_text(encoding="utf-8")
    assert "| tiny | 10⁻" in text


def test_appendix_table_is_that_of_the_recordings():
    assert TABLE.read_text(encoding="utf-8") == table(sources()), "run `make record`"
