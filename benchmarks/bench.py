"""Measure what the package claims of its speed and memory: one line per claim, exit status 1 if one fails.

Two programs that are compared take turns, and the figure is the median of the ratios of their times, so that
a machine that slows down for a while slows both. Run it from the repository's root with
`python -m benchmarks.bench`; set D2LRNN_DATA to the folder of timemachine.txt to measure on that text.
"""

from __future__ import annotations

import os
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from nltk.lm import Laplace, Vocabulary
from nltk.util import everygrams

from benchmarks import bptt, counts, rnn, text, textbook
from benchmarks.claims import Claim, ratio
from d2lrnn.text.batching import random_batches, sequential_batches
from d2lrnn.text.corpora import load_corpus
from d2lrnn.text.ngrams import NGramModel, ngram_counts

ORDERS = (1, 2, 3)


@dataclass(frozen=True)
class Text:
    """A text as token indices; its last tenth is held out."""

    name: str
    train: list[int]
    held_out: list[int]
    vocab_size: int


def main() -> int:
    """Print every claim as soon as it is measured, and return the exit status."""
    measured = texts()
    failed = 0
    for claim in chain(
        *map(against_nltk, measured),
        *map(memory, measured),
        linear_cost(),
        batching(),
        counts.claims(),
        text.claims(),
        bptt.claims(),
        rnn.claims(),
    ):
        print(claim, flush=True)
        failed += not claim.holds
    print(f"{failed} of the claims failed" if failed else "all claims hold")
    return min(failed, 1)


def texts() -> list[Text]:
    """Return The Time Machine by characters and by words, or random tokens if its file is not there."""
    if Path(os.environ.get("D2LRNN_DATA", ""), "timemachine.txt").is_file():
        loaded = {unit: load_corpus("time_machine", unit) for unit in ("char", "word")}
        return [split(f"The Time Machine, {unit}s", *loaded[unit]) for unit in loaded]
    print("$D2LRNN_DATA has no timemachine.txt: independent tokens of Zipf's law instead")
    return [
        split("like characters", zipf(170_580, 28), range(28)),
        split("like words", zipf(32_775, 4_580), range(4_580)),
    ]


def split(name: str, corpus: list[int], vocab: Sized) -> Text:
    """Hold out the last tenth."""
    cut = len(corpus) - round(len(corpus) / 10)
    return Text(f"{name} ({len(corpus):,} tokens)", corpus[:cut], corpus[cut:], len(vocab))


def zipf(length: int, vocab_size: int) -> list[int]:
    """Return independent tokens of which the i-th most frequent has a probability proportional to 1 / i."""
    weights = 1 / np.arange(1, vocab_size + 1)
    return np.random.default_rng(0).choice(vocab_size, length, p=weights / weights.sum()).tolist()


def against_nltk(measured: Text) -> Iterator[Claim]:
    """Compare fitting and scoring add-one models of orders 1 to 3 with nltk's."""
    train, held_out = ([str(token) for token in tokens] for tokens in (measured.train, measured.held_out))
    known = [str(token) for token in range(measured.vocab_size - 1)]
    vocabulary = Vocabulary(known)  # which adds one token, for all others
    assert len(vocabulary) == measured.vocab_size

    def nltk() -> list[float]:
        perplexities = []
        for order in ORDERS:
            model = Laplace(order, vocabulary=vocabulary)
            model.fit([everygrams(train, max_len=order)])
            ends = range(1, len(held_out) + 1)
            perplexities.append(model.perplexity([tuple(held_out[max(i - order, 0) : i]) for i in ends]))
        return perplexities

    def ours() -> list[float]:
        return [
            NGramModel(order, add_k=1).fit(measured.train, measured.vocab_size).perplexity(measured.held_out)
            for order in ORDERS
        ]

    what = f"{measured.name}: fit orders 1 to 3 and score the last tenth"
    yield Claim(f"{what}, times as fast as nltk's Laplace", ratio(nltk, ours, repeats=3), at_least=20)
    difference = np.max(np.abs(np.array(ours()) / nltk() - 1))
    yield Claim(f"{what}, largest relative difference of perplexity", difference, at_most=1e-9)


def memory(measured: Text) -> Iterator[Claim]:
    """Compare the peak of memory, the corpus included, with two corpora and a key and a count per n-gram."""
    train, held_out = np.array(measured.train), np.array(measured.held_out)
    assert train.dtype == np.int64
    distinct = sum(len(ngram_counts(train, order)[1]) for order in ORDERS)
    tracemalloc.start()
    for order in ORDERS:
        NGramModel(order).fit(train, measured.vocab_size).perplexity(held_out)
    peak = train.nbytes + tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bound = 2 * train.nbytes + 16 * distinct
    what = f"{measured.name}: peak memory of that work and the corpus, {peak / 1e6:.2f} MB"
    yield Claim(
        f"{what}, as a share of 2 int64 corpora and 16 bytes per distinct n-gram", peak / bound, at_most=1
    )


def linear_cost() -> Iterator[Claim]:
    """Compare the time per token of corpora of 1, 4 and 16 times the length."""
    unit = 100_000
    vocab_size = 5_000
    corpus = np.array(zipf(16 * unit, vocab_size))

    def work(length: int) -> Callable[[], object]:
        train, held_out = corpus[: length * 9 // 10], corpus[length * 9 // 10 : length]
        return lambda: [NGramModel(n).fit(train, vocab_size).perplexity(held_out) for n in ORDERS]

    for times in (4, 16):
        figure = ratio(work(times * unit), work(unit), repeats=7) / times
        what = f"fit and score {times} x {unit:,} tokens: time per token relative to that of {unit:,}"
        yield Claim(what, figure, at_most=1.5)


def batching() -> Iterator[Claim]:
    """Compare a pass over a million tokens with the textbooks' iterators."""
    batch_size, num_steps = 32, 35
    corpus = np.random.default_rng(0).integers(28, size=1_000_000).tolist()
    tensor = torch.tensor(corpus)
    for name, theirs, ours in (
        (
            "random_batches",
            lambda: exhaust(textbook.random_batches(corpus, batch_size, num_steps)),
            lambda: exhaust(random_batches(tensor, batch_size, num_steps)),
        ),
        (
            "sequential_batches",
            lambda: exhaust(textbook.sequential_batches(corpus, batch_size, num_steps)),
            lambda: exhaust(sequential_batches(tensor, batch_size, num_steps)),
        ),
    ):
        what = f"{name}: a pass over 1,000,000 tokens in batches of {batch_size} by {num_steps}"
        yield Claim(f"{what}, times as fast as lists", ratio(theirs, ours, repeats=7), at_least=10)


def exhaust(items: Iterable[object]) -> None:
    """Go through all items."""
    for _ in items:
        pass


if __name__ == "__main__":
    sys.exit(main())
