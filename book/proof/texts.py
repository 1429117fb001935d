"""Measure the course's texts, and The Time Machine beside them, for the appendix page.

Usage: python -m book.proof.texts   (writes book/proof/tables/texts.json and book/proof/tables/texts.md)

The Time Machine is measured when $D2LRNN_DATA has it; otherwise its recorded figures stay.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from itertools import chain
from pathlib import Path

from book.recording.notebooks import TABLES
from d2lrnn import CORPORA, clean_lines, load_text, tokenize, zipf_fit

FIGURES = TABLES / "texts.json"
TABLE = TABLES / "texts.md"

# What each figure is, as the page says it.
LATIN = {
    "characters": "characters",
    "words": "words",
    "distinct_words": "distinct words",
    "once_share": "share of distinct words that occur once",
    "zipf_slope": "Zipf slope, ranks 10 to 1,000",
    "distinct_3grams": "distinct share of word 3-grams",
    "distinct_4grams": "distinct share of word 4-grams",
    "distinct_5grams": "distinct share of word 5-grams",
    "longest_repeat": "longest repeated stretch, characters",
    "repeated_sentences": "sentences that occur more than once",
    "commonest_opening": "paragraphs with the commonest opening (first four words)",
}
HAN = {
    "characters": "characters",
    "visible_characters": "characters without whitespace",
    "distinct_characters": "distinct characters",
    "longest_repeat": "longest repeated stretch, characters",
    "repeated_sentences": "sentences that occur more than once",
}
Figures = dict[str, float]


def measure_latin(text: str) -> Figures:
    """Return the figures of `LATIN` for a text that writes spaces between words."""
    words = list(chain.from_iterable(tokenize(clean_lines(text))))
    counts = Counter(words)
    slope, _ = zipf_fit(list(counts.values()), skip=9, until=1000)
    openings = Counter(tuple(" ".join(clean_lines(part)).split()[:4]) for part in paragraphs(text))
    return {
        "characters": len(text),
        "words": len(words),
        "distinct_words": len(counts),
        "once_share": round(sum(count == 1 for count in counts.values()) / len(counts), 3),
        "zipf_slope": round(slope, 3),
        **{f"distinct_{n}grams": round(distinct_share(words, n), 3) for n in (3, 4, 5)},
        "longest_repeat": longest_repeat(" ".join(text.split())),
        "repeated_sentences": len(repeated_sentences(text, r"(?<=[.!?])[\"')\]]*\s+")),
        "commonest_opening": max(count for opening, count in openings.items() if len(opening) == 4),
    }


def measure_han(text: str) -> Figures:
    """Return the figures of `HAN` for a text in Chinese."""
    visible = "".join(text.split())
    return {
        "characters": len(text),
        "visible_characters": len(visible),
        "distinct_characters": len(set(visible)),
        "longest_repeat": longest_repeat(visible),
        "repeated_sentences": len(repeated_sentences(text, r"(?<=[。！？])[”』》]*\s*")),
    }


def paragraphs(text: str) -> list[str]:
    """Return the parts of a text that blank lines separate."""
    return [part for part in re.split(r"\n\s*\n", text) if part.strip()]


def distinct_share(words: list[str], n: int) -> float:
    """Return how many of the n-grams of `words` are distinct, as a share of all."""
    ngrams = list(zip(*(words[start:] for start in range(n)), strict=False))
    return len(set(ngrams)) / len(ngrams)


def longest_repeat(text: str) -> int:
    """Return the length of the longest stretch that occurs twice, overlaps included."""
    length = 1
    while _repeats(text, length):
        length *= 2
    shortest, longest = length // 2, length  # a stretch of `shortest` repeats, none of `longest` does
    while longest - shortest > 1:
        length = (shortest + longest) // 2
        shortest, longest = (length, longest) if _repeats(text, length) else (shortest, length)
    return shortest


def _repeats(text: str, length: int) -> bool:
    stretches = len(text) - length + 1
    return len({text[start : start + length] for start in range(stretches)}) < stretches


def repeated_sentences(text: str, boundary: str) -> list[str]:
    """Return the sentences that occur more than once; `boundary` is the pattern between two of them."""
    sentences = chain.from_iterable(re.split(boundary, " ".join(part.split())) for part in paragraphs(text))
    counts = Counter(sentence.strip("\"'“”「」 ") for sentence in sentences)
    return [sentence for sentence, count in counts.items() if sentence and count > 1]


def measure_all() -> dict[str, Figures]:
    """Return the figures of every text that is at hand without a download."""
    figures = {"tide_clock": measure_latin(load_text("tide_clock"))}
    if (Path(os.environ.get("D2LRNN_DATA", "")) / "timemachine.txt").is_file():
        figures["time_machine"] = measure_latin(load_text("time_machine"))
    figures["stone_bridge"] = measure_han(load_text("stone_bridge"))
    return figures


def table(figures: dict[str, Figures]) -> str:
    """Return the figures as the Markdown that the appendix page includes."""
    latin = [name for name in ("tide_clock", "time_machine") if name in figures]
    return "\n".join(
        [
            *_rows(figures, latin, LATIN),
            "",
            "The second text is Chinese, for models that read characters in a script of many.",
            "",
            *_rows(figures, ["stone_bridge"], HAN),
            "",
        ]
    )


def _rows(figures: dict[str, Figures], names: list[str], labels: dict[str, str]) -> list[str]:
    head = ["", *(CORPORA[name].title for name in names)]
    body = [[label, *(f"{figures[name][key]:,}" for name in names)] for key, label in labels.items()]
    rule = ["---", *("---:" for _ in names)]
    return ["| " + " | ".join(row) + " |" for row in (head, rule, *body)]


def main() -> None:
    """Measure, and write the figures and the table."""
    recorded = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.is_file() else {}
    figures = {**recorded, **measure_all()}
    FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
    TABLE.write_text(table(figures), encoding="utf-8", newline="\n")
    print(table(figures))


if __name__ == "__main__":
    main()
