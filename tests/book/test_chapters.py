"""What holds for every chapter."""

import ast
import re
import shutil
from itertools import pairwise

import pytest
import yaml
from myst_nb.core.read import read_myst_markdown_notebook
from small_course import chapter

from book.recording.notebooks import ROOT, code_cells, read_recording, read_source, recording_of, sources
from book.recording.record import expected

CHAPTERS = sources()


def name(path):
    return path.stem


class Bare(ast.NodeTransformer):
    """Leave out docstrings and annotations: a chapter explains in prose, and has no room for them."""

    def generic_visit(self, node):
        super().generic_visit(node)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return ast.Assign([node.target], node.value)
        return node


def definitions(code):
    """Return the top-level functions and classes of some code by name, as bare syntax without positions."""
    tree = ast.parse(code)
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: ast.dump(Bare().visit(node)) for node in tree.body if isinstance(node, kinds)}


def test_definitions_are_compared_without_docstrings_and_annotations():
    typed = 'def f(x: int = 1) -> int:\n    """Add one."""\n    y: int = x + 1\n    return y'
    bare = "def f(x=1):\n    y = x + 1\n    return y"
    assert definitions(typed) == definitions(bare)
    assert definitions(bare) != definitions(bare.replace("+", "-"))


@pytest.fixture(scope="module")
def package():
    found = {}
    for path in sorted({*(ROOT / "d2lrnn").rglob("*.py")} - {*(ROOT / "d2lrnn" / "check").iterdir()}):
        found |= definitions(path.read_text(encoding="utf-8"))
    return found


def test_there_are_chapters():
    assert CHAPTERS


def test_every_page_with_code_is_in_the_table_of_contents():
    listed = re.findall(r"file: (chapters/\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert set(listed) == {path.relative_to(ROOT).with_suffix("").as_posix() for path in CHAPTERS}
    assert len(listed) == len(CHAPTERS)


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_chapter_has_a_recording_of_the_same_cells(path):
    recorded = read_recording(recording_of(path))
    assert [cell.source for cell in recorded.cells] == [cell.source for cell in expected(path).cells]


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_site_and_recorder_read_the_same_code(path):
    site = read_myst_markdown_notebook(path.read_text(encoding="utf-8"))
    assert [c.source for c in code_cells(site)] == [c.source for c in code_cells(read_source(path))]


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_shown_definitions_are_the_package_s(path, package):
    shown = {}
    for cell in code_cells(read_source(path)):
        shown |= definitions(cell.source)
    shared = shown.keys() & package.keys()
    assert {key: shown[key] for key in shared} == {key: package[key] for key in shared}


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_cells_are_short_unless_they_define_something(path):
    for cell in code_cells(read_source(path)):
        if not definitions(cell.source):
            assert len(cell.source.splitlines()) <= 20, cell.source


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_chapter_has_six_to_ten_exercises_each_with_a_solution(path):
    text = path.read_text(encoding="utf-8")
    exercises = re.findall(r"\{exercise(?:-start)?\} .+\n:label: (\S+)", text)
    assert 6 <= len(exercises) <= 10
    assert re.findall(r"\{solution(?:-start)?\} (\S+)", text) == exercises


SOLUTION = re.compile(r"\{solution-start\}.*?\{solution-end\}", re.DOTALL)
QUIZ = re.compile(r"^## Quiz\n(.*?)(?=^## )", re.DOTALL | re.MULTILINE)
CHOICE = re.compile(r"^```\{dropdown\} [^\n]+\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_chapter_has_two_checks_that_exercises_name_and_solutions_run(path):
    text = path.read_text(encoding="utf-8")
    run = set(re.findall(r"^check\.(\w+)\(", "\n".join(SOLUTION.findall(text)), re.MULTILINE))
    assert len(run) >= 2
    assert set(re.findall(r"`check\.(\w+)", SOLUTION.sub("", text))) == run


def quiz(path):
    """Return the questions of a chapter's quiz: for each the explanations of its choices."""
    text = QUIZ.search(path.read_text(encoding="utf-8"))[1]
    questions = re.split(r"^\*\*Question \d+\.\*\* ", text, flags=re.MULTILINE)[1:]
    return [CHOICE.findall(question) for question in questions]


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_quiz_has_four_to_six_questions_each_with_one_right_choice(path):
    questions = quiz(path)
    assert 4 <= len(questions) <= 6
    for choices in questions:
        verdicts = [choice.split(maxsplit=1)[0] for choice in choices]
        assert len(choices) >= 3
        assert verdicts.count("Right.") == 1
        assert verdicts.count("No.") == len(choices) - 1


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_quiz_explains_every_choice(path):
    assert all(len(choice.split()) >= 6 for choices in quiz(path) for choice in choices)


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_chapter_has_an_explorer(path):
    outputs = [output for cell in code_cells(read_recording(recording_of(path))) for output in cell.outputs]
    pages = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    assert any('class="d2lrnn-explorer"' in page or 'class="d2lrnn-text"' in page for page in pages)


@pytest.mark.parametrize("path", CHAPTERS, ids=name)
def test_headings_go_down_one_level_at_a_time(path):
    prose = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    levels = [len(marks) for marks in re.findall(r"^(#+) ", prose, flags=re.MULTILINE)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_instructors_page_has_every_chapter_and_names_exercises_that_there_are():
    page = (ROOT / "appendix" / "instructors.md").read_text(encoding="utf-8")
    goals, plan = page.split("## Two weeks")
    assert re.findall(r"^\| \[\]\(\.\./(chapters/\S+)\.md\)", goals, re.MULTILINE) == re.findall(
        r"file: (chapters/\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8")
    )
    titles = {
        title
        for path in CHAPTERS
        for title in re.findall(r"\{exercise-start\} (.+)", path.read_text(encoding="utf-8"))
    }
    at_home = [row.split("|")[-2].strip() for row in plan.splitlines() if re.match(r"\| \d", row)]
    named = {title for row in at_home for title in row.split("; ")} - {
        "the quiz",
        "two exercises of the students' choice",
    }
    assert named
    assert named <= titles


def test_every_timeout_is_the_same():
    site = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["execute"]["timeout"]
    assert f"--nbval-cell-timeout={site}" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_lint_reads_the_sources_and_not_only_the_recordings(course):
    course.write("ugly.md", chapter("x=1"))
    shutil.copy(ROOT / "chapters" / "ruff.toml", course.root / "chapters")
    done = course.run("python", "-m", "book.recording.lint")
    assert done.returncode != 0
    assert "ugly.ipynb" in done.stdout
