import base64
import io
import re

import matplotlib as mpl
import numpy as np
import pytest
import torch
from PIL import Image

from d2lrnn import figures, new_figure, plot_curves, show
from d2lrnn.figures import PALETTE, SERIES_MIME, captured

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
    assert shown[0].keys() == {"text/plain", "text/html", "image/png", SERIES_MIME}


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


def test_what_is_added_to_a_figure_takes_the_page_s_colour_too(shown):
    figure = new_figure()
    figure.axes[0].plot([1, 2], color="black", label="a")
    figure.axes[0].text(0, 0, "here")
    figure.axes[0].legend()
    show(figure, "a line", {"y": [1, 2]})
    picture = shown[0]["text/html"]
    assert 'fill="currentColor"' in picture
    assert "stroke: currentColor" in picture
    assert not re.search("#(000000|ffffff|cccccc)", picture)


def test_text_is_text(shown):
    plot()
    assert re.search(r"<text[^>]*>epoch</text>", shown[0]["text/html"])


def test_same_figure_is_written_the_same_twice(shown):
    plot()
    plot()
    assert shown[0] == shown[1]


def pixels(bundle):
    return Image.open(io.BytesIO(base64.b64decode(bundle["image/png"])))


def test_png_is_the_figure_at_100_dots_an_inch_on_white(shown):
    plot()
    image = pixels(shown[0])
    assert (image.size, image.convert("RGB").getpixel((0, 0))) == ((560, 320), (255, 255, 255))


def test_png_shows_the_curve(shown):
    plot()
    blue = tuple(int(PALETTE[0][i : i + 2], 16) for i in (1, 3, 5))
    colours = {colour for _, colour in pixels(shown[0]).convert("RGB").getcolors()}
    assert min(sum(abs(a - b) for a, b in zip(blue, colour, strict=True)) for colour in colours) < 12


def test_png_is_small_and_says_neither_when_nor_with_what_it_was_made(shown):
    plot()
    data = base64.b64decode(shown[0]["image/png"])
    assert len(data) < 15_000
    assert re.findall(rb"IHDR|PLTE|tEXt|zTXt|iTXt|tIME", data) == [b"IHDR", b"PLTE"]


def test_html_holds_the_png_for_where_the_svg_is_stripped(shown):
    plot()
    markup, png = shown[0]["text/html"], shown[0]["image/png"]
    image = f'<img class="d2lrnn-fallback" src="data:image/png;base64,{png}" alt="{shown[0]["text/plain"]}">'
    assert image in markup
    assert re.search('<div class="d2lrnn-picture" hidden="hidden"><svg .*</svg>\\s*</div>', markup, re.DOTALL)


def test_captured_figure_without_png_is_the_svg_alone():
    with captured(png=False) as bundles:
        plot()
    assert bundles[0].keys() == {"text/plain", "text/html", SERIES_MIME}
    assert bundles[0]["text/html"].startswith("<svg ")


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
        ({"curves": {}}, "curves must hold 1 to 6 curves, got 0"),
        ({"curves": {str(i): ([1], [1]) for i in range(7)}}, "curves must hold 1 to 6 curves, got 7"),
        ({"curves": {"_a": ([1], [1])}}, "must not begin with an underscore, got '_a'"),
        ({"curves": {"a": ([float("nan"), 0], [1, 2])}, "xscale": "log"}, r"x = 0\.0, which a log axis"),
        ({"curves": {"a": ([1, 2], [1])}}, r"curves\['a'\] must have as many x as y .* 2 x and 1 y"),
        ({"curves": {"a": ([], [])}}, "got 0 x and 0 y"),
        ({"curves": {"a": ([0, 1], [1, 2])}, "xscale": "log"}, r"x = 0\.0, which a log axis cannot show"),
        (
            {"bands": {"loss": ([1, 2], [1, 2, 3])}},
            "as many x as y as low as high .* 3 y and 2 low and 3 high",
        ),
        ({"bands": {"gain": ([1], [2])}}, "a name in bands must be one of 'loss'; got 'gain'"),
        ({"points": ["gain"]}, "a name in points must be one of 'loss'; got 'gain'"),
        (
            {"bands": {"loss": ([0, 1, 1], [9, 9, 9])}, "yscale": "log"},
            r"low = 0\.0, which a log axis cannot show",
        ),
        ({"yscale": "cubic"}, "yscale must be one of 'linear', 'log'; got 'cubic'"),
    ],
)
def test_bad_curves_are_named(changes, message, shown):
    with pytest.raises(ValueError, match=message):
        plot(**changes)


def test_band_is_published_and_described(shown):
    plot(bands={"loss": ([2, 0.5, 1], [4, 2, 3])})
    assert shown[0][SERIES_MIME]["series"]["loss"] == {
        "x": [1, 2, 3],
        "y": [3, 1, 2],
        "low": [2, 0.5, 1],
        "high": [4, 2, 3],
    }
    assert (
        "loss: from 3 at 1 to 2 at 3, lowest 1 at 2, with a band between 0.5 and 4." in shown[0]["text/plain"]
    )


def test_band_takes_the_colour_of_its_curve(shown):
    curves = {"first": ([1, 2], [1, 2]), "second": ([1, 2], [2, 3])}
    plot(curves=curves, bands={"second": ([1, 2], [3, 4])})
    filled = re.findall(r'style="fill: (#\w+); fill-opacity: 0\.25', shown[0]["text/html"])
    assert filled == [PALETTE[1]]


def test_curve_of_points_has_markers_and_no_line(shown):
    def lines():
        picture = shown.pop()["text/html"]
        return len(re.findall(r'<g id="line2d|stroke-width: 1\.8', picture)), picture.count("<use")

    plot()
    with_line = lines()
    plot(points=["loss"])
    as_points = lines()
    assert as_points == (with_line[0] - 1, with_line[1] + 3)


def test_ticks_are_where_they_are_asked_for(shown):
    plot(curves={"a": ([1, 4, 16], [1, 2, 3])}, xscale="log", xticks=[1, 4, 16])
    assert re.findall(r"<text[^>]*>(1|4|16)</text>", shown[0]["text/html"]) == ["1", "4", "16"]


def test_ends_of_the_y_axis_are_kept(shown):
    plot(ylim=(-100, 100))
    assert re.search(r"<text[^>]*>100</text>", shown[0]["text/html"])


def test_one_curve_has_no_legend_and_two_have(shown):
    plot()
    plot(curves={"loss": ([1, 2], [1, 2]), "other": ([1, 2], [2, 3])})
    named = [len(re.findall(r"<text[^>]*>(?:loss|other)</text>", bundle["text/html"])) for bundle in shown]
    assert named == [1, 3]  # the axis is named "loss", too


def test_legend_has_no_card_of_its_own(shown):
    """A light card would be glaring on a dark page."""
    plot(curves={"a": ([1, 2], [1, 2]), "b": ([1, 2], [2, 3])})
    assert not re.search(r"#ffffff|#000000|white|black", shown[0]["text/html"])


def test_captured_figures_are_not_displayed(shown):
    with captured() as bundles:
        plot()
    assert (len(bundles), shown) == (1, [])


def test_figures_are_displayed_again_after_a_capture_that_failed(shown):
    with pytest.raises(KeyError), captured():
        raise KeyError
    plot()
    assert len(shown) == 1


@pytest.mark.parametrize(("alt", "data"), [(" ", {"y": [1]}), ("a line", {})])
def test_figure_without_description_or_data_is_refused(alt, data, shown):
    with pytest.raises(ValueError, match=r"^(alt|data) must"):
        show(new_figure(), alt, data)


@pytest.mark.parametrize(
    "changes",
    [
        {"curves": [([1], [1])]},
        {"curves": {1: ([1], [1])}},
        {"curves": {"a": ("12", [1, 2])}},
        {"curves": {"a": (1, 2)}},
        {"curves": {"a": ([1, 2], [[1], [2]])}},
    ],
)
def test_curves_of_the_wrong_type_are_refused(changes, shown):
    with pytest.raises(TypeError, match="curves"):
        plot(**changes)


@pytest.mark.parametrize(("fig", "data"), [(None, {"y": [1]}), (new_figure(), [1, 2])])
def test_figure_or_data_of_the_wrong_type_is_refused(fig, data, shown):
    with pytest.raises(TypeError, match=r"^(fig|data) must be a"):
        show(fig, "a line", data)


def test_arrays_and_tensors_are_published_as_numbers(shown):
    show(new_figure(), "a line", {"a": np.arange(2), "b": torch.ones(2), "c": np.float32(0.5)})
    assert shown[0][SERIES_MIME] == {"a": [0, 1], "b": [1.0, 1.0], "c": 0.5}


def test_large_x_are_drawn_where_they_are(shown):
    plot(curves={"a": ([1_000_000, 1_000_001], [0, 1])})
    drawn = r'<path d="M ([\d.]+) [\d.]+ \nL ([\d.]+) [^"]+" clip-path="[^"]+" '
    pattern = drawn + 'style="fill: none; stroke: ' + PALETTE[0]
    path = re.search(pattern, shown[0]["text/html"])
    assert float(path[2]) - float(path[1]) > 100


def test_reader_s_own_settings_do_not_change_a_figure(shown):
    plot()
    with mpl.rc_context({"lines.linewidth": 9, "font.family": "serif"}):
        plot()
    assert shown[0] == shown[1]


def test_characters_that_matplotlib_s_font_has_not_give_no_warning(shown, recwarn):
    plot(xlabel="字")
    assert "字" in shown[0]["text/html"]
    assert not recwarn.list


def test_data_that_cannot_be_published_is_refused(shown):
    with pytest.raises(TypeError, match="got <object"):
        show(new_figure(), "a line", {"y": object()})


@pytest.mark.parametrize(("arguments", "error"), [((0,), ValueError), ((1, 1.5), TypeError)])
def test_figure_needs_positive_numbers_of_axes(arguments, error):
    with pytest.raises(error):
        new_figure(*arguments)
