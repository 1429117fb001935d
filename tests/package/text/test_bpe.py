"""Byte-pair encoding: what is learnt, what it costs, and what becomes of texts."""

from __future__ import annotations

import copy
import json
import pickle
import random
import re
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from d2lrnn.text import bpe
from d2lrnn.text.bpe import PIECE, BPETokenizer
from d2lrnn.text.corpora import load_text
from d2lrnn.text.tokens import clean_lines


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


@given(
    st.text(alphabet="aab, é", max_size=80)
    | st.text(alphabet="ab", min_size=60, max_size=140)
    | st.text(alphabet="石桥", max_size=80)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
)
def test_incremental_counts_give_the_merges_of_the_definition(text: str) -> None:
    expected = reference_merges(text, 30)
    assert BPETokenizer.train(text, 256 + len(expected)).merges == expected


def test_incremental_counts_give_the_merges_of_the_definition_on_the_story(subwords: BPETokenizer) -> None:
    assert reference_merges(load_text(), 60) == subwords.merges[:60]


def unspaced_chinese(size: int) -> str:
    """Return characters of which few are frequent, in phrases that come back, without a space or a sign."""
    rng = random.Random(0)
    characters = sorted(set(re.findall(r"\w", load_text("stone_bridge"))))
    weights = [1 / rank for rank in range(1, len(characters) + 1)]
    phrases = ["".join(rng.choices(characters, weights, k=rng.randint(1, 5))) for _ in range(300)]
    return "".join(rng.choices(phrases, weights[:300], k=size))[:size]


def test_incremental_counts_give_the_merges_of_the_definition_on_a_text_without_spaces() -> None:
    text = unspaced_chinese(2000)
    assert BPETokenizer.train(text, 256 + 100).merges == reference_merges(text, 100)


def test_word_is_cut_after_64_letters() -> None:
    with pytest.warns(UserWarning, match="after 262 ids"):  # 6 doublings make 64 letters
        assert len(BPETokenizer.train("a" * 640, 1000)) == 262


LETTERS = BPETokenizer.train("abaabaaabbbaabab" * 4, 267)


@pytest.mark.parametrize("tokenizer", [TRAINED, LETTERS], ids=["trained", "letters"])
@given(text=st.text(alphabet="the im", max_size=40) | st.text(alphabet="aaab", max_size=64))
def test_encoding_applies_the_merges_in_the_order_learnt(tokenizer: BPETokenizer, text: str) -> None:
    """For one piece, replay every merge over it."""
    word = text.replace(" ", "")
    ids = list(word.encode())
    for new, pair in enumerate(tokenizer.merges, start=256):
        merged: list[int] = []
        for i in ids:
            if merged and (merged[-1], i) == pair:
                merged[-1] = new
            else:
                merged.append(i)
        ids = merged
    assert tokenizer.encode(word) == ids


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


def scalars(ids: list[int]) -> list[object]:
    """Return ids as NumPy's and PyTorch's scalars."""
    return [np.int64(i) if n % 2 else torch.tensor(i) for n, i in enumerate(ids)]


@pytest.mark.parametrize("as_ids", [tuple, iter, torch.tensor, np.array, scalars])
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
def test_text_that_runs_out_of_pairs_gives_what_it_has_and_a_warning(text: str, most: int) -> None:
    with pytest.warns(
        UserWarning, match=f"no pair left .* after {most} ids, fewer than vocab_size=999"
    ) as said:
        tokenizer = BPETokenizer.train(text, 999)
    assert (len(tokenizer), said[0].filename) == (most, __file__)


def test_training_that_just_fills_the_vocabulary_says_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(BPETokenizer.train("abc abc", np.int64(259))) == 259


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


@pytest.mark.parametrize("as_merges", [np.array, torch.tensor, lambda pairs: map(tuple, np.array(pairs))])
def test_merges_may_be_integers_of_numpy_and_torch(as_merges: Callable[..., list[tuple[int, int]]]) -> None:
    assert BPETokenizer(as_merges(TRAINED.merges)) == TRAINED


def test_merge_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"merges must be distinct, got \(97, 98\) again"):
        BPETokenizer([(97, 98), (97, 98)])


# As a vocabulary for `generate`


def test_no_id_is_reserved_and_none_begins_a_text() -> None:
    assert ([*TRAINED.reserved], TRAINED.bos) == ([], None)


# The pieces that are remembered


def test_pieces_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe, "_REMEMBERED", 10)
    tokenizer = BPETokenizer()
    tokenizer.encode(" ".join(map(str, range(1000))))
    assert 0 < len(tokenizer._encoded) <= 10


def test_long_pieces_are_not_remembered() -> None:
    tokenizer = BPETokenizer()
    tokenizer.encode("a" * 64)
    assert tokenizer._encoded == {}


def test_forgetting_pieces_changes_no_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe, "_REMEMBERED", 3)
    forgetful = BPETokenizer(TRAINED.merges)
    text = "the time traveller, the machine"
    assert [forgetful.encode(text) for _ in range(2)] == [TRAINED.encode(text)] * 2


def test_pieces_that_were_met_are_not_pickled() -> None:
    fresh, used = BPETokenizer(TRAINED.merges), BPETokenizer(TRAINED.merges)
    used.encode(load_text())
    assert pickle.dumps(used) == pickle.dumps(fresh)


def test_pickling_leaves_the_pieces_of_the_original() -> None:
    tokenizer = BPETokenizer(TRAINED.merges)
    tokenizer.encode("the")
    pickle.dumps(tokenizer)
    assert list(tokenizer._encoded) == ["the"]


def test_threads_encode_as_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe, "_REMEMBERED", 20)
    shared = BPETokenizer(TRAINED.merges)
    texts = [load_text()[start : start + 2000] for start in range(0, 40_000, 2000)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(shared.encode, texts)) == [TRAINED.encode(text) for text in texts]


# Equality, copies and files


def test_tokenizers_are_equal_if_their_merges_are() -> None:
    kinds = [BPETokenizer(TRAINED.merges[:n]) for n in (0, 1, 34)]
    assert [[one == other for other in kinds] for one in kinds] == np.eye(3, dtype=bool).tolist()


def test_order_of_merges_counts() -> None:
    assert BPETokenizer([(97, 98), (99, 100)]) != BPETokenizer([(99, 100), (97, 98)])


def test_equal_tokenizers_have_equal_hashes() -> None:
    assert len({TRAINED, BPETokenizer(TRAINED.merges), BPETokenizer()}) == 2


def test_tokenizer_is_equal_to_nothing_else() -> None:
    assert TRAINED.merges != TRAINED


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_of_a_tokenizer_are_equal_and_encode_alike(
    copied: Callable[[BPETokenizer], BPETokenizer],
) -> None:
    again = copied(TRAINED)
    assert (again, again.encode("the tide")) == (TRAINED, TRAINED.encode("the tide"))


def test_loaded_tokenizer_is_equal_to_the_saved_one(subwords: BPETokenizer, tmp_path: Path) -> None:
    subwords.encode("the tide")
    subwords.save(tmp_path / "bpe.json")
    assert BPETokenizer.load(tmp_path / "bpe.json") == subwords


def test_saved_tokenizer_is_json_of_its_merges(tmp_path: Path) -> None:
    BPETokenizer([(97, 98), (256, 99)]).save(str(tmp_path / "bpe.json"))
    expected = b'{"kind": "BPETokenizer", "merges": [[97, 98], [256, 99]]}\n'
    assert (tmp_path / "bpe.json").read_bytes() == expected


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        ({"kind": "BPETokenizer", "merges": [[97, 300]]}, r"id in merges\[0\] must be in"),
        ({"kind": "BPETokenizer", "merges": [[97, 98.0]]}, r"id in merges\[0\] must be an integer"),
        ({"kind": "BPETokenizer", "merges": [[97, 98], [97, 98]]}, "distinct"),
        ({"kind": "BPETokenizer", "merges": [[97]]}, "pair of ids"),
        ({"kind": "BPETokenizer", "merges": 5}, "merges must be a list"),
        ({"kind": "BPETokenizer"}, "keys must be kind, merges"),
        ({"kind": "Vocab", "merges": []}, 'no object with "kind": "BPETokenizer"'),
    ],
)
def test_tokenizer_file_edited_into_nonsense_is_refused_by_name(
    tmp_path: Path, contents: object, why: str
) -> None:
    (tmp_path / "bpe.json").write_text(json.dumps(contents), encoding="utf-8")
    with pytest.raises(
        ValueError, match=rf"path='.*bpe\.json' is no file that BPETokenizer\.save writes: .*{why}"
    ):
        BPETokenizer.load(tmp_path / "bpe.json")


# Against Hugging Face's tokenizers


def hugging_face(text: str, vocab_size: int, split: object, alphabet: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = split
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def test_hugging_face_learns_the_same_units_from_words_of_ascii_letters() -> None:
    """Its numbers of letters have the order of ours, so that ties fall alike."""
    words = "\n".join(" ".join(clean_lines(load_text())).split())
    other = hugging_face(words, 26 + 300, pre_tokenizers.Split("\n", "removed"), [])
    theirs = ["".join(pair) for pair in json.loads(other.to_str())["model"]["merges"]]
    ours = BPETokenizer.train(words, 256 + 300)
    assert [ours.token_bytes(256 + i).decode() for i in range(300)] == theirs


@pytest.fixture(scope="module", params=["tide_clock", "unspaced"])
def text_of_both(request: pytest.FixtureRequest) -> str:
    return load_text()[:60_000] if request.param == "tide_clock" else unspaced_chinese(20_000)


def test_hugging_face_needs_as_many_tokens_for_the_same_pieces_of_bytes(text_of_both: str) -> None:
    split = pre_tokenizers.Split(Regex(PIECE.pattern), "isolated")
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    other = hugging_face(text_of_both, 500, pre_tokenizers.Sequence([split, as_bytes]), alphabet)
    ours = BPETokenizer.train(text_of_both, 500).encode(text_of_both)
    assert len(ours) == pytest.approx(len(other.encode(text_of_both).ids), rel=0.002)  # ties fall otherwise


# What it costs


def test_training_goes_to_each_place_of_a_merge_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each join makes one id less."""
    text = unspaced_chinese(5000)
    joins = []
    join = bpe._pairs.Chain.join
    monkeypatch.setattr(bpe._pairs.Chain, "join", lambda *args: joins.append(args[1:]) or join(*args))
    tokenizer = BPETokenizer.train(text, 400)
    assert len(joins) == len(text.encode()) - len(tokenizer.encode(text))


@pytest.mark.parametrize("ids", [torch.zeros(2, device="meta"), torch.eye(2).to_sparse()])
def test_tensors_that_do_not_hold_their_values_are_refused(ids):
    with pytest.raises(TypeError, match="ids must be a dense tensor"):
        BPETokenizer().decode(ids)


def test_a_vocab_size_too_long_to_write_out_is_warned_about():
    with pytest.warns(UserWarning, match="fewer than vocab_size="):
        BPETokenizer.train("ab", 10**5000)
