"""Clipping, the grid, evaluation, the training loop and its history."""

from __future__ import annotations

import copy
import math
import os
import random
import subprocess
import sys
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings
from small_models import CYCLE, MODELS, Spy, Successor, a_user_s_settings, every_model, text
from torch import nn

from d2lrnn.models.concise import RNNLM
from d2lrnn.models.scratch import PlainRNNLM, RNNLMScratch
from d2lrnn.reproducible import round_to_grid
from d2lrnn.text.batching import sequential_batches
from d2lrnn.training import train as loop
from d2lrnn.training.evaluate import evaluate
from d2lrnn.training.history import History
from d2lrnn.training.train import NonFiniteError, train

law = settings(deadline=None, max_examples=30)  # a busy machine is not a fault
samplings = pytest.mark.parametrize("sampling", ["sequential", "random"])
SMALL = {"batch_size": 3, "num_steps": 4, "num_epochs": 2, "lr": 0.01, "seed": 0}


@pytest.fixture(autouse=True)
def one_thread():
    """Leave the other cores to other tests: these models are too small to be shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Failing(nn.Module):
    """Return logits of nan, or what makes the gradient nan, in one call of many."""

    def __init__(self, call, where="loss"):
        super().__init__()
        self.model, self.call, self.where, self.calls = RNNLMScratch(6, 5, seed=0), call, where, 0

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
    model = Spy(RNNLMScratch(6, 5, seed=0))
    firsts = []
    train(model, CYCLE, **SMALL, after_epoch=lambda _: firsts.append(len(model.states)))
    assert [model.states[i] for i in (0, firsts[0])] == [None, None]


def test_sequential_training_reads_rows_on():
    model = Spy(RNNLMScratch(6, 5, seed=0))
    train(model, CYCLE, **{**SMALL, "num_epochs": 1})
    assert all(torch.equal(b[:, 0], (a[:, -1] + 1) % 6) for a, b in pairwise(model.inputs))


@samplings
def test_batches_have_the_size_asked_for(sampling):
    model = Spy(RNNLMScratch(6, 5, seed=0))
    train(model, CYCLE, **SMALL, sampling=sampling)
    assert {X.shape for X in model.inputs} == {(3, 4)}


@samplings
def test_each_epoch_has_batches_of_its_own(sampling):
    model = Spy(RNNLM(1000, 2, seed=0))
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
    model = RNNLMScratch(6, 32, seed=0) if kind == "scratch" else RNNLM(6, 32, "lstm", seed=0)
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
        seed=0,
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
    model = RNNLMScratch(6, 5, sigma=0.5, seed=0)
    other, spy = copy.deepcopy(model), Spy(model)
    history = train(spy, CYCLE, batch_size=3, num_steps=4, num_epochs=2, sampling=sampling, **options)
    losses = by_hand(other, spy.inputs, **options, carry=sampling == "sequential")
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=0, atol=1e-10)
    half = len(losses) // 2
    expected = [math.exp(sum(losses[:half]) / half), math.exp(sum(losses[half:]) / half)]
    assert history.perplexity == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("grid", [2, 5])
def test_weights_are_on_the_grid_after_every_step(grid):
    model = Spy(RNNLMScratch(6, 5, sigma=0.5, seed=0))
    seen = []
    model.model.register_forward_pre_hook(
        lambda m, _: seen.append([p.detach().clone() for p in m.parameters()])
    )
    train(model, CYCLE, **SMALL, grid=grid)
    seen.append(list(model.parameters()))
    assert all(torch.equal(p, p.round(decimals=grid)) for weights in seen[1:] for p in weights)


def test_without_a_grid_weights_are_on_none():
    model = RNNLMScratch(6, 5, sigma=0.5, seed=0)
    history = train(model, CYCLE, **SMALL, grid=None)
    assert not torch.equal(model.rnn.W_hh, model.rnn.W_hh.round(decimals=5))
    assert history.margin == math.inf


def test_weights_that_are_not_trained_are_not_rounded():
    model = RNNLMScratch(6, 5, sigma=0.5, seed=0)
    model.rnn.W_xh.requires_grad_(False)
    before = model.rnn.W_xh.clone()
    train(model, CYCLE, **SMALL)
    assert torch.equal(model.rnn.W_xh, before)


def test_no_theta_does_not_clip():
    one, other = RNNLMScratch(6, 5, sigma=0.5, seed=0), RNNLMScratch(6, 5, sigma=0.5, seed=0)
    train(one, CYCLE, **SMALL, theta=None)
    train(other, CYCLE, **SMALL, theta=1e9)
    assert torch.equal(one.rnn.W_hh, other.rnn.W_hh)


@every_model
def test_training_learns(kind):
    history = train(MODELS[kind](), CYCLE, **{**SMALL, "num_epochs": 30, "lr": 0.05})
    assert history.perplexity[-1] < 1.2 < 3 < history.perplexity[0]


# Training: reproducible, and on its own


def trained(**options):
    model = RNNLMScratch(6, 5, seed=0)
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
for model in (RNNLMScratch(len(vocab), 64, sigma=0.07, seed=0), RNNLM(len(vocab), 16, "lstm", seed=0)):
    train(model, corpus, batch_size=8, num_steps=20, num_epochs=6, lr=2e-2, seed=0)
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
    with pytest.raises(ValueError, match="epoch 1 of 2: model must return finite logits, got nan") as caught:
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
        ({"model": RNNLM(6, 5, bidirectional=True, seed=0)}, ValueError, "bidirectional"),
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
    model = options.get("model", RNNLMScratch(6, 5, seed=0))
    before = copy.deepcopy(model.state_dict()) if isinstance(model, nn.Module) else {}
    with pytest.raises(error, match=message):
        train(**{"model": model, "corpus": CYCLE, **SMALL, **options})
    assert all(torch.equal(p, model.state_dict()[name]) for name, p in before.items())


# Training: what is reported


def test_held_out_text_is_evaluated_after_every_epoch():
    model, held_out, found = RNNLMScratch(6, 5, seed=0), text(40, seed=1), []
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
    model = Spy(RNNLMScratch(6, 5, seed=0)).eval()
    train(model, CYCLE, **SMALL)
    assert (set(model.modes), model.training) == ({True}, False)


def test_histories_grow_by_one_epoch():
    histories = []
    last = train(
        RNNLMScratch(6, 5, seed=0), CYCLE, **{**SMALL, "num_epochs": 3}, after_epoch=histories.append
    )
    assert [len(history.perplexity) for history in histories] == [1, 2, 3]
    assert histories[-1] == last
    assert histories[1].perplexity == last.perplexity[:2]


def test_tokens_are_counted():
    model = Spy(RNNLMScratch(6, 5, seed=0))
    history = train(model, CYCLE, **SMALL)
    assert history.num_tokens == sum(X.numel() for X in model.inputs)
    assert history.tokens_per_second == history.num_tokens / history.seconds


def test_seconds_are_those_of_training_only(monkeypatch):
    clock = iter([0.0, 1.5, 100.0, 102.5])
    monkeypatch.setattr(loop.time, "perf_counter", lambda: next(clock))
    assert train(RNNLMScratch(6, 5, seed=0), CYCLE, **SMALL, held_out=CYCLE).seconds == 4.0


def test_seconds_have_the_time_between_checkpoints_and_not_that_of_saving(monkeypatch, tmp_path):
    clock = count(1.0)
    monkeypatch.setattr(loop.time, "perf_counter", lambda: next(clock))
    options = {**SMALL, "num_epochs": 1, "checkpoint": tmp_path / "run.pt", "checkpoint_every": 1}
    history = train(RNNLMScratch(6, 5, seed=0), CYCLE, **options)
    steps = history.num_tokens // (SMALL["batch_size"] * SMALL["num_steps"])
    assert history.seconds == steps + 1.0


def test_gradient_norms_are_the_largest_before_clipping():
    history = train(RNNLMScratch(6, 5, sigma=0.5, seed=0), CYCLE, **SMALL, theta=1e-3)
    assert min(history.gradient_norm) > 0.01


def test_the_margin_is_the_smallest_of_all_steps(monkeypatch):
    margins = []

    def recording(weights, decimals):
        margins.append(round_to_grid(weights, decimals))
        return margins[-1]

    monkeypatch.setattr(loop, "round_to_grid", recording)
    assert train(RNNLMScratch(6, 5, seed=0), CYCLE, **SMALL).margin == min(margins) > 0


def test_training_is_silent_where_nobody_looks(capfd):
    trained()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("progress", [True, None])
def test_a_progress_bar_tells_perplexity_and_speed(progress, capfd, monkeypatch):
    monkeypatch.setattr(loop, "interactive", lambda: True)
    history = train(RNNLMScratch(6, 5, seed=0), CYCLE, **SMALL, progress=progress)
    err = capfd.readouterr().err
    assert f"perplexity {history.perplexity[-1]:.3g}, " in err
    assert "tokens/s" in err
    assert "2/2" in err


def test_no_progress_bar_is_shown_if_none_is_wanted(capfd, monkeypatch):
    monkeypatch.setattr(loop, "interactive", lambda: True)
    trained(progress=False)
    assert capfd.readouterr().err == ""


def test_the_plain_model_trains_to_the_weights_of_the_fast_one():
    plain, fast = PlainRNNLM(6, 5, seed=0), RNNLMScratch(6, 5, seed=0)
    for model in (plain, fast):
        train(model, CYCLE, **SMALL)
    assert all(torch.equal(p, q) for p, q in zip(plain.parameters(), fast.parameters(), strict=True))


# Training: sound whatever it is given


def with_left_gradients(value):
    """Return a model whose recurrent layer is frozen, and still has gradients from before."""
    model = RNNLMScratch(6, 5, sigma=0.5, seed=0)
    model.rnn.requires_grad_(False)
    for p in model.rnn.parameters():
        p.grad = torch.full_like(p, value)
    return model


@pytest.mark.parametrize("value", [0.0, 100.0, math.nan])
def test_gradients_left_on_frozen_weights_neither_count_nor_change(value):
    model, other = with_left_gradients(value), with_left_gradients(0.0)
    for p in other.rnn.parameters():
        p.grad = None
    assert train(model, CYCLE, **SMALL).gradient_norm == train(other, CYCLE, **SMALL).gradient_norm
    assert torch.equal(model.W_hq, other.W_hq)
    assert [float(p.grad.mean()) for p in model.rnn.parameters()] == pytest.approx([value] * 3, nan_ok=True)


def test_a_model_without_a_weight_to_train_is_an_error():
    with pytest.raises(ValueError, match="model must have a parameter to train"):
        train(RNNLM(6, 5, seed=0).requires_grad_(False), CYCLE, **SMALL)


@pytest.mark.parametrize("options", [{"grid": None}, {"grid": 5}])
def test_weights_that_are_not_finite_after_the_last_step_are_an_error(options):
    model = RNNLMScratch(6, 4, seed=0)
    model.W_hq.register_hook(lambda gradient: gradient * 1e10)
    plan = {"batch_size": 1, "num_steps": 100, "num_epochs": 1, "lr": 1e308, "optimizer": "sgd", "seed": 0}
    with pytest.raises(NonFiniteError, match=r"epoch 1 of 1: W_hq, of shape .*, holds -?inf") as caught:
        train(model, [1, 2, 3] * 40, **plan, theta=None, **options)
    assert caught.value.history == History()


def test_a_run_that_ends_well_has_finite_weights():
    assert bool(torch.isfinite(trained(lr=1e6, optimizer="sgd", schedule="constant", theta=1e-3)).all())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_needs_no_grid_and_says_so(dtype):
    model = RNNLM(6, 5, dtype=dtype, seed=0)
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(
        ValueError, match=rf"grid=5 needs weights of float32 or float64, but .* is of {dtype}"
    ):
        train(model, CYCLE, **SMALL)
    assert all(torch.equal(model.state_dict()[name], before[name]) for name in before)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_trains_without_a_grid(dtype):
    model = RNNLM(6, 5, dtype=dtype, seed=0)
    options = {**SMALL, "num_epochs": 20, "lr": 0.5, "optimizer": "sgd"}
    assert train(model, CYCLE, **options, grid=None).perplexity[-1] < 4


@pytest.mark.parametrize("at", [1, 2, 25, 40])
def test_a_stopped_run_keeps_its_history(at):
    model, plan, calls = RNNLMScratch(6, 5, seed=0), {**SMALL, "num_epochs": 5}, []

    def stop(*_):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt

    model.register_forward_hook(stop)
    with pytest.raises(KeyboardInterrupt) as caught:
        train(model, CYCLE, **plan)
    whole = Spy(RNNLMScratch(6, 5, seed=0))
    perplexity = train(whole, CYCLE, **plan).perplexity
    assert caught.value.history.perplexity == perplexity[: (at - 1) // (len(whole.inputs) // 5)]
    assert bool(torch.isfinite(model.W_hq).all())


@pytest.mark.parametrize("answer", [False, np.False_])
def test_after_epoch_can_end_a_run(answer):
    histories = []

    def enough(history):
        histories.append(history)
        return answer if len(histories) == 2 else None

    history = train(RNNLMScratch(6, 5, seed=0), CYCLE, **{**SMALL, "num_epochs": 9}, after_epoch=enough)
    assert len(history.perplexity) == 2
    assert history is histories[-1]


@pytest.mark.parametrize("answer", [None, True, 0, 0.0, ""])
def test_other_answers_of_after_epoch_go_on(answer):
    history = train(RNNLMScratch(6, 5, seed=0), CYCLE, **SMALL, after_epoch=lambda _: answer)
    assert len(history.perplexity) == 2


WRONG = {
    "num_epochs": ({"num_epochs": 0}, ValueError, "num_epochs must be at least 1, got 0"),
    "grid": ({"grid": -1}, ValueError, "grid must be at least 0, got -1"),
    "fine grid": ({"grid": 400}, ValueError, "grid must be at most 22, got 400"),
    "grid of a float": ({"grid": 5.0}, TypeError, r"grid must be an integer, got 5\.0"),
    "optimizer": ({"optimizer": "x"}, ValueError, "optimizer must be one of 'adam', 'sgd'; got 'x'"),
    "batch_size": ({"batch_size": 0}, ValueError, "batch_size must be at least 1, got 0"),
    "too large": ({"batch_size": 10**6}, ValueError, "one batch of batch_size=1000000"),
    "theta": ({"theta": -1}, ValueError, r"theta must be greater than 0, got -1"),
    "theta nan": ({"theta": math.nan}, ValueError, "theta must be finite, got nan"),
    "theta of a text": ({"theta": "1"}, TypeError, "theta must be a number, got '1'"),
    "after_epoch": ({"after_epoch": 5}, TypeError, r"after_epoch must be a function, got 5 \(int\)"),
    "progress": ({"progress": "no"}, TypeError, "progress must be True, False or None, got 'no'"),
    "seed": ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
    "seed of a text": ({"seed": "1"}, TypeError, "seed must be an integer, got '1'"),
    "held_out": ({"held_out": [1]}, ValueError, r"held_out must hold at least 2 token\(s\), got 1"),
    "lr": ({"lr": 0}, ValueError, "lr must be greater than 0"),
    "checkpoint": ({"checkpoint_every": 1}, ValueError, "checkpoint_every needs a path"),
    "resume": ({"resume": "no such file"}, FileNotFoundError, "resume must be a checkpoint"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_argument_is_checked_before_the_model_moves(kind):
    options, error, message = WRONG[kind]
    model = RNNLM(6, 5, seed=0)
    before, random_state = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    with pytest.raises(error, match=message):
        train(model, CYCLE, **{**SMALL, **options}, device="meta")
    assert {p.device.type for p in model.parameters()} == {"cpu"}
    assert all(torch.equal(model.state_dict()[name], before[name]) for name in before)
    assert torch.equal(torch.get_rng_state(), random_state)


def test_numbers_of_numpy_are_taken():
    one = trained(
        batch_size=np.int64(3), num_steps=np.int32(4), num_epochs=np.uint8(2), lr=np.float64(0.01),
        theta=np.float32(1), grid=np.int16(5), seed=np.int64(0), progress=np.False_,
    )  # fmt: skip
    assert torch.equal(one, trained())


@pytest.mark.parametrize("name", a_user_s_settings())
@samplings
def test_a_user_s_settings_change_no_weight(name, sampling):
    expected = trained(sampling=sampling, held_out=CYCLE[:20])
    model = RNNLMScratch(6, 5, seed=0)
    with a_user_s_settings()[name]:
        train(model, CYCLE, **SMALL, sampling=sampling, held_out=CYCLE[:20])
    assert torch.equal(torch.cat([p.detach().flatten() for p in model.parameters()]), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_a_default_dtype_changes_no_weight(dtype):
    expected, before = trained(), torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        assert torch.equal(trained(), expected)
    finally:
        torch.set_default_dtype(before)


def test_a_corpus_made_in_inference_mode_is_taken():
    with torch.inference_mode():
        corpus = torch.tensor(CYCLE)
    model = RNNLMScratch(6, 5, seed=0)
    train(model, corpus, **SMALL)
    assert torch.equal(torch.cat([p.detach().flatten() for p in model.parameters()]), trained())


def test_weights_made_in_inference_mode_are_an_error_that_names_one():
    with torch.inference_mode():
        model = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(ValueError, match=r"model must not be made in inference mode, but 0\.weight was"):
        train(model, CYCLE, **SMALL)


def test_without_a_seed_batches_follow_the_global_generator():
    runs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        runs.append(trained(seed=None, sampling="random"))
    assert torch.equal(runs[0], runs[1])
    assert not torch.equal(runs[0], runs[2])


def test_a_generator_draws_the_batches():
    def run(seed):
        return trained(seed=torch.Generator().manual_seed(seed), sampling="random")

    assert torch.equal(run(1), run(1))
    assert torch.equal(run(0), trained(seed=0, sampling="random"))
    assert not torch.equal(run(1), run(2))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_model_trains_to_the_same_weights(backend):
    for make in (lambda: RNNLMScratch(6, 5, seed=0), lambda: RNNLM(6, 5, "gru", seed=0)):
        plain, model = make(), make()
        train(plain, CYCLE, **SMALL)
        train(torch.compile(model, backend=backend), CYCLE, **SMALL)
        assert all(map(torch.equal, plain.parameters(), model.parameters()))


def test_the_loss_of_half_precision_is_summed_in_float32():
    corpus = text(6_000)
    plan = {"batch_size": 64, "num_steps": 90, "num_epochs": 1, "lr": 1e-9, "optimizer": "sgd", "seed": 0}
    for dtype in (torch.float16, torch.bfloat16):
        model = RNNLM(6, 8, dtype=dtype, seed=0)
        found = train(model, corpus, **plan, grid=None).perplexity[0]
        assert found == pytest.approx(evaluate(model, corpus), rel=0.01)


def test_held_out_tokens_without_a_logit_are_told_before_any_step():
    calls = []

    class Bare(nn.Module):
        def __init__(self):
            super().__init__()
            self.b = nn.Parameter(torch.zeros(6))

        def forward(self, X, state=None):
            calls.append(1)
            return self.b.expand(*X.shape, 6), state

    with pytest.raises(ValueError, match="a logit for each token, of which 9 is the highest, got 6"):
        train(Bare(), CYCLE, **SMALL, held_out=[1, 2, 9])
    assert len(calls) == 1


def test_a_learning_rate_that_the_weights_cannot_hold_is_an_error():
    model = RNNLMScratch(6, 4, dtype=torch.float32, seed=0)
    with pytest.raises(ValueError, match=r"lr must be less than 3\.4.*e\+38, got 1e\+39"):
        train(model, CYCLE, **{**SMALL, "lr": 1e39}, optimizer="sgd")


def test_a_program_without_stderr_trains(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert trained().isfinite().all()


def test_an_error_of_after_epoch_is_its_own():
    def fail(_history):
        raise NonFiniteError("elsewhere")

    with pytest.raises(NonFiniteError, match=r"^elsewhere$"):
        train(RNNLMScratch(6, 5, seed=0), CYCLE, **SMALL, after_epoch=fail)


def test_weights_that_a_move_replaces_are_the_ones_trained():
    before = torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        assert torch.equal(trained(device="cpu"), trained())
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(before)


def test_a_learning_rate_that_adam_s_first_step_cannot_take_is_an_error():
    model = RNNLMScratch(6, 4, dtype=torch.float32, seed=0)
    with pytest.raises(ValueError, match=r"lr must be less than 3\.4.*e\+37, got 1e\+38"):
        train(model, CYCLE, **{**SMALL, "lr": 1e38}, schedule="constant", grid=None)


@pytest.mark.parametrize("num_epochs", [10**13, 10**30])
def test_epochs_too_many_to_count_are_an_error(num_epochs):
    with pytest.raises(ValueError, match="num_epochs must be so few"):
        train(RNNLMScratch(6, 4, seed=0), CYCLE, **{**SMALL, "num_epochs": num_epochs})


@pytest.mark.parametrize("corpus", [[], [1]])
def test_a_corpus_too_short_for_a_batch_is_an_error_that_says_how_much_is_needed(corpus):
    with pytest.raises(ValueError, match=rf"need 13 tokens, but corpus holds {len(corpus)}"):
        train(PlainRNNLM(6, 8, seed=0), corpus, **SMALL)
