"""Cleaning and tokenizing."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2lrnn.text.tokens import clean_lines, tokenize
from d2lrnn.text.vocabulary import Vocab

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
