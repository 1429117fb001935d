"""Makes a kernel run as with other seeds: `begin` is called in it before a chapter's first cell.

Seeds are shifted once, where a generator takes one: PyTorch's, NumPy's and Python's. Numbers of 2**32 and
more were drawn from another generator, as `train` draws a seed for each epoch, and are left alone. An
`assert` that fails is noted, and the cell goes on.
"""

from __future__ import annotations

import ast
import random
from typing import Any

import numpy as np
import torch
from IPython import display as jupyter
from IPython.core.getipython import get_ipython

FAILED_MIME = "application/vnd.d2lrnn.failed+json"
TYPED = 2**32  # seeds that somebody wrote are below
_shift = 0


def begin(shift: int) -> None:
    """Add `shift` to all seeds from here on, and have failing asserts of later cells noted."""
    global _shift
    _shift = shift
    torch.default_generator.manual_seed(torch.initial_seed() + shift)  # which has a seed of its own
    torch.Generator = Generator  # type: ignore[misc]
    torch.manual_seed = torch.random.manual_seed = manual_seed
    np.random.seed, np.random.default_rng = np_seed, default_rng
    np.random.RandomState = RandomState  # type: ignore[misc]
    for kind in (np.random.SeedSequence, *BIT_GENERATORS):
        setattr(np.random, kind.__name__, _standing_for(kind))
    random.Random, random.seed = Random, seed  # type: ignore[misc]
    get_ipython().ast_transformers.append(Noting())  # type: ignore[no-untyped-call]


def shifted(given: Any) -> Any:
    """Return a seed with the shift added; what is no seed that somebody wrote is returned as it is."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, (str, bytes, bytearray)):
        return given + type(given)(str(_shift), *([] if isinstance(given, str) else ["ascii"]))
    if isinstance(given, float):
        return given + _shift
    if isinstance(given, (int, np.integer)):
        return int(given) + _shift if 0 <= int(given) < TYPED else given
    if isinstance(given, (list, tuple)) and given:
        return [*map(int, given), _shift]  # one seed of several words
    return given


class _Widened(type):
    """Counts as its own whatever is of the kind below it, as a global generator, which was made before."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__base__)  # type: ignore[arg-type]


# PyTorch's

_torch_generator, _torch_seed = torch.Generator, torch.manual_seed


class _WidenedTorch(_Widened, type(_torch_generator)):  # type: ignore[misc]
    """The same for a kind that has a metaclass of its own."""


class Generator(_torch_generator, metaclass=_WidenedTorch):  # type: ignore[misc]
    """PyTorch's generator, whose seeds are shifted, also the fixed one that a new generator has."""

    def __init__(self, *_device: object, **_named: object) -> None:
        super().manual_seed(self.initial_seed() + _shift)

    def manual_seed(self, given: int) -> Generator:
        """Seed with the shifted number."""
        super().manual_seed(shifted(given))
        return self


def manual_seed(seed: int) -> torch.Generator:
    """Seed PyTorch's global generators with the shifted number."""
    return _torch_seed(shifted(seed))


# NumPy's

BIT_GENERATORS = (
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.MT19937,
    np.random.Philox,
    np.random.SFC64,
)
_np_seed, _default_rng, _RandomState = np.random.seed, np.random.default_rng, np.random.RandomState


def _standing_for(kind: type) -> type:
    """Return what makes objects of `kind` from shifted seeds, and counts them as its own."""

    class _Meta(type):
        def __call__(cls, given: Any = None, *more: Any, **named: Any) -> Any:
            named = {
                key: shifted(value) if key in ("seed", "entropy") else value for key, value in named.items()
            }
            return kind(*([] if given is None else [shifted(given)]), *more, **named)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, kind)

    return _Meta(kind.__name__, (), {"__doc__": kind.__doc__})


class RandomState(_RandomState, metaclass=_Widened):
    """NumPy's older generator, whose seeds are shifted."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(shifted(seed))

    def seed(self, seed: Any = None) -> None:
        """Seed with the shifted number."""
        super().seed(shifted(seed))


def np_seed(seed: Any = None) -> None:
    """Seed NumPy's global generator with the shifted number."""
    _np_seed(shifted(seed))


def default_rng(seed: Any = None) -> np.random.Generator:
    """Return NumPy's generator for the shifted number."""
    return _default_rng(shifted(seed))


# Python's

_Random, _seed = random.Random, random.seed


class Random(_Random, metaclass=_Widened):
    """Python's generator, whose seeds are shifted."""

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Seed with the shifted number or text."""
        super().seed(shifted(a), version)


def seed(a: Any = None, version: int = 2) -> None:
    """Seed Python's global generator with the shifted number or text."""
    _seed(shifted(a), version)


# Asserts


class Noting(ast.NodeTransformer):
    """Has each assert that fails noted, so that its cell goes on."""

    def visit_Assert(self, node: ast.Assert) -> ast.Try:
        """Put an assert into a try statement."""
        note = f"__import__({__name__!r}, fromlist=['note']).note({ast.unparse(node)!r})"
        handler = ast.ExceptHandler(ast.Name("AssertionError", ast.Load()), None, ast.parse(note).body)
        noting = ast.Try([node], [handler], [], [])
        return ast.fix_missing_locations(ast.copy_location(noting, node))


def note(code: str) -> None:
    """Tell the run that an assert failed, by an output of a type of its own."""
    jupyter.display({FAILED_MIME: code, "text/plain": code}, raw=True)  # type: ignore[no-untyped-call]
