"""The concise model: equal to the one from scratch, causal, and each cell's state handled alike."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_scratch import biased, loss_and_gradients, numbers, tokens
from torch import nn

from d2lrnn.models import RNNLM, detached, mode, refuse_bidirectional
from d2lrnn.scratch import PlainRNNLM, RNNLMScratch

law = settings(deadline=None, max_examples=30)  # a busy machine is not a fault
cells = pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])

CAUSAL = {
    "plain": lambda: biased(PlainRNNLM(6, 5, sigma=0.5)),
    "scratch": lambda: biased(RNNLMScratch(6, 5, sigma=0.5)),
    "rnn": lambda: RNNLM(6, 5),
    "gru": lambda: RNNLM(6, 5, "gru"),
    "lstm": lambda: RNNLM(6, 5, "lstm"),
    "three layers": lambda: RNNLM(6, 5, "gru", 3),
}
causal = pytest.mark.parametrize("kind", CAUSAL)


def pair(kind, vocab_size, hiddens, dtype=torch.float64):
    """Return a model from scratch and the concise one with its weights."""
    scratch = biased(kind(vocab_size, hiddens, sigma=0.5, dtype=dtype))
    return scratch, RNNLM(vocab_size, hiddens, dtype=dtype).copy_from_scratch(scratch)


def zeros(cell, layers, batch_size, hiddens):
    state = torch.zeros(layers, batch_size, hiddens, dtype=torch.float64)
    return (state, state) if cell == "lstm" else state


# With the weights from scratch


@pytest.mark.parametrize("kind", [PlainRNNLM, RNNLMScratch])
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (4, 4), (4, 1), (1, 6), (1, 1)])
def test_both_have_the_same_logits_and_state(kind, dtype, atol, shape):
    scratch, concise = pair(kind, 7, 5, dtype)
    X, state = tokens(*shape, 7), numbers(shape[0], 5).to(dtype)
    (ours, last), (theirs, (end,)) = scratch(X, state), concise(X, state[None])
    torch.testing.assert_close((ours, last), (theirs, end), rtol=0, atol=atol)


@pytest.mark.parametrize("kind", [PlainRNNLM, RNNLMScratch])
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (4, 1), (1, 6)])
def test_both_have_the_same_loss_and_gradients(kind, dtype, atol, shape):
    scratch, concise = pair(kind, 7, 5, dtype)
    X, Y, state = tokens(*shape, 7), tokens(*shape, 7, seed=1), numbers(shape[0], 5).to(dtype)
    loss, ours = loss_and_gradients(scratch, X, Y, state)
    same_loss, theirs = loss_and_gradients(concise, X, Y, state[None])
    torch.testing.assert_close(
        [loss, *(ours[name].T for name in ("rnn.W_xh", "rnn.W_hh", "W_hq")), ours["rnn.b_h"], ours["b_q"]],
        [
            same_loss,
            *(theirs[name] for name in ("rnn.weight_ih_l0", "rnn.weight_hh_l0", "linear.weight")),
            theirs["rnn.bias_ih_l0"],
            theirs["linear.bias"],
        ],
        rtol=1e-6 if dtype == torch.float32 else 0,
        atol=atol,
    )
    torch.testing.assert_close(ours["state"], theirs["state"][0], rtol=0, atol=atol)


@law
@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 5), st.integers(1, 7), st.integers(0, 99))
def test_both_agree_for_every_shape(batch_size, num_steps, hiddens, vocab_size, seed):
    scratch, concise = pair(RNNLMScratch, vocab_size, hiddens)
    X, state = tokens(batch_size, num_steps, vocab_size, seed), numbers(batch_size, hiddens, seed=seed)
    torch.testing.assert_close(scratch(X, state)[0], concise(X, state[None])[0], rtol=0, atol=1e-12)


def test_copying_weights_converts_them_to_the_models_type():
    concise = RNNLM(7, 5, dtype=torch.float32).copy_from_scratch(RNNLMScratch(7, 5))
    assert {p.dtype for p in concise.parameters()} == {torch.float32}


def test_copied_weights_are_no_views():
    scratch, concise = pair(RNNLMScratch, 7, 5)
    before = concise.rnn.weight_hh_l0.clone()
    with torch.no_grad():
        scratch.rnn.W_hh.zero_()
    assert torch.equal(concise.rnn.weight_hh_l0, before)


@pytest.mark.parametrize(
    ("model", "source", "error", "message"),
    [
        (RNNLM(7, 5, "gru"), RNNLMScratch(7, 5), ValueError, "only one layer of cell='rnn'"),
        (RNNLM(7, 5, num_layers=2), RNNLMScratch(7, 5), ValueError, "only one layer"),
        (RNNLM(7, 5, bidirectional=True), RNNLMScratch(7, 5), ValueError, "not bidirectional"),
        (RNNLM(7, 5), RNNLMScratch(7, 4), ValueError, r"7 tokens and 5 hiddens, got \(7, 4\)"),
        (RNNLM(7, 5), RNNLMScratch(6, 5), ValueError, r"7 tokens and 5 hiddens, got \(6, 5\)"),
        (RNNLM(7, 5), RNNLM(7, 5), TypeError, "model must be an RNNLMScratch, got RNNLM"),
    ],
)
def test_weights_that_do_not_fit_are_an_error(model, source, error, message):
    with pytest.raises(error, match=message):
        model.copy_from_scratch(source)


# What an output depends on


@causal
@law
@given(st.data())
def test_an_output_depends_on_no_later_token(kind, data):
    model, steps = CAUSAL[kind](), data.draw(st.integers(1, 7))
    X, k = tokens(2, steps, 6), data.draw(st.integers(0, steps - 1))
    changed = X.clone()
    changed[:, k] = (X[:, k] + 1) % 6
    assert torch.equal(model(X)[0][:, :k], model(changed)[0][:, :k])


@causal
@pytest.mark.parametrize("k", range(5))
def test_an_output_depends_on_its_token_and_every_earlier_one(kind, k):
    model, X = CAUSAL[kind](), tokens(2, 5, 6)
    changed = X.clone()
    changed[:, k] = (X[:, k] + 1) % 6
    differences = (model(X)[0] - model(changed)[0]).abs().amax(2)  # (batch, steps)
    assert bool((differences[:, k:] > 1e-9).all())


@causal
@law
@given(st.integers(2, 5), st.integers(1, 6), st.data())
def test_a_row_depends_on_no_other_row(kind, batch_size, num_steps, data):
    model, X = CAUSAL[kind](), tokens(batch_size, num_steps, 6)
    row = data.draw(st.integers(0, batch_size - 1))
    torch.testing.assert_close(model(X[row : row + 1])[0][0], model(X)[0][row], rtol=0, atol=1e-12)


@causal
def test_reading_on_from_a_state_is_reading_at_once(kind):
    model, X = CAUSAL[kind](), tokens(3, 7, 6)
    first, state = model(X[:, :2])
    second, _ = model(X[:, 2:], state)
    torch.testing.assert_close(torch.cat([first, second], 1), model(X)[0], rtol=0, atol=1e-12)


@cells
def test_a_bidirectional_model_sees_the_future(cell):
    model, X = RNNLM(6, 5, cell, bidirectional=True), tokens(2, 5, 6)
    changed = X.clone()
    changed[:, 4] = (X[:, 4] + 1) % 6
    assert bool(((model(X)[0] - model(changed)[0])[:, 0].abs().amax(1) > 1e-9).all())


# Shapes, states and types


@law
@given(
    st.sampled_from(["rnn", "gru", "lstm"]),
    st.integers(1, 3),
    st.booleans(),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 4),
)
def test_every_model_returns_logits_batch_first_and_a_state_that_it_takes(
    cell, layers, bidirectional, batch_size, num_steps, hiddens
):
    model = RNNLM(6, hiddens, cell, layers, bidirectional)
    X = tokens(batch_size, num_steps, 6)
    logits, state = model(X, zeros(cell, layers * (1 + bidirectional), batch_size, hiddens))
    assert logits.shape == (batch_size, num_steps, 6)
    assert torch.equal(model(X)[0], logits)
    model(X, state)


@cells
def test_the_numbers_are_pytorchs(cell):
    model = RNNLM(6, 5, cell, 2)
    layer = getattr(nn, cell.upper())(6, 5, 2, dtype=torch.float64)
    layer.load_state_dict(model.rnn.state_dict())
    X = tokens(3, 4, 6)
    outputs, _ = layer(nn.functional.one_hot(X.T, 6).double())
    expected = (outputs @ model.linear.weight.T + model.linear.bias).transpose(0, 1)
    torch.testing.assert_close(model(X)[0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("cell", "gates"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
def test_the_number_of_parameters_is_that_of_the_cell(cell, gates):
    expected = gates * 5 * (6 + 5 + 2) + 6 * (5 + 1)
    assert sum(p.numel() for p in RNNLM(6, 5, cell).parameters()) == expected


@cells
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_type_of_number_is_the_models(cell, dtype):
    model = RNNLM(6, 5, cell, dtype=dtype)
    logits, _ = model(tokens(2, 3, 6), zeros(cell, 1, 2, 5))
    assert {logits.dtype, *(p.dtype for p in model.parameters())} == {dtype}


@pytest.mark.parametrize(
    ("cell", "state", "error", "message"),
    [
        ("rnn", torch.zeros(2, 5), ValueError, r"state must have shape \(1, 2, 5\), got \(2, 5\)"),
        ("gru", torch.zeros(1, 1, 5), ValueError, r"state must have shape \(1, 2, 5\), got \(1, 1, 5\)"),
        ("gru", (torch.zeros(1, 2, 5),), TypeError, "state must be a tensor for cell='gru'"),
        ("lstm", torch.zeros(1, 2, 5), TypeError, "state must be a tuple of two tensors for cell='lstm'"),
        ("lstm", (torch.zeros(1, 2, 5),), TypeError, "state must be a tuple of two tensors"),
        ("lstm", (torch.zeros(1, 2, 5), torch.zeros(1, 2, 4)), ValueError, r"got \(1, 2, 4\)"),
        ("rnn", "abc", TypeError, "state must be a tensor"),
    ],
)
def test_a_state_of_another_model_is_an_error(cell, state, error, message):
    with pytest.raises(error, match=message):
        RNNLM(6, 5, cell)(tokens(2, 3, 6), state)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (torch.tensor([[6]]), ValueError, r"in 0\.\.5, got 6"),
        (torch.tensor([0, 1]), ValueError, r"\(batch, steps\)"),
        (torch.zeros(2, 3), TypeError, "must hold integers"),
    ],
)
def test_what_is_no_batch_of_tokens_is_an_error(X, error, message):
    with pytest.raises(error, match=message):
        RNNLM(6, 5)(X)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 5), ValueError, "vocab_size must be at least 1, got 0"),
        ((6, 0), ValueError, "num_hiddens must be at least 1, got 0"),
        ((6, 5, "elman"), ValueError, "cell must be one of 'rnn', 'gru', 'lstm'; got 'elman'"),
        ((6, 5, "rnn", 0), ValueError, "num_layers must be at least 1, got 0"),
        ((6, 5, "rnn", 1, "yes"), TypeError, "bidirectional must be True or False, got 'yes'"),
        ((6.0, 5), TypeError, "vocab_size must be an integer"),
    ],
)
def test_an_impossible_model_is_an_error(arguments, error, message):
    with pytest.raises(error, match=message):
        RNNLM(*arguments)


# Initial weights


@cells
def test_the_same_seed_gives_the_same_weights(cell):
    pairs = zip(RNNLM(6, 5, cell, seed=2).parameters(), RNNLM(6, 5, cell, seed=2).parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_another_seed_gives_other_weights():
    assert not torch.equal(RNNLM(6, 5, seed=1).linear.weight, RNNLM(6, 5, seed=0).linear.weight)


@cells
def test_weights_are_spread_as_pytorch_spreads_them(cell):
    weights = torch.cat([p.detach().flatten() for p in RNNLM(30, 100, cell).parameters()])
    assert 0.0999 < float(weights.abs().max()) <= 0.1
    assert float(weights.std()) == pytest.approx(0.1 / 3**0.5, rel=0.02)


@cells
def test_making_a_model_leaves_global_random_state_alone(cell):
    before = torch.get_rng_state()
    RNNLM(6, 5, cell)
    assert torch.equal(torch.get_rng_state(), before)


# What training and generation need of any model


@pytest.mark.parametrize("number", [1, 2])
def test_a_detached_state_has_its_values_and_no_graph(number):
    parts = tuple(numbers(2, 3).requires_grad_() * 2 for _ in range(number))
    state = detached(parts[0] if number == 1 else parts)
    found = (state,) if number == 1 else state
    assert type(state) is (torch.Tensor if number == 1 else tuple)
    assert [torch.equal(a, b) for a, b in zip(found, parts, strict=True)] == [True] * number
    assert not any(part.requires_grad for part in found)


def test_no_state_stays_none():
    assert detached(None) is None


@pytest.mark.parametrize("training", [True, False])
def test_each_part_of_a_model_gets_its_mode_back(training):
    model = nn.Sequential(nn.Dropout(), nn.Dropout())
    model[1].eval()
    with mode(model, training=training):
        assert [part.training for part in model.modules()] == [training] * 3
    assert [part.training for part in model.modules()] == [True, True, False]


def test_a_model_gets_its_mode_back_after_an_error():
    model = nn.Dropout()
    with pytest.raises(KeyError), mode(model, training=False):
        raise KeyError
    assert model.training


@pytest.mark.parametrize(
    "model", [RNNLM(6, 5, bidirectional=True), nn.Sequential(nn.GRU(2, 2, bidirectional=True))]
)
def test_a_bidirectional_model_is_refused_with_the_reason(model):
    with pytest.raises(ValueError, match=r"bidirectional: what it says .* has seen that token"):
        refuse_bidirectional(model)


def test_what_cannot_be_called_is_no_model():
    with pytest.raises(TypeError, match=r"model must be an nn\.Module or a function, got 'rnn'"):
        refuse_bidirectional("rnn")
