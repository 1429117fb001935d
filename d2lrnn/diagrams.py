"""Diagrams drawn by code, by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from d2lrnn import _checks
from d2lrnn._drawing import INPUT, OUTPUT, STATE, Diagram, arrow, box, head, text
from d2lrnn._gradient_diagrams import computational_graph, truncation_patterns


def diagram(name: str) -> Diagram:
    """Return a diagram of the course.

    Parameters
    ----------
    name : str
        "unrolled recurrence", "latent autoregressive model", "task shapes", "computational graph" or
        "truncation patterns".

    Returns
    -------
    Diagram
        Displayed when it ends a cell.

    Raises
    ------
    TypeError, ValueError
        If there is no diagram of that name.
    """
    return _DIAGRAMS[_checks.one_of("name", name, _DIAGRAMS)]()


def _unrolled_recurrence() -> Diagram:
    parts = [*_column(42, "x_t", "h_t", "o_t"), text(108, 120, "=", size=22)]
    loop = "M 62 96 C 62 62, 96 62, 90 100 C 88 122, 80 120, 68 118"
    parts += [
        f'<path d="{loop}" fill="none" stroke="currentColor" stroke-width="1.3"/>',
        head(68, 118, 200),
        text(86, 62, "W_hh", size=12),
    ]
    columns = (165, 245, 325)
    for x, step in zip(columns, "123", strict=True):
        parts += _column(x, f"x_{step}", f"h_{step}", f"o_{step}")
    for left, right in [(126, 142), *((a + 23, b - 23) for a, b in pairwise(columns)), (348, 372)]:
        parts.append(arrow(left, 112, right, 112))
    parts += [text((a + b) / 2, 102, "W_hh", size=12) for a, b in pairwise(columns)]
    parts.append(text(245, 224, "the same W_xh, W_hh and W_hq at every step", size=13))
    return Diagram(
        "A recurrent network and the same network unrolled",
        "Left: a state h at step t, which takes the input x at step t through W_xh and itself, by a "
        "loop, through W_hh, and gives the output o at step t through W_hq. Right: the same over steps "
        "1, 2 and 3 in a row. Each state takes the input of its step and the state before it, and gives "
        "the output of its step. All steps use the same W_xh, W_hh and W_hq.",
        380,
        236,
        "\n".join(parts),
    )


def _column(x: float, source: str, state: str, target: str) -> list[str]:
    """Draw one step: input below, state, output above, with the parameters at the arrows."""
    return [
        box(x, 184, source, INPUT),
        box(x, 112, state, STATE),
        box(x, 40, target, OUTPUT),
        arrow(x, 169, x, 128),
        arrow(x, 97, x, 56),
        text(x - 18, 153, "W_xh", size=12),
        text(x - 18, 81, "W_hq", size=12),
    ]


def _latent_autoregressive() -> Diagram:
    steps, parts = ("t−1", "t", "t+1"), []
    columns = (70, 190, 310)
    for x, step in zip(columns, steps, strict=True):
        parts += [
            box(x, 40, f"x̂_{step}", OUTPUT),
            box(x, 112, f"h_{step}", STATE),
            box(x, 184, f"x_{step}", INPUT),
            arrow(x, 97, x, 56),
        ]
    for a, b in pairwise(columns):
        parts += [arrow(a + 23, 112, b - 23, 112), arrow(a + 23, 172, b - 21, 128)]
        parts.append(text((a + b) / 2, 102, "g", italic=True))
    parts += [arrow(14, 112, 47, 112), arrow(333, 112, 366, 112)]  # from before, and on
    parts += [arrow(16, 149, 49, 128), arrow(333, 172, 366, 151)]
    return Diagram(
        "A latent autoregressive model",
        "Three steps, t−1, t and t+1. The state h at each step is made by g from the state before it "
        "and the observation x before it, and gives the prediction x̂ of the observation of its own "
        "step. No arrow leads from an observation to the prediction of that same observation.",
        380,
        212,
        "\n".join(parts),
    )


def _task_shapes() -> Diagram:
    panels: list[tuple[str, str, list[int], list[int]]] = [
        ("sequence to one target", "sentiment", [0, 1, 2, 3], [3]),
        ("one input to a sequence", "image caption", [0], [0, 1, 2, 3]),
        ("aligned sequences", "part-of-speech tags", [0, 1, 2, 3], [0, 1, 2, 3]),
        ("unaligned sequences", "translation", [0, 1, 2, 3], [3, 4]),
    ]
    parts = []
    for number, (name, example, inputs, outputs) in enumerate(panels):
        left, top = 190 * (number % 2), 192 * (number // 2)
        steps = range(max(*inputs, *outputs) + 1)
        xs = [left + 95 + 34 * (step - steps[-1] / 2) for step in steps]
        for x in xs:
            parts.append(box(x, top + 78, "", STATE, width=24, height=22))
        parts += [arrow(a + 12, top + 78, b - 12, top + 78) for a, b in pairwise(xs)]
        for step in inputs:
            parts.append(box(xs[step], top + 124, "", INPUT, width=24, height=22))
            parts.append(arrow(xs[step], top + 113, xs[step], top + 90))
        for step in outputs:
            parts.append(box(xs[step], top + 32, "", OUTPUT, width=24, height=22))
            parts.append(arrow(xs[step], top + 67, xs[step], top + 44))
        parts += [text(left + 95, top + 158, name, size=13), text(left + 95, top + 175, example, size=12)]
    return Diagram(
        "Four kinds of task on sequences",
        "Each kind is a row of states with inputs below and outputs above. Sequence to one target, as "
        "in sentiment: four inputs, one output at the last step. One input to a sequence, as in image "
        "captions: one input at the first step, four outputs. Aligned sequences, as in part-of-speech "
        "tags: four inputs, four outputs, one above each input. Unaligned sequences, as in translation: "
        "four inputs, and two outputs that begin at the last input, so that inputs and outputs do not "
        "pair up.",
        380,
        376,
        "\n".join(parts),
    )


_DIAGRAMS: dict[str, Callable[[], Diagram]] = {
    "unrolled recurrence": _unrolled_recurrence,
    "latent autoregressive model": _latent_autoregressive,
    "task shapes": _task_shapes,
    "computational graph": computational_graph,
    "truncation patterns": truncation_patterns,
}
