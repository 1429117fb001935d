"""Sphinx extension: what the pages' search looks in, a script that each page can load, from a disk too.

A section is an entry, and so is each term of the glossary and each public name. `_static/search.js` looks in
them with MiniSearch. Sphinx's own index, whose terms are parted at hyphens, is not made.
"""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from book.site.formulas import VENDOR, FormulaError, mathml

SCRIPT = VENDOR / "minisearch" / "minisearch.js"
FOLDER = "search"  # below _static
WORD = re.compile(r"[^\W\d_]\w{2,}")  # an identifier that somebody may search for
# Not read as prose: code and its outputs, drawings, lists of pages, what stands elsewhere as entries.
NO_PROSE = (
    nodes.title,
    nodes.literal_block,
    nodes.raw,
    nodes.comment,
    nodes.system_message,
    nodes.image,
    nodes.target,
    addnodes.toctree,
    addnodes.index,
    addnodes.glossary,
    addnodes.desc,
)
SPACED = frozenset("=+−-<>≤≥≈∼←→∈⊙×⋅·∣")


def readable(tex: str) -> str:
    """Return a formula as one line of text, such as h_t = tanh(W_xh x_t)."""
    try:
        root = ElementTree.fromstring(mathml(tex).replace("&nbsp;", " "))
    except (FormulaError, ElementTree.ParseError):
        return tex
    text = unicodedata.normalize("NFKC", _line(root)).replace("\u2061", "")
    return " ".join(text.split())


def _line(part: ElementTree.Element) -> str:
    """Return an element of MathML in one line."""
    inner = [_line(child) for child in part]
    match part.tag:
        case "msub" | "munder":
            return f"{inner[0]}_{inner[1]}"
        case "msup":
            return inner[0] + inner[1] if inner[1] in "′″⊤" else f"{inner[0]}^{inner[1]}"
        case "msubsup" | "munderover":
            return f"{inner[0]}_{inner[1]}^{inner[2]} "
        case "mfrac":
            return "/".join(one if len(one.strip()) < 2 else f"({one.strip()})" for one in inner)
        case "msqrt":
            return f"√({''.join(inner)})"
        case "mover":
            return inner[0]
        case "mtr":
            return "".join(inner) + "; "
        case "mspace":
            return " "
        case "mo" if (part.text or "") in SPACED:
            return f" {part.text} "
        case "mo" if part.text == ",":
            return ", "
    return (part.text or "").strip() + "".join(inner)


def prose(node: nodes.Node) -> str:
    """Return what a reader reads in a node: words and formulas, no code, no outputs, no further sections."""
    return " ".join("".join(_prose(node)).split())


def _prose(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Text):
        yield node.astext()
    elif isinstance(node, (nodes.math, nodes.math_block)):
        yield readable(node.astext())
    else:
        for child in node.children:
            if not (isinstance(child, NO_PROSE) or _titled(child) or _is_cell(child)):
                yield from _prose(child)
        if not isinstance(node, nodes.Inline):
            yield " "


def initials(term: str) -> str:
    """Return the first letters of a term of three words or more, by which many are known: RNN, BPE."""
    parts = re.split(r"[\s-]+", term)
    return "".join(part[0] for part in parts) if len(parts) > 2 else ""


def _titled(node: nodes.Node) -> bool:
    """Return whether a node is a section with a title; exercises are made of some without one."""
    return isinstance(node, nodes.section) and isinstance(node[0], nodes.title)


def _is_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and "cell" in node.get("classes", ())


def entries(page: str, doctree: nodes.document, address: str) -> Iterator[dict[str, str]]:
    """Return what can be found on a page: `title`, `page`, `url`, `text`, `terms`, `code`, and its `kind`."""
    top = next(doctree.findall(nodes.title), None)
    name = prose(top) if top else page
    for section in doctree.findall(_titled):
        first = section.parent is doctree
        where = address if first else f"{address}#{section['ids'][0]}"
        yield {
            "title": prose(section[0]),
            "page": name,
            "url": where,
            "text": prose(section),
            "terms": " ".join(
                dict.fromkeys(
                    [*([Path(page).name.replace("-", "")] if first else []), *_own(section, nodes.emphasis)]
                )
            ),
            "code": " ".join(dict.fromkeys(WORD.findall(" ".join(_own(section, nodes.literal_block))))),
            "kind": ("room" if page.startswith("api/") else "page") if first else "section",
        }
    for item in doctree.findall(nodes.definition_list_item):
        if isinstance(item.parent.parent, addnodes.glossary):
            terms = list(item.findall(nodes.term))
            yield {
                "title": " · ".join(term.astext() for term in terms),
                "page": name,
                "url": f"{address}#{terms[0]['ids'][0]}",
                "text": " ".join(prose(part) for part in item.findall(nodes.definition)),
                "terms": initials(terms[0].astext()),
                "kind": "term",
            }
    for item in doctree.findall(addnodes.desc):
        signature = next(item.findall(addnodes.desc_signature))
        if signature["ids"]:
            yield {
                "title": signature["fullname"],
                "page": name,
                "url": f"{address}#{signature['ids'][0]}",
                "text": prose(item[-1]),
                "kind": "attribute" if signature["class"] else "name",
            }


def _own(section: nodes.section, kind: type[nodes.Element]) -> Iterator[str]:
    """Return the texts of a kind that stand in a section, and not in one below it."""
    for node in section.findall(kind):
        above = node.parent
        while not _titled(above):
            above = above.parent
        if above is section:
            yield node.astext()


def keep_no_other_index(app: Sphinx) -> None:
    """Have Sphinx make no index of its own; the page of the search is one of html_additional_pages."""
    if app.builder.format == "html":
        app.builder.search = False  # type: ignore[attr-defined]


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the entries of all pages as a script, and MiniSearch beside it."""
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / FOLDER
    folder.mkdir(exist_ok=True)
    found: list[dict[str, Any]] = []
    for page in sorted(app.env.found_docs):
        doctree = app.env.get_doctree(page)
        found += entries(page, doctree, app.builder.get_target_uri(page))
    rows = ",\n".join(json.dumps({"id": i, **entry}, ensure_ascii=False) for i, entry in enumerate(found))
    (folder / "entries.js").write_text(f"window.d2lrnnEntries = [\n{rows}\n];\n", encoding="utf-8")
    shutil.copy(SCRIPT, folder / SCRIPT.name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", keep_no_other_index)
    app.connect("build-finished", write, priority=400)  # while the formulas' engine is there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
