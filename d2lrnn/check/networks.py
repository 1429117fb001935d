"""Checks for the chapters that build recurrent networks, from scratch and with PyTorch's layers."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from d2lrnn.check._run import Case, own_settings, run
from d2lrnn.models.concise import CELLS
from d2lrnn.models.scratch import PlainRNNLM, one_hot
from d2lrnn.training.clipping import clip_gradients
from d2lrnn.training.evaluate import evaluate


@own_settings()
def one_hots(function: Callable[..., object]) -> None:
    """Check ``one_hots(X, num_classes)``: token indices, (batch, steps), to (steps, batch, num_classes).

    Each index becomes a vector with 1 at that place and 0 elsewhere.
    """
    cases = [
        Case((X, classes), one_hot(X, classes), hint)
        for X, classes, hint in [
            (torch.tensor([[1]]), 3, "num_classes numbers 0 and 1, not False and True; the three axes stay."),
            (torch.tensor([[0, 2, 1], [3, 3, 0]]), 4, "The steps come first, then the texts."),
            (torch.tensor([[0, 1], [2, 0]]), 3, "With as many steps as texts no shape tells them apart."),
            (torch.tensor([[0], [1], [1]]), 5, "The length is num_classes, whatever X holds."),
        ]
    ]
    run("one_hots", function, cases)


@own_settings()
def clip_all(function: Callable[..., object]) -> None:
    """Check ``clip_all(gradients, theta)``: a list of gradients, scaled so that their norm is at most theta.

    `gradients` is a list of tensors of any shapes; None stands for a parameter without a gradient and stays.
    """

    def gradient(*values: float) -> Tensor:
        return torch.tensor(values, dtype=torch.float64)

    examples: list[tuple[list[Tensor | None], float, str]] = [
        ([gradient(6, 8)], 5.0, "The norm is 10, so everything is halved."),
        ([gradient(6), gradient(8, 0)[:, None]], 5.0, "The norm is that of all gradients as one vector."),
        ([gradient(0.3, 0.4), gradient(0)], 1.0, "Gradients that are short enough are left alone."),
        ([gradient(3, 4), None, gradient(0)], 1.0, "None is no gradient: it has no length, and stays None."),
        ([gradient(0), gradient(0, 0)], 1.0, "Zeros have no direction; do not divide by their norm."),
        ([gradient(-30, 40)], math.inf, "An infinite theta never clips."),
    ]
    cases = []
    for given, theta, hint in examples:
        scaled = [None if g is None else torch.zeros_like(g) for g in given]
        parameters = [p for p in scaled if p is not None]
        for p, g in zip(parameters, [g for g in given if g is not None], strict=True):
            p.grad = g.clone()
        clip_gradients(parameters, theta)
        cases.append(Case((given, theta), [None if p is None else p.grad for p in scaled], hint))
    run("clip_all", function, cases)


@own_settings()
def text_perplexity(function: Callable[..., object]) -> None:
    """Check ``text_perplexity(model, corpus, num_steps)``: a model's perplexity on a text, a float.

    ``model(X, state)`` takes indices, (1, steps), and a state or None, and returns logits, (1, steps, 5), and
    a state. The model reads `num_steps` tokens at a time, or what is left of the text; all tokens but the
    first are predicted, each once, from everything before them.
    """
    network = PlainRNNLM(5, 4, sigma=2.0, seed=0)

    def model(X: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return network(X, state)  # type: ignore[no-any-return]

    draw = torch.Generator().manual_seed(0)
    cases = []
    for num_tokens, num_steps, hint in [
        (2, 1, "Of two tokens the second is predicted, from the first."),
        (9, 8, "A label is the token after its input."),
        (13, 4, "The state of each window is carried to the next."),
        (12, 4, "What is left at the end counts, with the weight of its tokens."),
        (12, 50, "A text may be shorter than num_steps."),
    ]:
        corpus = torch.randint(5, (num_tokens,), generator=draw)
        expected = evaluate(model, corpus, num_steps)  # type: ignore[arg-type]
        cases.append(Case((model, corpus, num_steps), expected, hint))
    run("text_perplexity", function, cases)


@own_settings()
def draw_token(function: Callable[..., object]) -> None:
    """Check ``draw_token(logits, temperature, u)``: the index that a number `u` in [0, 1) draws, an int.

    `logits` is a list. The probabilities, softmax(logits / temperature), lie on the line from 0 to 1 side by
    side in the order of the indices; the answer is the index in whose part `u` lies. At temperature 0 it is
    the index of the highest logit.
    """
    half = [math.log(p) for p in (0.5, 0.25, 0.25)]
    skewed = [math.log(p) for p in (0.1, 0.2, 0.7)]
    cases = [
        Case((half, 1.0, 0.4), 0, "The first half of the line belongs to the first index."),
        Case((half, 1.0, 0.6), 1, "Add the probabilities up until they exceed u."),
        Case((half, 1.0, 0.8), 2, "The last quarter belongs to the last index."),
        Case((skewed, 1.0, 0.0), 0, "u may be 0, which lies in the first part, however short."),
        Case(
            (skewed, 0.5, 0.08),
            1,
            "Divide the logits by the temperature: below 1 the best gains.",
        ),
        Case((skewed, 100.0, 0.3), 0, "At a high temperature all indices have nearly the same chance."),
        Case((skewed, 0.0, 0.01), 2, "At temperature 0 the highest logit wins whatever u is."),
        Case(([1000.0, 999.0], 1.0, 0.7), 0, "exp(1000) is too large: subtract the highest logit first."),
    ]
    run("draw_token", function, cases)


@own_settings()
def layer_parameters(function: Callable[..., object]) -> None:
    """Check ``layer_parameters(cell, num_inputs, num_hiddens, num_layers)``: how many numbers a layer holds.

    That is of ``nn.RNN``, ``nn.GRU`` or ``nn.LSTM`` as `cell` is "rnn", "gru" or "lstm"; there is no output
    layer.
    """
    hints = {
        ("rnn", 28, 32, 1): "W_ih, W_hh and two biases.",
        ("gru", 28, 32, 1): "A GRU has three sets: two gates and the candidate.",
        ("lstm", 28, 32, 1): "An LSTM has four sets: three gates and the candidate.",
        ("rnn", 1, 1, 1): "One input and one unit: four numbers.",
        ("rnn", 5, 3, 2): "The second layer reads the hidden states of the first, not the inputs.",
        ("lstm", 28, 16, 3): "Each layer above the first has as many inputs as hidden units.",
    }
    cases = []
    for (cell, *sizes), hint in hints.items():
        layer = CELLS[str(cell)](*sizes, device="meta")
        cases.append(Case((cell, *sizes), sum(p.numel() for p in layer.parameters()), hint))
    run("layer_parameters", function, cases)


@own_settings()
def rnn_shapes(function: Callable[..., object]) -> None:
    """Check ``rnn_shapes(steps, batch, hiddens, layers, bidirectional)``: two shapes, each a tuple.

    They are those of the outputs and of the last state of an ``nn.RNN`` or ``nn.GRU`` with so many hidden
    units and layers, after a batch with the steps first.
    """
    hints = {
        (5, 3, 32, 1, False): "Outputs for every step, (steps, batch, hiddens); one state for each layer.",
        (3, 5, 32, 1, False): "The steps come first, then the batch.",
        (1, 1, 4, 1, False): "A single step and a single text keep their axes.",
        (7, 5, 64, 2, False): "The outputs are those of the top layer; every layer has a state.",
        (
            7,
            5,
            64,
            1,
            True,
        ): "Both directions lie side by side in the outputs, and are two states.",
        (7, 5, 64, 3, True): "There are two states for each layer.",
    }
    cases = []
    for (steps, batch, hiddens, layers, both), hint in hints.items():
        layer = torch.nn.GRU(2, hiddens, layers, bidirectional=both, device="meta")
        outputs, state = layer(torch.zeros(steps, batch, 2, device="meta"))
        shapes = tuple(outputs.shape), tuple(state.shape)
        cases.append(Case((steps, batch, hiddens, layers, both), shapes, hint))
    run("rnn_shapes", function, cases)


@own_settings()
def gru_step(function: Callable[..., object]) -> None:
    """Check ``gru_step(X, H, W_ih, W_hh, b_ih, b_hh)``: the next state of PyTorch's GRU, (batch, hiddens).

    `X` is (batch, inputs), `H` is (batch, hiddens). `W_ih`, (3 hiddens, inputs), and `W_hh`, (3 hiddens,
    hiddens), hold the weights of reset gate, update gate and candidate on top of one another; so do the
    biases.
    """
    draw = torch.Generator().manual_seed(0)

    def random(*shape: int) -> Tensor:
        return (4 * torch.rand(shape, dtype=torch.float64, generator=draw) - 2).round(decimals=1)

    formula = (
        "Rows: reset gate, update gate, candidate. The reset gate multiplies H W_hc + b_hc, bias included; "
        "the new state is (1 - Z) C + Z H."
    )
    cases = []
    for batch, inputs, hiddens, size, hint in [
        (1, 1, 1, 1, formula),
        (2, 3, 4, 1, "The first hiddens rows are the reset gate's, the next the update gate's."),
        (4, 4, 4, 1, "With equal sizes no shape tells a matrix from its transpose: X W_ih^T."),
        (2, 2, 3, 0, "From a state of zero the biases of the state are left."),
    ]:
        X, H = random(batch, inputs), size * random(batch, hiddens)
        weights = random(3 * hiddens, inputs), random(3 * hiddens, hiddens), *random(2, 3 * hiddens)
        cases.append(Case((X, H, *weights), torch.gru_cell(X, H, *weights), hint))
    run("gru_step", function, cases)
