"""Explorers: what they hand to Jupyter, on a page without a kernel and in one with a person at it."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from book.recording.compare import differences
from d2lrnn import explore, plot_curves
from d2lrnn.drawing import explorers
from d2lrnn.drawing.explorers import _pack
from d2lrnn.drawing.figures import SERIES_MIME

WIDGET = "application/vnd.jupyter.widget-view+json"


def draw(lags, horizon=1, ylabel="error"):
    plot_curves({"model": ([1, 2, 3], [lags, 2 * horizon, 3])}, xlabel="step", ylabel=ylabel, ylim=(0, 20))


@pytest.fixture(scope="module")
def explorer():
    return explore(draw, lags=[1, 2, 4], horizon=[1, 8])


@pytest.fixture(scope="module")
def bundle(explorer):
    return explorer._repr_mimebundle_()


@pytest.fixture
def person(monkeypatch):
    """Put a person at the kernel."""
    monkeypatch.setattr(explorers, "interactive", lambda: True)


class Page(HTMLParser):
    """Collects the elements of a page as (tag, attributes), and the texts of scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("img", "input", "meta"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1:] == ["script"]:
            self.scripts.append(text)

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def frames_of(text):
    """Put the pictures together as the page's script does."""
    data = json.loads(Page(text).scripts[0])
    pictures = []
    for own in data["frames"]:
        own = iter(own)
        pictures.append("".join(next(own) if part is None else part for part in data["common"]))
    return pictures


# What is handed to Jupyter


def test_bundle_has_description_page_and_series(bundle):
    assert bundle.keys() == {"text/plain", "text/html", "image/png", SERIES_MIME}


def test_description_names_the_grids_and_says_the_first_figure(bundle):
    assert bundle["text/plain"] == (
        "Explorer over lags: 1, 2, 4; horizon: 1, 8. At lags 1, horizon 1: Line chart of error against step. "
        "model: from 1 at 1 to 3 at 3."
    )


def test_series_of_every_choice_are_published(bundle):
    choices = {f"lags {lags}, horizon {horizon}" for lags in (1, 2, 4) for horizon in (1, 8)}
    assert bundle[SERIES_MIME].keys() == {"grids", *choices}


def test_published_series_are_the_plotted_numbers(bundle):
    assert bundle[SERIES_MIME]["lags 4, horizon 8"]["series"] == {"model": {"x": [1, 2, 3], "y": [4, 16, 3]}}


def test_same_explorer_is_written_the_same_twice(bundle):
    assert explore(draw, lags=[1, 2, 4], horizon=[1, 8])._repr_mimebundle_() == bundle


def test_comparison_finds_a_number_that_moved_in_any_figure(bundle):
    moved = json.loads(json.dumps(bundle))
    moved[SERIES_MIME]["lags 2, horizon 8"]["series"]["model"]["y"][1] *= 1.01
    outputs = [[{"output_type": "execute_result", "data": data}] for data in (bundle, moved)]
    assert "lags 2, horizon 8: series: model: y: point 1" in differences(*outputs)[0]


def test_comparison_accepts_rounding_noise(bundle):
    moved = json.loads(json.dumps(bundle))
    moved[SERIES_MIME]["lags 2, horizon 8"]["series"]["model"]["y"][1] *= 1 + 1e-9
    outputs = [[{"output_type": "execute_result", "data": data}] for data in (bundle, moved)]
    assert differences(*outputs) == []


# The page without a kernel


def test_page_is_well_formed(bundle):
    assert Page(bundle["text/html"]).open == []


def test_page_loads_nothing(bundle):
    page = Page(bundle["text/html"])
    assert not [a for _, a in page.elements if {"srcset", "data", "action"} & a.keys()]
    assert [a["src"][:22] for _, a in page.elements if "src" in a] == ["data:image/png;base64,"]
    assert all(a.get("href", "#").startswith("#") for _, a in page.elements)
    assert not re.search(r"url\((?!#)|@import|fetch\(|import\(", bundle["text/html"])


def test_numbers_get_a_slider_with_a_label(bundle):
    page = Page(bundle["text/html"])
    assert [(a["type"], a["max"]) for a in page.of("input")] == [("range", "2"), ("range", "1")]
    assert len(page.of("label")) == 2


def test_slider_says_the_value_and_not_its_place(bundle):
    first = Page(bundle["text/html"]).of("input")[0]
    assert (first["aria-valuetext"], json.loads(first["data-values"])) == ("1", ["1", "2", "4"])


def test_texts_get_a_menu():
    page = Page(explore(draw, lags=[1], ylabel=["error", "<loss>"]).html())
    assert [a["value"] for a in page.of("option")] == ["0", "1"]


def test_arrow_keys_on_a_control_are_not_taken_by_jupyterlab(bundle):
    page = Page(bundle["text/html"])
    assert all(a["data-lm-suppress-shortcuts"] == "true" for a in page.of("input"))


def test_controls_are_hidden_until_the_script_runs(bundle):
    controls = [a for a in Page(bundle["text/html"]).of("div") if a.get("class") == "d2lrnn-controls"]
    assert "hidden" in controls[0]


def test_first_figure_stands_on_the_page_without_the_script(bundle):
    before_data = bundle["text/html"].split("<script")[0]
    assert before_data.count("<svg") == 1
    assert frames_of(bundle["text/html"])[0] in before_data


def test_first_figure_is_a_picture_too_for_where_scripts_and_drawings_are_stripped(bundle):
    image = Page(bundle["text/html"]).of("img")[0]
    assert image["src"] == f"data:image/png;base64,{bundle['image/png']}"
    assert image["alt"].startswith("Line chart of error against step. model: from 1 at 1")


def test_script_shows_the_figures_in_order_of_the_choices(bundle):
    pictures = frames_of(bundle["text/html"])
    assert len(pictures) == 6
    for picture, (lags, horizon) in zip(
        pictures, [(1, 1), (1, 8), (2, 1), (2, 8), (4, 1), (4, 8)], strict=True
    ):
        assert f"model: from {lags} at 1 to 3 at 3" in picture
        assert ("highest 16 at 2" in picture) == (horizon == 8)


def test_every_figure_is_said_in_words(bundle):
    words = bundle["text/html"].split("<tbody>")[1].split("</tbody>")[0]
    assert words.count("<tr>") == words.count("Line chart of error") == 6


def test_pictures_of_an_explorer_use_only_ids_that_they_have(bundle):
    for picture in frames_of(bundle["text/html"]):
        assert set(re.findall(r'(?:url\(|href=")#([\w-]+)', picture)) <= set(
            re.findall(r' id="([^"]+)"', picture)
        )


def test_two_explorers_share_no_id(bundle):
    other = explore(draw, lags=[2, 3]).html()
    first, second = (set(re.findall(r' id="([^"]+)"', text)) for text in (bundle["text/html"], other))
    assert first
    assert not first & second


def test_data_cannot_end_the_script_early(bundle):
    data = Page(bundle["text/html"]).scripts[0]
    assert "<\\/svg>" in data
    assert "</" not in data


def test_script_is_the_same_in_every_explorer(bundle):
    assert Page(bundle["text/html"]).scripts[1] == Page(explore(draw, lags=[7]).html()).scripts[1]


pictures = st.lists(st.text("<ab>", max_size=12), min_size=1, max_size=4)


@given(pictures)
def test_packed_pictures_come_out_as_they_went_in(given_pictures):
    packed = _pack(given_pictures)
    for picture, own in zip(given_pictures, packed["frames"], strict=True):
        own = iter(own)
        assert "".join(next(own) if part is None else part for part in packed["common"]) == picture
        assert next(own, None) is None


def test_pictures_that_differ_in_one_part_are_stored_once():
    packed = _pack(["<a><b1><c>", "<a><b2><c>"])
    assert packed == {"common": ["<a>", None, "<c>"], "frames": [["<b1>"], ["<b2>"]]}


# A kernel with a person at it


def test_person_gets_a_widget_beside_the_page(person, explorer):
    kinds = {"text/plain", "text/html", "image/png", SERIES_MIME, WIDGET}
    assert explorer._repr_mimebundle_().keys() == kinds


def test_widget_draws_the_first_choice_first(explorer):
    assert "model: from 1 at 1" in explorer.widget().children[-1].value


def test_widget_draws_anew_between_the_values_of_the_grid(explorer):
    lags, _, view = explorer.widget().children
    lags.value = 3
    assert "model: from 3 at 1" in view.value


def test_widget_of_texts_is_a_menu():
    menu = explore(draw, lags=[1], ylabel=["error", "loss"]).widget().children[1]
    assert menu.options == ("error", "loss")


def test_widget_of_other_numbers_keeps_to_the_grid():
    slider = explore(draw, lags=[0.5, 2.0]).widget().children[0]
    assert slider.options == (0.5, 2.0)


def test_widget_says_what_went_wrong():
    def fails_on_two(lags):
        if lags == 2:
            raise ZeroDivisionError("two <lags>")
        draw(lags)

    lags, view = explore(fails_on_two, lags=[1, 3]).widget().children
    lags.value = 2
    assert view.value == "<pre>ZeroDivisionError: two &lt;lags&gt;</pre>"


# Bad input


@pytest.mark.parametrize(
    ("grids", "error", "message"),
    [
        ({}, ValueError, "grids must name at least one argument of draw, got none"),
        ({"lags": []}, ValueError, r"lags must hold at least one value and none twice, got \[\]"),
        ({"lags": [1, 1]}, ValueError, r"none twice, got \[1, 1\]"),
        ({"lags": [1, 1.0]}, ValueError, "none twice"),
        ({"lags": 3}, TypeError, r"lags must be a sequence of values, got 3 \(int\)"),
        ({"lags": "123"}, TypeError, "lags must be a sequence of values, got '123'"),
        (
            {"lags": [1, "2"]},
            TypeError,
            r"lags must hold numbers or texts, and only one of them, got \[1, '2'\]",
        ),
        ({"lags": [True, False]}, TypeError, "lags must hold numbers or texts"),
        ({"lags": range(15), "horizon": range(14)}, ValueError, "at most 200 combinations, got 210"),
        ({"lags": range(10**9), "horizon": range(10**9)}, ValueError, f"combinations, got {10**18}"),
        ({"lags": range(10**30)}, ValueError, r"lags must hold at most 200 values, got range\(0, 1000"),
        ({"lags": [10**5000]}, ValueError, "lags must hold finite numbers that fit a float, got a number of"),
        ({"lags": [10**5000, "a"]}, TypeError, "lags must hold numbers or texts, and only one of them"),
        (
            {"a": ["x", "x, b y"], "b": ["z", "y, b z"]},
            ValueError,
            "grids must make choices that read differently, .* both read 'a x, b y, b z'",
        ),
        ({"lags": {1, 2}}, TypeError, "lags must be a sequence of values, got {1, 2}"),
        ({"lags": b"12"}, TypeError, "lags must be a sequence of values, got b'12'"),
        ({"lags": np.array(3)}, TypeError, r"lags must be a sequence of values, got array\(3\)"),
        ({"lags": np.ones((2, 2))}, TypeError, "lags must hold numbers or texts"),
        ({"lags": np.array([True, False])}, TypeError, "lags must hold numbers or texts"),
        ({"lags": [np.int64(1), 1]}, ValueError, "none twice"),
        ({"lags": [1.0, float("nan")]}, ValueError, "lags must hold finite numbers"),
        ({"ylabel": ["a", "\ud800"]}, ValueError, "a value in ylabel must be text that UTF-8 can write"),
    ],
)
def test_bad_grid_is_named(grids, error, message):
    with pytest.raises(error, match=message):
        explore(draw, **grids)


@pytest.mark.parametrize(
    "choices",
    [
        (1, 2, 4),
        [np.int64(1), np.int32(2), np.uint8(4)],
        np.array([1, 2, 4]),
        np.array([1, 2, 4], dtype=object),
        torch.tensor([1, 2, 4]),
        list(torch.tensor([1, 2, 4])),
    ],
    ids=lambda choices: type(choices).__name__,
)
def test_choices_of_every_kind_make_the_same_explorer(choices, bundle):
    assert explore(draw, lags=choices, horizon=np.array([1, 8]))._repr_mimebundle_() == bundle


def test_draw_is_given_python_s_own_values():
    kinds = []

    def note(lags, ylabel):
        kinds.append((type(lags), type(ylabel)))
        draw(lags, ylabel=ylabel)

    explore(note, lags=torch.tensor([0.5], dtype=torch.bfloat16), ylabel=np.array(["a"]))
    assert kinds == [(float, str)]


def test_person_sees_how_far_the_drawing_is(monkeypatch):
    seen = []
    monkeypatch.setattr(explorers, "watched", lambda choices: seen.append(len(choices)) or choices)
    explore(draw, lags=[1, 2])
    assert seen == [2]


def test_draw_that_cannot_be_called_is_named():
    with pytest.raises(TypeError, match="draw must be callable, got 3"):
        explore(3, lags=[1])


@pytest.mark.parametrize("times", [0, 2])
def test_draw_must_show_one_figure(times):
    def shows(lags):
        for _ in range(times):
            draw(lags)

    with pytest.raises(ValueError, match=f"draw must show one figure, got {times} for lags 1"):
        explore(shows, lags=[1])
