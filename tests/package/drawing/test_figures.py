import base64
import io
import logging
import math
import os
import pickle
import re
import subprocess
import sys
import threading
import time

import matplotlib as mpl
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox, CompositeAffine2D
from PIL import Image

from d2lrnn import _kernel, new_figure, plot_curves, show
from d2lrnn.drawing import figures
from d2lrnn.drawing._series import MAX_CURVES
from d2lrnn.drawing._style import DEFAULTS, style, without_font_notice
from d2lrnn.drawing.figures import PALETTE, SERIES_MIME, captured

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


@pytest.mark.parametrize("framed", [True, False])
def test_a_legend_is_left_as_it_was(framed, shown):
    figure = new_figure()
    figure.axes[0].plot([1, 2], label="a")
    legend = figure.axes[0].legend(frameon=framed)
    show(figure, "a line", {"y": [1, 2]})
    assert legend.get_frame_on() is framed


def test_plain_python_is_told_the_figure_in_words(capsys):
    plot()
    said = "Line chart of loss against epoch. loss: from 3 at 1 to 2 at 3, lowest 1 at 2.\n"
    assert capsys.readouterr().out == said


def test_a_kernel_is_handed_the_whole_figure(monkeypatch):
    calls = []
    monkeypatch.setattr(_kernel, "get_ipython", object)
    monkeypatch.setattr(
        _kernel.jupyter, "display", lambda *bundle, **options: calls.append((bundle, options))
    )
    _kernel.display({"text/plain": "a line", "text/html": "<svg>"}, update=True)
    bundle = {"text/plain": "a line", "text/html": "<svg>"}
    assert calls == [((bundle,), {"raw": True, "update": True})]


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


def of_many_kinds():
    """Draw figures with what matplotlib gives an id or a place: clips, markers, hatches, images, legends."""
    for rows, columns, height in ((1, 1, 3.2), (2, 2, 2.5), (1, 3, 2.0)):
        figure = new_figure(rows, columns, height=height)
        for number, axes in enumerate(figure.axes):
            axes.plot([1, 2, 3], [3, 1, 2], marker="o", label="a", clip_on=number != 1)
            axes.bar([1, 2, 3], [1, 4, 2], hatch="//", label="$x_1$")
            axes.legend()
        figure.axes[-1].imshow(np.arange(6).reshape(2, 3) / 7)
        figure.axes[0].twinx().scatter([1, 2, 3], [5, 6, 4])
        show(figure, "a figure", {"y": [1]})
    curve = np.random.default_rng(0).normal(size=300).cumsum() ** 2 + 1
    plot(curves={"walk": (range(1, 301), curve)}, bands={"walk": (curve / 2, curve * 2)}, yscale="log")


@pytest.mark.parametrize("towards", [0, 2])
def test_last_bits_of_where_axes_stand_move_nothing(towards, shown, monkeypatch):
    of_many_kinds()
    first = list(shown)
    shown.clear()
    place = Axes._set_position

    def moved(axes, position, which="both"):
        place(axes, Bbox(np.nextafter(position.get_points(), towards)), which)

    monkeypatch.setattr(Axes, "_set_position", moved)
    of_many_kinds()
    assert shown == first


def test_last_bits_of_matplotlib_s_sums_move_nothing(shown, monkeypatch):
    of_many_kinds()
    first = list(shown)
    shown.clear()
    composed, noise = CompositeAffine2D.get_matrix, np.random.default_rng(0)

    def moved(transform):
        if transform._invalid:
            composed(transform)
            transform._mtx[:2] *= 1 + 1e-13 * noise.normal(size=(2, 3))
        return transform._mtx

    monkeypatch.setattr(CompositeAffine2D, "get_matrix", moved)
    of_many_kinds()
    assert shown == first


def test_ids_are_numbered_in_their_order_and_all_used(shown):
    of_many_kinds()
    for bundle in shown:
        markup = bundle["text/html"]
        prefix, numbers = zip(*re.findall(r' id="(f[0-9a-f]{8})-(\d+)"', markup), strict=True)
        assert len(set(prefix)) == 1
        assert list(numbers) == [str(number) for number in range(len(numbers))]
        assert markup.count(' id="') == len(numbers)
        targets = set(re.findall(r'(?:url\(|href=")#([\w-]+)', markup))
        assert targets == {f"{prefix[0]}-{number}" for number in numbers}


def test_figures_that_differ_in_their_description_alone_share_no_id(shown):
    for alt in ("one", "two"):
        figure = new_figure()
        figure.axes[0].plot([1, 2], marker="o")
        show(figure, alt, {"y": [1, 2]})
    first, second = (set(re.findall(r' id="([^"]+)"', bundle["text/html"])) for bundle in shown)
    assert first
    assert not first & second


def test_coordinates_have_at_most_four_decimals(shown):
    of_many_kinds()
    for bundle in shown:
        places = re.findall(r' (?:d|x|y|width|height|transform)="([^"]*)"', bundle["text/html"])
        assert max(map(len, re.findall(r"\.(\d+)", " ".join(places)))) == 4
        assert "-0 " not in " ".join(places)


@pytest.mark.parametrize(
    ("exact", "written"),
    [("0.000045", "0"), ("0.000046", "0.0001"), ("-0.0", "0"), ("-0.00002", "0"), ("12.50", "12.5")],
)
def test_coordinate_is_rounded_where_no_part_of_a_layout_lies(exact, written):
    tag = f'<use x="{exact}" y="{exact}"/>'
    assert figures._coarse(tag) == f'<use x="{written}" y="{written}"/>'


def test_texts_keep_their_numbers(shown):
    figure = new_figure()
    figure.axes[0].set_title('x="0.1234567" d="1.2345678"')
    show(figure, "1.23456789", {"y": [1]})
    assert '>x="0.1234567" d="1.2345678"</text>' in shown[0]["text/html"]
    assert 'aria-label="1.23456789"' in shown[0]["text/html"]


def test_a_number_halfway_between_two_roundings_is_published_alike_with_another_last_bit(shown):
    half = 2**-9  # 0.001953125
    for value in (math.nextafter(half, 0), half, math.nextafter(half, 1)):
        show(new_figure(), "a line", {"y": [value, -value]})
    assert [bundle[SERIES_MIME]["y"] for bundle in shown] == [[0.00195312, -0.00195312]] * 3


def test_the_largest_float_is_published(shown):
    show(new_figure(), "a line", {"y": [sys.float_info.max]})
    assert shown[0][SERIES_MIME]["y"] == [1.79769e308]


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
        ({"curves": {"a": ([1, 0], [math.nan, 2])}, "xscale": "log"}, r"x = 0\.0, which a log axis"),
        ({"curves": {"a": ([1, 2], [math.nan, 0])}, "yscale": "log"}, r"y = 0\.0, which a log axis"),
        ({"curves": {"a": ([math.nan], [1])}}, r"x of curves\['a'\] must be finite, got nan"),
        ({"curves": {"a": ([1], [2], [3])}}, r"curves\['a'\] must be \(x, y\), got 3 item"),
        ({"curves": {"a": ([1],)}}, r"curves\['a'\] must be \(x, y\), got 1 item"),
        ({"curves": {"a": ([1], [1e201])}}, r"y of curves\['a'\] must be at most 1e\+200 in magnitude"),
        ({"curves": {"a": ([10**400], [1])}}, r"x of curves\['a'\] must be at most 1e\+200"),
        ({"curves": {"a\ud800": ([1], [1])}}, "a name in curves must be text that UTF-8 can write"),
        ({"curves": {r"$\frac$": ([1], [1])}}, "a name in curves must hold formulas that matplotlib knows"),
        ({"xlabel": "\ud800"}, "xlabel must be text that UTF-8 can write"),
        ({"ylabel": r"$\nothing$"}, "ylabel must hold formulas that matplotlib knows"),
        ({"bands": {"loss": ([1, 1, 1],)}}, r"bands\['loss'\] must be \(low, high\), got 1 item"),
        (
            {"bands": {"loss": ([4, 4, 5], [2, 5, 6])}},
            r"bands\['loss'\] must have low at most high, got 4.0 and",
        ),
        ({"xticks": [1, math.inf]}, "xticks must be finite, got inf"),
        ({"xticks": [0, 1], "xscale": "log"}, r"xticks = 0\.0, which a log axis cannot show"),
        ({"xticks": range(51)}, "xticks must hold at most 50 ticks, got 51"),
        ({"ylim": (1,)}, r"ylim must be \(low, high\), got 1 item"),
        ({"ylim": (2, 1)}, "ylim must have low below high, got 2.0 and 1.0"),
        ({"ylim": (0, math.nan)}, "ylim must be finite, got nan"),
        ({"ylim": (0, 1), "yscale": "log"}, r"ylim = 0\.0, which a log axis cannot show"),
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
        {"curves": {"a": "xy"}},
        {"curves": {"a": 3}},
        {"curves": {"a": ([1, 2], ["1", "2"])}},
        {"curves": {"a": ({1, 2}, [1, 2])}},
        {"curves": {"a": ([1, 2], [1, 2j])}},
        {"curves": {"a": ([1, 2], torch.empty(2, device="meta"))}},
        {"curves": {"a": ([1, 2], np.ma.masked_array([1, 2], [0, 1]))}},
    ],
)
def test_curves_of_the_wrong_type_are_refused(changes, shown):
    with pytest.raises(TypeError, match="curves"):
        plot(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"xlabel": None}, "xlabel must be a str, got None"),
        ({"ylabel": 3}, "ylabel must be a str, got 3"),
        ({"points": None}, "points must be a collection of names, got None"),
        ({"points": "loss"}, "points must be a collection of names, got 'loss'"),
        ({"bands": ["loss"]}, r"bands must be a mapping, got \['loss'\]"),
        ({"bands": {"loss": 3}}, r"bands\['loss'\] must be \(low, high\), got 3"),
        ({"xticks": ["a"]}, "xticks must be numbers in one row, got 'a'"),
        ({"xticks": 3}, "xticks must be a sequence of numbers, got 3"),
        ({"ylim": 3}, r"ylim must be \(low, high\), got 3"),
        ({"ylim": (None, 1)}, "ylim must be numbers in one row, got None"),
        ({"markers": "no"}, "markers must be True or False, got 'no'"),
    ],
)
def test_another_argument_of_the_wrong_type_is_named(changes, message, shown):
    with pytest.raises(TypeError, match=message):
        plot(**changes)


@pytest.mark.parametrize(
    "three",
    [
        (1, 2, 3),
        range(1, 4),
        np.arange(1, 4),
        np.arange(1, 4, dtype=np.float32),
        [np.int64(1), np.float64(2), torch.tensor(3)],
        torch.arange(1, 4),
        torch.arange(1, 4, dtype=torch.bfloat16),
        torch.arange(1.0, 4.0, requires_grad=True),
    ],
    ids=lambda three: str(getattr(three, "dtype", type(three).__name__)),
)
def test_every_kind_of_sequence_draws_the_same(three, shown):
    plot(curves={"a": ([1, 2, 3], [1, 2, 3])}, bands={"a": ([1, 2, 3], [1, 2, 3])}, xticks=[1, 2, 3])
    plot(curves={"a": (three, three)}, bands={"a": (three, three)}, xticks=three)
    assert shown[0] == shown[1]


def test_a_bool_of_numpy_is_a_bool(shown):
    plot(markers=True)
    plot(markers=np.True_)
    assert shown[0] == shown[1]


@pytest.mark.parametrize("ends", [(-1e200, 1e200), (1e-300, 1e200), (5e-324, 1e-320)])
def test_the_ends_of_what_is_allowed_are_drawn_in_silence(ends, shown, recwarn):
    plot(curves={"a": ([1, 2], ends)}, yscale="log" if ends[0] > 0 else "linear")
    assert (len(shown), recwarn.list) == (1, [])


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_curve_without_a_number_is_drawn_and_said(scale, shown, recwarn):
    plot(curves={"loss": ([1, 2], [math.nan, math.nan])}, xscale=scale, yscale=scale)
    assert shown[0]["text/plain"].endswith(" loss: no numbers.")
    assert not recwarn.list


def test_gaps_at_the_ends_of_a_curve_are_not_its_ends(shown):
    plot(curves={"loss": (range(6), [math.nan, 3, 1, 5, 2, math.nan])})
    assert "loss: from 3 at 1 to 2 at 4, lowest 1 at 2, highest 5 at 3." in shown[0]["text/plain"]


HUGE = 10**5000  # which Python does not write out
HOLDS_ITSELF = {"y": []}
HOLDS_ITSELF["y"].append(HOLDS_ITSELF)

finite = st.floats(-1e3, 1e3)
gaps = st.sampled_from([math.nan, math.inf])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(finite, finite | gaps), min_size=1, max_size=4), st.sampled_from(["linear", "log"]))
def test_curves_are_drawn_or_refused_by_name(points, scale):
    curves = {"a": tuple(zip(*points, strict=True))}
    above = all(x > 0 and (y > 0 or math.isnan(y)) for x, y in points)
    with captured(png=False) as bundles:
        if scale == "linear" or above:
            plot(curves=curves, xscale=scale, yscale=scale)
        else:
            with pytest.raises(ValueError, match=r"curves\['a'\] has [xy] = .* which a log axis cannot show"):
                plot(curves=curves, xscale=scale, yscale=scale)
    assert len(bundles) == (scale == "linear" or above)


def test_there_are_as_many_curves_as_colours():
    assert len(PALETTE) == MAX_CURVES


@pytest.mark.parametrize(
    ("alt", "data", "message"),
    [
        ("\ud800", {"y": 1}, "alt must be text that UTF-8 can write"),
        ("a line", {"y": "\ud800"}, "a text in data must be text that UTF-8 can write"),
        ("a line", {"\ud800": 1}, "a name in data must be text that UTF-8 can write"),
        ("a line", {1: 2, "1": 3}, r"data must have a name of its own for each item, got \[1, '1'\]"),
        ("a line", {"y": [HUGE]}, "data must hold numbers that fit a float, got a number of thousands of"),
        ("a line", {HUGE: 1}, "data must hold numbers that fit a float, got a number of thousands of"),
        ("a line", HOLDS_ITSELF, "data must not hold itself"),
        ("a line", {"y": HOLDS_ITSELF}, "data must not hold itself"),
    ],
)
def test_what_cannot_be_published_as_it_is_is_refused(alt, data, message, shown):
    with pytest.raises(ValueError, match=message):
        show(new_figure(), alt, data)


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


# The reader's own settings

ODD = {
    "text.usetex": True,
    "font.size": 20,
    "font.family": "serif",
    "mathtext.fontset": "cm",
    "lines.linewidth": 6,
    "patch.linewidth": 5,
    "path.sketch": (1, 100, 2),
    "axes.prop_cycle": mpl.cycler(color=["r", "k"]),
    "axes.facecolor": "black",
    "axes.titlesize": 40,
    "text.color": "white",
    "image.cmap": "gray",
    "scatter.marker": "x",
    "legend.loc": "lower left",
    "figure.dpi": 50,
    "figure.autolayout": True,
    "savefig.dpi": 30,
    "savefig.bbox": "tight",
    "savefig.facecolor": "red",
    "svg.fonttype": "path",
    "svg.hashsalt": "mine",
}


def add_to(figure):
    """Add what chapters add to a figure, to axes of every origin."""
    left, right = figure.axes
    left.plot([1, 2, 3], [3, 1, 2], label="one")
    left.scatter([1, 2], [1, 2], label="two")
    left.text(1, 1, "a_b $x_1$")
    left.annotate("here", (1, 1), (2, 2), arrowprops={"arrowstyle": "->"})
    left.set(title="a title", xlabel="x")
    left.set_xticks([1, 3], labels=["first", "last"])
    left.legend(title="both")
    twin = left.twinx()
    twin.plot([1, 2], [5, 6])
    twin.text(1, 5, "twin")
    bar = figure.colorbar(right.imshow([[1, 2], [3, 4]]), label="level")
    bar.ax.text(0.5, 2, "bar")
    right.inset_axes([0.5, 0.5, 0.4, 0.4]).plot([1, 2])
    figure.add_axes([0.4, 0.4, 0.1, 0.1]).text(0, 0, "extra")
    figure.suptitle("all")


def busy():
    figure = new_figure(1, 2)
    add_to(figure)
    show(figure, "a figure", {"y": [1]})


def parts():
    figure = new_figure()
    for part in figure.subfigures(1, 2):
        part.suptitle("a_b")
        part.add_subplot(projection="polar").text(0, 0, "a_b")
    show(figure, "parts", {"y": [1]})


@pytest.mark.parametrize("draw", [plot, busy, parts])
def test_reader_s_own_settings_do_not_change_a_figure(draw, shown):
    draw()
    with mpl.rc_context(ODD):
        draw()
    assert shown[0] == shown[1]


def test_what_is_added_later_is_as_matplotlib_has_it_by_default():
    with mpl.rc_context(ODD):
        axes = new_figure().axes[0]
        assert axes.text(0, 0, "here").get_fontsize() == mpl.rcParamsDefault["font.size"]
        assert axes.plot([1, 2])[0].get_linewidth() == mpl.rcParamsDefault["lines.linewidth"]


def test_arguments_of_what_is_added_later_are_kept():
    axes = new_figure().axes[0]
    assert axes.text(0, 0, "here", fontsize=7).get_fontsize() == 7


AXES = {
    "of a grid": lambda figure: figure.add_subplot(),
    "at a place": lambda figure: figure.add_axes([0, 0, 1, 1]),
    "polar": lambda figure: figure.add_subplot(projection="polar"),
    "of three dimensions": lambda figure: figure.add_axes([0, 0, 1, 1], projection="3d"),
    "of a class": lambda figure: figure.add_subplot(axes_class=Axes),
    "twin": lambda figure: figure.axes[0].twinx(),
    "within axes": lambda figure: figure.axes[0].inset_axes([0, 0, 1, 1]),
    "polar within axes": lambda figure: figure.axes[0].inset_axes([0, 0, 1, 1], projection="polar"),
    "of a part": lambda figure: figure.subfigures().add_subplot(),
    "of a part of a part": lambda figure: figure.subfigures(1, 2)[1].subfigures().subplots(1, 2)[0],
}


@pytest.mark.parametrize("kind", AXES)
def test_axes_of_every_kind_are_as_matplotlib_has_them_by_default(kind):
    with mpl.rc_context(ODD):
        note = AXES[kind](new_figure()).annotate("here", (0, 0))
    assert (note.get_usetex(), note.get_fontsize()) == (False, mpl.rcParamsDefault["font.size"])


def test_axes_of_another_kind_are_of_that_kind():
    assert new_figure().add_subplot(projection="polar").name == "polar"


def test_dates_are_in_matplotlib_s_own_time_zone(shown):
    def draw():
        figure = new_figure()
        figure.axes[0].plot(np.array(["2020-01-01T00", "2020-01-01T03"], dtype="datetime64"), [1, 2])
        show(figure, "hours", {"y": [1, 2]})

    draw()
    with mpl.rc_context({"timezone": "Asia/Tokyo"}):
        draw()
    assert shown[0] == shown[1]


def test_what_dates_count_from_is_the_reader_s():
    """It is read once for all figures of a process, which may be when the course draws."""
    with mpl.rc_context({"date.epoch": "2000-01-01T00:00:00"}), style():
        assert mpl.rcParams["date.epoch"] == "2000-01-01T00:00:00"


def test_settings_of_the_course_are_those_that_matplotlib_would_restore():
    process = {"backend", "date.epoch"}
    with mpl.rc_context():
        mpl.rcdefaults()
        restored = {key: value for key, value in mpl.rcParams.items() if key not in process}
    assert restored == DEFAULTS


def test_a_call_does_not_check_every_setting_anew(monkeypatch):
    axes, checked = new_figure().axes[0], []
    monkeypatch.setattr(mpl.RcParams, "__setitem__", lambda _, *item: checked.append(item))
    axes.get_xlim()
    assert checked == []


def test_reader_s_own_settings_are_left_alone(shown):
    with mpl.rc_context(ODD):
        before = dict(mpl.rcParams)
        busy()
        assert dict(mpl.rcParams) == before


def test_reader_s_own_settings_are_left_alone_by_what_fails():
    before, axes = dict(mpl.rcParams), new_figure().axes[0]
    with pytest.raises(ValueError, match="shape"):
        axes.plot([1, 2], [1, 2, 3])
    assert dict(mpl.rcParams) == before


def test_two_threads_that_draw_leave_the_reader_s_settings_alone():
    before, inside, left = dict(mpl.rcParams), threading.Event(), threading.Event()

    def first():
        with style():
            inside.set()
            time.sleep(0.05)
        left.set()

    def second():
        inside.wait()
        with style():
            left.wait(1)

    threads = [threading.Thread(target=draw) for draw in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(mpl.rcParams) == before


def test_a_pickled_figure_is_drawn_the_same(shown):
    figure = new_figure()
    figure.axes[0].plot([1, 2])
    figure.add_subplot(projection="polar").inset_axes([0, 0, 0.5, 0.5]).plot([1, 2])
    figure.subfigures().add_subplot().plot([1, 2])
    for one in (figure, pickle.loads(pickle.dumps(figure))):
        show(one, "a figure", {"y": [1]})
    assert shown[0] == shown[1]


FONTS = logging.getLogger("matplotlib.font_manager")


def test_logger_of_matplotlib_s_fonts_is_as_it_was():
    assert (FONTS.level, FONTS.filters) == (logging.NOTSET, [])


def test_nothing_is_said_of_the_font_cache_and_the_rest_is(caplog):
    with without_font_notice():
        FONTS.warning("Matplotlib is building the font cache; this may take a moment.")
        FONTS.warning("findfont: Font family %r not found.", "x")
    assert caplog.messages == ["findfont: Font family 'x' not found."]


def test_first_import_says_nothing_however_long_the_font_cache_takes(tmp_path):
    at_once = "import threading; threading.Timer.start = lambda timer: timer.function()"
    done = subprocess.run(
        [sys.executable, "-c", f"{at_once}; import d2lrnn.drawing.figures"],
        env={**os.environ, "MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stderr, len(list(tmp_path.glob("fontlist*")))) == ("", 1)


def test_characters_that_matplotlib_s_font_has_not_give_no_warning(shown, recwarn):
    plot(xlabel="字")
    assert "字" in shown[0]["text/html"]
    assert not recwarn.list


def test_data_that_cannot_be_published_is_refused(shown):
    for odd in (object(), b"bytes", {1, 2}, torch.empty(2, device="meta"), np.ma.masked_array([1], [1])):
        with pytest.raises(TypeError, match="data must"):
            show(new_figure(), "a line", {"y": odd})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rows": 0}, ValueError, "rows must be at least 1, got 0"),
        ({"columns": 1.5}, TypeError, "columns must be an integer, got 1.5"),
        ({"rows": 50, "columns": 50}, ValueError, "rows x columns must be at most 64 axes, got 50 x 50"),
        ({"rows": HUGE}, ValueError, "64 axes, got a number of thousands of digits x 1"),
        ({"height": HUGE}, ValueError, "height must fit a float, got a number of thousands of digits"),
        ({"height": 0}, ValueError, "height must be greater than 0, got 0"),
        ({"height": 101}, ValueError, "height must be at most 100 inches, got 101.0"),
        ({"height": "3"}, TypeError, "height must be a number, got '3'"),
    ],
)
def test_figure_of_a_bad_size_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        new_figure(**changes)


def test_sizes_of_numpy_are_sizes():
    assert len(new_figure(np.int64(2), np.int32(2), height=np.float32(3)).axes) == 4


def test_axes_stand_within_the_figure_before_they_are_laid_out():
    box = new_figure().axes[0].get_position()
    assert 0.1 < box.x0 < box.x1 < 1
    assert 0.1 < box.y0 < box.y1 < 1
