"""Sphinx extension: pages without a script in their text, so that a server can forbid such scripts.

Explorers have theirs beside them, since they have to run in a notebook too. Here each goes into a file of its
own, which the page asks for at the same place; buttons of the theme say in words what `_static/buttons.js`
does at a click.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from sphinx.application import Sphinx

INLINE = re.compile(r"<script>\n?(.*?)</script>", re.DOTALL)
HANDLER = re.compile(r' onclick="(\w+(?:\.\w+)?)\(\)"')
LONE = "404.html"  # which is served at any address, and so can ask for no file: the policy names its script


def move_out(page: str, address: str, static: Path) -> str:
    """Return a page whose scripts are files in a folder `scripts`, which it finds at `address`."""

    def file(script: re.Match[str]) -> str:
        name = hashlib.sha256(script[1].encode()).hexdigest()[:12] + ".js"
        (static / "scripts" / name).write_text(script[1], encoding="utf-8")
        return f'<script src="{address}_static/scripts/{name}"></script>'

    return HANDLER.sub(r' data-click="\1"', INLINE.sub(file, page))


def move_all_out(app: Sphinx, error: Exception | None) -> None:
    """Move the scripts of all pages out of them."""
    if error or app.builder.format != "html":
        return
    root = Path(app.outdir)
    for path in root.rglob("*.html"):
        if path.name != LONE and "_static" not in path.parts:
            before = path.read_text(encoding="utf-8")
            address = "../" * (len(path.relative_to(root).parts) - 1)
            after = move_out(before, address, root / "_static")
            if after != before:
                path.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("build-finished", move_all_out, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
