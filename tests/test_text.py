"""Cleaning, tokenizing, the vocabulary, corpora of indices, and byte-pair encoding."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lrnn.bpe import BPETokenizer
from d2lrnn.corpora import CORPORA, load_text
from d2lrnn.text import Vocab, clean_lines, load_corpus, tokenize

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
        ("zero\u200bwidth", "zero width"),
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


def test_characters_include_spaces() -> None:
    assert tokenize(["a b", ""], "char") == [["a", " ", "b"], []]


def test_tokenize_accepts_a_generator() -> None:
    assert tokenize(line for line in ["a b"]) == [["a", "b"]]


@pytest.mark.parametrize("unit", ["Word", "letter", ""])
def test_unknown_unit_is_refused_with_the_choices(unit: str) -> None:
    with pytest.raises(ValueError, match=f"unit must be one of 'word', 'char'; got '{unit}'"):
        tokenize(["a"], unit)


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
    ],
    ids=["nested", "empty lines", "tuples", "flat generator", "nested generator"],
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


@pytest.mark.parametrize("attribute", ["unk", "token_freqs"])
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
    ],
    ids=["str", "one in a list", "tuple", "nested"],
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


@pytest.mark.parametrize("bad", [1, None, [1], [["a"], 1], b"a"])
def test_looking_up_anything_but_tokens_is_a_type_error(bad: object) -> None:
    with pytest.raises(TypeError, match="token must be a str"):
        Vocab(SENTENCE)[bad]


@pytest.mark.parametrize(("token", "known"), [("a", True), ("<unk>", True), ("zebra", False), (1, False)])
def test_in_tells_whether_a_token_is_known(token: object, known: bool) -> None:
    assert (token in Vocab(SENTENCE)) is known


def test_repr_gives_the_size_and_the_first_tokens() -> None:
    vocab = Vocab(SENTENCE, reserved_tokens=["<pad>"])
    assert repr(vocab) == "Vocab(6 tokens: '<unk>', '<pad>', 'b', 'a', 'c', ...)"


@pytest.mark.parametrize("tokens", ["abc", {"a": 3}, Counter("aab"), {"a", "b"}, 5, None])
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


# BPETokenizer


@pytest.fixture(scope="module")
def subwords() -> BPETokenizer:
    return BPETokenizer.train(load_text(), 500)


TRAINED = BPETokenizer.train("the time traveller, the machine — the émigré’s 机器\n" * 3, 290)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decoding_gives_back_any_text(text: str) -> None:
    assert TRAINED.decode(TRAINED.encode(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "  two  spaces ",
        "\n\n\tindented\r\n",
        "👩\u200d🚀 émigré",
        "don't_stop 21",
        "\x00\u2028\ufeff",
        "石桥记。",
        "a" * 9999,
    ],
)
def test_decoding_gives_back_unusual_text(subwords: BPETokenizer, text: str) -> None:
    assert subwords.decode(subwords.encode(text)) == text


def test_decoding_gives_back_the_story(subwords: BPETokenizer) -> None:
    assert subwords.decode(subwords.encode(load_text())) == load_text()


def test_without_merges_ids_are_bytes() -> None:
    assert BPETokenizer.train("abab", 256).encode("né") == [0x6E, 0xC3, 0xA9]


def test_most_frequent_pair_is_merged_first() -> None:
    assert BPETokenizer.train("ab ab cd", 257).merges == [(ord("a"), ord("b"))]


def test_of_equally_frequent_pairs_the_lowest_ids_are_merged() -> None:
    assert BPETokenizer.train("cd\nab\nce", 258).merges == [(ord("a"), ord("b")), (ord("c"), ord("d"))]


def test_sennrichs_example() -> None:
    text = " ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3)
    tokenizer = BPETokenizer.train(text, 259)
    assert [tokenizer.token_bytes(i) for i in (256, 257, 258)] == [b"es", b"est", b"lo"]


def test_pairs_that_overlap_are_merged_from_the_left() -> None:
    assert BPETokenizer.train("aaaaa", 257).encode("aaaaa") == [256, 256, ord("a")]


def test_merges_do_not_cross_words() -> None:
    tokenizer = BPETokenizer.train("of the " * 9, 261)
    assert not any(b" " in tokenizer.token_bytes(i)[1:] for i in range(len(tokenizer)))


def reference_merges(text: str, number: int) -> list[tuple[int, int]]:
    """Count all pairs again for each merge, the slow way that the definition says."""
    pieces = [
        list(piece.encode()) for piece in re.findall(r" ?\w{1,64}| ?[^\w\s]{1,64}|\s{1,64}(?!\S)|\s", text)
    ]
    merges: list[tuple[int, int]] = []
    for new in range(256, 256 + number):
        counts = Counter(pair for ids in pieces for pair in pairwise(ids))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        for ids in pieces:
            i = 0
            while i < len(ids) - 1:
                if (ids[i], ids[i + 1]) == best:
                    ids[i : i + 2] = [new]
                i += 1
        merges.append(best)
    return merges


@given(st.text(alphabet="aab, é", max_size=80))
def test_incremental_counts_give_the_merges_of_the_definition(text: str) -> None:
    expected = reference_merges(text, 12)
    assert BPETokenizer.train(text, 256 + len(expected)).merges == expected


def test_incremental_counts_give_the_merges_of_the_definition_on_the_story(subwords: BPETokenizer) -> None:
    assert reference_merges(load_text(), 60) == subwords.merges[:60]


def test_word_is_cut_after_64_letters() -> None:
    with pytest.raises(ValueError, match="vocab_size must be at most 262"):  # 6 doublings make 64 letters
        BPETokenizer.train("a" * 640, 1000)


@given(st.text(alphabet="the im", max_size=40))
def test_encoding_applies_the_merges_in_the_order_learnt(text: str) -> None:
    """For one piece, replay every merge over it."""
    word = text.replace(" ", "")
    ids = list(word.encode())
    for new, pair in enumerate(TRAINED.merges, start=256):
        merged: list[int] = []
        for i in ids:
            if merged and (merged[-1], i) == pair:
                merged[-1] = new
            else:
                merged.append(i)
        ids = merged
    assert TRAINED.encode(word) == ids


def test_a_larger_vocabulary_needs_fewer_ids() -> None:
    lengths = [len(BPETokenizer.train(load_text(), size).encode(load_text())) for size in (256, 512, 1024)]
    assert lengths == sorted(set(lengths), reverse=True)


def test_changing_encoded_ids_leaves_the_next_encoding_alone(subwords: BPETokenizer) -> None:
    first = subwords.encode("the")
    first.clear()
    assert subwords.decode(subwords.encode("the")) == "the"


def test_tokenizer_is_made_again_from_its_merges(subwords: BPETokenizer) -> None:
    again = BPETokenizer(subwords.merges)
    assert again.encode(load_text()) == subwords.encode(load_text())


def test_length_is_the_vocab_size(subwords: BPETokenizer) -> None:
    assert len(subwords) == 500


def test_tokenizer_repr_gives_its_size(subwords: BPETokenizer) -> None:
    assert repr(subwords) == "BPETokenizer(500 ids: 256 bytes, 244 merges)"


@pytest.mark.parametrize("as_ids", [tuple, iter, torch.tensor, np.array])
def test_decode_accepts_any_sequence_of_ids(subwords: BPETokenizer, as_ids: type[list[int]]) -> None:
    assert subwords.decode(as_ids(subwords.encode("the tide"))) == "the tide"


def test_part_of_a_character_decodes_to_the_replacement_character() -> None:
    assert BPETokenizer().decode(list("né".encode()[:-1])) == "n\ufffd"


@pytest.mark.parametrize("bad", [-1, 500])
def test_id_out_of_range_is_named(subwords: BPETokenizer, bad: int) -> None:
    with pytest.raises(ValueError, match=rf"id must be in 0\.\.499, got {bad}"):
        subwords.decode([0, bad])


@pytest.mark.parametrize("bad", [[1.0], [True], ["a"], [[1]]])
def test_id_that_is_not_an_integer_is_a_type_error(subwords: BPETokenizer, bad: object) -> None:
    with pytest.raises(TypeError, match="id must be an integer"):
        subwords.decode(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [5, "the", None, torch.tensor(5)])
def test_ids_that_are_no_sequence_are_a_type_error(subwords: BPETokenizer, bad: object) -> None:
    with pytest.raises(TypeError, match="ids must be a list"):
        subwords.decode(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("use", [TRAINED.encode, lambda text: BPETokenizer.train(text, 256)])
def test_lone_surrogate_is_refused(use: type[str]) -> None:
    with pytest.raises(ValueError, match=r"lone surrogate, got '\\ud800' at 1"):
        use("a\ud800")


@pytest.mark.parametrize("use", [TRAINED.encode, lambda text: BPETokenizer.train(text, 256)])
def test_text_that_is_not_a_str_is_a_type_error(use: type[str]) -> None:
    with pytest.raises(TypeError, match="text must be a str, got b'a'"):
        use(b"a")


@pytest.mark.parametrize(("text", "most"), [("", 256), ("a", 256), ("abc abc", 259)])
def test_vocab_size_that_the_text_can_not_fill_is_refused_with_the_most(text: str, most: int) -> None:
    with pytest.raises(ValueError, match=f"vocab_size must be at most {most}.* got {most + 1}"):
        BPETokenizer.train(text, most + 1)


def test_vocab_size_below_the_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="vocab_size must be at least 256, got 255"):
        BPETokenizer.train("text", 255)


@pytest.mark.parametrize("merges", [[(0, 256)], [(-1, 0)], [(97, 98), (257, 97)]])
def test_merge_of_an_id_that_does_not_exist_yet_is_refused(merges: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="id in merge"):
        BPETokenizer(merges)


@pytest.mark.parametrize("merges", [[(97,)], [(97, 98, 99)], [97], ["ab"]])
def test_merge_that_is_not_a_pair_is_a_type_error(merges: list[tuple[int, int]]) -> None:
    with pytest.raises(TypeError, match=r"merges\[0\] must be a pair of ids"):
        BPETokenizer(merges)


def test_merge_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"merges must be distinct, got \(97, 98\) again"):
        BPETokenizer([(97, 98), (97, 98)])
