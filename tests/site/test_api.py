"""The API pages: every public name, from docstrings that are valid reST, and links where chapters name it."""

import ast
import inspect
import io
import pickle
import posixpath
import re
import shutil
import textwrap

import pytest
import torch
import yaml
from docutils import nodes
from docutils.core import publish_doctree
from small_course import ROOT, chapter
from sphinx import addnodes
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.inventory import InventoryFile
from sphinx.util.rst import default_role

import d2lrnn
from book.site.api import names_given
from d2lrnn import check

SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
NAPOLEON = {name: value for name, value in SETTINGS.items() if name.startswith("napoleon_")}
PAGES = sorted(path.stem for path in (ROOT / "api").glob("*.md"))
CLASSES = {name: value for name in d2lrnn.__all__ if inspect.isclass(value := getattr(d2lrnn, name))}
CODE_NODES = (nodes.literal, nodes.literal_block, nodes.doctest_block)
CODE = """\
from d2lrnn import evaluate, train


def forecast(model):
    compare = model
    return compare"""
PROSE = """
## About `tokenize`

Here are `train`, `train(model, corpus)`, `evaluate(model)`, `tokenize`, `forecast`, `compare`,
`d2lrnn.compare`, `Vocab.encode`, `check.num_batches(f)`, `History.plot()`, `num_steps`, `d2lrnn.nothing`
and [`lagged`](https://example.org).
"""


def docstrings():
    """Return every docstring of the package, private ones too, by where it stands."""
    found = {}
    for path in sorted((ROOT / "d2lrnn").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                place = f"{path.relative_to(ROOT).as_posix()} {getattr(node, 'name', '')}"
                found[place] = ast.get_docstring(node) or ""
    return found


def complaints(text):
    """Return what is wrong with a docstring, read as the pages read it; a list that is none counts."""
    config = Config(**NAPOLEON, napoleon_use_ivar=True)  # else attributes need a directive of Sphinx
    said = io.StringIO()
    with default_role("docstring", SETTINGS["default_role"]):
        tree = publish_doctree(
            str(NumpyDocstring(text, config)), settings_overrides={"warning_stream": said, "report_level": 1}
        )
    prose = [part for part in tree.findall(nodes.Text) if not isinstance(part.parent, CODE_NODES)]
    formulas = [f"{part!r} has a formula that is no code" for part in prose if re.search(r"[_^]\{", part)]
    return said.getvalue() + "\n".join(formulas)


def test_docstrings_are_valid():
    said = {place: complaints(text) for place, text in docstrings().items()}
    assert {place: fault for place, fault in said.items() if fault} == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Return |V|, a number.", "Undefined substitution"),
        ("Return ``it.", "start-string without end-string"),
        ("Do it.\n\nReferences\n----------\nR. Pascanu, 2013.", "Enumerated list"),
        ("Return h_{t-1}.", "a formula that is no code"),
        ("Do it.\n\n- one\nand no more", "Bullet list ends without a blank line"),
        ("Do it.\n\n  further in\nand out", "Block quote ends without a blank line"),
    ],
)
def test_a_docstring_that_reads_as_something_else_is_found(text, fault):
    assert fault in complaints(text)


@pytest.fixture(scope="module")
def site(course):
    """Build the whole site and a small chapter from the recordings as they are; no code is executed."""
    for folder in ("api", "appendix", "chapters"):
        shutil.copytree(ROOT / folder, course.root / folder, dirs_exist_ok=True)
    shutil.copy(ROOT / "index.md", course.root)
    (course.root / "chapters" / "small.md").write_text(chapter(CODE) + PROSE, encoding="utf-8")
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    contents = contents.replace("parts:", "parts:\n  - chapters:\n      - file: chapters/small", 1)
    (course.root / "_toc.yml").write_text(contents, encoding="utf-8")
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    config = config.replace("execute_notebooks: cache", "execute_notebooks: 'off'")
    (course.root / "_config.yml").write_text(config, encoding="utf-8")
    done = course.build()
    assert done.returncode == 0, done.stdout + done.stderr
    return course.root / "_build" / "html"


@pytest.fixture(scope="module")
def documented(site):
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", posixpath.join)
    return {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}


@pytest.fixture(scope="module")
def doctrees(site):
    folder = site.parent / ".doctrees" / "api"
    return {page: pickle.loads((folder / f"{page}.doctree").read_bytes()) for page in PAGES}


def members(name, kind):
    """Return the public methods and properties of a class, and the attributes that it sets."""
    found = {
        key
        for key, member in vars(kind).items()
        if isinstance(member, property) or inspect.isfunction(getattr(member, "__func__", member))
    }
    found |= set(getattr(kind, "__dataclass_fields__", ()))
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kind)))):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= {node.attr} if ast.unparse(node.value) == "self" else set()
    return {f"d2lrnn.{name}.{key}" for key in found if not key.startswith("_")}


def test_every_public_name_is_documented_and_nothing_else(documented):
    names = {f"d2lrnn.{name}" for name in d2lrnn.__all__} | {f"d2lrnn.check.{name}" for name in check.__all__}
    inside = {member for name, kind in CLASSES.items() for member in members(name, kind)}
    parameters = {name: inspect.signature(kind).parameters for name, kind in CLASSES.items()}
    given = {f"d2lrnn.{name}.{key}" for name, keys in parameters.items() for key in keys}  # described there
    assert (names | inside) - given - documented == set()
    homes = {f"{kind.__module__}.{kind.__name__}" for kind in [check.WrongAnswer, *CLASSES.values()]}
    assert (
        documented - names - inside - homes == set()
    )  # a class is found by the module it is defined in, too


def test_every_entry_says_something(doctrees):
    entries = [entry for tree in doctrees.values() for entry in tree.findall(addnodes.desc)]
    assert [entry[0].astext() for entry in entries if not entry[-1].astext().strip()] == []


@pytest.mark.parametrize(
    ("page", "file"), [("models", "d2lrnn/__init__.py"), ("models", "d2lrnn/models/concise.py")]
)
def test_a_page_is_read_again_when_the_names_or_a_docstring_changed(page, file, site):
    before = pickle.loads((site.parent / ".doctrees" / "environment.pickle").read_bytes())
    assert file in before.dependencies[f"api/{page}"]


def test_a_name_in_a_docstring_is_code(doctrees):
    assert [tree for tree in doctrees.values() if any(tree.findall(nodes.title_reference))] == []


def test_only_types_of_pytorch_are_not_linked_and_all_of_those_in_use(doctrees, documented):
    wanted = {
        link["reftarget"]
        for tree in doctrees.values()
        for link in tree.findall(addnodes.pending_xref)
        if link["reftype"] == "class"
    }
    ((kind, pattern),) = SETTINGS["nitpick_ignore_regex"]
    ignored = {name for name in wanted if re.fullmatch(pattern, name)}
    assert kind == "py:class"
    assert "nitpick_ignore" not in SETTINGS
    assert ignored
    assert all(inspect.isclass(getattr(torch.nn, name.removeprefix("nn."))) for name in ignored)


def links(site, page):
    """Return what a page's links to the API say, with the name that each leads to."""
    text = (site / f"{page}.html").read_text(encoding="utf-8")
    found = re.findall(r'<a class="reference internal" href="\.\./api/([^"]+)#([^"]+)"[^>]*>(.*?)</a>', text)
    for file, anchor, _ in found:
        assert f'id="{anchor}"' in (site / "api" / file).read_text(encoding="utf-8")
    return [(re.sub("<[^>]+>", "", words), anchor) for _, anchor, words in found]


def test_the_first_mention_of_a_name_in_a_chapter_leads_to_its_entry(site):
    assert links(site, "chapters/small") == [
        ("train", "d2lrnn.train"),
        ("evaluate(model)", "d2lrnn.evaluate"),
        ("tokenize", "d2lrnn.tokenize"),
        ("d2lrnn.compare", "d2lrnn.compare"),
        ("Vocab.encode", "d2lrnn.Vocab.encode"),
        ("check.num_batches(f)", "d2lrnn.check.num_batches"),
        ("History.plot()", "d2lrnn.History.plot"),
    ]


def test_chapters_link_each_name_at_most_once(site):
    pages = sorted(path.stem for path in (ROOT / "chapters").glob("*.md"))
    anchors = {page: [anchor for _, anchor in links(site, f"chapters/{page}")] for page in pages}
    assert all(len(set(found)) == len(found) for found in anchors.values())
    assert "d2lrnn.train" in anchors["rnn"]


def test_an_entry_links_other_names_and_not_its_own_parameters(site):
    page = (site / "api" / "text.html").read_text(encoding="utf-8")
    entry = page[page.index('id="d2lrnn.unseen_share"') : page.index('id="d2lrnn.zipf_fit"')]
    assert '<span class="pre">train</span>' in entry
    assert "#d2lrnn.train" not in entry
    assert 'href="#d2lrnn.CORPORA"' in page[page.index('id="d2lrnn.load_text"') :]


def test_a_constant_is_described_by_the_comment_at_its_definition(site):
    text = re.sub("<[^>]+>", "", (site / "api" / "drawing.html").read_text(encoding="utf-8"))
    assert "The colours of curves, in order" in text
    assert "Built-in immutable sequence" not in text


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(x):\n    y = x", {"f", "y"}),
        ("class A:\n    pass", {"A"}),
        ("for i in a: pass", {"i"}),
        ("from d2lrnn import train", set()),
        ("train(model)", set()),
        ("a.train = 1", set()),
        ("for epoch in", set()),  # a piece of a statement
    ],
)
def test_code_gives_names_a_meaning_by_defining_them(code, names):
    assert names_given([code]) == names
