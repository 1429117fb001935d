"""Corpora of indices: `load_corpus`, and the facts of The Time Machine that d2l's readers know."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from d2lrnn.text.corpora import CORPORA, load_corpus, load_text
from d2lrnn.text.tokens import clean_lines, tokenize
from d2lrnn.text.vocabulary import Vocab

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
