"""Count n-grams, and predict tokens from the counts."""

from __future__ import annotations

import functools
import math
import reprlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from d2lrnn import _support
from d2lrnn._support import room_for
from d2lrnn.reproducible import Seed, numpy_generator
from d2lrnn.text._frequencies import ngram_counts, unseen_share, zipf_fit
from d2lrnn.text._ngram_counts import Counts, Followers, text_array
from d2lrnn.text.scoring import perplexity

if TYPE_CHECKING:
    from d2lrnn._support import Tokens

    Floats = NDArray[np.float64]

__all__ = ["NGramModel", "ngram_counts", "unseen_share", "zipf_fit"]


class NGramModel:
    """Predict the next token from the `order` - 1 tokens before it, by smoothed relative frequencies.

    With n(h, x) the number of times that token x follows history h in the corpus, and n(h) their sum over x
    (which leaves out a history at the very end of the corpus, where nothing follows), the model is::

        P(x)     = (n(x) + eps_1 / |V|) / (n + eps_1)
        P(x | h) = (n(h, x) + eps_k P(x | h')) / (n(h) + eps_k)

    where h has k - 1 tokens and h' is h without its first. This is interpolation with a Dirichlet prior:
    eps_k tokens are put in as if observed, distributed as the next lower order says. With eps = 0 these are
    relative frequencies; as eps goes to infinity they become the next lower order's, which eps = inf gives.
    An unseen history has the distribution of h' for every eps, 0 included. With `add_k` = K the model is
    instead::

        P(x | h) = (n(h, x) + K) / (n(h) + K |V|)

    for the longest history at hand, up to `order` - 1 tokens, and uniform after an unseen one, for K = 0 too;
    K = 1 is Laplace smoothing. Either way the probabilities after any history sum to 1 over the vocabulary.

    Parameters
    ----------
    order : int
        Tokens in an n-gram: 1 for a model without a history, 2 for one token of history, and so on.
    eps : float or sequence of float
        How many tokens the next lower order's prediction counts for: at least 0, one number for all orders
        or one for each, lowest first.
    add_k : float, optional
        Number added to every count, at least 0. Not to be combined with `eps`.

    Attributes
    ----------
    vocab_size : int
        The number of tokens, ``|V|``, as `fit` was told; 0 before.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described. Every method but `fit` raises ValueError before `fit`.

    Notes
    -----
    *Dive into Deep Learning* has another recursion, and calls it Laplace smoothing. Its n(h) counts a
    history at the very end of the corpus too, so that its probabilities may sum to less than 1, its trigram
    is drawn toward the unigram, P(x), where this one is drawn toward the bigram, and its vocabulary is that
    of the corpus. In "a b a b a" the last a has no successor. With a third token in the vocabulary of both
    and each eps 1, P(b) = (2 + 1/3) / (5 + 1) = 7/18 = 0.389, and then theirs has::

        P(b | a)   = (2 + 7/18) / (3 + 1) = 0.597    all after a sum to (2 + 1) / (3 + 1) = 0.75
        P(b | b a) = (1 + 7/18) / (2 + 1) = 0.463

    and this one (2 + 7/18) / (2 + 1) and (1 + 0.796) / (1 + 1):

    >>> model = NGramModel(3, eps=1).fit([0, 1, 0, 1, 0], vocab_size=3)
    >>> [round(model.prob(1, history), 3) for history in ([], [0], [1, 0])]
    [0.389, 0.796, 0.898]

    References
    ----------
    - MacKay and Bauman Peto (1995), "A hierarchical Dirichlet language model": the recursion.
    - Chen and Goodman (1999), "An empirical study of smoothing techniques for language modeling".
    - Shannon (1948), "A Mathematical Theory of Communication", section 3: text drawn from n-gram counts.
    - "Language Models", *Dive into Deep Learning*, https://d2l.ai.
    """

    def __init__(self, order: int, eps: float | Sequence[float] = 1.0, *, add_k: float | None = None) -> None:
        self.order = _support.integer("order", order, minimum=1)
        self.eps = eps
        self.add_k = None if add_k is None else _support.real("add_k", add_k, minimum=0)
        if add_k is not None and self._weights != 1.0:
            raise ValueError(f"give eps or add_k, not both; got eps={reprlib.repr(eps)} and add_k={add_k!r}")
        self.vocab_size = 0
        self._counts: Counts | None = None

    @property
    def eps(self) -> tuple[float, ...]:
        """The eps of each order, lowest first; set it to one number for all orders or one for each."""
        return self._weights if isinstance(self._weights, tuple) else (self._weights,) * self.order

    @eps.setter
    def eps(self, eps: float | Sequence[float]) -> None:
        self._weights = _weights(eps, self.order)

    def __repr__(self) -> str:
        smoothing = f"eps={self._weights}" if self.add_k is None else f"add_k={self.add_k}"
        fitted = "not fitted" if self._counts is None else f"fitted to {self._counts.length:,} tokens"
        types = f" of {self.vocab_size:,} types" if self._counts else ""
        return f"<NGramModel(order={_support.short(self.order)}, {smoothing}), {fitted}{types}>"

    def fit(self, corpus: Tokens, vocab_size: int) -> NGramModel:
        """Count the n-grams of the corpus up to the model's order, and return the model.

        The cost is that of one sort of the corpus for each order up to the first at which no n-gram occurs
        twice; higher orders are free.

        Parameters
        ----------
        corpus : sequence of int, array or Tensor of shape (T,)
            Token indices in 0..vocab_size-1, at least one. An array or tensor is only read, a memory map too.
        vocab_size : int
            The number of tokens, ``|V|``, among which the model divides the probability.

        Returns
        -------
        NGramModel
            The model itself.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.
        """
        size = _support.integer("vocab_size", vocab_size, minimum=1)
        tokens = text_array("corpus", corpus, minimum=1, vocab_size=size)
        counts = Counts(tokens, size, self.order)
        self.vocab_size, self._counts = size, counts
        return self

    def prob(self, token: int, history: Tokens = ()) -> float:
        """Return the probability of one token after a history.

        Parameters
        ----------
        token : int
            Token index in 0..vocab_size-1.
        history : sequence of int, array or Tensor of shape (n,)
            The tokens before it, oldest first, of which the last `order` - 1 count, and no others are looked
            at. With fewer, the probability is that of the order they suffice for.

        Returns
        -------
        float
            In 0..1.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.
        """
        self._fitted()
        last = _support.index("token", token, self.vocab_size)
        p = 1 / self.vocab_size
        for eps, followers in self._after(history):
            p = (followers.count(last) + eps * p) / (followers.total + eps)
        return p

    def distribution(self, history: Tokens = ()) -> Floats:
        """Return the probability of every token after a history.

        Parameters
        ----------
        history : sequence of int, array or Tensor of shape (n,)
            As for `prob`.

        Returns
        -------
        float64 array of shape (vocab_size,)

        Raises
        ------
        TypeError, ValueError
            If `history` is not as described, or memory has no room for `vocab_size` numbers.
        """
        self._fitted()
        room_for("vocab_size", self.vocab_size)
        p = np.full(self.vocab_size, 1 / self.vocab_size)
        for eps, followers in self._after(history):
            p = (followers.counts(self.vocab_size) + eps * p) / (followers.total + eps)
        return p

    def log_probs(self, corpus: Tokens) -> Floats:
        """Return the natural logarithm of each token's probability after those before it.

        The first tokens are scored with the shorter history that there is.

        Parameters
        ----------
        corpus : sequence of int, array or Tensor of shape (T,)
            Token indices in 0..vocab_size-1, at least one.

        Returns
        -------
        float64 array of shape (T,)
            A token of probability 0 has minus infinity.

        Raises
        ------
        TypeError, ValueError
            If `corpus` is not as described.
        """
        counts = self._fitted()
        text = text_array("corpus", corpus, minimum=1, vocab_size=self.vocab_size)
        p = np.full(len(text), 1 / self.vocab_size)
        for k, (n_h, n_hx) in enumerate(counts.lookup(text), start=1):
            p[k - 1 :] = self._smooth(k, n_h, n_hx, p[k - 1 :])  # the k-th token and later ones
        with np.errstate(divide="ignore"):
            scores: Floats = np.log(p)
        return scores

    def perplexity(self, corpus: Tokens) -> float:
        """Return the inverse geometric mean of the probabilities that `log_probs` is about.

        The first token counts too, by its probability after no history. `evaluate` leaves it out, as a
        network has to read a token before it predicts one. For a number to set beside that, leave it out
        here: ``perplexity(-model.log_probs(corpus)[1:].sum(), len(corpus) - 1)``, with `d2lrnn.perplexity`.

        Parameters
        ----------
        corpus : sequence of int, array or Tensor of shape (T,)
            As for `log_probs`.

        Returns
        -------
        float
            At least 1; infinite if a token has probability 0.

        Raises
        ------
        TypeError, ValueError
            If `corpus` is not as described.
        """
        scores = self.log_probs(corpus)
        return perplexity(-float(scores.sum()), len(scores))

    def sample(self, num_tokens: int, history: Tokens = (), seed: Seed = None) -> list[int]:
        """Return `num_tokens` tokens, each drawn from the distribution after those before it.

        A token costs a few searches for each order up to the longest history that occurs, however many tokens
        the vocabulary has.

        Parameters
        ----------
        num_tokens : int
            How many tokens to draw, at least 0.
        history : sequence of int, array or Tensor of shape (n,)
            Tokens that come before the first one drawn, as for `prob`; they are not returned.
        seed : int, torch.Generator or None
            The same int gives the same tokens. From a generator one number is drawn. None draws from fresh
            entropy. Global random state is left alone.

        Returns
        -------
        list of int

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.
        """
        counts = self._fitted()
        count = _support.integer("num_tokens", num_tokens, minimum=0)
        room_for("num_tokens", count)
        tokens = self._history(history)
        start, ranks = len(tokens), counts.suffixes(tokens)
        for u in numpy_generator(seed).random(count).tolist():
            mixture = self._mixture(counts, tokens, ranks)
            parts = [(followers.count_to, eps, followers.total + eps) for eps, followers in mixture]
            cumulative = functools.partial(self._prob_to, parts)
            total = cumulative(self.vocab_size - 1)  # 1, but for rounding
            token = bisect_right(range(self.vocab_size), u * total, key=cumulative)  # its inverse at u
            tokens.append(token)
            ranks = counts.extended(ranks, token)
        return tokens[start:]

    def _fitted(self) -> Counts:
        if self._counts is None:
            raise ValueError("the model has no counts yet: call fit(corpus, vocab_size) first")
        return self._counts

    def _history(self, history: Tokens) -> list[int]:
        """Return the part of a history that counts."""
        last = _support.tail("history", history, self.order - 1)
        tokens: list[int] = _support.token_ids(
            "history", last, minimum=0, vocab_size=self.vocab_size
        ).tolist()
        return tokens

    def _after(self, history: Tokens) -> list[tuple[float, Followers]]:
        """Return what counts after a history that a caller gives."""
        counts, tokens = self._fitted(), self._history(history)
        return self._mixture(counts, tokens, counts.suffixes(tokens))

    def _mixture(self, counts: Counts, history: list[int], ranks: list[int]) -> list[tuple[float, Followers]]:
        """Return what counts after a history, the lowest order first: each eps, and the tokens that follow.

        Each order's probabilities are (count + eps * those of the order before) / (total + eps).
        """
        orders = counts.after(history, ranks)
        if self.add_k is not None:  # K for each token is K |V| for the uniform distribution
            seen = len(orders) == min(len(history), self.order - 1) + 1
            pairs = [(self.add_k * self.vocab_size, orders[-1])] if seen else []
        else:
            pairs = [(self._eps(k), followers) for k, followers in enumerate(orders, start=1)]
        return [(eps, followers) for eps, followers in pairs if followers.total and eps < math.inf]

    def _prob_to(self, parts: Sequence[tuple[Callable[[int], int], float, float]], token: int) -> float:
        """Return the probability of the tokens up to this index together."""
        p = (token + 1) / self.vocab_size
        for count_to, eps, whole in parts:
            p = (count_to(token) + eps * p) / whole
        return p

    def _eps(self, k: int) -> float:
        """Return the eps of order k."""
        return self._weights[k - 1] if isinstance(self._weights, tuple) else self._weights

    def _smooth(self, k: int, n_h: Floats, n_hx: Floats, lower: Floats) -> Floats:
        """Return probabilities of order k from the counts and the probabilities of the order below."""
        eps = self._eps(k)
        if self.add_k is not None:
            eps, lower = self.add_k * self.vocab_size, np.full_like(lower, 1 / self.vocab_size)
        if eps == math.inf:
            return lower
        p = lower.copy()
        return np.divide(n_hx + eps * lower, n_h + eps, out=p, where=n_h > 0)


def _weights(eps: object, order: int) -> float | tuple[float, ...]:
    """Return one eps for all orders, or one for each."""
    if isinstance(eps, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"eps must be a number or a sequence of numbers, got {eps!r} ({type(eps).__name__})")
    if not isinstance(eps, (Sequence, np.ndarray)) or np.ndim(eps) == 0:
        return _weight(eps)
    if len(_support.unmasked("eps", eps)) != order:
        raise ValueError(
            f"eps must be one number or one for each of {_support.short(order)} orders, "
            f"got {reprlib.repr(eps)}"
        )
    return tuple(map(_weight, eps))


def _weight(eps: object) -> float:
    return math.inf if isinstance(eps, Real) and eps == math.inf else _support.real("eps", eps, minimum=0)
