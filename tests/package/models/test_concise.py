"""The concise model: equal to the one from scratch, causal, and each cell's state handled alike."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_scratch import biased, loss_and_gradients, numbers, tokens
from torch import nn

from d2lrnn.models.concise import RNNLM
from d2lrnn.models.contract import detached, refuse_bidirectional
from d2lrnn.models.scratch import PlainRNNLM, RNNLMScratch
from d2lrnn.modules import mode
from d2lrnn.reproducible import uniform

law = settings(deadline=None, max_examples=30)  # a busy machine is not a fault
cells = pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])

CAUSAL = {
    "plain": lambda: biased(PlainRNNLM(6, 5, sigma=0.5, seed=0)),
    "scratch": lambda: biased(RNNLMScratch(6, 5, sigma=0.5, seed=0)),
    "rnn": lambda: RNNLM(6, 5, seed=0),
    "gru": lambda: RNNLM(6, 5, "gru", seed=0),
    "lstm": lambda: RNNLM(6, 5, "lstm", seed=0),
    "three layers": lambda: RNNLM(6, 5, "gru", 3, seed=0),
    "embedding": lambda: RNNLM(6, 5, embedding_size=3, seed=0),
}
causal = pytest.mark.parametrize("kind", CAUSAL)


def pair(kind, vocab_size, hiddens, dtype=torch.float64):
    """Return a model from scratch and the concise one with its weights."""
    scratch = biased(kind(vocab_size, hiddens, sigma=0.5, dtype=dtype))
    return scratch, RNNLM(vocab_size, hiddens, dtype=dtype, seed=0).copy_from_scratch(scratch)


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
    concise = RNNLM(7, 5, dtype=torch.float32, seed=0).copy_from_scratch(RNNLMScratch(7, 5, seed=0))
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
        (RNNLM(7, 5, "gru", seed=0), RNNLMScratch(7, 5, seed=0), ValueError, "only one layer of cell='rnn'"),
        (RNNLM(7, 5, num_layers=2, seed=0), RNNLMScratch(7, 5, seed=0), ValueError, "only one layer"),
        (
            RNNLM(7, 5, bidirectional=True, seed=0),
            RNNLMScratch(7, 5, seed=0),
            ValueError,
            "not bidirectional",
        ),
        (
            RNNLM(7, 5, seed=0),
            RNNLMScratch(7, 4, seed=0),
            ValueError,
            r"7 tokens and 5 hiddens, got \(7, 4\)",
        ),
        (
            RNNLM(7, 5, seed=0),
            RNNLMScratch(6, 5, seed=0),
            ValueError,
            r"7 tokens and 5 hiddens, got \(6, 5\)",
        ),
        (
            RNNLM(7, 5, embedding_size=7, seed=0),
            RNNLMScratch(7, 5, seed=0),
            ValueError,
            r"without embedding_size.*this is cell='rnn', num_layers=1, bidirectional=False, "
            r"embedding=Embedding\(7, 7\)",
        ),
        (RNNLM(7, 5, seed=0), RNNLM(7, 5, seed=0), TypeError, "model must be an RNNLMScratch, got RNNLM"),
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
    model, X = RNNLM(6, 5, cell, bidirectional=True, seed=0), tokens(2, 5, 6)
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
    model = RNNLM(6, hiddens, cell, layers, bidirectional, seed=0)
    X = tokens(batch_size, num_steps, 6)
    logits, state = model(X, zeros(cell, layers * (1 + bidirectional), batch_size, hiddens))
    assert logits.shape == (batch_size, num_steps, 6)
    assert torch.equal(model(X)[0], logits)
    model(X, state)


@cells
def test_the_numbers_are_pytorchs(cell):
    model = RNNLM(6, 5, cell, 2, seed=0)
    layer = getattr(nn, cell.upper())(6, 5, 2, dtype=torch.float64)
    layer.load_state_dict(model.rnn.state_dict())
    X = tokens(3, 4, 6)
    outputs, _ = layer(nn.functional.one_hot(X.T, 6).double())
    expected = (outputs @ model.linear.weight.T + model.linear.bias).transpose(0, 1)
    torch.testing.assert_close(model(X)[0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("cell", "gates"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
def test_the_number_of_parameters_is_that_of_the_cell(cell, gates):
    expected = gates * 5 * (6 + 5 + 2) + 6 * (5 + 1)
    assert sum(p.numel() for p in RNNLM(6, 5, cell, seed=0).parameters()) == expected


@cells
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_type_of_number_is_the_models(cell, dtype):
    model = RNNLM(6, 5, cell, dtype=dtype, seed=0)
    logits, _ = model(tokens(2, 3, 6), zeros(cell, 1, 2, 5))
    assert {logits.dtype, *(p.dtype for p in model.parameters())} == {dtype}


@pytest.mark.parametrize(
    ("cell", "state", "error", "message"),
    [
        ("rnn", torch.zeros(2, 5), ValueError, r"state must have shape \(1, 2, 5\), got \(2, 5\)"),
        ("gru", torch.zeros(1, 1, 5), ValueError, r"state must have shape \(1, 2, 5\), got \(1, 1, 5\)"),
        ("gru", (torch.zeros(1, 2, 5),), TypeError, "state must be a tensor for cell='gru'"),
        ("rnn", (torch.zeros(1, 2, 5),), TypeError, "state must be a tensor for cell='rnn'"),
        ("lstm", torch.zeros(1, 2, 5), TypeError, "state must be a tuple of two tensors for cell='lstm'"),
        ("lstm", (torch.zeros(1, 2, 5),), TypeError, "state must be a tuple of two tensors"),
        ("lstm", (torch.zeros(1, 2, 5), torch.zeros(1, 2, 4)), ValueError, r"got \(1, 2, 4\)"),
        ("rnn", "abc", TypeError, "state must be a tensor"),
        ("gru", torch.zeros(1, 2, 5, device="meta"), ValueError, "state must be on the model's device, cpu"),
        ("gru", torch.zeros(1, 2, 5).to_sparse(), TypeError, "state must be a dense tensor"),
        ("gru", torch.zeros(1, 2, 5) * 1j, TypeError, "state must hold real numbers"),
    ],
)
def test_a_state_of_another_model_is_an_error(cell, state, error, message):
    with pytest.raises(error, match=message):
        RNNLM(6, 5, cell, seed=0)(tokens(2, 3, 6), state)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (torch.tensor([[6]]), ValueError, r"in 0\.\.5, got 6"),
        (torch.tensor([[1, 6]]), ValueError, r"in 0\.\.5, got 6"),  # the least is allowed and not 0
        (torch.tensor([[-1]]), ValueError, r"in 0\.\.5, got -1"),
        (torch.tensor([0, 1]), ValueError, r"\(batch, steps\)"),
        (torch.zeros(2, 3), TypeError, "must hold integers"),
        (torch.tensor([[0]], device="meta"), ValueError, "must be on the model's device, cpu, got meta"),
        (torch.tensor([[0]]).to_sparse(), TypeError, "must be a dense tensor"),
    ],
)
@pytest.mark.parametrize("embedding_size", [None, 3])
def test_what_is_no_batch_of_tokens_is_an_error(X, error, message, embedding_size):
    with pytest.raises(error, match=f"X .*{message}"):
        RNNLM(6, 5, seed=0, embedding_size=embedding_size)(X)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 5), ValueError, "vocab_size must be at least 1, got 0"),
        ((6, 0), ValueError, "num_hiddens must be at least 1, got 0"),
        ((6, 5, "elman"), ValueError, "cell must be one of 'rnn', 'gru', 'lstm'; got 'elman'"),
        ((6, 5, "rnn", 0), ValueError, "num_layers must be at least 1, got 0"),
        ((6, 5, "rnn", 1, "yes"), TypeError, "bidirectional must be True or False, got 'yes'"),
        ((6.0, 5), TypeError, "vocab_size must be an integer"),
        ((6, 5, "rnn", 1001), ValueError, "num_layers must be at most 1000, got 1001"),
        ((6, 5, "rnn", 10**30), ValueError, "num_layers must be at most 1000, got 10{30}"),
        (
            (10**30, 5),
            ValueError,
            "weights must fit in memory, got vocab_size=10{30}, num_hiddens=5, num_layers=1",
        ),
        ((6, 10**9), ValueError, r"weights must fit in memory.*10{9}.*: \d+ of torch\.float64 or more"),
        ((6, 5, "rnn", 1, False, 0), ValueError, "embedding_size must be at least 1, got 0"),
        ((6, 5, "rnn", 1, False, 3.0), TypeError, "embedding_size must be an integer"),
        ((6, 5, "rnn", 1, False, 10**30), ValueError, "weights must fit in memory.*embedding_size=10{30}: "),
        (
            (10**8, 1, "rnn", 1, False, 10**8),
            ValueError,
            "weights must fit in memory.*embedding_size=10{8}: ",
        ),
    ],
)
def test_an_impossible_model_is_an_error(arguments, error, message):
    *sizes, embedding_size = arguments if len(arguments) == 6 else (*arguments, None)
    with pytest.raises(error, match=message):
        RNNLM(*sizes, seed=0, embedding_size=embedding_size)


@pytest.mark.parametrize(
    ("dtype", "error", "message"),
    [
        (None, TypeError, r"dtype must be a torch\.dtype, got None"),
        (torch.complex128, ValueError, r"dtype must be one of torch\.float16, .*; got torch\.complex128"),
        (torch.float8_e5m2, ValueError, r"dtype must be one of .*; got torch\.float8_e5m2"),
    ],
)
def test_a_type_that_weights_cannot_have_is_an_error(dtype, error, message):
    with pytest.raises(error, match=message):
        RNNLM(6, 5, dtype=dtype)


def test_a_deep_model_is_no_error():
    assert RNNLM(2, 1, num_layers=1000).rnn.num_layers == 1000


@cells
def test_sizes_may_be_numpy_s_integers(cell):
    made = RNNLM(np.int64(6), np.int32(5), cell, np.uint8(2), seed=np.int64(3), embedding_size=np.int16(4))
    expected = RNNLM(6, 5, cell, 2, seed=3, embedding_size=4)
    assert all(torch.equal(a, b) for a, b in zip(made.parameters(), expected.parameters(), strict=True))
    assert {type(made.vocab_size), type(made.num_hiddens), type(made.rnn.num_layers)} == {int}


# With an embedding


@cells
def test_an_embedding_is_read_in_place_of_one_hot_vectors(cell):
    model = RNNLM(6, 5, cell, seed=0, embedding_size=3)
    layer = getattr(nn, cell.upper())(3, 5, dtype=torch.float64)
    layer.load_state_dict(model.rnn.state_dict())
    X = tokens(3, 4, 6)
    outputs, _ = layer(model.embedding.weight[X.T])
    expected = (outputs @ model.linear.weight.T + model.linear.bias).transpose(0, 1)
    torch.testing.assert_close(model(X)[0], expected, rtol=0, atol=1e-12)


def test_an_embedding_of_one_hot_vectors_is_reading_them():
    plain, model = RNNLM(6, 5, seed=0), RNNLM(6, 5, seed=0, embedding_size=6)
    model.load_state_dict({**plain.state_dict(), "embedding.weight": torch.eye(6)})
    torch.testing.assert_close(model(tokens(3, 4, 6))[0], plain(tokens(3, 4, 6))[0], rtol=0, atol=1e-12)


def test_an_embedding_is_drawn_first_and_spread_with_a_deviation_of_1():
    weight = RNNLM(40, 5, seed=0, embedding_size=50).embedding.weight
    assert torch.equal(
        weight, uniform(40, 50, sigma=1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    )


def test_an_embedding_is_learnt():
    model = RNNLM(6, 5, seed=0, embedding_size=3)
    model(tokens(3, 4, 6))[0].sum().backward()
    assert bool(model.embedding.weight.grad.any())


def test_a_hook_on_the_embedding_sees_every_batch():
    model, seen = RNNLM(6, 5, embedding_size=3), []
    model.embedding.register_forward_hook(lambda *_: seen.append(1))
    model(tokens(3, 4, 6))
    assert seen == [1]


@pytest.mark.parametrize(("embedding_size", "names"), [(None, set()), (3, {"embedding.weight"})])
def test_only_a_model_with_an_embedding_has_its_weights(embedding_size, names):
    found = RNNLM(6, 5, embedding_size=embedding_size).state_dict().keys()
    assert {name for name in found if name.startswith("embedding")} == names
    assert len(found) == 6 + len(names)


# What a user has set


BATCH = tokens(2, 3, 6)


def outcome(cell, embedding_size, **options):
    """Make a model of a seed, and return it, its logits and its gradients."""
    model = RNNLM(6, 5, cell, seed=0, embedding_size=embedding_size, **options)
    logits, _ = model(BATCH)
    logits.square().sum().backward()
    return model, [logits.detach(), *(p.grad for p in model.parameters())]


@cells
@pytest.mark.parametrize("embedding_size", [None, 3])
def test_the_default_device_of_a_user_changes_nothing(cell, embedding_size):
    expected = outcome(cell, embedding_size)[1]
    with torch.device("meta"):
        model, found = outcome(cell, embedding_size)
    assert {p.device.type for p in model.parameters()} == {"cpu"}
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@cells
@pytest.mark.parametrize("default", [torch.bfloat16, torch.float64])
def test_the_default_type_of_a_user_changes_nothing(cell, default):
    expected, before = outcome(cell, 3)[1], torch.get_default_dtype()
    torch.set_default_dtype(default)
    try:
        found = outcome(cell, 3)[1]
    finally:
        torch.set_default_dtype(before)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@cells
@pytest.mark.parametrize("setting", [torch.inference_mode, torch.no_grad])
def test_a_model_made_without_gradients_can_be_trained(cell, setting):
    with setting():
        model = RNNLM(6, 5, cell, embedding_size=3)
    assert all(p.requires_grad and not p.is_inference() for p in model.parameters())


@cells
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_model_trains_in_narrow_types(cell, dtype):
    assert {gradient.dtype for gradient in outcome(cell, 3, dtype=dtype)[1]} == {dtype}


@cells
def test_a_compiled_model_has_the_same_gradients(cell):
    model = RNNLM(6, 5, cell, seed=0, embedding_size=3)
    logits, _ = torch.compile(model, backend="eager")(BATCH)
    logits.square().sum().backward()
    found, expected = [logits.detach(), *(p.grad for p in model.parameters())], outcome(cell, 3)[1]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)


# Initial weights


@cells
def test_the_same_seed_gives_the_same_weights(cell):
    pairs = zip(RNNLM(6, 5, cell, seed=2).parameters(), RNNLM(6, 5, cell, seed=2).parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_another_seed_gives_other_weights():
    assert not torch.equal(RNNLM(6, 5, seed=1).linear.weight, RNNLM(6, 5, seed=0).linear.weight)


@cells
def test_weights_are_spread_as_pytorch_spreads_them(cell):
    weights = torch.cat([p.detach().flatten() for p in RNNLM(30, 100, cell, seed=0).parameters()])
    assert 0.0999 < float(weights.abs().max()) <= 0.1
    assert float(weights.std()) == pytest.approx(0.1 / 3**0.5, rel=0.02)


@cells
def test_no_seed_draws_from_the_global_generator(cell):
    torch.manual_seed(3)
    model = RNNLM(6, 5, cell)
    assert torch.equal(model.linear.weight, RNNLM(6, 5, cell, seed=3).linear.weight)


@cells
def test_making_a_model_of_a_seed_leaves_global_random_state_alone(cell):
    before = torch.get_rng_state()
    RNNLM(6, 5, cell, seed=0)
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
    "model", [RNNLM(6, 5, bidirectional=True, seed=0), nn.Sequential(nn.GRU(2, 2, bidirectional=True))]
)
def test_a_bidirectional_model_is_refused_with_the_reason(model):
    with pytest.raises(ValueError, match=r"bidirectional: what it says .* has seen that token"):
        refuse_bidirectional(model)


def test_what_cannot_be_called_is_no_model():
    with pytest.raises(TypeError, match=r"model must be an nn\.Module or a function, got 'rnn'"):
        refuse_bidirectional("rnn")


def test_a_truth_of_numpy_is_taken():
    assert RNNLM(3, 3, bidirectional=np.True_, seed=0).bidirectional is True
