"""Warm-up, decoding, and how clearly a model chooses."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.modules import module
from torch.nn.utils import parametrize

from d2lrnn.models.concise import RNNLM
from d2lrnn.models.scratch import PlainRNNLM, RNNLMScratch
from d2lrnn.text.bpe import BPETokenizer
from d2lrnn.text.vocabulary import Vocab
from d2lrnn.writing.generate import generate, greedy_margin

law = settings(deadline=None, max_examples=30)  # a busy machine is not a fault
VOCAB = Vocab(list("hello world"))
WORDS = Vocab(["the", "tide", "comes", "in", "and", "the", "tide", "goes", "out"])
SIZE = len(VOCAB)

MODELS = {
    "plain": lambda dtype=torch.float64: PlainRNNLM(SIZE, 5, sigma=2.0, dtype=dtype, seed=0),
    "scratch": lambda dtype=torch.float64: RNNLMScratch(SIZE, 5, sigma=2.0, dtype=dtype, seed=0),
    "rnn": lambda dtype=torch.float64: RNNLM(SIZE, 5, dtype=dtype, seed=0),
    "gru": lambda dtype=torch.float64: RNNLM(SIZE, 5, "gru", 2, dtype=dtype, seed=0),
    "lstm": lambda dtype=torch.float64: RNNLM(SIZE, 5, "lstm", dtype=dtype, seed=0),
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


def logits_of(X):
    return torch.zeros(*X.shape, SIZE)


def spoilt(value):
    """Return a fast model, one of whose weights is no finite number."""
    model = RNNLMScratch(SIZE, 5, seed=0)
    with torch.no_grad():
        model.b_q[0] = value
    return model


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


# What the fast model's reader does not see


def backwards(model):
    """Return an `output_layer` with all logits turned round."""
    return lambda H: -(H @ model.W_hq + model.b_q).transpose(0, 1)


def test_a_replaced_output_layer_is_used():
    model = MODELS["scratch"]()
    model.output_layer = backwards(model)
    assert generate(model, VOCAB, "hello", 9) == by_hand(model, "hello", 9)


def test_a_replaced_forward_is_used():
    model = MODELS["scratch"]()
    model.forward = lambda X, state=None: MODELS["rnn"]()(X, state)
    assert generate(model, VOCAB, "hello", 9) == by_hand(model, "hello", 9)


@pytest.mark.parametrize("owner", [PlainRNNLM, RNNLMScratch])
def test_a_method_replaced_in_the_class_is_used(owner, monkeypatch):
    monkeypatch.setattr(owner, "output_layer", lambda self, H: backwards(self)(H))
    model = MODELS["scratch"]()
    assert generate(model, VOCAB, "hello", 9) == by_hand(model, "hello", 9)


@pytest.mark.parametrize("hook", ["register_module_forward_hook", "register_module_forward_pre_hook"])
def test_a_global_hook_sees_every_token(hook):
    model, seen = MODELS["scratch"](), []
    handle = getattr(module, hook)(lambda _, arguments, *__: seen.append(int(arguments[0])))
    try:
        text = generate(model, VOCAB, "hello", 3)
    finally:
        handle.remove()
    assert VOCAB.to_tokens(seen) == list(text[:-1])


def test_a_hook_may_change_the_logits():
    model = MODELS["scratch"]()
    model.register_forward_hook(lambda _, __, answer: (-answer[0], answer[1]))
    assert generate(model, VOCAB, "hello", 9) == by_hand(model, "hello", 9)


class Doubled(nn.Module):
    calls = 0

    def forward(self, W):
        self.calls += 1
        return 2 * W


@pytest.mark.parametrize("part", ["W_hq", "rnn.W_hh"])
def test_a_parametrization_is_used(part):
    model = MODELS["scratch"]()
    owner, _, name = part.rpartition(".")
    doubled = Doubled()
    parametrize.register_parametrization(model.get_submodule(owner), name, doubled)
    doubled.calls = 0
    text = generate(model, VOCAB, "hello", 9)
    assert doubled.calls >= 13  # once for each token read
    assert text == by_hand(model, "hello", 9)


@every_model
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_writes_the_same_text(kind, copied):
    model = MODELS[kind]()
    assert generate(copied(model), VOCAB, "hello", 9) == generate(model, VOCAB, "hello", 9)


@pytest.mark.parametrize("kind", ["scratch", "gru"])
def test_a_compiled_model_writes_the_same_text(kind):
    model = MODELS[kind]()
    compiled = torch.compile(model, backend="eager")
    assert generate(compiled, VOCAB, "hello", 9) == generate(model, VOCAB, "hello", 9)
    assert greedy_margin(compiled, VOCAB, "hello", 2) == greedy_margin(model, VOCAB, "hello", 2)


@every_model
def test_threads_that_share_a_model_write_the_same_text(kind):
    model = MODELS[kind]().eval()
    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(lambda _: generate(model, VOCAB, "hello", 20), range(8)))
    assert set(texts) == {by_hand(model, "hello", 20)}


# What a user has set


def written(kind, dtype):
    """Return what a model writes, greedily and not, and how clearly it chooses."""
    model = MODELS[kind](dtype)
    text = generate(model, VOCAB, "hello", 9)
    drawn = generate(model, VOCAB, "hello", 9, temperature=1.0, seed=0)
    return text, drawn, greedy_margin(model, VOCAB, text, 9)


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    yield
    torch.set_default_dtype(before)


@every_model
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize(
    "setting",
    [
        lambda: torch.device("meta"),
        torch.inference_mode,
        torch.enable_grad,
        lambda: default_dtype(torch.float16),
        lambda: default_dtype(torch.float64),
    ],
)
def test_a_text_is_the_same_in_every_setting_of_a_user(kind, dtype, setting):
    expected = written(kind, dtype)
    with setting():
        assert written(kind, dtype) == expected


@every_model
def test_autocast_does_not_touch_float64(kind):
    expected = written(kind, torch.float64)
    with torch.autocast("cpu"):
        assert written(kind, torch.float64) == expected


@every_model
def test_float32_writes_under_autocast(kind):
    with torch.autocast("cpu"):
        assert len(written(kind, torch.float32)[0]) == 14


# Reserved tokens

MARKED = Vocab(list("abcabc"), reserved_tokens=["<pad>", "<bos>"])
MARKED_WORDS = Vocab(["tide", "in", "tide", "out"], reserved_tokens=["<bos>", "<eos>"])


def likes(*tokens):
    """Return a model that prefers the reserved tokens of MARKED, then the given ones in their order."""
    row = torch.full((len(MARKED),), -9.0, dtype=torch.float64)
    row[list(MARKED.reserved)] = 9.0
    for i, token in enumerate(tokens):
        row[MARKED[token]] = -float(i)
    return lambda X, _: (row.expand(*X.shape, len(row)), None)


@pytest.mark.parametrize(
    "options", [{}, {"temperature": 1e-3}, {"temperature": 5.0}, {"temperature": 5.0, "top_k": 1}]
)
def test_reserved_tokens_are_never_written(options):
    assert set(generate(likes(*"abc"), MARKED, "ab", 99, seed=0, **options)) <= set("abc")


def test_the_best_token_that_is_not_reserved_is_written():
    assert generate(likes(*"cab"), MARKED, "ab", 3) == "abccc"


def test_top_k_counts_only_tokens_that_are_not_reserved():
    assert set(generate(likes(*"cab"), MARKED, "c", 99, temperature=9.0, top_k=2, seed=0)) == set("ca")


def test_reserved_tokens_do_not_count_in_the_margin():
    assert greedy_margin(likes(*"cab"), MARKED, "abcc", 2) == 1.0


@pytest.mark.parametrize("kind", [RNNLMScratch, RNNLM])
@pytest.mark.parametrize("seed", range(4))
def test_models_write_only_tokens_of_the_text(kind, seed):
    assert set(generate(kind(len(MARKED), 4, seed=seed), MARKED, "ab", 20)) <= set("abc")


def test_a_vocabulary_with_a_long_reserved_token_is_of_characters():
    vocab = Vocab(list("abcabc"), reserved_tokens=["<eos>"])
    assert len(generate(RNNLM(len(vocab), 4, seed=0), vocab, "ab", 3)) == 5


def test_a_vocabulary_of_short_words_is_of_words_if_it_says_so():
    vocab = Vocab(["a", "b"], unit="word")
    assert len(generate(RNNLM(len(vocab), 4, seed=0), vocab, "a b", 3).split()) == 5


# An empty prefix


class SpyOf(nn.Module):
    """Predict the first token that is not reserved, and keep what was read."""

    def __init__(self, vocab):
        super().__init__()
        self.vocab, self.read = vocab, []

    def forward(self, X, state=None):
        self.read += X.flatten().tolist()
        following = torch.full_like(X, len(self.vocab.reserved))
        return nn.functional.one_hot(following, len(self.vocab)).double(), state


@pytest.mark.parametrize(
    ("vocab", "prefix", "text"),
    [(MARKED, "", "aaa"), (MARKED_WORDS, "", "tide tide tide"), (MARKED_WORDS, " ", "tide " * 2 + "tide")],
)
def test_an_empty_prefix_starts_from_bos_which_is_not_written(vocab, prefix, text):
    spy = SpyOf(vocab)
    assert generate(spy, vocab, prefix, 3) == text
    assert spy.read == [vocab.bos, 3, 3]


def test_bos_is_not_read_before_a_prefix():
    spy = SpyOf(MARKED)
    generate(spy, MARKED, "b", 1)
    assert spy.read == [MARKED["b"]]


def test_no_predictions_of_an_empty_prefix_are_an_empty_text():
    assert generate(SpyOf(MARKED), MARKED, "", 0) == ""


def test_the_margin_of_a_text_from_an_empty_prefix_starts_from_bos():
    model = RNNLM(len(MARKED), 4, seed=0)
    text = generate(model, MARKED, "", 5)
    tokens, leads = [MARKED.bos, *MARKED[list(text)]], []
    for n in range(1, 6):
        two = model(torch.tensor([tokens[:n]]))[0][0, -1, 3:].topk(2).values
        leads.append((two[0] - two[1]).item())
    assert greedy_margin(model, MARKED, text, 5) == pytest.approx(min(leads), abs=1e-12)


# Byte pairs

TEXT = "the tide comes in and the tide goes out: “ja” — naïve. " * 3
BPE = BPETokenizer.train(TEXT, 280)


@pytest.mark.parametrize("kind", [RNNLMScratch, RNNLM])
def test_byte_pairs_are_written_after_the_prefix(kind):
    model, spied = kind(len(BPE), 8, seed=0), []
    model.register_forward_pre_hook(lambda _, arguments: spied.append(int(arguments[0])))
    text = generate(model, BPE, "the “tide”", 12)
    prefix = BPE.encode("the “tide”")
    assert spied[: len(prefix)] == prefix
    assert len(spied) == len(prefix) + 11
    assert text.startswith("the “tide”" + BPE.decode(spied[len(prefix) :]).rstrip("\ufffd"))


@law
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9), st.integers(0, 20))
def test_byte_pairs_never_change_the_prefix(prefix, seed):
    model = RNNLM(len(BPE), 4, seed=0)
    assert generate(model, BPE, prefix, 9, temperature=2.0, seed=seed).startswith(prefix)


def test_all_byte_pairs_may_be_written():
    row = torch.zeros(len(BPE))
    text = generate(
        lambda X, _: (row.expand(*X.shape, len(row)), None), BPE, "a", 999, temperature=1.0, seed=0
    )
    assert "\0" in text  # byte 0 is a token as any other


def test_a_character_that_is_cut_shows_as_unknown():
    row = torch.zeros(len(BPE))
    row[0xE2] = 9.0  # the first of three bytes
    assert generate(lambda X, _: (row.expand(*X.shape, len(row)), None), BPE, "é", 2) == "é\ufffd\ufffd"


def test_the_margin_of_byte_pairs_is_that_of_each_step():
    model = RNNLM(len(BPE), 4, seed=0)
    tokens, leads = BPE.encode(TEXT[:30]), []
    for n in range(len(tokens) - 3, len(tokens)):
        logits = model(torch.tensor([tokens[:n]]))[0][0, -1].tolist()
        taken = logits.pop(tokens[n])
        leads.append(taken - max(logits))
    assert greedy_margin(model, BPE, TEXT[:30], 3) == pytest.approx(min(leads), abs=1e-12)


def test_byte_pairs_have_no_empty_prefix():
    with pytest.raises(ValueError, match="prefix must hold at least one token, got ''"):
        generate(RNNLM(len(BPE), 4), BPE, "", 3)


def test_a_prefix_that_has_no_bytes_is_an_error():
    with pytest.raises(ValueError, match=r"prefix must be a text that vocab encodes: .*lone surrogate"):
        generate(RNNLM(len(BPE), 4), BPE, "\ud800", 3)


# Words


def test_a_vocabulary_of_words_reads_and_writes_words():
    model = RNNLM(len(WORDS), 4, seed=0)
    text = generate(model, WORDS, "the tide", 5)
    assert text.startswith("the tide ")
    assert len(text.split()) == 7


def test_spaces_around_words_do_not_count():
    model = RNNLM(len(WORDS), 4, seed=0)
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


def test_no_seed_draws_from_the_global_generator():
    torch.manual_seed(7)
    text = generate(MODELS["gru"](), VOCAB, "h", 40, temperature=1.0)
    assert text == generate(MODELS["gru"](), VOCAB, "h", 40, temperature=1.0, seed=7)


def test_a_generator_is_drawn_from():
    rng, model = torch.Generator().manual_seed(7), MODELS["gru"]()
    texts = [generate(model, VOCAB, "h", 40, temperature=1.0, seed=rng) for _ in range(2)]
    assert texts[0] == generate(model, VOCAB, "h", 40, temperature=1.0, seed=7) != texts[1]


@pytest.mark.parametrize("options", [{}, {"temperature": 1.0, "seed": 3}])
def test_greedy_text_and_an_int_leave_global_random_state_alone(options):
    before = random.getstate(), torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    generate(MODELS["gru"](), VOCAB, "h", 10, **options)
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
    with pytest.raises(ValueError, match=f"prefix must be .*vocabulary, which has no .*{named}"):
        generate(MODELS["gru"](), VOCAB, prefix, 3)


def test_words_that_are_not_in_the_vocabulary_are_named():
    with pytest.raises(ValueError, match="which has no 'ebbs'; got 'the ebbs'"):
        generate(RNNLM(len(WORDS), 4, seed=0), WORDS, "the ebbs", 3)


@pytest.mark.parametrize("num_preds", [0, 3])
@pytest.mark.parametrize(("vocab", "prefix"), [(VOCAB, ""), (WORDS, ""), (WORDS, "  ")])
def test_an_empty_prefix_is_an_error(vocab, prefix, num_preds):
    with pytest.raises(ValueError, match="prefix must hold at least one token"):
        generate(RNNLM(len(vocab), 4, seed=0), vocab, prefix, num_preds)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"model": RNNLM(SIZE, 4, bidirectional=True, seed=0)},
            ValueError,
            "bidirectional: what it says of the next",
        ),
        (
            {"model": RNNLM(SIZE + 1, 4, seed=0)},
            ValueError,
            f"model predicts {SIZE + 1} tokens, but vocab holds {SIZE}",
        ),
        ({"model": constant(0.0)}, ValueError, rf"logits of shape \(1, 1, {SIZE}\),.* got \(1, 1, 2\)"),
        (
            {"model": constant(*[math.nan] * (SIZE - 1))},
            ValueError,
            "model must return finite logits, got nan",
        ),
        ({"model": lambda X, _: X}, TypeError, "model must return logits and a state, got a tensor"),
        (
            {"model": lambda X, _: (X, None)},
            TypeError,
            "logits as a dense tensor of floats, got a tensor of torch.int64",
        ),
        (
            {"model": lambda X, _: (logits_of(X), [])},
            TypeError,
            "must return a state that is a tensor, a plain tuple",
        ),
        ({"model": spoilt(math.nan)}, ValueError, "model must return finite logits, got nan"),
        ({"model": spoilt(math.inf)}, ValueError, "model must return finite logits, got "),
        ({"model": 3}, TypeError, "model must be"),
        (
            {"vocab": list("helo wrd")},
            TypeError,
            "vocab must be a Vocab or a BPETokenizer, got .* \\(list\\)",
        ),
        (
            {"vocab": Vocab([], reserved_tokens=list("helo wrd"))},
            ValueError,
            "vocab must hold a token that is not reserved",
        ),
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


@pytest.mark.parametrize(
    ("temperature", "message"), [(0, "must be finite, got nan"), (1, "hold nan or infinity")]
)
def test_logits_that_become_nan_cannot_be_chosen_from(temperature, message):
    def model(X, n):
        n = torch.zeros(1) if n is None else n + 1
        return constant(0.0, math.nan if n > 2 else 1.0)(X, None)[0], n

    with pytest.raises(ValueError, match=f"model's logits {message}"):
        generate(model, letters(2), "a", 5, temperature=temperature, seed=0)


@pytest.mark.parametrize(
    "later", [lambda X: X, lambda X: (logits_of(X)[:, 0], None), lambda X: (logits_of(X), "")]
)
def test_an_answer_of_another_kind_is_an_error_in_any_call(later):
    answers = iter([lambda X: (logits_of(X), None), later])
    with pytest.raises((TypeError, ValueError), match="model must return"):
        generate(lambda X, _: next(answers)(X), VOCAB, "hello", 1)


@every_model
def test_counts_may_be_numpy_s_integers(kind):
    model, options = MODELS[kind](), {"temperature": np.float32(1.0), "seed": np.int64(0)}
    text = generate(model, VOCAB, "hello", np.int64(9), top_k=np.uint8(3), **options)
    assert text == generate(model, VOCAB, "hello", 9, top_k=3, temperature=1.0, seed=0)
    assert greedy_margin(model, VOCAB, text, np.int16(9)) == greedy_margin(model, VOCAB, text, 9)


# How clearly a model chooses


def test_the_margin_is_the_smallest_lead_of_a_chosen_token():
    assert greedy_margin(constant(0.0, 2.5, 1.0), letters(3), "abbb", 3) == 1.5


def test_the_margin_is_negative_where_another_token_would_be_chosen():
    assert greedy_margin(constant(0.0, 2.5, 1.0), letters(3), "abab", 3) == -2.5


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (
            lambda X, _: (logits_of(X)[0], None),
            ValueError,
            r"must return logits of shape \(1, 4, 9\).*got \(4, 9\)",
        ),
        (lambda X, _: (logits_of(X.T), None), ValueError, r"\(1, 4, 9\).*got \(4, 1, 9\): steps come first"),
        (lambda X, _: (logits_of(X)[..., 1:], None), ValueError, r"got \(1, 4, 8\)"),
        (lambda X, _: (logits_of(X) / 0, None), ValueError, "finite logits, got nan"),
        (lambda X, _: logits_of(X), TypeError, "must return logits and a state"),
    ],
)
def test_a_margin_of_what_is_no_language_model_is_an_error(model, error, message):
    with pytest.raises(error, match=message):
        greedy_margin(model, VOCAB, "hello", 2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_margin_of_narrow_logits_is_not_rounded_to_them(dtype):
    logits = torch.tensor([0.0, 256.0, 1.0, 1 / 64]).to(dtype)
    assert greedy_margin(lambda X, _: (logits.expand(*X.shape, 4), None), letters(3), "aa", 1) == 255.0
    assert greedy_margin(lambda X, _: (logits.expand(*X.shape, 4), None), letters(3), "cc", 1) == 1 / 64 - 256


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


@pytest.mark.parametrize("temperature", [0, 0.5])
@pytest.mark.parametrize("size", [1e-300, 3000.0])
def test_a_user_s_numpy_errors_change_no_text(size, temperature):
    vocab, models = Vocab(list("abc")), [RNNLMScratch(4, 3, seed=0), RNNLM(4, 3, seed=0)]
    for model in models:
        with torch.no_grad():
            for p in model.parameters():
                p.mul_(size)
        expected = generate(model, vocab, "a", 9, temperature=temperature, seed=0)
        with np.errstate(all="raise"):
            assert generate(model, vocab, "a", 9, temperature=temperature, seed=0) == expected


@pytest.mark.parametrize("temperature", [0, 1])
def test_logits_that_become_infinite_are_an_error(temperature):
    def model(X, state):
        count = 0 if state is None else int(state) + 1
        return torch.full((*X.shape, 4), math.inf if count == 2 else 0.0), torch.tensor(count)

    with pytest.raises(ValueError, match="model's logits"):
        generate(model, Vocab(list("abc")), "ab", 5, temperature=temperature, seed=0)


@pytest.mark.parametrize("num_preds", [10**13, 10**30])
@pytest.mark.parametrize("temperature", [0, 1])
def test_more_tokens_than_memory_holds_are_an_error(num_preds, temperature):
    with pytest.raises(ValueError, match="num_preds must be so few"):
        generate(RNNLM(4, 3, seed=0), Vocab(list("abc")), "ab", num_preds, temperature=temperature, seed=0)
