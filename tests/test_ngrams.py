"""The n-gram model against hand-computed values, a slow reference and nltk; counts and Zipf's law."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.lm import KneserNeyInterpolated, Laplace, Vocabulary
from nltk.util import everygrams

from d2lrnn._ngram_counts import _type
from d2lrnn.ngrams import NGramModel, ngram_counts, unseen_share, zipf_fit
from d2lrnn.text import load_corpus

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


def test_sampled_tokens_follow_their_distribution():
    model = NGramModel(2).fit(zipf(2000), 60)
    text = model.sample(20_000, seed=1)
    after_0 = np.bincount([b for a, b in pairwise(text) if a == 0], minlength=60)
    assert np.abs(after_0 / after_0.sum() - model.distribution([0])).max() < 0.02


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
    assert NGramModel(1, eps=0).fit([1, 2], 3).sample(1) == [1]


@law
@given(models(), histories, st.integers(0, 20))
def test_as_many_tokens_are_drawn_as_asked_for(case, history, num_tokens):
    assert len(case[1].sample(num_tokens, history)) == num_tokens


def test_the_history_decides_the_first_token():
    assert NGramModel(2, eps=0).fit(ABABA, 3).sample(4, [A]) == [B, A, B, A]


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
    assert model.sample(50)[:20] == model.sample(20)


def test_sampled_tokens_are_ints():
    assert {type(token) for token in NGramModel(1).fit(ABABA, 3).sample(5)} == {int}


def test_sampling_leaves_global_random_state_alone():
    def state():
        return repr((random.getstate(), torch.get_rng_state().tolist(), np.random.get_state()))  # noqa: NPY002

    before = state()
    NGramModel(2).fit(ABABA, 3).sample(10)
    assert state() == before


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


@pytest.mark.parametrize(("skip", "until"), [(10, 1000), (5, 6), (7, 3)])
def test_fewer_than_two_ranks_are_an_error(skip, until):
    with pytest.raises(ValueError, match=f"skip={skip} and until={until} leave fewer than 2 of 11 counts"):
        zipf_fit(range(1, 12), skip, until)


@pytest.mark.parametrize(
    "counts", [[3, 2, 0], [3, -1, 2], [3, math.inf, 2], [3, math.nan, 2], [[3, 2], [2, 1]]]
)
def test_counts_that_have_no_logarithm_are_an_error(counts):
    with pytest.raises(ValueError, match="counts must be positive"):
        zipf_fit(counts, skip=0)


@pytest.mark.parametrize("counts", [["a", "b"], None, [None, 1]])
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
        ({"order": 2, "eps": "1"}, ValueError, "eps must be one number or one for each of 2 orders, got '1'"),
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
        lambda model: model.sample(0),
    ],
)
def test_a_model_without_counts_is_an_error(call):
    with pytest.raises(ValueError, match=r"call fit\(corpus, vocab_size\) first"):
        call(NGramModel(2))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda model: model.prob(3), ValueError, "token must .* below vocab_size=3, got 3"),
        (lambda model: model.prob(-1), ValueError, "token must .* at least 0, got -1"),
        (lambda model: model.prob("a"), TypeError, "token must be an integer, got 'a'"),
        (lambda model: model.prob(A, [3, A]), ValueError, "history must .* below vocab_size=3, got 3"),
        (lambda model: model.prob(A, A), TypeError, "history must be a sequence of integers, got 0"),
        (lambda model: model.distribution([-1]), ValueError, "history must .* at least 0, got -1"),
        (lambda model: model.log_probs([]), ValueError, "corpus must hold at least 1"),
        (lambda model: model.perplexity([5]), ValueError, "corpus must .* below vocab_size=3, got 5"),
        (lambda model: model.sample(-1), ValueError, "num_tokens must be at least 0, got -1"),
        (lambda model: model.sample(1, [3]), ValueError, "history must .* below vocab_size=3, got 3"),
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
    ],
)
def test_counts_that_cannot_be_made_are_an_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(("largest", "name"), [(0, "int8"), (127, "int8"), (128, "int16"), (2**15, "int32")])
def test_counts_take_the_narrowest_type_that_holds_them(largest, name):
    assert _type(largest) == name
