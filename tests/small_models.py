"""Small models and texts, a model that keeps what another one is given, and gradients to hold together."""

import numpy as np
import pytest
import torch
from torch import nn

from d2lrnn import RNNLM, LinearRNN, RNNLMScratch, compare

MODELS = {
    "scratch": lambda: RNNLMScratch(6, 5, sigma=0.5, seed=0),
    "rnn": lambda: RNNLM(6, 5, seed=0),
    "gru": lambda: RNNLM(6, 5, "gru", seed=0),
    "lstm": lambda: RNNLM(6, 5, "lstm", 2, seed=0),
}
every_model = pytest.mark.parametrize("kind", MODELS)
CYCLE = [1, 2, 3, 4, 5, 0] * 30  # the token after t is (t + 1) % 6


def text(length, vocab_size=6, seed=0):
    return torch.randint(vocab_size, (length,), generator=torch.Generator().manual_seed(seed))


def a_user_s_settings():
    """Return contexts that a user may be in, by name, each to be entered once."""
    return {
        "a default device": torch.device("meta"),
        "no gradients": torch.no_grad(),
        "inference mode": torch.inference_mode(),
    }


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


def linear_case(T=6, d=2, n=3, q=4, seed=0):
    rng = np.random.default_rng(seed)
    model = LinearRNN(rng.normal(size=(n, d)), rng.normal(size=(n, n)), rng.normal(size=(q, n)))
    return model, rng.normal(size=(T, d)), rng.normal(size=(T, q)), rng.normal(size=n)


def require_grad(*arrays):
    return [torch.tensor(np.asarray(array), requires_grad=True) for array in arrays]


def assert_close(ours, reference, tolerance=1e-10):
    assert ours.keys() == reference.keys()
    comparisons = [compare(name, ours[name], reference[name], tolerance=tolerance) for name in ours]
    assert all(comparison.close for comparison in comparisons), comparisons
