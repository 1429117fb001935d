"""Pairs of neighbours that become one id: how byte-pair encoding learns its merges and applies them."""

from __future__ import annotations

import heapq
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

Pair = tuple[int, int]

END = -1  # where there is no id: around each piece, and at a place that was joined to the one before it


class Chain:
    """Pieces of bytes in one row of places, two of which become one in constant time.

    `ids` has what is at a place; `before` and `after` have the places beside it.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.ids = [END]
        for piece in pieces:
            self.ids += piece
            self.ids.append(END)
        self.before = array("q", range(-1, len(self.ids) - 1))
        self.after = array("q", range(1, len(self.ids) + 1))

    def __iter__(self) -> Iterator[int]:
        """Go through the ids that are left, in their order."""
        return (i for i in self.ids if i != END)

    def join(self, place: int, new: int) -> tuple[int, int]:
        """Make `new` of the ids at a place and after it, and return the places before and after the two."""
        ids, after = self.ids, self.after
        gone = after[place]
        beyond = after[gone]
        ids[place], ids[gone] = new, END
        after[place], self.before[beyond] = beyond, place
        return self.before[place], beyond


def learn(freqs: Mapping[str, int], most: int) -> list[Pair]:
    """Return the merges, `most` or as many as there are, of pieces with the number of times each occurs.

    A pair comes into being when the newer of its two ids does, and becomes rarer from then on. So the places
    of a pair are noted once, in their order, and its count in the heap is too high at most.
    """
    chain = Chain(piece.encode() for piece in freqs)
    weights = [0]  # by place: how often its piece occurs
    for piece, freq in freqs.items():
        weights += [freq] * (len(piece.encode()) + 1)
    counts: Counter[Pair] = Counter()
    places: defaultdict[Pair, array[int]] = defaultdict(lambda: array("q"))
    ids, after = chain.ids, chain.after
    for place, pair in enumerate(pairwise(ids)):
        if END not in pair:
            counts[pair] += weights[place]
            places[pair].append(place)
    heap = [(-count, pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    merges: list[Pair] = []
    while len(merges) < most and (best := _most_frequent(heap, counts)):
        new = 256 + len(merges)
        merges.append(best)
        left, right = best
        fresh = set()
        for place in places.pop(best):
            if ids[place] != left or ids[after[place]] != right:
                continue  # one of the two has been joined to its other neighbour
            weight = weights[place]
            before, beyond = chain.join(place, new)
            if (other := ids[before]) != END:
                counts[other, left] -= weight
                counts[other, new] += weight
                places[other, new].append(before)
                fresh.add((other, new))
            if (other := ids[beyond]) != END:
                counts[right, other] -= weight
                counts[new, other] += weight
                places[new, other].append(place)
                fresh.add((new, other))
        del counts[best]
        for pair in fresh:
            heapq.heappush(heap, (-counts[pair], pair))
    return merges


def _most_frequent(heap: list[tuple[int, Pair]], counts: Mapping[Pair, int]) -> Pair | None:
    """Return the most frequent pair, of equals the one with the lowest ids, or None if no pair is left."""
    while heap:
        noted, pair = heap[0]
        count = counts[pair]
        if count == -noted > 0:
            return pair
        if count > 0:
            heapq.heapreplace(heap, (-count, pair))
        else:
            heapq.heappop(heap)
    return None


def apply(piece: bytes, merges: Mapping[Pair, int]) -> list[int]:
    """Return the ids of a piece after all merges, in their order and each from the left."""
    chain = Chain([piece])
    ids = chain.ids
    heap: list[tuple[int, int]] = []  # what a pair becomes, and its place

    def note(place: int) -> None:
        new = merges.get((ids[place], ids[chain.after[place]]))
        if new is not None:
            heapq.heappush(heap, (new, place))

    for place in range(1, len(piece)):
        note(place)
    while heap:
        new, place = heapq.heappop(heap)
        if ids[place] == END or merges.get((ids[place], ids[chain.after[place]])) != new:
            continue  # one of the two has been joined to its other neighbour
        before, _ = chain.join(place, new)
        if ids[before] != END:
            note(before)
        note(place)
    return list(chain)
