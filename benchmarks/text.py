"""What `BPETokenizer` claims of its speed, against counting all pairs anew and against Hugging Face."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from benchmarks.claims import Claim, ratio
from d2lrnn.text.bpe import PIECE, BPETokenizer, Pair
from d2lrnn.text.corpora import load_text

SIZE = 500


def claims() -> Iterator[Claim]:
    """Compare on a text without spaces, where pieces are long, and on the English story."""
    yield against_recount("Chinese without spaces", chinese(100_000), at_least=10)
    yield against_recount("the story", load_text(), at_least=1)
    with one_thread():
        yield from against_hugging_face("Chinese without spaces", chinese(1_000_000), at_most=6)
        yield from against_hugging_face("the story", load_text(), at_most=2)


def against_recount(name: str, text: str, at_least: float) -> Claim:
    """Compare learning merges with counting all pairs anew for each, which gives the same."""
    assert BPETokenizer.train(text, SIZE).merges == recount(text, SIZE)
    figure = ratio(partial(recount, text, SIZE), partial(BPETokenizer.train, text, SIZE), repeats=3)
    what = f"{SIZE} byte pairs of {described(name, text)}, times as fast as counting all pairs anew"
    return Claim(what, figure, at_least=at_least)


def against_hugging_face(name: str, text: str, at_most: float) -> Iterator[Claim]:
    """Compare learning from a text and encoding it, where no piece has been met before."""
    what = f"{SIZE} byte pairs of {described(name, text)}"
    figure = 1 / ratio(partial(hugging_face, text), partial(BPETokenizer.train, text, SIZE), repeats=5)
    yield Claim(f"{what}, time relative to Hugging Face's tokenizers", figure, at_most=at_most)
    saved, merges = hugging_face(text).to_str(), BPETokenizer.train(text, SIZE).merges
    assert len(Tokenizer.from_str(saved).encode(text).ids) == len(BPETokenizer(merges).encode(text))
    figure = 1 / ratio(
        lambda: Tokenizer.from_str(saved).encode(text), lambda: BPETokenizer(merges).encode(text), repeats=5
    )
    yield Claim(f"{what}: time of encoding it, relative to theirs", figure, at_most=at_most)


def described(name: str, text: str) -> str:
    """Return a text's name and size."""
    return f"{name} ({len(text.encode()) / 1e6:.1f} MB)"


def chinese(size: int) -> str:
    """Return so many bytes, or a few less, of the Chinese story's phrases in random order, without signs."""
    rng = random.Random(0)
    phrases = re.findall(r"\w+", load_text("stone_bridge"))
    text = "".join(rng.choices(phrases, k=size // 6))  # a phrase has about 20 bytes, so these are enough
    return text.encode()[:size].decode(errors="ignore")


def recount(text: str, vocab_size: int) -> list[Pair]:
    """Learn merges the textbook's way: for each, count all pairs of all distinct pieces."""
    pieces = [(list(piece.encode()), count) for piece, count in Counter(PIECE.findall(text)).items()]
    merges: list[Pair] = []
    for new in range(256, vocab_size):
        pairs: Counter[Pair] = Counter()
        for ids, count in pieces:
            for pair in pairwise(ids):
                pairs[pair] += count
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        pieces = [(merged(ids, best, new), count) for ids, count in pieces]
        merges.append(best)
    return merges


def merged(ids: list[int], pair: Pair, new: int) -> list[int]:
    """Return ids with each occurrence of a pair, from the left, replaced by a new id."""
    result: list[int] = []
    for i in ids:
        if result and (result[-1], i) == pair:
            result[-1] = new
        else:
            result.append(i)
    return result


def hugging_face(text: str) -> Tokenizer:
    """Learn as many byte pairs of the same pieces with Hugging Face's tokenizers, written in Rust."""
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(PIECE.pattern), "isolated")
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, as_bytes])
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


@contextmanager
def one_thread() -> Iterator[None]:
    """Have Hugging Face's tokenizers use one thread."""
    before = os.environ.get("TOKENIZERS_PARALLELISM")
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    try:
        yield
    finally:
        del os.environ["TOKENIZERS_PARALLELISM"]
        if before is not None:
            os.environ["TOKENIZERS_PARALLELISM"] = before
