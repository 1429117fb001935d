"""Sphinx extension: the pictures that stand for the site elsewhere: beside a shared link, and on a phone."""

from __future__ import annotations

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path as Outline
from sphinx.application import Sphinx

CARD, ICON = "card.png", "touch-icon.png"  # below _static
GROUND, BLUE, ORANGE, GREY, WHITE = "#14181f", "#2f8fd6", "#e0761a", "#9aa4b0", "#ffffff"
LOOP = [(40, 31), (50, 31), (60, 31), (60, 11), (50, 11), (27, 11), (27, 21)]


def picture(width: int, height: int, left: float, size: float) -> Figure:
    """Return a picture of so many pixels with the logo, `size` high, at `left`."""
    figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=GROUND)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((left / width, (1 - size / height) / 2, size / width, size / height))
    axes.set(xlim=(0, 64), ylim=(64, 0))
    axes.axis("off")
    unit = size / 64
    codes = [Outline.MOVETO, Outline.LINETO, *[Outline.CURVE4] * 3, Outline.LINETO, Outline.LINETO]
    line = {"fill": False, "linewidth": 4 * unit * 0.72, "capstyle": "round", "clip_on": False}
    axes.add_patch(PathPatch(Outline(LOOP, codes), edgecolor=ORANGE, **line))
    for start, end in ((4, 13), (41, 58)):
        axes.add_patch(PathPatch(Outline([(start, 36), (end, 36)]), edgecolor=GREY, **line))
    axes.add_patch(Polygon([(20.5, 16.5), (27, 23.5), (33.5, 16.5)], color=ORANGE))
    axes.add_patch(FancyBboxPatch((21, 29), 12, 12, boxstyle="round,pad=7,rounding_size=7", color=BLUE))
    return figure


def write(app: Sphinx, error: Exception | None) -> None:
    """Draw the card of 1200 by 630 pixels with the site's title, and the icon of 180 by 180."""
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    icon = picture(180, 180, 20, 140)
    icon.savefig(static / ICON, facecolor=GROUND)
    card = picture(1200, 630, 60, 330)
    title, _, rest = str(app.config.html_title).partition(", ")
    card.text(0.36, 0.6, title, color=WHITE, fontsize=38, va="center")
    card.text(0.36, 0.46, rest, color=ORANGE, fontsize=38, va="center")
    card.text(0.36, 0.3, "A course in which all code runs", color=GREY, fontsize=22, va="center")
    card.savefig(static / CARD, facecolor=GROUND)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
