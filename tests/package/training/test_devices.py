"""Devices: named ones are there or an error, and model, text and state are on one."""

import pytest
import torch
from torch import nn

from d2lrnn import RNNLM, RNNLMScratch, Vocab, evaluate, generate, greedy_margin, pick_device, train
from d2lrnn.training.devices import destination, where

TEXT = torch.randint(1, 5, (400,), generator=torch.Generator().manual_seed(0))
MODELS = {
    "scratch": lambda: RNNLMScratch(5, 8, seed=0),
    "rnn": lambda: RNNLM(5, 8, seed=0),
    "gru": lambda: RNNLM(5, 8, "gru", 2, seed=0),
    "lstm": lambda: RNNLM(5, 8, "lstm", seed=0),
    "embedding": lambda: RNNLM(5, 8, seed=0, embedding_size=4),
}
LESSON = {"num_epochs": 3, "lr": 1e-2, "batch_size": 4, "num_steps": 10}
# float64 on two devices differs in the last bits only, and the grid of 1e-5 takes those away after each step.
TOLERANCE = 1e-9  # relative, of a perplexity

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, and none is here")
needs_mps = pytest.mark.skipif(
    not torch.backends.mps.is_available(), reason="needs Apple's device, and none is here"
)


class Elsewhere(nn.Module):
    """Has its weights on the device "meta", which holds no numbers, and notes on which device it is called.

    Its logits are made on the CPU, so that what comes after them goes on.
    """

    vocab_size = 5

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1, device="meta"))
        self.called_on = set()

    def forward(self, X, state=None):
        self.called_on |= {X.device.type} | ({state.device.type} if state is not None else set())
        return torch.zeros(*X.shape, 5, dtype=torch.float64), torch.zeros(1, device="meta")


class StopHere(Exception):  # noqa: N818  # nothing went wrong
    pass


class Stops(RNNLM):
    """Notes on which devices it is when it is first called, and stops there."""

    def forward(self, X, _state=None):
        self.called_on = {X.device.type} | {p.device.type for p in self.parameters()}
        raise StopHere


@pytest.fixture
def vocab():
    return Vocab(list("abcd"))


def test_the_cpu_is_picked_unless_another_is_named():
    assert pick_device() == torch.device("cpu")


def test_auto_is_cuda_where_there_is_one_and_never_apple_s(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    picked = []
    for there in (False, True):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        picked.append(pick_device("auto").type)
    assert picked == ["cpu", "cuda"]


@pytest.mark.parametrize("name", ["cuda:99", "gpu", "mps:7"])
def test_a_device_that_is_not_here_is_an_error_naming_it(name):
    with pytest.raises(ValueError, match=rf"device must be one that is here, got '{name}': \w.{{9}}"):
        pick_device(name)


def test_a_device_that_is_no_name_is_refused():
    with pytest.raises(TypeError, match="device must be a str or a torch"):
        pick_device(0)


def test_apple_s_device_refuses_float64_and_says_what_to_do():
    with pytest.raises(ValueError, match=r"'mps' has no float64.*dtype=torch\.float32"):
        train(RNNLM(5, 4, seed=0), TEXT, device="mps", **LESSON)


@pytest.mark.parametrize("name", ["mps", "hpu"])
@pytest.mark.skipif(torch.backends.mps.is_available(), reason="needs a machine without Apple's device")
def test_the_reason_why_a_device_is_not_here_is_one_line(name):
    with pytest.raises(ValueError, match="device must be one that is here") as caught:
        pick_device(name)
    assert len(str(caught.value)) < 200


def test_a_device_is_picked_whatever_the_default_one_is():
    with torch.device("meta"):
        assert pick_device() == torch.device("cpu")


def test_a_model_without_weights_is_on_no_device():
    assert (where(print), where(nn.Identity())) == (None, None)


def test_a_model_of_buffers_alone_is_where_they_are():
    assert where(nn.BatchNorm1d(2, affine=False, device="meta")) == torch.device("meta")


def test_a_compiled_model_is_where_its_weights_are():
    assert where(torch.compile(RNNLM(5, 4).to("meta"))) == torch.device("meta")


def test_looking_for_a_place_moves_nothing():
    model = RNNLM(5, 4, seed=0)
    assert destination(model, "meta") == torch.device("meta")
    assert where(model) == torch.device("cpu")


def test_training_computes_where_the_model_is():
    model = Stops(5, 4).to("meta")
    with pytest.raises(StopHere):
        train(model, TEXT, **LESSON)
    assert model.called_on == {"meta"}


def test_training_moves_model_and_text_to_the_device_named():
    model = Stops(5, 4)
    with pytest.raises(StopHere):
        train(model, TEXT, device="meta", **LESSON)
    assert model.called_on == {"meta"}


def test_evaluation_reads_the_text_on_the_model_s_device():
    model = Elsewhere()
    assert evaluate(model, TEXT) == pytest.approx(5)
    assert model.called_on == {"meta"}


def test_evaluation_of_a_function_leaves_the_text_where_it_is():
    devices = []

    def model(X, state):
        devices.append(X.device.type)
        return torch.zeros(*X.shape, 5), state

    evaluate(model, TEXT)
    assert set(devices) == {"cpu"}


def test_generation_feeds_tokens_on_the_model_s_device(vocab):
    model = Elsewhere()
    generate(model, vocab, "ab", 3)
    assert model.called_on == {"meta"}


def test_margin_is_taken_on_the_model_s_device(vocab):
    model = Elsewhere()
    greedy_margin(model, vocab, "abab", 2)
    assert model.called_on == {"meta"}


def test_a_function_is_fed_on_the_cpu_whatever_the_default_device_is(vocab):
    devices = []

    def model(X, _):
        devices.append(X.device.type)
        return torch.zeros(*X.shape, 5, device="cpu"), None

    with torch.device("meta"):
        greedy_margin(model, vocab, generate(model, vocab, "ab", 3), 3)
    assert set(devices) == {"cpu"}


@needs_cuda
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("index", [-1, 5])
def test_an_index_out_of_range_is_an_error_on_cuda_which_goes_on(name, index):
    model = MODELS[name]().to("cuda")
    with pytest.raises(ValueError, match=rf"X must be in 0\.\.4, got {index}"):
        model(torch.tensor([[0, index]], device="cuda"))
    assert bool(torch.isfinite(model(torch.tensor([[0, 1]], device="cuda"))[0]).all())


@needs_cuda
@pytest.mark.parametrize("name", MODELS)
def test_cuda_trains_to_the_same_perplexities_as_the_cpu(name, vocab):
    runs = []
    for device in ("cpu", "cuda"):
        model = MODELS[name]()
        history = train(model, TEXT, held_out=TEXT[:50], device=device, **LESSON)
        assert where(model).type == device
        runs.append([*history.perplexity, *history.held_out_perplexity, evaluate(model, TEXT)])
        runs[-1].append(greedy_margin(model, vocab, generate(model, vocab, "ab", 5), 5))
    assert runs[1] == pytest.approx(runs[0], rel=TOLERANCE)


@needs_mps
def test_apple_s_device_trains_in_float32():
    model = RNNLM(5, 8, dtype=torch.float32, seed=0)
    train(model, TEXT, device="mps", **LESSON)
    assert where(model).type == "mps"
