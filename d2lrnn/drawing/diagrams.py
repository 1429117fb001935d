"""Diagrams drawn by code, by name: SVG with real text, in the page's colours, wide enough for a phone.

Coordinates are SVG's: x to the right, y down, in units that are one CSS pixel at full size.
"""

from __future__ import annotations

import hashlib
import html
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from d2lrnn import _support
from d2lrnn.drawing.figures import PALETTE

# What a colour stands for, in every diagram.
INPUT, STATE, OUTPUT, PARAMETER, LOSS, UNUSED = (PALETTE[i] for i in (2, 0, 1, 3, 4, 5))
FONT_SIZE = 14

NUM_STEPS = 8
REGULAR = 3  # steps back of the regular truncation drawn
RANDOM = (1, 5, 2)  # steps back of the three random ones


@dataclass(frozen=True)
class Diagram:
    """A drawing with its title and description; Jupyter displays it when it ends a cell.

    The description is also the plain-text form, for screen readers and for terminals.
    """

    title: str
    description: str
    width: int
    height: int
    body: str  # SVG elements

    def __repr__(self) -> str:
        return f"{self.title}. {self.description}"

    def _repr_html_(self) -> str:
        name = "d" + hashlib.sha256(self.body.encode()).hexdigest()[:8]  # of this diagram's ids
        return f"""\
<svg xmlns="http://www.w3.org/2000/svg" class="d2lrnn-figure" role="img" \
aria-labelledby="{name}-title {name}-desc" viewBox="0 0 {self.width} {self.height}" \
width="{self.width * 1.25:g}" height="{self.height * 1.25:g}" style="max-width: 100%; height: auto" \
font-family="sans-serif" font-size="{FONT_SIZE}" fill="currentColor" text-anchor="middle">
<title id="{name}-title">{html.escape(self.title)}</title>
<desc id="{name}-desc">{html.escape(self.description)}</desc>
{self.body}
</svg>"""


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
    return _DIAGRAMS[_support.one_of("name", name, _DIAGRAMS)]()


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


def _computational_graph() -> Diagram:
    """Draw three steps of a recurrent network without biases, with its parameters and its loss."""
    columns, first = (138, 228, 318), 48
    parts = [box(228, 24, "L", LOSS, width=226)]
    parts += _parameter("W_qh", 144, columns, offset=-14, target=115)
    parts += _parameter("W_hh", 182, columns, offset=-14, target=215)
    parts += _parameter("W_hx", 284, columns, offset=-14, target=247)
    for x, step in zip(columns, "123", strict=True):
        parts += [
            box(x, 98, f"o_{step}", OUTPUT),
            box(x, 232, f"h_{step}", STATE),
            box(x, 332, f"x_{step}", INPUT),
            arrow(x, 83, x, 41),
            arrow(x + 8, 217, x + 8, 115),
            arrow(x + 8, 317, x + 8, 249),
        ]
    parts.append(box(first, 232, "h_0", STATE))
    parts += [arrow(a + 23, 232, b - 25, 232) for a, b in pairwise((first, *columns))]
    return Diagram(
        "The computational graph of three steps",
        "Three steps from left to right. The input x of each step, the state before it and the parameters "
        "W_hx and W_hh lead to the state h of the step, beginning with h_0, which has no input. The state h "
        "and the parameter W_qh lead to the output o of the step, and the outputs o_1, o_2 and o_3 lead to "
        "the loss L. Edges from parameters are dashed, and each parameter has one edge to every step. A "
        "state h_1 or h_2 reaches the loss in two ways: through its own output and through the next state.",
        380,
        356,
        "\n".join(parts),
    )


def _truncation_patterns() -> Diagram:
    """Draw how far the gradient of the last state goes back: in full, cut at a set step, cut at random."""
    groups = (
        ("full: back to the first step", (NUM_STEPS - 1,)),
        (f"regular truncation: always τ = {REGULAR} steps", (REGULAR,)),
        ("randomized truncation: three draws", RANDOM),
    )
    parts, y = [], 18
    for name, draws in groups:
        parts.append(text(190, y, name, size=13))
        y += 26
        for steps_back in draws:
            parts += _row_of_steps(y, steps_back)
            y += 38
        y += 14
    random = ", ".join(map(str, RANDOM[:-1])) + f" and {RANDOM[-1]}"
    return Diagram(
        "How far the gradient of the last state goes back",
        f"Rows of {NUM_STEPS} states, h_1 to h_{NUM_STEPS}, with arrows back from the last. Full: one row, "
        f"arrows all the way to h_1. Regular truncation: one row, arrows over {REGULAR} steps, back to "
        f"h_{NUM_STEPS - REGULAR}, then a cross. Randomized truncation: three rows, arrows over {random} "
        "steps, then a cross. The states before a cross are grey: the gradient does not reach them.",
        380,
        y - 36,
        "\n".join(parts),
    )


def _parameter(name: str, y: float, columns: tuple[int, ...], *, offset: float, target: float) -> list[str]:
    """Draw a parameter at the left, with a dashed edge to each step: along a line at y, then off."""
    dashed = 'fill="none" stroke="currentColor" stroke-width="1.2" stroke-dasharray="4 3"'
    ends = [x + offset for x in columns]
    parts = [
        box(48, y, name, PARAMETER),
        f'<path d="M 71 {y:g} L {ends[-1]:g} {y:g}" {dashed}/>',
    ]
    direction = 90 if target > y else -90
    for x in ends:
        parts += [
            f'<circle cx="{x:g}" cy="{y:g}" r="2.2"/>',
            f'<path d="M {x:g} {y:g} L {x:g} {target:g}" {dashed}/>',
            head(x, target, direction),
        ]
    return parts


def _row_of_steps(y: float, steps_back: int) -> list[str]:
    """Draw a row of states; arrows lead back from the last over so many steps."""
    xs = [32 + 45 * step for step in range(NUM_STEPS)]
    reached = NUM_STEPS - 1 - steps_back  # the first state that the gradient reaches
    parts = [
        box(x, y, f"h_{step + 1}", STATE if step >= reached else UNUSED, width=30, height=26)
        for step, x in enumerate(xs)
    ]
    parts += [arrow(b - 15, y, a + 15, y) for a, b in pairwise(xs[reached:])]
    if reached:
        parts.append(text((xs[reached - 1] + xs[reached]) / 2, y + 5, "×", size=15))
    return parts


def box(x: float, y: float, label: str, colour: str, *, width: float = 46, height: float = 30) -> str:
    """Draw a box around (x, y), in a tint on which its label stays legible."""
    rect = (
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" rx="5" '
        f'fill="{colour}" fill-opacity="0.22" stroke="{colour}" stroke-width="1.5"/>'
    )
    return rect + ("\n" + text(x, y + 4, label) if label else "")


def text(x: float, y: float, label: str, *, size: float = FONT_SIZE, italic: bool = False) -> str:
    """Write a label; what follows an underscore, up to a space or comma, is a subscript, its base italic."""

    def symbol(match: re.Match[str]) -> str:
        small = f'<tspan dy="4" font-size="{size * 0.75:g}">{match[2]}</tspan>'
        return f'<tspan font-style="italic">{match[1]}</tspan>{small}<tspan dy="-4">\u200b</tspan>'

    content = re.sub(r"([^\s_]+)_([^\s,]+)", symbol, html.escape(label))
    style = ' font-style="italic"' if italic else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}"{style}>{content}</text>'


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """Draw a straight arrow from (x1, y1) to (x2, y2)."""
    line = f'<path d="M {x1:g} {y1:g} L {x2:g} {y2:g}" stroke="currentColor" stroke-width="1.3"/>'
    return line + "\n" + head(x2, y2, math.degrees(math.atan2(y2 - y1, x2 - x1)))


def head(x: float, y: float, degrees: float) -> str:
    """Draw the head of an arrow that arrives at (x, y); the angle is from the x axis, clockwise."""
    return f'<path d="M 0 0 L -7 -3.2 L -7 3.2 z" transform="translate({x:g} {y:g}) rotate({degrees:.0f})"/>'


_DIAGRAMS: dict[str, Callable[[], Diagram]] = {
    "unrolled recurrence": _unrolled_recurrence,
    "latent autoregressive model": _latent_autoregressive,
    "task shapes": _task_shapes,
    "computational graph": _computational_graph,
    "truncation patterns": _truncation_patterns,
}
