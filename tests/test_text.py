"""Cleaning, tokenizing, the vocabulary, and corpora of indices."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lrnn.corpora import CORPORA, load_text
from d2lrnn.text import clean_lines, load_corpus, tokenize
from d2lrnn.vocab import Vocab

# clean_lines


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("The Time Machine, by H. G. Wells [1898]", "the time machine by h g wells"),
        ("  spaces\t and\u00a0 more  ", "spaces and more"),
        ("don't don’t ‘don’t’ “don’t”", "don t don t don t don t"),
        ("René Françoise naïve Ångström", "rene francoise naive angstrom"),
        ("Rene\u0301", "rene"),
        ("a\u20ddb", "ab"),
        ("Straße Æsir œuvre smørrebrød", "strasse aesir oeuvre smorrebrod"),
        ("Łódź Đorđe þáttr Eiður", "lodz dorde thattr eidur"),
        ("İstanbul ıssız", "istanbul issiz"),
        ("ﬁne ＦＵＬＬ Ⅳ", "fine full iv"),
        ("co\u00adoperate", "cooperate"),
        ("twenty-one 21 x2y _a_", "twenty one x y a"),
        ("zero\u200bwidth \ufeffmark right\u200f \u202dto\u202c left", "zerowidth mark right to left"),
        ("ħobż Ŋ ə ŧ ƒ Ħal ĸ ŉ Ŀl", "hobz n e t f hal q n ll"),
        ("Ɓ ƀ Ɖ ǝ Ɔ ʒ Ǯ ȣ ȸ Ȝ ǆ ƿ ƣ ǃ ǂ", "b b d e o zh zh ou db gh dz w gh q tc"),
        ("ẞ ẚ ỿ ꜳ ꟻ ɓ ᴀ ⱥ ʰ", "ss a y aa f b a a h"),
        ("1ª 2º mⁿ Ⅷ K Å ℓ", "a o mn viii k a l"),
        ("Acme™ ©x Ⓐ ① ㎏ ℃ № ℡ ½ x²", "acme x x"),
        ("donʼt ʾa", "don t a"),
        ("a\x00b\x07c\x7fd", "a b c d"),
        ("fill\u3164er vari\ufe0fant", "filler variant"),
        ("日本 Tokyo", "tokyo"),
        ("1898.", ""),
    ],
)  # fmt: skip
def test_latin_line_keeps_letters_and_single_spaces(raw: str, clean: str) -> None:
    assert clean_lines(raw) == [clean]


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\nb\n", ["a", "b"]),
        ("\n", [""]),
        ("a\n\n\nb", ["a", "", "", "b"]),
        ("a\n--\n", ["a", ""]),
        ("a\n--", ["a", ""]),
        ("a\r\nb\rc", ["a", "b", "c"]),
        ("a\x0cb\x0bc\x1cd\u2028e\x85f", ["a b c d e f"]),
    ],
)
def test_only_newlines_end_a_line(raw: str, lines: list[str]) -> None:
    assert clean_lines(raw) == lines


@given(st.text(alphabet="aé’ \n\r-9", max_size=60))
def test_there_is_one_entry_for_each_line_that_readlines_would_give(text: str) -> None:
    universal = text.replace("\r\n", "\n").replace("\r", "\n")
    assert len(clean_lines(text)) == len(universal.split("\n")) - (
        universal == "" or universal.endswith("\n")
    )


@given(st.text())
def test_latin_lines_hold_nothing_but_single_spaced_words_of_a_to_z(text: str) -> None:
    lines = clean_lines("a" + text)  # the letter keeps a text in another script from being refused
    assert all(re.fullmatch("([a-z]+( [a-z]+)*)?", line) for line in lines)


LETTERS = [
    c for c in map(chr, [*range(0x00C0, 0x0250), *range(0x1E00, 0x1F00)]) if unicodedata.category(c)[0] == "L"
]
FORMAT = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) == "Cf"]


def test_every_letter_of_the_latin_blocks_stays_letters() -> None:
    lines = clean_lines("\n".join(f"x{letter}y" for letter in LETTERS))
    lost = [c for c, line in zip(LETTERS, lines, strict=True) if not re.fullmatch("x[a-z]+y", line)]
    assert (len(LETTERS), lost) == (398 + 256, [])


def test_capitals_and_small_letters_come_out_alike() -> None:
    assert clean_lines("\n".join(LETTERS)) == clean_lines("\n".join(c.lower() for c in LETTERS))


@pytest.mark.parametrize(
    "character", ["™", "©", "①", "㎏", "℃", "ⓐ", "🄰", "1", "。", "日", "я", "\x00", "\x1b"]
)
def test_what_is_no_latin_letter_becomes_a_space(character: str) -> None:
    assert clean_lines(f"x{character}y") == ["x y"]


def test_format_characters_vanish_within_a_latin_word() -> None:
    assert clean_lines("\n".join(f"wo{c}rd" for c in FORMAT)) == ["word"] * len(FORMAT)


@given(st.text())
def test_canonically_equal_texts_are_cleaned_alike(text: str) -> None:
    assert clean_lines("a" + text) == clean_lines(unicodedata.normalize("NFD", "a" + text))


@given(st.text())
def test_cleaning_clean_lines_changes_nothing(text: str) -> None:
    lines = clean_lines("a" + text)
    assert clean_lines("".join(f"{line}\n" for line in lines)) == lines


@given(st.text(alphabet=st.characters(max_codepoint=127, exclude_characters="\r")))
def test_ascii_text_is_cleaned_as_in_d2l(text: str) -> None:
    d2l = [re.sub("[^A-Za-z]+", " ", line).strip().lower() for line in ("a" + text).split("\n")]
    assert clean_lines("a" + text + "\n") == d2l


def test_han_lines_keep_characters_and_punctuation() -> None:
    text = "《石桥记》\n\n“好，”他说；好：！？、。"
    assert clean_lines(text, script="han") == text.split("\n")


def test_han_lines_lose_their_whitespace() -> None:
    assert clean_lines("石 桥\u3000记\t。", script="han") == ["石桥记。"]


def test_han_lines_compose_combining_marks() -> None:
    assert clean_lines("石e\u0301", script="han") == ["石é"]


INVISIBLE = [  # what Unicode calls default ignorable, and its controls
    *FORMAT,
    *"\x00\x07\x7f\x9f\u034f\u115f\u1160\u180b\u3164\ufe00\ufe0f\uffa0\u2800\U000e0100\U000e01ef",
]


def test_han_lines_hold_nothing_invisible() -> None:
    lines = clean_lines("\n".join(f"石{c}桥" for c in INVISIBLE), script="han")
    assert lines == ["石桥"] * len(INVISIBLE)


def test_byte_order_mark_gets_into_no_vocabulary() -> None:
    assert list(Vocab(tokenize(clean_lines("\ufeff石\u200b桥", script="han"), "char"))) == [
        "<unk>",
        "石",
        "桥",
    ]


@given(st.text())
def test_no_han_text_has_whitespace_or_an_invisible_character_left(text: str) -> None:
    left = "".join(clean_lines("石" + text, script="han"))
    assert not any(c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in left)


@given(st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="\u2800ᅟᅠㅤﾠ")))
def test_han_lines_keep_all_that_is_seen(text: str) -> None:
    assert clean_lines("石" + text, script="han") == [unicodedata.normalize("NFC", "石" + text)]


@given(st.text())
def test_cleaning_clean_han_lines_changes_nothing(text: str) -> None:
    lines = clean_lines("石" + text, script="han")
    assert clean_lines("".join(f"{line}\n" for line in lines), script="han") == lines


@pytest.mark.parametrize(("text", "script"), [("石桥记。", "latin"), ("Stone Bridge", "han")])
def test_text_that_would_lose_all_its_letters_is_refused(text: str, script: str) -> None:
    other = "latin" if script == "han" else "han"
    with pytest.raises(
        ValueError, match=f"text has letters, but none that script='{script}'.*script='{other}'"
    ):
        clean_lines(text, script=script)


@pytest.mark.parametrize("script", ["latin", "han"])
def test_text_without_letters_is_not_refused(script: str) -> None:
    assert len(clean_lines("1898\n", script=script)) == 1


def test_unknown_script_is_refused() -> None:
    with pytest.raises(ValueError, match="script must be one of 'latin', 'han'; got 'cyrillic'"):
        clean_lines("text", script="cyrillic")


def test_lines_where_clean_lines_wants_a_text_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="text must be a str"):
        clean_lines(["a line"])  # type: ignore[arg-type]


# tokenize


def test_words_are_split_at_spaces() -> None:
    assert tokenize(["the time machine", "", "by"]) == [["the", "time", "machine"], [], ["by"]]


def test_words_are_split_at_any_whitespace() -> None:
    assert tokenize(["a\tb\u00a0c\u3000 d\n"]) == [["a", "b", "c", "d"]]


def test_characters_include_spaces() -> None:
    assert tokenize(["a b", ""], "char") == [["a", " ", "b"], []]


def test_tokenize_accepts_a_generator() -> None:
    assert tokenize(line for line in ["a b"]) == [["a", "b"]]


@pytest.mark.parametrize("unit", ["Word", "letter", ""])
def test_unknown_unit_is_refused_with_the_choices(unit: str) -> None:
    with pytest.raises(ValueError, match=f"unit must be one of 'word', 'char'; got '{unit}'"):
        tokenize(["a"], unit)


def test_unit_that_is_no_str_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"unit must be a str, got None"):
        tokenize(["a"], None)  # type: ignore[arg-type]


def test_lines_may_be_a_numpy_array() -> None:
    assert tokenize(np.array(["the tide", "by"])) == [["the", "tide"], ["by"]]


def test_text_where_tokenize_wants_lines_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"lines must be a list of str, got 'the time machine' \(str\)"):
        tokenize("the time machine")


def test_line_that_is_not_a_str_is_named() -> None:
    with pytest.raises(TypeError, match=r"lines\[1\] must be a str, got 2"):
        tokenize(["a", 2])  # type: ignore[list-item]


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


# load_corpus


def test_characters_of_the_story_are_its_clean_lines_with_a_space_between() -> None:
    corpus, vocab = load_corpus()
    lines = [line for line in clean_lines(load_text()) if line]
    assert "".join(vocab.to_tokens(corpus)) == " ".join(lines)


def test_words_of_the_story_are_those_of_its_clean_lines() -> None:
    corpus, vocab = load_corpus(unit="word")
    assert vocab.to_tokens(corpus) == " ".join(clean_lines(load_text())).split()


def test_character_vocabulary_of_the_story_is_the_alphabet_a_space_and_the_unknown_token() -> None:
    assert set(load_corpus()[1]) == {"<unk>", " ", *"abcdefghijklmnopqrstuvwxyz"}


def test_characters_of_the_chinese_text_are_its_paragraphs() -> None:
    corpus, vocab = load_corpus("stone_bridge")
    paragraphs = [line for line in clean_lines(load_text("stone_bridge"), script="han") if line]
    assert "".join(vocab.to_tokens(corpus)) == "\n".join(paragraphs)


def test_words_of_the_chinese_text_are_refused() -> None:
    with pytest.raises(ValueError, match="unit must be 'char' for 'stone_bridge', got 'word'"):
        load_corpus("stone_bridge", "word")


@pytest.mark.parametrize("max_tokens", [1, 1000, np.int64(1000)])
def test_max_tokens_cuts_the_corpus(max_tokens: int) -> None:
    assert load_corpus(max_tokens=max_tokens)[0] == load_corpus()[0][:max_tokens]


def test_max_tokens_leaves_the_vocabulary_whole() -> None:
    assert len(load_corpus(max_tokens=1)[1]) == len(load_corpus()[1])


def test_max_tokens_beyond_the_text_gives_all_of_it() -> None:
    assert load_corpus(max_tokens=10**9)[0] == load_corpus()[0]


@pytest.mark.parametrize("max_tokens", [0, -1])
def test_max_tokens_below_one_is_refused(max_tokens: int) -> None:
    with pytest.raises(ValueError, match=f"max_tokens must be at least 1, got {max_tokens}"):
        load_corpus(max_tokens=max_tokens)


@pytest.mark.parametrize("max_tokens", [10.0, True, "10"])
def test_max_tokens_that_is_not_an_integer_is_a_type_error(max_tokens: object) -> None:
    with pytest.raises(TypeError, match="max_tokens must be an integer"):
        load_corpus(max_tokens=max_tokens)  # type: ignore[arg-type]


def test_load_corpus_refuses_an_unknown_unit() -> None:
    with pytest.raises(ValueError, match="unit must be one of 'word', 'char'; got 'subword'"):
        load_corpus(unit="subword")


def test_load_corpus_refuses_an_unknown_name() -> None:
    with pytest.raises(ValueError, match="name must be one of"):
        load_corpus("moby_dick")


# The Time Machine: the facts that d2l's readers know


@pytest.fixture(scope="module")
def time_machine() -> str:
    folder = os.environ.get("D2LRNN_DATA")
    if not folder or not (Path(folder) / "timemachine.txt").exists():
        pytest.skip("$D2LRNN_DATA/timemachine.txt does not exist")
    return load_text("time_machine")


def test_time_machine_has_the_figures_in_the_table(time_machine: str) -> None:
    words = sum(map(len, tokenize(clean_lines(time_machine))))
    assert (len(time_machine), words) == (CORPORA["time_machine"].characters, CORPORA["time_machine"].words)


def test_time_machine_has_3221_lines(time_machine: str) -> None:
    assert len(clean_lines(time_machine)) == 3_221


def test_time_machine_lines_are_cleaned_as_in_d2l(time_machine: str) -> None:
    d2l = [re.sub("[^A-Za-z]+", " ", line).strip().lower() for line in time_machine.splitlines()]
    assert clean_lines(time_machine) == d2l


@pytest.mark.usefixtures("time_machine")
@pytest.mark.parametrize(("unit", "tokens", "size"), [("char", 170_580, 28), ("word", 32_775, 4_580)])
def test_time_machine_corpus_has_d2l_zh_size(unit: str, tokens: int, size: int) -> None:
    corpus, vocab = load_corpus("time_machine", unit)
    assert (len(corpus), len(vocab)) == (tokens, size)


def test_time_machine_joined_by_spaces_has_d2l_en_length(time_machine: str) -> None:
    lines = [line for line in clean_lines(time_machine) if line]
    assert len(" ".join([*lines, ""])) == 173_428  # d2l-en makes a space of the last newline, too


@pytest.mark.usefixtures("time_machine")
def test_time_machine_most_frequent_words() -> None:
    frequent = [("the", 2261), ("i", 1267), ("and", 1245), ("of", 1155), ("a", 816)]
    assert load_corpus("time_machine", "word")[1].token_freqs[:5] == frequent


@pytest.mark.parametrize(
    ("phrase", "count"),
    [("of the", 309), ("in the", 169), ("i had", 130), ("the time traveller", 59)],
)
def test_time_machine_phrases(time_machine: str, phrase: str, count: int) -> None:
    words = [word for line in tokenize(clean_lines(time_machine)) for word in line]
    n = len(phrase.split())
    assert Counter(zip(*(words[i:] for i in range(n)), strict=False))[tuple(phrase.split())] == count


@pytest.mark.parametrize("value", [torch.zeros(2, device="meta"), torch.eye(2).to_sparse()])
@pytest.mark.parametrize(
    "use",
    [lambda v: Vocab(["a"])[v], lambda v: Vocab(["a"]).to_tokens(v), lambda v: Vocab(["a"]).decode(v), Vocab],
)
def test_tensors_that_do_not_hold_their_values_are_refused(use, value) -> None:
    with pytest.raises(TypeError, match=r"(token|index|ids|tokens) must be a dense tensor"):
        use(value)


def test_a_vocabulary_in_ones_home_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    Vocab(["a"]).save("~/vocab.json")
    assert Vocab.load("~/vocab.json") == Vocab(["a"])


@pytest.mark.parametrize("bad", ["", "a\0b", "https://example.org/vocab.json"])
def test_saving_and_loading_refuse_the_same_paths(bad: str) -> None:
    for use in (Vocab(["a"]).save, Vocab.load):
        with pytest.raises(ValueError, match="path must be the path of a file"):
            use(bad)


@pytest.mark.parametrize("token", ["new york", " ", "a\n", ""])
def test_a_token_that_is_no_word_is_refused_where_words_are_asked_for(token: str) -> None:
    with pytest.raises(ValueError, match=f"tokens must be words, .*{re.escape(repr(token))}"):
        Vocab([token, "a"], unit="word")


def test_a_reserved_token_may_hold_whitespace() -> None:
    assert Vocab(["a"], reserved_tokens=["<new line>"], unit="word").unit == "word"


@pytest.mark.parametrize("token", ["new york", "\n", ""])
def test_a_text_that_splitting_would_cut_otherwise_is_not_encoded(token: str) -> None:
    vocab = Vocab([token, "new", "york"])
    with pytest.raises(ValueError, match=r"text must be cut into tokens by you"):
        vocab.encode(vocab.decode(vocab[["new", token, "york"]]))


def test_a_text_without_such_a_token_is_encoded() -> None:
    vocab = Vocab(["new york", "new", "york"])
    assert vocab.to_tokens(vocab.encode("york new")) == ["york", "new"]


def test_a_vocabulary_with_whitespace_in_a_token_is_loaded_as_it_was(tmp_path: Path) -> None:
    vocab = Vocab(["new york", "a"])
    vocab.save(tmp_path / "vocab.json")
    assert Vocab.load(tmp_path / "vocab.json") == vocab
