"""Gradients of recurrent networks by hand, line by line as the equations read, in float64.

Here is the language model with tanh and softmax; `linear_rnn` has the network without a nonlinearity,
`scalar` the scalar case, where a sum over time is cut short, and `gradcheck` what checks a gradient.
Rows are steps: the vector that an equation calls s_t, a column, is row t - 1 of an array here, and a product
W s_t is s_t @ W.T.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import ArrayLike

from d2lrnn import _support
from d2lrnn._support import Floats, Ints, floats, numpy_silent, small_enough, word_ids
from d2lrnn.gradients._backward import add_columns, pass_back, pass_back_truncated, softmax
from d2lrnn.gradients.gradcheck import Comparison, compare, numeric_gradient
from d2lrnn.gradients.linear_rnn import LinearRNN
from d2lrnn.gradients.scalar import full_gradient, randomized_gradient, truncated_gradient
from d2lrnn.models._tensors import fits_memory
from d2lrnn.reproducible import Seed, numpy_generator

if TYPE_CHECKING:
    from d2lrnn._support import Tokens

__all__ = [
    "Comparison",
    "LinearRNN",
    "VanillaRNN",
    "compare",
    "full_gradient",
    "numeric_gradient",
    "randomized_gradient",
    "truncated_gradient",
]

BLOCK = 256  # steps whose outputs are in memory at a time: for 8,000 words, 16 MB
WEIGHTS = "U, V and W"


class VanillaRNN:
    """Predict each next word with a recurrent network of a tanh layer and a softmax, without biases.

    For words with ids x_1, ..., x_T and next words y_1, ..., y_T, where x_t and y_t also stand for the ids'
    one-hot vectors and s_0 is 0, the model and its loss are::

        s_t = tanh(U x_t + W s_{t-1})        yhat_t = softmax(V s_t)        L = -sum_t y_t^T log yhat_t

    Parameters
    ----------
    U : array of shape (H, C)
        From a word to a hidden state: column c belongs to word c.
    V : array of shape (C, H)
        From a hidden state to the logits.
    W : array of shape (H, H)
        From a hidden state to the next.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or holds a number that is not finite.

    Notes
    -----
    The weights are copied: the attributes `U`, `V` and `W` are the model's own, to be trained in place. What
    training makes of them is not looked at, but results are, and are never nan or infinite.
    """

    def __init__(self, U: ArrayLike, V: ArrayLike, W: ArrayLike) -> None:
        # A column of U is read at a time, and lies in one piece in this order, as does that of a gradient.
        self.U = np.asfortranarray(floats("U", U, "H", "C"))
        num_hiddens, vocab_size = self.U.shape
        self.V = floats("V", V, vocab_size, num_hiddens)
        self.W = floats("W", W, num_hiddens, num_hiddens)

    def __repr__(self) -> str:
        num_hiddens, vocab_size = self.U.shape
        return f"VanillaRNN(vocab_size={vocab_size}, num_hiddens={num_hiddens})"

    @classmethod
    def init(cls, vocab_size: int, num_hiddens: int, *, seed: Seed = None) -> VanillaRNN:
        """Return a model with random weights.

        They are uniform between -1/sqrt(n) and 1/sqrt(n), where n is how many numbers the matrix takes in:
        C for U, H for V and W. Logits are then close to 0, and the loss is about log C per word.

        Parameters
        ----------
        vocab_size, num_hiddens : int
            C, the number of words, and H, the number of hidden units; at least 1.
        seed : int or torch.Generator, optional
            The same seed gives the same weights on every machine. None draws from fresh entropy, and a
            generator draws one number to start from. Global random state is neither read nor written.

        Returns
        -------
        VanillaRNN

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.
        """
        C = _support.integer("vocab_size", vocab_size, minimum=1)
        H = _support.integer("num_hiddens", num_hiddens, minimum=1)
        fits_memory(2 * H * C + H**2, torch.float64, vocab_size=C, num_hiddens=H)
        rng = numpy_generator(seed)
        U, V, W = ((2 * rng.random(shape) - 1) / np.sqrt(shape[1]) for shape in ((H, C), (C, H), (H, H)))
        return cls(U, V, W)

    @property
    def num_parameters(self) -> int:
        """How many weights there are, 2HC + H^2."""
        return self.U.size + self.V.size + self.W.size

    @numpy_silent()
    def forward(self, x: Tokens) -> tuple[Floats, Floats]:
        """Return the predictions and the hidden states of all steps.

        Parameters
        ----------
        x : sequence of int or Tensor of shape (T,)
            Word ids in 0..C-1, at least one.

        Returns
        -------
        yhat : array of shape (T, C)
            Row t - 1 is yhat_t, the probability of each word to come after x_t.
        s : array of shape (T, H)
            Row t - 1 is s_t.

        Raises
        ------
        TypeError, ValueError
            If `x` is not as described, or numbers grow beyond float64.
        """
        s = self._states(word_ids("x", x, len(self.V)))
        yhat = np.empty((len(s), len(self.V)))
        for steps, z in self._logits(s):
            yhat[steps] = softmax(z)
        return yhat, s  # (T, C), (T, H)

    @numpy_silent()
    def loss(self, x: Tokens, y: Tokens) -> float:
        """Return L, the sum of the steps' cross-entropies, in nats.

        It is computed from the logits, so that a word that is given a probability too small for a float
        still has a finite loss.

        Parameters
        ----------
        x, y : sequence of int or Tensor of shape (T,)
            Word ids in 0..C-1, at least one, and the word that follows each.

        Returns
        -------
        float

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or numbers grow beyond float64.
        """
        x, y = self._pair(x, y)
        total = 0.0
        for steps, z in self._logits(self._states(x)):
            total -= z[np.arange(len(z)), y[steps]].sum()
            total += np.log(np.exp(z, out=z).sum(axis=1)).sum()
        small_enough(WEIGHTS, loss=total)
        return float(total)

    @numpy_silent()
    def gradients(self, x: Tokens, y: Tokens, tau: int | None = None) -> dict[str, Floats]:
        """Return the gradients of L, with one pass backward over all steps.

        With e_t = yhat_t - y_t the error signal and * the product of elements, the pass is::

            delta_t = (V^T e_t + W^T delta_{t+1}) * (1 - s_t^2)        delta_{T+1} = 0

            dL/dV = sum_t e_t s_t^T        dL/dW = sum_t delta_t s_{t-1}^T        dL/dU = sum_t delta_t x_t^T

        The loop holds no more than the recursion. The sums are single products, and since x_t is one-hot,
        dL/dU adds delta_t to the column of x_t. Time is O(T), memory too, with `BLOCK` rows of outputs.

        With `tau` the error of an output goes back that many steps and no further, so that the errors that
        meet at a step no longer share their way. They go one step back all together, as rows of one array,
        `tau` times: time is O(T tau), in `tau` products.

        Parameters
        ----------
        x, y : sequence of int or Tensor of shape (T,)
            Word ids in 0..C-1, at least one, and the word that follows each.
        tau : int, optional
            How many steps the error of an output goes back from the output's own step, at least 0. From
            T - 1 on it goes back to the first step, as for None.

        Returns
        -------
        dict
            "U", "V" and "W", of the shapes of the weights.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or numbers grow beyond float64.

        References
        ----------
        - Werbos (1990), "Backpropagation through time: what it does and how to do it".
        - Williams and Peng (1990), "An efficient gradient-based algorithm for on-line training of recurrent
          network trajectories": truncation.
        - Jaeger (2002), "A tutorial on training recurrent neural networks": both, among other methods.
        """
        x, y = self._pair(x, y)
        tau = _steps_back(tau, len(x))
        s = self._states(x)
        dV, ds = self._output_gradients(s, y)  # (C, H), (T, H)
        slope = 1 - s**2  # (T, H): of tanh
        if tau == len(x) - 1:
            delta = pass_back(ds, slope, self.W)
        else:
            delta = pass_back_truncated(ds, slope, self.W, tau)
        return _checked(add_columns(delta, x, self.U.shape[1]), dV, delta[1:].T @ s[:-1])

    @numpy_silent()
    def gradients_double_loop(self, x: Tokens, y: Tokens, tau: int | None = None) -> dict[str, Floats]:
        """Return what `gradients` does, the way the formula reads: for each output, back step by step.

        The gradient of output t's loss E_t is a sum over the steps k at which a weight was used::

            dE_t/dW = sum_k delta_k s_{k-1}^T        dE_t/dU = sum_k delta_k x_k^T        k = t, ..., t - tau

            delta_t = (V^T e_t) * (1 - s_t^2)        delta_{k-1} = (W^T delta_k) * (1 - s_{k-1}^2)

        where delta_k is the derivative of E_t by what tanh is applied to at step k. Every output makes the
        way back anew: time is O(T tau), in as many small operations.

        Parameters
        ----------
        x, y, tau
            As for `gradients`.

        Returns
        -------
        dict
            "U", "V" and "W", of the shapes of the weights.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or numbers grow beyond float64.
        """
        x, y = self._pair(x, y)
        tau = _steps_back(tau, len(x))
        e, s = self.forward(x)  # (T, C), (T, H); e is yhat as yet
        e[np.arange(len(y)), y] -= 1
        s = np.vstack([s, np.zeros_like(s[0])])  # (T + 1, H): s[-1] is the state before s[0]
        dU, dV, dW = np.zeros_like(self.U), np.zeros_like(self.V), np.zeros_like(self.W)
        for t in range(len(x)):
            dV += np.outer(e[t], s[t])
            delta = (self.V.T @ e[t]) * (1 - s[t] ** 2)  # (H,)
            for k in range(t, max(t - tau, 0) - 1, -1):  # t, t - 1, ..., t - tau
                dW += np.outer(delta, s[k - 1])
                dU[:, x[k]] += delta
                delta = (self.W.T @ delta) * (1 - s[k - 1] ** 2)
        return _checked(dU, dV, dW)

    def _states(self, x: Ints) -> Floats:
        """Return s, (T, H)."""
        s = self.U.T[x]  # (T, H): U x_t is a column of U
        before = np.zeros(s.shape[1])
        for s_t in s:  # (H,), a view
            s_t += self.W @ before
            before = np.tanh(s_t, out=s_t)
        return s

    def _logits(self, s: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield steps and their logits less the largest of each, (B, C), in memory that is used again."""
        z = np.empty((min(BLOCK, len(s)), len(self.V)))
        for start in range(0, len(s), BLOCK):
            steps = slice(start, min(start + BLOCK, len(s)))
            block = np.matmul(s[steps], self.V.T, out=z[: steps.stop - start])  # (B, C)
            largest = block.max(axis=1, keepdims=True)  # (B, 1)
            small_enough(WEIGHTS, logits=largest)
            block -= largest
            yield steps, block

    def _output_gradients(self, s: Floats, y: Ints) -> tuple[Floats, Floats]:
        """Return dL/dV, (C, H), and V^T e_t for every step, (T, H): the immediate derivative by s_t."""
        dV, ds = np.zeros_like(self.V), np.empty_like(s)
        for steps, z in self._logits(s):
            e = softmax(z)  # (B, C)
            e[np.arange(len(e)), y[steps]] -= 1  # yhat - y
            dV += e.T @ s[steps]
            ds[steps] = e @ self.V
        return dV, ds

    def _pair(self, x: object, y: object) -> tuple[Ints, Ints]:
        inputs, targets = word_ids("x", x, len(self.V)), word_ids("y", y, len(self.V))
        if len(inputs) != len(targets):
            raise ValueError(f"y must have one id for each of the {len(inputs)} of x, got {len(targets)}")
        return inputs, targets


def _steps_back(tau: int | None, num_steps: int) -> int:
    """Return how many steps an error goes back at most: T - 1 for None and for more than there are."""
    return num_steps - 1 if tau is None else min(_support.integer("tau", tau, minimum=0), num_steps - 1)


def _checked(dU: Floats, dV: Floats, dW: Floats) -> dict[str, Floats]:
    """Return the gradients by name, or raise if one has grown beyond float64."""
    small_enough(WEIGHTS, **{"dL/dU": dU, "dL/dV": dV, "dL/dW": dW})
    return {"U": dU, "V": dV, "W": dW}
