"""Who is at the other end: whether somebody looks on, and how something reaches them."""

from __future__ import annotations

from collections.abc import Mapping

from IPython import display as jupyter
from IPython.core.getipython import get_ipython


def display(bundle: Mapping[str, object], **options: object) -> None:
    """Display a bundle by MIME type; in plain Python, which shows no pictures, print what it is in words."""
    if get_ipython() is None:
        print(bundle["text/plain"])
    else:
        jupyter.display(bundle, raw=True, **options)  # type: ignore[no-untyped-call]


def interactive() -> bool:
    """Tell whether the running cell was sent by a frontend with a person at it.

    With each cell, a frontend says whether it can be asked for input (``allow_stdin`` of Jupyter's
    ``execute_request``): JupyterLab, Notebook, Colab and VS Code can, since somebody may type there; nbclient
    (which records the chapters and executes them for the site), nbconvert, papermill and nbval cannot. So
    one notebook needs no setting to run well in both, and a test cannot forget one. Outside a kernel, as in
    a script or a terminal, the answer is False.
    """
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None or not hasattr(kernel, "get_parent"):  # before ipykernel 6
        return bool(getattr(kernel, "_allow_stdin", False))
    return bool(kernel.get_parent("shell").get("content", {}).get("allow_stdin", False))
