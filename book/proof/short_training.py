"""A short training of each kind of model, for machines on which whole chapters would take too long.

Usage: python -m book.proof.short_training   (prints JSON)

Needs nothing but the package and PyTorch, so that it runs on an emulated processor too.
"""

from __future__ import annotations

import hashlib
import json
import platform

import numpy
import torch
from torch import nn

from d2lrnn import RNNLM, RNNLMScratch, evaluate, generate, load_corpus, train

CORPUS_SIZE, NUM_HIDDENS, NUM_EPOCHS = 3000, 64, 10
NUM_PREDS = 40
NO_GRID = "scratch, without the grid"


def weights_digest(model: nn.Module) -> str:
    """Return one hash over all bits of a model's weights."""
    found = hashlib.sha256()
    for weight in model.state_dict().values():
        found.update(weight.numpy().tobytes())
    return found.hexdigest()


def short_training() -> dict[str, dict[str, str | float]]:
    """Train, and return by model the hash of its weights, its text, and its perplexity on held-out text.

    The last model is trained without the grid: what becomes of it shows what the grid is for.
    """
    corpus, vocab = load_corpus(max_tokens=2 * CORPUS_SIZE)
    models: dict[str, nn.Module] = {
        "scratch": RNNLMScratch(len(vocab), NUM_HIDDENS, seed=0),
        **{cell: RNNLM(len(vocab), NUM_HIDDENS, cell, seed=0) for cell in ("rnn", "gru", "lstm")},
        NO_GRID: RNNLMScratch(len(vocab), NUM_HIDDENS, seed=0),
    }
    found: dict[str, dict[str, str | float]] = {}
    for name, model in models.items():
        grid = None if name == NO_GRID else 5
        data = corpus[:CORPUS_SIZE]
        train(model, data, batch_size=8, num_epochs=NUM_EPOCHS, lr=1e-2, grid=grid, progress=False, seed=0)
        found[name] = {
            "weights": weights_digest(model),
            "text": generate(model, vocab, "the tide", NUM_PREDS),
            "perplexity": evaluate(model, corpus[CORPUS_SIZE:]),
        }
    return found


if __name__ == "__main__":
    versions = {"Python": platform.python_version(), "numpy": numpy.__version__, "torch": torch.__version__}
    named = {name: version.partition("+")[0] for name, version in versions.items()}
    print(json.dumps({"versions": named, "models": short_training()}))
