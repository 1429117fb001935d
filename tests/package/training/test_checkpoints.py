"""Checkpoints: whole or not there, and a run goes on from one to the same bits."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from d2lrnn import RNNLM, History, NonFiniteError, RNNLMScratch, files, train
from d2lrnn.training import checkpoints

TEXT = torch.randint(6, (400,), generator=torch.Generator().manual_seed(0)).tolist()
PLAN = {"batch_size": 4, "num_steps": 7, "num_epochs": 4, "lr": 0.01, "seed": 3}


class Dropping(nn.Module):
    """A GRU of two layers with dropout, which draws from the global generator, and a count of calls."""

    def __init__(self):
        super().__init__()
        self.model = RNNLM(6, 5, "gru", 2, seed=1)
        self.model.rnn.dropout = 0.5
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, X, state=None):
        self.calls += 1
        return self.model(X, state)


MODELS = {
    "scratch": lambda: RNNLMScratch(6, 5, seed=1),
    "gru": lambda: RNNLM(6, 5, "gru", seed=1),
    "lstm": lambda: RNNLM(6, 5, "lstm", seed=1),
    "dropout": Dropping,
    "frozen": lambda: frozen(RNNLM(6, 5, seed=1)),
    "bfloat16": lambda: RNNLM(6, 5, dtype=torch.bfloat16, seed=1),
}
OPTIONS = {
    "adam": {},
    "sgd": {"optimizer": "sgd", "lr": 0.1},
    "random": {"sampling": "random"},
    "constant": {"schedule": "constant"},
    "no grid, not clipped": {"grid": None, "theta": None},
    "held out": {"held_out": TEXT[:50]},
}


def frozen(model):
    model.linear.requires_grad_(False)
    return model


class StopError(Exception):
    pass


def interrupted(model, path, after, monkeypatch, **options):
    """Train until a checkpoint is due that is not saved any more, so many after the first."""
    saved, save = [], checkpoints.save

    def save_or_stop(*arguments):
        if len(saved) == after:
            raise StopError
        saved.append(save(*arguments))

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "save", save_or_stop)
        with pytest.raises(StopError):
            train(model, TEXT, **PLAN | options, checkpoint=path, checkpoint_every=3)


def resumed(make, options, stop, path, monkeypatch):
    """Return the model and history of a run that was interrupted and resumed with another model."""
    torch.manual_seed(5)
    interrupted(make(), path, stop, monkeypatch, **options)
    torch.manual_seed(77)
    model = make()
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    return model, train(model, TEXT, **PLAN | options, resume=path)


def lasting(history):
    return (history.perplexity, history.held_out_perplexity, history.gradient_norm, history.margin)


def bits(model):
    return [value.clone().flatten().view(torch.uint8).tolist() for value in model.state_dict().values()]


CASES = [
    *((kind, {} if kind != "bfloat16" else {"grid": None}) for kind in MODELS),
    *(("gru", options) for options in OPTIONS.values()),
]


@pytest.mark.parametrize("stop", [1, 2, 4, 6, 9])
@pytest.mark.parametrize(("kind", "options"), CASES, ids=[*MODELS, *OPTIONS])
def test_a_resumed_run_ends_in_the_same_bits(kind, options, stop, tmp_path, monkeypatch):
    make = MODELS[kind]
    torch.manual_seed(5)
    model = make()
    history = train(model, TEXT, **PLAN | options)
    again, resumed_history = resumed(make, options, stop, tmp_path / "run.pt", monkeypatch)
    assert bits(again) == bits(model)
    assert lasting(resumed_history) == lasting(history)
    assert resumed_history.num_tokens == history.num_tokens


def test_saving_does_not_change_a_run(tmp_path):
    one, other = MODELS["lstm"](), MODELS["lstm"]()
    train(one, TEXT, **PLAN)
    train(other, TEXT, **PLAN, checkpoint=tmp_path / "run.pt", checkpoint_every=1)
    assert bits(one) == bits(other)


def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    path = tmp_path / "run.pt"
    model, fresh = MODELS["gru"](), MODELS["gru"]()
    history = train(model, TEXT, **PLAN, checkpoint=path)
    assert train(fresh, TEXT, **PLAN, resume=path) == history
    assert bits(fresh) == bits(model)


def test_a_checkpoint_is_saved_after_each_epoch(tmp_path):
    path, epochs = tmp_path / "run.pt", []

    def look(_history):
        epochs.append(len(torch.load(path, weights_only=True)["progress"]["history"]["perplexity"]))

    train(MODELS["gru"](), TEXT, **PLAN, checkpoint=path, after_epoch=look)
    assert epochs == [1, 2, 3, 4]


@pytest.mark.parametrize("where", [str, lambda path: path, lambda path: os.fsencode(path).decode()])
def test_nothing_but_the_checkpoint_is_left(where, tmp_path):
    train(MODELS["gru"](), TEXT, **PLAN, checkpoint=where(tmp_path / "run.pt"), checkpoint_every=2)
    assert [path.name for path in tmp_path.iterdir()] == ["run.pt"]


CHILD = """
import os, signal, sys
import torch
from d2lrnn import RNNLM, train
from d2lrnn.training import checkpoints

mode, path = sys.argv[1:]
text = torch.randint(6, (400,), generator=torch.Generator().manual_seed(0)).tolist()
steps, replace = 0, os.fsync

def kill_in_the_run(module, inputs, outputs):
    global steps
    steps += 1
    if steps == 17:
        os.kill(os.getpid(), signal.SIGKILL)

def kill_in_a_save(file):
    global steps
    steps += 1
    if steps == 5:
        os.ftruncate(file, os.fstat(file).st_size // 2)
        os.kill(os.getpid(), signal.SIGKILL)
    replace(file)

model = RNNLM(6, 5, "lstm", seed=1)
if mode == "run":
    model.register_forward_hook(kill_in_the_run)
else:
    os.fsync = kill_in_a_save
plan = dict(batch_size=4, num_steps=7, num_epochs=4, lr=0.01, seed=3)
train(model, text, **plan, checkpoint=path, checkpoint_every=3)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill so")
@pytest.mark.parametrize("moment", ["run", "save"])
def test_a_killed_process_leaves_a_whole_checkpoint_to_go_on_from(moment, tmp_path):
    path = tmp_path / "run.pt"
    done = subprocess.run([sys.executable, "-c", CHILD, moment, path], check=False)
    assert done.returncode == -signal.SIGKILL
    model, whole = MODELS["lstm"](), MODELS["lstm"]()
    history = train(model, TEXT, **PLAN, resume=path, checkpoint=path)
    assert lasting(history) == lasting(train(whole, TEXT, **PLAN))
    assert bits(model) == bits(whole)
    left = [file.name for file in tmp_path.iterdir() if file != path]
    assert len(left) == (moment == "save")
    assert all(name.startswith(".run.pt.") and name.endswith(".part") for name in left)


def test_a_save_that_fails_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "run.pt"
    train(MODELS["gru"](), TEXT, **PLAN, checkpoint=path)
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        train(MODELS["gru"](), TEXT, **PLAN | {"seed": 4}, checkpoint=path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.pt"]


def test_a_run_that_is_not_finite_leaves_the_last_good_checkpoint(tmp_path):
    path, model = tmp_path / "run.pt", MODELS["gru"]()

    def harm(history):
        if len(history.perplexity) == 2:
            with torch.no_grad():
                model.linear.bias[0] = torch.nan

    with pytest.raises(NonFiniteError):
        train(model, TEXT, **PLAN, checkpoint=path, after_epoch=harm)
    again = MODELS["gru"]()
    train(again, TEXT, **PLAN, resume=path)
    whole = MODELS["gru"]()
    train(whole, TEXT, **PLAN)
    assert bits(again) == bits(whole)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "run.pt"
    train(MODELS["gru"](), TEXT, **PLAN, checkpoint=path)
    return path


OTHERS = {
    "batch_size": ({"batch_size": 5}, "batch_size was 4, now it is 5"),
    "num_steps": ({"num_steps": 6}, "num_steps was 7, now it is 6"),
    "num_epochs": ({"num_epochs": 5}, "num_epochs was 4, now it is 5"),
    "lr": ({"lr": 0.02}, "lr was 0.01, now it is 0.02"),
    "theta": ({"theta": None}, "theta was 1.0, now it is inf"),
    "sampling": ({"sampling": "random"}, "sampling was 'sequential', now it is 'random'"),
    "optimizer": ({"optimizer": "sgd"}, "optimizer was 'adam', now it is 'sgd'"),
    "schedule": ({"schedule": "constant"}, "schedule was 'linear', now it is 'constant'"),
    "grid": ({"grid": None}, "grid was 5, now it is None"),
    "seed": ({"seed": 4}, "seed must be None or that of the run to resume, got 4"),
    "corpus": ({"corpus": TEXT[:-1]}, "corpus is not the one that the run began with"),
    "cell": ({"model": RNNLM(6, 5, "lstm", seed=1)}, r"rnn.weight_ih_l0 was torch.float64 \(15, 6\), now"),
    "hiddens": (
        {"model": RNNLM(6, 4, "gru", seed=1)},
        r"was torch.float64 \(15, 6\), now it is .* \(12, 6\)",
    ),
    "dtype": ({"model": RNNLM(6, 5, "gru", dtype=torch.float32, seed=1)}, "now it is torch.float32"),
    "class": ({"model": RNNLMScratch(6, 5, seed=1)}, "not there"),
    "frozen": ({"model": frozen(RNNLM(6, 5, "gru", seed=1))}, "trained was"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_another_run_s_checkpoint_is_refused_and_nothing_changed(kind, saved):
    options, message = OTHERS[kind]
    given = {"model": RNNLM(6, 5, "gru", seed=2), "corpus": TEXT, **PLAN, **options}
    before, random_state = bits(given["model"]), torch.get_rng_state()
    with pytest.raises(ValueError, match=message):
        train(**given, resume=saved)
    assert bits(given["model"]) == before
    assert torch.equal(torch.get_rng_state(), random_state)


def test_no_seed_goes_on_with_the_run_s_own(saved):
    model = RNNLM(6, 5, "gru", seed=1)
    assert train(model, TEXT, **PLAN | {"seed": None}, resume=saved).perplexity


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04 half a file", None])
def test_what_is_no_checkpoint_is_refused(content, tmp_path):
    path = tmp_path / "other.pt"
    if content is None:
        torch.save(RNNLM(6, 5, seed=1).state_dict(), path)
    else:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"resume must be a checkpoint of .*train, .*other\.pt"):
        train(MODELS["gru"](), TEXT, **PLAN, resume=path)


def test_half_a_checkpoint_is_refused(saved):
    saved.write_bytes(saved.read_bytes()[:-1000])
    with pytest.raises(ValueError, match="resume must be a checkpoint of this version of train"):
        train(MODELS["gru"](), TEXT, **PLAN, resume=saved)


PATHS = {
    "no file": (
        {"resume": "missing.pt"},
        FileNotFoundError,
        "resume must be a checkpoint of train, but there is no",
    ),
    "no folder": (
        {"checkpoint": "no/run.pt"},
        FileNotFoundError,
        "checkpoint='no/run.pt' must be in a folder",
    ),
    "a folder": ({"checkpoint": "."}, IsADirectoryError, "checkpoint must be the path of a file"),
    "a number": ({"checkpoint": 3}, TypeError, r"checkpoint must be the path of a file, got 3 \(int\)"),
    "bytes": ({"resume": b"x"}, TypeError, "resume must be the path of a file"),
    "nothing": ({"checkpoint": ""}, ValueError, "checkpoint must be the path of a file, got ''"),
    "null": ({"checkpoint": "a\0b"}, ValueError, "checkpoint must be the path of a file, got"),
    "nobody's home": (
        {"checkpoint": "~nobody-has-this/a"},
        ValueError,
        "checkpoint must be the path of a file",
    ),
    "too long": ({"checkpoint": "a" * 300}, OSError, "checkpoint=.* cannot be written|too long"),
    "no path": ({"checkpoint_every": 3}, ValueError, "checkpoint_every needs a path"),
    "no step": (
        {"checkpoint": "a.pt", "checkpoint_every": 0},
        ValueError,
        "checkpoint_every must be at least 1",
    ),
}


@pytest.mark.parametrize("kind", PATHS)
def test_a_path_that_cannot_be_is_refused_before_any_step(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options, error, message = PATHS[kind]
    model = MODELS["gru"]()
    before = bits(model)
    with pytest.raises(error, match=message):
        train(model, TEXT, **PLAN, **options)
    assert bits(model) == before


def test_a_compiled_model_goes_on_from_a_plain_one_s_checkpoint(tmp_path, monkeypatch):
    def compiled():
        return torch.compile(RNNLM(6, 5, "gru", seed=1), backend="eager")

    plain = MODELS["gru"]()
    train(plain, TEXT, **PLAN)
    path = tmp_path / "run.pt"
    interrupted(MODELS["gru"](), path, 4, monkeypatch)
    model = compiled()
    train(model, TEXT, **PLAN, resume=path)
    assert bits(model) == bits(plain)


def test_histories_of_a_checkpoint_are_histories(saved):
    assert isinstance(train(MODELS["gru"](), TEXT, **PLAN, resume=saved), History)


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "run.pt", tmp_path / "link.pt"
    link.symlink_to(target)
    train(MODELS["gru"](), TEXT, **PLAN, checkpoint=link)
    assert link.is_symlink()
    assert target.is_file()


def test_a_damaged_checkpoint_is_refused(saved):
    content = bytearray(saved.read_bytes())
    place = content.index(bits_of_first_weight(saved))
    content[place] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ValueError, match=r"resume must be a checkpoint .* is damaged"):
        train(MODELS["gru"](), TEXT, **PLAN, resume=saved)


def bits_of_first_weight(path):
    weights = torch.load(path, weights_only=True)["model"]
    return next(iter(weights.values())).numpy().tobytes()


def test_a_checkpoint_with_a_part_missing_is_refused(tmp_path):
    path = tmp_path / "run.pt"
    torch.save({"d2lrnn checkpoint": checkpoints.FORMAT}, path)
    with pytest.raises(ValueError, match="resume must be a checkpoint of this version of train"):
        train(MODELS["gru"](), TEXT, **PLAN, resume=path)


def test_a_run_is_resumed_in_inference_mode(tmp_path, monkeypatch):
    path, whole, model = tmp_path / "run.pt", MODELS["lstm"](), MODELS["lstm"]()
    train(whole, TEXT, **PLAN)
    interrupted(MODELS["lstm"](), path, 4, monkeypatch)
    with torch.inference_mode():
        train(model, TEXT, **PLAN, resume=path)
    assert bits(model) == bits(whole)


def test_a_path_that_cannot_be_written_is_refused_before_the_model_reads_anything(tmp_path):
    link = tmp_path / "link.pt"
    link.symlink_to(tmp_path / "no folder" / "run.pt")
    calls = []
    model = MODELS["gru"]()
    model.register_forward_hook(lambda *_: calls.append(1))
    with pytest.raises(FileNotFoundError, match="checkpoint="):
        train(model, TEXT, **PLAN, checkpoint=link)
    assert calls == []


def test_a_checkpoint_keeps_the_mode_of_the_file_it_replaces(saved):
    saved.chmod(0o600)
    train(MODELS["gru"](), TEXT, **PLAN, checkpoint=saved)
    assert saved.stat().st_mode & 0o777 == 0o600


def test_a_neighbour_s_file_is_left_alone(tmp_path):
    neighbour = tmp_path / "run.pt.part"
    neighbour.write_text("mine", encoding="utf-8")
    train(MODELS["gru"](), TEXT, **PLAN, checkpoint=tmp_path / "run.pt")
    assert neighbour.read_text(encoding="utf-8") == "mine"


def test_writers_of_one_path_each_leave_a_whole_file(tmp_path):
    path = tmp_path / "file"

    def write(number):
        for _ in range(50):
            with files.replacing(path) as file:
                file.write(bytes([number]) * 10_000)
            assert len(set(path.read_bytes())) == 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
