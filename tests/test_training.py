"""Clipping, the grid, evaluation, the training loop and its history."""

from __future__ import annotations

import copy
import dataclasses
import math
import os
import random
import subprocess
import sys
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from d2lrnn import figures, training
from d2lrnn.batching import sequential_batches
from d2lrnn.history import History
from d2lrnn.models import RNNLM
from d2lrnn.reproducible import round_to_grid
from d2lrnn.scratch import PlainRNNLM, RNNLMScratch
from d2lrnn.training import NonFiniteError, clip_gradients, evaluate, perplexity, train

law = settings(deadline=None, max_examples=30)  # a busy machine is not a fault
MODELS = {
    "scratch": lambda: RNNLMScratch(6, 5, sigma=0.5),
    "rnn": lambda: RNNLM(6, 5),
    "gru": lambda: RNNLM(6, 5, "gru"),
    "lstm": lambda: RNNLM(6, 5, "lstm", 2),
}
every_model = pytest.mark.parametrize("kind", MODELS)
samplings = pytest.mark.parametrize("sampling", ["sequential", "random"])
CYCLE = [1, 2, 3, 4, 5, 0] * 30  # the token after t is (t + 1) % 6
SMALL = {"batch_size": 3, "num_steps": 4, "num_epochs": 2, "lr": 0.01}


@pytest.fixture(autouse=True)
def one_thread():
    """Leave the other cores to other tests: these models are too small to be shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def text(length, vocab_size=6, seed=0):
    return torch.randint(vocab_size, (length,), generator=torch.Generator().manual_seed(seed))


class Spy(nn.Module):
    """Pass calls on to a model, and keep what came in and went out."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.inputs, self.states, self.returned, self.modes = [], [], [], []

    def forward(self, X, state=None):
        logits, new = self.model(X, state)
        self.inputs.append(X.clone())
        self.states.append(state)
        self.returned.append(new)
        self.modes.append(self.training)
        return logits, new


class Successor(nn.Module):
    """Give (token + `shift`) % 6 nearly all of the probability."""

    def __init__(self, shift=1):
        super().__init__()
        self.shift = shift
        self.scale = nn.Parameter(torch.tensor(1000.0, dtype=torch.float64))

    def forward(self, X, _=None):
        return nn.functional.one_hot((X + self.shift) % 6, 6) * self.scale, torch.zeros(1)


class Failing(nn.Module):
    """Return logits of nan, or what makes the gradient nan, in one call of many."""

    def __init__(self, call, where="loss"):
        super().__init__()
        self.model, self.call, self.where, self.calls = RNNLMScratch(6, 5), call, where, 0

    def forward(self, X, state=None):
        self.calls += 1
        logits, state = self.model(X, state)
        if self.calls == self.call:
            if self.where == "loss":
                return logits * math.nan, state
            logits.register_hook(lambda gradient: gradient * math.inf)
        return logits, state


def tensors(state):
    return state if isinstance(state, tuple) else (state,)


def with_gradients(*gradients):
    parameters = [
        nn.Parameter(torch.zeros(2 if g is None else len(g), dtype=torch.float64)) for g in gradients
    ]
    for p, g in zip(parameters, gradients, strict=True):
        p.grad = None if g is None else torch.tensor(g, dtype=torch.float64)
    return parameters


# Clipping


def test_the_norm_before_clipping_is_returned():
    assert clip_gradients(with_gradients([3.0, 4.0, 0.0], None), 1) == 5.0


def test_clipping_keeps_the_direction():
    p, _ = with_gradients([3.0, 4.0, 0.0], None)
    clip_gradients([p], 1)
    assert p.grad.tolist() == pytest.approx([0.6, 0.8, 0.0], rel=1e-15)


def test_the_norm_is_that_of_all_gradients_together():
    parameters = with_gradients([2.0], None, [1.0, 2.0], [4.0])
    assert clip_gradients(parameters, 1) == 5.0
    assert [p.grad.tolist() for p in parameters if p.grad is not None] == [[0.4], [0.2, 0.4], [0.8]]


@law
@given(
    st.lists(st.lists(st.floats(-100, 100), min_size=1, max_size=4), min_size=1, max_size=4),
    st.floats(0.01, 10),
)
def test_the_norm_after_clipping_is_at_most_theta(gradients, theta):
    parameters = with_gradients(*gradients)
    norm = clip_gradients(parameters, theta)
    vector = torch.cat([p.grad for p in parameters])
    assert norm == pytest.approx(math.hypot(*chain.from_iterable(gradients)), rel=1e-6)
    assert float(vector.norm()) == pytest.approx(min(norm, theta), rel=1e-12)


@pytest.mark.parametrize("theta", [5.0, 6.0, math.inf])
def test_small_gradients_are_left_alone(theta):
    (p,) = with_gradients([3.0, 4.0])
    assert clip_gradients([p], theta) == 5.0
    assert p.grad.tolist() == [3.0, 4.0]


def test_gradients_of_zero_stay_zero():
    (p,) = with_gradients([0.0, 0.0])
    assert clip_gradients([p], 1) == 0.0
    assert p.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("parameters", [[], with_gradients(None)])
def test_the_norm_of_no_gradients_is_zero(parameters):
    assert clip_gradients(parameters, 1) == 0.0


def test_a_generator_of_parameters_is_gone_through_once():
    parameters = with_gradients([3.0], [4.0])
    assert clip_gradients((p for p in parameters), 1) == 5.0
    assert [p.grad.item() for p in parameters] == pytest.approx([0.6, 0.8])


def test_named_parameters_and_a_single_one_are_taken_too():
    (p,) = with_gradients([3.0, 4.0])
    assert clip_gradients([("W", p)], 10) == clip_gradients(p, 10) == 5.0


def test_a_float32_gradient_whose_square_overflows_is_clipped():
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([3e30, 4e30])
    assert clip_gradients([p], 1) == pytest.approx(5e30, rel=1e-6)
    assert p.grad.tolist() == pytest.approx([0.6, 0.8], rel=1e-6)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_gradient_that_is_not_finite_is_an_error_naming_the_parameter(value):
    parameters = with_gradients([3.0, 4.0], None, [1.0, value, 0.0])
    with pytest.raises(NonFiniteError, match=r"gradient of parameter 2, of shape \(3,\), has norm (inf|nan)"):
        clip_gradients(parameters, 1)
    assert parameters[0].grad.tolist() == [3.0, 4.0]


def test_a_parameter_with_a_name_is_called_by_it():
    (p,) = with_gradients([math.nan])
    with pytest.raises(ValueError, match=r"gradient of rnn\.W_hh, of shape \(1,\)"):
        clip_gradients([("rnn.W_hh", p)], 1)


@pytest.mark.parametrize(
    ("parameters", "theta", "error", "message"),
    [
        ([], 0, ValueError, "theta must be greater than 0"),
        ([], -1.0, ValueError, r"theta must be greater than 0\.?0?, got -1"),
        ([], math.nan, ValueError, "theta must be finite, got nan"),
        ([], "1", TypeError, "theta must be a number, got '1'"),
        (["W"], 1, TypeError, "parameters must hold tensors, got 'W'"),
    ],
)
def test_what_cannot_be_clipped_is_an_error(parameters, theta, error, message):
    with pytest.raises(error, match=message):
        clip_gradients(parameters, theta)


# The grid


def test_weights_go_to_the_nearest_point_of_the_grid():
    p = nn.Parameter(torch.tensor([0.123456, -0.123454, 2.0, 0.000004], dtype=torch.float64))
    round_to_grid([p], 5)
    assert p.tolist() == [0.12346, -0.12345, 2.0, 0.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_is_pytorchs_rounding_to_decimals(dtype):
    p = nn.Parameter(text(1000, 10**6).to(dtype) / 333_333)
    expected = p.detach().round(decimals=4)
    round_to_grid([p], 4)
    assert torch.equal(p, expected)


def test_the_margin_is_the_smallest_distance_to_halfway():
    p = nn.Parameter(torch.tensor([0.1, 0.24, 0.37], dtype=torch.float64))
    q = nn.Parameter(torch.tensor([-0.452], dtype=torch.float64))
    assert round_to_grid([p, q], 1) == pytest.approx(0.002, rel=1e-9)


@pytest.mark.parametrize(("decimals", "error"), [(-1, ValueError), (1.5, TypeError)])
def test_a_grid_without_decimals_is_an_error(decimals, error):
    with pytest.raises(error, match="decimals"):
        round_to_grid([], decimals)


# Evaluation


def token_by_token(model, corpus):
    """Return the perplexity by a loop that predicts one token at a time."""
    state, total = None, 0.0
    for token, label in pairwise(corpus.tolist()):
        logits, state = model(torch.tensor([[token]]), state)
        total -= float(logits[0, 0].detach().double().log_softmax(0)[label])
    return math.exp(total / (len(corpus) - 1))


@every_model
@pytest.mark.parametrize("num_steps", [1, 3, 7, 8, 9, 35])
def test_evaluation_equals_a_loop_over_single_tokens(kind, num_steps):
    model, corpus = MODELS[kind](), text(29)
    assert evaluate(model, corpus, num_steps) == pytest.approx(token_by_token(model, corpus), rel=1e-12)


def test_evaluation_of_a_float32_model_equals_a_loop_over_single_tokens():
    model, corpus = RNNLMScratch(6, 5, sigma=0.5, dtype=torch.float32), text(301)
    assert evaluate(model, corpus, 35) == pytest.approx(token_by_token(model, corpus), rel=1e-6)


@law
@given(st.integers(2, 60), st.integers(1, 70))
def test_every_token_but_the_first_is_predicted_once(length, num_steps):
    model = Spy(Successor())
    corpus = text(length)
    evaluate(model, corpus, num_steps)
    assert torch.cat(model.inputs, 1).tolist() == [corpus[:-1].tolist()]


@law
@given(st.integers(2, 60), st.integers(1, 70))
def test_every_label_counts_once(length, num_steps):
    corpus = text(length)
    p = torch.tensor([0.05, 0.1, 0.15, 0.2, 0.25, 0.25], dtype=torch.float64)
    expected = float(p[corpus[1:]].log().mean().neg().exp())
    assert evaluate(lambda X, _: (p.log().expand(*X.shape, 6), None), corpus, num_steps) == pytest.approx(
        expected
    )


@every_model
def test_evaluation_carries_the_state(kind):
    model = Spy(MODELS[kind]())
    evaluate(model, text(20), 6)
    assert model.states[0] is None
    assert all(a is b for a, b in zip(model.states[1:], model.returned[:-1], strict=True))


def test_a_label_is_the_next_token():
    assert evaluate(Successor(), CYCLE) == 1.0


def test_a_uniform_model_has_the_size_of_the_vocabulary():
    assert evaluate(lambda X, _: (torch.zeros(*X.shape, 6), None), text(40)) == pytest.approx(6, rel=1e-12)


@pytest.mark.parametrize("training_before", [True, False])
def test_evaluation_restores_the_mode(training_before):
    model = Spy(RNNLMScratch(6, 5)).train(training_before)
    evaluate(model, text(20))
    assert (set(model.modes), model.training, model.model.training) == (
        {False},
        training_before,
        training_before,
    )


def test_evaluation_leaves_no_gradients():
    model = RNNLMScratch(6, 5)
    evaluate(model, text(20))
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("corpus", [text(20), text(20).tolist(), text(20).numpy(), text(20).to(torch.int32)])
def test_every_kind_of_corpus_has_the_same_perplexity(corpus):
    model = RNNLMScratch(6, 5, sigma=0.5)
    assert evaluate(model, corpus) == evaluate(model, text(20))


@pytest.mark.parametrize(
    ("model", "arguments", "error", "message"),
    [
        (RNNLM(6, 5, bidirectional=True), (CYCLE,), ValueError, "bidirectional"),
        (RNNLM(6, 5), ([1],), ValueError, r"corpus must hold at least 2 token\(s\), got 1"),
        (RNNLM(6, 5), ([1, 6],), ValueError, "corpus must hold token indices below vocab_size=6, got 6"),
        (RNNLM(6, 5), ("abc",), TypeError, "corpus must be a sequence of integers"),
        (RNNLM(6, 5), (CYCLE, 0), ValueError, "num_steps must be at least 1, got 0"),
        ("rnn", (CYCLE,), TypeError, "model must be"),
    ],
)
def test_what_cannot_be_evaluated_is_an_error(model, arguments, error, message):
    with pytest.raises(error, match=message):
        evaluate(model, *arguments)


# Training: states, batches, labels


@every_model
def test_sequential_training_carries_the_values_of_the_state(kind):
    model = Spy(MODELS[kind]())
    train(model, CYCLE, **{**SMALL, "num_epochs": 1})
    assert model.states[0] is None
    for given_state, returned in zip(model.states[1:], model.returned[:-1], strict=True):
        assert all(map(torch.equal, tensors(given_state), tensors(returned)))


@every_model
def test_sequential_training_detaches_the_state(kind):
    model = Spy(MODELS[kind]())
    train(model, CYCLE, **SMALL)
    assert not any(
        part.requires_grad for state in model.states if state is not None for part in tensors(state)
    )


@every_model
def test_random_sampling_starts_each_batch_without_a_state(kind):
    model = Spy(MODELS[kind]())
    train(model, CYCLE, **SMALL, sampling="random")
    assert set(model.states) == {None}


def test_sequential_training_starts_each_epoch_without_a_state():
    model = Spy(RNNLMScratch(6, 5))
    firsts = []
    train(model, CYCLE, **SMALL, after_epoch=lambda _: firsts.append(len(model.states)))
    assert [model.states[i] for i in (0, firsts[0])] == [None, None]


def test_sequential_training_reads_rows_on():
    model = Spy(RNNLMScratch(6, 5))
    train(model, CYCLE, **{**SMALL, "num_epochs": 1})
    assert all(torch.equal(b[:, 0], (a[:, -1] + 1) % 6) for a, b in pairwise(model.inputs))


@samplings
def test_batches_have_the_size_asked_for(sampling):
    model = Spy(RNNLMScratch(6, 5))
    train(model, CYCLE, **SMALL, sampling=sampling)
    assert {X.shape for X in model.inputs} == {(3, 4)}


@samplings
def test_each_epoch_has_batches_of_its_own(sampling):
    model = Spy(RNNLM(1000, 2))
    counts = []
    train(
        model,
        range(1000),
        **{**SMALL, "num_epochs": 6},
        sampling=sampling,
        after_epoch=lambda _: counts.append(len(model.inputs)),
    )
    assert len({tuple(model.inputs[i][:, 0].tolist()) for i in (0, *counts[:-1])}) > 2


@samplings
def test_labels_are_the_next_tokens(sampling):
    assert train(Successor(), CYCLE, **SMALL, sampling=sampling).perplexity == (1.0, 1.0)


@samplings
def test_a_model_that_repeats_its_input_is_wrong(sampling):
    assert train(Successor(0), CYCLE, **SMALL, sampling=sampling).perplexity[0] > 1e100


@samplings
@pytest.mark.parametrize("kind", ["scratch", "lstm"])
def test_memory_is_flat_over_a_thousand_batches(kind, sampling):
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("this system does not say how much memory a process has")
    model = RNNLMScratch(6, 32) if kind == "scratch" else RNNLM(6, 32, "lstm")
    memory = []
    # A batch's graph is some 50 kB or more: kept, five hundred of them are 25 MB.
    train(
        model,
        text(8 * 10 * 510),
        batch_size=8,
        num_steps=10,
        num_epochs=2,
        lr=0.01,
        sampling=sampling,
        after_epoch=lambda _: memory.append(int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")),
    )
    assert memory[1] - memory[0] < 8e6


# Training: steps


def by_hand(model, inputs, *, lr, theta, grid, optimizer="adam", schedule="linear", epochs=2, carry=True):
    """Train on recorded inputs of CYCLE, written out apart from the package."""
    parameters = list(model.parameters())
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
    losses = []
    per_epoch = len(inputs) // epochs
    for n, X in enumerate(inputs):
        if not carry or n % per_epoch == 0:
            state = None
        logits, state = model(X, None if state is None else state.detach())
        loss = -logits.log_softmax(2).gather(2, ((X + 1) % 6)[..., None]).mean()
        losses.append(float(loss.detach()))
        gradients = torch.autograd.grad(loss, parameters)
        norm = math.sqrt(sum(float(g.square().sum()) for g in gradients))
        rate = lr * (1 - n / len(inputs)) if schedule == "linear" else lr
        with torch.no_grad():
            for p, g, (m, v) in zip(parameters, gradients, moments, strict=True):
                g = g * min(1, theta / norm)
                if optimizer == "adam":
                    m.mul_(0.9).add_(0.1 * g)
                    v.mul_(0.999).add_(0.001 * g * g)
                    g = (m / (1 - 0.9 ** (n + 1))) / ((v / (1 - 0.999 ** (n + 1))).sqrt() + 1e-8)
                p.sub_(rate * g)
                if grid is not None:
                    p.round_(decimals=grid)
    return losses


@samplings
@pytest.mark.parametrize(
    "options",
    [
        {"lr": 0.01, "theta": 1.0, "grid": 5},
        {"lr": 0.01, "theta": 0.05, "grid": 5},
        {"lr": 0.03, "theta": 1.0, "grid": 3, "schedule": "constant"},
        {"lr": 0.5, "theta": 0.1, "grid": 4, "optimizer": "sgd"},
        {"lr": 0.01, "theta": 1.0, "grid": None},
    ],
)
def test_training_takes_the_steps_that_it_says(options, sampling):
    model = RNNLMScratch(6, 5, sigma=0.5)
    other, spy = copy.deepcopy(model), Spy(model)
    history = train(spy, CYCLE, batch_size=3, num_steps=4, num_epochs=2, sampling=sampling, **options)
    losses = by_hand(other, spy.inputs, **options, carry=sampling == "sequential")
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=0, atol=1e-10)
    half = len(losses) // 2
    expected = [math.exp(sum(losses[:half]) / half), math.exp(sum(losses[half:]) / half)]
    assert history.perplexity == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("grid", [2, 5])
def test_weights_are_on_the_grid_after_every_step(grid):
    model = Spy(RNNLMScratch(6, 5, sigma=0.5))
    seen = []
    model.model.register_forward_pre_hook(
        lambda m, _: seen.append([p.detach().clone() for p in m.parameters()])
    )
    train(model, CYCLE, **SMALL, grid=grid)
    seen.append(list(model.parameters()))
    assert all(torch.equal(p, p.round(decimals=grid)) for weights in seen[1:] for p in weights)


def test_without_a_grid_weights_are_on_none():
    model = RNNLMScratch(6, 5, sigma=0.5)
    history = train(model, CYCLE, **SMALL, grid=None)
    assert not torch.equal(model.rnn.W_hh, model.rnn.W_hh.round(decimals=5))
    assert history.margin == math.inf


def test_weights_that_are_not_trained_are_not_rounded():
    model = RNNLMScratch(6, 5, sigma=0.5)
    model.rnn.W_xh.requires_grad_(False)
    before = model.rnn.W_xh.clone()
    train(model, CYCLE, **SMALL)
    assert torch.equal(model.rnn.W_xh, before)


def test_no_theta_does_not_clip():
    one, other = RNNLMScratch(6, 5, sigma=0.5), RNNLMScratch(6, 5, sigma=0.5)
    train(one, CYCLE, **SMALL, theta=None)
    train(other, CYCLE, **SMALL, theta=1e9)
    assert torch.equal(one.rnn.W_hh, other.rnn.W_hh)


@every_model
def test_training_learns(kind):
    history = train(MODELS[kind](), CYCLE, **{**SMALL, "num_epochs": 30, "lr": 0.05})
    assert history.perplexity[-1] < 1.2 < 3 < history.perplexity[0]


# Training: reproducible, and on its own


def trained(**options):
    model = RNNLMScratch(6, 5)
    train(model, CYCLE, **{**SMALL, **options})
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def test_the_same_seed_gives_the_same_weights():
    assert torch.equal(trained(seed=3), trained(seed=3))


@pytest.mark.parametrize("seed", [4, None])
def test_another_seed_gives_other_weights(seed):
    assert not torch.equal(trained(seed=3, sampling="random"), trained(seed=seed, sampling="random"))


@samplings
def test_global_random_state_is_left_alone(sampling):
    before = random.getstate(), torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    trained(sampling=sampling)
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])
    assert np.array_equal(np.random.get_state()[1], before[2])  # noqa: NPY002


def test_the_default_type_of_numbers_is_left_alone():
    trained()
    assert torch.get_default_dtype() == torch.float32


PROGRAM = """
import hashlib, sys, torch
from d2lrnn import RNNLM, RNNLMScratch, generate, load_corpus, train
torch.set_num_threads(int(sys.argv[1]))
corpus, vocab = load_corpus(max_tokens=2_000)
for model in (RNNLMScratch(len(vocab), 64, sigma=0.07), RNNLM(len(vocab), 16, "lstm")):
    train(model, corpus, batch_size=8, num_steps=20, num_epochs=6, lr=2e-2)
    weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    print(hashlib.sha256(weights).hexdigest(), generate(model, vocab, "the tide", 60))
    print(generate(model, vocab, "the tide", 60, temperature=0.8, seed=1))
"""


def test_weights_and_text_do_not_depend_on_threads_or_processor():
    changes = [("1", {}), ("2", {}), ("1", {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"})]
    plain = {k: v for k, v in os.environ.items() if k not in ("ATEN_CPU_CAPABILITY", "MKL_CBWR")}
    plain["OMP_WAIT_POLICY"] = "passive"  # a waiting thread leaves its core to other tests
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, threads],
            env={**plain, **extra},
            stdout=subprocess.PIPE,
            text=True,
        )
        for threads, extra in changes
    ]
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(running)
    assert len(set(outputs)) == 1


# Training: what is not finite, and what is no argument


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("loss", "epoch 2 of 3: the loss of batch 2 is nan; lr=0.01, theta=1.0"),
        ("gradient", r"epoch 2 of 3: the gradient of .*model.* has norm (nan|inf)"),
    ],
)
def test_a_run_that_is_not_finite_stops_with_its_last_good_history(where, message):
    batches = len(list(sequential_batches(CYCLE, 3, 4, seed=0)))  # as many for every seed
    model = Failing(call=batches + 2, where=where)
    histories = []
    with pytest.raises(NonFiniteError, match=message) as caught:
        train(model, CYCLE, **{**SMALL, "num_epochs": 3}, after_epoch=histories.append)
    assert caught.value.history == histories[-1]
    assert len(histories) == 1


def test_a_run_that_is_not_finite_at_once_has_an_empty_history():
    with pytest.raises(ValueError, match="epoch 1 of 2: the loss of batch 1 is nan") as caught:
        train(Failing(call=1), CYCLE, **SMALL)
    assert caught.value.history == History()


def test_weights_stay_finite_when_a_run_stops():
    model = Failing(call=5, where="gradient")
    with pytest.raises(NonFiniteError):
        train(model, CYCLE, **SMALL)
    assert all(bool(p.isfinite().all()) for p in model.parameters())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"model": RNNLM(6, 5, bidirectional=True)}, ValueError, "bidirectional"),
        ({"model": lambda X, _: X}, TypeError, r"model must be an nn\.Module"),
        ({"corpus": CYCLE[:12]}, ValueError, "batch_size=3 .*num_steps=4 .*corpus holds 12"),
        ({"corpus": [1, 7] * 20}, ValueError, "corpus must hold token indices below vocab_size=6, got 7"),
        ({"held_out": [1]}, ValueError, r"held_out must hold at least 2 token\(s\), got 1"),
        ({"held_out": [1, 9]}, ValueError, "held_out must hold token indices below vocab_size=6, got 9"),
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1, got 0"),
        ({"num_steps": 2.5}, TypeError, "num_steps must be an integer"),
        ({"num_epochs": 0}, ValueError, "num_epochs must be at least 1, got 0"),
        ({"lr": 0}, ValueError, "lr must be greater than 0"),
        ({"lr": math.nan}, ValueError, "lr must be finite"),
        ({"theta": 0.0}, ValueError, "theta must be greater than 0"),
        (
            {"sampling": "shuffled"},
            ValueError,
            "sampling must be one of 'sequential', 'random'; got 'shuffled'",
        ),
        ({"optimizer": "lbfgs"}, ValueError, "optimizer must be one of 'adam', 'sgd'; got 'lbfgs'"),
        ({"schedule": "cosine"}, ValueError, "schedule must be one of 'linear', 'constant'; got 'cosine'"),
        ({"grid": -1}, ValueError, "grid must be at least 0, got -1"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    ],
)
def test_an_argument_that_is_not_as_described_is_an_error_before_any_step(options, error, message):
    model = options.get("model", RNNLMScratch(6, 5))
    before = copy.deepcopy(model.state_dict()) if isinstance(model, nn.Module) else {}
    with pytest.raises(error, match=message):
        train(**{"model": model, "corpus": CYCLE, **SMALL, **options})
    assert all(torch.equal(p, model.state_dict()[name]) for name, p in before.items())


# Training: what is reported


def test_held_out_text_is_evaluated_after_every_epoch():
    model, held_out, found = RNNLMScratch(6, 5), text(40, seed=1), []
    history = train(
        model,
        CYCLE,
        **SMALL,
        held_out=held_out,
        after_epoch=lambda _: found.append(evaluate(model, held_out)),
    )
    assert list(history.held_out_perplexity) == found


def test_evaluating_does_not_change_training():
    assert torch.equal(trained(), trained(held_out=text(40)))


def test_training_is_in_training_mode_and_restores_the_mode():
    model = Spy(RNNLMScratch(6, 5)).eval()
    train(model, CYCLE, **SMALL)
    assert (set(model.modes), model.training) == ({True}, False)


def test_histories_grow_by_one_epoch():
    histories = []
    last = train(RNNLMScratch(6, 5), CYCLE, **{**SMALL, "num_epochs": 3}, after_epoch=histories.append)
    assert [len(history.perplexity) for history in histories] == [1, 2, 3]
    assert histories[-1] == last
    assert histories[1].perplexity == last.perplexity[:2]


def test_tokens_are_counted():
    model = Spy(RNNLMScratch(6, 5))
    history = train(model, CYCLE, **SMALL)
    assert history.num_tokens == sum(X.numel() for X in model.inputs)
    assert history.tokens_per_second == history.num_tokens / history.seconds


def test_seconds_are_those_of_training_only(monkeypatch):
    clock = iter([0.0, 1.5, 100.0, 102.5])
    monkeypatch.setattr(training.time, "perf_counter", lambda: next(clock))
    assert train(RNNLMScratch(6, 5), CYCLE, **SMALL, held_out=CYCLE).seconds == 4.0


def test_gradient_norms_are_the_largest_before_clipping():
    history = train(RNNLMScratch(6, 5, sigma=0.5), CYCLE, **SMALL, theta=1e-3)
    assert min(history.gradient_norm) > 0.01


def test_the_margin_is_the_smallest_of_all_steps(monkeypatch):
    margins = []

    def recording(weights, decimals):
        margins.append(round_to_grid(weights, decimals))
        return margins[-1]

    monkeypatch.setattr(training, "round_to_grid", recording)
    assert train(RNNLMScratch(6, 5), CYCLE, **SMALL).margin == min(margins) > 0


def test_training_is_silent_where_nobody_looks(capfd):
    trained()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("progress", [True, None])
def test_a_progress_bar_tells_perplexity_and_speed(progress, capfd, monkeypatch):
    monkeypatch.setattr(training, "interactive", lambda: True)
    history = train(RNNLMScratch(6, 5), CYCLE, **SMALL, progress=progress)
    err = capfd.readouterr().err
    assert f"perplexity {history.perplexity[-1]:.3g}, " in err
    assert "tokens/s" in err
    assert "2/2" in err


def test_no_progress_bar_is_shown_if_none_is_wanted(capfd, monkeypatch):
    monkeypatch.setattr(training, "interactive", lambda: True)
    trained(progress=False)
    assert capfd.readouterr().err == ""


# History


RUN = History((6.0, 3.25, 1234.5), (7.0, 4.0, math.inf), (2.0, 1.0, 0.5), 1e-9, 3000, 2.0)


def test_a_history_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RUN.seconds = 1.0


def test_a_history_is_a_table_of_text():
    assert repr(RUN).splitlines() == [
        "epoch  training  held out  gradient norm",
        "    1      6.00      7.00           2.00",
        "    2      3.25      4.00           1.00",
        "    3     1,230       inf          0.500",
        "2 s (measured), 1,500 tokens/s (measured)",
    ]


def test_a_history_is_a_table_on_a_page():
    page = RUN._repr_html_()
    assert "<tr><td>2</td><td>3.25</td><td>4.00</td><td>1.00</td></tr>" in page
    assert "1,500 tokens/s (measured)</caption>" in page


def test_a_table_without_held_out_text_has_no_column_of_it():
    assert "held out" not in repr(dataclasses.replace(RUN, held_out_perplexity=()))


@pytest.mark.parametrize(("epochs", "rows"), [(0, []), (1, [1]), (10, [*range(1, 11)]), (100, [1, 12, 23])])
def test_a_long_table_shows_ten_epochs_with_the_first_and_last(epochs, rows):
    lines = repr(History((2.0,) * epochs, (), (1.0,) * epochs)).splitlines()[1:-1]
    shown = [int(line.split()[0]) for line in lines]
    assert shown[: len(rows)] == rows
    assert (len(shown), shown[-1:]) == (min(epochs, 10), [epochs] if epochs else [])


def test_a_history_is_a_picture():
    with figures.captured() as shown:
        RUN_ = dataclasses.replace(RUN, held_out_perplexity=(7.0, 4.0, 5.0))
        RUN_.plot()
    series = shown[0][figures.SERIES_MIME]["series"]
    assert series["training"] == {"x": [1, 2, 3], "y": [6.0, 3.25, 1234.5]}
    assert series["held out"]["y"] == [7.0, 4.0, 5.0]


def test_a_sum_of_histories_is_one_run_after_the_other():
    both = RUN + History((2.0,), (3.0,), (0.1,), 1e-12, 1000, 3.0)
    assert both == History(
        (6.0, 3.25, 1234.5, 2.0), (7.0, 4.0, math.inf, 3.0), (2.0, 1.0, 0.5, 0.1), 1e-12, 4000, 5.0
    )


def test_perplexity_is_found_where_the_package_says():
    assert training.perplexity is perplexity


def test_the_plain_model_trains_to_the_weights_of_the_fast_one():
    plain, fast = PlainRNNLM(6, 5), RNNLMScratch(6, 5)
    for model in (plain, fast):
        train(model, CYCLE, **SMALL)
    assert all(torch.equal(p, q) for p, q in zip(plain.parameters(), fast.parameters(), strict=True))
