"""A recurrent language model from tensors up: first as its equations read, then fast.

With X_t one-hot vectors of the tokens at step t, one row for each text of the batch, the model is::

    H_t = tanh(X_t W_xh + H_{t-1} W_hh + b_h)        the hidden state, (batch, hiddens)
    O_t = H_t W_hq + b_q                             the logits of the next token, (batch, vocab)

`RNNScratch` and `PlainRNNLM` are these lines. `RNNLMScratch` has the same weights, outputs and gradients and
takes about 0.7 of the time: a product with one-hot vectors is a row look-up, and the gradients of the
recurrence are written down (`Recurrence`) instead of recorded operation by operation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable

from d2lrnn import _support
from d2lrnn._support import room_for
from d2lrnn.models._tensors import (
    bias,
    default_sigma,
    fits_memory,
    float_type,
    in_range,
    initial_state,
    known_tokens,
    look_up,
    sequence,
    token_batch,
    weight,
)
from d2lrnn.reproducible import Seed, generator


def one_hot(indices: Tensor, num_classes: int, *, dtype: torch.dtype = torch.float64) -> Tensor:
    """Turn token indices into one-hot vectors, steps first, as a loop over steps wants them.

    Parameters
    ----------
    indices : Tensor of shape (batch, steps)
        Integers of any type in 0..num_classes-1.
    num_classes : int
        Length of the vectors.
    dtype : torch.dtype
        Of the result, any type of number.

    Returns
    -------
    Tensor of shape (steps, batch, num_classes)
        1 at the index, else 0.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    """
    size = _support.integer("num_classes", num_classes, minimum=1)
    room_for("num_classes", size)
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"dtype must be a torch.dtype, got {dtype!r} ({type(dtype).__name__})")
    X = in_range("indices", token_batch("indices", indices), size)
    return nn.functional.one_hot(X.T, size).to(dtype)


class RNNScratch(nn.Module):
    """Read sequences of vectors and keep the hidden state of every step.

    It is made on the CPU, whatever PyTorch's default device is; `to` moves it.

    Parameters
    ----------
    num_inputs, num_hiddens : int
        Length of an input vector and of a hidden state.
    sigma : float, optional
        Standard deviation of the initial weights, which are uniform between -sqrt(3) sigma and sqrt(3) sigma.
        None is 1 / sqrt(3 num_hiddens), for a bound of 1 / sqrt(num_hiddens) as in PyTorch: with much less,
        a large network takes long to learn anything from its past. Biases start at 0.
    dtype : torch.dtype
        Of the weights: float16, bfloat16, float32 or float64, whatever PyTorch's default is. Inputs and
        states are converted to it.
    seed : int, torch.Generator or None
        Draws the initial weights: the same seed, the same weights on every machine. None draws from PyTorch's
        global generator, as its own layers do; an int or a generator leaves global random state alone.

    Attributes
    ----------
    W_xh : nn.Parameter
        Weights of the input, (inputs, hiddens).
    W_hh : nn.Parameter
        Weights of the state before, (hiddens, hiddens).
    b_h : nn.Parameter
        Biases of the hidden state, (hiddens,).

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the weights do not fit in memory.

    References
    ----------
    - Elman (1990), "Finding structure in time".
    """

    @torch.inference_mode(False)  # weights made in inference mode could never be trained
    def __init__(
        self,
        num_inputs: int,
        num_hiddens: int,
        sigma: float | None = None,
        *,
        dtype: torch.dtype = torch.float64,
        seed: Seed = None,
    ) -> None:
        super().__init__()
        self.num_inputs = _support.integer("num_inputs", num_inputs, minimum=1)
        self.num_hiddens = _support.integer("num_hiddens", num_hiddens, minimum=1)
        count = self.num_hiddens * (self.num_inputs + self.num_hiddens + 1)
        fits_memory(count, float_type(dtype), num_inputs=num_inputs, num_hiddens=num_hiddens)
        sigma, rng = default_sigma(num_hiddens, sigma), generator(seed)
        self.W_xh = weight(self.num_inputs, self.num_hiddens, sigma, dtype, rng)
        self.W_hh = weight(self.num_hiddens, self.num_hiddens, sigma, dtype, rng)
        self.b_h = bias(self.num_hiddens, dtype)

    def extra_repr(self) -> str:
        """Return the sizes, for `repr`."""
        return f"{self.num_inputs}, {self.num_hiddens}"

    def forward(self, inputs: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Read the steps of a batch.

        Parameters
        ----------
        inputs : Tensor of shape (steps, batch, inputs)
            At least one step of one text, on the device of the weights.
        state : Tensor of shape (batch, hiddens), optional
            The hidden state before them; None is zeros.

        Returns
        -------
        outputs : Tensor of shape (steps, batch, hiddens)
            The hidden states of all steps.
        state : Tensor of shape (batch, hiddens)
            The last of them.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described.
        """
        inputs = sequence(inputs, self.num_inputs, self.W_hh)
        H = initial_state(state, (inputs.shape[1], self.num_hiddens), self.W_hh)
        outputs = []
        for X in inputs:  # (batch, inputs)
            H = torch.tanh(X @ self.W_xh + H @ self.W_hh + self.b_h)  # (batch, hiddens)
            outputs.append(H)
        return torch.stack(outputs), H  # (steps, batch, hiddens), (batch, hiddens)


class PlainRNNLM(nn.Module):
    """Predict each next token from the hidden state, in the most readable way.

    The same model as `RNNLMScratch`, which is the one to use: slower, but as the equations read.

    Parameters
    ----------
    vocab_size : int
        The number of tokens, ``|V|``.
    num_hiddens, sigma, dtype, seed
        As for `RNNScratch`.

    Attributes
    ----------
    rnn : RNNScratch
        The recurrent layer, which reads one-hot vectors.
    W_hq : nn.Parameter
        Weights of the output layer, (hiddens, vocab).
    b_q : nn.Parameter
        Biases of the output layer, (vocab,).

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the weights do not fit in memory.
    """

    @torch.inference_mode(False)  # weights made in inference mode could never be trained
    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        sigma: float | None = None,
        *,
        dtype: torch.dtype = torch.float64,
        seed: Seed = None,
    ) -> None:
        super().__init__()
        self.vocab_size = _support.integer("vocab_size", vocab_size, minimum=1)
        size = _support.integer("num_hiddens", num_hiddens, minimum=1)
        count = size * (2 * self.vocab_size + size + 1) + self.vocab_size
        fits_memory(count, float_type(dtype), vocab_size=vocab_size, num_hiddens=num_hiddens)
        sigma, rng = default_sigma(size, sigma), generator(seed)
        self.rnn = RNNScratch(self.vocab_size, size, sigma, dtype=dtype, seed=rng)
        self.W_hq = weight(size, self.vocab_size, sigma, dtype, rng)
        self.b_q = bias(self.vocab_size, dtype)

    def extra_repr(self) -> str:
        """Return the sizes, for `repr`."""
        return f"{self.vocab_size}, {self.rnn.num_hiddens}"

    def forward(self, X: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Read a batch of tokens.

        Parameters
        ----------
        X : Tensor of shape (batch, steps)
            Token indices, at least one, on the device of the weights.
        state : Tensor of shape (batch, hiddens), optional
            The hidden state before them; None is zeros.

        Returns
        -------
        logits : Tensor of shape (batch, steps, vocab)
            Of the next token after each.
        state : Tensor of shape (batch, hiddens)
            The last hidden state.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or an index is not in 0..vocab_size-1.
        """
        X = known_tokens(X, self.vocab_size, self.W_hq)
        outputs, state = self.rnn(nn.functional.one_hot(X.T, self.vocab_size), state)
        return self.output_layer(outputs), state

    def output_layer(self, H: Tensor) -> Tensor:
        """Return the logits, (batch, steps, vocab), of hidden states, (steps, batch, hiddens)."""
        return (H @ self.W_hq + self.b_q).transpose(0, 1)


class RNNLMScratch(PlainRNNLM):
    """Predict each next token from the hidden state, fast.

    A one-hot vector picks a row of W_xh, so all inputs are looked up at once, with b_h already added to each
    of the ``|V|`` rows. What is left to do step by step is one product and one tanh, in `Recurrence`. It
    compiles (`torch.compile`); for the transforms of `torch.func` and for `torch.jit.trace` take a
    `PlainRNNLM`.

    Parameters
    ----------
    vocab_size : int
        The number of tokens, ``|V|``.
    num_hiddens, sigma, dtype, seed
        As for `RNNScratch`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the weights do not fit in memory.
    """

    def forward(self, X: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Read a batch of tokens: as `PlainRNNLM.forward`."""
        rnn = self.rnn
        X = token_batch("X", X)
        H_0 = initial_state(state, (len(X), rnn.num_hiddens), rnn.W_hh)
        inputs = look_up(rnn.W_xh + rnn.b_h, X.T)  # (steps, batch, hiddens), as one_hot(X) @ W_xh + b_h
        outputs: Tensor = Recurrence.apply(inputs, H_0, rnn.W_hh)  # type: ignore[no-untyped-call]
        return self.output_layer(outputs), outputs[-1]

    def reader(self) -> Callable[[int], NDArray[np.floating]]:
        """Return a function that reads a text token by token: it takes the next one and returns the logits.

        It is `forward` without what only gradients, batches and steps need, in NumPy, whose calls cost less
        than PyTorch's; with one token at a time, that is where the time goes. `generate` uses it. It computes
        in the type of the weights, or in float32 where they are narrower.
        """
        weights = (self.rnn.W_xh, self.rnn.W_hh, self.rnn.b_h, self.W_hq, self.b_q)
        wide = torch.promote_types(self.W_hq.dtype, torch.float32)  # NumPy has no bfloat16
        W_xh, W_hh, b_h, W_hq, b_q = (p.to(wide).numpy(force=True) for p in weights)
        rows = list(W_xh + b_h)
        H = np.zeros_like(b_h)

        def read(token: int) -> NDArray[np.floating]:
            nonlocal H
            H = np.tanh(rows[token] + H @ W_hh)  # (hiddens,)
            return H @ W_hq + b_q  # type: ignore[no-any-return]  # (vocab,)

        return read


class Recurrence(torch.autograd.Function):
    """Compute ``H_t = tanh(A_t + H_{t-1} W_hh)`` for all steps, with backpropagation through time by hand.

    `Recurrence.apply(A, H_0, W_hh)` takes A, (steps, batch, hiddens), and writes the hidden states over it.
    With dH_t the gradient that reaches H_t from its own output, the backward pass is the recursion::

        dA_t = (dH_t + dA_{t+1} W_hh^T) * (1 - H_t^2)        dW_hh = sum_t H_{t-1}^T dA_t

    The sum is a single product of all steps' states with all steps' dA.

    References
    ----------
    - Werbos (1990), "Backpropagation through time: what it does and how to do it".
    """

    @staticmethod
    def forward(ctx: FunctionCtx, A: Tensor, H_0: Tensor, W_hh: Tensor) -> Tensor:
        """Return the hidden states, (steps, batch, hiddens), in the memory of A."""
        H = H_0
        for A_t in A.detach():  # (batch, hiddens)
            H = A_t.addmm_(H, W_hh).tanh_()
        ctx.mark_dirty(A)
        ctx.save_for_backward(A, H_0, W_hh)
        return A

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, dH: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
        """Return the gradients of A, of H_0 if it needs one, and of W_hh."""
        H, H_0, W_hh = ctx.saved_tensors  # type: ignore[attr-defined]
        dA = torch.addcmul(H.new_ones(()), H, H, value=-1)  # 1 - H^2, in the place of which comes dA
        dA_next = torch.zeros_like(H_0)
        for dH_t, dA_t in zip(reversed(dH.unbind()), reversed(dA.unbind()), strict=True):  # (batch, hiddens)
            dA_next = dA_t.mul_(torch.addmm(dH_t, dA_next, W_hh.T))
        later = H[:-1].flatten(0, 1).T @ dA[1:].flatten(0, 1)  # what all steps but the first add to dW_hh
        dH_0 = dA[0] @ W_hh.T if ctx.needs_input_grad[1] else None  # type: ignore[attr-defined]
        return dA, dH_0, torch.addmm(later, H_0.T, dA[0])
