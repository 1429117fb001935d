"""The derivative of a scalar recurrent network by its weight: in full, truncated, and truncated at random.

The network is ``h_t = tanh(x_t + w h_{t-1})``. Its total derivative ``a_t = dh_t/dw`` counts that ``h_{t-1}``
too depends on w, and so follows a recursion over immediate derivatives, which hold ``h_{t-1}`` fixed or w
fixed::

    a_t = b_t + c_t a_{t-1}        b_t = (1 - h_t^2) h_{t-1}        c_t = (1 - h_t^2) w        a_0 = 0
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from d2lrnn import _support
from d2lrnn._support import Floats, floats, numpy_silent, room_for, small_enough
from d2lrnn.reproducible import Seed, numpy_generator


@numpy_silent()
def scalar_rnn(x: ArrayLike, w: float, *, h0: float = 0.0) -> tuple[Floats, Floats, Floats]:
    """Return the hidden states of ``h_t = tanh(x_t + w h_{t-1})`` and both immediate derivatives of each.

    Parameters
    ----------
    x : array of shape (T,)
        The inputs, at least one.
    w : float
        The weight.
    h0 : float
        The hidden state before the first step.

    Returns
    -------
    h, b, c : array of shape (T,)
        Element t - 1 is h_t, ``b_t = (1 - h_t^2) h_{t-1}``, its derivative by w with ``h_{t-1}`` held fixed,
        and ``c_t = (1 - h_t^2) w``, its derivative by ``h_{t-1}`` with w held fixed.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    inputs = floats("x", x, "T")
    w = _support.real("w", w)
    states = [_support.real("h0", h0)]
    for x_t in inputs.tolist():
        states.append(np.tanh(x_t + w * states[-1]))
    h_before, h = np.array(states[:-1]), np.array(states[1:])
    slope = 1 - h**2
    return h, slope * h_before, slope * w


def scalar_recursion(b: ArrayLike, c: ArrayLike) -> Floats:
    """Return a_1, ..., a_T of ``a_t = b_t + c_t a_{t-1}`` with a_0 = 0, step by step.

    Parameters
    ----------
    b, c : array of shape (T,)
        At least one step. c_1 is multiplied by a_0, and so has no effect.

    Returns
    -------
    array of shape (T,)

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or numbers grow beyond float64.
    """
    b, c = _steps(b, c)
    a = _recursion(b, c)
    small_enough("b and c", a=a)
    return a


@numpy_silent()
def scalar_closed_form(b: ArrayLike, c: ArrayLike) -> Floats:
    """Return what `scalar_recursion` does, as the sum that solves the recursion.

    The sum is::

        a_t = b_t + sum_{i=1}^{t-1} (prod_{j=i+1}^{t} c_j) b_i

    It is for show: each product is made anew, so that time is O(T^3) where the recursion takes O(T).
    A product of c that becomes too small for a float counts as 0 whatever it is multiplied by next, though b
    times the same numbers, one after the other as in the recursion, may not be.

    Parameters
    ----------
    b, c
        As for `scalar_recursion`.

    Returns
    -------
    array of shape (T,)

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or numbers grow beyond float64.
    """
    b, c = _steps(b, c)
    T = range(len(b))
    a = np.array([b[t] + sum(c[i + 1 : t + 1].prod() * b[i] for i in range(t)) for t in T])
    small_enough("b and c", a=a)
    return a


def full_gradient(x: ArrayLike, w: float, *, h0: float = 0.0) -> float:
    """Return dh_T/dw of ``h_t = tanh(x_t + w h_{t-1})``, which goes back over all steps.

    Parameters
    ----------
    x, w, h0
        As for `scalar_rnn`.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or numbers grow beyond float64.
    """
    _, b, c = scalar_rnn(x, w, h0=h0)
    return _last(b, c)


def truncated_gradient(x: ArrayLike, w: float, *, tau: int, h0: float = 0.0) -> float:
    """Return the part of dh_T/dw that is at most `tau` steps back from the last.

    With b and c of `scalar_rnn` it is::

        b_T + sum_{i=T-tau}^{T-1} (prod_{j=i+1}^{T} c_j) b_i

    It goes back `tau` steps, after a pass forward over all, and leaves out how ``h_{T-tau-1}`` depends on
    w, which biases it.

    Parameters
    ----------
    x, w, h0
        As for `scalar_rnn`.
    tau : int
        How many steps to go back, at least 0. From T - 1 on this is `full_gradient`.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or numbers grow beyond float64.

    References
    ----------
    - Williams and Peng (1990), "An efficient gradient-based algorithm for on-line training of recurrent
      network trajectories".
    - Jaeger (2002), "A tutorial on training recurrent neural networks".
    """
    _, b, c = scalar_rnn(x, w, h0=h0)
    last = slice(max(len(b) - 1 - _support.integer("tau", tau, minimum=0), 0), None)
    return _last(b[last], c[last])


@numpy_silent()
def randomized_gradient(
    x: ArrayLike, w: float, *, pi: float, num_draws: int = 1, seed: Seed = None, h0: float = 0.0
) -> Floats:
    """Return independent estimates of dh_T/dw of ``h_t = tanh(x_t + w h_{t-1})``, truncated at random.

    An estimate is z_T of a recursion like that of a_t, with a random xi_t for every step::

        z_t = b_t + xi_t c_t z_{t-1}        z_0 = 0
        P(xi_t = 0) = 1 - pi                P(xi_t = 1/pi) = pi

    xi_t has mean 1 and does not depend on ``z_{t-1}``, so that z_t has the mean a_t: there is no bias. Seen
    from the last step, the sum goes back until the first xi_t that is 0: k steps or more with probability
    pi^k, and ``sum_{k=1}^{T-1} pi^k`` on average, which is less than pi / (1 - pi). Its terms k steps back
    are divided by pi^k to make up for it, which is where the variance comes from.

    Parameters
    ----------
    x, w, h0
        As for `scalar_rnn`.
    pi : float
        The probability to go one step further back, greater than 0 and at most 1. For 1, every estimate is
        `full_gradient`.
    num_draws : int
        How many estimates, at least 1.
    seed : int or torch.Generator, optional
        The same seed gives the same estimates. None draws from fresh entropy, and a generator draws one
        number to start from. Global random state is neither read nor written.

    Returns
    -------
    array of shape (num_draws,)

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or numbers grow beyond float64.

    References
    ----------
    - Tallec and Ollivier (2017), "Unbiasing truncated backpropagation through time".
    """
    pi = _support.real("pi", pi, above=0)
    if pi > 1:
        raise ValueError(f"pi must be at most 1, got {pi}")
    draws = _support.integer("num_draws", num_draws, minimum=1)
    rng = numpy_generator(seed)
    _, b, c = scalar_rnn(x, w, h0=h0)
    room_for("num_draws", draws)
    z = np.full(draws, b[0])  # z_1, whatever xi_1 is
    for b_t, c_t in zip(b[1:], c[1:], strict=True):
        xi = (rng.random(draws) < pi) / pi
        z = b_t + xi * c_t * z  # (num_draws,)
    small_enough("x, w and h0", estimates=z)
    return z


@numpy_silent()
def _recursion(b: Floats, c: Floats) -> Floats:
    """Return a_1, ..., a_T."""
    a = b.copy()
    for t in range(1, len(a)):
        a[t] += c[t] * a[t - 1]
    return a


def _last(b: Floats, c: Floats) -> float:
    """Return a_T, for b and c made of x, w and h0."""
    a = float(_recursion(b, c)[-1])
    small_enough("x, w and h0", derivative=a)
    return a


def _steps(b: ArrayLike, c: ArrayLike) -> tuple[Floats, Floats]:
    b = floats("b", b, "T")
    return b, floats("c", c, len(b))
