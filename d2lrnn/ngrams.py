"""Count n-grams, and predict tokens from the counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from d2lrnn import _checks
from d2lrnn._ngram_counts import Counts
from d2lrnn.scoring import perplexity

if TYPE_CHECKING:
    from torch import Tensor

    from d2lrnn._checks import Tokens

    Floats = NDArray[np.float64]


class NGramModel:
    """Predict the next token from the `order` - 1 tokens before it, by smoothed relative frequencies.

    With n(h, x) the number of times that token x follows history h in the corpus, and n(h) their sum over x
    (which leaves out a history at the very end of the corpus, where nothing follows), the model is::

        P(x)     = (n(x) + eps_1 / |V|) / (n + eps_1)
        P(x | h) = (n(h, x) + eps_k P(x | h')) / (n(h) + eps_k)

    where h has k - 1 tokens and h' is h without its first. With eps = 0 these are relative frequencies; as
    eps goes to infinity they become the next lower order's, which eps = inf gives. An unseen history has the
    distribution of h' for every eps, 0 included. With `add_k` = K the model is instead::

        P(x | h) = (n(h, x) + K) / (n(h) + K |V|)

    for the longest history at hand, up to `order` - 1 tokens, and uniform after an unseen one, for K = 0 too.
    Either way the probabilities after any history sum to 1 over the vocabulary.

    Parameters
    ----------
    order : int
        Tokens in an n-gram: 1 for a model without a history, 2 for one token of history, and so on.
    eps : float or sequence of float
        How many tokens the next lower order's prediction counts for: at least 0, one number for all orders
        or one for each, lowest first.
    add_k : float, optional
        Number added to every count, at least 0. Not to be combined with `eps`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. Every method but `fit` raises ValueError before `fit`.

    References
    ----------
    C. E. Shannon, "A Mathematical Theory of Communication", 1948, section 3: text drawn from n-gram counts.
    "Language Models", *Dive into Deep Learning*, https://d2l.ai: the recursion, as Laplace smoothing.
    S. F. Chen and J. Goodman, "An empirical study of smoothing techniques for language modeling", 1999.
    """

    def __init__(self, order: int, eps: float | Sequence[float] = 1.0, *, add_k: float | None = None) -> None:
        self.order = _checks.integer("order", order, minimum=1)
        weights = tuple(eps) if isinstance(eps, (Sequence, np.ndarray)) else (eps,) * self.order
        if len(weights) != self.order:
            raise ValueError(f"eps must be one number or one for each of {self.order} orders, got {eps!r}")
        self.eps = tuple(w if w == math.inf else _checks.real("eps", w, minimum=0) for w in weights)
        self.add_k = None if add_k is None else _checks.real("add_k", add_k, minimum=0)
        if add_k is not None and (isinstance(eps, (Sequence, np.ndarray)) or eps != 1.0):
            raise ValueError(f"give eps or add_k, not both; got eps={eps!r} and add_k={add_k!r}")
        self.vocab_size = 0
        self._counts: Counts | None = None

    def fit(self, corpus: Tokens, vocab_size: int) -> NGramModel:
        """Count the n-grams of the corpus up to the model's order, and return the model.

        Parameters
        ----------
        corpus : sequence of int or Tensor of shape (T,)
            Token indices in 0..vocab_size-1, at least one.
        vocab_size : int
            |V|, the number of tokens among which the model divides the probability.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.
        """
        size = _checks.integer("vocab_size", vocab_size, minimum=1)
        tokens = _array("corpus", corpus, minimum=1, vocab_size=size)
        self.vocab_size, self._counts = size, Counts(tokens, size, self.order)
        return self

    def prob(self, token: int, history: Tokens = ()) -> float:
        """Return the probability of one token after a history.

        Parameters
        ----------
        token : int
            Token index in 0..vocab_size-1.
        history : sequence of int or Tensor of shape (n,)
            The tokens before it, oldest first, of which the last `order` - 1 count. With fewer, the
            probability is that of the order they suffice for.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.
        """
        last = self._tokens("token", [_checks.integer("token", token)])
        return float(self._probs(np.append(self._history(history), last))[-1])

    def distribution(self, history: Tokens = ()) -> Floats:
        """Return the probability of every token after a history, as an array of shape (|V|,).

        Parameters
        ----------
        history : sequence of int or Tensor of shape (n,)
            As for `prob`.

        Raises
        ------
        TypeError, ValueError
            If `history` is not as described.
        """
        return self._distribution(self._history(history))

    def log_probs(self, corpus: Tokens) -> Floats:
        """Return the natural logarithm of each token's probability after those before it, of shape (T,).

        The first tokens are scored with the shorter history that there is; a token of probability 0 has
        minus infinity.

        Parameters
        ----------
        corpus : sequence of int or Tensor of shape (T,)
            Token indices in 0..vocab_size-1, at least one.

        Raises
        ------
        TypeError, ValueError
            If `corpus` is not as described.
        """
        with np.errstate(divide="ignore"):
            return np.log(self._probs(self._tokens("corpus", corpus, minimum=1)))

    def perplexity(self, corpus: Tokens) -> float:
        """Return the inverse geometric mean of the probabilities that `log_probs` is about.

        Parameters
        ----------
        corpus : sequence of int or Tensor of shape (T,)
            As for `log_probs`.

        Raises
        ------
        TypeError, ValueError
            If `corpus` is not as described.
        """
        scores = self.log_probs(corpus)
        return perplexity(-float(scores.sum()), len(scores))

    def sample(self, num_tokens: int, history: Tokens = (), seed: int | None = 0) -> list[int]:
        """Return `num_tokens` tokens, each drawn from the distribution after those before it.

        Parameters
        ----------
        num_tokens : int
            How many tokens to draw, at least 0.
        history : sequence of int or Tensor of shape (n,)
            Tokens that come before the first one drawn; they are not returned.
        seed : int, optional
            The same seed gives the same tokens. None draws from fresh entropy. Global random state is
            neither read nor written.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.
        """
        count = _checks.integer("num_tokens", num_tokens, minimum=0)
        generator = np.random.default_rng(None if seed is None else _checks.integer("seed", seed, minimum=0))
        tokens: list[int] = self._history(history).tolist()
        start = len(tokens)
        for u in generator.random(count):  # the inverse of the cumulative distribution at u
            seen = np.array(tokens[max(len(tokens) - self.order + 1, 0) :], np.int64)
            cumulative = self._distribution(seen).cumsum()
            tokens.append(int(np.searchsorted(cumulative, u * cumulative[-1], side="right")))
        return tokens[start:]

    def _tokens(self, name: str, value: object, minimum: int = 0) -> NDArray[np.int64]:
        if self._counts is None:
            raise ValueError("the model has no counts yet: call fit(corpus, vocab_size) first")
        return _array(name, value, minimum=minimum, vocab_size=self.vocab_size)

    def _history(self, history: object) -> NDArray[np.int64]:
        """Return the part of a history that counts."""
        tokens = self._tokens("history", history)
        return tokens[max(len(tokens) - self.order + 1, 0) :]

    def _distribution(self, history: NDArray[np.int64]) -> Floats:
        every = np.arange(self.vocab_size)[:, None]
        texts = np.hstack([np.broadcast_to(history, (self.vocab_size, len(history))), every])
        return self._probs(texts)[:, -1]

    def _probs(self, text: NDArray[np.int64]) -> Floats:
        """Return each token's probability after those before it on the last axis."""
        assert self._counts is not None
        p = np.full(text.shape, 1 / self.vocab_size)
        for k, (n_h, n_hx) in enumerate(self._counts.lookup(text), start=1):
            p[..., k - 1 :] = self._smooth(k, n_h, n_hx, p[..., k - 1 :])  # the k-th token and later ones
        return p

    def _smooth(self, k: int, n_h: Floats, n_hx: Floats, lower: Floats) -> Floats:
        """Return probabilities of order k from the counts and the probabilities of the order below."""
        eps = self.eps[k - 1]
        if self.add_k is not None:  # K for each token is K |V| for the uniform distribution
            eps, lower = self.add_k * self.vocab_size, np.full_like(lower, 1 / self.vocab_size)
        if eps == math.inf:
            return lower
        p = lower.copy()
        return np.divide(n_hx + eps * lower, n_h + eps, out=p, where=n_h > 0)


def ngram_counts(corpus: Tokens, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct n-grams of a corpus and how often each occurs, most frequent first.

    Parameters
    ----------
    corpus : sequence of int or Tensor of shape (T,)
        Token indices, at least n.
    n : int
        Tokens in an n-gram.

    Returns
    -------
    ngrams : int64 array of shape (distinct, n)
    counts : int64 array of shape (distinct,)
        Ties are in the order in which the corpus first has them.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    size = _checks.integer("n", n, minimum=1)
    tokens = _array("corpus", corpus, minimum=size)
    *_, (_, ranks) = Counts(tokens, int(tokens.max()) + 1, size).ranks(tokens)
    _, firsts, counts = np.unique(ranks, return_index=True, return_counts=True)
    order = np.lexsort((firsts, -counts))
    return tokens[firsts[order, None] + np.arange(size)], counts[order]


def unseen_share(train: Tokens, held_out: Tokens, n: int) -> float:
    """Return the share of the n-grams of `held_out` that do not occur in `train`.

    An n-gram counts as often as it occurs in `held_out`: it is the share of the places at which relative
    frequencies fail.

    Parameters
    ----------
    train, held_out : sequence of int or Tensor of shape (T,)
        Token indices; at least one in `train` and at least n in `held_out`.
    n : int
        Tokens in an n-gram.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    size = _checks.integer("n", n, minimum=1)
    seen = _array("train", train, minimum=1)
    tokens = _array("held_out", held_out, minimum=size)
    *_, (_, occurrences) = Counts(seen, int(max(seen.max(), tokens.max())) + 1, size).lookup(tokens)
    return float(np.mean(occurrences == 0))


def zipf_fit(
    counts: Sequence[float] | Floats | Tensor, skip: int = 10, until: int = 1000
) -> tuple[float, float]:
    """Fit Zipf's law, log n_i = -alpha log i + c, to the count n_i of the i-th most frequent n-gram.

    The fit is by least squares, with natural logarithms, over the ranks i = skip + 1, ..., until, or to the
    last rank if there are fewer. (Ranks 10 to 1,000 are skip=9, until=1000.)

    Parameters
    ----------
    counts : sequence, array or Tensor of shape (distinct,)
        Positive counts in any order.
    skip : int
        How many of the most frequent to leave out, at least 0.
    until : int
        The last rank to use, counted from 1.

    Returns
    -------
    alpha, c : float

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or fewer than two ranks are left.

    References
    ----------
    G. K. Zipf, *Human Behavior and the Principle of Least Effort*, 1949.
    """
    first = _checks.integer("skip", skip, minimum=0)
    last = _checks.integer("until", until, minimum=1)
    try:
        n = np.sort(np.asarray(counts, dtype=np.float64))[::-1]
    except (TypeError, ValueError):
        raise TypeError(f"counts must hold numbers, got {counts!r}") from None
    if n.ndim != 1 or not np.all((n > 0) & np.isfinite(n)):
        raise ValueError(f"counts must be positive numbers along one axis, got {counts!r}")
    y = np.log(n[first:last])
    if len(y) < 2:
        raise ValueError(f"skip={skip} and until={until} leave fewer than 2 of {len(n)} counts to fit")
    x = np.log(np.arange(first + 1, first + len(y) + 1))
    alpha = -np.dot(x - x.mean(), y) / np.dot(x - x.mean(), x - x.mean())
    return float(alpha), float(y.mean() + alpha * x.mean())


def _array(name: str, value: object, *, minimum: int, vocab_size: int | None = None) -> NDArray[np.int64]:
    tokens = _checks.corpus(name, value, minimum=minimum, vocab_size=vocab_size)
    array: NDArray[np.int64] = tokens.cpu().numpy()
    return array
