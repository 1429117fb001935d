"""What a recording says that it was made from, and what of that makes it stale."""

import json
from importlib import metadata
from pathlib import Path

import nbformat
import pytest

from book.recording import provenance
from book.recording.notebooks import CHAPTERS, ROOT
from book.recording.provenance import KEY

PACKAGE = ROOT / "d2lrnn"


def notebook(*cells, outputs=()):
    code = [nbformat.v4.new_code_cell(cell, outputs=list(outputs)) for cell in cells]
    return nbformat.v4.new_notebook(cells=code)


def described(source=None, bare=(), **modules):
    """Return the provenance of a chapter whose kernel came to load modules, given with their files."""
    source = source or notebook("1 + 1")
    loaded = {name.replace("__", "."): str(file) if file else None for name, file in modules.items()}
    return provenance.describe(source, notebook("# set up", "1 + 1"), bare, loaded, provenance.NO_MARGINS)


def own_files(**modules):
    data = {path.relative_to(ROOT).as_posix() for path in provenance.data_files()}
    return set(described(**modules)["files"]) - data


@pytest.fixture
def init(tmp_path):
    """Return a function that writes a package's first file and returns its digest."""

    def write(version="1.0", names='"bpe": ("BPE",)', code="x = 1", name="__init__.py"):
        path = tmp_path / name
        path.write_bytes(f'__version__ = "{version}"\n\n_MODULES = {{\n    {names},\n}}\n{code}\n'.encode())
        return provenance.digest(path)

    return write


def test_neither_version_nor_table_of_names_is_in_a_package_s_digest(init):
    assert init() == init(version="2.0") == init(names='"bpe": ("BPE", "Other")')


def test_code_is_in_a_package_s_digest(init):
    assert init() != init(code="x = 2")


def test_version_is_in_the_digest_of_another_file(init):
    assert init(name="other.py") != init(version="2.0", name="other.py")


def test_digest_is_the_same_with_the_line_ends_of_another_system(tmp_path):
    for name, end in (("a", b"\n"), ("b", b"\r\n")):
        (tmp_path / name).write_bytes(b"one" + end + b"two" + end)
    assert provenance.digest(tmp_path / "a") == provenance.digest(tmp_path / "b")


def test_the_package_s_own_table_and_version_are_found():
    """The digest leaves them out by how they are written."""
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    assert text.count("\n__version__ = ") == text.count("\n_MODULES = {\n") == 1


def recording(**changes):
    noted = {"code": "c", "files": {"d2lrnn/files.py": "f"}, "outputs": "o", "versions": {"numpy": "2"}}
    return nbformat.v4.new_notebook(metadata={KEY: {**noted, "python": "3.11.1", "margins": {}, **changes}})


@pytest.mark.parametrize("changes", [{"code": "d"}, {"outputs": "p"}, {"versions": {"numpy": "3"}}])
def test_key_changes_with_code_outputs_and_pins(changes):
    assert provenance.key(recording(**changes)) != provenance.key(recording())


@pytest.mark.parametrize("changes", [{"files": {}}, {"python": "3.12.1"}, {"margins": {"grid": -15}}])
def test_key_stays_with_anything_else(changes):
    assert provenance.key(recording(**changes)) == provenance.key(recording())


def test_files_are_those_of_the_package_that_were_loaded():
    loaded = {"d2lrnn": PACKAGE / "__init__.py", "d2lrnn__text__bpe": PACKAGE / "text" / "bpe.py"}
    assert own_files(**loaded, json=Path(json.__file__)) == {"d2lrnn/__init__.py", "d2lrnn/text/bpe.py"}


def test_files_hold_what_lies_beside_the_chapters_and_the_package_s_data():
    files = described()["files"]
    assert {name for name in files if name.startswith("d2lrnn/data/")} == {
        f"d2lrnn/data/{path.name}" for path in (PACKAGE / "data").iterdir()
    }


def test_style_sheet_and_script_of_a_module_are_among_the_files():
    assert own_files(d2lrnn__drawing__explorers=PACKAGE / "drawing" / "explorers.py") == {
        f"d2lrnn/drawing/explorers.{kind}" for kind in ("css", "js", "py")
    }


def test_every_file_of_the_package_that_is_no_code_is_data_or_has_the_name_of_a_module():
    others = {path for path in PACKAGE.rglob("*.*") if path.suffix not in (".py", ".pyc", ".typed")}
    assert {path for path in others if not path.with_suffix(".py").is_file()} <= {
        *(PACKAGE / "data").iterdir()
    }


def test_a_module_beside_the_chapters_is_among_the_files():
    helper = CHAPTERS / "helper" / "tool.py"
    assert provenance.own_files({"helper.tool": str(helper)}) == {helper}


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("d2lrnn", "/elsewhere/d2lrnn/__init__.py"),
        ("d2lrnn__files", "/elsewhere/d2lrnn/files.py"),
        ("d2lrnn__text__bpe", "/elsewhere/d2lrnn/text/bpe.py"),
        ("d2lrnn__text__bpe", "/elsewhere/main/d2lrnn/d2lrnn/text/bpe.py"),
        ("d2lrnn__text__bpe", "/elsewhere/bundle.zip/d2lrnn/text/bpe.pyc"),
        ("d2lrnn__check", None),
    ],
)
def test_a_package_from_outside_the_checkout_is_refused(module, file):
    with pytest.raises(RuntimeError, match=r"was imported from outside this checkout .*pip install -e"):
        described(**{module: file})


def test_a_copy_of_the_package_that_differs_in_its_data_alone_is_refused(tmp_path):
    (tmp_path / "d2lrnn").mkdir()
    copy = tmp_path / "d2lrnn" / "__init__.py"
    copy.write_bytes((PACKAGE / "__init__.py").read_bytes())
    with pytest.raises(RuntimeError, match="outside this checkout"):
        described(d2lrnn=copy)


def test_pins_are_those_of_requirements_by_the_packages_names():
    pins = provenance.pinned_versions()
    assert {"ipython", "jupyter-book", "pillow", "pyyaml", "torch"} <= pins.keys()


def test_versions_are_of_the_pinned_packages_that_the_kernel_came_to_load():
    versions = described(bare=["json", "IPython"], json=None, IPython=None, PIL__Image=None, pytest=None)
    assert versions["versions"] == {"pillow": metadata.version("pillow")}


def test_what_every_kernel_loads_counts_if_the_chapter_imports_it():
    source = notebook("from IPython.display import Markdown")
    assert list(described(source, bare=["IPython"], IPython=None)["versions"]) == ["ipython"]


def test_what_every_kernel_loads_counts_if_the_package_imports_it():
    module = PACKAGE / "_kernel.py"
    versions = described(bare=["IPython"], IPython=None, d2lrnn___kernel=module)["versions"]
    assert list(versions) == ["ipython"]


def test_what_is_imported_and_was_never_loaded_does_not_count():
    assert described(notebook("if False:\n    import torch"))["versions"] == {}


def test_a_version_is_without_its_local_part(monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda _name: "2.0+cpu")
    assert provenance.installed_versions()["torch"] == "2.0"


def missing(name):
    raise metadata.PackageNotFoundError(name)


def test_where_a_package_is_not_installed_its_pin_counts(monkeypatch):
    monkeypatch.setattr(metadata, "version", missing)
    assert provenance.installed_versions() == provenance.pinned_versions()


def test_packages_that_a_recording_was_made_with_and_that_are_not_there_are_named():
    made = recording(versions={"numpy": "2", "nowhere": "1.0"})
    assert provenance.not_installed(made) == ["nowhere"]
    assert provenance.not_installed(nbformat.v4.new_notebook()) == []


def whole():
    """Return a chapter and a recording of it that holds."""
    source, made = notebook("1 + 1"), notebook("# set up", "1 + 1")
    modules = {"d2lrnn.files": str(PACKAGE / "files.py"), "numpy": None}
    made.metadata[KEY] = provenance.describe(source, made, (), modules, provenance.NO_MARGINS)
    return source, made


def changes(source, made, **versions):
    return provenance.changes(made, source, {**provenance.installed_versions(), **versions})


def test_a_recording_of_today_holds():
    assert changes(*whole()) == []


def test_another_version_of_a_package_that_was_used_makes_a_recording_stale():
    assert changes(*whole(), numpy="1.0") == [f"numpy was {metadata.version('numpy')}, now 1.0"]


def test_another_version_of_a_package_that_was_not_used_leaves_a_recording_valid():
    assert changes(*whole(), torch="1.0") == []


def test_a_package_that_is_not_pinned_any_more_makes_a_recording_stale():
    source, made = whole()
    assert provenance.changes(made, source, {}) == ["numpy is not pinned any more"]


def test_changed_code_is_named():
    source, made = whole()
    source.cells[0].source = "2 + 2"
    assert changes(source, made) == ["the chapter's code changed"]


def test_a_file_that_changed_or_is_gone_is_named():
    source, made = whole()
    made.metadata[KEY]["files"].update({"d2lrnn/files.py": "another", "d2lrnn/gone.py": "f"})
    assert changes(source, made) == ["d2lrnn/files.py changed", "d2lrnn/gone.py is gone"]


def test_a_data_file_that_is_new_is_named():
    source, made = whole()
    del made.metadata[KEY]["files"]["d2lrnn/data/tide_clock.txt"]
    assert changes(source, made) == ["d2lrnn/data/tide_clock.txt is new"]


def test_a_recording_that_says_nothing_of_itself_is_stale():
    assert changes(notebook("1 + 1"), notebook("1 + 1")) == [
        "it has no recording that says what it was made from"
    ]
