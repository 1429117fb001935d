"""Whether somebody is at the other end of the kernel."""

from __future__ import annotations

from IPython.core.getipython import get_ipython


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
