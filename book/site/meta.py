"""Sphinx extension: what a page says of itself: its description, how long it takes, and where the site is.

The site's own address is `html: baseurl:` in _config.yml, or D2LRNN_SITE in the environment. Pages work
without it; with it, they name their canonical address, and there is a sitemap, whose addresses are full ones.
"""

from __future__ import annotations

import json
import os
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from book.recording.notebooks import TABLES
from book.site.card import CARD

SITE_VARIABLE = "D2LRNN_SITE"
TIMES = TABLES / "times.json"
WORDS_A_MINUTE = 200
LONGEST = 200  # characters of a description; search engines show fewer
DESCRIPTION = (
    "A course on sequence models, n-gram language models and recurrent networks in which all code runs."
)


def set_address(_app: Sphinx, config: Config) -> None:
    """Take the site's address from the environment or the configuration, with one slash at its end."""
    address = os.environ.get(SITE_VARIABLE) or config.html_baseurl
    config.html_baseurl = address.rstrip("/") + "/" if address else ""


def describe(
    app: Sphinx, page: str, _template: str, context: dict[str, object], doctree: nodes.document | None
) -> None:
    """Write a page's description, also in the words of Open Graph, into its head."""
    title = re.sub(r"<[^>]+>", "", str(context.get("title") or app.config.html_title))
    tags = {"description": _description(doctree)}
    tags |= {"og:title": title, "og:description": tags["description"], "og:site_name": app.config.html_title}
    tags |= {"og:type": "website" if page == app.config.root_doc else "article", "og:locale": "en"}
    tags["twitter:card"] = "summary"
    if context.get("pageurl"):  # addresses of pictures are full ones
        tags["og:url"] = str(context["pageurl"])
        tags["og:image"] = f"{app.config.html_baseurl}_static/{CARD}"
        tags["twitter:card"] = "summary_large_image"
    context["html_baseurl"] = app.config.html_baseurl
    given = re.sub(r'<meta name="viewport"[^>]*>', "", str(context.get("metatags", "")))  # the theme has one
    context["metatags"] = given + "".join(
        f'\n    <meta {"property" if "og:" in name else "name"}="{name}" content="{escape(content)}" />'
        for name, content in tags.items()
    )


def _description(doctree: nodes.document | None) -> str:
    """Return how a page begins, up to the end of a sentence or of a word."""
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    text = next((p.astext() for p in paragraphs if "d2lrnn-times" not in p["classes"]), DESCRIPTION)
    text = " ".join(text.split())
    if len(text) <= LONGEST:
        return text
    cut = text[: LONGEST + 1]
    sentence = cut.rfind(". ")
    return cut[: sentence + 1] if sentence > LONGEST // 3 else cut[: cut.rindex(" ")] + " …"


def say_times(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put below a chapter's title how long it takes to read, and how long its code ran when measured."""
    title = next(doctree.findall(nodes.title), None)
    if not page.startswith("chapters/") or title is None or app.builder.format != "html":
        return
    words = sum(len(p.astext().split()) for p in doctree.findall(nodes.paragraph))
    text = f"About {max(1, round(words / WORDS_A_MINUTE))} min to read"
    times = json.loads(TIMES.read_text("utf-8")) if TIMES.is_file() else {}
    seconds = times.get(page, {}).get("seconds")
    if seconds is not None:
        text += f"; its code ran in {seconds} s"
    title.parent.insert(
        title.parent.index(title) + 1, nodes.paragraph("", text + ".", classes=["d2lrnn-times"])
    )


def write_sitemap(app: Sphinx, error: Exception | None) -> None:
    """List the pages' full addresses for search engines, if the site knows its own."""
    base = app.config.html_baseurl
    if error or app.builder.format != "html" or not base:
        return
    addresses = [base + app.builder.get_target_uri(page) for page in sorted(app.env.found_docs)]
    lines = "\n".join(f"  <url><loc>{escape(address)}</loc></url>" for address in addresses)
    sitemap = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{lines}
</urlset>
"""
    (Path(app.outdir) / "sitemap.xml").write_text(sitemap, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("config-inited", set_address)
    app.connect("html-page-context", describe)
    app.connect("doctree-resolved", say_times)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
