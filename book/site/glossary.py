"""Sphinx extension: where a chapter introduces a term, it links to the glossary, which its tooltip quotes.

Chapters set a term in italics where they explain it; the first such place of a page becomes the link.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

GLOSSARY = "appendix/glossary"


def definitions(glossary: nodes.document) -> dict[str, tuple[str, str]]:
    """Return the anchor and the definition of each term, by its name in lower case."""
    found = {}
    for item in glossary.findall(nodes.definition_list_item):
        meaning = " ".join(next(item.findall(nodes.definition)).astext().split())
        for term in item.findall(nodes.term):
            found[term.astext().lower()] = term["ids"][0], meaning
    return found


def link_terms(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Turn the first mention in italics of each of the glossary's terms into a link to it."""
    introduces = page.startswith("chapters/") and app.builder.format == "html"
    if not introduces or GLOSSARY not in app.env.found_docs:
        return
    terms = definitions(app.env.get_doctree(GLOSSARY))
    address = app.builder.get_relative_uri(page, GLOSSARY)
    for mention in list(doctree.findall(nodes.emphasis)):
        name = mention.astext().lower()
        if isinstance(mention.parent, nodes.reference):
            continue
        anchor, meaning = terms.pop(name, None) or terms.pop(name.removesuffix("s"), ("", ""))
        if anchor:
            link = nodes.reference(
                "", "", internal=True, refuri=f"{address}#{anchor}", reftitle=meaning, classes=["d2lrnn-term"]
            )
            mention.replace_self(link)
            link += mention


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("doctree-resolved", link_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
