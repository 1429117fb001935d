"""Write the chapters without solutions, for a class: `make handout` puts notebooks into `_build/handout`.

Usage: python -m book.recording.handout [CHAPTER ...]   (all chapters when none is named)
"""

from __future__ import annotations

import re
import shutil
import sys

import jupytext

from book.recording.notebooks import CHAPTERS, ROOT, chosen, portable, write_recording
from book.recording.provenance import data_files

FOLDER = ROOT / "_build" / "handout"

_BLOCK = re.MULTILINE | re.DOTALL
_SOLUTION = re.compile(r"^```\{solution-start\} \S+\n.*?^```\{solution-end\}\n```\n", _BLOCK)
# A choice of the quiz, whose explanation would give it away.
_CHOICE = re.compile(r"^```\{dropdown\} (?P<choice>[^\n]+)\n.*?^```\n+", _BLOCK)
_ANSWERS = re.compile(r"^```\{code-cell\}\n:tags: \[hide-cell\]\n.*?^```\n", _BLOCK)
_QUIZ = re.compile(r"^## Quiz\n.*?(?=^## )", _BLOCK)


def without_solutions(source: str) -> str:
    """Return a chapter's MyST source without solutions, and with the quiz's choices but not its answers."""
    source = _SOLUTION.sub("", source)
    return _QUIZ.sub(lambda quiz: _CHOICE.sub(r"- \g<choice>\n", _ANSWERS.sub("", quiz[0])), source)


def main(arguments: list[str]) -> int:
    """Write the named chapters, or all; return the exit status."""
    try:
        named = chosen(arguments)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for path in named:
        source = jupytext.reads(without_solutions(path.read_text(encoding="utf-8-sig")), fmt="md:myst")
        notebook = portable(source, path.relative_to(ROOT).as_posix())
        write_recording(FOLDER / path.with_suffix(".ipynb").name, notebook)
    for path in data_files():
        if path.parent == CHAPTERS:
            shutil.copy(path, FOLDER)
    print(f"{len(named)} notebooks without solutions are in {FOLDER.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
