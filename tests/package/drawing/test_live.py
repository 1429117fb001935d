"""Whether somebody is at the kernel, and curves that grow while a loop runs."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from jupyter_client.manager import start_new_kernel

from d2lrnn import LiveCurves, _kernel, plot_curves
from d2lrnn._kernel import interactive
from d2lrnn.drawing import _progress, explorers, figures, live
from d2lrnn.drawing.figures import SERIES_MIME

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def displayed(monkeypatch):
    """Return the list that (bundle, options) of displays are put in."""
    calls = []
    monkeypatch.setattr(live, "display", lambda bundle, **options: calls.append((bundle, options)))
    return calls


@pytest.fixture(params=[True, False], ids=["person", "nobody"])
def watched(request, monkeypatch):
    monkeypatch.setattr(live, "interactive", lambda: request.param)
    return request.param


@pytest.fixture
def person(monkeypatch):
    monkeypatch.setattr(live, "interactive", lambda: True)


def run(rounds=3, every=0.0, **options):
    with LiveCurves(3, xlabel="epoch", ylabel="loss", every=every, **options) as curves:
        for epoch in range(1, rounds + 1):
            curves.add(epoch, {"training": 1 / epoch, "held out": 2 / epoch})


@pytest.fixture(scope="module")
def kernel():
    manager, client = start_new_kernel(kernel_name="python3")

    def execute(code, allow_stdin):
        outputs = []
        reply = client.execute_interactive(
            code, allow_stdin=allow_stdin, output_hook=outputs.append, timeout=120
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        return [message["content"] for message in outputs if message["msg_type"] != "status"]

    yield execute
    client.stop_channels()
    manager.shutdown_kernel(now=True)


# In a real kernel


@pytest.mark.parametrize("allow_stdin", [True, False])
def test_frontend_that_can_be_asked_for_input_has_a_person_at_it(kernel, allow_stdin):
    outputs = kernel("from d2lrnn._kernel import interactive; print(interactive())", allow_stdin)
    assert outputs[-1]["text"] == f"{allow_stdin}\n"


@pytest.mark.parametrize("allow_stdin", [True, False])
def test_explorer_hands_a_widget_to_a_person_only(kernel, allow_stdin):
    code = (
        "from d2lrnn import explore, plot_curves\n"
        "def draw(k): plot_curves({'a': ([1, 2], [k, 2])}, xlabel='x', ylabel='y')\n"
        "explore(draw, k=[1, 2])"
    )
    data = kernel(code, allow_stdin)[-1]["data"]
    assert (WIDGET in data) == allow_stdin
    assert {"text/plain", "text/html", SERIES_MIME} <= data.keys()


@pytest.mark.parametrize("allow_stdin", [True, False])
def test_live_curves_are_renewed_for_a_person_and_shown_once_otherwise(kernel, allow_stdin):
    code = (
        "from d2lrnn import LiveCurves\n"
        "with LiveCurves(3, xlabel='x', ylabel='y', every=0) as live:\n"
        "    for i in range(3): live.add(i, {'a': i})"
    )
    outputs = [content for content in kernel(code, allow_stdin) if "data" in content]
    assert len(outputs) == (5 if allow_stdin else 1)
    assert SERIES_MIME in outputs[-1]["data"]


# In this process


def test_outside_a_kernel_nobody_watches():
    assert interactive() is False


@pytest.mark.parametrize("answer", [True, False])
def test_kernels_of_each_age_are_asked_in_their_own_way(monkeypatch, answer):
    request = {"shell": {"content": {"allow_stdin": answer}}}
    new, old = SimpleNamespace(get_parent=request.get), SimpleNamespace(_allow_stdin=answer)
    for kernel in (new, old):
        monkeypatch.setattr(_kernel, "get_ipython", lambda kernel=kernel: SimpleNamespace(kernel=kernel))
        assert interactive() is answer


def test_request_that_says_nothing_of_input_has_nobody_behind_it(monkeypatch):
    for request in ({}, {"content": {}}):
        kernel = SimpleNamespace(get_parent=lambda _channel, request=request: request)
        monkeypatch.setattr(_kernel, "get_ipython", lambda kernel=kernel: SimpleNamespace(kernel=kernel))
        assert interactive() is False


def test_what_remains_does_not_depend_on_who_watched(displayed, monkeypatch):
    remaining = []
    for answer in (True, False):
        monkeypatch.setattr(live, "interactive", lambda answer=answer: answer)
        run()
        remaining.append(displayed[-1][0])
    assert remaining[0] == remaining[1]


def test_what_remains_is_what_plot_curves_shows(watched, displayed):
    run()
    with figures.captured() as bundles:
        plot_curves(
            {"training": ([1, 2, 3], [1, 1 / 2, 1 / 3]), "held out": ([1, 2, 3], [2, 1, 2 / 3])},
            xlabel="epoch",
            ylabel="loss",
        )
    assert displayed[-1][0] == figures.displayed(bundles[0])


def test_without_a_person_there_is_one_display_and_no_bar(displayed, monkeypatch):
    monkeypatch.setattr(live, "interactive", lambda: False)
    run()
    assert len(displayed) == 1
    assert "<progress" not in displayed[0][0]["text/html"]


def test_person_sees_one_output_renewed(person, displayed):
    run()
    assert len({options["display_id"] for _, options in displayed}) == 1
    assert [options["update"] for _, options in displayed] == [False, True, True, True, True]


def test_bar_counts_the_rounds(person, displayed):
    run()
    assert ["0 of 3" in displayed[0][0]["text/html"], "2 of 3" in displayed[2][0]["text/html"]] == [
        True,
        True,
    ]


def test_bar_is_gone_at_the_end(person, displayed):
    run()
    assert "<progress" not in displayed[-1][0]["text/html"]


def test_updates_keep_their_distance(person, displayed):
    run(every=1000.0)
    assert len(displayed) == 3  # the empty bar, the first round, and the end


def test_the_first_round_is_drawn_however_lately_the_clock_began(person, displayed, monkeypatch):
    monkeypatch.setattr(live.time, "monotonic", lambda: 1.0)
    run(every=1000.0)
    assert len(displayed) == 3


def test_scales_are_passed_on(watched, displayed):
    run(yscale="log")
    assert displayed[-1][0][SERIES_MIME]["yscale"] == "log"


def test_loop_without_a_round_shows_no_figure(displayed, monkeypatch):
    monkeypatch.setattr(live, "interactive", lambda: False)
    run(rounds=0)
    assert displayed == []


def test_plain_python_is_told_the_figure_in_words(capsys):
    run()
    said = capsys.readouterr().out
    assert said.startswith("Line chart of loss against epoch. training: from 1 at 1")
    assert said.count("\n") == 1


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_error_in_the_loop_comes_through_and_leaves_the_figure(error, watched, displayed):
    def fail():
        with LiveCurves(3, xlabel="x", ylabel="y", every=1000.0) as curves:
            curves.add(1, {"a": 1})
            curves.add(2, {"a": 2})
            raise error

    with pytest.raises(error):
        fail()
    assert displayed[-1][0][SERIES_MIME]["series"] == {"a": {"x": [1, 2], "y": [1, 2]}}


def test_error_before_the_first_point_shows_no_figure(displayed, monkeypatch):
    monkeypatch.setattr(live, "interactive", lambda: False)
    with pytest.raises(ZeroDivisionError), LiveCurves(3, xlabel="x", ylabel="y"):
        raise ZeroDivisionError
    assert displayed == []


@pytest.mark.parametrize(
    ("x", "values", "error", "message"),
    [
        (0, {"a": 1}, ValueError, "x = 0.0, which a log axis cannot show"),
        (1, {"a": 0.0}, ValueError, r"values\['a'\] = 0.0, which a log axis cannot show"),
        (1, {"a": -math.inf}, ValueError, r"values\['a'\] = -inf, which a log axis cannot show"),
        (math.nan, {"a": 1}, ValueError, "x must be finite, got nan"),
        (1, {"a": 1e201}, ValueError, r"values\['a'\] must be at most 1e\+200 in magnitude"),
        (1, {"_a": 1}, ValueError, "a name in values must not begin with an underscore, got '_a'"),
        (1, {3: 1}, TypeError, "a name in values must be a str, got 3"),
        (1, {"a": "1"}, TypeError, r"values\['a'\] must be a number, got '1'"),
        (1, {"a": None}, TypeError, r"values\['a'\] must be a number, got None"),
        (1, {"a": [1]}, TypeError, r"values\['a'\] must be a number, got \[1\]"),
        ("1", {"a": 1}, TypeError, "x must be a number, got '1'"),
        (1, [1], TypeError, r"values must be a mapping, got \[1\]"),
    ],
)
def test_bad_point_is_refused_at_once_and_the_others_are_kept(x, values, error, message, displayed):
    with LiveCurves(9, xlabel="x", ylabel="y", xscale="log", yscale="log") as curves:
        curves.add(1, {"first": 2})
        with pytest.raises(error, match=message):
            curves.add(x, {"first": 7, **values} if isinstance(values, dict) else values)
        curves.add(2, {"first": 3})
    assert displayed[-1][0][SERIES_MIME]["series"] == {"first": {"x": [1, 2], "y": [2, 3]}}


@pytest.mark.parametrize(
    "number", [np.float32(0.5), np.float64(0.5), torch.tensor(0.5, dtype=torch.bfloat16)]
)
def test_numbers_of_every_kind_are_points(number, displayed):
    with LiveCurves(1, xlabel="x", ylabel="y") as curves:
        curves.add(number, {"a": number})
    assert displayed[-1][0][SERIES_MIME]["series"] == {"a": {"x": [0.5], "y": [0.5]}}


def test_a_seventh_curve_is_refused_at_once(displayed):
    with LiveCurves(9, xlabel="x", ylabel="y") as curves:
        for name in "abcdef":
            curves.add(1, {name: 2})
        with pytest.raises(ValueError, match="values must hold 1 to 6 curves, got 7"):
            curves.add(1, {"g": 2})
    assert len(displayed[-1][0][SERIES_MIME]["series"]) == 6


def test_a_loss_that_is_nan_leaves_a_gap(displayed):
    with LiveCurves(3, xlabel="x", ylabel="y", yscale="log") as curves:
        for x, loss in enumerate([math.nan, 2.0, math.inf]):
            curves.add(x, {"loss": loss})
    assert displayed[-1][0][SERIES_MIME]["series"]["loss"]["y"] == ["nan", 2, "inf"]


def test_a_round_without_a_value_counts(person, displayed):
    with LiveCurves(3, xlabel="x", ylabel="y", every=0.0) as curves:
        curves.add(1, {})
    assert "1 of 3" in displayed[-1][0]["text/html"]


def test_points_are_added_within_the_statement_only(displayed):
    curves = LiveCurves(3, xlabel="x", ylabel="y")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="add must be called within `with LiveCurves"):
            curves.add(1, {"a": 1})
        with curves:
            pass


# The bar of a loop that is waited for


@pytest.fixture
def bars(monkeypatch):
    """Return the list of (HTML, whether it renews another) of displays; a look at the clock takes 0.3 s."""
    calls, clock = [], iter(range(100))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: 0.3 * next(clock))

    def display(bundle, **options):
        calls.append((bundle["text/html"], options["update"]))

    monkeypatch.setattr(_progress, "display", display)
    return calls


def test_person_sees_how_far_a_long_loop_is_until_it_is_done(bars, monkeypatch):
    monkeypatch.setattr(_progress, "interactive", lambda: True)
    assert list(_progress.watched("abc")) == ["a", "b", "c"]
    assert ["1 of 3" in bars[0][0], bars[-1]] == [True, ("", True)]
    assert [renews for _, renews in bars] == [False, *[True] * (len(bars) - 1)]


def test_nobody_sees_no_bar(bars, monkeypatch):
    monkeypatch.setattr(_progress, "interactive", lambda: False)
    assert list(_progress.watched("abc")) == ["a", "b", "c"]
    assert bars == []


def test_bar_goes_when_the_loop_fails(bars, monkeypatch):
    monkeypatch.setattr(_progress, "interactive", lambda: True)
    steps = _progress.watched("abcdef")
    for _ in range(4):
        next(steps)
    steps.close()
    assert bars[-1] == ("", True)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"total": 0}, ValueError, "total must be at least 1, got 0"),
        ({"total": 10**15 + 1}, ValueError, r"total must be at most 10\*\*15 rounds, got 1000000000000001"),
        ({"total": 10**5000}, ValueError, "rounds, got a number of thousands of digits"),
        ({"total": 2.5}, TypeError, "total must be an integer, got 2.5"),
        ({"every": -1}, ValueError, "every must be at least 0, got -1"),
        ({"yscale": "cubic"}, ValueError, "yscale must be one of 'linear', 'log'; got 'cubic'"),
        ({"xlabel": None}, TypeError, "xlabel must be a str, got None"),
    ],
)
def test_bad_argument_is_named(changes, error, message):
    with pytest.raises(error, match=message):
        LiveCurves(**{"total": 3, "xlabel": "x", "ylabel": "y", **changes})


def test_explorers_and_live_curves_ask_the_same_question():
    assert explorers.interactive is interactive
