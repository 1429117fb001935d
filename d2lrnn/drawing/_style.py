"""The course's style for figures, whatever the reader's own matplotlib settings are.

matplotlib reads its settings when a text, a line or a tick is made, and others when it is drawn. `style`
keeps the reader's out while the course draws. `CourseFigure` and all axes in it keep them out of what their
methods add later: there, all that no argument says is as matplotlib has it by default.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from types import MethodType
from typing import Any, TypeVar


@contextlib.contextmanager
def without_font_notice() -> Iterator[None]:
    """Keep matplotlib from saying, within the block, that it builds a cache of fonts, as it does once."""

    def other(record: logging.LogRecord) -> bool:
        return "building the font cache" not in record.getMessage()

    logger = logging.getLogger("matplotlib.font_manager")
    logger.addFilter(other)
    try:
        yield
    finally:
        logger.removeFilter(other)


with without_font_notice():
    import matplotlib as mpl
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes as Axes
    from matplotlib.cbook import is_math_text
    from matplotlib.figure import Figure as Figure
    from matplotlib.figure import SubFigure
    from matplotlib.legend import Legend as Legend
    from matplotlib.mathtext import MathTextParser

BLACK = "#000000"  # becomes the page's text colour when the SVG is written
STYLE = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "figure.constrained_layout.use": True,
    # Where axes stand before they are laid out. By default, two rows at a height of 2.5 inches are as high as
    # three numbers, so that a last bit decides whether their axes have two or three; a hair more has three.
    "figure.subplot.bottom": 0.109999,
    "figure.subplot.left": 0.124999,
    "figure.subplot.right": 0.900001,
    "figure.subplot.top": 0.880001,
    "font.size": 10.5,
    "grid.alpha": 0.15,
    "grid.color": BLACK,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "svg.fonttype": "none",  # real text: can be selected, read out and searched
}

# matplotlib's own settings, but for those that are the process's: what dates count from is read only once.
DEFAULTS = {
    key: value for key, value in dict.items(mpl.rcParamsDefault) if key not in ("backend", "date.epoch")
}

_one_thread = threading.RLock()  # settings are the process's, so only one thread may have its own
_settled: ContextVar[bool] = ContextVar("settled", default=False)  # whether the reader's settings are out


def _put(settings: Mapping[Any, object]) -> None:
    """Let these settings, which matplotlib has checked before, hold: to check 300 takes a millisecond."""
    dict.update(mpl.rcParams, settings)


@contextlib.contextmanager
def _settings(chosen: Mapping[str, object]) -> Iterator[None]:
    """Within the block, let these settings hold, and else matplotlib's defaults; then the reader's again."""
    with _one_thread:
        before = dict.copy(mpl.rcParams)
        del before["backend"]  # drawing may choose one, which then stays
        _put(DEFAULTS)
        token = _settled.set(True)
        try:
            mpl.rcParams.update(chosen)  # type: ignore[arg-type]  # matplotlib lists the keys it knows
            yield
        finally:
            _settled.reset(token)
            _put(before)


def style(**more: object) -> contextlib.AbstractContextManager[None]:
    """Draw in the course's style within the block, whatever the reader's own matplotlib settings are."""
    return _settings({**STYLE, **more})


@contextlib.contextmanager
def drawing(**more: object) -> Iterator[None]:
    """Draw in the course's style, with no word about characters that matplotlib's font has not."""
    with style(**more), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def check_math(text: str) -> None:
    """Raise matplotlib's ValueError if it cannot set the formulas between dollar signs in a text."""
    if is_math_text(text):
        with drawing():
            MathTextParser("path").parse(text)


class _ByDefault:
    """Runs what is called on it under matplotlib's default settings, or those of the `style` it is in."""

    def __getattribute__(self, name: str) -> object:
        value = super().__getattribute__(name)
        if name.startswith("_") or _settled.get() or not isinstance(value, MethodType):
            return value

        @functools.wraps(value)
        def run(*args: object, **kwargs: object) -> object:
            with _settings({}):
                return value(*args, **kwargs)

        return run


class _CourseAxes(_ByDefault):
    """What axes of any kind become in a `CourseFigure`."""

    def add_child_axes(self, axes: Artist) -> Artist:
        """Add axes within these, as `inset_axes` does, or a second axis."""
        return super().add_child_axes(_turned(axes, _CourseAxes))  # type: ignore[misc, no-any-return]


class _CourseParts(_ByDefault):
    """What a part of a `CourseFigure` becomes, and the whole is: all that is put in is the course's."""

    def add_subplot(self, *args: object, **options: object) -> Axes:
        """Add axes in a grid."""
        return _turned(super().add_subplot(*args, **options), _CourseAxes)  # type: ignore[misc, no-any-return]

    def add_axes(self, *args: object, **options: object) -> Axes:
        """Add axes at a place, as a colour bar and a twin do."""
        return _turned(super().add_axes(*args, **options), _CourseAxes)  # type: ignore[misc, no-any-return]

    def add_subfigure(self, *args: object, **options: object) -> SubFigure:
        """Add a part in a grid, as `subfigures` does."""
        return _turned(super().add_subfigure(*args, **options), _CourseParts)  # type: ignore[misc, no-any-return]


class CourseFigure(_CourseParts, Figure):
    """A figure whose axes and parts, however they were made, the reader's settings do not get to."""


Kind = TypeVar("Kind", bound=Artist)


def _turned(part: Kind, mixin: type) -> Kind:
    """Make axes or a part of a figure, of whatever kind, one of the course's kind."""
    if not isinstance(part, mixin):
        plain: type = type(part)
        part.__class__ = _kind(mixin, plain)
    return part


@functools.cache
def _kind(mixin: type, plain: type) -> type[Any]:
    """Return the course's kind of axes, or of another part: one for each of matplotlib's."""

    def reduced(part: Artist) -> tuple[object, ...]:  # for pickle, which would look the kind up by name
        return _blank, (mixin, plain), part.__getstate__()

    return type(f"Course{plain.__name__}", (mixin, plain), {"__reduce__": reduced, "__module__": __name__})


def _blank(mixin: type, plain: type) -> object:
    """Return an object that pickle fills."""
    return object.__new__(_kind(mixin, plain))
