"""A pytest plugin that extends nbval: recordings are held against chapters, outputs compared by `compare`."""

from __future__ import annotations

import tokenize
from collections.abc import Generator, Iterator
from io import StringIO
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbval import plugin
from nbval.plugin import IPyNbCell, IPyNbFile

from book.recording import compare, provenance
from book.recording.notebooks import code_cells, read_recording, read_source, use_this_checkout
from book.recording.record import expected

# nbval would join the pieces of a stream over what stands between them, and drop what a carriage return
# covers; `compare` joins neighbours only.
plugin.coalesce_streams = list


def pytest_configure() -> None:
    """Let kernels import d2lrnn from here."""
    use_this_checkout()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Put a `Recording` in the place of each notebook of nbval's."""
    collected = yield
    return [
        Recording.from_parent(parent, path=file_path) if isinstance(file, IPyNbFile) else file
        for file in collected
    ]


class Recording(IPyNbFile):
    """A recording: first whether it is in step with its chapter, then each cell."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield what is tested."""
        yield InStep.from_parent(self, name="in step with its chapter")
        for cell in super().collect():
            options = {
                "check": True,  # no marker can leave a cell out
                "check_exception": "raises-exception" in cell.cell.metadata.get("tags", []),
                "skip": False,
            }
            yield ComparedCell.from_parent(
                self, name=cell.name, cell_num=cell.cell_num, cell=cell.cell, options=options
            )


class InStep(pytest.Item):
    """Fails if the recording is not of today's chapter, package, texts and pinned versions."""

    def runtest(self) -> None:
        """Fail with all that is out of step."""
        path = self.parent.path
        source = path.with_suffix(".md")
        if not source.is_file():
            pytest.fail(f"{path.name} has no chapter {source.name} beside it", pytrace=False)
        found = out_of_step(read_recording(path), source)
        if found:
            pytest.fail(
                f"{path.name} is out of step with {source.name}; run `make record`:\n" + "\n".join(found),
                pytrace=False,
            )

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file, a line and the test's name."""
        return self.path, 0, f"{self.parent.path.name}: {self.name}"


def out_of_step(recording: NotebookNode, source: Path) -> list[str]:
    """List what a recording does not share with the notebook that its chapter makes today."""
    today = expected(source)
    if len(recording.cells) != len(today.cells):
        return [f"it has {len(recording.cells)} cells, the chapter makes {len(today.cells)}"]
    found = []
    for number, (recorded, cell) in enumerate(zip(recording.cells, today.cells, strict=True)):
        for key in ("cell_type", "id", "metadata", "source"):
            if recorded[key] != cell[key]:
                found.append(
                    f"cell {number}, {key}: recorded {recorded[key]!r}, the chapter has {cell[key]!r}"
                )
                break
    for number, cell in enumerate(code_cells(recording), 1):
        if cell.execution_count != number:
            found.append(
                f"code cell {number - 1} was never run, or not in order: count {cell.execution_count}"
            )
    return found + provenance.changes(recording, read_source(source), provenance.pinned_versions())


class ComparedCell(IPyNbCell):
    """A code cell whose outputs must be those of the recording."""

    def runtest(self) -> None:
        """Execute the cell and compare its outputs, unless there is nothing to compare with."""
        if self.cell.execution_count is None:
            self.raise_cell_error("The recorded cell was never run; run `make record`")
        super().runtest()

    def compare_outputs(
        self,
        test: list[NotebookNode],
        ref: list[NotebookNode],
        skip_compare: None = None,  # noqa: ARG002  # nbval's signature
    ) -> bool:
        """Tell whether the outputs of a new run are those recorded, and keep what differs."""
        if is_silenced(
            self.cell.source
        ):  # nbval runs cells without history, where a trailing ; has no effect
            test = [output for output in test if output.output_type != "execute_result"]
        found = compare.differences(ref, test)
        if self.options["check_exception"] and not any(output.output_type == "error" for output in test):
            found.append("the cell is tagged raises-exception and did not raise")
        self.comparison_traceback = found
        return not found


def is_silenced(source: str) -> bool:
    """Tell whether a cell ends with a semicolon, which keeps Jupyter from showing its result."""
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.DEDENT}
    try:
        tokens = tokenize.generate_tokens(StringIO(source).readline)
        code = [token.string for token in tokens if token.type not in skipped]
    except (tokenize.TokenError, SyntaxError):  # not Python: a cell magic, or a lesson on syntax errors
        return False
    return code[-1:] == [";"]
