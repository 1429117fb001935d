"""Claims about n-gram models asked one question at a time, and about windows that are taken by the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from nltk.lm import Laplace, Vocabulary
from nltk.util import everygrams
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from benchmarks.claims import Claim, ratio
from d2lrnn.text.batching import WindowDataset
from d2lrnn.text.ngrams import NGramModel

VOCAB_SIZE = 20_000
ORDER = 3


def claims() -> Iterator[Claim]:
    """Measure each claim, on independent tokens of Zipf's law."""
    weights = 1 / np.arange(1, VOCAB_SIZE + 1)
    corpus = np.random.default_rng(0).choice(VOCAB_SIZE, 200_000, p=weights / weights.sum()).tolist()
    yield sampling(corpus)
    yield long_history(corpus)
    yield against_nltk(corpus)
    yield windows()


class Tables:
    """The smoothed model with every eps 1, which looks up each token of the vocabulary to predict one."""

    def __init__(self, corpus: list[int]) -> None:
        self.counts = []
        keys = np.zeros(len(corpus) + 1, np.int64)
        for k in range(ORDER):
            keys = keys[:-1] * VOCAB_SIZE + corpus[k:]  # an n-gram as one number
            self.counts.append(np.unique(keys, return_counts=True))

    def distribution(self, text: list[int]) -> NDArray[np.float64]:
        """Return the probability of each token after a text of at least `ORDER` - 1 tokens."""
        p = np.full(VOCAB_SIZE, 1 / VOCAB_SIZE)
        for k, (keys, counts) in enumerate(self.counts):
            wanted = np.arange(VOCAB_SIZE)
            for i in range(1, k + 1):
                wanted += text[-i] * VOCAB_SIZE**i
            places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            n = np.where(keys[places] == wanted, counts[places], 0)
            p = (n + p) / (n.sum() + 1)
        return p

    def sample(self, num_tokens: int, history: list[int], seed: int) -> list[int]:
        """Draw tokens, each by the cumulative distribution."""
        text = list(history)
        for u in np.random.default_rng(seed).random(num_tokens):
            cumulative = self.distribution(text).cumsum()
            text.append(int(np.searchsorted(cumulative, u * cumulative[-1], side="right")))
        return text[len(history) :]


def sampling(corpus: list[int]) -> Claim:
    """Compare samples with those from a table of the vocabulary for each token; they are the same."""
    tables, model = Tables(corpus), NGramModel(ORDER, eps=1).fit(corpus, VOCAB_SIZE)
    history = corpus[:2]
    assert tables.sample(100, history, seed=0) == model.sample(100, history, seed=0)
    figure = ratio(
        lambda: tables.sample(100, history, seed=0), lambda: model.sample(100, history, seed=0), repeats=7
    )
    what = f"sample of order {ORDER} from {VOCAB_SIZE:,} types"
    return Claim(f"{what}, times as fast as with a table for each token", figure, at_least=20)


def long_history(corpus: list[int]) -> Claim:
    """Compare the probability after a long history with that after a short one."""
    model = NGramModel(ORDER).fit(corpus, VOCAB_SIZE)
    figure = ratio(asked(model, corpus * 5), asked(model, corpus[-10:]), repeats=15)
    return Claim("prob after 1,000,000 tokens, times as long as after 10", figure, at_most=2)


def asked(model: NGramModel, history: list[int]) -> Callable[[], object]:
    """Return a run that asks for probabilities after a history."""
    return lambda: [model.prob(token, history) for token in range(500)]


def against_nltk(corpus: list[int]) -> Claim:
    """Compare single probabilities with those of nltk, whose n-grams are in dictionaries."""
    train = [str(token) for token in corpus[:50_000]]
    theirs = Laplace(ORDER, vocabulary=Vocabulary([str(token) for token in range(VOCAB_SIZE - 1)]))
    theirs.fit([everygrams(train, max_len=ORDER)])
    model = NGramModel(ORDER, add_k=1).fit(corpus[:50_000], VOCAB_SIZE)
    figure = ratio(
        lambda: [theirs.score(str(token), train[:2]) for token in range(500)],
        asked(model, corpus[:2]),
        repeats=15,
    )
    return Claim("prob, one by one, times as fast as nltk's score", figure, at_least=0.1)


class OneByOne(Dataset[tuple[Tensor, Tensor]]):
    """The same windows, without a way to take several."""

    def __init__(self, windows: WindowDataset) -> None:
        self.windows = windows

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.windows[index]


def windows() -> Claim:
    """Compare a DataLoader's pass over windows with one that takes them one by one."""
    dataset = WindowDataset(torch.arange(20_000) % 28, 35)

    def run(items: Dataset[tuple[Tensor, Tensor]]) -> Callable[[], object]:
        loader = DataLoader(items, 32, shuffle=True)
        return lambda: sum(1 for _ in loader)

    figure = ratio(run(OneByOne(dataset)), run(dataset), repeats=7)
    return Claim("WindowDataset in a DataLoader, times as fast as item by item", figure, at_least=1.25)
