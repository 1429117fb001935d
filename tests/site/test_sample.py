"""The pages on which what takes long is tried: between them they hold every part that a page has."""

import re

from browsing import SAMPLE

# What is inside these is theirs alone, and Sphinx makes these pages, and the list of pages, by itself.
INNER = re.compile(r"<(svg|math|pre|script|style)\b.*?</\1>", re.DOTALL)
TAG = re.compile(r'<([a-z]\w*)(?:[^>]*?\sclass="([^"]+)")?')
NO_PARTS = {"br", "div.toctree-wrapper"}
SPHINX = {"404.html", "genindex.html", "search.html"}
NAMED = {  # what the course's readers would call its parts
    "d2lrnn-explorer",
    "d2lrnn-text",
    "details.sd-sphinx-override",  # an answer of a quiz
    "div.exercise",
    "details.solution",
    "table",
    "math",
    "d2lrnn-equation",
    "d2lrnn-finding",
    "div.cell_input",
    "div.cell_output",
    "dl.simple",  # the glossary
    "dl.py",
    "svg",
}


def parts(page):
    """Return what a page's text is made of: its tags, its boxes by first class, and the course's classes."""
    article = re.search(r"<article\b.*</article>", page, re.DOTALL)
    found = set()
    for tag, classes in TAG.findall(INNER.sub(r"<\1>", article[0])):
        names = classes.split()
        found |= {tag, *(name for name in names if name.startswith("d2lrnn-"))}
        if names and tag in ("div", "dl", "details"):
            found.add(f"{tag}.{names[0]}")
    return found - NO_PARTS


def test_a_part_is_known_by_its_tag_or_its_class():
    page = (
        '<div class="head"></div><article class="a"><div class="cell docutils"><pre><b></b></pre></div>'
        '<p class="d2lrnn-times x">At <math><mi>t</mi></math><br></p></article>'
    )
    assert parts(page) == {"article", "div", "div.cell", "pre", "p", "d2lrnn-times", "math"}


def test_the_sample_holds_every_part_that_any_page_has(site, pages):
    found = {name: parts((site / name).read_text(encoding="utf-8")) for name in pages if name not in SPHINX}
    held = set().union(*(found[name] for name in SAMPLE))
    assert held >= NAMED
    assert {name: one - held for name, one in found.items() if one - held} == {}
