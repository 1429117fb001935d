"""Sphinx extension: serves recordings to the build, and finds the repository.

A chapter whose recording still holds is shown as recorded. Any other is executed by the build, so that no
page shows a stale output.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sys
from collections.abc import Sequence
from html import escape
from importlib.machinery import PathFinder
from importlib.util import find_spec
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

from book.recording import address, findings, provenance
from book.recording.address import Repository
from book.recording.notebooks import (
    ROOT,
    code_cells,
    own_code_cells,
    read_recording,
    read_source,
    recording_of,
    sources,
    use_this_checkout,
)
from book.recording.setup_cell import imported
from book.site.findings import counted_outputs

LOGGER = logging.getLogger(__name__)
LICENCE = (
    'The text is under <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>, '
    'the code under the <a href="https://opensource.org/license/mit">MIT licence</a>.'
)


def chapters_by_docname() -> dict[str, Path]:
    """Return the executable pages by Sphinx's name for them."""
    return {path.relative_to(ROOT).with_suffix("").as_posix(): path for path in sources()}


def state(path: Path) -> str:
    """Return a hash over all that decides what a chapter shows: recording, package, versions, counts."""
    inputs = [
        path,
        recording_of(path),
        *sorted(path for kind in ("py", "css", "js") for path in (ROOT / "d2lrnn").rglob(f"*.{kind}")),
        *provenance.data_files(),
    ]
    parts = [provenance.digest(file) for file in inputs if file.is_file()]
    parts += [f"{name}=={version}" for name, version in provenance.installed_versions().items()]
    parts += [repr(row) for row in findings.rows() if row["chapter"] == path.stem]
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
        recorded = read_recording(recording) if recording.is_file() else NotebookNode(metadata={})
        changes = provenance.changes(recorded, source, versions)
        if changes and (missing := missing_packages(source, recorded)):
            raise SystemExit(  # which, other than an error, Jupyter Book leaves without a traceback
                f"{docname} must be executed, since {changes[0]}, and needs {', '.join(missing)}: "
                "run `python -m pip install -r requirements.txt`"
            )
        if changes:
            LOGGER.info("%s is executed: %s", docname, "; ".join(changes))
            with contextlib.suppress(KeyError):  # the cache may have nothing of it
                cache.remove_cache(cache.match_cache_notebook(source).pk)
        else:
            filled = with_counts(with_outputs(source, recorded), chapters[docname].stem, recorded)
            bundle = CacheBundleIn(filled, str(recording))
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def missing_packages(source: NotebookNode, recording: NotebookNode) -> list[str]:
    """Return what a chapter imports, or was recorded with, and is not installed."""
    modules = imported(cell.source for cell in code_cells(source)) - sys.stdlib_module_names
    beside = [str(ROOT / "chapters")]
    absent = {name for name in modules if not (find_spec(name) or PathFinder.find_spec(name, beside))}
    return sorted(absent | set(provenance.not_installed(recording)))


def with_outputs(source: NotebookNode, recording: NotebookNode) -> NotebookNode:
    """Return `source` with the outputs of its recording, cell by cell."""
    filled = nbformat.from_dict(source)
    for cell, recorded in zip(code_cells(filled), own_code_cells(recording), strict=True):
        if cell.source != recorded.source:
            raise ValueError(f"the recording has {recorded.source!r} where the chapter has {cell.source!r}")
        cell.outputs = recorded.outputs
        cell.execution_count = recorded.execution_count
    return filled


def with_counts(notebook: NotebookNode, chapter: str, recording: NotebookNode) -> NotebookNode:
    """Return a notebook whose findings say in how many runs they held."""
    counts = findings.counted(findings.rows(), chapter, provenance.key(recording))
    for cell in code_cells(notebook):
        cell.outputs = counted_outputs(cell, chapter, counts)
    return notebook


def set_repository(_app: Sphinx, config: Config) -> None:
    """Tell the theme where the repository is, and leave out the buttons that would not work."""
    options = config.html_theme_options
    try:
        repository = address.current()
    except ValueError as error:
        raise ExtensionError(str(error)) from error
    options["launch_buttons"] = launch_buttons(options.get("launch_buttons", {}), repository)
    options["use_repository_button"] = repository is not None
    options.pop("repository_url", None)
    options["extra_footer"] = LICENCE
    if repository:
        options["extra_footer"] += f' <a href="{escape(repository.url)}">Source</a>'
        options["repository_url"] = repository.url
        # The theme knows three, and needs one; `mend_buttons` puts another icon where it is none of them.
        options["repository_provider"] = repository.host.provider if repository.host else "gitlab"


def launch_buttons(wanted: dict[str, str], repository: Repository | None) -> dict[str, str]:
    """Return those of the launch buttons wanted that lead to a notebook which can start.

    A notebook starts where its first cell has something to install from: at the address that is recorded.
    """
    recorded = address.recorded()
    if not (repository and recorded and repository.url.lower() == recorded.url.lower()):
        return {}
    works = {
        "binderhub_url": bool(repository.binder()),
        "colab_url": repository.host is not None and repository.host.provider == "github",
    }
    return {name: value for name, value in wanted.items() if works.get(name, True)}


def mend_buttons(
    app: Sphinx, _page: str, _template: str, context: dict[str, object], _doctree: object
) -> None:
    """Correct what the theme puts into buttons: Binder's address, and the icon of a host it doesn't know."""
    options = app.config.html_theme_options
    if "repository_url" not in options:
        return
    repository = Repository(options["repository_url"])
    groups = context["header_buttons"]
    for button in [button for group in groups for button in group.get("buttons", [group])]:
        if button.get("text") == "Binder":
            start, _, query = button["url"].partition("?")
            hub = start.partition("/v2/")[0]
            button["url"] = f"{hub}/v2/{repository.binder()}/{options['repository_branch']}?{query}"
        elif button.get("label") == "source-repository-button" and not repository.host:
            button["icon"] = "fas fa-code-branch"


def copy_files(app: Sphinx, error: Exception | None) -> None:
    """Copy the recordings, which pages point to."""
    if error or app.builder.format != "html":
        return
    (Path(app.outdir) / ".nojekyll").touch()  # or GitHub Pages, from a branch, leaves out what begins with _
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
    app.connect("build-finished", copy_files)
    app.connect("build-finished", forget_failed_build)
    app.connect("env-get-outdated", find_outdated)
    app.connect("env-before-read-docs", fill_cache)
    app.connect("html-page-context", offer_notebook, priority=400)
    app.connect("html-page-context", mend_buttons, priority=502)  # after the theme has made them
    return {"parallel_read_safe": True, "parallel_write_safe": True}
