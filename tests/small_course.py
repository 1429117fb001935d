"""A small copy of the project, for tests that record, build and compare chapters of their own."""

import html
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A small chapter

"""


def chapter(*cells: str, tags: dict[int, str] | None = None) -> str:
    """Return the source of a chapter with these code cells; `tags` gives some cells, by position, a tag."""
    blocks = []
    for number, cell in enumerate(cells):
        option = f":tags: [{tags[number]}]\n\n" if tags and number in tags else ""
        blocks.append(f"```{{code-cell}}\n{option}{cell}\n```\n")
    return HEADER + "\n".join(blocks)


@dataclass
class Course:
    """A small copy of the project with chapters of the test's own."""

    root: Path

    def write(self, name: str, source: str) -> Path:
        path = self.root / "chapters" / name
        path.write_text(source, encoding="utf-8")
        pages = "".join(f"  - file: chapters/{page.stem}\n" for page in sorted(path.parent.glob("*.md")))
        (self.root / "_toc.yml").write_text(
            f"format: jb-book\nroot: index\nchapters:\n{pages}", encoding="utf-8"
        )
        return path

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run one of the environment's programs in the copy, which comes before the installed package."""
        program, *arguments = command
        return subprocess.run(
            [Path(sys.executable).with_name(program), *arguments],
            cwd=self.root,
            env={
                **os.environ,
                "PYTHONPATH": str(self.root),
                "NO_COLOR": "1",
                "PYTEST_ADDOPTS": "",
                **variables,
            },
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    def record(self, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run("python", "-m", "book.recording.record", **variables)

    def regress(self) -> subprocess.CompletedProcess[str]:
        return self.run("python", "-m", "pytest", "--nbval", "chapters", "-p", "no:cacheprovider")

    def build(self) -> subprocess.CompletedProcess[str]:
        return self.run("jupyter-book", "build", ".", "-W", "-n", "--keep-going")

    def page(self, name: str) -> str:
        """Return the text of a built page, as a reader sees it."""
        markup = (self.root / "_build" / "html" / "chapters" / name).read_text(encoding="utf-8")
        return html.unescape(re.sub("<[^>]+>", "", markup))
