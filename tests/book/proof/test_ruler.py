"""The ruler: what it counts on a page of known heights, and the table it prints."""

import pytest
from browsing import chromium

from book.proof import ruler
from book.proof.ruler import Proportions, covered, measure, table

# A text of 2,000 pixels: 500 of code, of which a further 100 are folded; from 800 on 400 of pictures.
PAGE = """<!doctype html><style>* { margin: 0; padding: 0; border: 0 } div, svg { display: block }</style>
<header style="height: 50px"></header>
<article>
<div style="height: 100px"><svg width="20" height="20"></svg></div>
<div class="cell_input" style="height: 300px"><div class="highlight" style="height: 300px"></div></div>
<details><summary style="height: 0; overflow: hidden; display: block"></summary>
<div class="cell_input" style="height: 100px"></div></details>
<div class="cell_output" style="height: 400px"><div class="highlight" style="height: 400px"></div></div>
<div class="d2lrnn-explorer" style="height: 300px"><svg width="9" height="200"></svg></div>
<div class="highlight" style="height: 200px"></div>
<svg width="50" height="100"></svg>
<svg style="visibility: hidden" width="50" height="600"></svg>
</article>"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    with chromium() as browser:
        yield measure(browser.new_page(viewport={"width": 1440, "height": 900}), path)


def test_height_is_that_of_the_text(measured):
    assert measured.height == 2000


def test_code_is_what_is_seen_of_it_once_and_no_output(measured):
    assert measured.code == pytest.approx(500 / 2000)


def test_pictures_are_explorers_and_what_is_not_small_or_hidden(measured):
    assert measured.pictures == pytest.approx(400 / 2000)


def test_the_first_picture_is_where_it_begins_on_the_page(measured):
    assert measured.first_picture == 850


def test_spans_that_overlap_count_once():
    assert covered([(0, 10), (5, 20), (6, 7), (30, 31)]) == 21


@pytest.mark.parametrize(
    ("page", "stars"),
    [
        (Proportions(9000, 0.33, 0.17, 900), 0),
        (Proportions(9000, 0.34, 0.16, 901), 3),
        (Proportions(9000, 0.1, 0.0, None), 2),
    ],
)
def test_what_misses_an_aim_has_a_star(page, stars):
    assert table({"rnn": page}).count("*") == stars


def test_a_word_that_names_no_chapter_is_named_in_one_line(capsys):
    assert ruler.main(["rnn", "nothing"]) == 2
    assert capsys.readouterr().err.startswith("'nothing' is no chapter with code; there are: ")
