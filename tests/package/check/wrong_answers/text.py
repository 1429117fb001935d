"""Common wrong answers to the exercises on text."""

import re
import unicodedata
from collections import Counter


def forgets_the_unknown(tokens, min_freq):
    return [token for token, count in Counter(tokens).most_common() if count >= min_freq]


def alphabetical_ties(tokens, min_freq):
    counts = Counter(tokens)
    return ["<unk>", *sorted((t for t in counts if counts[t] >= min_freq), key=lambda t: (-counts[t], t))]


def more_than_min_freq(tokens, min_freq):
    return ["<unk>", *(token for token, count in Counter(tokens).most_common() if count > min_freq)]


def order_of_appearance(tokens, min_freq):
    counts = Counter(tokens)
    return ["<unk>", *(token for token in counts if counts[token] >= min_freq)]


def unknown_twice(tokens, min_freq):
    return ["<unk>", *(token for token, count in Counter(tokens).most_common() if count >= min_freq)]


def last_seen_first(tokens, min_freq):
    counts = Counter(token for token in reversed(tokens) if token != "<unk>")
    return ["<unk>", *(token for token, count in counts.most_common() if count >= min_freq)]


def cuts_holes(line):
    return re.sub("[^a-z]+", " ", line.lower()).strip()


def keeps_spaces_at_the_ends(line):
    letters = unicodedata.normalize("NFKD", line.casefold())
    return re.sub("[^a-z]+", " ", re.sub("[\u0300-\u036f]", "", letters))


def space_for_each(line):
    letters = unicodedata.normalize("NFKD", line.casefold())
    return re.sub("[^a-z]", " ", re.sub("[\u0300-\u036f]", "", letters)).strip()


def forgets_case(line):
    letters = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", line))
    return re.sub("[^a-zA-Z]+", " ", letters).strip()


def lower_instead_of_folding(line):
    letters = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", line.lower()))
    return re.sub("[^a-z]+", " ", letters).strip()


def drops_the_apostrophe(line):
    letters = re.sub("[\u0300-\u036f']", "", unicodedata.normalize("NFKD", line.casefold()))
    return re.sub("[^a-z]+", " ", letters).strip()


WRONG = {
    "number_tokens": [
        forgets_the_unknown,
        alphabetical_ties,
        more_than_min_freq,
        order_of_appearance,
        unknown_twice,
        last_seen_first,
    ],
    "plain_letters": [
        cuts_holes,
        keeps_spaces_at_the_ends,
        space_for_each,
        forgets_case,
        lower_instead_of_folding,
        drops_the_apostrophe,
    ],
}
