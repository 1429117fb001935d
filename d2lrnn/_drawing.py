"""What diagrams are drawn with: SVG with real text, in the page's colours, wide enough for a phone.

Coordinates are SVG's: x to the right, y down, in units that are one CSS pixel at full size.
"""

from __future__ import annotations

import hashlib
import html
import math
import re
from dataclasses import dataclass

from d2lrnn.figures import PALETTE

# What a colour stands for, in every diagram.
INPUT, STATE, OUTPUT, PARAMETER, LOSS, UNUSED = (PALETTE[i] for i in (2, 0, 1, 3, 4, 5))
FONT_SIZE = 14


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
