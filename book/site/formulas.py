"""Sphinx extension: formulas as MathML, made while the site builds, so that a page needs no script for them.

Temml turns TeX into MathML; its script runs in V8, by mini-racer. Notebooks keep their TeX. The font, STIX
Two Math, is loaded by pages with formulas only.
"""

from __future__ import annotations

import functools
import re
import shutil
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.nodes import NodeVisitor, SkipNode
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

LOGGER = logging.getLogger(__name__)
VENDOR = Path(__file__).with_name("vendor")
TEMML = VENDOR / "temml" / "temml.min.js"
STYLE = VENDOR / "temml" / "Temml-STIX2.css"
FONT = VENDOR / "stix-two-math" / "stix-two-math-latin-400-normal.woff2"
FONT_NAME = "STIXTwoMath.woff2"  # as Temml's style sheet asks for it, beside itself
NAME = "mathml"
LONGEST_BOUND = 12  # characters that stay on the line of the formula beside them


class FormulaError(ValueError):
    """A formula that Temml can't read."""


@functools.cache
def _engine() -> MiniRacer:
    engine = MiniRacer()
    engine.eval(TEMML.read_text(encoding="utf-8"))
    return engine


def close() -> None:
    """Stop the engine; the next formula starts another."""
    if _engine.cache_info().currsize:
        _engine().close()
        _engine.cache_clear()


@functools.cache
def mathml(tex: str, *, display: bool = False) -> str:
    """Return a formula as a `math` element.

    Raises
    ------
    FormulaError
        If the TeX can't be read; the message says where.
    """
    options = {"displayMode": display, "throwOnError": True, "wrap": "tex"}
    try:
        return str(_engine().call("temml.renderToString", tex, options))
    except JSEvalException as error:
        reason = re.search(r"ParseError: *(.*)", str(error))
        raise FormulaError(reason[1] if reason else str(error)) from None


def _written(node: nodes.Element, *, display: bool) -> str:
    tex = node.astext()
    try:
        return mathml(tex, display=display)
    except FormulaError as error:
        LOGGER.warning("%s, in the formula %s", error, " ".join(tex.split()), location=node)
        return f"<code>{escape(tex)}</code>"


def visit_inline(translator: NodeVisitor, node: nodes.math) -> None:
    """Write a formula that stands in a line."""
    translator.body.append(_written(node, display=False))
    raise SkipNode


def visit_display(translator: NodeVisitor, node: nodes.math_block) -> None:
    """Write a formula of its own line, with its number, if it has one, and the anchor of references to it."""
    formula = f'<div class="d2lrnn-scroll">{_written(node, display=True)}</div>'
    number = ""
    if node.get("number"):
        shown = get_node_equation_number(translator, node)
        number = f'<a class="eqno" href="#{node["ids"][0]}" title="Link to this equation">({shown})</a>'
    opening = translator.starttag(node, "div", "", CLASS="d2lrnn-equation")
    translator.body.append(f"{opening}{formula}{number}</div>\n")
    raise SkipNode


def keep_together(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Bind to a formula what touches it, so that no line begins with a comma."""
    if app.builder.format != "html":
        return
    for formula in list(doctree.findall(nodes.math)):
        parent = formula.parent
        place = parent.index(formula)
        bound: list[nodes.Node] = [formula]
        for step, pattern in ((-1, r"\S+$"), (1, r"^\S+")):
            beside = parent[place + step] if 0 <= place + step < len(parent) else None
            found = re.search(pattern, beside.astext()) if isinstance(beside, nodes.Text) else None
            if found and len(found[0]) <= LONGEST_BOUND:
                text = beside.astext()
                parent.replace(beside, nodes.Text(text[: found.start()] + text[found.end() :]))
                bound.insert(0 if step < 0 else len(bound), nodes.Text(found[0]))
        if len(bound) > 1:
            parent.replace(formula, nodes.inline("", "", *bound, classes=["d2lrnn-bound"]))


def use(_app: Sphinx, config: Config) -> None:
    """Have formulas written by this module, and Temml's style sheet copied to where the bundle is made of."""
    config.html_math_renderer = NAME  # type: ignore[attr-defined]
    config.html_static_path.append(str(STYLE))


def finish(app: Sphinx, error: Exception | None) -> None:
    """Stop the engine, and copy the font to where the style sheet asks for it."""
    close()
    if not error and app.builder.format == "html":
        shutil.copy(FONT, Path(app.outdir) / "_static" / "styles" / FONT_NAME)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.add_html_math_renderer(NAME, (visit_inline, None), (visit_display, None))
    app.connect("config-inited", use)
    app.connect("doctree-resolved", keep_together, priority=800)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
