"""What a training run did: its numbers, as a table, and as a picture."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

from d2lrnn.recorded import measured

MAX_ROWS = 10  # of the table


@dataclass(frozen=True, repr=False, eq=False)
class History:
    """The course of a training run, which `train` returns.

    Shown in a notebook, it is a table of up to ten epochs; `plot` draws all of them. The sum of two is one
    run after the other, and `sum` takes any number of them. Histories are equal if their numbers are, nan
    counting as equal to itself.

    Attributes
    ----------
    perplexity : tuple of float
        For each epoch the perplexity of its training tokens, each scored just before it was learnt from.
    held_out_perplexity : tuple of float
        For each epoch the perplexity of the held-out text after it; empty if there was none. In a sum, nan
        stands for an epoch without.
    gradient_norm : tuple of float
        For each epoch the largest gradient norm, before clipping.
    margin : float
        The smallest distance, over the whole run, of a weight to halfway between two points of the grid that
        it was rounded to: machines that differ by less end in the same weights. Infinite without a grid.
    num_tokens : int
        Tokens that were predicted in training, over all epochs.
    seconds : float
        Time that training took, without evaluation.
    """

    perplexity: tuple[float, ...] = ()
    held_out_perplexity: tuple[float, ...] = ()
    gradient_norm: tuple[float, ...] = ()
    margin: float = math.inf
    num_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens_per_second(self) -> float:
        """Training tokens per second."""
        return self.num_tokens / self.seconds if self.seconds else 0.0

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, History) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def __add__(self, later: History) -> History:
        if not isinstance(later, History):
            return NotImplemented

        def joined(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[float, ...]:
            if not (first or second):
                return ()
            return _filled(first, self._epochs) + _filled(second, later._epochs)

        return History(
            perplexity=joined(self.perplexity, later.perplexity),
            held_out_perplexity=joined(self.held_out_perplexity, later.held_out_perplexity),
            gradient_norm=joined(self.gradient_norm, later.gradient_norm),
            margin=min(self.margin, later.margin),
            num_tokens=self.num_tokens + later.num_tokens,
            seconds=self.seconds + later.seconds,
        )

    def __radd__(self, start: int) -> History:
        """Return the history itself for 0, with which `sum` begins."""
        return self if isinstance(start, int) and start == 0 else NotImplemented

    def plot(self) -> None:
        """Display the perplexities over the epochs, on a log axis; an epoch without one leaves a gap.

        Raises
        ------
        ValueError
            If there is no perplexity.
        """
        from d2lrnn.drawing.curves import plot_curves  # not above: training needs no figures

        curves = {"training": self.perplexity, "held out": self.held_out_perplexity}
        curves = {name: values for name, values in curves.items() if not all(map(math.isnan, values))}
        if not curves:
            raise ValueError("history must hold a perplexity to be plotted, got none")
        plot_curves(
            {name: (range(1, len(values) + 1), values) for name, values in curves.items()},
            xlabel="epoch",
            ylabel="perplexity",
            yscale="log",
        )

    @property
    def _epochs(self) -> int:
        return max(map(len, self._columns()))

    def _columns(self) -> tuple[tuple[float, ...], ...]:
        return self.perplexity, self.held_out_perplexity, self.gradient_norm

    def _identity(self) -> tuple[object, ...]:
        """Return the numbers, with None for nan, which is not equal to itself."""
        columns = (tuple(None if math.isnan(n) else n for n in column) for column in self._columns())
        return (*columns, self.margin, self.num_tokens, self.seconds)

    def _table(self) -> list[list[str]]:
        names = ("training", "held out", "gradient norm")
        columns = {"epoch": [f"{n}" for n in range(1, self._epochs + 1)]}
        for name, values in zip(names, self._columns(), strict=True):
            if values or name != "held out":
                columns[name] = [_digits(value) for value in _filled(values, self._epochs)]
        last = self._epochs - 1
        shown = min(last + 1, MAX_ROWS)
        rows = [round(i * last / max(shown - 1, 1)) for i in range(shown)]
        return [list(columns), *([column[row] for column in columns.values()] for row in rows)]

    def _speed(self) -> str:
        return f"{measured(self.seconds, 's')}, {measured(self.tokens_per_second, 'tokens/s')}"

    def __repr__(self) -> str:
        table = self._table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table]
        return "\n".join([*lines, self._speed()])

    def _repr_html_(self) -> str:
        head, *body = self._table()
        titles = "".join(f'<th scope="col">{html.escape(title)}</th>' for title in head)
        rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in body)
        return (
            f"<table>\n<caption>Perplexity by epoch; {html.escape(self._speed())}</caption>\n"
            f"<thead><tr>{titles}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"
        )


def _filled(values: tuple[float, ...], epochs: int) -> tuple[float, ...]:
    """Return one value for each epoch, with nan for the last ones if some are missing."""
    return (*values, *[math.nan] * (epochs - len(values)))


def _digits(value: float) -> str:
    """Format a number to three significant digits; nan, which stands for no number, is a dash."""
    if math.isnan(value):
        return "–"
    return f"{value:#.3g}".rstrip(".") if value < 999.5 else f"{float(f'{value:.3g}'):,.0f}"
