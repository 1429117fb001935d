"""Whether somebody is at the kernel, and curves that grow while a loop runs."""

from types import SimpleNamespace

import pytest
from jupyter_client.manager import start_new_kernel

from d2lrnn import LiveCurves, _kernel, explorers, figures, live, plot_curves
from d2lrnn._kernel import interactive
from d2lrnn.figures import SERIES_MIME

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


def test_error_in_the_loop_comes_through(watched, displayed):
    def fail():
        with LiveCurves(3, xlabel="x", ylabel="y") as curves:
            curves.add(1, {"a": 1 / 0})

    with pytest.raises(ZeroDivisionError):
        fail()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"total": 0}, ValueError, "total must be at least 1, got 0"),
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
