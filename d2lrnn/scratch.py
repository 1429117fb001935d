"""A recurrent language model from tensors up: first as its equations read, then fast.

With X_t one-hot vectors of the tokens at step t, one row for each text of the batch, the model is::

    H_t = tanh(X_t W_xh + H_{t-1} W_hh + b_h)        the hidden state, (batch, hiddens)
    O_t = H_t W_hq + b_q                             the logits of the next token, (batch, vocab)

`RNNScratch` and `PlainRNNLM` are these lines. `RNNLMScratch` has the same weights, outputs and gradients and
takes about 0.7 of the time: a product with one-hot vectors is a row look-up, and the gradients of the
recurrence are written down (`Recurrence`) instead of recorded operation by operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable

from d2lrnn import _checks
from d2lrnn._random import Seed, generator
from d2lrnn.reproducible import uniform


def one_hot(indices: Tensor, num_classes: int, *, dtype: torch.dtype = torch.float64) -> Tensor:
    """Turn token indices into one-hot vectors, steps first, as a loop over steps wants them.

    Parameters
    ----------
    indices : Tensor of shape (batch, steps)
        Integers of any type in 0..num_classes-1.
    num_classes : int
        Length of the vectors.
    dtype : torch.dtype
        Of the result.

    Returns
    -------
    Tensor of shape (steps, batch, num_classes)
        1 at the index, else 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    X = token_batch("indices", indices)
    size = _checks.integer("num_classes", num_classes, minimum=1)
    low, high = (int(end) for end in X.aminmax())
    _checks.index("indices", low if low < 0 else high, size)
    return nn.functional.one_hot(X.T, size).to(dtype)


class RNNScratch(nn.Module):
    """Read sequences of vectors and keep the hidden state of every step.

    Parameters
    ----------
    num_inputs, num_hiddens : int
        Length of an input vector and of a hidden state.
    sigma : float, optional
        Standard deviation of the initial weights, which are uniform between -sqrt(3) sigma and sqrt(3) sigma.
        None is 1 / sqrt(3 num_hiddens), for a bound of 1 / sqrt(num_hiddens) as in PyTorch: with much less,
        a large network takes long to learn anything from its past. Biases start at 0.
    dtype : torch.dtype
        Of the weights. Inputs and states are converted to it.
    seed : int, None or torch.Generator
        Draws the initial weights: the same seed, the same weights on every machine. None draws from fresh
        entropy. Global random state is neither read nor written.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    References
    ----------
    J. L. Elman, "Finding structure in time", 1990.
    """

    def __init__(
        self,
        num_inputs: int,
        num_hiddens: int,
        sigma: float | None = None,
        *,
        dtype: torch.dtype = torch.float64,
        seed: Seed = 0,
    ) -> None:
        super().__init__()
        self.num_inputs = _checks.integer("num_inputs", num_inputs, minimum=1)
        self.num_hiddens = _checks.integer("num_hiddens", num_hiddens, minimum=1)
        sigma, rng = default_sigma(num_hiddens, sigma), generator(seed)
        self.W_xh = weight(num_inputs, num_hiddens, sigma, dtype, rng)
        self.W_hh = weight(num_hiddens, num_hiddens, sigma, dtype, rng)
        self.b_h = nn.Parameter(torch.zeros(num_hiddens, dtype=dtype))

    def forward(self, inputs: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the hidden states of all steps, (steps, batch, hiddens), and the last, (batch, hiddens).

        `inputs` is (steps, batch, inputs); `state` is the hidden state before them, zeros for None.
        """
        inputs = sequence(inputs, self.num_inputs)
        H = initial_state(state, (inputs.shape[1], self.num_hiddens), self.W_hh)
        outputs = []
        for X in inputs.to(H.dtype):  # (batch, inputs)
            H = torch.tanh(X @ self.W_xh + H @ self.W_hh + self.b_h)  # (batch, hiddens)
            outputs.append(H)
        return torch.stack(outputs), H  # (steps, batch, hiddens), (batch, hiddens)


class PlainRNNLM(nn.Module):
    """Predict each next token from the hidden state, in the most readable way.

    The same model as `RNNLMScratch`, which is the one to use: slower, but as the equations read.

    Parameters
    ----------
    vocab_size : int
        |V|, the number of tokens.
    num_hiddens, sigma, dtype, seed
        As for `RNNScratch`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """

    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        sigma: float | None = None,
        *,
        dtype: torch.dtype = torch.float64,
        seed: Seed = 0,
    ) -> None:
        super().__init__()
        self.vocab_size = _checks.integer("vocab_size", vocab_size, minimum=1)
        sigma, rng = default_sigma(num_hiddens, sigma), generator(seed)
        self.rnn = RNNScratch(vocab_size, num_hiddens, sigma, dtype=dtype, seed=rng)
        self.W_hq = weight(num_hiddens, vocab_size, sigma, dtype, rng)
        self.b_q = nn.Parameter(torch.zeros(vocab_size, dtype=dtype))

    def forward(self, X: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the logits after every token, (batch, steps, vocab), and the last state, (batch, hiddens).

        `X` is (batch, steps), token indices; `state` is the hidden state before them, zeros for None.
        """
        outputs, state = self.rnn(one_hot(X, self.vocab_size, dtype=self.W_hq.dtype), state)
        return self.output_layer(outputs), state

    def output_layer(self, H: Tensor) -> Tensor:
        """Return the logits, (batch, steps, vocab), of hidden states, (steps, batch, hiddens)."""
        return (H @ self.W_hq + self.b_q).transpose(0, 1)


class RNNLMScratch(PlainRNNLM):
    """Predict each next token from the hidden state, fast.

    A one-hot vector picks a row of W_xh, so all inputs are looked up at once, with b_h already added to each
    of the |V| rows. What is left to do step by step is one product and one tanh, in `Recurrence`.

    Parameters
    ----------
    vocab_size : int
        |V|, the number of tokens.
    num_hiddens, sigma, dtype, seed
        As for `RNNScratch`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """

    def forward(self, X: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the logits after every token, (batch, steps, vocab), and the last state, (batch, hiddens).

        `X` is (batch, steps), token indices; `state` is the hidden state before them, zeros for None.
        """
        rnn = self.rnn
        X = token_batch("X", X)
        H_0 = initial_state(state, (len(X), rnn.num_hiddens), rnn.W_hh)
        inputs = look_up(rnn.W_xh + rnn.b_h, X.T)  # (steps, batch, hiddens), as one_hot(X) @ W_xh + b_h
        outputs: Tensor = Recurrence.apply(inputs, H_0, rnn.W_hh)  # type: ignore[no-untyped-call]
        return self.output_layer(outputs), outputs[-1]

    def reader(self) -> Callable[[int], NDArray[np.floating]]:
        """Return a function that reads a text token by token: it takes the next one and returns the logits.

        It is `forward` without what only gradients, batches and steps need, in NumPy, whose calls cost less
        than PyTorch's; with one token at a time, that is where the time goes. `generate` uses it.
        """
        weights = (self.rnn.W_xh, self.rnn.W_hh, self.rnn.b_h, self.W_hq, self.b_q)
        W_xh, W_hh, b_h, W_hq, b_q = (p.numpy(force=True) for p in weights)
        rows = list(W_xh + b_h)
        H = np.zeros_like(b_h)

        def read(token: int) -> NDArray[np.floating]:
            nonlocal H
            H = np.tanh(rows[token] + H @ W_hh)  # (hiddens,)
            return H @ W_hq + b_q  # type: ignore[no-any-return]  # (vocab,)

        return read


class Recurrence(torch.autograd.Function):
    """Compute H_t = tanh(A_t + H_{t-1} W_hh) for all steps, with backpropagation through time by hand.

    `Recurrence.apply(A, H_0, W_hh)` takes A, (steps, batch, hiddens), and writes the hidden states over it.
    With dH_t the gradient that reaches H_t from its own output, the backward pass is the recursion::

        dA_t = (dH_t + dA_{t+1} W_hh^T) * (1 - H_t^2)        dW_hh = sum_t H_{t-1}^T dA_t

    The sum is a single product of all steps' states with all steps' dA.

    References
    ----------
    P. J. Werbos, "Backpropagation through time: what it does and how to do it", 1990.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, A: Tensor, H_0: Tensor, W_hh: Tensor) -> Tensor:
        """Return the hidden states, (steps, batch, hiddens), in the memory of A."""
        H = H_0
        for A_t in A:  # (batch, hiddens)
            H = A_t.addmm_(H, W_hh).tanh_()
        ctx.mark_dirty(A)
        ctx.save_for_backward(A, H_0, W_hh)
        return A

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, dH: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of A, H_0 and W_hh."""
        H, H_0, W_hh = ctx.saved_tensors  # type: ignore[attr-defined]
        dA = torch.addcmul(H.new_ones(()), H, H, value=-1)  # 1 - H^2, in the place of which comes dA
        dA_next = torch.zeros_like(H_0)
        for dH_t, dA_t in zip(reversed(dH.unbind()), reversed(dA.unbind()), strict=True):  # (batch, hiddens)
            dA_next = dA_t.mul_(torch.addmm(dH_t, dA_next, W_hh.T))
        dW_hh = H[:-1].flatten(0, 1).T @ dA[1:].flatten(0, 1)
        dW_hh.addmm_(H_0.T, dA[0])
        return dA, dA[0] @ W_hh.T, dW_hh


def default_sigma(num_hiddens: int, sigma: float | None = None) -> float:
    """Return `sigma`, or for None what PyTorch has for so many hidden units."""
    size = _checks.integer("num_hiddens", num_hiddens, minimum=1)
    return 1 / math.sqrt(3 * size) if sigma is None else _checks.real("sigma", sigma, minimum=0)


def weight(rows: int, columns: int, sigma: float, dtype: torch.dtype, rng: torch.Generator) -> nn.Parameter:
    """Return a matrix of random weights."""
    return nn.Parameter(uniform(rows, columns, sigma=sigma, dtype=dtype, generator=rng))


def initial_state(state: Tensor | None, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Return a state in the dtype of `like`, zeros for None, or raise unless it has the shape."""
    if state is None:
        return like.new_zeros(shape)
    if not isinstance(state, Tensor):
        raise TypeError(f"state must be a tensor or None, got {state!r} ({type(state).__name__})")
    if state.shape != shape:
        raise ValueError(f"state must have shape {shape}, got {tuple(state.shape)}")
    return state.to(like.dtype)


def token_batch(name: str, X: Tensor) -> Tensor:
    """Return token indices as int64, or raise unless they are integers, (batch, steps), at least one."""
    if not isinstance(X, Tensor):
        raise TypeError(f"{name} must be a tensor, got {X!r} ({type(X).__name__})")
    if X.is_floating_point() or X.is_complex() or X.dtype == torch.bool:
        raise TypeError(f"{name} must hold integers, got a tensor of {X.dtype}")
    if X.ndim != 2 or not X.numel():
        raise ValueError(f"{name} must be (batch, steps), at least 1 of each, got shape {tuple(X.shape)}")
    return X.to(torch.int64)


def sequence(inputs: Tensor, num_inputs: int) -> Tensor:
    """Return `inputs`, or raise unless they are vectors, (steps, batch, inputs), at least one."""
    if not isinstance(inputs, Tensor):
        raise TypeError(f"inputs must be a tensor, got {inputs!r} ({type(inputs).__name__})")
    if inputs.ndim != 3 or not inputs.numel() or inputs.shape[2] != num_inputs:
        raise ValueError(
            f"inputs must be (steps, batch, {num_inputs}), at least 1 of each, got {tuple(inputs.shape)}"
        )
    return inputs


def look_up(table: Tensor, indices: Tensor) -> Tensor:
    """Return the rows of a table, (n, width), at the indices: (...) to (..., width)."""
    try:
        return nn.functional.embedding(indices, table)
    except IndexError:
        wrong = indices[(indices < 0) | (indices >= len(table))]
        raise ValueError(f"X must hold token indices in 0..{len(table) - 1}, got {int(wrong[0])}") from None
