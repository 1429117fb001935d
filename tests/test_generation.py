"""Warm-up, decoding, and how clearly a model chooses."""

from __future__ import annotations

import copy
import math
import random
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from d2lrnn.generation import generate, greedy_margin
from d2lrnn.models import RNNLM
from d2lrnn.scratch import PlainRNNLM, RNNLMScratch
from d2lrnn.text import Vocab

law = settings(deadline=None, max_examples=30)  # a busy machine is not a fault
VOCAB = Vocab(list("hello world"))
WORDS = Vocab(["the", "tide", "comes", "in", "and", "the", "tide", "goes", "out"])
SIZE = len(VOCAB)

MODELS = {
    "plain": lambda dtype=torch.float64: PlainRNNLM(SIZE, 5, sigma=2.0, dtype=dtype),
    "scratch": lambda dtype=torch.float64: RNNLMScratch(SIZE, 5, sigma=2.0, dtype=dtype),
    "rnn": lambda dtype=torch.float64: RNNLM(SIZE, 5, dtype=dtype),
    "gru": lambda dtype=torch.float64: RNNLM(SIZE, 5, "gru", 2, dtype=dtype),
    "lstm": lambda dtype=torch.float64: RNNLM(SIZE, 5, "lstm", dtype=dtype),
}
every_model = pytest.mark.parametrize("kind", MODELS)


@pytest.fixture(autouse=True)
def one_thread():
    """Leave the other cores to other tests: these models are too small to be shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Spy(nn.Module):
    """Predict the token after the one read, cyclically, and keep what was read and the states."""

    def __init__(self, state=lambda n: torch.tensor([n])):
        super().__init__()
        self.state, self.read, self.states, self.modes, self.shapes = state, [], [], [], set()

    def forward(self, X, state=None):
        self.read += X.flatten().tolist()
        self.states.append(state)
        self.modes.append(self.training)
        self.shapes.add(tuple(X.shape))
        following = (X % (SIZE - 1)) + 1  # never "<unk>"
        return nn.functional.one_hot(following, SIZE).double(), self.state(len(self.states))


class Watched(RNNLMScratch):
    """See every token that is read."""

    def forward(self, X, state=None):
        self.seen = [*getattr(self, "seen", []), *X.flatten().tolist()]
        return super().forward(X, state)


def constant(*logits):
    """Return a model that gives the same logits for whatever it reads, with "<unk>" far ahead."""
    row = torch.tensor([99.0, *logits], dtype=torch.float64)
    return lambda X, _: (row.expand(*X.shape, len(row)), None)


def letters(n):
    return Vocab([c for i, c in enumerate("abcdefgh"[:n]) for _ in range(n - i)])  # a is the most frequent


def by_hand(model, prefix, num_preds):
    """Continue a text greedily, by reading all of it again for each token."""
    tokens = VOCAB[list(prefix)]
    for _ in range(num_preds):
        logits, _ = model(torch.tensor([tokens]))
        tokens.append(1 + int(logits[0, -1, 1:].argmax()))
    return "".join(VOCAB.to_tokens(tokens))


# Warm-up and feeding back


def test_each_prefix_token_is_read_once_and_in_order():
    spy = Spy()
    generate(spy, VOCAB, "hello", 1)
    assert spy.read == VOCAB[list("hello")]


def test_each_predicted_token_but_the_last_is_read():
    spy = Spy()
    text = generate(spy, VOCAB, "hello", 7)
    assert VOCAB.to_tokens(spy.read) == list(text[:-1])


def test_tokens_are_read_one_at_a_time():
    spy = Spy()
    generate(spy, VOCAB, "hello", 3)
    assert spy.shapes == {(1, 1)}


def test_a_text_continues_with_what_the_model_predicts():
    tokens = VOCAB[list("hello")]
    for _ in range(12):
        tokens.append(tokens[-1] % (SIZE - 1) + 1)
    assert generate(Spy(), VOCAB, "hello", 12) == "".join(VOCAB.to_tokens(tokens))


@pytest.mark.parametrize(
    "state", [lambda n: torch.tensor([n]), lambda n: (torch.tensor([n]), torch.tensor([-n]))]
)
def test_the_state_is_threaded_through(state):
    spy = Spy(state)
    generate(spy, VOCAB, "hello", 4)
    assert spy.states == [None, *map(state, range(1, 8))]


@law
@given(st.text("helo wrd", min_size=1, max_size=8), st.integers(0, 12), st.sampled_from(sorted(MODELS)))
def test_a_text_is_the_prefix_and_num_preds_characters(prefix, num_preds, kind):
    text = generate(MODELS[kind](), VOCAB, prefix, num_preds)
    assert text.startswith(prefix)
    assert len(text) == len(prefix) + num_preds


@every_model
def test_no_predictions_are_the_prefix(kind):
    assert generate(MODELS[kind](), VOCAB, "hello", 0) == "hello"


@every_model
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("prefix", ["h", "hello world"])
def test_greedy_text_is_what_reading_all_again_predicts(kind, dtype, prefix):
    model = MODELS[kind](dtype)
    assert generate(model, VOCAB, prefix, 15) == by_hand(model, prefix, 15)


def test_generating_does_not_change_the_model():
    model = MODELS["scratch"]()
    before = copy.deepcopy(model.state_dict())
    generate(model, VOCAB, "hello", 9)
    assert all(torch.equal(p, before[name]) for name, p in model.state_dict().items())
    assert all(p.requires_grad and p.grad is None for p in model.parameters())


def test_new_weights_give_new_text():
    model = MODELS["scratch"]()
    generate(model, VOCAB, "hello", 9)
    model.load_state_dict(RNNLMScratch(SIZE, 5, sigma=2.0, seed=1).state_dict())
    assert generate(model, VOCAB, "hello", 9) == by_hand(model, "hello", 9)


def test_a_subclass_of_the_fast_model_reads_every_token_itself():
    model = Watched(SIZE, 5, sigma=2.0)
    text = generate(model, VOCAB, "hello", 3)
    assert VOCAB.to_tokens(model.seen) == list(text[:-1])


@pytest.mark.parametrize("hook", ["register_forward_hook", "register_forward_pre_hook"])
def test_a_hook_on_the_fast_model_sees_every_token(hook):
    model, seen = MODELS["scratch"](), []
    getattr(model, hook)(lambda _, arguments, *__: seen.append(int(arguments[0])))
    text = generate(model, VOCAB, "hello", 3)
    assert VOCAB.to_tokens(seen) == list(text[:-1])


def test_a_function_is_a_model():
    assert generate(constant(0.0, 2.0, 1.0), letters(3), "a", 3) == "abbb"


def test_the_unknown_token_is_never_predicted():
    assert generate(constant(0.0, 0.0), letters(2), "b", 50, temperature=2.0, seed=0).count("<unk>") == 0


# Words


def test_a_vocabulary_of_words_reads_and_writes_words():
    model = RNNLM(len(WORDS), 4)
    text = generate(model, WORDS, "the tide", 5)
    assert text.startswith("the tide ")
    assert len(text.split()) == 7


def test_spaces_around_words_do_not_count():
    model = RNNLM(len(WORDS), 4)
    assert generate(model, WORDS, " the   tide ", 5) == generate(model, WORDS, "the tide", 5)


# Modes


@pytest.mark.parametrize("training", [True, False])
def test_a_model_generates_in_evaluation_and_gets_its_mode_back(training):
    spy = Spy().train(training)
    generate(spy, VOCAB, "hello", 3)
    assert (set(spy.modes), spy.training) == ({False}, training)


def test_a_part_that_was_in_evaluation_stays_there():
    model = nn.Sequential(MODELS["gru"](), nn.Identity())
    model[1].eval()
    with pytest.raises(TypeError):
        generate(model, VOCAB, "hello", 3)  # a Sequential takes no state
    assert [part.training for part in model] == [True, False]


# Temperature and top-k


def counts(model, vocab, num=6000, **options):
    return Counter(generate(model, vocab, "a", num, **options)[1:])


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_from_the_softmax_of_logits_by_temperature(temperature):
    logits = np.array([0.0, 1.5, -1.0])
    expected = np.exp(logits / temperature) / np.exp(logits / temperature).sum()
    found = counts(constant(*logits), letters(3), temperature=temperature, seed=0)
    assert [found[c] / 6000 for c in "abc"] == pytest.approx(expected.tolist(), abs=0.025)


@pytest.mark.parametrize("temperature", [1e-3, 1e-300])
def test_a_low_temperature_is_greedy(temperature):
    model = MODELS["lstm"]()
    assert generate(model, VOCAB, "hello", 20, temperature=temperature, seed=0) == by_hand(model, "hello", 20)


def test_a_high_temperature_is_uniform():
    found = counts(constant(0.0, 5.0, -5.0), letters(3), temperature=1e6, seed=0)
    assert [found[c] / 6000 for c in "abc"] == pytest.approx([1 / 3] * 3, abs=0.025)


@pytest.mark.parametrize(("top_k", "drawn"), [(1, "b"), (2, "ab"), (3, "abc"), (4, "abcd"), (99, "abcd")])
def test_only_the_top_k_tokens_are_drawn(top_k, drawn):
    found = counts(constant(0.5, 1.0, 0.0, -0.5), letters(4), num=500, temperature=1.0, top_k=top_k, seed=0)
    assert "".join(sorted(found)) == drawn


def test_the_top_k_tokens_keep_their_ratios():
    found = counts(constant(0.0, 1.0, -9.0), letters(3), temperature=1.0, top_k=2, seed=0)
    assert found["b"] / found["a"] == pytest.approx(math.e, rel=0.1)


def test_as_many_as_k_of_equal_tokens_are_drawn():
    assert len(counts(constant(*[1.0] * 6), letters(6), num=300, temperature=1.0, top_k=3, seed=0)) == 3


@pytest.mark.parametrize("kind", ["scratch", "gru"])
def test_the_same_seed_draws_the_same_text(kind):
    options = {"temperature": 1.0, "seed": 7}
    assert generate(MODELS[kind](), VOCAB, "h", 40, **options) == generate(
        MODELS[kind](), VOCAB, "h", 40, **options
    )


@pytest.mark.parametrize("seed", [8, None])
def test_another_seed_draws_another_text(seed):
    texts = [generate(MODELS["gru"](), VOCAB, "h", 60, temperature=1.0, seed=s) for s in (7, seed)]
    assert texts[0] != texts[1]


def test_a_longer_text_begins_as_the_shorter_one():
    model = MODELS["gru"]()
    short, long = (generate(model, VOCAB, "h", n, temperature=1.0, seed=7) for n in (10, 30))
    assert long.startswith(short)


@pytest.mark.parametrize("seed", [None, 3])
def test_global_random_state_is_left_alone(seed):
    before = random.getstate(), torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    generate(MODELS["gru"](), VOCAB, "h", 10, temperature=1.0, seed=seed)
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])
    assert np.array_equal(np.random.get_state()[1], before[2])  # noqa: NPY002


# Errors


@pytest.mark.parametrize(
    ("prefix", "named"),
    [
        ("hello é", "'é'"),
        ("中", "'中'"),
        ("he110", "'1', '0'"),
        ("Hello", "'H'"),
        ("h\n", r"'\\n'"),
        ("<unk>", "'<'"),
    ],
)
def test_characters_that_are_not_in_the_vocabulary_are_named(prefix, named):
    with pytest.raises(ValueError, match=f"vocabulary, which has no .*{named}"):
        generate(MODELS["gru"](), VOCAB, prefix, 3)


def test_words_that_are_not_in_the_vocabulary_are_named():
    with pytest.raises(ValueError, match="which has no 'ebbs'; got 'the ebbs'"):
        generate(RNNLM(len(WORDS), 4), WORDS, "the ebbs", 3)


@pytest.mark.parametrize("num_preds", [0, 3])
@pytest.mark.parametrize(("vocab", "prefix"), [(VOCAB, ""), (WORDS, ""), (WORDS, "  ")])
def test_an_empty_prefix_is_an_error(vocab, prefix, num_preds):
    with pytest.raises(ValueError, match="prefix must hold at least one token"):
        generate(RNNLM(len(vocab), 4), vocab, prefix, num_preds)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"model": RNNLM(SIZE, 4, bidirectional=True)},
            ValueError,
            "bidirectional: what it says of the next",
        ),
        (
            {"model": RNNLM(SIZE + 1, 4)},
            ValueError,
            f"model predicts {SIZE + 1} tokens, but vocab holds {SIZE}",
        ),
        ({"model": constant(0.0)}, ValueError, rf"logits of shape \(1, 1, {SIZE}\), got \(1, 1, 2\)"),
        ({"model": constant(*[math.nan] * (SIZE - 1))}, ValueError, "model's logits hold nan"),
        ({"model": 3}, TypeError, "model must be"),
        ({"prefix": 3}, TypeError, "prefix must be a str, got 3"),
        ({"prefix": ["h"]}, TypeError, "prefix must be a str"),
        ({"num_preds": -1}, ValueError, "num_preds must be at least 0, got -1"),
        ({"num_preds": 2.0}, TypeError, "num_preds must be an integer"),
        ({"temperature": -1.0}, ValueError, r"temperature must be at least 0, got -1\.0"),
        ({"temperature": math.nan}, ValueError, "temperature must be finite"),
        ({"top_k": 0}, ValueError, "top_k must be at least 1, got 0"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    ],
)
def test_an_argument_that_is_not_as_described_is_an_error(changes, error, message):
    with pytest.raises(error, match=message):
        generate(**{"model": MODELS["gru"](), "vocab": VOCAB, "prefix": "hello", "num_preds": 3, **changes})


def test_logits_that_are_nan_cannot_be_drawn_from():
    with pytest.raises(ValueError, match="model's logits hold nan or infinity"):
        generate(constant(0.0, math.nan, 1.0), letters(3), "a", 3, temperature=1.0, seed=0)


# How clearly a model chooses


def test_the_margin_is_the_smallest_lead_of_a_chosen_token():
    assert greedy_margin(constant(0.0, 2.5, 1.0), letters(3), "abbb", 3) == 1.5


def test_the_margin_is_negative_where_another_token_would_be_chosen():
    assert greedy_margin(constant(0.0, 2.5, 1.0), letters(3), "abab", 3) == -2.5


@pytest.mark.parametrize("kind", MODELS)
def test_the_margin_of_greedy_text_is_that_of_each_step(kind):
    model = MODELS[kind]()
    text = generate(model, VOCAB, "hello", 12)
    tokens, leads = VOCAB[list(text)], []
    for n in range(5, 17):
        two = model(torch.tensor([tokens[:n]]))[0][0, -1, 1:].topk(2).values
        leads.append((two[0] - two[1]).item())
    assert greedy_margin(model, VOCAB, text, 12) == pytest.approx(min(leads), abs=1e-12)


@pytest.mark.parametrize(
    ("num_preds", "message"), [(0, "at least 1, got 0"), (5, "less than the 5 tokens of text")]
)
def test_a_margin_of_no_predictions_or_without_a_prefix_is_an_error(num_preds, message):
    with pytest.raises(ValueError, match=f"num_preds must be {message}"):
        greedy_margin(MODELS["gru"](), VOCAB, "hello", num_preds)
