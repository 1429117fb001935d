"""Helper package of the course on recurrent neural networks.

Every public name is importable from here. A name's module is loaded when the name
is first used, so that `import d2lrnn` stays quick and needs no torch.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_MODULES = {
    "bpe": ("BPETokenizer",),
    "corpora": ("CORPORA", "DEFAULT", "load_text", "read_text"),
    "text": ("clean_lines", "load_corpus", "tokenize"),
    "vocab": ("Vocab",),
    "series": ("forecast", "lagged", "noisy_sine"),
    "curves": ("plot_curves",),
    "figures": ("new_figure", "show"),
    "live": ("LiveCurves",),
    "explorers": ("explore",),  # not explore.py: a module of that name would hide the function
    "text_explorer": ("explore_text",),
    "diagrams": ("diagram",),
    "measure": ("measured",),
    "scoring": ("perplexity",),
    "ngrams": ("NGramModel", "ngram_counts", "unseen_share", "zipf_fit"),
    "batching": ("WindowDataset", "random_batches", "sequential_batches", "split_corpus"),
    "reproducible": ("round_to_grid",),
    "devices": ("pick_device",),
    "scratch": ("PlainRNNLM", "RNNLMScratch", "RNNScratch", "one_hot"),
    "models": ("RNNLM",),
    "history": ("History",),
    "parameters": ("NonFiniteError",),
    "clipping": ("clip_gradients",),
    "evaluation": ("evaluate",),
    "training": ("train",),
    "generation": ("generate", "greedy_margin"),
    "linear_rnn": ("LinearRNN",),
    "bptt": ("VanillaRNN",),
    "truncation": (
        "full_gradient",
        "randomized_gradient",
        "scalar_closed_form",
        "scalar_recursion",
        "scalar_rnn",
        "truncated_gradient",
    ),
    "gradcheck": ("Comparison", "compare", "numeric_gradient"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = ["__version__", "check", *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name == "check":  # a module of its own, so that `d2lrnn.check.NAME` needs no further import
        return importlib.import_module("d2lrnn.check")
    if name not in _HOME:
        raise AttributeError(f"module 'd2lrnn' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"d2lrnn.{_HOME[name]}"), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
