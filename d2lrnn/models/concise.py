"""A language model over PyTorch's own cells; `contract` says how language models are called."""

from __future__ import annotations

import reprlib

import numpy as np
import torch
from torch import Tensor, nn

from d2lrnn import _support
from d2lrnn.models._tensors import default_sigma, fits_memory, float_type, initial_state, known_tokens
from d2lrnn.models.contract import State
from d2lrnn.models.scratch import PlainRNNLM
from d2lrnn.reproducible import Seed, generator, uniform

CELLS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
MAX_LAYERS = 1000  # each is made by itself: a million would take minutes


class RNNLM(nn.Module):
    """Predict each next token with a recurrent network of PyTorch and a linear output layer.

    It is made on the CPU, whatever PyTorch's default device is; `to` moves it.

    Parameters
    ----------
    vocab_size : int
        The number of tokens, ``|V|``.
    num_hiddens : int
        Length of a hidden state.
    cell : str
        "rnn" (tanh), "gru" or "lstm".
    num_layers : int
        Recurrent layers, each reading the hidden states of the one below, 1000 at most.
    bidirectional : bool
        Whether another network reads from right to left. Each output has then seen the whole text, the token
        to predict too: such a model is good for labelling a text that is there, and is no language model.
        `train`, `evaluate` and `generate` refuse it.
    dtype : torch.dtype
        Of the weights: float16, bfloat16, float32 or float64, whatever PyTorch's default is. States are
        converted to it.
    seed : int, torch.Generator or None
        Draws the initial weights and biases, uniform between -1/sqrt(num_hiddens) and 1/sqrt(num_hiddens) as
        PyTorch has them: the same seed, the same weights on every machine. None draws from PyTorch's global
        generator, as its own layers do; an int or a generator leaves global random state alone.
    embedding_size : int or None
        None reads tokens as one-hot vectors of length vocab_size. An int reads vectors of that length, a row
        for each token in the matrix of an `nn.Embedding`, which is learnt with the rest: for vocabularies of
        words or byte pairs, where products with one-hot vectors take most of the time. The seed draws that
        matrix first, uniform with PyTorch's standard deviation of 1, then the rest.

    Attributes
    ----------
    embedding : nn.Embedding or None
        What turns tokens into vectors; None where they are one-hot.
    rnn : nn.Module
        PyTorch's recurrent layers: an `nn.RNN`, `nn.GRU` or `nn.LSTM`.
    linear : nn.Linear
        The output layer.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the weights do not fit in memory.

    References
    ----------
    - Hochreiter and Schmidhuber (1997), "Long short-term memory": the LSTM.
    - Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder": the GRU.
    - Bengio et al. (2003), "A neural probabilistic language model": the embedding.
    """

    @torch.inference_mode(False)  # weights made in inference mode could never be trained
    def __init__(
        self,
        vocab_size: int,
        num_hiddens: int,
        cell: str = "rnn",
        num_layers: int = 1,
        bidirectional: bool = False,
        *,
        dtype: torch.dtype = torch.float64,
        seed: Seed = None,
        embedding_size: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = _support.integer("vocab_size", vocab_size, minimum=1)
        self.num_hiddens = _support.integer("num_hiddens", num_hiddens, minimum=1)
        self.cell = _support.one_of("cell", cell, CELLS)
        if not isinstance(bidirectional, (bool, np.bool_)):
            raise TypeError(f"bidirectional must be True or False, got {bidirectional!r}")
        self.bidirectional = bool(bidirectional)
        layers = _support.integer("num_layers", num_layers, minimum=1)
        if layers > MAX_LAYERS:
            raise ValueError(f"num_layers must be at most {MAX_LAYERS}, got {_support.short(layers)}")
        length = 0
        if embedding_size is not None:
            length = _support.integer("embedding_size", embedding_size, minimum=1)
        num_inputs, width = length or self.vocab_size, self.num_hiddens * (1 + self.bidirectional)
        fits_memory(
            width * (num_inputs + layers * self.num_hiddens) + self.vocab_size * (width + length),
            float_type(dtype),
            vocab_size=vocab_size,
            num_hiddens=num_hiddens,
            num_layers=num_layers,
            embedding_size=embedding_size,
        )
        self.embedding: nn.Embedding | None = None
        with torch.device("meta"):  # without numbers, which would be drawn from the global generator
            if length:
                self.embedding = nn.Embedding(self.vocab_size, length, dtype=dtype)
            self.rnn = CELLS[cell](
                num_inputs, self.num_hiddens, layers, bidirectional=self.bidirectional, dtype=dtype
            )
            self.linear = nn.Linear(width, self.vocab_size, dtype=dtype)
        self.to_empty(device="cpu")
        rng, sigma = generator(seed), default_sigma(self.num_hiddens)
        with torch.no_grad():
            for name, p in self.named_parameters():
                spread = 1.0 if name == "embedding.weight" else sigma
                p.copy_(uniform(*p.shape, sigma=spread, dtype=dtype, generator=rng))

    def forward(self, X: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Read a batch of tokens.

        Parameters
        ----------
        X : Tensor of shape (batch, steps)
            Token indices, at least one, on the device of the weights.
        state : Tensor of shape (layers, batch, hiddens), or a tuple of two of them, optional
            What an earlier call returned: for an LSTM the hidden state and the memory, else the hidden state.
            With `bidirectional` there are twice as many layers. None is zeros.

        Returns
        -------
        logits : Tensor of shape (batch, steps, vocab)
            Of the next token after each.
        state : Tensor or tuple of Tensor
            The last state, as it is taken.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or an index is not in 0..vocab_size-1.
        """
        X = known_tokens(X, self.vocab_size, self.linear.weight)
        if self.embedding is None:
            inputs = nn.functional.one_hot(X.T, self.vocab_size).to(self.linear.weight.dtype)
        else:
            inputs = self.embedding(X.T)  # (steps, batch, embedding)
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
        """Copy the weights of a model from `scratch`, converted to this model's dtype.

        PyTorch adds two biases, of inputs and of states; the second becomes 0.

        Parameters
        ----------
        model : RNNLMScratch or PlainRNNLM
            Of the same sizes.

        Returns
        -------
        RNNLM
            This model.

        Raises
        ------
        TypeError
            If `model` is not from `scratch`.
        ValueError
            If this model is not one layer of "rnn" cells from left to right that reads one-hot vectors, or if
            the sizes differ.
        """
        if not isinstance(model, PlainRNNLM):
            raise TypeError(f"model must be an RNNLMScratch, got {type(model).__name__}")
        if self.cell != "rnn" or self.rnn.num_layers > 1 or self.bidirectional or self.embedding is not None:
            raise ValueError(
                "only one layer of cell='rnn', not bidirectional and without embedding_size, can have the "
                f"weights of model; this is cell={self.cell!r}, num_layers={self.rnn.num_layers}, "
                f"bidirectional={self.bidirectional}, embedding={self.embedding}"
            )
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
