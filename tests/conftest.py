import shutil

import pytest
from small_course import ROOT, Course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("course")
    ignore = shutil.ignore_patterns("__pycache__", "*.ipynb")
    for folder in ("book", "d2lrnn", "_static"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignore)
    for file in ("_config.yml", "conftest.py", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / file, root / file)
    (root / "chapters").mkdir()
    (root / "index.md").write_text("# A small course\n", encoding="utf-8")
    return Course(root)
