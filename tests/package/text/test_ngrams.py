"""The n-gram model against hand-computed values, a slow reference and nltk; counts and Zipf's law."""

from __future__ import annotations

import copy
import doctest
import math
import pickle
import random
import tracemalloc
from array import array
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.lm import KneserNeyInterpolated, Laplace, Vocabulary
from nltk.util import everygrams

import d2lrnn.text.ngrams
from d2lrnn.text._ngram_counts import _Level, _type, text_array
from d2lrnn.text.corpora import load_corpus
from d2lrnn.text.ngrams import NGramModel, ngram_counts, unseen_share, zipf_fit
from d2lrnn.text.scoring import perplexity

law = settings(deadline=None)  # a busy machine is not a fault
A, B, UNK = 0, 1, 2
ABABA = [A, B, A, B, A]  # vocabulary {a, b, unk}
SIZE = 4


@st.composite
def models(draw, recursive=False):
    """Draw a corpus over 4 tokens, and a model of it with one eps for each order or, at times, with add-k."""
    corpus = draw(st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=40))
    order = draw(st.integers(1, 4))
    add_k = None if recursive else draw(st.none() | st.floats(0, 1e6))
    eps = draw(st.lists(st.floats(0) | st.floats(0, 100), min_size=order, max_size=order))
    model = NGramModel(order, eps) if add_k is None else NGramModel(order, add_k=add_k)
    return corpus, model.fit(corpus, SIZE)


histories = st.lists(st.integers(0, SIZE - 1), max_size=5)


def zipf(length, seed=0, vocab_size=60):
    """Return tokens of Zipf's law, each with a dependence on the one before it."""
    weights = 1 / np.arange(1, vocab_size + 1)
    draws = np.random.default_rng(seed).choice(vocab_size, length, p=weights / weights.sum())
    return ((draws + np.roll(draws, 1) * (draws % 3 == 0)) % vocab_size).tolist()


# probabilities, by hand


def test_add_one_adds_one_to_each_of_three_tokens():
    assert NGramModel(2, add_k=1).fit(ABABA, 3).prob(B, [A]) == 0.6  # (2 + 1) / (2 + 3)


def test_a_history_at_the_end_of_the_corpus_is_not_counted():
    assert NGramModel(2, eps=0).fit(ABABA, 3).prob(B, [A]) == 1.0  # of 3 a's, 2 are followed


def test_add_half_on_a_unigram():
    assert NGramModel(1, add_k=0.5).fit(ABABA, 3).prob(A) == pytest.approx(3.5 / 6.5, rel=1e-15)


@pytest.mark.parametrize(
    ("token", "expected"), [(A, (3 + 2 / 3) / 7), (B, (2 + 2 / 3) / 7), (UNK, (2 / 3) / 7)]
)
def test_a_unigram_is_drawn_toward_uniform(token, expected):
    assert NGramModel(1, eps=2).fit(ABABA, 3).prob(token) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("token", "history", "expected"),
    [
        (B, [A], (2 + 0.5 * (2 + 2 / 3) / 7) / 2.5),
        (A, [A], 0.5 * (3 + 2 / 3) / 7 / 2.5),
        (A, [B], (2 + 0.5 * (3 + 2 / 3) / 7) / 2.5),
        (A, [UNK], (3 + 2 / 3) / 7),
        (A, [], (3 + 2 / 3) / 7),
    ],
)
def test_a_bigram_is_drawn_toward_the_unigram(token, history, expected):
    assert NGramModel(2, eps=[2, 0.5]).fit(ABABA, 3).prob(token, history) == pytest.approx(
        expected, rel=1e-15
    )


@pytest.mark.parametrize(
    ("history", "lower", "count"),
    [([B, A], (2 + 0.5 * (2 + 2 / 3) / 7) / 2.5, 1), ([A, B], (0.5 * (2 + 2 / 3) / 7) / 2.5, 0)],
)
def test_a_trigram_is_drawn_toward_the_bigram(history, lower, count):
    model = NGramModel(3, eps=[2, 0.5, 4]).fit(ABABA, 3)
    followed = {(B, A): 1, (A, B): 2}[tuple(history)]
    expected = (count + 4 * lower) / (followed + 4)
    assert model.prob(B, history) == pytest.approx(expected, rel=1e-15)


def test_one_eps_is_the_same_for_every_order():
    one, each = NGramModel(3, eps=2).fit(ABABA, 3), NGramModel(3, eps=(2, 2, 2)).fit(ABABA, 3)
    assert one.prob(B, [B, A]) == each.prob(B, [B, A])


def test_eps_is_one_unless_told_otherwise():
    assert NGramModel(1).fit(ABABA, 3).prob(UNK) == pytest.approx(1 / 3 / 6, rel=1e-15)


# laws


def reference(corpus, model, token, history):
    """Return P(token | history), term by term from counts of tuples."""

    def recursion(h):
        k = len(h) + 1
        if model.add_k is None:
            eps, lower = model.eps[k - 1], recursion(h[1:]) if h else 1 / SIZE
        else:
            eps, lower = model.add_k * SIZE, 1 / SIZE
        grams = Counter(tuple(corpus[i : i + k]) for i in range(len(corpus) - k + 1))
        n_h = sum(n for gram, n in grams.items() if gram[:-1] == h)
        return (grams[(*h, token)] + eps * lower) / (n_h + eps) if n_h and eps < math.inf else lower

    return recursion(
        tuple(history[len(history) - model.order + 1 :] if len(history) >= model.order else history)
    )


@law
@given(models(), st.integers(0, SIZE - 1), histories)
def test_prob_is_what_counting_tuples_gives(case, token, history):
    corpus, model = case
    assert model.prob(token, history) == pytest.approx(reference(corpus, model, token, history), rel=1e-12)


@law
@given(models(), histories)
def test_probabilities_sum_to_1_after_any_history(case, history):
    assert abs(case[1].distribution(history).sum() - 1) < 1e-12


@law
@given(models(), histories)
def test_no_probability_is_negative(case, history):
    assert case[1].distribution(history).min() >= 0


@law
@given(models(), histories)
def test_distribution_holds_the_probability_of_every_token(case, history):
    model = case[1]
    assert model.distribution(history).tolist() == [model.prob(token, history) for token in range(SIZE)]


@law
@given(models(), st.lists(st.integers(0, SIZE - 1), min_size=1))
def test_every_token_is_scored_with_the_history_that_there_is(case, text):
    model = case[1]
    probs = [model.prob(token, text[:i]) for i, token in enumerate(text)]
    assert np.exp(model.log_probs(text)).tolist() == pytest.approx(probs, rel=1e-12)


@law
@given(models(), st.lists(st.integers(0, SIZE - 1), min_size=1))
def test_perplexity_is_the_inverse_geometric_mean(case, text):
    model = case[1]
    with np.errstate(over="ignore"):
        mean = np.exp(-np.mean(model.log_probs(text)))
    assert model.perplexity(text) == pytest.approx(mean, rel=1e-12)


@law
@given(models(), histories)
def test_only_the_last_tokens_of_a_history_count(case, history):
    model = case[1]
    last = history[max(len(history) - model.order + 1, 0) :]
    assert np.array_equal(model.distribution(history), model.distribution(last))


@law
@given(models(recursive=True), histories)
def test_a_model_with_a_shorter_history_is_the_model_of_lower_order(case, history):
    corpus, model = case
    lower = NGramModel(min(len(history) + 1, model.order), model.eps[: len(history) + 1]).fit(corpus, SIZE)
    assert np.array_equal(model.distribution(history), lower.distribution(history))


@law
@given(models(recursive=True), histories)
def test_infinite_eps_gives_the_next_lower_order(case, history):
    corpus, model = case
    order = model.order + 1
    higher = NGramModel(order, (*model.eps, math.inf)).fit(corpus, SIZE)
    assert np.array_equal(higher.distribution(history), model.distribution(history))


@law
@given(models(recursive=True), histories)
def test_large_eps_comes_close_to_the_next_lower_order(case, history):
    corpus, model = case
    higher = NGramModel(model.order + 1, (*model.eps, 1e15)).fit(corpus, SIZE)
    assert np.abs(higher.distribution(history) - model.distribution(history)).max() < 1e-12


@pytest.mark.parametrize("size", [1, 126, 127, 128, 129, 255, 256, 257, 32767, 32768, 32769])
def test_counts_do_not_depend_on_the_width_of_their_type(size):
    corpus = [size - 1] * size
    model = NGramModel(2, eps=0).fit([*corpus, 0], size)
    assert model.prob(size - 1, [size - 1]) == pytest.approx(1 if size == 1 else (size - 1) / size, rel=1e-15)


def test_keys_wider_than_32_bits_do_not_collide():
    corpus = list(range(70_000)) * 2
    assert NGramModel(3, eps=0).fit(corpus, 70_000).perplexity(corpus[2:]) == pytest.approx(
        70_000 ** (1 / (2 * 70_000 - 2)), rel=1e-9
    )


def test_keys_of_unsigned_tokens_are_exact_beyond_53_bits():
    corpus, size = np.arange(1, 40_001, dtype=np.int64) ** 2 % 20_011, 2**46 + 1
    expected = NGramModel(2).fit(corpus, size)
    model = NGramModel(2).fit(corpus.astype(np.uint64), size)
    assert np.array_equal(model.log_probs(corpus), expected.log_probs(corpus))


def test_a_corpus_longer_than_a_block_is_scored_as_in_one_piece():
    corpus = zipf(20_000)
    model = NGramModel(3).fit(corpus, 60)
    pieces = [model.log_probs(corpus[start : start + 102])[2:] for start in range(0, 19_900, 100)]
    assert np.array_equal(model.log_probs(corpus)[2:19_902], np.concatenate(pieces))


# limits


@pytest.mark.parametrize("order", [1, 2, 3])
def test_eps_0_gives_relative_frequencies(order):
    corpus = zipf(300)
    grams = Counter(tuple(corpus[i : i + order]) for i in range(300 - order + 1))
    gram = grams.most_common(1)[0][0]
    continued = sum(n for other, n in grams.items() if other[:-1] == gram[:-1])
    assert NGramModel(order, eps=0).fit(corpus, 60).prob(gram[-1], gram[:-1]) == grams[gram] / continued


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("smoothing", [{"eps": 0}, {"add_k": 0}])
def test_an_unseen_token_has_infinite_perplexity_without_smoothing(order, smoothing):
    assert NGramModel(order, **smoothing).fit(ABABA, 3).perplexity([A, B, UNK]) == math.inf


def test_an_unseen_history_has_the_next_lower_order_for_eps_0():
    model = NGramModel(3, eps=0).fit(ABABA, 3)
    assert model.distribution([UNK, A]).tolist() == model.distribution([A]).tolist()


@pytest.mark.parametrize("add_k", [0, 1e-300, 1, 1e308])
def test_an_unseen_history_is_uniform_with_add_k(add_k):
    assert NGramModel(2, add_k=add_k).fit(ABABA, 3).distribution([UNK]).tolist() == [1 / 3] * 3


def test_the_uniform_model_has_the_size_of_the_vocabulary():
    assert NGramModel(1, eps=math.inf).fit(ABABA, 7).perplexity([0, 6, 3]) == pytest.approx(7, rel=1e-14)


def test_certainty_has_perplexity_one():
    assert NGramModel(2, eps=0).fit(ABABA, 3).log_probs(ABABA)[1:].tolist() == [0.0] * 4


def test_a_corpus_shorter_than_the_order_is_a_model_of_lower_order():
    assert NGramModel(5).fit([A, B], 3).prob(B, [UNK, UNK, UNK, A]) == NGramModel(2).fit([A, B], 3).prob(
        B, [A]
    )


def test_no_warning_comes_from_unseen_histories(recwarn):
    NGramModel(3, eps=0).fit(ABABA, 3).perplexity([UNK, UNK, UNK, A])
    assert not recwarn.list


# nltk


def prepare(order, unit="char"):
    """Return train and held-out text, the size of the vocabulary, and nltk's fit and n-grams to score."""
    corpus, vocab = load_corpus(unit=unit, max_tokens=6000)
    words = [str(token) for token in corpus]
    cut = len(corpus) * 9 // 10
    grams = [tuple(words[max(i - order + 1, cut) : i + 1]) for i in range(cut, len(words))]

    def fit(kind):
        # nltk adds a token for what is unknown, which has index 0 in ours
        model = kind(order, vocabulary=Vocabulary([str(token) for token in range(1, len(vocab))]))
        model.fit([everygrams(words[:cut], max_len=order)])
        return model

    return corpus[:cut], corpus[cut:], len(vocab), fit, grams


@pytest.mark.parametrize("unit", ["char", "word"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_add_one_has_the_perplexity_of_nltk(order, unit):
    train, held_out, size, fit, grams = prepare(order, unit)
    ours = NGramModel(order, add_k=1).fit(train, size).perplexity(held_out)
    assert ours == pytest.approx(fit(Laplace).perplexity(grams), rel=1e-9)


@pytest.mark.parametrize("unit", ["char", "word"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_add_one_has_the_probabilities_of_nltk(order, unit):
    train, held_out, size, fit, grams = prepare(order, unit)
    model = fit(Laplace)
    theirs = [model.score(gram[-1], gram[:-1]) for gram in grams]
    ours = np.exp(NGramModel(order, add_k=1).fit(train, size).log_probs(held_out))
    assert ours.tolist() == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("order", [2, 3])
def test_recursive_smoothing_of_characters_comes_close_to_kneser_ney(order):
    train, held_out, size, fit, grams = prepare(order)
    ours = NGramModel(order, eps=3).fit(train, size).perplexity(held_out)
    assert ours == pytest.approx(fit(KneserNeyInterpolated).perplexity(grams), rel=0.05)


def test_recursive_smoothing_beats_add_one():
    train, held_out, size, fit, grams = prepare(3)
    assert NGramModel(3, eps=3).fit(train, size).perplexity(held_out) < 0.9 * fit(Laplace).perplexity(grams)


# sampling


def chi_squared(draws, probabilities):
    """Return how likely draws at least as far from their probabilities are, rare tokens taken together."""
    assert set(draws) <= set(np.flatnonzero(probabilities))
    expected = probabilities * len(draws)
    often = expected >= 10
    n, e = (
        np.append(values[often], values[~often].sum())
        for values in (np.bincount(draws, minlength=20), expected)
    )
    statistic = ((n - e)[e > 0] ** 2 / e[e > 0]).sum()
    freedom = max(int((e > 0).sum()) - 1, 1)
    halves = torch.tensor([freedom / 2, statistic / 2], dtype=torch.float64)
    return torch.special.gammaincc(*halves).item()


SMOOTHINGS = [{"eps": 1}, {"eps": 0}, {"eps": math.inf}, {"eps": 30}, {"add_k": 1}, {"add_k": 0}]


@pytest.mark.parametrize("history", [[0, 1, 0], [2, 0], [19, 18, 17], []])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_sampled_tokens_follow_their_distribution(order, smoothing, history):
    model = NGramModel(order, **smoothing).fit(zipf(2000, vocab_size=20), 20)
    rng = np.random.default_rng(order)
    draws = [model.sample(1, history, seed=int(seed))[0] for seed in rng.integers(2**60, size=400)]
    assert chi_squared(draws, model.distribution(history)) > 1e-4


def test_each_order_s_own_eps_is_drawn_with():
    model = NGramModel(3, eps=[0, 7, 0.5]).fit(zipf(2000, vocab_size=20), 20)
    draws = [model.sample(1, [0, 0], seed=seed)[0] for seed in range(2000)]
    assert chi_squared(draws, model.distribution([0, 0])) > 1e-4


@law
@given(models(), histories, st.integers(0, 1000))
def test_a_token_is_the_first_at_which_the_cumulative_distribution_exceeds_the_number_drawn(
    case, history, seed
):
    model = case[1]
    text = model.sample(20, history, seed)
    for i, u in enumerate(np.random.default_rng(seed).random(20)):
        cumulative = model.distribution(history + text[:i]).cumsum()
        at_least = cumulative[text[i] - 1] if text[i] else 0
        assert at_least - 1e-12 <= u * cumulative[-1] <= cumulative[text[i]] + 1e-12


def test_sampling_builds_no_table_over_the_vocabulary():
    model = NGramModel(2).fit([0, 1, 2], 10**6)
    model.sample(1, seed=0)
    tracemalloc.start()
    model.sample(5, seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**6


def test_a_generator_is_a_seed():
    model = NGramModel(2).fit(zipf(500), 60)
    one, other = (model.sample(50, seed=torch.Generator().manual_seed(3)) for _ in range(2))
    assert one == other


@law
@given(models(), histories, st.integers(0, 20), st.integers(0, 1000))
def test_no_token_of_probability_0_is_drawn(case, history, num_tokens, seed):
    model = case[1]
    text = model.sample(num_tokens, history, seed)
    assert all(model.prob(token, history + text[:i]) > 0 for i, token in enumerate(text))


def test_no_token_of_probability_0_is_drawn_by_the_lowest_number(monkeypatch):
    class Lowest:
        def random(self, size):
            return np.zeros(size)

    monkeypatch.setattr(np.random, "default_rng", lambda _: Lowest())
    assert NGramModel(1, eps=0).fit([1, 2], 3).sample(1, seed=0) == [1]


@law
@given(models(), histories, st.integers(0, 20))
def test_as_many_tokens_are_drawn_as_asked_for(case, history, num_tokens):
    assert len(case[1].sample(num_tokens, history, seed=0)) == num_tokens


def test_the_history_decides_the_first_token():
    assert NGramModel(2, eps=0).fit(ABABA, 3).sample(4, [A], seed=0) == [B, A, B, A]


def test_the_same_seed_gives_the_same_tokens():
    model = NGramModel(2).fit(zipf(500), 60)
    assert model.sample(50, seed=3) == model.sample(50, seed=3)


def test_another_seed_gives_other_tokens():
    model = NGramModel(2).fit(zipf(500), 60)
    assert model.sample(50, seed=3) != model.sample(50, seed=4)


def test_no_seed_gives_new_tokens():
    model = NGramModel(2).fit(zipf(500), 60)
    assert model.sample(50, seed=None) != model.sample(50, seed=None)


def test_a_longer_sample_begins_with_the_shorter_one():
    model = NGramModel(2).fit(zipf(500), 60)
    assert model.sample(50, seed=0)[:20] == model.sample(20, seed=0)


def test_sampled_tokens_are_ints():
    assert {type(token) for token in NGramModel(1).fit(ABABA, 3).sample(5, seed=0)} == {int}


def test_sampling_leaves_global_random_state_alone():
    def state():
        return repr((random.getstate(), torch.get_rng_state().tolist(), np.random.get_state()))  # noqa: NPY002

    before = state()
    NGramModel(2).fit(ABABA, 3).sample(10, seed=0)
    assert state() == before


# what is looked at, and in which dress


class Watched(Sequence):
    """A list that notes which items are asked for."""

    def __init__(self, items):
        self.items, self.seen = items, set()

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        self.seen.add(range(len(self.items))[index])
        return self.items[index]


@pytest.mark.parametrize(
    "call",
    [
        lambda model, history: model.prob(B, history),
        lambda model, history: model.distribution(history),
        lambda model, history: model.sample(3, history),
    ],
)
def test_only_the_tokens_that_count_are_looked_at(call):
    history = Watched([A, B] * 1000)
    call(NGramModel(3).fit(ABABA, 3), history)
    assert history.seen == {1998, 1999}


@pytest.mark.parametrize(
    "kind",
    [
        tuple,
        deque,
        np.array,
        torch.tensor,
        lambda text: array("b", text),
        lambda text: np.array(text, np.uint64),
        lambda text: np.array(text, object),
        lambda text: np.array(text, ">i2"),
        lambda text: torch.tensor(text, dtype=torch.uint8),
    ],
)
def test_every_kind_of_text_gives_the_same_model(kind):
    corpus, text = zipf(300), zipf(100, seed=1)
    expected = NGramModel(3).fit(corpus, 60)
    model = NGramModel(3).fit(kind(corpus), 60)
    assert np.array_equal(model.log_probs(kind(text)), expected.log_probs(text))
    assert model.prob(3, kind(text)) == expected.prob(3, text)
    assert model.sample(9, kind(text), seed=0) == expected.sample(9, text, seed=0)
    assert unseen_share(kind(corpus), kind(text), 2) == unseen_share(corpus, text, 2)
    assert all(map(np.array_equal, ngram_counts(kind(text), 2), ngram_counts(text, 2)))


def test_ngrams_of_a_narrow_corpus_are_int64():
    assert ngram_counts(np.array([1, 2, 1], np.uint8), 2)[0].dtype == np.int64


@pytest.mark.filterwarnings("error")
def test_a_read_only_memory_map_is_fitted_without_a_copy(tmp_path):
    np.tile(np.arange(4), 100_000).tofile(tmp_path / "corpus")
    corpus = np.memmap(tmp_path / "corpus", np.int64, "r")
    tracemalloc.start()
    text_array("corpus", corpus, minimum=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < corpus.nbytes / 10
    assert NGramModel(2).fit(corpus, 4).prob(1, corpus[:5]) == NGramModel(2).fit([*corpus], 4).prob(1, [0])


def test_settings_of_torch_s_change_nothing():
    expected = NGramModel(2).fit(ABABA, 3).sample(9, [A], seed=0)
    with torch.device("meta"), torch.inference_mode():
        model = NGramModel(2).fit(torch.tensor(ABABA, device="cpu"), 3)
        assert model.sample(9, [A], seed=0) == expected


def test_threads_share_a_model():
    model = NGramModel(3).fit(zipf(500), 60)
    expected = [model.sample(30, seed=seed) for seed in range(20)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda seed: model.sample(30, seed=seed), range(20))) == expected


@pytest.mark.parametrize("order", [2, 30])
def test_a_model_can_be_pickled_and_copied(order):
    model = NGramModel(order, eps=2).fit(zipf(300), 60)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.sample(50, seed=0) == model.sample(50, seed=0)
        assert np.array_equal(other.log_probs(zipf(50)), model.log_probs(zipf(50)))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (NGramModel(2), "<NGramModel(order=2, eps=1.0), not fitted>"),
        (NGramModel(1, [3]), "<NGramModel(order=1, eps=(3.0,)), not fitted>"),
        (
            NGramModel(2, add_k=1).fit(ABABA * 1000, 3),
            "<NGramModel(order=2, add_k=1.0), fitted to 5,000 tokens of 3 types>",
        ),
    ],
)
def test_a_model_prints_as_what_it_is(model, expected):
    assert repr(model) == expected


def test_the_examples_of_the_docstring_are_right():
    assert doctest.testmod(d2lrnn.text.ngrams) == (0, 2)


def test_the_other_recursion_of_the_docstring_sums_to_less():
    unigram = [(n + 1 / 3) / 6 for n in (3, 2, 0)]
    after_a = [(n + p) / (3 + 1) for n, p in zip((0, 2, 0), unigram, strict=True)]
    assert (round(after_a[1], 3), sum(after_a)) == (0.597, pytest.approx(0.75))
    assert round((1 + unigram[1]) / (2 + 1), 3) == 0.463
    assert "0.597" in NGramModel.__doc__
    assert "0.463" in NGramModel.__doc__


def test_perplexity_scores_the_first_token_too():
    model = NGramModel(2).fit(ABABA, 3)
    rest = perplexity(-model.log_probs(ABABA)[1:].sum(), 4)
    assert model.perplexity(ABABA) == pytest.approx((rest**4 / model.prob(A)) ** (1 / 5))


# orders at which no n-gram occurs twice


@law
@given(
    st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=40),
    st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=12),
    st.integers(1, 60),
    st.floats(0, 9),
)
def test_a_high_order_is_what_counting_tuples_gives(corpus, text, order, eps):
    model = NGramModel(order, eps).fit(corpus, SIZE)
    known = NGramModel(order, [eps] * order)
    expected = [reference(corpus, known, token, text[:i]) for i, token in enumerate(text)]
    assert np.exp(model.log_probs(text)).tolist() == pytest.approx(expected, rel=1e-12)


@law
@given(
    st.lists(st.integers(0, 1), min_size=1, max_size=30),
    st.lists(st.integers(0, 1), min_size=1, max_size=12),
    st.integers(1, 15),
)
def test_a_high_order_has_one_probability_for_any_text(corpus, text, order):
    model = NGramModel(order).fit(corpus, 2)
    assert math.log(model.prob(text[-1], text[:-1])) == pytest.approx(model.log_probs(text)[-1])


def test_places_beyond_the_narrowest_type_are_found():
    corpus = np.random.default_rng(0).integers(4, size=120).tolist()
    model, text = NGramModel(100).fit(corpus, 4), corpus[10:] + corpus[:9]
    expected = [math.log(model.prob(token, text[:i])) for i, token in enumerate(text)]
    assert model.log_probs(text).tolist() == pytest.approx(expected)


@law
@given(st.lists(st.integers(0, 1), min_size=1, max_size=30), st.data(), st.integers(1, 40))
def test_a_high_order_has_one_probability_for_a_stretch_of_the_corpus(corpus, data, order):
    model = NGramModel(order).fit(corpus, 2)
    end = data.draw(st.integers(1, len(corpus)))
    start = data.draw(st.integers(0, end - 1))
    token, history = corpus[end - 1], corpus[start : end - 1]
    assert model.prob(token, history) == model.distribution(history)[token]
    assert math.log(model.prob(token, history)) == pytest.approx(model.log_probs(corpus[start:end])[-1])


@law
@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.integers(1, 4))
def test_counts_that_are_all_1_are_in_the_corpus_s_order(corpus, n):
    ngrams, counts = ngram_counts(corpus, n)
    expected = Counter(tuple(corpus[i : i + n]) for i in range(len(corpus) - n + 1)).most_common()
    assert list(zip(map(tuple, ngrams.tolist()), counts.tolist(), strict=True)) == expected


def test_orders_above_the_first_without_a_repeat_keep_no_counts():
    corpus = np.random.default_rng(0).integers(60, size=2000)
    assert len(pickle.dumps(NGramModel(1000).fit(corpus, 60))) < 1.5 * len(
        pickle.dumps(NGramModel(5).fit(corpus, 60))
    )


@pytest.mark.parametrize("order", [10**9, 2**63, 2**70])
def test_an_order_beyond_every_text_costs_nothing(order):
    model = NGramModel(order).fit(ABABA, 3)
    assert model.distribution(ABABA).tolist() == NGramModel(6).fit(ABABA, 3).distribution(ABABA).tolist()
    assert model.perplexity(ABABA) == NGramModel(5).fit(ABABA, 3).perplexity(ABABA)


# counts


@law
@given(st.lists(st.integers(0, 5), min_size=4), st.integers(1, 4))
def test_counts_are_those_of_a_counter(corpus, n):
    ngrams, counts = ngram_counts(corpus, n)
    expected = Counter(tuple(corpus[i : i + n]) for i in range(len(corpus) - n + 1)).most_common()
    assert list(zip(map(tuple, ngrams.tolist()), counts.tolist(), strict=True)) == expected


def test_counts_of_large_sparse_indices():
    assert ngram_counts([10**6, 5, 10**6, 5], 2)[0].tolist() == [[10**6, 5], [5, 10**6]]


@law
@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 6), min_size=4), st.integers(1, 4))
def test_the_unseen_share_counts_places(train, held_out, n):
    seen = {tuple(train[i : i + n]) for i in range(len(train) - n + 1)}
    places = [tuple(held_out[i : i + n]) not in seen for i in range(len(held_out) - n + 1)]
    assert unseen_share(train, held_out, n) == sum(places) / len(places)


# Zipf


@pytest.mark.parametrize("alpha", [0.7, 1.0, 1.3])
def test_the_exponent_of_an_exact_power_law_is_found(alpha):
    counts = 1e6 * np.arange(1, 2001) ** -alpha
    assert zipf_fit(counts) == pytest.approx((alpha, math.log(1e6)), rel=1e-12)


def test_the_fit_is_the_least_squares_line():
    counts = np.sort(np.random.default_rng(0).integers(1, 10_000, 500))[::-1]
    slope, c = np.polyfit(np.log(np.arange(11, 301)), np.log(counts[10:300]), 1)
    assert zipf_fit(counts, 10, 300) == pytest.approx((-slope, c), rel=1e-9)


def test_ranks_up_to_skip_do_not_matter():
    counts = [1e9] * 10 + (1e6 / np.arange(11, 2001)).tolist()
    assert zipf_fit(counts)[0] == pytest.approx(1.0, rel=1e-12)


def test_ranks_after_until_do_not_matter():
    counts = [*(1e6 / np.arange(1, 1001)).tolist(), *[0.1] * 50]
    assert zipf_fit(counts)[0] == pytest.approx(1.0, rel=1e-12)


def test_the_first_rank_after_skip_and_the_last_until_are_used():
    counts = [9.0, 8.0, 4.0, 2.0, 1.0]
    slope, c = np.polyfit(np.log([2, 3, 4]), np.log([8, 4, 2]), 1)
    assert zipf_fit(counts, skip=1, until=4) == pytest.approx((-slope, c), rel=1e-12)


def test_the_order_of_counts_does_not_matter():
    counts = 1e6 / np.arange(1, 101)
    assert zipf_fit(counts[::-1]) == zipf_fit(counts)


def test_fewer_counts_than_until_are_all_used():
    counts = torch.tensor(1e6) / torch.arange(1, 13)
    assert zipf_fit(counts)[0] == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize(("skip", "until"), [(10, 1000), (5, 6), (7, 3), (0, 1)])
def test_fewer_than_two_ranks_are_an_error(skip, until):
    with pytest.raises(ValueError, match=f"skip={skip} and until={until} leave fewer than 2 of 11 counts"):
        zipf_fit(range(1, 12), skip, until)


@pytest.mark.parametrize(
    "counts", [[3, 2, 0], [3, -1, 2], [3, math.inf, 2], [3, math.nan, 2], [[3, 2], [2, 1]]]
)
def test_counts_that_have_no_logarithm_are_an_error(counts):
    with pytest.raises(ValueError, match="counts must be positive"):
        zipf_fit(counts, skip=0)


@pytest.mark.parametrize(
    "counts",
    [["a", "b"], None, [None, 1], ["3", "2"], [True, True], [1j, 2], np.ma.masked_less(np.arange(9.0), 3)],
)
def test_counts_that_are_no_numbers_are_an_error(counts):
    with pytest.raises((TypeError, ValueError), match="counts must"):
        zipf_fit(counts, skip=0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"skip": -1}, ValueError), ({"skip": 1.0}, TypeError), ({"until": 0}, ValueError)],
)
def test_ranks_that_are_no_integers_in_range_are_an_error(arguments, error):
    with pytest.raises(error, match=next(iter(arguments))):
        zipf_fit(range(1, 100), **arguments)


# bad input


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"order": 0}, ValueError, "order must be at least 1, got 0"),
        ({"order": 2.0}, TypeError, "order must be an integer"),
        ({"order": 2, "eps": -1}, ValueError, "eps must be at least 0, got -1"),
        ({"order": 2, "eps": [1, -0.5]}, ValueError, r"eps must be at least 0, got -0\.5"),
        ({"order": 2, "eps": math.nan}, ValueError, "eps must be finite, got nan"),
        ({"order": 1, "eps": "1"}, TypeError, "eps must be a number or a sequence of numbers, got '1' .str."),
        ({"order": 2, "eps": b"\x01\x02"}, TypeError, "eps must be a number or a sequence of numbers, got b"),
        ({"order": 1, "eps": np.array(1.0)}, TypeError, r"eps must be a number, got array\(1.0?\)"),
        ({"order": 1, "eps": np.ma.masked_less([1.0], 2)}, TypeError, "eps must not be a masked array"),
        ({"order": 2, "eps": 10**400}, ValueError, "eps must fit a float, got 1000"),
        ({"order": 2, "eps": -math.inf}, ValueError, "eps must be finite, got -inf"),
        ({"order": 2, "eps": [1, 2, 3]}, ValueError, r"one for each of 2 orders, got \[1, 2, 3\]"),
        ({"order": 2, "eps": None}, TypeError, "eps must be a number, got None"),
        ({"order": 2, "add_k": -1}, ValueError, "add_k must be at least 0, got -1"),
        ({"order": 2, "add_k": math.inf}, ValueError, "add_k must be finite"),
        ({"order": 2, "add_k": "1"}, TypeError, "add_k must be a number"),
        ({"order": 2, "eps": 2, "add_k": 1}, ValueError, "eps or add_k, not both; got eps=2 and add_k=1"),
        ({"order": 2, "eps": [1, 1], "add_k": 1}, ValueError, r"not both; got eps=\[1, 1\] and add_k=1"),
        ({"order": 1, "eps": np.ones(1), "add_k": 1}, ValueError, "not both; got eps=.* and add_k=1"),
    ],
)
def test_a_model_that_cannot_be_is_an_error(arguments, error, message):
    with pytest.raises(error, match=message):
        NGramModel(**arguments)


@pytest.mark.parametrize(
    ("corpus", "vocab_size", "error", "message"),
    [
        ([], 3, ValueError, "corpus must hold at least 1"),
        ([0, 3], 3, ValueError, "corpus must hold token indices below vocab_size=3, got 3"),
        ([0, -1], 3, ValueError, "corpus must hold token indices of at least 0, got -1"),
        ([0, 1.5], 3, TypeError, r"corpus must hold 64-bit integers, got 1\.5"),
        ([0], 0, ValueError, "vocab_size must be at least 1, got 0"),
        ([0], 3.0, TypeError, "vocab_size must be an integer"),
        ([0], 2**62, ValueError, f"vocab_size={2**62} is too large"),
    ],
)
def test_a_corpus_that_cannot_be_counted_is_an_error(corpus, vocab_size, error, message):
    with pytest.raises(error, match=message):
        NGramModel(2).fit(corpus, vocab_size)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.prob(A),
        lambda model: model.distribution(),
        lambda model: model.log_probs([A]),
        lambda model: model.perplexity([A]),
        lambda model: model.sample(0, seed=0),
    ],
)
def test_a_model_without_counts_is_an_error(call):
    with pytest.raises(ValueError, match=r"call fit\(corpus, vocab_size\) first"):
        call(NGramModel(2))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda model: model.prob(3), ValueError, r"token must be in 0\.\.2, got 3"),
        (lambda model: model.prob(-1), ValueError, r"token must be in 0\.\.2, got -1"),
        (lambda model: model.prob("a"), TypeError, "token must be an integer, got 'a'"),
        (lambda model: model.prob(A, [A, 3]), ValueError, "history must .* below vocab_size=3, got 3"),
        (
            lambda model: model.prob(A, iter([A])),
            TypeError,
            "history must be a sequence of integers, got <list",
        ),
        (lambda model: model.prob(A, b"\x00"), TypeError, "history must be a sequence of integers, got b"),
        (
            lambda model: model.prob(A, {A: 1}),
            TypeError,
            "history must be a sequence of integers, got {0: 1}",
        ),
        (lambda model: model.prob(A, [A, 1.0]), TypeError, "history must hold 64-bit integers, got 1.0"),
        (lambda model: model.prob(A, np.array(A)), ValueError, r"history must have one axis, got shape \(\)"),
        (lambda model: model.prob(A, [[A, A]]), ValueError, "history must have one axis"),
        (
            lambda model: model.prob(A, torch.zeros(3, 2, dtype=torch.int64)),
            ValueError,
            r"history must have one axis, got shape \(3, 2\)",
        ),
        (
            lambda model: model.prob(A, np.ma.masked_less(np.array([A]), 1)),
            TypeError,
            "history must not be a masked array",
        ),
        (lambda model: model.prob(A, A), TypeError, "history must be a sequence of integers, got 0"),
        (lambda model: model.distribution([-1]), ValueError, "history must .* at least 0, got -1"),
        (lambda model: model.log_probs([]), ValueError, "corpus must hold at least 1"),
        (lambda model: model.perplexity([5]), ValueError, "corpus must .* below vocab_size=3, got 5"),
        (lambda model: model.sample(-1, seed=0), ValueError, "num_tokens must be at least 0, got -1"),
        (lambda model: model.sample(1, [3], seed=0), ValueError, "history must .* below vocab_size=3, got 3"),
        (lambda model: model.sample(1, seed=-1), ValueError, "seed must be at least 0, got -1"),
        (lambda model: model.sample(1, seed=1.0), TypeError, "seed must be an integer"),
    ],
)
def test_a_question_that_has_no_answer_is_an_error(call, error, message):
    with pytest.raises(error, match=message):
        call(NGramModel(2).fit(ABABA, 3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ngram_counts([1, 2], 3), ValueError, r"corpus must hold at least 3 token\(s\), got 2"),
        (lambda: ngram_counts([1, 2], 0), ValueError, "n must be at least 1, got 0"),
        (lambda: unseen_share([], [1], 1), ValueError, "train must hold at least 1"),
        (lambda: unseen_share([1], [1], 2), ValueError, "held_out must hold at least 2"),
        (lambda: unseen_share([1], [1], 0), ValueError, "n must be at least 1, got 0"),
        (
            lambda: ngram_counts(np.ma.masked_less([1, 2], 2), 1),
            TypeError,
            "corpus must not be a masked array",
        ),
        (lambda: unseen_share(torch.zeros(3), [1], 1), TypeError, "train must hold integers"),
    ],
)
def test_counts_that_cannot_be_made_are_an_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(("largest", "name"), [(0, "int8"), (127, "int8"), (128, "int16"), (2**15, "int32")])
def test_counts_take_the_narrowest_type_that_holds_them(largest, name):
    assert _type(largest) == name


def test_eps_is_one_for_each_order_and_can_be_set():
    model = NGramModel(3, eps=2)
    assert model.eps == (2.0, 2.0, 2.0)
    model.eps = (1, 2, math.inf)
    assert model.eps == (1.0, 2.0, math.inf)
    with pytest.raises(ValueError, match="eps must be one number or one for each of 3 orders"):
        model.eps = (1, 2)


def test_indices_that_need_63_bits_are_counted():
    ngrams, counts = ngram_counts([2**62, 0, 2**62, 0], 2)
    assert ngrams.tolist() == [[2**62, 0], [0, 2**62]]
    assert counts.tolist() == [2, 1]


@pytest.mark.parametrize(("held_out", "share"), [([2**62], 1), ([1, 2**62], 0.5), ([1, 2], 0)])
def test_unseen_indices_may_need_63_bits(held_out, share):
    assert unseen_share([1, 2], held_out, 1) == share


@law
@given(st.lists(st.integers(0, 3), min_size=3), st.lists(st.integers(0, 3), min_size=3), st.integers(1, 3))
def test_the_size_of_the_indices_does_not_change_what_is_counted(train, held_out, n):
    def far(text):
        return [2**61 * token for token in text]

    ngrams, counts = ngram_counts(train, n)
    far_ngrams, far_counts = ngram_counts(far(train), n)
    assert (far_ngrams == 2**61 * ngrams).all()
    assert (far_counts == counts).all()
    assert unseen_share(far(train), far(held_out), n) == unseen_share(train, held_out, n)


def test_a_bool_among_the_tokens_is_refused():
    with pytest.raises(TypeError, match=r"corpus must hold 64-bit integers, got True \(bool\)"):
        ngram_counts([True, 2, 2], 1)


@pytest.mark.parametrize("num_tokens", [10**13, 10**30, 10**5000], ids=["1e13", "1e30", "1e5000"])
def test_too_many_tokens_for_memory_are_refused(num_tokens):
    with pytest.raises(ValueError, match="num_tokens must be so few that they fit in memory"):
        NGramModel(1).fit([0], 1).sample(num_tokens)


def test_a_distribution_too_large_for_memory_is_refused():
    with pytest.raises(ValueError, match="vocab_size must be so few that they fit in memory"):
        NGramModel(1).fit([0], 2**45).distribution()


def test_numbers_too_long_to_write_out_are_written_short():
    with pytest.raises(ValueError, match=r"vocab_size=.* is too large for 1 tokens"):
        NGramModel(1).fit([0], 10**5000)
    with pytest.raises(ValueError, match=r"skip=.* leave fewer than 2 of 3 counts"):
        zipf_fit([3, 2, 1], 10**5000)
    with pytest.raises(ValueError, match=r"one for each of .* orders"):
        NGramModel(10**5000, [1.0])
    assert repr(NGramModel(10**5000)).startswith("<NGramModel(order=")


def test_sampling_looks_up_as_many_histories_as_the_order_for_each_token(monkeypatch):
    text = [i % 7 for i in range(60)]
    model = NGramModel(40).fit(text, 7)
    searches = []
    find = _Level.find_one
    monkeypatch.setattr(_Level, "find_one", lambda *given: searches.append(given) or find(*given))
    model.sample(100, seed=0)
    assert 0 < len(searches) <= 100 * 40


@law
@given(st.lists(st.integers(0, 2), min_size=1, max_size=30), st.integers(1, 9), st.integers(0, 99))
def test_a_sample_is_drawn_from_the_distribution_after_all_before_it(text, order, seed):
    model = NGramModel(order, eps=0.1).fit(text, 3)
    drawn = model.sample(12, text[:2], seed=seed)
    numbers = np.random.default_rng(seed).random(12)
    for i, u in enumerate(numbers):
        upto = np.cumsum(model.distribution(text[:2] + drawn[:i]))
        low = upto[drawn[i] - 1] if drawn[i] else 0.0
        assert low - 1e-9 <= u <= upto[drawn[i]] + 1e-9


@pytest.mark.parametrize("use", ["prob", "distribution", "sample"])
def test_a_sparse_history_is_named(use):
    model, history = NGramModel(2).fit([0, 1, 0], 2), torch.ones(3, dtype=torch.int64).to_sparse()
    calls = {"prob": lambda: model.prob(1, history), "distribution": lambda: model.distribution(history)}
    with pytest.raises(TypeError, match="history must be a dense tensor"):
        calls.get(use, lambda: model.sample(2, history))()


def test_the_bytes_of_a_memoryview_are_no_weights():
    with pytest.raises(TypeError, match="eps must be a number or a sequence of numbers"):
        NGramModel(2, memoryview(b"\x01\x02"))
