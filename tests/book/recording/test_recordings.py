"""What a reader meets who opens a recording outside the site: plain Markdown, links that lead somewhere."""

import re

import pytest

from book.recording.notebooks import code_cells, read_recording, recording_of, sources

RECORDINGS = [recording_of(path) for path in sources()]
# A code block, or a code span; a dollar sign or an asterisk within it is no mark-up.
CODE = re.compile(
    r"^(\s*(?:> ?)*)(`{3,}|~{3,})(?!\s*\{).*?^\1\2\s*$|(?<![`}])(`{1,2})(?!`).+?(?<!`)\3(?!`)",
    re.MULTILINE | re.DOTALL,
)
# What would be MyST, and an example of it.
MYST = {
    "role": (r"\{[\w:+-]+\}`", "as {ref}`here` says"),
    "directive": (r"^[\s>*-]*(?:`{3,}|:{3,}|~{3,})\s*\{", "> ```{note}\n> x\n> ```"),
    "closing colons": (r"^\s*:{3,}\s*$", "x\n:::"),
    "label": (r"^\s*\([\w:-]+\)=", "(here)=\n# Title"),
    "option": (r"^:[\w-]+:", ":label: x"),
    "comment": (r"^% ", "% note"),
    "equation's label": (r"\$\$ *\([\w:-]+\)", "$$\na\n$$ (e)"),
    "substitution": (r"\{\{", "{{ x }}"),
    "footnote": (r"\[\^", "so[^1]"),
    "empty link": (r"\[\]\(", "[](rnn.md)"),
    "link to a source": (r"\]\([\w-]+\.md", "[a](rnn.md)"),
}


def name(path):
    return path.stem


def prose(recording):
    """Return the texts of a recording's Markdown cells."""
    return [cell.source for cell in recording.cells if cell.cell_type == "markdown"]


def without_code(text):
    return CODE.sub("", text)


@pytest.fixture(params=RECORDINGS, ids=name)
def path(request):
    return request.param


@pytest.fixture
def recording(path):
    return read_recording(path)


def left_over(kind, text):
    """Return what looks like MyST of a kind in a text, outside code and formulas."""
    plain = re.sub(r"\$\$.*?\$\$(?! *\()", "", without_code(text), flags=re.DOTALL)
    return re.findall(MYST[kind][0], plain, re.MULTILINE)


@pytest.mark.parametrize("kind", MYST)
def test_myst_would_be_found(kind):
    assert left_over(kind, MYST[kind][1])


@pytest.mark.parametrize("kind", MYST)
def test_no_myst_is_left(kind, recording):
    assert [left_over(kind, text) for text in prose(recording) if left_over(kind, text)] == []


def test_every_exercise_has_its_solution_folded(recording):
    text = "\n".join(prose(recording))
    exercises = re.findall(r"^\*\*(Exercise \(.+?\))\.\*\*$", text, re.MULTILINE)
    folded = re.findall(r"<details><summary>Solution to (Exercise \(.+?\))</summary>", text)
    in_code = re.findall(
        r"^\*Solution to (Exercise \(.+?\)) is in the next cell, which is folded", text, re.M
    )
    assert len(exercises) >= 6
    assert sorted(folded + in_code) == sorted(exercises)


def test_every_fold_closes_in_its_own_cell(recording):
    for text in prose(recording):
        assert text.count("<details>") == text.count("</details>")


def test_code_of_solutions_is_folded(recording):
    """A cell between a solution's parts is folded, and no other is."""
    for before, cell in zip(recording.cells, recording.cells[1:], strict=False):
        opens = before.cell_type == "markdown" and re.search(
            r"in the next cell, which is folded\.\*$", before.source
        )
        if opens:
            assert cell.cell_type == "code"
            assert cell.metadata.jupyter.source_hidden
            assert cell.metadata.cellView == "form"


def test_links_lead_to_files_beside_the_recording_or_to_the_web(path, recording):
    for text in prose(recording):
        for target in re.findall(r"\]\(([^()\s]+)[^()]*\)", without_code(text)):
            if not target.startswith(("http://", "https://", "#", "mailto:")):
                assert (path.parent / target.partition("#")[0]).is_file(), target


def test_links_within_a_recording_lead_to_a_heading(recording):
    texts = [without_code(text) for text in prose(recording)]
    headings = re.findall(r"^#+ (.+)$", "\n".join(texts), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
    linked = re.findall(r"\]\(#([^()\s]+)\)", "\n".join(texts))
    assert set(linked) <= anchors


def test_every_display_has_a_form_for_those_who_see_no_html(recording):
    for cell in code_cells(recording):
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                assert output.data["text/plain"].strip()


def test_every_figure_has_a_png(recording):
    for cell in code_cells(recording):
        for output in cell.outputs:
            data = output.get("data", {})
            if (
                "application/vnd.d2lrnn.series+json" in data
                and 'class="d2lrnn-text"' not in data["text/html"]
            ):
                assert "image/png" in output.data
                assert "d2lrnn-fallback" in output.data["text/html"]
