"""The site as a reader meets it: recordings are shown while they hold, and anything else is executed."""

import re
from importlib.metadata import version

import pytest
from small_course import chapter

from d2lrnn import __version__

SMALL = """\
import numpy as np

from d2lrnn import clean_lines

print(clean_lines("A René!"), np.multiply(6, 7))"""


@pytest.fixture(scope="module")
def built(course):
    course.write("small.md", chapter(SMALL))
    assert course.record().returncode == 0
    done = course.build()
    assert done.returncode == 0, done.stdout + done.stderr
    return course, done.stdout + done.stderr


@pytest.fixture
def edit(built):
    """Return a function that replaces text in a file of the course until the test is over."""
    before = {}

    def replace(name, old, new):
        path = built[0].root / name
        before.setdefault(path, path.read_text(encoding="utf-8"))
        now = path.read_text(encoding="utf-8")
        assert old in now
        path.write_text(now.replace(old, new), encoding="utf-8")

    yield replace
    for path, text in before.items():
        path.write_text(text, encoding="utf-8")


def test_page_shows_the_recorded_output(built):
    assert "['a rene'] 42" in built[0].page("small.html")


def test_a_recording_that_holds_is_not_executed(built):
    assert "Executing notebook" not in built[1]


ANOTHER_NAME = (".translate(_LATIN)", '.translate(_LATIN).replace("rene", "renata")')  # an edit


def test_page_shows_the_new_output_when_the_package_changed(built, edit):
    edit("d2lrnn/text/tokens.py", *ANOTHER_NAME)
    done = built[0].build()
    assert "chapters/small is executed: d2lrnn/text/tokens.py changed" in done.stdout
    assert "['a renata'] 42" in built[0].page("small.html")


def test_regression_names_the_cell_when_the_package_changed(built, edit):
    edit("d2lrnn/text/tokens.py", *ANOTHER_NAME)
    assert "FAILED chapters/small.ipynb::Cell 1 " in built[0].regress().stdout


def test_page_is_executed_when_a_text_changed(built, edit):
    edit("d2lrnn/data/tide_clock.txt", "Françoise", "Françoise the Second")
    assert "chapters/small is executed: d2lrnn/data/tide_clock.txt changed" in built[0].build().stdout


def test_page_is_executed_when_a_file_beside_the_chapters_changed(built, edit):
    extra = built[0].root / "chapters" / "numbers.csv"
    extra.write_text("1\n", encoding="utf-8")
    output = built[0].build().stdout
    extra.unlink()
    assert "chapters/small is executed: chapters/numbers.csv is new" in output


def test_page_offers_the_recording(built):
    page = built[0].root / "_build" / "html" / "chapters" / "small.html"
    address = re.search(
        r'href="([^"]+)"[^>]*>\s*<span[^>]*>\s*<i class="fas fa-code', page.read_text(encoding="utf-8")
    )
    recording = built[0].root / "chapters" / "small.ipynb"
    assert (page.parent / address[1]).read_bytes() == recording.read_bytes()


def test_a_build_that_failed_for_a_warning_fails_again(built, edit):
    edit("index.md", "# A small course", "# A small course\n\nSee [nothing](nothing.md).")
    assert [built[0].build().returncode != 0 for _ in range(2)] == [True, True]


def test_page_is_executed_when_its_recording_was_edited_by_hand(built, edit):
    edit("chapters/small.ipynb", "['a rene'] 42", "['a rene'] 43")
    assert "chapters/small is executed: its outputs were edited by hand" in built[0].build().stdout
    assert "['a rene'] 42" in built[0].page("small.html")


def test_a_name_more_in_the_package_leaves_recordings_valid(built, edit):
    edit("d2lrnn/__init__.py", '("BPETokenizer",)', '("BPETokenizer", "Other")')
    assert "is executed" not in built[0].build().stdout


def test_another_version_of_the_course_leaves_recordings_valid(built, edit):
    edit("d2lrnn/__init__.py", f'__version__ = "{__version__}"', '__version__ = "99.0"')
    assert "is executed" not in built[0].build().stdout


def test_a_pin_of_a_package_that_no_chapter_uses_leaves_recordings_valid(built, edit):
    edit("requirements.txt", f"statsmodels=={version('statsmodels')}", "nowhere==1.0")
    assert "is executed" not in built[0].build().stdout


def test_a_build_without_a_package_that_a_chapter_was_recorded_with_shows_the_recording(built, edit):
    edit("chapters/small.ipynb", f'"numpy": "{version("numpy")}"', '"nowhere": "1.0"')
    edit("requirements.txt", f"numpy=={version('numpy')}", "nowhere==1.0")
    assert "is executed" not in built[0].build().stdout


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("chapters/small.md", "import numpy as np", "import nowhere as np", "the chapter's code changed"),
        ("chapters/small.ipynb", '"numpy": "', '"nowhere": "', "nowhere is not pinned any more"),
    ],
    ids=["imported", "recorded with"],
)
def test_a_stale_chapter_stops_the_build_where_a_package_that_it_needs_is_missing(
    name, old, new, why, built, edit
):
    edit(name, old, new)
    done = built[0].build()
    line = f"chapters/small must be executed, since {why}, and needs nowhere: run `python -m pip install"
    assert done.returncode == 1
    assert line in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_build_refuses_code_on_a_page_that_is_not_recorded(built, edit):
    edit("index.md", "# A small course\n", chapter("1 + 1"))
    done = built[0].build()
    assert done.returncode != 0
    assert "index has code cells" in done.stdout + done.stderr


def test_page_is_executed_when_its_recording_was_made_with_another_version(built, edit):
    edit("chapters/small.ipynb", f'"numpy": "{version("numpy")}"', '"numpy": "1.0.0"')
    output = built[0].build().stdout
    assert f"chapters/small is executed: numpy was 1.0.0, now {version('numpy')}" in output


def test_page_shows_the_recording_again_when_the_change_is_undone(built, edit):
    edit("d2lrnn/text/tokens.py", *ANOTHER_NAME)
    built[0].build()
    edit("d2lrnn/text/tokens.py", *reversed(ANOTHER_NAME))
    built[0].build()
    assert "['a rene'] 42" in built[0].page("small.html")


@pytest.mark.parametrize("code", ["1 / 0", "import time\n\ntime.sleep(60)"], ids=["raises", "times out"])
def test_build_fails_naming_the_page_whose_cell(code, built, edit):
    edit("_config.yml", "timeout: 300", "timeout: 3")
    edit("chapters/small.md", "print(", f"{code}\nprint(")
    done = built[0].build()
    assert done.returncode != 0
    assert "chapters/small.md" in done.stdout + done.stderr


def test_a_site_that_knows_its_address_has_a_sitemap(built, monkeypatch):
    monkeypatch.setenv("D2LRNN_SITE", "https://example.org/course")
    assert built[0].build().returncode == 0
    html = built[0].root / "_build" / "html"
    addresses = re.findall("<loc>(.*)</loc>", (html / "sitemap.xml").read_text(encoding="utf-8"))
    assert addresses == [f"https://example.org/course/{page}.html" for page in ("chapters/small", "index")]
    page = (html / "chapters" / "small.html").read_text(encoding="utf-8")
    assert '<link rel="canonical" href="https://example.org/course/chapters/small.html" />' in page
    assert 'href="https://example.org/course/"' in (html / "404.html").read_text(encoding="utf-8")


def test_a_site_without_an_address_has_no_sitemap(built):
    (built[0].root / "_build" / "html" / "sitemap.xml").unlink(missing_ok=True)
    assert built[0].build().returncode == 0
    assert not (built[0].root / "_build" / "html" / "sitemap.xml").exists()
