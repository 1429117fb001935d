"""A recurrent network without biases and nonlinearity, and its gradients by hand, in float64.

Backpropagation through time is then matrix products alone. Rows are steps: the vector that an equation calls
h_t, a column, is row t - 1 of an array here, and a product W h_t is h_t @ W.T.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from d2lrnn._support import Floats, floats, numpy_silent, small_enough

WEIGHTS = "W_hx, W_hh and W_qh"


class LinearRNN:
    """Read a sequence of vectors with a recurrent network without biases and nonlinearity.

    For inputs x_1, ..., x_T and targets y_1, ..., y_T the model and its loss are::

        h_t = W_hx x_t + W_hh h_{t-1}        o_t = W_qh h_t        L = 1/T sum_t 1/2 ||o_t - y_t||^2

    Parameters
    ----------
    W_hx : array of shape (n, d)
        From an input to a hidden state.
    W_hh : array of shape (n, n)
        From a hidden state to the next.
    W_qh : array of shape (q, n)
        From a hidden state to an output.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or holds a number that is not finite.

    Notes
    -----
    The weights are copied: the attributes `W_hx`, `W_hh` and `W_qh` are the model's own, to be trained in
    place. Time and memory of each method grow in proportion to T.
    The network is that of "Backpropagation Through Time", *Dive into Deep Learning*, https://d2l.ai.
    """

    def __init__(self, W_hx: ArrayLike, W_hh: ArrayLike, W_qh: ArrayLike) -> None:
        self.W_hx = floats("W_hx", W_hx, "n", "d")
        n = len(self.W_hx)
        self.W_hh = floats("W_hh", W_hh, n, n)
        self.W_qh = floats("W_qh", W_qh, "q", n)

    def __repr__(self) -> str:
        (n, d), q = self.W_hx.shape, len(self.W_qh)
        return f"LinearRNN(num_inputs={d}, num_hiddens={n}, num_outputs={q})"

    @numpy_silent()
    def forward(self, x: ArrayLike, h0: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Return the outputs and the hidden states of all steps.

        Parameters
        ----------
        x : array of shape (T, d)
            The inputs, one row for each of at least one step.
        h0 : array of shape (n,), optional
            The hidden state before the first step, zeros for None.

        Returns
        -------
        o : array of shape (T, q)
            Row t - 1 is o_t.
        h : array of shape (T, n)
            Row t - 1 is h_t; `h0` is not part of it.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or numbers grow beyond float64.
        """
        x, h0 = self._inputs(x, h0)
        h = x @ self.W_hx.T  # (T, n)
        for t in range(len(h)):
            h[t] += self.W_hh @ (h[t - 1] if t else h0)
        o = h @ self.W_qh.T
        small_enough(f"x, h0, {WEIGHTS}", h=h, o=o)
        return o, h  # (T, q), (T, n)

    @numpy_silent()
    def loss(self, x: ArrayLike, y: ArrayLike, h0: ArrayLike | None = None) -> float:
        """Return L, the mean over the steps of half the squared error.

        Parameters
        ----------
        x, h0
            As for `forward`.
        y : array of shape (T, q)
            The targets.

        Returns
        -------
        float

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or numbers grow beyond float64.
        """
        o, _ = self.forward(x, h0)
        y = floats("y", y, *o.shape)
        loss = float(0.5 * np.sum((o - y) ** 2) / len(o))
        small_enough(f"x, y, h0, {WEIGHTS}", loss=loss)
        return loss

    @numpy_silent()
    def gradients(self, x: ArrayLike, y: ArrayLike, h0: ArrayLike | None = None) -> dict[str, Floats]:
        """Return the gradients of L, by backpropagation through time.

        With total derivatives, which count every way in which a state acts on the loss::

            dL/do_t  = (o_t - y_t) / T
            dL/dh_T  = W_qh^T dL/do_T
            dL/dh_t  = W_hh^T dL/dh_{t+1} + W_qh^T dL/do_t
            dL/dW_qh = sum_t dL/do_t h_t^T
            dL/dW_hx = sum_t dL/dh_t x_t^T
            dL/dW_hh = sum_t dL/dh_t h_{t-1}^T

        Parameters
        ----------
        x, h0
            As for `forward`.
        y : array of shape (T, q)
            The targets.

        Returns
        -------
        dict
            "W_hx", "W_hh" and "W_qh" have the shapes of the weights; "h" is (T, n), with dL/dh_t in row
            t - 1, and "o" is (T, q), with dL/do_t in row t - 1.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or numbers grow beyond float64.

        References
        ----------
        - Werbos (1990), "Backpropagation through time: what it does and how to do it".
        """
        x, h0 = self._inputs(x, h0)
        o, h = self.forward(x, h0)
        y = floats("y", y, *o.shape)
        do = (o - y) / len(o)  # (T, q)
        dh = do @ self.W_qh  # (T, n): the immediate part of every step; at the last it is all
        for t in range(len(h) - 2, -1, -1):
            dh[t] += self.W_hh.T @ dh[t + 1]
        h_before = np.vstack([h0, h[:-1]])  # (T, n): h_{t-1} in the row of h_t
        gradients = {"W_hx": dh.T @ x, "W_hh": dh.T @ h_before, "W_qh": do.T @ h, "h": dh, "o": do}
        small_enough(f"x, y, h0, {WEIGHTS}", **{f"dL/d{name}": value for name, value in gradients.items()})
        return gradients

    def _inputs(self, x: ArrayLike, h0: ArrayLike | None) -> tuple[Floats, Floats]:
        n, d = self.W_hx.shape
        return floats("x", x, "T", d), np.zeros(n) if h0 is None else floats("h0", h0, n)
