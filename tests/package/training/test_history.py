"""The history of training runs: sums, comparison, and what it looks like where numbers are missing."""

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2lrnn import History
from d2lrnn.drawing import figures
from d2lrnn.drawing.figures import SERIES_MIME

PLAIN = History((6.0, 3.0), (), (2.0, 1.0), 1e-9, 3000, 2.0)
HELD_OUT = History((2.0,), (5.0,), (0.5,), 1e-8, 1000, 1.0)
EVERY = [History(), PLAIN, HELD_OUT, PLAIN + HELD_OUT, HELD_OUT + PLAIN, HELD_OUT + HELD_OUT]

numbers = st.lists(st.floats(1, 1e9), max_size=3).map(tuple)
histories = st.builds(History, numbers, numbers, numbers, num_tokens=st.integers(0, 99))


def series(history):
    """Return the curves that a history's picture publishes."""
    with figures.captured(png=False) as shown:
        history.plot()
    return shown[0][SERIES_MIME]["series"]


# Sums


def test_held_out_values_keep_their_epochs_where_the_first_run_has_none():
    held_out = (PLAIN + HELD_OUT).held_out_perplexity
    assert (np.isnan(held_out[:2]).all(), held_out[2:]) == (True, (5.0,))


def test_held_out_values_keep_their_epochs_where_the_second_run_has_none():
    held_out = (HELD_OUT + PLAIN).held_out_perplexity
    assert (held_out[:1], np.isnan(held_out[1:]).all(), len(held_out)) == ((5.0,), True, 3)


def test_no_run_with_held_out_values_gives_a_sum_with_none():
    assert (PLAIN + PLAIN).held_out_perplexity == ()


@given(histories, histories)
def test_a_sum_has_the_epochs_of_both(first, second):
    columns = ("perplexity", "held_out_perplexity", "gradient_norm")
    lengths = [max(len(getattr(run, name)) for name in columns) for run in (first, second)]
    both = first + second
    assert {len(getattr(both, name)) for name in columns} <= {0, sum(lengths)}
    for name in columns:
        kept = [value for value in getattr(both, name) if not math.isnan(value)]
        assert kept == [*getattr(first, name), *getattr(second, name)]


@given(histories, histories, histories)
def test_it_does_not_matter_which_runs_are_added_first(first, second, third):
    assert (first + second) + third == first + (second + third)


@pytest.mark.parametrize("history", EVERY[:3])
def test_an_empty_history_changes_nothing(history):
    assert history + History() == history == History() + history


def test_any_number_of_histories_have_a_sum():
    assert sum([PLAIN, HELD_OUT, PLAIN]) == PLAIN + HELD_OUT + PLAIN


@pytest.mark.parametrize(
    "add", [lambda: PLAIN + 3, lambda: 3 + PLAIN, lambda: PLAIN + None, lambda: 0.0 + PLAIN]
)
def test_nothing_but_histories_can_be_added(add):
    with pytest.raises(TypeError, match="unsupported operand type"):
        add()


# Comparison


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda run: pickle.loads(pickle.dumps(run))])
@pytest.mark.parametrize("history", EVERY)
def test_a_duplicate_is_equal_also_where_numbers_are_missing(history, duplicate):
    assert duplicate(history) == history
    assert hash(duplicate(history)) == hash(history)


def test_another_number_makes_another_history():
    others = [
        History((6.0, 3.1), (), (2.0, 1.0), 1e-9, 3000, 2.0),
        PLAIN + History(num_tokens=1),
        HELD_OUT,
        3,
    ]
    assert [other == PLAIN for other in others] == [False] * 4


# What it looks like


@pytest.mark.parametrize("history", EVERY)
def test_every_history_is_a_table_with_a_row_for_each_epoch(history):
    rows = max(map(len, (history.perplexity, history.gradient_norm)))
    assert len(repr(history).splitlines()) == rows + 2
    assert history._repr_html_().count("<tr>") == rows + 1


def test_missing_numbers_are_dashes():
    rows = [line.split() for line in repr(PLAIN + HELD_OUT).splitlines()[1:-1]]
    assert rows == [["1", "6.00", "–", "2.00"], ["2", "3.00", "–", "1.00"], ["3", "2.00", "5.00", "0.500"]]


def test_an_epoch_that_was_not_ended_is_a_row():
    stopped = History((4.0, 3.0), (5.0,), (1.0,))
    assert repr(stopped).splitlines()[2].split() == ["2", "3.00", "–", "–"]


def test_a_picture_has_gaps_where_numbers_are_missing():
    assert series(PLAIN + HELD_OUT) == {
        "training": {"x": [1, 2, 3], "y": [6, 3, 2]},
        "held out": {"x": [1, 2, 3], "y": ["nan", "nan", 5]},
    }


def test_a_picture_has_only_the_curves_that_have_numbers():
    assert series(PLAIN).keys() == {"training"}
    assert series(History((2.0,), (math.nan,))).keys() == {"training"}


@pytest.mark.parametrize("values", [(2.0, math.inf), (math.inf, math.inf)])
def test_an_infinite_perplexity_is_drawn_as_a_gap(values, recwarn):
    assert series(History(values))["training"]["y"] == [str(v) if v == math.inf else v for v in values]
    assert not recwarn.list


@pytest.mark.parametrize("history", [History(), History((math.nan,))])
def test_a_history_without_a_perplexity_has_no_picture(history):
    with pytest.raises(ValueError, match="history must hold a perplexity to be plotted, got none"):
        history.plot()


def test_counts_of_numpy_are_counts():
    history = History((2.0,), num_tokens=np.int64(10), seconds=np.float64(2)) + HELD_OUT
    assert (history.num_tokens, history.tokens_per_second) == (1010, 1010 / 3)


# What it looks like as a table

RUN = History((6.0, 3.25, 1234.5), (7.0, 4.0, math.inf), (2.0, 1.0, 0.5), 1e-9, 3000, 2.0)


def test_a_history_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RUN.seconds = 1.0


def test_a_history_is_a_table_of_text():
    assert repr(RUN).splitlines() == [
        "epoch  training  held out  gradient norm",
        "    1      6.00      7.00           2.00",
        "    2      3.25      4.00           1.00",
        "    3     1,230       inf          0.500",
        "2 s (measured), 1,500 tokens/s (measured)",
    ]


def test_a_history_is_a_table_on_a_page():
    page = RUN._repr_html_()
    assert "<tr><td>2</td><td>3.25</td><td>4.00</td><td>1.00</td></tr>" in page
    assert "1,500 tokens/s (measured)</caption>" in page


def test_a_table_without_held_out_text_has_no_column_of_it():
    assert "held out" not in repr(dataclasses.replace(RUN, held_out_perplexity=()))


@pytest.mark.parametrize(("epochs", "rows"), [(0, []), (1, [1]), (10, [*range(1, 11)]), (100, [1, 12, 23])])
def test_a_long_table_shows_ten_epochs_with_the_first_and_last(epochs, rows):
    lines = repr(History((2.0,) * epochs, (), (1.0,) * epochs)).splitlines()[1:-1]
    shown = [int(line.split()[0]) for line in lines]
    assert shown[: len(rows)] == rows
    assert (len(shown), shown[-1:]) == (min(epochs, 10), [epochs] if epochs else [])


def test_a_history_is_a_picture():
    with figures.captured() as shown:
        RUN_ = dataclasses.replace(RUN, held_out_perplexity=(7.0, 4.0, 5.0))
        RUN_.plot()
    series = shown[0][figures.SERIES_MIME]["series"]
    assert series["training"] == {"x": [1, 2, 3], "y": [6.0, 3.25, 1234.5]}
    assert series["held out"]["y"] == [7.0, 4.0, 5.0]


def test_a_sum_of_histories_is_one_run_after_the_other():
    both = RUN + History((2.0,), (3.0,), (0.1,), 1e-12, 1000, 3.0)
    assert both == History(
        (6.0, 3.25, 1234.5, 2.0), (7.0, 4.0, math.inf, 3.0), (2.0, 1.0, 0.5, 0.1), 1e-12, 4000, 5.0
    )
