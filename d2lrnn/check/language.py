"""Checks for the chapter on language models."""

from __future__ import annotations

import math
from collections.abc import Callable

from d2lrnn.check._run import Case, own_settings, run


@own_settings()
def relative_frequency(function: Callable[..., object]) -> None:
    """Check ``relative_frequency(corpus, history, token)``: P(token | history) as a share of counts, a float.

    `corpus` and `history` are lists of tokens. Of all places of the history that are followed by a token, it
    is the share that `token` follows; 0.0 if there is none. An empty history is followed at every place.
    """
    hamlet = ["to", "be", "or", "not", "to", "be"]
    cases = [
        Case((hamlet, ["to"], "be"), 1.0, "Both places of the history are followed by the token."),
        Case((hamlet, ["be"], "or"), 1.0, "The last token of the corpus is followed by nothing: no history."),
        Case((hamlet, [], "to"), 1 / 3, "With an empty history every place counts."),
        Case((hamlet, ["or", "not"], "to"), 1.0, "A history may have several tokens."),
        Case((["a", "a", "a", "b"], ["a"], "a"), 2 / 3, "Places may overlap."),
        Case((["a", "a", "a", "b"], ["a", "a"], "a"), 0.5, "Places of long histories may overlap, too."),
        Case(
            (["to", "be"], ["be"], "to"), 0.0, "A history may come at the very end only, followed by nothing."
        ),
        Case((list("bacabd"), ["a", "b"], "d"), 1.0, "The order of a history counts."),
        Case((hamlet, ["question"], "to"), 0.0, "A history that never comes gives 0, not an error."),
    ]
    run("relative_frequency", function, cases)


@own_settings()
def perplexity_of(function: Callable[..., object]) -> None:
    """Check ``perplexity_of(probabilities)``: the perplexity of a text whose tokens get these probabilities.

    `probabilities` is a list of at least one; the result is a float, infinite if one of them is 0.
    """
    cases = [
        Case(([0.25, 0.25],), 4.0, "Four equally likely choices at each step are a perplexity of 4."),
        Case(([1.0],), 1.0, "A model that is certain and right has perplexity 1."),
        Case(([0.5, 0.125],), 4.0, "It is the inverse geometric mean of the probabilities."),
        Case(([0.5, 0.5, 0.125, 0.125, 0.125],), 2 ** (11 / 5), "Divide by the number of tokens."),
        Case(([0.5, 0.0],), math.inf, "One token of probability 0 makes it infinite; it is no error."),
        Case(([0.125] * 400,), 8.0, "A product of many probabilities becomes 0: sum their logarithms."),
    ]
    run("perplexity_of", function, cases)


@own_settings()
def pooled_perplexity(function: Callable[..., object]) -> None:
    """Check ``pooled_perplexity(perplexities, sizes)``: the perplexity of all batches together, a float.

    For each batch there is its perplexity and its number of tokens.
    """
    cases = [
        Case(([3.0], [7]), 3.0, "One batch alone keeps its perplexity."),
        Case(([2.0, 8.0], [5, 5]), 4.0, "Average logarithms, not perplexities."),
        Case(
            ([2.0, 8.0], [9, 3]), 2**1.5, "Each token has the same weight, so a batch has that of its size."
        ),
        Case(([8.0, 2.0], [9, 3]), 2**2.5, "Each size goes with its own perplexity."),
        Case(([8.0, 2.0], [3000, 1000]), 2**2.5, "Powers of perplexities overflow: add their logarithms."),
        Case(([math.inf, 2.0], [1, 9]), math.inf, "One impossible token makes all of it infinite."),
    ]
    run("pooled_perplexity", function, cases)
