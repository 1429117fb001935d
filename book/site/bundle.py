"""Sphinx extension: serves the theme's files as one stylesheet and three scripts, and drops what is unused.

A page of the theme would ask for some thirty files, among them half a megabyte of icons as a script that its
font has as well. The template `layout.html` beside this module names the bundles; their parts stand here. A
file that is not listed keeps its own place.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.fileutil import copy_asset

from book.site import icons

# In the order in which pages would load them; a pattern must match exactly one file of _static.
STYLES = (
    "basic.css",
    "styles/pydata-sphinx-theme.css",
    "pygments.css",
    "styles/sphinx-book-theme.css",
    "copybutton.css",
    "mystnb.*.css",
    "exercise.css",
    "sphinx-design.min.css",
    "Temml-STIX2.css",
    "formulas.css",
    "search.css",
    "course.css",
    "exercises.css",
    "terms.css",
    "print.css",
)
HEAD_SCRIPTS = (
    "documentation_options.js",
    "doctools.js",
    "clipboard.min.js",
    "copybutton.js",
    "scripts/sphinx-book-theme.js",
)
# Loaded when the page is, after what stands in the page itself, which the first one needs.
END_SCRIPTS = (
    "scripts/bootstrap.js",
    "scripts/pydata-sphinx-theme.js",
    "buttons.js",
    "contents.js",
    "terms.js",
    "search.js",
)
MODE = ("mode.js",)  # before anything is painted
BUNDLES = {
    "styles/site.css": STYLES,
    "scripts/mode.js": MODE,
    "scripts/head.js": HEAD_SCRIPTS,
    "scripts/end.js": END_SCRIPTS,
}
FONTS = Path("theme", "pydata_sphinx_theme", "static", "vendor", "fontawesome", "webfonts")  # of the theme
# Live cells, tabs, folding by a script, icons, and Sphinx's search: no chapter has the first two,
# solutions fold by themselves, book/site/icons.py makes the icons and book/site/search.py looks for words.
UNUSED = (
    "*webpack-macros.html",
    "sphinx-thebe.*",
    "design-tabs.js",
    "scripts/fontawesome.js*",
    "vendor/fontawesome/**/*.*",
    "togglebutton.*",
    "searchtools.js",
    "language_data.js",
    "sphinx_highlight.js",
    "styles/theme.css",
    "**/*.map",
)


def leave_out_bundled(
    _app: Sphinx, _page: str, _template: str, context: dict[str, object], _doctree: object
) -> None:
    """Take out of a page's lists of files those that its bundles hold, or that nothing uses, and settings."""
    patterns = (*(part for parts in BUNDLES.values() for part in parts), *UNUSED)
    for key in ("css_files", "script_files"):
        context[key] = [
            file
            for file in context[key]  # type: ignore[attr-defined]
            if not file.attributes.get("body")  # settings of live cells, folded parts, the theme's search
            and not any(Path(str(file.filename).partition("?")[0]).match(f"_static/{p}") for p in patterns)
        ]


def drop_live_cells(_app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Take out what sphinx-thebe writes into every page, which names a stranger's repository."""
    for node in list(doctree.findall(nodes.raw)):
        if "thebe" in node.astext() or "kernelName" in node.astext():
            node.parent.remove(node)


def write_bundles(app: Sphinx, error: Exception | None) -> None:
    """Write the bundles from the files that Sphinx copied, and remove what no page asks for."""
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for source in app.config.html_static_path:  # Sphinx copies them only if it writes a page, too
        copy_asset(str(Path(app.confdir) / source), str(static))
    for bundle, patterns in BUNDLES.items():
        parts = [_text(static, pattern) for pattern in patterns]
        (static / bundle).write_text(
            "\n;\n".join(parts) if bundle.endswith(".js") else "\n".join(parts), "utf-8"
        )
    style = static / "styles" / "site.css"
    pages = [
        path.read_text("utf-8") for path in (*Path(app.outdir).rglob("*.html"), *static.glob("scripts/*.js"))
    ]
    css = icons.reduced(
        style.read_text("utf-8"), pages, Path(str(files("pydata_sphinx_theme"))) / FONTS, style.parent
    )
    style.write_text(css, "utf-8")
    for pattern in UNUSED:
        for file in static.glob(pattern):
            file.unlink()


def _text(static: Path, pattern: str) -> str:
    """Return the text of a file, with addresses as seen from a folder of _static."""
    found = sorted(static.glob(pattern))
    if len(found) != 1:
        raise RuntimeError(
            f"{pattern} names {len(found)} files of {static}: mend BUNDLES in book/site/bundle.py"
        )
    text = found[0].read_text(encoding="utf-8")
    text = re.sub(r"//# sourceMappingURL=\S+|/\*# sourceMappingURL=.*?\*/", "", text)
    return re.sub(r"url\((?=[\w-]+\.\w+\))", "url(../", text) if found[0].parent == static else text


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("html-page-context", leave_out_bundled, priority=900)
    app.connect("doctree-resolved", drop_live_cells, priority=900)
    app.connect("build-finished", write_bundles, priority=900)  # the theme writes pygments.css last
    return {"parallel_read_safe": True, "parallel_write_safe": True}
