"""How well a language model predicts, in one number."""

from __future__ import annotations

import math
from numbers import Real

from torch import Tensor

from d2lrnn import _support


def perplexity(total_nll: float | Tensor, num_tokens: int) -> float:
    """Return the perplexity of `num_tokens` tokens whose negative log-likelihoods sum to `total_nll`.

    It is the exponential of the mean negative log-likelihood per token, which is the inverse of the
    geometric mean of the probabilities that the tokens were given: the number of equally likely tokens
    that would be as hard to predict. It is 1 at best, V for a uniform model over V tokens, and
    infinite as soon as one token was given probability 0. Sum over all tokens before you call it: the
    exponential of a mean of batch means gives every batch the same weight, however few its tokens.

    Parameters
    ----------
    total_nll : float or Tensor of shape ()
        Sum of the negative log-likelihoods, in nats. Infinity and nan propagate.
    num_tokens : int
        How many tokens were scored, at least 1.

    Returns
    -------
    float
        The perplexity; infinity where the exponential is too large for a float.

    Raises
    ------
    TypeError
        If `total_nll` is not a number, or a tensor that holds none, or `num_tokens` is not an integer.
    ValueError
        If one of them is too large for a float, `num_tokens` is below 1, or `total_nll` is negative: no
        probability exceeds 1, so that a negative sum is a log-likelihood whose sign was not changed.

    References
    ----------
    - Jelinek et al. (1977), "Perplexity -- a measure of the difficulty of speech recognition tasks".
    """
    if isinstance(total_nll, Tensor) and total_nll.ndim == 0:
        total_nll = _support.dense("total_nll", total_nll).detach().item()
    if isinstance(total_nll, bool) or not isinstance(total_nll, Real):
        raise TypeError(f"total_nll must be a number, got {_support.shown(total_nll)}")
    if total_nll < 0:
        raise ValueError(f"total_nll must be at least 0, got {_support.short(total_nll)}")
    count = _float("num_tokens", _support.integer("num_tokens", num_tokens, minimum=1))
    mean = _float("total_nll", total_nll) / count
    try:
        return math.exp(mean)
    except OverflowError:
        return math.inf


def _float(name: str, value: Real | int) -> float:
    """Return a number as a float, infinity and nan too, or raise if it is finite and too large for one."""
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must fit a float, got {_support.shown(value)}") from None
