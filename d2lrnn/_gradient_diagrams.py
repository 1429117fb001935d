"""The diagrams of how gradients go back through time."""

from __future__ import annotations

from itertools import pairwise

from d2lrnn._drawing import INPUT, LOSS, OUTPUT, PARAMETER, STATE, UNUSED, Diagram, arrow, box, head, text

NUM_STEPS = 8
REGULAR = 3  # steps back of the regular truncation drawn
RANDOM = (1, 5, 2)  # steps back of the three random ones


def computational_graph() -> Diagram:
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


def truncation_patterns() -> Diagram:
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
