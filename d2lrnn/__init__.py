"""Helper package of the course on recurrent neural networks.

Every public name is importable from here. A name's module is loaded when the name
is first used, so that `import d2lrnn` stays quick and needs no torch.
"""

from __future__ import annotations

import importlib
import re
import sys
import warnings

__version__ = "0.1.0"

_MODULES = {
    "files": ("read_text",),
    "modules": ("NonFiniteError",),
    "recorded": ("finding", "measured"),
    "reproducible": ("round_to_grid",),
    "series": ("forecast", "lagged", "noisy_sine"),
    "drawing.curves": ("plot_curves",),
    "drawing.diagrams": ("diagram",),
    "drawing.explorers": ("explore",),
    "drawing.figures": ("DASHES", "MARKERS", "PALETTE", "new_figure", "show"),
    "drawing.live": ("LiveCurves",),
    "text.batching": ("WindowDataset", "random_batches", "sequential_batches", "split_corpus"),
    "text.bpe": ("BPETokenizer",),
    "text.corpora": ("CORPORA", "DEFAULT", "load_corpus", "load_text"),
    "text.ngrams": ("NGramModel", "ngram_counts", "unseen_share", "zipf_fit"),
    "text.scoring": ("perplexity",),
    "text.tokens": ("clean_lines", "tokenize"),
    "text.vocabulary": ("Vocab",),
    "models.concise": ("RNNLM",),
    "models.scratch": ("PlainRNNLM", "RNNLMScratch", "RNNScratch", "one_hot"),
    "gradients.gradcheck": ("Comparison", "compare", "numeric_gradient"),
    "gradients.linear_rnn": ("LinearRNN",),
    "gradients.scalar": (
        "full_gradient",
        "randomized_gradient",
        "scalar_closed_form",
        "scalar_recursion",
        "scalar_rnn",
        "truncated_gradient",
    ),
    "gradients.vanilla": ("VanillaRNN",),
    "training.clipping": ("clip_gradients",),
    "training.devices": ("pick_device",),
    "training.evaluate": ("evaluate",),
    "training.history": ("History",),
    "training.train": ("train",),
    "writing.generate": ("generate", "greedy_margin"),
    "writing.text_explorer": ("explore_text",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = ["__version__", "check", *sorted(_HOME)]


def _warn_of_another_version() -> None:
    """Warn if a notebook's set-up cell imports the package, and was made with another version of it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    cells = shell.user_ns.get("In") if shell else None
    made_with = re.match(r"# @title Set-up: d2lrnn (\d[\w.]*)", cells[-1]) if cells else None
    if made_with and made_with[1] != __version__:
        warnings.warn(
            f"This page was made with d2lrnn {made_with[1]}, and here is {__version__}: "
            "what you see may differ.",
            stacklevel=3,  # where the import stands
        )


_warn_of_another_version()


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
