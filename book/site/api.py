"""Sphinx extension: the pages of `api/`, from the package's docstrings, and the links to them.

A page names the rooms that it shows: ``.. public:: text``. In a chapter the first mention of a public name in
the prose, as code, becomes a link to its entry, unless the chapter's own code gives that name a meaning.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Container, Iterable, Mapping

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.ext.autodoc import Options
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

from book.recording.notebooks import ROOT

PACKAGES = ("d2lrnn", "d2lrnn.check")
_PYTHON = ("ipython3", "python")  # as highlighting calls the languages of cells and of code in the prose
_MENTION = re.compile(r"(?:d2lrnn\.)?(?P<name>[A-Za-z_][\w.]*)(?:\(.*\))?", re.DOTALL)


def public_names(rooms: Container[str]) -> list[str]:
    """Return the names that readers import from these rooms, in full: `d2lrnn.train`."""
    return [
        f"{package}.{name}"
        for package in PACKAGES
        for module, names in importlib.import_module(package)._MODULES.items()
        for name in names
        if f"{package}.{module}".split(".")[1] in rooms
    ]


class Public(SphinxDirective):
    """Show the public names of some rooms: a table of them, then an entry for each."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Let autosummary and autodoc make them."""
        for package in PACKAGES:  # the map of names: with one more or fewer the page is read again
            self.env.note_dependency(f"{package.replace('.', '/')}/__init__.py")
        names = public_names(self.arguments[0].split())
        lines = [".. autosummary::", "   :nosignatures:", "", *(f"   ~{name}" for name in names), ""]
        lines += [line for name in names for line in (*_entry(name), "")]
        return self.parse_text_to_nodes("\n".join(lines))


def _entry(name: str) -> list[str]:
    """Return what asks autodoc for the entry of a name."""
    package, _, own = name.rpartition(".")
    value = getattr(importlib.import_module(package), own)
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        return [f".. auto{kind}:: {name}", "   :members:"]
    if callable(value):
        return [f".. autofunction:: {name}"]
    return [f".. autodata:: {name}", *["   :no-value:"] * isinstance(value, Mapping)]


def describe_constant(
    _app: Sphinx, kind: str, name: str, _value: object, _options: Options, lines: list[str]
) -> None:
    """Take a constant's description from its own module: here it is under the name that readers import."""
    package, _, own = name.rpartition(".")
    if kind != "data" or package not in PACKAGES:
        return
    home = ModuleAnalyzer.for_module(f"{package}.{importlib.import_module(package)._HOME[own]}")
    lines[:] = home.find_attr_docs().get(("", own), [])


def link_names(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Link mentions of public names: the first in a chapter, and the first in each entry of the API."""
    if app.builder.format != "html":
        return
    if page.startswith("chapters/"):
        _link(app, page, doctree, names_given(code.astext() for code in _code(doctree)))
    for entry in doctree.findall(addnodes.desc):
        if not isinstance(entry.parent.parent, addnodes.desc):  # a class's members belong to its entry
            _link(app, page, entry, _names_of_entry(entry))


def _link(app: Sphinx, page: str, text: nodes.Element, taken: Container[str]) -> None:
    """Link the first mention of each public name in a text, but for those that mean something else there."""
    known = dict(app.env.domains["py"].objects)
    for mention in list(text.findall(nodes.literal)):
        words = mention.astext()
        found = _MENTION.fullmatch(words)
        own = found and not words.startswith("d2lrnn.") and found["name"].split(".")[0] in taken
        if not found or own or f"d2lrnn.{found['name']}" not in known or _stands_apart(mention):
            continue
        name = f"d2lrnn.{found['name']}"
        entry = known.pop(name)
        address = app.builder.get_relative_uri(page, entry.docname)
        link = nodes.reference("", "", internal=True, refuri=f"{address}#{entry.node_id}", reftitle=name)
        mention.replace_self(link)
        link += mention


def _stands_apart(mention: nodes.Node) -> bool:
    """Tell whether a mention is in a link already, or in a title, which the page's contents repeat."""
    while mention := mention.parent:
        if isinstance(mention, (nodes.reference, nodes.title)):
            return True
    return False


def _names_of_entry(entry: addnodes.desc) -> set[str]:
    """Return what a word may mean in an entry of the API: the thing itself, its members, a parameter."""
    names = {part.astext().split(".")[-1] for part in entry.findall(addnodes.desc_name)}
    for part in entry.findall(addnodes.desc_parameter):
        names |= {
            name.astext() for name in list(part.findall(addnodes.desc_sig_name))[:1]
        }  # then its default
    return names


def _code(doctree: nodes.document) -> Iterable[nodes.literal_block]:
    """Return the pieces of Python on a page: its cells, and what its prose shows."""
    return (block for block in doctree.findall(nodes.literal_block) if block.get("language") in _PYTHON)


def names_given(blocks: Iterable[str]) -> set[str]:
    """Return the names that pieces of code give a meaning, other than by an import."""
    names = set()
    for block in blocks:
        for node in ast.walk(_parsed(block)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
    return names


def _parsed(block: str) -> ast.Module:
    """Parse Python; a piece of a statement, as prose may show it, gives no name a meaning."""
    try:
        return ast.parse(block)
    except SyntaxError:
        return ast.Module([], [])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    sys.path.insert(0, str(ROOT))  # the pages are those of this checkout, whatever is installed
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.autosummary")
    app.setup_extension("sphinx.ext.napoleon")
    app.add_directive("public", Public)
    # After napoleon, which would take the words before a colon for a type.
    app.connect("autodoc-process-docstring", describe_constant, priority=600)
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
