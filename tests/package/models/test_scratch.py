"""One-hot vectors, the recurrent network from tensors up, and its fast form."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from d2lrnn.models.scratch import PlainRNNLM, Recurrence, RNNLMScratch, RNNScratch, one_hot
from d2lrnn.training.train import train

ROWS = [torch.tensor([0, 1]), torch.tensor([0])]  # of unequal length
law = settings(deadline=None, max_examples=30)  # a busy machine is not a fault
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]

sizes = st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 5), st.integers(2, 7))


def tokens(batch_size, num_steps, vocab_size, seed=0):
    return torch.randint(vocab_size, (batch_size, num_steps), generator=torch.Generator().manual_seed(seed))


def numbers(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def by_hand(model, X, state):
    """Return logits and state by the equations, one text and one step at a time, in NumPy."""
    W_xh, W_hh, b_h, W_hq, b_q = (
        p.detach().double().numpy()
        for p in (model.rnn.W_xh, model.rnn.W_hh, model.rnn.b_h, model.W_hq, model.b_q)
    )
    logits, last = [], []
    for row, h in zip(X.tolist(), state.numpy(), strict=True):
        outputs = []
        for token in row:
            x = np.zeros(len(W_xh))
            x[token] = 1
            h = np.tanh(x @ W_xh + h @ W_hh + b_h)
            outputs.append(h @ W_hq + b_q)
        logits.append(outputs)
        last.append(h)
    return torch.tensor(np.array(logits)), torch.tensor(np.array(last))


def biased(model):
    """Give a model biases other than 0."""
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            if p.ndim == 1:
                p.copy_(numbers(len(p), seed=i))
    return model


def loss_and_gradients(model, X, Y, state):
    state = state.clone().requires_grad_()
    logits, last = model(X, state)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), Y.flatten()) + last.square().sum()
    parameters = dict(model.named_parameters())
    gradients = torch.autograd.grad(loss, [*parameters.values(), state])
    return loss, dict(zip([*parameters, "state"], gradients, strict=True))


# One-hot vectors


def test_one_hot_puts_steps_first():
    assert one_hot(torch.tensor([[0, 2], [1, 1], [2, 0]]), 3).argmax(2).tolist() == [[0, 1, 2], [2, 1, 0]]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_one_hot_takes_every_type_of_integer(dtype):
    assert one_hot(torch.tensor([[0, 2]], dtype=dtype), 3).tolist() == [[[1, 0, 0]], [[0, 0, 1]]]


@law
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 9))
def test_one_hot_has_a_single_one_in_each_vector(batch_size, num_steps, size):
    vectors = one_hot(tokens(batch_size, num_steps, size), size)
    assert vectors.shape == (num_steps, batch_size, size)
    assert torch.equal(vectors.sum(2), torch.ones(num_steps, batch_size, dtype=torch.float64))


def test_one_hot_is_float64_unless_told_otherwise():
    X = tokens(2, 3, 4)
    assert (one_hot(X, 4).dtype, one_hot(X, 4, dtype=torch.float32).dtype) == (torch.float64, torch.float32)


@pytest.mark.parametrize(
    ("indices", "num_classes", "error", "message"),
    [
        (torch.tensor([[0, 3]]), 3, ValueError, r"indices must be in 0\.\.2, got 3"),
        (torch.tensor([[-1, 2]]), 3, ValueError, r"indices must be in 0\.\.2, got -1"),
        (torch.tensor([0, 1]), 3, ValueError, r"indices must be \(batch, steps\).*got shape \(2,\)"),
        (torch.zeros(2, 0, dtype=torch.int64), 3, ValueError, "at least 1 of each"),
        (torch.zeros(2, 2), 3, TypeError, r"indices must hold integers, got a tensor of torch\.float32"),
        (torch.zeros(2, 2, dtype=torch.bool), 3, TypeError, r"indices must hold integers"),
        ([[0, 1]], 3, TypeError, r"indices must be a tensor, got \[\[0, 1\]\]"),
        (torch.tensor([[0, 1]]).to_sparse(), 3, TypeError, r"indices must be a dense tensor.*sparse_coo"),
        (
            torch.tensor([[0j]]),
            3,
            TypeError,
            r"indices must hold real numbers, got a tensor of torch\.complex64",
        ),
        (torch.tensor([[0]]), 0, ValueError, "num_classes must be at least 1, got 0"),
    ],
)
def test_one_hot_of_what_is_no_batch_of_indices_is_an_error(indices, num_classes, error, message):
    with pytest.raises(error, match=message):
        one_hot(indices, num_classes)


def test_one_hot_of_no_type_of_number_is_an_error():
    with pytest.raises(TypeError, match=r"dtype must be a torch\.dtype, got None"):
        one_hot(torch.tensor([[0]]), 3, dtype=None)


# The recurrent layer


@law
@given(sizes)
def test_the_layer_returns_every_state_and_the_last(size):
    batch_size, num_steps, hiddens, inputs = size
    outputs, state = RNNScratch(inputs, hiddens, seed=0)(numbers(num_steps, batch_size, inputs))
    assert (outputs.shape, state.shape) == ((num_steps, batch_size, hiddens), (batch_size, hiddens))
    assert torch.equal(outputs[-1], state)


@law
@given(sizes)
def test_the_layer_equals_pytorch_with_the_same_weights(size):
    batch_size, num_steps, hiddens, inputs = size
    ours = biased(RNNScratch(inputs, hiddens, sigma=0.5, seed=0))
    theirs = nn.RNN(inputs, hiddens, dtype=torch.float64)
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(ours.W_xh.T)
        theirs.weight_hh_l0.copy_(ours.W_hh.T)
        theirs.bias_ih_l0.copy_(ours.b_h)
        theirs.bias_hh_l0.zero_()
    x, h = numbers(num_steps, batch_size, inputs), numbers(batch_size, hiddens, seed=1)
    torch.testing.assert_close(ours(x, h)[0], theirs(x, h[None])[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 5), (0, 3, 4), (2, 0, 4), (2, 3, 4, 1)])
def test_inputs_of_another_shape_are_an_error(shape):
    with pytest.raises(ValueError, match=r"inputs must be \(steps, batch, 4\)"):
        RNNScratch(4, 3, seed=0)(torch.zeros(shape))


def test_inputs_that_are_no_tensor_are_an_error():
    with pytest.raises(TypeError, match="inputs must be a tensor"):
        RNNScratch(4, 3, seed=0)([[[0.0] * 4]])


@pytest.mark.parametrize(
    ("inputs", "state", "error", "message"),
    [
        (
            torch.zeros(2, 3, 4, device="meta"),
            None,
            ValueError,
            "inputs must be on the model's device, cpu, got meta",
        ),
        (torch.zeros(2, 3, 4).to_sparse(), None, TypeError, "inputs must be a dense tensor"),
        (torch.zeros(2, 3, 4) * 1j, None, TypeError, "inputs must hold real numbers"),
        (
            torch.zeros(2, 3, 4),
            torch.zeros(3, 3, device="meta"),
            ValueError,
            "state must be on the model's device",
        ),
        (torch.zeros(2, 3, 4), torch.zeros(3, 3).to_sparse(), TypeError, "state must be a dense tensor"),
        (torch.zeros(2, 3, 4), torch.zeros(3, 3) * 1j, TypeError, "state must hold real numbers"),
    ],
)
def test_inputs_or_states_of_another_kind_or_place_are_an_error(inputs, state, error, message):
    with pytest.raises(error, match=message):
        RNNScratch(4, 3)(inputs, state)


def test_inputs_are_converted_to_the_type_of_the_weights():
    layer, inputs = RNNScratch(4, 3, dtype=torch.float32, seed=0), numbers(2, 3, 4)
    assert torch.equal(layer(inputs)[0], layer(inputs.float())[0])


def test_a_layer_shows_its_sizes():
    assert repr(RNNScratch(4, 3)) == "RNNScratch(4, 3)"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((10**30, 3), ValueError, f"must fit in memory, got num_inputs={10**30}, num_hiddens=3: .* or more"),
        ((3, 10**15), ValueError, "must fit in memory, got num_inputs=3, num_hiddens=10{15}: "),
        ((0, 3), ValueError, "num_inputs must be at least 1, got 0"),
        ((3, 2.0), TypeError, "num_hiddens must be an integer"),
        ((3, 2, -0.1), ValueError, r"sigma must be at least 0, got -0\.1"),
    ],
)
def test_a_layer_of_impossible_size_is_an_error(arguments, error, message):
    with pytest.raises(error, match=message):
        RNNScratch(*arguments, seed=0)


# The language models: `both` are one model, written plainly and written to be fast

both = pytest.mark.parametrize("kind", [PlainRNNLM, RNNLMScratch])


@both
@law
@given(sizes)
def test_a_model_returns_logits_batch_first_and_a_state(kind, size):
    batch_size, num_steps, hiddens, vocab_size = size
    logits, state = kind(vocab_size, hiddens)(tokens(batch_size, num_steps, vocab_size))
    assert (logits.shape, state.shape) == ((batch_size, num_steps, vocab_size), (batch_size, hiddens))


@both
@law
@given(sizes)
def test_a_model_computes_its_equations(kind, size):
    batch_size, num_steps, hiddens, vocab_size = size
    model = biased(kind(vocab_size, hiddens, sigma=0.5))
    X, state = tokens(batch_size, num_steps, vocab_size), numbers(batch_size, hiddens)
    for ours, expected in zip(model(X, state), by_hand(model, X, state), strict=True):
        torch.testing.assert_close(ours, expected, rtol=0, atol=1e-12)


@law
@given(sizes)
def test_the_fast_model_has_the_loss_and_gradients_of_the_plain_one(size):
    batch_size, num_steps, hiddens, vocab_size = size
    plain = biased(PlainRNNLM(vocab_size, hiddens, sigma=0.5, seed=0))
    fast = RNNLMScratch(vocab_size, hiddens, seed=0)
    fast.load_state_dict(plain.state_dict())
    X, Y = tokens(batch_size, num_steps, vocab_size), tokens(batch_size, num_steps, vocab_size, seed=1)
    state = numbers(batch_size, hiddens)
    torch.testing.assert_close(
        loss_and_gradients(fast, X, Y, state), loss_and_gradients(plain, X, Y, state), rtol=0, atol=1e-12
    )


def test_the_fast_model_has_the_gradients_of_the_plain_one_in_float32():
    plain = biased(PlainRNNLM(7, 5, sigma=0.5, dtype=torch.float32, seed=0))
    fast = RNNLMScratch(7, 5, dtype=torch.float32, seed=0)
    fast.load_state_dict(plain.state_dict())
    case = tokens(3, 8, 7), tokens(3, 8, 7, seed=1), numbers(3, 5)
    torch.testing.assert_close(
        loss_and_gradients(fast, *case), loss_and_gradients(plain, *case), rtol=0, atol=2e-6
    )


@pytest.mark.parametrize("steps", [1, 4])
def test_the_recurrence_has_the_gradients_of_finite_differences(steps):
    A, H_0, W_hh = (x.requires_grad_() for x in (numbers(steps, 2, 3), numbers(2, 3), numbers(3, 3)))
    assert torch.autograd.gradcheck(lambda A, *rest: Recurrence.apply(A.clone(), *rest), (A, H_0, W_hh))


def test_the_fast_model_leaves_its_weights_alone():
    model = RNNLMScratch(5, 4, sigma=0.5, seed=0)
    before = copy.deepcopy(model.state_dict())
    loss_and_gradients(model, tokens(2, 3, 5), tokens(2, 3, 5), numbers(2, 4))
    assert all(torch.equal(before[name], p) for name, p in model.state_dict().items())


def test_the_fast_model_leaves_the_state_that_it_is_given_alone():
    state = numbers(2, 4)
    RNNLMScratch(5, 4, seed=0)(tokens(2, 3, 5), state)
    assert torch.equal(state, numbers(2, 4))


def test_the_fast_model_runs_without_gradients():
    with torch.no_grad():
        logits, _ = RNNLMScratch(5, 4, seed=0)(tokens(2, 3, 5))
    assert not logits.requires_grad


@both
@pytest.mark.parametrize("frozen", ["rnn.W_xh", "rnn.W_hh", "rnn.b_h", "W_hq", "b_q"])
def test_a_frozen_weight_has_no_gradient_and_the_others_have_theirs(kind, frozen):
    model = kind(5, 4, sigma=0.5)
    model.get_parameter(frozen).requires_grad_(False)
    model(tokens(2, 3, 5))[0].square().sum().backward()
    assert [name for name, p in model.named_parameters() if p.grad is None] == [frozen]


@both
def test_no_state_is_a_state_of_zeros(kind):
    model, X = biased(kind(5, 4, sigma=0.5)), tokens(2, 3, 5)
    assert torch.equal(model(X)[0], model(X, torch.zeros(2, 4, dtype=torch.float64))[0])


@both
def test_reading_on_from_a_state_is_reading_at_once(kind):
    model, X = biased(kind(5, 4, sigma=0.5)), tokens(2, 7, 5)
    whole, end = model(X)
    first, state = model(X[:, :3])
    second, last = model(X[:, 3:], state)
    torch.testing.assert_close(torch.cat([first, second], 1), whole, rtol=0, atol=1e-14)
    torch.testing.assert_close(last, end, rtol=0, atol=1e-14)


@both
def test_a_state_may_have_another_type_of_number(kind):
    logits, _ = kind(5, 4)(tokens(2, 3, 5), torch.ones(2, 4, dtype=torch.float32))
    assert logits.dtype == torch.float64


@both
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_type_of_number_is_the_models(kind, dtype):
    model = kind(5, 4, dtype=dtype)
    logits, state = model(tokens(2, 3, 5))
    assert {logits.dtype, state.dtype, *(p.dtype for p in model.parameters())} == {dtype}


@both
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
def test_tokens_may_be_any_integers(kind, dtype):
    model, X = kind(5, 4, sigma=0.5), tokens(2, 3, 5)
    assert torch.equal(model(X.to(dtype))[0], model(X)[0])


@both
@pytest.mark.parametrize(
    ("X", "state", "error", "message"),
    [
        (torch.tensor([[0, 5]]), None, ValueError, r"in 0\.\.4, got 5"),
        (torch.tensor([[1, 5]]), None, ValueError, r"in 0\.\.4, got 5"),  # the least is allowed and not 0
        (torch.tensor([[0, -1]]), None, ValueError, r"in 0\.\.4, got -1"),
        (torch.tensor([0, 1]), None, ValueError, r"must be \(batch, steps\)"),
        (torch.zeros(2, 3), None, TypeError, "must hold integers"),
        ("abc", None, TypeError, "must be a tensor, got 'abc'"),
        (
            torch.tensor([[0]], device="meta"),
            None,
            ValueError,
            "must be on the model's device, cpu, got meta",
        ),
        (
            torch.tensor([[0]]).to_sparse(),
            None,
            TypeError,
            "must be a dense tensor, got one of layout torch.sparse",
        ),
        (torch.tensor([[1j]]), None, TypeError, "must hold real numbers"),
        (
            torch.nested.nested_tensor(ROWS, layout=torch.jagged),
            None,
            TypeError,
            "dense tensor, got a nested one",
        ),
        (
            torch.tensor([[0], [1]]),
            torch.zeros(1, 4),
            ValueError,
            r"state must have shape \(2, 4\), got \(1, 4\)",
        ),
        (torch.tensor([[0]]), torch.zeros(1, 1, 4), ValueError, r"state must have shape \(1, 4\)"),
        (torch.tensor([[0]]), (torch.zeros(1, 4),), TypeError, "state must be a tensor or None"),
    ],
)
def test_what_is_no_batch_of_tokens_or_no_state_of_it_is_an_error(kind, X, state, error, message):
    with pytest.raises(error, match="X .*" * (state is None) + message):
        kind(5, 4)(X, state)


@both
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_rows_of_unequal_length_are_an_error(kind):
    with pytest.raises(TypeError, match="X must be a dense tensor, got a nested one"):
        kind(5, 4)(torch.nested.nested_tensor(ROWS))


@both
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda state: state.to("meta"), ValueError, "state must be on the model's device, cpu, got meta"),
        (lambda state: state.to_sparse(), TypeError, "state must be a dense tensor"),
        (lambda state: state * 1j, TypeError, "state must hold real numbers"),
        (
            lambda state: state.tolist() * 99,
            TypeError,
            r"state must be a tensor or None, got .*\.\.\.\] \(list\)$",
        ),
    ],
)
def test_a_state_of_another_kind_or_place_is_an_error(kind, change, error, message):
    with pytest.raises(error, match=message):
        kind(5, 4)(torch.tensor([[0]]), change(numbers(1, 4)))


# The types of number, and what a user has set


FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("kind", [RNNScratch, PlainRNNLM, RNNLMScratch])
@pytest.mark.parametrize(
    ("dtype", "error", "message"),
    [
        (None, TypeError, r"dtype must be a torch\.dtype, got None"),
        ("float32", TypeError, r"dtype must be a torch\.dtype, got 'float32'"),
        (torch.complex64, ValueError, r"dtype must be one of torch\.float16, .*; got torch\.complex64"),
        (torch.float8_e4m3fn, ValueError, r"dtype must be one of .*; got torch\.float8_e4m3fn"),
        (torch.int64, ValueError, r"dtype must be one of .*; got torch\.int64"),
    ],
)
def test_a_type_that_weights_cannot_have_is_an_error(kind, dtype, error, message):
    with pytest.raises(error, match=message):
        kind(5, 4, dtype=dtype)


@pytest.mark.parametrize("kind", [RNNScratch, PlainRNNLM, RNNLMScratch])
def test_sizes_may_be_numpy_s_integers(kind):
    made = kind(np.int64(5), np.uint8(4), dtype=torch.float32, seed=np.int32(3))
    expected = kind(5, 4, dtype=torch.float32, seed=3)
    assert repr(made) == repr(expected)
    assert all(torch.equal(a, b) for a, b in zip(made.parameters(), expected.parameters(), strict=True))


@both
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_model_trains_in_every_type(kind, dtype):
    model = kind(5, 4, dtype=dtype, seed=0)
    model(tokens(2, 3, 5))[0].sum().backward()
    assert {p.grad.dtype for p in model.parameters()} == {dtype}


BATCH = tokens(2, 3, 5)


def outcome(kind, dtype=torch.float64):
    """Make a model of a seed, and return it, its logits and its gradients."""
    model = kind(5, 4, sigma=0.5, dtype=dtype, seed=0)
    logits, _ = model(BATCH)
    logits.square().sum().backward()
    return model, [logits.detach(), *(p.grad for p in model.parameters())]


@both
def test_the_default_device_of_a_user_changes_nothing(kind):
    expected = outcome(kind)[1]
    with torch.device("meta"):
        model, found = outcome(kind)
    assert {p.device.type for p in model.parameters()} == {"cpu"}
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.fixture
def default_dtype():
    before = torch.get_default_dtype()
    yield torch.set_default_dtype
    torch.set_default_dtype(before)


@both
@pytest.mark.parametrize("default", FLOATS)
def test_the_default_type_of_a_user_changes_nothing(kind, default, default_dtype):
    expected = outcome(kind)[1]
    default_dtype(default)
    assert all(torch.equal(a, b) for a, b in zip(outcome(kind)[1], expected, strict=True))


@pytest.mark.parametrize("kind", [RNNScratch, PlainRNNLM, RNNLMScratch])
@pytest.mark.parametrize("setting", [torch.inference_mode, torch.no_grad])
def test_a_model_made_without_gradients_can_be_trained(kind, setting):
    with setting():
        model = kind(5, 4)
    assert all(p.requires_grad and not p.is_inference() for p in model.parameters())


@both
def test_a_model_reads_in_inference_mode(kind):
    model, X = kind(5, 4, seed=0), tokens(2, 3, 5)
    expected = model(X)[0]
    with torch.inference_mode():
        assert torch.equal(model(X)[0], expected)


@both
def test_a_model_goes_forth_and_back_under_autocast(kind):
    expected = outcome(kind, torch.float32)[1]
    with torch.autocast("cpu"):
        found = outcome(kind, torch.float32)[1]
    torch.testing.assert_close(found, expected, rtol=0.05, atol=0.05)


@both
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("fullgraph", [False, True])
def test_a_model_compiles_to_the_same_logits_and_gradients(kind, backend, fullgraph):
    torch.compiler.reset()  # or what was compiled for another case is used
    model = kind(5, 4, sigma=0.5, seed=0)
    compiled = torch.compile(copy.deepcopy(model), backend=backend, fullgraph=fullgraph)
    case = tokens(2, 3, 5), tokens(2, 3, 5, seed=1), numbers(2, 4)
    loss, expected = loss_and_gradients(model, *case)
    same_loss, found = loss_and_gradients(compiled, *case)
    torch.testing.assert_close(same_loss, loss, rtol=0, atol=1e-14)
    torch.testing.assert_close(list(found.values()), list(expected.values()), rtol=0, atol=1e-14)


def test_a_compiled_model_trains_as_it_would_otherwise():
    runs = []
    for change in (lambda model: model, lambda model: torch.compile(model, backend="eager")):
        model = change(RNNLMScratch(5, 4, seed=0))
        options = {"batch_size": 2, "num_steps": 5, "num_epochs": 2, "lr": 0.1, "seed": 0}
        runs.append(train(model, tokens(1, 40, 5)[0], **options).perplexity)
    assert runs[0] == runs[1]


@both
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_computes_the_same(kind, copied):
    model = kind(5, 4, seed=0)
    assert torch.equal(copied(model)(tokens(2, 3, 5))[0], model(tokens(2, 3, 5))[0])


@both
def test_a_model_without_numbers_has_shapes(kind):
    logits, state = kind(5, 4).to("meta")(tokens(2, 3, 5).to("meta"))
    assert (logits.shape, state.shape, logits.device.type) == ((2, 3, 5), (2, 4), "meta")


@both
def test_a_model_shows_its_sizes(kind):
    assert repr(kind(5, 4)).splitlines()[1:3] == ["  5, 4", "  (rnn): RNNScratch(5, 4)"]


@both
@pytest.mark.parametrize("sizes", [(10**30, 3), (3, 10**30), (10**9, 10**9)])
def test_a_model_that_no_memory_holds_is_an_error(kind, sizes):
    named = "weights must fit in memory, got vocab_size={}, num_hiddens={}: .* float64 or more"
    with pytest.raises(ValueError, match=named.format(*sizes).replace(" float64", r" of torch\.float64")):
        kind(*sizes)


# Initial weights


@both
def test_the_same_seed_gives_the_same_weights(kind):
    pairs = zip(kind(5, 4, seed=3).parameters(), kind(5, 4, seed=3).parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("seed", [1, None])
def test_another_seed_gives_other_weights(seed):
    assert not torch.equal(RNNLMScratch(5, 4, seed=seed).rnn.W_hh, RNNLMScratch(5, 4, seed=0).rnn.W_hh)


def test_the_two_models_start_alike():
    assert torch.equal(PlainRNNLM(5, 4, seed=3).W_hq, RNNLMScratch(5, 4, seed=3).W_hq)


def test_no_two_matrices_start_with_the_same_numbers():
    model = RNNLMScratch(6, 6, seed=0)
    drawn = torch.cat([model.rnn.W_xh, model.rnn.W_hh, model.W_hq]).flatten()
    assert len(drawn.unique()) == len(drawn)


@pytest.mark.parametrize("sigma", [0.01, 0.5])
def test_weights_are_spread_evenly_with_standard_deviation_sigma(sigma):
    W = RNNScratch(100, 100, sigma, seed=0).W_xh.detach()
    assert float(W.std()) == pytest.approx(sigma, rel=0.02)
    assert float(W.abs().max()) <= sigma * 3**0.5
    assert float(W.mean()) == pytest.approx(0, abs=sigma / 20)


@both
def test_weights_are_spread_as_pytorch_spreads_them_unless_told_otherwise(kind):
    model = kind(30, 100)
    for W in (model.rnn.W_xh, model.rnn.W_hh, model.W_hq):
        assert 0.0995 < float(W.detach().abs().max()) <= 0.1


def test_weights_have_the_bits_that_they_have_everywhere():
    W = RNNScratch(2, 2, sigma=0.01, seed=0).W_xh.detach()
    u = torch.rand(2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).numpy()
    assert W.numpy().tolist() == ((2 * u - 1) * (3**0.5 * 0.01)).tolist()


def test_float32_weights_are_the_float64_ones_rounded():
    assert torch.equal(
        RNNScratch(3, 4, dtype=torch.float32, seed=0).W_xh, RNNScratch(3, 4, seed=0).W_xh.float()
    )


@both
def test_biases_start_at_zero(kind):
    model = kind(5, 4)
    assert not model.rnn.b_h.any()
    assert not model.b_q.any()


@both
def test_a_model_of_a_seed_leaves_global_random_state_alone(kind):
    before = torch.get_rng_state()
    kind(5, 4, seed=0)
    assert torch.equal(torch.get_rng_state(), before)


@both
def test_no_seed_draws_from_the_global_generator(kind):
    torch.manual_seed(3)
    assert torch.equal(kind(5, 4).W_hq, kind(5, 4, seed=3).W_hq)
    assert not torch.equal(kind(5, 4).W_hq, kind(5, 4, seed=3).W_hq)


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (2**64, ValueError), (1.5, TypeError)])
def test_a_seed_that_torch_cannot_use_is_an_error(seed, error):
    with pytest.raises(error, match="seed"):
        RNNLMScratch(5, 4, seed=seed)


# One token at a time


@law
@given(st.integers(1, 8), st.integers(1, 5), st.integers(2, 7))
def test_reading_token_by_token_gives_the_logits_of_reading_at_once(num_steps, hiddens, vocab_size):
    model, X = biased(RNNLMScratch(vocab_size, hiddens, sigma=0.5, seed=0)), tokens(1, num_steps, vocab_size)
    read = model.reader()
    logits = np.array([read(token) for token in X[0].tolist()])
    np.testing.assert_allclose(logits, model(X)[0][0].detach().numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_weights_are_read_in_float32(dtype):
    model = RNNLMScratch(5, 4, sigma=0.5, dtype=dtype, seed=0)
    wide = RNNLMScratch(5, 4, dtype=torch.float32)
    wide.load_state_dict(model.state_dict())
    assert np.array_equal(model.reader()(3), wide.reader()(3))


def test_two_readers_read_two_texts():
    model = RNNLMScratch(5, 4, sigma=0.5, seed=0)
    one, other = model.reader(), model.reader()
    one(1)
    assert np.array_equal(other(2), model.reader()(2))


@pytest.mark.parametrize(("sigma", "dtype"), [(1.5e308, torch.float64), (1e5, torch.float16)])
def test_weights_that_their_type_cannot_hold_are_an_error(sigma, dtype):
    with pytest.raises(ValueError, match=r"sigma=.* must give weights that"):
        RNNScratch(3, 3, sigma, dtype=dtype, seed=0)


@pytest.mark.parametrize("num_classes", [10**13, 10**19, 10**30])
def test_classes_too_many_for_memory_are_an_error(num_classes):
    with pytest.raises(ValueError, match="num_classes must be so few"):
        one_hot(torch.tensor([[1]]), num_classes)


@pytest.mark.parametrize("frozen", [True, False])
def test_state_before_the_first_step_gets_a_gradient_if_it_needs_one(frozen):
    model, X = RNNLMScratch(3, 4, seed=0), torch.tensor([[0, 1, 2]])
    model.rnn.W_hh.requires_grad_(not frozen)
    start = torch.zeros(1, 4, dtype=torch.float64, requires_grad=True)
    model(X, start)[0].sum().backward()
    plain, same = PlainRNNLM(3, 4, seed=0), torch.zeros_like(start).requires_grad_()
    plain.load_state_dict(model.state_dict())
    plain(X, same)[0].sum().backward()
    assert torch.allclose(start.grad, same.grad)
    assert same.grad.abs().min() > 0
