"""Checks for the chapter on text."""

from __future__ import annotations

from collections.abc import Callable

from d2lrnn.check._run import Case, own_settings, run
from d2lrnn.text.tokens import clean_lines
from d2lrnn.text.vocabulary import Vocab


@own_settings()
def number_tokens(function: Callable[..., object]) -> None:
    """Check ``number_tokens(tokens, min_freq)``: the list from index to token.

    "<unk>" comes first, then each token that occurs at least `min_freq` times: frequent ones first, ties in
    the order in which they first appear.
    """
    cases = []
    for tokens, min_freq, hint in [
        (list("bab"), 1, "Index 0 is set aside for <unk>; the most frequent token has index 1."),
        (list("hcgabfedbachgfed"), 1, "Tokens that occur equally often keep the order of first appearance."),
        (list("abbccc"), 2, "min_freq itself is enough: leave out only what is rarer."),
        (list("ab"), 3, "If every token is too rare, <unk> is left."),
        ([], 1, "A text may be empty; <unk> has its index all the same."),
        (["<unk>", "a", "<unk>"], 1, "<unk> has one index, even if the text holds it."),
    ]:
        vocab = Vocab(tokens, min_freq=min_freq)
        cases.append(Case((tokens, min_freq), vocab.to_tokens(list(range(len(vocab)))), hint))
    run("number_tokens", function, cases)


@own_settings()
def plain_letters(function: Callable[..., object]) -> None:
    """Check ``plain_letters(line)``: the letters a to z and single spaces of a line, no space at its ends."""
    hints = {
        "The tide, at six!": "Lower case; what is no letter becomes a space, and spaces at the ends go.",
        "one -- two": "Several characters that are no letters become one space.",
        "don't": "An apostrophe is no letter: it becomes a space, as all others do.",
        "René façade": "An accented letter is a letter with a mark: drop the mark, keep the letter.",
        "Re\u0301ne\u0301": "The mark may be a character of its own.",
        "Straße": "ß has no mark to drop; case folding writes it as ss.",
        "1895": "A line without letters is empty.",
    }
    cases = [Case((line,), clean_lines(line)[0], hint) for line, hint in hints.items()]
    run("plain_letters", function, cases)
