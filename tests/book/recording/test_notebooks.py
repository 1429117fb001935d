"""Chapters by name, as every tool that takes ONLY= finds them."""

import pytest

from book.recording.notebooks import CHAPTERS, chosen, sources


@pytest.mark.parametrize(
    "word",
    ["rnn", "rnn.md", "rnn.ipynb", "chapters/rnn", "./chapters/rnn.md", str(CHAPTERS / "rnn.ipynb")],
)
def test_a_chapter_is_chosen_by_name_or_path_with_or_without_ending(word):
    assert chosen([word]) == [CHAPTERS / "rnn.md"]


def test_a_path_from_another_folder_names_a_chapter_too(monkeypatch):
    monkeypatch.chdir(CHAPTERS)
    assert chosen(["./rnn.md", "chapters/bptt"]) == [CHAPTERS / "bptt.md", CHAPTERS / "rnn.md"]


def test_several_chapters_are_chosen_in_order_each_once():
    assert [path.stem for path in chosen(["rnn", "bptt", "chapters/rnn.md"])] == ["bptt", "rnn"]


def test_without_a_word_every_chapter_is_chosen():
    assert chosen([]) == sources()


@pytest.mark.parametrize("word", ["nothing", "book/rnn", "rnn.txt", "README.md", ""])
def test_a_word_that_names_nothing_is_told_in_one_line_with_what_there_is(word):
    names = ", ".join(path.stem for path in sources())
    with pytest.raises(ValueError, match="no chapter") as told:
        chosen(["rnn", word])
    assert str(told.value) == f"{word!r} is no chapter with code; there are: {names}"


def test_all_words_that_name_nothing_are_told():
    with pytest.raises(ValueError, match=r"^'a', 'b' are no chapter with code; there are: "):
        chosen(["a", "rnn", "b"])
