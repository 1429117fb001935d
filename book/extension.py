"""Sphinx extension: serves recordings to the build, MathJax from the site itself, and finds the repository.

A chapter whose recording still holds is shown as recorded. Any other is executed by the build, so that no
page shows a stale output.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging

from book import provenance
from book.notebooks import (
    ROOT,
    code_cells,
    own_code_cells,
    read_recording,
    read_source,
    recording_of,
    sources,
    use_this_checkout,
)

LOGGER = logging.getLogger(__name__)
REPOSITORY_VARIABLE = "D2LRNN_REPOSITORY"
# Of MathJax's script and fonts one after another, as django-static-mathjax 3.2.2.1 has them.
MATHJAX_SHA256 = "0916e844cfc07c52c46a063ea9d5efbcd2617975fecbf29c876365f2990edc56"
_REMOTE = re.compile(
    r"(?:https://(?:[^@/]+@)?|git@|ssh://git@)(?P<host>github\.com|gitlab\.com|bitbucket\.org)[:/]"
    r"(?P<path>[^/]+/.+?)(?:\.git)?/?"
)


def chapters_by_docname() -> dict[str, Path]:
    """Return the executable pages by Sphinx's name for them."""
    return {path.relative_to(ROOT).with_suffix("").as_posix(): path for path in sources()}


def state(path: Path) -> str:
    """Return a hash over all that decides a chapter's outputs: recording, d2lrnn, texts, versions."""
    inputs = [
        path,
        recording_of(path),
        *sorted((ROOT / "d2lrnn").rglob("*.py")),
        *provenance.data_files(),
    ]
    parts = [provenance.digest(file) for file in inputs if file.is_file()]
    parts += [f"{name}=={version}" for name, version in provenance.installed_versions().items()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def find_outdated(_app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> list[str]:
    """Name the chapters to read again since what decides their outputs changed after the last build."""
    states = {docname: state(path) for docname, path in chapters_by_docname().items()}
    before = getattr(env, "d2lrnn_states", {})
    env.d2lrnn_states = states  # type: ignore[attr-defined]
    return [
        docname for docname, now in states.items() if before.get(docname) != now and docname in env.found_docs
    ]


def fill_cache(app: Sphinx, env: BuildEnvironment, docnames: Sequence[str]) -> None:
    """Put into jupyter-cache the recordings that hold, and take out what it has of chapters whose do not."""
    chapters = chapters_by_docname()
    cache = get_cache(
        app.config["nb_execution_cache_path"] or str(Path(app.outdir).parent / ".jupyter_cache")
    )
    versions = provenance.installed_versions()
    for docname in docnames:
        if docname not in chapters:
            if "{code-cell}" in Path(env.doc2path(docname)).read_text(encoding="utf-8"):
                raise ExtensionError(f"{docname} has code cells, but only pages of chapters/ are recorded")
            continue
        source = read_source(chapters[docname])
        recording = recording_of(chapters[docname])
        changes = ["it has no recording"]
        if recording.is_file():
            recorded = read_recording(recording)
            changes = provenance.changes(recorded, source, versions)
        if changes:
            LOGGER.info("%s is executed: %s", docname, "; ".join(changes))
            with contextlib.suppress(KeyError):  # the cache may have nothing of it
                cache.remove_cache(cache.match_cache_notebook(source).pk)
        else:
            bundle = CacheBundleIn(with_outputs(source, recorded), str(recording))
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def with_outputs(source: NotebookNode, recording: NotebookNode) -> NotebookNode:
    """Return `source` with the outputs of its recording, cell by cell."""
    filled = nbformat.from_dict(source)
    for cell, recorded in zip(code_cells(filled), own_code_cells(recording), strict=True):
        if cell.source != recorded.source:
            raise ValueError(f"the recording has {recorded.source!r} where the chapter has {cell.source!r}")
        cell.outputs = recorded.outputs
        cell.execution_count = recorded.execution_count
    return filled


def remote_address(checkout: Path) -> str:
    """Return the web address of a checkout's remote `origin`, if it is on a host that has buttons, or ""."""
    command = ["git", "-C", str(checkout), "remote", "get-url", "origin"]
    try:
        remote = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # no git
        return ""
    known = _REMOTE.fullmatch(remote)
    return f"https://{known['host']}/{known['path']}" if known else ""


def set_repository(_app: Sphinx, config: Config) -> None:
    """Take the repository's address from environment, configuration or git; with none, show no buttons."""
    options = config.html_theme_options
    address = os.environ.get(REPOSITORY_VARIABLE) or options.get("repository_url") or remote_address(ROOT)
    if address:
        options["repository_url"] = address.removesuffix("/").removesuffix(".git")
        options["use_repository_button"] = True
    else:
        options.pop("repository_url", None)
        options.pop("launch_buttons", None)
        options["use_repository_button"] = False


def serve_mathjax(_app: Sphinx, config: Config) -> None:
    """Let pages load MathJax from the site itself and not from another host."""
    config.mathjax_path = "mathjax/tex-mml-chtml.js"


def checked_mathjax(folder: Path) -> list[Path]:
    """Return MathJax's script and fonts below a folder, as paths in it.

    Raises
    ------
    ExtensionError
        If they are not the files that the site was made with.
    """
    fonts = Path("output", "chtml", "fonts", "woff-v2")
    found = [Path("tex-mml-chtml.js"), *sorted(fonts / path.name for path in (folder / fonts).iterdir())]
    digest = hashlib.sha256(b"".join((folder / path).read_bytes() for path in found)).hexdigest()
    if digest != MATHJAX_SHA256:
        raise ExtensionError(
            f"MathJax's files have the SHA-256 {digest}, expected {MATHJAX_SHA256}: see requirements.txt"
        )
    return found


def copy_files(app: Sphinx, error: Exception | None) -> None:
    """Copy what pages point to: MathJax's script and fonts out of their package, and the recordings."""
    if error or app.builder.format != "html":
        return
    source = Path(str(files("mathjax"))) / "static" / "mathjax" / "es5"
    for path in checked_mathjax(source):
        target = Path(app.outdir) / "_static" / "mathjax" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / path, target)
    for docname in app.env.d2lrnn_states:  # type: ignore[attr-defined]
        recording = ROOT / f"{docname}.ipynb"
        if recording.is_file():
            shutil.copy(recording, Path(app.outdir) / "_sources" / recording.relative_to(ROOT))


def offer_notebook(
    app: Sphinx, page: str, _template: str, context: dict[str, object], _doctree: object
) -> None:
    """Put a chapter's recording into the page's download menu."""
    if page in app.env.d2lrnn_states:  # type: ignore[attr-defined]
        context["ipynb_source"] = f"{page}.ipynb"  # under _sources, where the theme looks


def forget_failed_build(app: Sphinx, _error: Exception | None) -> None:
    """Let the next build read every page again if this one had warnings, or it would pass without a word."""
    if app._warncount:
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    use_this_checkout()
    app.connect("config-inited", set_repository, priority=400)
    app.connect("config-inited", serve_mathjax)
    app.connect("build-finished", copy_files)
    app.connect("build-finished", forget_failed_build)
    app.connect("env-get-outdated", find_outdated)
    app.connect("env-before-read-docs", fill_cache)
    app.connect("html-page-context", offer_notebook, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
