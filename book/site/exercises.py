"""Sphinx extension: exercises and solutions as a reader uses them, and no answers before the quiz is done.

A solution is a `details` element, which opens by a click on its whole title, by key, and without scripts.
"""

from __future__ import annotations

from html import escape

from docutils import nodes
from docutils.nodes import NodeVisitor
from sphinx.application import Sphinx
from sphinx_exercise.nodes import exercise_node, solution_node


def prepare(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Take apart what sphinx-exercise makes of exercises and solutions: titles, and sections with one id."""
    if app.builder.format != "html":
        return
    titles = {}
    for exercise in doctree.findall(exercise_node):
        titles[exercise["label"]] = exercise[0].astext().removeprefix("Exercise").strip(" ()")
        _without_section(exercise)
    for solution in doctree.findall(solution_node):
        solution["summary"] = f"Solution: {titles[solution['target_label']]}"
        del solution[0]
        _without_section(solution)


def _without_section(node: nodes.Element) -> None:
    """Put what stands in the untitled sections of a node into their place."""
    for section in [child for child in node.children if isinstance(child, nodes.section)]:
        node.replace(section, section.children)


def leave_out_answers(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Leave out the cells that are hidden whole: they hold a quiz's answers as assertions, for the tests."""
    if app.builder.format == "html":
        for cell in list(doctree.findall(nodes.container)):
            if "tag_hide-cell" in cell["classes"]:
                cell.parent.remove(cell)


def visit_solution(translator: NodeVisitor, node: solution_node) -> None:
    """Begin a solution, folded."""
    opening = translator.starttag(node, "details", CLASS="admonition")
    summary = f'<summary class="admonition-title">{escape(node["summary"])}</summary>'
    translator.body.append(f"{opening}{summary}\n")


def depart_solution(translator: NodeVisitor, _node: solution_node) -> None:
    """End a solution."""
    translator.body.append("</details>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.setup_extension("sphinx_exercise")
    app.add_node(solution_node, override=True, html=(visit_solution, depart_solution))
    app.connect("doctree-resolved", prepare)
    app.connect("doctree-resolved", leave_out_answers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
