"""Sphinx extension: outputs as a page shows them: a line longer than the column wraps, a table does not."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

COLUMN = 95  # characters of code that the column holds


def wrap_long_lines(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Mark the outputs with a line that no column holds, such as a list of characters or an error's words."""
    if app.builder.format != "html":
        return
    for output in doctree.findall(nodes.container):
        if "cell_output" in output["classes"]:
            for text in output.findall(nodes.literal_block):
                if max(map(len, text.astext().splitlines()), default=0) > COLUMN:
                    text["classes"].append("d2lrnn-long")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("doctree-resolved", wrap_long_lines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
