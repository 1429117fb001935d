"""The rows of the matrix as the Markdown that the appendix page includes."""

from __future__ import annotations

from book.proof.matrix_rows import CHAPTERS, FIRST, ORDER, SHORT, Row, short_rows
from book.recording.compare import TOLERANCES
from book.recording.notebooks import TABLES

TABLE = TABLES / "matrix.md"
HEAD = ["runs", "differ", "largest"]  # short, so that a chapter's name fits beside them on a phone


def page(table: dict, keys: dict[str, str]) -> str:
    """Return what the rows of today's `keys` show, by processor, and what the first edition's showed."""
    rows = [row for row in table[CHAPTERS] if row["key"] == keys.get(row["chapter"])]
    short = short_rows(table[SHORT])
    lines = []
    for processor in sorted({row["processor"] for row in rows}):
        lines += _processor(processor, [row for row in rows if row["processor"] == processor])
    lines += _short(short) + _tolerances([*rows, *short, *table[FIRST]["rows"], *table[FIRST]["short"]])
    return "\n".join(lines + _first(table[FIRST])) + "\n"


def _processor(name: str, rows: list[Row]) -> list[str]:
    """Return a processor's table of chapters, and folded that of its settings."""
    chapters, under = _grouped(rows, "chapter"), _grouped(rows, "setting")
    return [
        f"**{name}** ({_made(rows)})",
        "",
        *_table("chapter", {one: chapters[one] for one in sorted(chapters)}),
        "",
        f":::{{dropdown}} The same rows by setting ({len(under)})",
        *_table("setting", {one: under[one] for one in ORDER if one in under}),
        ":::",
        "",
    ]


def _short(rows: list[Row]) -> list[str]:
    """Return the lines on the short training; none if it was not run."""
    if not rows:
        return []
    differing = sum(len(row["differing"]) for row in rows)
    ends = len({row["without the grid"] for row in rows})
    places = {row["processor"] for row in rows}
    return [
        "The short training holds four models: the hash of the final weights and the generated text must be "
        "equal, the held-out perplexity within the tolerance of printed numbers.",
        "",
        f":::{{dropdown}} The short training under {len(rows)} settings: values that differ, {differing}",
        *(
            f"{place} ({_made([row for row in rows if row['processor'] == place])})."
            for place in sorted(places)
        ),
        "",
        *_table("setting", {f"{row['setting']}{_place(row, rows)}": [row] for row in rows}),
        ":::",
        "",
        f"Without the grid, the first of these models ends in {ends} different sets of weights under these "
        f"{len(rows)} settings.",
        "",
    ]


def _tolerances(rows: list[Row]) -> list[str]:
    lines = ["| numbers | largest in any row | tolerance |", "| --- | ---: | ---: |"]
    lines += [
        f"| {kind} | {_size(_largest(rows, kind))} | {_size(tolerance)} |"
        for kind, tolerance in TOLERANCES.items()
    ]
    return [*lines, ""]


def _first(first: dict) -> list[str]:
    """Return the first edition's two tables as they were, folded."""
    processor, *versions = first["made with"].items()
    made = ", ".join(f"{name} {version}" for name, version in versions)
    usual = first["made with"]["torch"]
    lines = [
        f":::{{dropdown}} The first edition's rows, each over all its chapters together ({first['date']})",
        f"{processor[1]}; {made}. Chapters: {', '.join(first['chapters'])}.",
    ]
    for counted, rows in (("cells", first["rows"]), ("values", first["short"])):
        names = [
            row["setting"] + (f", torch {row['torch']}" if row.get("torch", usual) != usual else "")
            for row in rows
        ]
        lines += ["", f"| setting | {counted} | differ | largest |", "| --- | ---: | ---: | ---: |"]
        lines += [
            f"| {name} | {row['cells']:,} | {len(row['differing'])} | {_size(max(row['largest'].values()))} |"
            for name, row in zip(names, rows, strict=True)
        ]
    ends = len({row["without the grid"] for row in first["short"]})
    return [
        *lines,
        "",
        "The second table is of the short training. Without the grid, the first of its models ended in "
        f"{ends} different sets of weights under its {len(first['short'])} settings.",
        ":::",
    ]


def _grouped(rows: list[Row], by: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[by], []).append(row)
    return found


def _made(rows: list[Row]) -> str:
    """Return the versions and the days that rows are of."""
    versions: dict[str, set[str]] = {}
    for row in rows:
        for name, version in row["versions"].items():
            versions.setdefault(name, set()).add(version)
    days = sorted({row["date"] for row in rows})
    named = ", ".join(f"{name} {' and '.join(sorted(found))}" for name, found in versions.items())
    return f"{named}; {' to '.join(dict.fromkeys((days[0], days[-1])))}"


def _place(row: Row, rows: list[Row]) -> str:
    """Return on which processor a row was made, where there are several."""
    return f", {row['processor']}" if len({one["processor"] for one in rows}) > 1 else ""


def _table(what: str, rows: dict[str, list[Row]]) -> list[str]:
    """Return a table with a line for each name: how many runs, what differs, the largest of each kind."""
    lines = ["| " + " | ".join([what, *HEAD]) + " |", "| --- | ---: | ---: | ---: |"]
    for name, of in rows.items():
        cells = sum(row["cells"] for row in of)
        differing = sum(len(row["differing"]) for row in of)
        sizes = ", ".join(_size(_largest(of, kind)) for kind in TOLERANCES)
        lines.append(f"| {name} | {len(of)} | {differing} of {cells:,} | {sizes} |")
    return lines


def _largest(rows: list[Row], kind: str) -> float:
    return max((row["largest"].get(kind, 0.0) for row in rows), default=0.0)


def _size(value: float) -> str:
    return f"{value:.0e}" if value else "0"
