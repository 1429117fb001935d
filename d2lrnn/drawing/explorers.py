"""Explorers: a figure with controls, on the page without a kernel and in Jupyter with one.

`explore(draw, lags=[1, 2, 4])` draws the figure for every choice and returns an `Explorer`. What Jupyter is
handed is one bundle:

- ``text/html``: the drawn figures, native sliders and menus, and a small script that swaps the figures. It
  works on the built page, from a file and in a notebook that was only opened; it loads nothing. Without
  scripts the first figure stays, and below it a table that says all of them in words.
- the plotted series of all figures (`SERIES_MIME`), by which two runs are compared, as for any figure.
- in a kernel with a person at it, and only there, an ipywidgets control that calls `draw` anew, also for
  whole numbers between those of the grid.

Why only there: a widget's model has a random id, so a recording with one would never be the same twice. And a
recorded widget view would hide the HTML: JupyterLab ranks the view above HTML and, when the model is gone,
writes "Error displaying widget: model not found" without falling back (jupyter-widgets/ipywidgets#849);
myst-nb ranks it above HTML as well. Fixed ids would mend the first fault but not the second. Who is at the
kernel is known from each cell's request, see `d2lrnn._kernel.interactive`.
"""

from __future__ import annotations

import hashlib
import html
import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from d2lrnn import _support, files
from d2lrnn._kernel import interactive
from d2lrnn.drawing import _series, figures
from d2lrnn.drawing._progress import watched

if TYPE_CHECKING:
    from ipywidgets import Widget  # type: ignore[import-untyped]

Value: TypeAlias = int | float | str
# What the page is made of: its look, and the script that swaps the figures of every explorer that no script
# has taken care of yet.
STYLE, SCRIPT = files.of_package("drawing/explorers.css"), files.of_package("drawing/explorers.js")
MAX_FRAMES = 200  # of one explorer: more would make its page heavy


@dataclass(frozen=True)
class Frame:
    """One drawn figure: its choice of values by name, picture (SVG), description, plotted series and PNG."""

    values: Mapping[str, Value]
    picture: str
    description: str
    series: figures.Json
    png: str | None = None  # base64; of the first frame only


@dataclass(frozen=True)
class Explorer:
    """A figure with controls, as `explore` returns it; Jupyter displays it when it ends a cell."""

    draw: Callable[..., None]
    grids: Mapping[str, Sequence[Value]]
    frames: Sequence[Frame]

    def __repr__(self) -> str:
        choices = "; ".join(f"{_label(name)}: {_listed(values)}" for name, values in self.grids.items())
        first = self.frames[0]
        return f"Explorer over {choices}. At {_choice(first.values)}: {first.description}"

    def _repr_mimebundle_(self, **_kinds: object) -> figures.Bundle:
        series: dict[str, figures.Json] = {"grids": dict(self.grids)}
        series |= {_choice(frame.values): frame.series for frame in self.frames}
        bundle: figures.Bundle = {
            "text/plain": repr(self),
            "text/html": self.html(),
            figures.SERIES_MIME: series,
            "image/png": self.frames[0].png,
        }
        if interactive():
            model = {"version_major": 2, "version_minor": 0, "model_id": self.widget().model_id}
            bundle["application/vnd.jupyter.widget-view+json"] = model
        return bundle

    def html(self) -> str:
        """Return the view that needs no kernel: controls, the first figure, data and script."""
        digest = hashlib.sha256("".join(frame.picture for frame in self.frames).encode()).hexdigest()
        prefix = f"e{digest[:8]}"
        # Of the explorer alone: its pictures are never shown together.
        pictures = [figures.with_ids(frame.picture, prefix) for frame in self.frames]
        first, png = self.frames[0].description, self.frames[0].png or ""
        data = json.dumps(_pack(pictures), separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
        names = ", ".join(map(_label, self.grids))
        controls = "\n".join(_html_control(name, values) for name, values in self.grids.items())
        heads = "".join(f"<th>{html.escape(_label(name))}</th>" for name in self.grids)
        rows = "\n".join(_row(frame) for frame in self.frames)
        return f"""\
<div class="d2lrnn-explorer" role="group" aria-label="Explorer: {html.escape(names)}">
<style>
{STYLE}</style>
<div class="d2lrnn-controls" hidden>
{controls}
</div>
<div class="d2lrnn-view">{figures.with_fallback(pictures[0], png, first)}</div>
<details><summary>All {len(self.frames)} figures in words</summary>
<table>
<thead><tr>{heads}<th>figure</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</details>
<script type="application/json">{data}</script>
<script>
{SCRIPT}</script>
</div>"""

    def widget(self) -> Widget:
        """Return an ipywidgets control that calls `draw` for each choice; it needs a running kernel.

        Whole numbers get a slider over all whole numbers from the smallest to the largest of the grid.
        """
        import ipywidgets

        controls = {name: _live_control(name, values) for name, values in self.grids.items()}
        view = ipywidgets.HTML()

        def update(_change: object = None) -> None:
            try:
                view.value = _frame(self.draw, {name: c.value for name, c in controls.items()}).picture
            except Exception as error:  # draw is the reader's; a callback has no cell to show a traceback in
                view.value = f"<pre>{html.escape(f'{type(error).__name__}: {error}')}</pre>"

        for control in controls.values():
            control.observe(update, "value")
        update()
        return ipywidgets.VBox([*controls.values(), view])


def explore(draw: Callable[..., None], /, **grids: Sequence[Value]) -> Explorer:
    """Return a figure with a control for each argument of `draw`.

    Parameters
    ----------
    draw : function
        Called as ``draw(name=value, ...)``; shows one figure with `plot_curves` or `show`. Fix the ends of
        the axes, so that figures compare. A live kernel also calls it with whole numbers between those of a
        grid.
    **grids : sequence of int, float or str
        For each argument the values to choose from, in order: a list, tuple, range, array or tensor. Numbers
        get a slider, texts a menu. `draw` is given ints, floats and strs of Python.

    Returns
    -------
    Explorer
        Displayed when it ends a cell. The figures are drawn here, one for each combination, at about 70 ms
        each; a person at the kernel sees how far it is.

    Raises
    ------
    TypeError
        If `draw` cannot be called, or a grid is not a sequence of numbers or of texts.
    ValueError
        If there is no grid, a grid is empty, repeats a value or holds a number that is not finite or does not
        fit a float, there are more than 200 combinations, two of them read the same, by which the published
        numbers could not be told apart, or `draw` does not show exactly one figure.
    """
    if not callable(draw):
        raise TypeError(f"draw must be callable, got {_support.shown(draw)}")
    if not grids:
        raise ValueError("grids must name at least one argument of draw, got none")
    sequences = {name: _sequence(name, values) for name, values in grids.items()}
    if (total := math.prod(map(len, sequences.values()))) > MAX_FRAMES:
        raise ValueError(f"grids must make at most {MAX_FRAMES} combinations, got {_support.short(total)}")
    checked = {name: _grid(name, values) for name, values in sequences.items()}
    choices = [dict(zip(checked, values, strict=True)) for values in itertools.product(*checked.values())]
    _told_apart(choices)
    frames = [_frame(draw, choice, png=number == 0) for number, choice in enumerate(watched(choices))]
    return Explorer(draw, checked, frames)


def _sequence(name: str, values: object) -> Sequence[object]:
    plain = _series.listed(name, values)
    if isinstance(plain, (str, bytes, bytearray)) or not isinstance(plain, Sequence):
        raise TypeError(f"{name} must be a sequence of values, got {_support.shown(values)}")
    try:
        len(plain)
    except OverflowError:  # of a range, longer than any list
        expected = f"{name} must hold at most {MAX_FRAMES} values"
        raise ValueError(f"{expected}, got {_support.shown(values)}") from None
    return plain


def _told_apart(choices: Sequence[Mapping[str, Value]]) -> None:
    """Raise if two choices are the same in words, which name their figures' numbers."""
    seen: dict[str, Mapping[str, Value]] = {}
    for choice in choices:
        other = seen.setdefault(_choice(choice), choice)
        if other is not choice:
            raise ValueError(
                f"grids must make choices that read differently, got {other} and {choice}, "
                f"which both read {_choice(choice)!r}"
            )


def _grid(name: str, values: Sequence[object]) -> list[Value]:
    """Return values as Python's own, or raise unless all are numbers or all are texts, each there once."""
    plain = [_series.listed(name, value) for value in values]
    texts = [_series.written(f"a value in {name}", value) for value in plain if isinstance(value, str)]
    numbers = [value for value in plain if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(values) not in (len(texts), len(numbers)):
        raise TypeError(
            f"{name} must hold numbers or texts, and only one of them, got {_support.short(values)}"
        )
    if not values or len({*texts, *numbers}) < len(values):
        raise ValueError(f"{name} must hold at least one value and none twice, got {_support.short(values)}")
    if not all(abs(value) <= sys.float_info.max for value in numbers):  # nor is nan
        raise ValueError(f"{name} must hold finite numbers that fit a float, got {_support.short(values)}")
    return [*texts, *numbers]


def _frame(draw: Callable[..., None], values: Mapping[str, Value], *, png: bool = False) -> Frame:
    with figures.captured(png=png) as bundles:
        draw(**values)
    if len(bundles) != 1:
        raise ValueError(f"draw must show one figure, got {len(bundles)} for {_choice(values)}")
    bundle = bundles[0]
    picture = str(bundle["text/html"])
    pixels = str(bundle["image/png"]) if png else None
    return Frame(values, picture, str(bundle["text/plain"]), bundle[figures.SERIES_MIME], pixels)


def _label(name: str) -> str:
    return name.replace("_", " ")


def _listed(values: Sequence[Value]) -> str:
    return ", ".join(str(value) for value in values)


def _choice(values: Mapping[str, Value]) -> str:
    return ", ".join(f"{_label(name)} {value}" for name, value in values.items())


def _row(frame: Frame) -> str:
    cells = [*map(str, frame.values.values()), frame.description]
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"


def _html_control(name: str, values: Sequence[Value]) -> str:
    label, listed = html.escape(_label(name)), [str(value) for value in values]
    # The second attribute keeps JupyterLab from taking the control's arrow keys for its own.
    data = f'data-values="{html.escape(json.dumps(listed))}" data-lm-suppress-shortcuts="true"'
    if isinstance(values[0], str):
        options = "".join(f'<option value="{i}">{html.escape(v)}</option>' for i, v in enumerate(listed))
        return f"<label>{label} <select {data}>{options}</select></label>"
    return (
        f'<label>{label} <input type="range" min="0" max="{len(values) - 1}" step="1" value="0" '
        f'{data} aria-valuetext="{listed[0]}"> <output>{listed[0]}</output></label>'
    )


def _live_control(name: str, values: Sequence[Value]) -> Widget:
    import ipywidgets

    label = _label(name)
    if all(isinstance(value, int) for value in values) and len(values) > 1:
        ends = {"min": min(values), "max": max(values)}
        return ipywidgets.IntSlider(values[0], **ends, description=label, continuous_update=False)
    kind = ipywidgets.Dropdown if isinstance(values[0], str) else ipywidgets.SelectionSlider
    return kind(options=list(values), description=label)


def _pack(pictures: Sequence[str]) -> dict[str, list[str | None] | list[list[str]]]:
    """Split pictures into the parts common to all, None where they differ, and each picture's own parts.

    Figures with the same axes differ in little but their curves, so this makes the page much lighter.
    """
    split = [re.split(r"(?=<)", picture) for picture in pictures]
    if len({len(parts) for parts in split}) > 1:
        split = [[picture] for picture in pictures]
    same = [len(set(parts)) == 1 for parts in zip(*split, strict=True)]
    common = [part if equal else None for part, equal in zip(split[0], same, strict=True)]
    own = [[part for part, equal in zip(parts, same, strict=True) if not equal] for parts in split]
    merged: list[str | None] = []
    for part in common:
        if part is not None and merged and merged[-1] is not None:
            merged[-1] += part
        else:
            merged.append(part)
    return {"common": merged, "frames": own}
