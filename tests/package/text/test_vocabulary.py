"""The vocabulary: counts, units, texts, and what it is as a file."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lrnn.text.corpora import load_corpus
from d2lrnn.text.vocabulary import Vocab

# Vocab

SENTENCE = ["b", "a", "c", "a", "b", "d"]


def test_order_is_unknown_then_reserved_then_by_frequency_with_ties_as_first_seen() -> None:
    vocab = Vocab(SENTENCE, reserved_tokens=["<pad>", "<bos>"])
    assert list(vocab) == ["<unk>", "<pad>", "<bos>", "b", "a", "c", "d"]


@pytest.mark.parametrize(("min_freq", "size"), [(0, 5), (1, 5), (2, 3), (3, 1)])
def test_min_freq_leaves_out_tokens_seen_fewer_times(min_freq: int, size: int) -> None:
    assert len(Vocab(SENTENCE, min_freq=min_freq)) == size


def test_reserved_token_is_kept_whatever_its_frequency() -> None:
    assert Vocab(SENTENCE, min_freq=3, reserved_tokens=["d"])["d"] == 1


@pytest.mark.parametrize(
    "tokens",
    [
        [["b", "a"], ["c", "a", "b", "d"]],
        [[], ["b", "a"], [], ["c", "a", "b", "d"]],
        [("b", "a", "c", "a", "b", "d")],
        iter(SENTENCE),
        (iter(line) for line in (["b", "a"], ["c", "a", "b", "d"])),
        np.array(SENTENCE),
        np.array([["b", "a", "c"], ["a", "b", "d"]]),
        [np.str_(token) for token in SENTENCE],
    ],
    ids=["nested", "empty lines", "tuples", "flat generator", "nested generator", "array", "2-D", "np.str_"],
)
def test_tokens_may_be_laid_out_in_lines(tokens: Sequence[Sequence[str]]) -> None:
    assert list(Vocab(tokens)) == ["<unk>", "b", "a", "c", "d"]


@pytest.mark.parametrize("tokens", [[], [[]]])
def test_vocab_of_no_tokens_knows_only_the_unknown_token(tokens: list[str]) -> None:
    assert list(Vocab(tokens)) == ["<unk>"]


def test_unknown_token_has_index_zero() -> None:
    assert Vocab(SENTENCE)["zebra"] == 0


def test_unk_is_zero() -> None:
    assert Vocab(SENTENCE).unk == 0


@pytest.mark.parametrize("special", ["<unk>", "<pad>"])
def test_special_token_in_the_text_is_not_listed_twice(special: str) -> None:
    assert list(Vocab(["a", special, special], reserved_tokens=["<pad>"])) == ["<unk>", "<pad>", "a"]


def test_token_freqs_counts_every_token_before_min_freq() -> None:
    vocab = Vocab([*SENTENCE, "<unk>"], min_freq=2, reserved_tokens=["c"])
    assert vocab.token_freqs == [("b", 2), ("a", 2), ("c", 1), ("d", 1), ("<unk>", 1)]


def test_changing_the_token_freqs_that_were_returned_changes_nothing() -> None:
    vocab = Vocab(SENTENCE)
    vocab.token_freqs.clear()
    assert len(vocab.token_freqs) == 4


@pytest.mark.parametrize("attribute", ["unk", "bos", "unit", "reserved", "reserved_tokens", "token_freqs"])
def test_vocab_attributes_are_read_only(attribute: str) -> None:
    with pytest.raises(AttributeError):
        setattr(Vocab(SENTENCE), attribute, 1)


@pytest.mark.parametrize(
    ("tokens", "indices"),
    [
        ("a", 2),
        (["a"], [2]),
        (("a", "b"), [2, 1]),
        ([["a", "b"], [], ["zebra"]], [[2, 1], [], [0]]),
        (np.str_("a"), 2),
        (np.array(["a", "zebra"]), [2, 0]),
        (np.array([["a"], ["b"]]), [[2], [1]]),
        ([np.str_("a")], [2]),
    ],
    ids=["str", "one in a list", "tuple", "nested", "np.str_", "array", "2-D array", "np.str_ in a list"],
)
def test_tokens_are_looked_up_as_they_are_nested(tokens: object, indices: object) -> None:
    assert Vocab(SENTENCE)[tokens] == indices


@pytest.mark.parametrize(
    ("indices", "tokens"),
    [
        (2, "a"),
        ([2], ["a"]),
        ((2, 1), ["a", "b"]),
        (range(1, 3), ["b", "a"]),
        ([[2, 1], []], [["a", "b"], []]),
        (torch.tensor(2), "a"),
        (torch.tensor([2]), ["a"]),
        (torch.tensor([[2, 1]]), [["a", "b"]]),
        ([torch.tensor(2), torch.tensor(1)], ["a", "b"]),
        (torch.tensor([2], dtype=torch.uint8), ["a"]),
        (np.int64(2), "a"),
        (np.array(2), "a"),
        (np.array([2]), ["a"]),
        (np.array([[2], [1]]), [["a"], ["b"]]),
    ],
)
def test_indices_are_turned_into_tokens_as_they_are_nested(indices: object, tokens: object) -> None:
    assert Vocab(SENTENCE).to_tokens(indices) == tokens


@pytest.mark.parametrize("bad", [-1, 5, 10**30])
@pytest.mark.parametrize("wrap", [int, lambda i: [0, i]], ids=["int", "list"])
def test_index_out_of_range_is_named(bad: int, wrap: type[int]) -> None:
    with pytest.raises(ValueError, match=rf"index must be in 0\.\.4, got {bad}"):
        Vocab(SENTENCE).to_tokens(wrap(bad))


@pytest.mark.parametrize("bad", [1.0, True, "a", None, torch.tensor([1.0]), np.array([True]), ["a"]])
def test_index_that_is_not_an_integer_is_a_type_error(bad: object) -> None:
    with pytest.raises(TypeError, match="index must be an integer"):
        Vocab(SENTENCE).to_tokens(bad)


@pytest.mark.parametrize("bad", [1, None, [1], [["a"], 1], b"a", np.array([1]), torch.tensor(1)])
def test_looking_up_anything_but_tokens_is_a_type_error(bad: object) -> None:
    with pytest.raises(TypeError, match="token must be a str"):
        Vocab(SENTENCE)[bad]


@pytest.mark.parametrize(
    ("token", "known"),
    [
        ("a", True),
        (np.str_("a"), True),
        ("<unk>", True),
        ("zebra", False),
        (1, False),
        (["a"], False),
    ],
)
def test_in_tells_whether_a_token_is_known(token: object, known: bool) -> None:
    assert (token in Vocab(SENTENCE)) is known


def test_repr_gives_the_size_and_the_first_tokens() -> None:
    vocab = Vocab(SENTENCE, reserved_tokens=["<pad>"])
    assert repr(vocab) == "Vocab(6 tokens: '<unk>', '<pad>', 'b', 'a', 'c', ...)"


@pytest.mark.parametrize("tokens", ["abc", np.array("abc"), {"a": 3}, Counter("aab"), {"a", "b"}, 5, None])
def test_tokens_that_are_no_sequence_are_a_type_error(tokens: object) -> None:
    with pytest.raises(TypeError, match="tokens must be a list"):
        Vocab(tokens)  # type: ignore[arg-type]


@pytest.mark.parametrize("tokens", [[1], ["a", None], [["a", 1]], [[["a"]]], [b"a"]])
def test_token_that_is_not_a_str_is_a_type_error(tokens: list[object]) -> None:
    with pytest.raises(TypeError, match=r"tokens\[.*must be a"):
        Vocab(tokens)  # type: ignore[arg-type]


def test_negative_min_freq_is_refused() -> None:
    with pytest.raises(ValueError, match="min_freq must be at least 0, got -1"):
        Vocab(SENTENCE, min_freq=-1)


def test_fractional_min_freq_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"min_freq must be an integer, got 1\.5"):
        Vocab(SENTENCE, min_freq=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(("reserved", "again"), [(["<pad>", "<pad>"], "<pad>"), (["<unk>"], "<unk>")])
def test_repeated_reserved_token_is_refused(reserved: list[str], again: str) -> None:
    with pytest.raises(ValueError, match=f"reserved_tokens must be distinct.* got '{again}' again"):
        Vocab(SENTENCE, reserved_tokens=reserved)


@pytest.mark.parametrize("reserved", ["<pad>", None, {"<pad>"}])
def test_reserved_tokens_that_are_no_sequence_are_a_type_error(reserved: object) -> None:
    with pytest.raises(TypeError, match="reserved_tokens must be a list"):
        Vocab(SENTENCE, reserved_tokens=reserved)  # type: ignore[arg-type]


class Odd(str):
    """A str that says something else of itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return "odd"


def test_tokens_of_a_subclass_of_str_become_plain_ones() -> None:
    assert [(token, type(token)) for token in Vocab([Odd("a")], reserved_tokens=[Odd("<pad>")])] == [
        ("<unk>", str),
        ("<pad>", str),
        ("a", str),
    ]


# Vocab: its unit, and what is no text


@pytest.mark.parametrize(
    ("tokens", "reserved", "unit"),
    [
        (list("abc"), [], "char"),
        (list("ab c\n"), ["<pad>", "<bos>"], "char"),
        ([*"abc", "<bos>"], ["<bos>"], "char"),
        ([*"abc", "<unk>"], [], "char"),
        ([], ["<pad>"], "char"),
        (["the", "a"], [], "word"),
        ([*"abc", "<eos>"], [], "word"),
        (["a", ""], [], "word"),
    ],
)
def test_unit_is_taken_from_the_tokens_of_the_text(tokens: list[str], reserved: list[str], unit: str) -> None:
    assert Vocab(tokens, reserved_tokens=reserved).unit == unit


def test_rare_words_make_a_vocabulary_of_words_too() -> None:
    assert Vocab(["a", "a", "tide"], min_freq=2).unit == "word"


def test_unit_of_short_words_can_be_stated() -> None:
    assert Vocab(["a", "b"], unit="word").unit == "word"


def test_characters_may_have_reserved_tokens_among_them() -> None:
    vocab = Vocab([*"ab", "<eos>", "<unk>"], reserved_tokens=["<eos>"], unit="char")
    assert (list(vocab), vocab.unit) == (["<unk>", "<eos>", "a", "b"], "char")


@pytest.mark.parametrize("odd", ["<eos>", "", "ab"])
def test_token_that_is_no_character_is_refused_among_characters(odd: str) -> None:
    with pytest.raises(ValueError, match=rf"one character each .*, got '{odd}'; .*reserved_tokens"):
        Vocab([*"ab", odd], unit="char")


def test_vocab_refuses_an_unknown_unit() -> None:
    with pytest.raises(ValueError, match="unit must be one of 'word', 'char'; got 'byte'"):
        Vocab(SENTENCE, unit="byte")


def test_vocab_unit_that_is_no_str_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unit must be a str, got 1"):
        Vocab(SENTENCE, unit=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["char", "word"])
def test_vocab_of_a_corpus_knows_its_unit(unit: str) -> None:
    assert load_corpus(unit=unit)[1].unit == unit


def test_unknown_and_reserved_tokens_are_no_text() -> None:
    vocab = Vocab(SENTENCE, reserved_tokens=["<pad>", "<bos>"])
    assert [*vocab.reserved] == vocab[["<unk>", "<pad>", "<bos>"]]


def test_only_the_unknown_token_is_reserved_of_itself() -> None:
    assert [*Vocab(SENTENCE).reserved] == [0]


def test_reserved_tokens_are_given_back() -> None:
    assert Vocab(SENTENCE, reserved_tokens=iter(["<pad>", "d"])).reserved_tokens == ("<pad>", "d")


@pytest.mark.parametrize(
    ("tokens", "reserved", "bos"),
    [("ab", ["<pad>", "<bos>"], 2), ("ab", ["<pad>"], None), (["<bos>"], [], None)],
)
def test_bos_is_the_index_of_a_reserved_token(
    tokens: list[str], reserved: list[str], bos: int | None
) -> None:
    assert Vocab(list(tokens), reserved_tokens=reserved).bos == bos


# Vocab: texts


WORDS = Vocab(["the", "tide", "a"])
CHARACTERS = Vocab(list("the tide"), reserved_tokens=["<pad>"])


def test_text_of_characters_is_encoded_by_character() -> None:
    assert CHARACTERS.encode("tie") == CHARACTERS[["t", "i", "e"]]


def test_text_of_words_is_encoded_by_word() -> None:
    assert WORDS.encode(" the  tide\n") == WORDS[["the", "tide"]]


@pytest.mark.parametrize("vocab", [WORDS, CHARACTERS])
def test_empty_text_has_no_indices(vocab: Vocab) -> None:
    assert (vocab.encode(""), vocab.decode([])) == ([], "")


@pytest.mark.parametrize(("vocab", "text"), [(WORDS, "the tide the"), (CHARACTERS, "the tide")])
@pytest.mark.parametrize("as_ids", [list, tuple, iter, np.array, torch.tensor])
def test_decoding_gives_back_an_encoded_text(
    vocab: Vocab, text: str, as_ids: Callable[..., list[int]]
) -> None:
    assert vocab.decode(as_ids(vocab.encode(text))) == text


def test_scalars_of_numpy_and_torch_are_decoded() -> None:
    assert CHARACTERS.decode([np.int64(2), torch.tensor(2)]) == "tt"  # type: ignore[list-item]


def test_unknown_characters_of_a_text_are_listed() -> None:
    with pytest.raises(
        ValueError, match=r"text must be of characters in .* no 'z', 'b', 'r', 'a'; got 'zebra'"
    ):
        CHARACTERS.encode("zebra")


def test_unknown_words_of_a_text_are_listed() -> None:
    with pytest.raises(
        ValueError, match=r"text must be of words in the .* no 'ebb', 'sea'; got 'the ebb sea'"
    ):
        WORDS.encode("the ebb sea")


def test_message_about_a_long_text_is_short() -> None:
    with pytest.raises(ValueError, match=r"no 'a', 'b', .*, \.\.\.; got 'abc") as error:
        Vocab([]).encode("abcdefghijklmnopqrstuvwxyz" * 1000)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("bad", [b"the", 5, None, ["t"]])
def test_text_to_encode_that_is_no_str_is_a_type_error(bad: str) -> None:
    with pytest.raises(TypeError, match="text must be a str"):
        CHARACTERS.encode(bad)


@pytest.mark.parametrize("bad", [-1, 4])
def test_id_to_decode_out_of_range_is_named(bad: int) -> None:
    with pytest.raises(ValueError, match=rf"id must be in 0\.\.3, got {bad}"):
        WORDS.decode([1, bad])


@pytest.mark.parametrize("bad", [1, "a", None, [[1]], [1.0], ["a"], [True], torch.tensor([[1]]), {1: 2}])
def test_ids_to_decode_that_are_no_list_of_integers_are_a_type_error(bad: list[int]) -> None:
    with pytest.raises(TypeError, match=r"ids? must be"):
        WORDS.decode(bad)


# Vocab: equality, copies and files


def variants() -> list[Vocab]:
    return [
        Vocab(SENTENCE),
        Vocab(SENTENCE, min_freq=2),
        Vocab(SENTENCE, unit="word"),
        Vocab(SENTENCE, reserved_tokens=["<pad>"]),
        Vocab(SENTENCE, reserved_tokens=["b"]),
        Vocab([*SENTENCE, "d"]),
        Vocab([]),
    ]


def test_equal_vocabularies_are_those_made_alike() -> None:
    equal = [[one == other for other in variants()] for one in variants()]
    assert equal == np.eye(len(equal), dtype=bool).tolist()


def test_equal_vocabularies_have_equal_hashes() -> None:
    assert {*variants(), *variants()} == {*variants()}


def test_vocab_is_equal_to_nothing_else() -> None:
    assert Vocab(["a"]) != ["<unk>", "a"]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
@pytest.mark.parametrize("vocab", variants())
def test_copies_of_a_vocab_are_equal(copied: Callable[[Vocab], Vocab], vocab: Vocab) -> None:
    assert copied(vocab) == vocab


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved") / "vocab.json"


@given(
    st.lists(st.text(max_size=3) | st.sampled_from(["石", "\ud800", "\udcff", "\n", ""])),
    st.integers(0, 3),
    st.lists(st.sampled_from(["<pad>", "<bos>", "a"]), unique=True),
)
def test_loaded_vocab_is_equal_to_the_saved_one(
    file: Path, tokens: list[str], min_freq: int, reserved: list[str]
) -> None:
    vocab = Vocab(tokens, min_freq, reserved)
    vocab.save(file)
    assert Vocab.load(file) == vocab


def test_loaded_vocab_of_short_words_is_of_words(file: Path) -> None:
    Vocab(["a"], unit="word").save(file)
    assert Vocab.load(file).unit == "word"


def test_saved_vocab_is_utf8_json_that_a_reader_can_read(file: Path) -> None:
    Vocab(list("石桥石"), reserved_tokens=["<pad>"]).save(file)
    expected = (
        '{"kind": "Vocab", "unit": "char", "min_freq": 0, "reserved_tokens": ["<pad>"], '
        '"token_freqs": [["石", 2], ["桥", 1]]}\n'
    )
    assert file.read_bytes() == expected.encode()


def test_saving_replaces_a_file_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    path.write_bytes(b"x" * 9999)
    Vocab(["a"]).save(path)
    assert (Vocab.load(path), list(tmp_path.iterdir())) == (Vocab(["a"]), [path])


def test_token_that_json_would_change_is_refused_and_the_file_kept(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    Vocab(["a"]).save(path)
    with pytest.raises(ValueError, match="two lone surrogates"):
        Vocab(["\ud83d\ude00"]).save(path)
    assert Vocab.load(path) == Vocab(["a"])


SAVED = {
    "kind": "Vocab",
    "unit": "char",
    "min_freq": 0,
    "reserved_tokens": ["<pad>"],
    "token_freqs": [["b", 2], ["a", 2], ["c", 1]],
}


def test_file_made_by_hand_is_loaded(file: Path) -> None:
    file.write_text(json.dumps(SAVED), encoding="utf-8")
    assert Vocab.load(file) == Vocab(list("bacab"), reserved_tokens=["<pad>"])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "BPETokenizer"}, "kind"),
        ({"unit": "byte"}, "unit must be one of"),
        ({"unit": None}, "unit must be a str"),
        ({"min_freq": -1}, "min_freq must be at least 0"),
        ({"min_freq": 1.5}, "min_freq must be an integer"),
        ({"reserved_tokens": "<pad>"}, "reserved_tokens must be a list"),
        ({"reserved_tokens": [1]}, r"reserved_tokens\[0\] must be a str"),
        ({"reserved_tokens": ["<unk>"]}, "must be distinct"),
        ({"token_freqs": {"a": 1}}, "must be a list of pairs"),
        ({"token_freqs": ["ab"]}, "must be a list of pairs"),
        ({"token_freqs": [["a"]]}, "must be a list of pairs"),
        ({"token_freqs": [[1, 1]]}, "token must be a str"),
        ({"token_freqs": [["a", 0]]}, "count must be at least 1"),
        ({"token_freqs": [["a", True]]}, "count must be an integer"),
        ({"token_freqs": [["a", 2], ["a", 1]]}, "distinct"),
        ({"token_freqs": [["a", 1], ["b", 2]]}, "most frequent"),
        ({"token_freqs": [["ab", 1]]}, "one character each"),
        ({"more": 1}, "keys must be"),
    ],
)  # fmt: skip
def test_vocab_file_edited_into_nonsense_is_refused_by_name(
    file: Path, change: dict[str, object], why: str
) -> None:
    file.write_text(json.dumps(SAVED | change), encoding="utf-8")
    with pytest.raises(
        ValueError, match=rf"path='.*vocab\.json' is no file that Vocab\.save writes: .*{why}"
    ):
        Vocab.load(file)


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"3", b"{", b"{}", b'{"kind": "Vocab"}', b"[" * 10**5, b"1" * 5000],
    ids=["empty", "list", "number", "cut", "object", "no keys", "deep", "long"],
)
def test_file_that_is_no_vocab_is_refused_by_name(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(ValueError, match=r"path='.*vocab\.json' is no file that Vocab\.save writes"):
        Vocab.load(file)


def test_missing_vocab_file_is_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"path must be .*missing\.json"):
        Vocab.load(tmp_path / "missing.json")


@given(st.lists(st.lists(st.text(max_size=3))))
def test_vocab_gives_back_every_token_of_its_text(lines: list[list[str]]) -> None:
    vocab = Vocab(lines)
    assert vocab.to_tokens(vocab[lines]) == lines


@given(st.lists(st.text(max_size=2)), st.integers(0, 3))
def test_vocab_gives_back_every_index(tokens: list[str], min_freq: int) -> None:
    vocab = Vocab(tokens, min_freq)
    assert vocab[list(vocab)] == list(range(len(vocab)))
