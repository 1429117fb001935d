"""The checks that all modules share: what they take, and what their errors name."""

from __future__ import annotations

import math
import threading
import tracemalloc
import warnings
from array import array
from collections import UserList, deque
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lrnn import _support

both = pytest.mark.parametrize("check", [_support.corpus, _support.token_ids])
indices = st.lists(st.integers(0, 100), max_size=20)


def quantized():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch is about to drop them
        return torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)


def nested():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a prototype, PyTorch says
        return torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])


# token indices


@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        deque,
        array_of := lambda ids: array("q", ids),
        lambda ids: memoryview(array_of(ids)),
        lambda ids: np.array(ids, np.int64),
        lambda ids: np.array(ids, np.uint64),
        lambda ids: np.array(ids, ">u2"),
        lambda ids: np.array(ids, object),
        lambda ids: np.array([np.int8(i) for i in ids], object),
        lambda ids: [np.uint64(i) for i in ids],
        lambda ids: np.repeat(np.array(ids, np.int64), 2)[::2],
        lambda ids: np.array(ids[::-1], np.int64)[::-1],
        lambda ids: torch.tensor(ids, dtype=torch.int64),
        lambda ids: torch.tensor(ids, dtype=torch.uint8),
    ],
)
@both
@given(ids=indices)
def test_every_kind_of_whole_numbers_is_a_corpus(check, kind, ids):
    assert check("x", kind(ids), minimum=0).tolist() == ids


@both
def test_a_range_is_a_corpus(check):
    assert check("x", range(3)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "value", [[2], np.array([2], np.uint16), np.array([2], ">i8"), torch.tensor([2], dtype=torch.int8)]
)
def test_a_corpus_is_an_int64_tensor(value):
    assert _support.corpus("x", value).dtype == torch.int64


@pytest.mark.skipif(not hasattr(torch, "uint16"), reason="PyTorch before 2.3")
def test_a_tensor_of_uint16_is_a_corpus():
    assert _support.corpus("x", torch.tensor([1, 65535], dtype=torch.uint16)).tolist() == [1, 65535]


@both
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (np.ma.masked_less(np.arange(5), 2), TypeError, "x must not be a masked array"),
        (np.array([1, 2**63 + 1], np.uint64), ValueError, f"64-bit integers, got {2**63 + 1}$"),
        ([0, 2**63], ValueError, f"64-bit integers, got {2**63}$"),
        ([-1, 2**63], ValueError, f"64-bit integers, got {2**63}$"),
        ([-(2**70)], ValueError, f"64-bit integers, got {-(2**70)}$"),
        (np.array([1, 2.5], object), TypeError, r"64-bit integers, got 2\.5 \(float\)"),
        (np.array([1, True], object), TypeError, r"64-bit integers, got True \(bool\)"),
        (np.array([1, None], object), TypeError, r"64-bit integers, got None"),
        (np.array([1, 2**70], object), ValueError, f"64-bit integers, got {2**70}$"),
        (np.array([True, False]), TypeError, "64-bit integers, got .*True"),
        (np.array([1.0, 2.0]), TypeError, r"64-bit integers, got .*1\.0"),
        (np.array([1], "m8[s]"), TypeError, r"x must hold integers, got an array of timedelta64\[s\]"),
        (np.array(3), ValueError, r"x must have one axis, got shape \(\)"),
        (np.zeros((2, 3), np.int64), ValueError, r"x must have one axis, got shape \(2, 3\)"),
        (
            torch.zeros(3, dtype=torch.int64, device="meta"),
            TypeError,
            "x must be a dense tensor .* a meta one",
        ),
        (torch.ones(3, dtype=torch.int64).to_sparse(), TypeError, "x must be a dense tensor .* a sparse one"),
        (quantized(), TypeError, r"x must hold integers, got a tensor of torch\.quint8"),
        (torch.zeros(3, dtype=torch.bool), TypeError, r"x must hold integers, got a tensor of torch\.bool"),
        (torch.tensor(3), ValueError, r"x must have one axis, got shape \(\)"),
        ({1: 2}, TypeError, r"x must be a sequence of integers, got {1: 2} \(dict\)"),
        (iter([1]), TypeError, "x must be a sequence of integers"),
        (bytearray(b"ab"), TypeError, "x must be a sequence of integers"),
        (["1", "2"], TypeError, r"64-bit integers, got '1' \(str\)"),
    ],
)
def test_what_is_no_corpus_is_an_error_that_names_it(check, value, error, message):
    with pytest.raises(error, match=message):
        check("x", value)


@both
@given(ids=st.lists(st.integers(-(2**65), 2**65), min_size=1, max_size=5))
def test_a_list_is_a_corpus_if_its_numbers_are_from_0_to_63_bits(check, ids):
    if min(ids) >= 0 and max(ids) < 2**63:
        assert check("x", ids).tolist() == ids
    else:
        with pytest.raises(ValueError, match="x must hold") as raised:
            check("x", ids)
        assert any(str(raised.value).endswith(f"got {i}") for i in ids)


@pytest.mark.parametrize("kind", [np.array, torch.tensor])
@pytest.mark.parametrize("check", [_support.corpus, _support.token_ids])
def test_int64_that_can_be_written_to_is_not_copied(check, kind):
    value = kind([1, 2, 3])
    value_of = check("x", value)
    value[0] = 9
    assert value_of.tolist() == [9, 2, 3]


@pytest.mark.filterwarnings("error")
def test_a_corpus_that_is_only_read_can_be_written_to_as_a_tensor():
    value = np.arange(3)
    value.flags.writeable = False
    _support.corpus("x", value).zero_()
    assert value.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.int64, np.uint16])
def test_to_read_a_corpus_takes_no_memory(tmp_path, dtype):
    np.zeros(10**6, dtype).tofile(tmp_path / "x")
    value = np.memmap(tmp_path / "x", dtype, "r")
    tracemalloc.start()
    ids = _support.token_ids("x", value, vocab_size=5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.shares_memory(ids, value)
    assert peak < 100_000


def test_an_array_that_is_not_aligned_is_a_corpus():
    raw = np.zeros(25, np.uint8)
    raw[1:].view(np.int64)[:] = [1, 2, 3]
    assert _support.corpus("x", raw[1:].view(np.int64)).tolist() == [1, 2, 3]


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_a_corpus_of_inference_mode_is_a_plain_tensor(kind, dtype):
    with torch.inference_mode():
        value = kind([1, 2]) if kind is not torch.tensor else torch.tensor([1, 2], dtype=dtype)
        inside = _support.corpus("x", value)
    assert not inside.is_inference()
    assert not _support.corpus("x", value).is_inference()


def test_a_tensor_of_inference_mode_that_stays_one_is_a_plain_tensor(monkeypatch):
    with torch.inference_mode():
        value = torch.tensor([1, 2])
    monkeypatch.setattr(_support, "token_ids", lambda _, value, **__: value)  # as off the CPU
    assert not _support.corpus("x", value).is_inference()


def test_a_corpus_is_on_the_cpu_whatever_the_default_device():
    with torch.device("meta"):
        assert _support.corpus("x", [1, 2]).tolist() == [1, 2]


def test_no_filter_of_warnings_changes_in_another_thread():
    value = np.arange(10)
    value.flags.writeable = False
    before, seen, done = list(warnings.filters), [], threading.Event()

    def watch():
        while not done.is_set():
            seen.append(warnings.filters == before)

    thread = threading.Thread(target=watch)
    thread.start()
    for _ in range(200):
        _support.corpus("x", value)
    done.set()
    thread.join()
    assert all(seen)


# the end of a sequence


@pytest.mark.parametrize("kind", [list, tuple, deque, range, np.arange, torch.arange, memoryview])
@pytest.mark.parametrize(("count", "expected"), [(0, []), (2, [3, 4]), (9, [0, 1, 2, 3, 4])])
def test_the_last_items_are_the_last_items(kind, count, expected):
    value = {list: [*range(5)], tuple: (*range(5),), deque: deque(range(5)), memoryview: bytes(range(5))}
    items = kind(value[kind]) if kind in value else kind(5)
    assert [int(item) for item in _support.tail("x", items, count)] == expected


@pytest.mark.parametrize("value", [None, 3, "abc", b"abc", {1, 2}, {1: 2}, iter([1])])
def test_the_end_of_what_is_no_sequence_is_an_error(value):
    with pytest.raises(TypeError, match="x must be a sequence of integers, got"):
        _support.tail("x", value, 1)


# numbers


@pytest.mark.parametrize("value", [np.int8(3), np.uint64(3), 3])
def test_every_integer_type_is_an_integer(value):
    assert type(_support.integer("x", value)) is int


@pytest.mark.parametrize("value", [np.float16(0.5), np.float64(0.5), Fraction(1, 2), 0.5])
def test_every_real_type_is_a_number(value):
    assert _support.real("x", value) == 0.5


def test_a_number_too_large_for_a_float_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"x must fit a float, got 1000.*0000"):
        _support.real("x", 10**400)


@pytest.mark.parametrize(
    "check",
    [lambda x: _support.integer("x", -x, minimum=0), lambda x: _support.index("x", x, 5)],
)
def test_an_endless_number_is_cut_short_in_its_error(check):
    with pytest.raises(ValueError, match=r"^x must be") as raised:
        check(10**1000)
    assert len(str(raised.value)) < 100


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (torch.zeros(2, device="meta"), "meta"),
        (torch.ones(2).to_sparse(), "sparse"),
        (quantized(), "quantized"),
        (nested(), "nested"),
    ],
)
def test_a_tensor_without_a_value_for_each_place_is_an_error(value, kind):
    with pytest.raises(TypeError, match=f"x must be a dense tensor that holds its values, got a {kind} one"):
        _support.dense("x", value)


def test_a_dense_tensor_is_returned_as_it_is():
    value = torch.ones(2)
    assert _support.dense("x", value) is value


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_not_finite_is_an_error(value):
    with pytest.raises(ValueError, match=f"x must be finite, got {value}"):
        _support.real("x", value)


def test_a_number_too_long_to_write_out_is_named_all_the_same():
    with pytest.raises(ValueError, match="x must be at least 0, got a number of thousands of digits"):
        _support.integer("x", -(10**5000), minimum=0)
    with pytest.raises(ValueError, match="x must hold 64-bit integers, got a number of thousands of digits"):
        _support.corpus("x", [0, 10**5000])


def test_a_list_of_tensors_that_hold_nothing_is_named():
    with pytest.raises(TypeError, match="x must hold integers, got"):
        _support.corpus("x", [torch.zeros((), dtype=torch.int64, device="meta")])


@pytest.mark.parametrize(
    "items",
    [
        [True, 2],
        [2, np.True_],
        (2, torch.tensor(True)),
        [np.array(True), 2],
        UserList([2, False]),
        [True, True],
    ],
)
def test_a_bool_in_a_list_is_no_token(items):
    with pytest.raises(TypeError, match="x must hold"):
        _support.token_ids("x", items)


@pytest.mark.parametrize("items", [[torch.tensor(1), 2], [np.array(1), np.int8(2)], [np.int64(1), 2]])
def test_numbers_of_every_kind_in_a_list_are_tokens(items):
    assert _support.token_ids("x", items).tolist() == [1, 2]


def test_a_list_of_an_array_or_a_scalar_is_of_pythons_numbers():
    assert _support.listed("x", np.arange(2)) == [0, 1]
    assert type(_support.listed("x", torch.tensor(1.5))) is float
    assert _support.listed("x", "as it is") == "as it is"


@pytest.mark.parametrize(
    "value", [torch.zeros(2, device="meta"), torch.eye(2).to_sparse(), np.ma.array([1, 2], mask=[0, 1])]
)
def test_what_does_not_hold_its_values_is_not_listed(value):
    with pytest.raises(TypeError, match="x must"):
        _support.listed("x", value)


def test_a_huge_size_is_written_short():
    with pytest.raises(ValueError, match="x must be in 0"):
        _support.index("x", -1, 10**5000)
