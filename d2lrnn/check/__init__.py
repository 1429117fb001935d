"""Checks for the exercises: `check.NAME(your_function)` tries your function on inputs with known answers.

The first wrong answer is raised as a `WrongAnswer` that says what went in, what was expected and what came
back. If all are right, the check says how many there were. A module for each chapter holds its checks.

What holds the values of an answer does not matter: lists, tuples, NumPy arrays, tensors and generators are
all taken, and floats may be of float32. An error in your function, an attempt to end Python, a changed
argument and an answer that cannot be read, such as a sparse tensor, are wrong answers, too. An endless answer
is not read to its end. But a function that never returns is not stopped, since that cannot be done on every
system: interrupt it, as with the stop button of a notebook.

Your function runs on the CPU and with gradients, whatever PyTorch is set to. A check neither reads nor writes
the global random state of PyTorch, NumPy or Python; what your function does to it stays.

Every check takes a function, returns None, and raises TypeError for what is no function.
"""

from __future__ import annotations

import importlib

_MODULES: dict[str, tuple[str, ...]] = {
    "_run": ("WrongAnswer",),
    "sequences": ("count_windows", "feed_back", "lag_pairs", "masked_mean", "pad_left"),
    "batching": ("num_batches", "padding_share"),
    "gradients": (
        "chain_slope",
        "clip_together",
        "draw_word",
        "jacobian_product",
        "logit_gradients",
        "steps_back",
        "tanh_deltas",
        "truncated_sum",
        "word_gradient",
    ),
    "language": ("perplexity_of", "pooled_perplexity", "relative_frequency"),
    "networks": (
        "clip_all",
        "draw_token",
        "gru_step",
        "layer_parameters",
        "one_hots",
        "rnn_shapes",
        "text_perplexity",
    ),
    "recurrent": ("num_parameters", "rnn_states"),
    "text": ("number_tokens", "plain_letters"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'd2lrnn.check' has no check {name!r}; there are {', '.join(__all__)}")
    value: object = getattr(importlib.import_module(f"d2lrnn.check.{_HOME[name]}"), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
