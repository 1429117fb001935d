"""Random and sequential batches, the dataset of windows, and the split."""

from __future__ import annotations

import copy
import pickle
import random
import tracemalloc
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from d2lrnn import _support
from d2lrnn.text.batching import WindowDataset, random_batches, sequential_batches, split_corpus

both = pytest.mark.parametrize("batches", [random_batches, sequential_batches])
law = settings(deadline=None)  # a busy machine is not a fault


@st.composite
def arguments(draw):
    """Draw a length, batch_size, num_steps and seed of which at least one batch can be made."""
    batch_size, num_steps = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    length = batch_size * num_steps + 1 + draw(st.integers(0, 60))
    return length, batch_size, num_steps, draw(st.integers(0, 2**32))


def read(batches, length, batch_size, num_steps, seed):
    """Return the batches of a corpus in which every token is its own position."""
    return list(batches(torch.arange(length), batch_size, num_steps, seed=seed))


@both
def test_there_are_three_batches_for_every_offset(batches):
    assert {len(read(batches, 35, 2, 5, seed)) for seed in range(200)} == {3}


@both
def test_every_offset_is_drawn_and_no_other(batches):
    firsts = {min(int(X.min()) for X, _ in read(batches, 35, 2, 5, seed)) for seed in range(200)}
    assert firsts == {0, 1, 2, 3, 4}


@both
def test_offsets_are_drawn_evenly(batches):
    firsts = [min(int(X.min()) for X, _ in read(batches, 35, 2, 5, seed)) for seed in range(1000)]
    assert min(np.bincount(firsts)) > 150


@both
def test_the_last_token_of_0_to_34_is_reached(batches):
    assert max(int(Y.max()) for seed in range(200) for _, Y in read(batches, 35, 2, 5, seed)) == 34


@law
@given(arguments())
def test_the_last_token_is_reached_by_random_windows_of_every_corpus(case):
    length, batch_size, num_steps, _ = case
    seeds = range(2000)
    assert any(
        int(Y[:, -1].max()) == length - 1
        for seed in seeds
        for _, Y in random_batches(range(length), batch_size, num_steps, seed=seed)
    )


@law
@given(arguments())
def test_rows_leave_few_tokens_unread_at_the_end(case):
    length, batch_size, num_steps, _ = case
    last = int(read(sequential_batches, *case)[-1][1].max())
    assert length - 1 - last <= (batch_size - 1) + (num_steps - 1)


@pytest.mark.parametrize(("length", "never"), [(35, set()), (36, {34}), (40, {36, 37, 38})])
def test_inputs_that_rows_reach_under_no_offset_are_at_the_end(length, never):
    inputs = {
        int(x)
        for seed in range(200)
        for X, _ in read(sequential_batches, length, 2, 5, seed)
        for x in X.flatten()
    }
    assert set(range(length - 1)) - inputs == never


@both
@law
@given(arguments())
def test_labels_are_inputs_shifted_by_one(batches, case):
    assert all(torch.equal(Y, X + 1) for X, Y in read(batches, *case))


@both
@law
@given(arguments())
def test_every_batch_has_the_shape_asked_for(batches, case):
    _, batch_size, num_steps, _ = case
    shapes = {(*X.shape, *Y.shape) for X, Y in read(batches, *case)}
    assert shapes == {(batch_size, num_steps) * 2}


@both
@law
@given(arguments())
def test_batches_are_int64(batches, case):
    assert {t.dtype for pair in read(batches, *case) for t in pair} == {torch.int64}


@both
@law
@given(arguments())
def test_rows_are_stretches_of_the_text(batches, case):
    assert all(bool((X.diff() == 1).all()) for X, _ in read(batches, *case))


@both
@law
@given(arguments())
def test_no_token_is_an_input_twice_in_a_pass(batches, case):
    tokens = torch.cat([X.reshape(-1) for X, _ in read(batches, *case)])
    assert len(tokens.unique()) == len(tokens)


@law
@given(arguments())
def test_random_windows_start_whole_windows_from_each_other(case):
    starts = torch.cat([X[:, 0] for X, _ in read(random_batches, *case)])
    assert len(torch.unique(starts % case[2])) == 1


@law
@given(arguments())
def test_random_windows_fill_as_many_batches_as_they_can(case):
    length, batch_size, num_steps, _ = case
    batches = read(random_batches, *case)
    offset = min(int(X.min()) for X, _ in batches) % num_steps
    assert len(batches) == (length - 1 - offset) // num_steps // batch_size


@law
@given(arguments())
def test_rows_fill_as_many_batches_as_they_can(case):
    length, batch_size, num_steps, _ = case
    batches = read(sequential_batches, *case)
    offset = int(batches[0][0][0, 0])
    assert len(batches) == (length - 1 - offset) // batch_size // num_steps


def test_random_windows_come_in_random_order():
    starts = torch.cat([X[:, 0] for X, _ in read(random_batches, 1000, 2, 5, 0)])
    assert not torch.equal(starts, starts.sort().values)


def test_every_random_window_is_dealt_out_when_batches_are_full():
    starts = torch.cat([X[:, 0] for X, _ in read(random_batches, 35, 2, 5, 0)])
    assert torch.equal(starts.sort().values.diff(), torch.full((5,), 5))


@law
@given(arguments())
def test_sequential_rows_continue_in_the_next_batch(case):
    batches = read(sequential_batches, *case)
    assert all(torch.equal(b[0][:, 0], a[0][:, -1] + 1) for a, b in pairwise(batches))


@law
@given(arguments())
def test_sequential_rows_are_evenly_spaced(case):
    length, batch_size, _, _ = case
    X, _ = read(sequential_batches, *case)[0]
    offset = int(X[0, 0])
    rows = offset + torch.arange(batch_size) * ((length - 1 - offset) // batch_size)
    assert torch.equal(X[:, 0], rows)


@both
@law
@given(arguments())
def test_the_same_seed_gives_the_same_batches(batches, case):
    again = zip(read(batches, *case), read(batches, *case), strict=True)
    assert all(torch.equal(a, b) for pairs in again for a, b in zip(*pairs, strict=True))


def equal(first, second):
    """Tell whether two passes hold the same batches."""
    pairs = zip(first, second, strict=True)
    return all(torch.equal(a, b) for each in pairs for a, b in zip(*each, strict=True))


def first_column(batches):
    """Return where the rows of a pass's first batch begin."""
    return tuple(next(iter(batches))[0][:, 0].tolist())


@both
def test_no_seed_gives_new_batches(batches):
    assert len({first_column(batches(range(1000), 2, 50)) for _ in range(50)}) > 10


@both
@pytest.mark.parametrize("seed", [3, torch.Generator()])
def test_global_random_state_is_left_alone(batches, seed):
    before = random.getstate(), torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    list(batches(range(100), 2, 5, seed=seed))
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])
    assert np.array_equal(np.random.get_state()[1], before[2])  # noqa: NPY002


@both
@pytest.mark.parametrize(("seed", "different"), [(None, 20), (3, 1)])
def test_torch_s_seed_matters_without_a_seed_only(batches, seed, different):
    firsts = set()
    for i in range(20):
        torch.manual_seed(i)
        firsts.add(first_column(batches(range(100_000), 2, 5000, seed=seed)))
    assert len(firsts) in range(different // 2, different + 1)


@both
def test_torch_s_seed_repeats_the_batches_without_a_seed(batches):
    firsts = set()
    for _ in range(5):
        torch.manual_seed(0)
        firsts.add(first_column(batches(range(100_000), 2, 5000)))
    assert len(firsts) == 1


# passes


@both
def test_a_second_pass_is_another_one(batches):
    passes = batches(torch.arange(1000), 2, 50, seed=0)
    assert not equal(passes, passes)


@both
def test_the_same_seed_repeats_all_passes(batches):
    one, other = batches(torch.arange(1000), 2, 50, seed=0), batches(torch.arange(1000), 2, 50, seed=0)
    assert all(equal(one, other) for _ in range(3))


@both
def test_every_pass_has_an_offset_of_its_own(batches):
    passes = batches(range(35), 2, 5, seed=0)
    assert {min(int(X.min()) for X, _ in passes) for _ in range(100)} == {0, 1, 2, 3, 4}


@both
def test_a_generator_is_drawn_from_at_each_pass(batches):
    seed = torch.Generator().manual_seed(7)
    passes = batches(torch.arange(1000), 2, 50, seed=seed)
    known = batches(torch.arange(1000), 2, 50, seed=7)
    assert equal(passes, known)
    assert equal(passes, known)


@both
def test_a_pass_draws_when_it_is_begun(batches):
    passes, known = (batches(torch.arange(1000), 2, 50, seed=7) for _ in range(2))
    first, second = iter(passes), iter(passes)
    late, early = list(second), list(first)
    assert equal(early, known)
    assert equal(late, known)


@both
def test_passes_side_by_side_are_whole_passes(batches):
    passes = batches(torch.arange(1000), 2, 50, seed=7)
    known = batches(torch.arange(1000), 2, 50, seed=7)
    one, other = zip(*zip(passes, passes, strict=True), strict=True)
    assert equal(one, known)
    assert equal(other, known)


@both
def test_passes_in_threads_are_those_of_the_seed(batches):
    passes, known = (batches(torch.arange(2000), 2, 5, seed=7) for _ in range(2))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: torch.stack([X for X, _ in passes]).numpy().tobytes(), range(40)))
    expected = [torch.stack([X for X, _ in known]).numpy().tobytes() for _ in range(40)]
    assert sorted(found) == sorted(expected)


@both
def test_a_copy_goes_on_by_itself(batches):
    passes = batches(torch.arange(1000), 2, 50, seed=7)
    assert equal(copy.deepcopy(passes), passes)


@both
@law
@given(arguments())
def test_the_length_is_that_of_every_pass(batches, case):
    length, batch_size, num_steps, seed = case
    passes = batches(range(length), batch_size, num_steps, seed=seed)
    found = len(passes)
    for _ in range(3):
        pending = iter(passes)
        next(pending)
        assert len(passes) == found == 1 + sum(1 for _ in pending)


@settings(law, max_examples=20)
@given(arguments())
def test_offsets_are_those_that_cost_no_batch(case):
    length, batch_size, num_steps, _ = case
    passes = sequential_batches(range(length), batch_size, num_steps, seed=0)
    whole = (length - 1) // (batch_size * num_steps)
    fit = {o for o in range(num_steps) if (length - 1 - o) // (batch_size * num_steps) == whole}
    assert {int(next(iter(passes))[0][0, 0]) for _ in range(400)} == fit


@both
def test_batches_print_as_what_they_are(batches):
    expected = f"<{batches.__name__}: 28 batches of 2 x 5 tokens from a corpus of 290>"
    assert repr(batches(range(290), 2, 5)) == expected


@both
@law
@given(arguments())
def test_a_corpus_just_long_enough_has_one_batch_for_every_seed(batches, case):
    _, batch_size, num_steps, seed = case
    assert len(read(batches, batch_size * num_steps + 1, batch_size, num_steps, seed)) == 1


@both
@pytest.mark.parametrize("length", [0, 1, 10])
def test_a_corpus_too_short_for_one_batch_is_an_error_at_the_call(batches, length):
    with pytest.raises(ValueError, match=rf"batch_size=2 .*num_steps=5 .*corpus holds {length}$"):
        batches(list(range(length)), 2, 5, seed=0)


@both
@pytest.mark.parametrize("name", ["batch_size", "num_steps"])
@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError)])
def test_a_size_that_is_no_positive_integer_is_an_error_at_the_call(batches, name, value, error):
    sizes = {"batch_size": 2, "num_steps": 5, name: value}
    with pytest.raises(error, match=name):
        batches(range(35), **sizes)


@both
@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (2**64, ValueError), (1.5, TypeError)])
def test_a_seed_that_torch_cannot_use_is_an_error_at_the_call(batches, seed, error):
    with pytest.raises(error, match="seed"):
        batches(range(35), 2, 5, seed=seed)


@both
@pytest.mark.parametrize(
    ("corpus", "error", "message"),
    [
        ([0.5] * 35, TypeError, r"corpus must hold 64-bit integers, got 0\.5 \(float\)"),
        ([0] * 34 + [2**70], ValueError, r"corpus must hold 64-bit integers, got 1180591620717411303424"),
        ([0] * 34 + [True] + ["a"], TypeError, "corpus must hold 64-bit integers, got True"),
        (torch.zeros(35), TypeError, "corpus must hold integers, got a tensor of torch.float32"),
        (torch.zeros(35, dtype=torch.bool), TypeError, "corpus must hold integers"),
        ("a" * 35, TypeError, "corpus must be a sequence of integers"),
        (b"a" * 35, TypeError, "corpus must be a sequence of integers"),
        (set(range(35)), TypeError, "corpus must be a sequence of integers"),
        (None, TypeError, "corpus must be a sequence of integers"),
        (
            torch.zeros(35, 2, dtype=torch.int64),
            ValueError,
            r"corpus must have one axis, got shape \(35, 2\)",
        ),
        ([[0], [0, 1]] * 20, ValueError, "corpus must have one axis"),
        (list(range(-3, 32)), ValueError, "corpus must hold token indices of at least 0, got -3"),
    ],
)
def test_a_corpus_that_holds_no_token_indices_is_an_error_at_the_call(batches, corpus, error, message):
    with pytest.raises(error, match=message):
        batches(corpus, 2, 5)


@both
@pytest.mark.parametrize(
    "corpus",
    [
        list(range(35)),
        tuple(range(35)),
        np.arange(35),
        np.arange(35, dtype=np.uint8),
        np.arange(34, -1, -1)[::-1],
        torch.arange(35, dtype=torch.int32),
        torch.arange(70)[::2] // 2,
    ],
)
def test_every_kind_of_corpus_gives_the_same_batches(batches, corpus):
    (X, _), *_ = batches(corpus, 2, 5, seed=0)
    assert torch.equal(X, read(batches, 35, 2, 5, 0)[0][0])


@both
def test_writing_to_a_batch_leaves_the_corpus_and_its_labels_alone(batches):
    corpus = torch.arange(35)
    for X, Y in batches(corpus, 2, 5, seed=0):
        labels = Y.clone()
        X.zero_()
        assert torch.equal(Y, labels)
        Y.zero_()
    assert torch.equal(corpus, torch.arange(35))


# corpora that are only read


def file_of(tmp_path, dtype, length=400_000):
    """Return a read-only memory map of integers in 0..99."""
    path = tmp_path / "tokens"
    (np.arange(length) % 100).astype(dtype).tofile(path)
    return np.memmap(path, dtype=dtype, mode="r")


READERS = [
    lambda corpus: [X.add_(Y) for X, Y in random_batches(corpus, 4, 25, seed=0)][:3],
    lambda corpus: [X.add_(Y) for X, Y in sequential_batches(corpus, 4, 25, seed=0)][:3],
    lambda corpus: [X.add_(Y) for X, Y in DataLoader(WindowDataset(corpus[:5000], 25), 4)][:3],
    lambda corpus: [X.add_(Y) for X, Y in [WindowDataset(corpus, 25)[-1]]],
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("dtype", ["int64", "uint16", "int32", ">i8", "uint64"])
@pytest.mark.filterwarnings("error")
def test_a_read_only_memory_map_gives_batches_to_write_to(tmp_path, read, dtype):
    corpus = file_of(tmp_path, dtype, 10_000)
    expected = read(torch.from_numpy(corpus.astype(np.int64)))
    assert all(torch.equal(a, b) for a, b in zip(read(corpus), expected, strict=True))


@pytest.mark.parametrize("dtype", ["int64", "uint16"])
@pytest.mark.parametrize(
    "read",
    [
        lambda corpus: deque(random_batches(corpus, 4, 25, seed=0), 1),
        lambda corpus: deque(sequential_batches(corpus, 4, 25, seed=0), 1),
        lambda corpus: deque(random_batches(corpus[::-1], 4, 25, seed=0), 1),
        lambda corpus: WindowDataset(corpus, 25).__getitems__(range(50)),
        split_corpus,
    ],
)
def test_a_memory_map_is_not_copied(tmp_path, read, dtype):
    corpus = file_of(tmp_path, dtype)
    read(corpus)  # what is made once, whatever the corpus
    tracemalloc.start()
    read(corpus)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < corpus.nbytes / 4


def test_parts_of_a_memory_map_are_of_the_same_memory(tmp_path):
    corpus = file_of(tmp_path, "uint16", 100)
    assert all(np.shares_memory(part, corpus) for part in split_corpus(corpus))


@both
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32])
def test_a_narrow_tensor_gives_int64_batches(batches, dtype):
    corpus = torch.arange(35, dtype=dtype)
    assert equal(batches(corpus, 2, 5, seed=0), batches(torch.arange(35), 2, 5, seed=0))


READS = [
    lambda corpus: next(iter(random_batches(corpus, 2, 5, seed=0)))[0],
    lambda corpus: next(iter(sequential_batches(corpus, 2, 5, seed=0)))[0],
    lambda corpus: WindowDataset(corpus, 5)[0][0],
    lambda corpus: WindowDataset(corpus, 5).__getitems__([3, -1])[1][0],
]


@pytest.mark.parametrize("read", READS)
def test_a_corpus_that_stays_a_tensor_is_read_as_an_array_is(monkeypatch, read):
    corpus = torch.arange(35)
    expected = read(corpus)
    monkeypatch.setattr(_support, "token_ids", lambda _, value, **__: value)  # as off the CPU
    found = read(corpus)
    assert torch.equal(found, expected)
    found.zero_()
    assert torch.equal(corpus, torch.arange(35))


# settings of the user's


@both
def test_another_default_device_changes_nothing(batches):
    with torch.device("meta"):
        found = list(batches(list(range(35)), 2, 5, seed=0))
    assert equal(found, batches(range(35), 2, 5, seed=0))


def test_windows_stay_where_the_corpus_is_under_another_default_device():
    with torch.device("meta"):
        dataset = WindowDataset(list(range(35)), 5)
        found = [dataset[3], *dataset.__getitems__([3])]
    assert all(X.tolist() == [3, 4, 5, 6, 7] for X, _ in found)


@pytest.mark.parametrize("read", READS)
def test_what_is_read_in_inference_mode_can_be_trained_on(read):
    weight = torch.ones(35, 1, requires_grad=True)
    with torch.inference_mode():
        X = read(torch.arange(35))
    torch.nn.functional.embedding(X, weight).sum().backward()
    assert weight.grad is not None


@pytest.mark.parametrize("read", READS)
def test_a_corpus_made_in_inference_mode_can_be_trained_on(read):
    weight = torch.ones(35, 1, requires_grad=True)
    with torch.inference_mode():
        corpus = torch.arange(35)
    torch.nn.functional.embedding(read(corpus), weight).sum().backward()
    assert weight.grad is not None


@law
@given(st.integers(1, 9), st.integers(1, 30))
def test_there_is_a_window_at_every_position(num_steps, more):
    assert len(WindowDataset(range(num_steps + more), num_steps)) == more


@law
@given(st.integers(1, 9), st.integers(1, 30), st.data())
def test_a_window_and_its_labels_start_one_token_apart(num_steps, more, data):
    i = data.draw(st.integers(0, more - 1))
    X, Y = WindowDataset(range(num_steps + more), num_steps)[i]
    assert (X.tolist(), Y.tolist()) == ([*range(i, i + num_steps)], [*range(i + 1, i + 1 + num_steps)])


def test_the_last_window_has_the_last_token_as_a_label():
    assert WindowDataset(range(35), 5)[-1][1].tolist() == [30, 31, 32, 33, 34]


@pytest.mark.parametrize("index", [30, -31])
def test_a_window_that_is_not_there_is_an_index_error(index):
    with pytest.raises(IndexError, match=rf"each index must be in -30\.\.29, got \[{index}\]"):
        WindowDataset(range(35), 5)[index]


def test_iterating_over_windows_ends():
    assert len(list(WindowDataset(range(35), 5))) == 30


def test_writing_to_a_window_leaves_the_corpus_and_its_labels_alone():
    corpus = torch.arange(35)
    dataset = WindowDataset(corpus, 5)
    for X, Y in (dataset[3], *dataset.__getitems__([3])):
        X.zero_()
        assert Y.tolist() == [4, 5, 6, 7, 8]
    assert torch.equal(corpus, torch.arange(35))


@law
@given(st.integers(1, 9), st.integers(1, 30), st.data())
def test_items_taken_together_are_those_taken_one_by_one(num_steps, more, data):
    dataset = WindowDataset(range(num_steps + more), num_steps)
    indices = data.draw(st.lists(st.integers(-more, more - 1)))
    assert equal(dataset.__getitems__(indices), (dataset[i] for i in indices))


def test_a_data_loader_takes_the_items_of_a_batch_together(monkeypatch):
    monkeypatch.setattr(WindowDataset, "__getitem__", None)
    X, Y = next(iter(DataLoader(WindowDataset(range(35), 5), 30)))
    assert torch.equal(Y, X + 1)


def test_a_numpy_integer_is_an_index():
    assert WindowDataset(range(35), 5)[np.int64(3)][0].tolist() == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("index", [slice(0, 3), 1.0, None, [1]])
def test_an_index_that_is_no_integer_is_an_error(index):
    with pytest.raises(TypeError, match="each index must be an integer, got"):
        WindowDataset(range(35), 5)[index]


def test_windows_print_as_what_they_are():
    assert repr(WindowDataset(range(35), 5)) == "<WindowDataset: 30 windows of 5 tokens>"


def test_a_data_loader_shows_inner_tokens_num_steps_times():
    loader = DataLoader(WindowDataset(range(35), 5), batch_size=4, shuffle=True)
    seen = torch.cat([X.reshape(-1) for X, _ in loader]).bincount()
    assert seen[4:30].tolist() == [5] * 26


@pytest.mark.parametrize("length", [0, 5])
def test_a_corpus_without_a_whole_window_is_an_error(length):
    with pytest.raises(ValueError, match=f"num_steps=5 .*need 6 tokens, but corpus holds {length}"):
        WindowDataset(list(range(length)), 5)


@pytest.mark.parametrize(("num_steps", "error"), [(0, ValueError), (1.0, TypeError)])
def test_a_window_length_that_is_no_positive_integer_is_an_error(num_steps, error):
    with pytest.raises(error, match="num_steps"):
        WindowDataset(range(35), num_steps)


@law
@given(st.lists(st.integers(0, 9), min_size=2), st.floats(0.01, 0.99))
def test_the_parts_of_a_split_make_up_the_corpus(corpus, held_out):
    try:
        train, rest = split_corpus(corpus, held_out)
    except ValueError:
        assert round(held_out * len(corpus)) in (0, len(corpus))
    else:
        assert train + rest == corpus


@pytest.mark.parametrize(("length", "held_out", "expected"), [(100, 0.1, 10), (100, 0.29, 29), (3, 0.5, 2)])
def test_the_share_held_out_is_rounded(length, held_out, expected):
    assert len(split_corpus(list(range(length)), held_out)[1]) == expected


def test_a_tenth_is_held_out_unless_told_otherwise():
    assert split_corpus(list(range(30))) == (list(range(27)), [27, 28, 29])


def test_windows_of_the_two_parts_share_no_token():
    train, held_out = (WindowDataset(part, 5) for part in split_corpus(torch.arange(100), 0.2))
    tokens = [{int(t) for pair in part for window in pair for t in window} for part in (train, held_out)]
    assert not tokens[0] & tokens[1]


def test_the_parts_of_a_tensor_are_views():
    corpus = torch.arange(30)
    assert split_corpus(corpus)[1].untyped_storage().data_ptr() == corpus.untyped_storage().data_ptr()


@pytest.mark.parametrize("corpus", [list(range(30)), torch.arange(30), np.arange(30)])
def test_the_parts_have_the_type_of_the_corpus(corpus):
    assert {type(part) for part in split_corpus(corpus)} == {type(corpus)}


@pytest.mark.parametrize(("length", "held_out"), [(4, 0.1), (4, 0.9), (1, 0.5)])
def test_a_split_with_an_empty_part_is_an_error(length, held_out):
    with pytest.raises(ValueError, match=rf"held_out={held_out} of a corpus of {length} token"):
        split_corpus(list(range(length)), held_out)


@pytest.mark.parametrize(
    ("held_out", "error"), [(0, ValueError), (1.0, ValueError), (float("nan"), ValueError), ("a", TypeError)]
)
def test_a_share_that_is_not_between_0_and_1_is_an_error(held_out, error):
    with pytest.raises(error, match="held_out"):
        split_corpus(list(range(30)), held_out)


@pytest.mark.parametrize(
    ("corpus", "error"),
    [
        ([], ValueError),
        (list("abc"), TypeError),
        (deque(range(30)), TypeError),
        (np.ma.masked_less(np.arange(30), 3), TypeError),
    ],
)
def test_a_corpus_that_cannot_be_split_is_an_error(corpus, error):
    with pytest.raises(error, match="corpus"):
        split_corpus(corpus)


@pytest.mark.parametrize("batches", [random_batches, sequential_batches])
def test_a_numpy_integer_is_a_seed(batches):
    by_numpy = batches(range(35), 2, 5, seed=np.int64(3))
    assert all(
        torch.equal(x, u) for (x, _), (u, _) in zip(by_numpy, batches(range(35), 2, 5, seed=3), strict=True)
    )


@both
def test_a_copy_without_a_seed_draws_from_the_global_generator(batches):
    copied = pickle.loads(pickle.dumps(copy.deepcopy(batches(range(200), 2, 5))))
    torch.manual_seed(1)
    first = [X.tolist() for X, _ in copied]
    torch.manual_seed(1)
    assert [X.tolist() for X, _ in copied] == first


@both
def test_a_bool_among_the_tokens_is_refused(batches):
    with pytest.raises(TypeError, match=r"corpus must hold 64-bit integers, got True \(bool\)"):
        batches([True, 2] + [1] * 50, 2, 5)


@pytest.mark.parametrize("place", [True, np.True_, torch.tensor(True)])
def test_a_bool_is_no_index_of_a_window(place):
    with pytest.raises(TypeError, match="each index must be an integer"):
        WindowDataset(range(9), 2)[place]


@both
@pytest.mark.parametrize("sizes", [(10**5000, 1), (1, 10**5000)], ids=["first", "second"])
def test_sizes_too_long_to_write_out_are_refused_by_name(batches, sizes):
    with pytest.raises(ValueError, match="one batch of batch_size="):
        batches(range(9), *sizes)


def test_a_window_too_long_to_write_out_is_refused_by_name():
    with pytest.raises(ValueError, match="a window of num_steps="):
        WindowDataset(range(9), 10**5000)


def test_a_seed_too_long_to_write_out_is_refused_by_name():
    with pytest.raises(ValueError, match=r"seed must be below 2\*\*64"):
        random_batches(range(9), 1, 2, seed=10**5000)
