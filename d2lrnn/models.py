"""What a language model is to the rest of the package, and one over PyTorch's own cells.

A language model is called with token indices X, (batch, steps), and the state that an earlier call returned,
or None; it returns logits, (batch, steps, vocab), and its state, a tensor or a tuple of tensors.
"""

from __future__ import annotations

import contextlib
import reprlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

import torch
from torch import Tensor, nn

from d2lrnn import _checks
from d2lrnn._random import Seed, generator
from d2lrnn.reproducible import uniform
from d2lrnn.scratch import PlainRNNLM, default_sigma, initial_state, one_hot

CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}

State: TypeAlias = Tensor | tuple[Tensor, ...]
Model: TypeAlias = Callable[[Tensor, State | None], tuple[Tensor, State]]  # an nn.Module is one


class RNNLM(nn.Module):
    """Predict each next token with a recurrent network of PyTorch and a linear output layer.

    Parameters
    ----------
    vocab_size : int
        |V|, the number of tokens.
    num_hiddens : int
        Length of a hidden state.
    cell : str
        "rnn" (tanh), "gru" or "lstm".
    num_layers : int
        Recurrent layers, each reading the hidden states of the one below.
    bidirectional : bool
        Whether another network reads from right to left. Each output has then seen the whole text, the token
        to predict too: such a model is good for labelling a text that is there, and is no language model.
        `train`, `evaluate` and `generate` refuse it.
    dtype : torch.dtype
        Of the weights. States are converted to it.
    seed : int, None or torch.Generator
        Draws the initial weights and biases, uniform between -1/sqrt(num_hiddens) and 1/sqrt(num_hiddens) as
        PyTorch has them: the same seed, the same weights on every machine. None draws from fresh entropy.
        Global random state is neither read nor written.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.

    References
    ----------
    S. Hochreiter and J. Schmidhuber, "Long short-term memory", 1997.
    K. Cho et al., "Learning phrase representations using RNN encoder-decoder", 2014: the GRU.
    """

    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        cell: str = "rnn",
        num_layers: int = 1,
        bidirectional: bool = False,
        *,
        dtype: torch.dtype = torch.float64,
        seed: Seed = 0,
    ) -> None:
        super().__init__()
        self.vocab_size = _checks.integer("vocab_size", vocab_size, minimum=1)
        self.num_hiddens = _checks.integer("num_hiddens", num_hiddens, minimum=1)
        self.cell = _checks.one_of("cell", cell, CELLS)
        if not isinstance(bidirectional, bool):
            raise TypeError(f"bidirectional must be True or False, got {bidirectional!r}")
        self.bidirectional = bidirectional
        num_layers = _checks.integer("num_layers", num_layers, minimum=1)
        # Made without numbers ("meta"), which would be drawn from the global generator.
        self.rnn = CELLS[cell](
            vocab_size, num_hiddens, num_layers, bidirectional=bidirectional, device="meta", dtype=dtype
        ).to_empty(device="cpu")
        width = num_hiddens * (1 + bidirectional)
        self.linear = nn.Linear(width, vocab_size, device="meta", dtype=dtype).to_empty(device="cpu")
        rng, sigma = generator(seed), default_sigma(num_hiddens)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(uniform(*p.shape, sigma=sigma, dtype=dtype, generator=rng))

    def forward(self, X: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Return the logits after every token, (batch, steps, vocab), and the last state.

        `X` is (batch, steps), token indices; `state` is what an earlier call returned, zeros for None: a
        tensor, (layers, batch, hiddens), or for an LSTM two of them, the hidden state and the memory. With
        `bidirectional` there are twice as many layers.
        """
        inputs = one_hot(X, self.vocab_size, dtype=self.linear.weight.dtype)
        outputs, state = self.rnn(inputs, self._checked(state, len(X)))  # (steps, batch, hiddens)
        return self.linear(outputs).transpose(0, 1), state

    def _checked(self, state: State | None, batch_size: int) -> State | None:
        """Return a state in the weights' dtype, or raise unless it is of this model and batch."""
        if state is None:
            return None
        shape = (self.rnn.num_layers * (1 + self.bidirectional), batch_size, self.num_hiddens)
        parts = state if isinstance(state, tuple) else (state,)
        if (self.cell == "lstm") != isinstance(state, tuple) or len(parts) != 1 + (self.cell == "lstm"):
            expected = "a tuple of two tensors" if self.cell == "lstm" else "a tensor"
            raise TypeError(f"state must be {expected} for cell={self.cell!r}, got {reprlib.repr(state)}")
        checked = tuple(initial_state(part, shape, self.linear.weight) for part in parts)
        return checked if self.cell == "lstm" else checked[0]

    def copy_from_scratch(self, model: PlainRNNLM) -> RNNLM:
        """Copy the weights of a model from `scratch`, convert them to this model's dtype, and return `self`.

        PyTorch adds two biases, of inputs and of states; the second becomes 0.

        Raises
        ------
        TypeError
            If `model` is not from `scratch`.
        ValueError
            If this model is not one layer of "rnn" cells from left to right, or the sizes differ.
        """
        if not isinstance(model, PlainRNNLM):
            raise TypeError(f"model must be an RNNLMScratch, got {type(model).__name__}")
        if self.cell != "rnn" or self.rnn.num_layers > 1 or self.bidirectional:
            raise ValueError("only one layer of cell='rnn', not bidirectional, can have the weights of model")
        sizes = model.vocab_size, model.rnn.num_hiddens
        if sizes != (self.vocab_size, self.num_hiddens):
            raise ValueError(
                f"model must have {self.vocab_size} tokens and {self.num_hiddens} hiddens, got {sizes}"
            )
        with torch.no_grad():
            self.rnn.weight_ih_l0.copy_(model.rnn.W_xh.T)
            self.rnn.weight_hh_l0.copy_(model.rnn.W_hh.T)
            self.rnn.bias_ih_l0.copy_(model.rnn.b_h)
            self.rnn.bias_hh_l0.zero_()
            self.linear.weight.copy_(model.W_hq.T)
            self.linear.bias.copy_(model.b_q)
        return self


def detached(state: State | None) -> State | None:
    """Return the values of a state without the graph that computed them."""
    if isinstance(state, tuple):
        return tuple(part.detach() for part in state)
    return None if state is None else state.detach()


def refuse_bidirectional(model: object) -> None:
    """Raise unless a model can be called and reads from left to right only."""
    if not callable(model):
        raise TypeError(f"model must be an nn.Module or a function, got {model!r} ({type(model).__name__})")
    parts = model.modules() if isinstance(model, nn.Module) else (model,)
    if any(getattr(part, "bidirectional", False) for part in parts):
        raise ValueError(
            "model must read from left to right, but is bidirectional: what it says of the next token comes "
            "from a state that has seen that token and all after it"
        )


@contextlib.contextmanager
def mode(model: object, *, training: bool) -> Iterator[None]:
    """Set a model and its parts to training or evaluation within the block, then each back to what it was."""
    parts = list(model.modules()) if isinstance(model, nn.Module) else []
    before = [part.training for part in parts]
    if isinstance(model, nn.Module):
        model.train(training)
    try:
        yield
    finally:
        for part, was in zip(parts, before, strict=True):
            part.training = was
