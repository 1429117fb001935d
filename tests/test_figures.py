import re

import matplotlib as mpl
import pytest

from d2lrnn import figures, new_figure, plot_curves, show
from d2lrnn.figures import PALETTE, SERIES_MIME

LIGHT, DARK = "#ffffff", "#121212"  # the theme's page colours


@pytest.fixture
def shown(monkeypatch):
    """Return the list that displayed bundles are put in."""
    bundles = []
    monkeypatch.setattr(figures, "display", lambda bundle, **_: bundles.append(bundle))
    return bundles


def plot(**changes):
    arguments = {"curves": {"loss": ([1, 2, 3], [3.0, 1.0, 2.0])}, "xlabel": "epoch", "ylabel": "loss"}
    plot_curves(**{**arguments, **changes})


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    """Return the contrast ratio of two colours as WCAG 2.2 defines it."""
    darker, lighter = sorted((luminance(a), luminance(b)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("page", [LIGHT, DARK])
@pytest.mark.parametrize("colour", PALETTE)
def test_curves_stand_out_on_a_light_and_on_a_dark_page(colour, page):
    assert contrast(colour, page) >= 4


def test_figure_publishes_description_picture_and_series(shown):
    plot()
    assert shown[0].keys() == {"text/plain", "text/html", SERIES_MIME}


def test_published_series_are_the_plotted_numbers(shown):
    plot()
    assert shown[0][SERIES_MIME]["series"] == {"loss": {"x": [1, 2, 3], "y": [3, 1, 2]}}


def test_description_is_made_from_the_data(shown):
    plot()
    expected = "Line chart of loss against epoch. loss: from 3 at 1 to 2 at 3, lowest 1 at 2."
    assert shown[0]["text/plain"] == expected


def test_description_is_the_alternative_text(shown):
    show(new_figure(), 'a "steep" curve & more', {"y": [1, 2]})
    assert 'aria-label="a &quot;steep&quot; curve &amp; more"' in shown[0]["text/html"]


def test_text_takes_the_page_s_colour(shown):
    plot()
    assert "currentColor" in shown[0]["text/html"]
    assert "#000000" not in shown[0]["text/html"]


def test_text_is_text(shown):
    plot()
    assert re.search(r"<text[^>]*>epoch</text>", shown[0]["text/html"])


def test_same_figure_is_written_the_same_twice(shown):
    plot()
    plot()
    assert shown[0] == shown[1]


def test_two_figures_share_no_id(shown):
    plot()
    plot(ylabel="other")
    first, second = (set(re.findall(r' id="([^"]+)"', bundle["text/html"])) for bundle in shown)
    assert first
    assert not first & second


def test_long_series_are_thinned_to_200_points_with_both_ends(shown):
    show(new_figure(), "a line", {"y": list(range(1001))})
    points = shown[0][SERIES_MIME]["y"]
    assert (len(points), points[0], points[-1]) == (200, 0, 1000)


def test_series_of_200_points_are_kept(shown):
    show(new_figure(), "a line", {"y": list(range(200))})
    assert shown[0][SERIES_MIME]["y"] == list(range(200))


def test_numbers_are_rounded_and_non_finite_ones_written_as_text(shown):
    show(new_figure(), "a line", {"y": [1 / 3, float("nan"), float("inf"), None, True]})
    assert shown[0][SERIES_MIME]["y"] == [0.333333, "nan", "inf", None, True]


def test_global_style_is_left_alone(shown):
    before = dict(mpl.rcParams)
    plot()
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"curves": {}}, "curves must hold at least one"),
        ({"curves": {"a": ([1, 2], [1])}}, r"curves\['a'\] must have as many x as y .* 2 x and 1 y"),
        ({"curves": {"a": ([], [])}}, "got 0 x and 0 y"),
        ({"curves": {"a": ([0, 1], [1, 2])}, "xscale": "log"}, r"x = 0\.0, which a log axis cannot show"),
        ({"yscale": "cubic"}, "yscale must be one of 'linear', 'log'; got 'cubic'"),
    ],
)
def test_bad_curves_are_named(changes, message, shown):
    with pytest.raises(ValueError, match=message):
        plot(**changes)


@pytest.mark.parametrize(("alt", "data"), [(" ", {"y": [1]}), ("a line", {})])
def test_figure_without_description_or_data_is_refused(alt, data, shown):
    with pytest.raises(ValueError, match=r"^(alt|data) must"):
        show(new_figure(), alt, data)


def test_data_that_cannot_be_published_is_refused(shown):
    with pytest.raises(TypeError, match="got <object"):
        show(new_figure(), "a line", {"y": object()})


@pytest.mark.parametrize(("arguments", "error"), [((0,), ValueError), ((1, 1.5), TypeError)])
def test_figure_needs_positive_numbers_of_axes(arguments, error):
    with pytest.raises(error):
        new_figure(*arguments)
