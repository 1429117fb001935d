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
    "text": ("Vocab", "clean_lines", "load_corpus", "tokenize"),
    "figures": ("new_figure", "plot_curves", "show"),
    "measure": ("measured",),
    "ngrams": ("NGramModel", "ngram_counts", "unseen_share", "zipf_fit"),
    "batching": ("WindowDataset", "random_batches", "sequential_batches", "split_corpus"),
    "training": ("perplexity",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'd2lrnn' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"d2lrnn.{_HOME[name]}"), name)
    globals()[name] = value  # the next use finds it without coming here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
