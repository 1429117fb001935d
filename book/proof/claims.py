"""Hold what chapters claim against the runs that were made of them."""

from __future__ import annotations

from pathlib import Path

from book.recording import findings
from book.recording.findings import NEEDED, SHIFTS, WORDING, Claim, counted
from book.recording.notebooks import (
    code_cells,
    own_code_cells,
    read_recording,
    read_source,
    recording_of,
    sources,
)
from book.recording.provenance import key
from d2lrnn.recorded import RELATIONS

MOST = 8  # findings of a chapter: what is not worth one is no conclusion
# Chapters of the first edition with asserts that are findings, and the issue that writes them anew.
TO_BE_REWRITTEN = {
    "bptt": 24,
    "bptt-vanilla": 24,
    "long-sequences": 22,
    "rnn-concise": 23,
    "rnn-scratch": 23,
}


def faults(path: Path) -> list[str]:
    """List what is wrong with the findings of the chapter at `path`, one line each."""
    name = path.stem
    if not recording_of(path).is_file():
        return [f"{name}: it has no recording: run `make record ONLY={name}`"]
    recording = read_recording(recording_of(path))
    try:
        claims = findings.claims(code_cells(read_source(path)))
    except ValueError as error:
        return [f"{name}: {error}"]
    shown = findings.shown(own_code_cells(recording))
    found = [*_told(claims, shown), *_counted(claims, shown, name, key(recording))]
    return [f"{name}: {line}" for line in found]


def _told(claims: list[Claim], shown: list[findings.Shown]) -> list[str]:
    """Compare what the code claims with what its recording shows."""
    names = [claim.name for claim in claims]
    found = [
        f"{one} is claimed {names.count(one)} times" for one in dict.fromkeys(names) if names.count(one) > 1
    ]
    if len(claims) > MOST:
        found.append(f"{len(claims)} findings, at most {MOST} a chapter")
    seen = [one["name"] for one in shown]
    found += [f"{one} is not shown" for one in names if one not in seen]
    found += [f"{one} is shown {seen.count(one)} times" for one in dict.fromkeys(seen) if seen.count(one) > 1]
    found += [f"{one} is shown, but written nowhere" for one in dict.fromkeys(seen) if one not in names]
    by_name = {claim.name: claim for claim in claims}
    for one in shown:
        claim = by_name.get(one["name"])
        if claim and any(one[field] != getattr(claim, field) for field in WORDING):
            found.append(f"{one['name']} is recorded with other words or strength: run `make record`")
        if not one["holds"]:
            found.append(f"{one['name']} does not hold in the recorded run")
    return found


def _counted(claims: list[Claim], shown: list[findings.Shown], chapter: str, today: str) -> list[str]:
    """Compare what the code claims with the rows of today's key."""
    rows = [row for row in findings.rows() if (row["chapter"], row["key"]) == (chapter, today)]
    missing = sorted(set(SHIFTS) - {row["shift"] for row in rows})
    if missing:
        return [
            f"today's code and outputs were not run under {len(missing)} of {len(SHIFTS)} shifts: "
            f"run `make findings ONLY={chapter}`"
        ]
    counts = counted(rows, chapter, today) or {}
    names = {claim.name for claim in claims}
    found = [f"{name} is counted, but claimed nowhere" for name in counts if name not in names]
    found += [line for row in rows for line in _contradicted(row, shown)]
    for claim in claims:
        held = counts[claim.name].held if claim.name in counts else 0
        if held < NEEDED[claim.strength]:
            found.append(
                f"{claim.name} holds in {held} of {len(SHIFTS)} runs, and claims {claim.strength!r}, "
                f"which takes {NEEDED[claim.strength]}"
            )
    if chapter not in TO_BE_REWRITTEN:
        found += [f"with seeds + {row['shift']}, {line}" for row in rows for line in row["failed"]]
    return found


def _contradicted(row: findings.Row, shown: list[findings.Shown]) -> list[str]:
    """List the findings of a row whose numbers say something else than the row does."""
    relations = {one["name"]: RELATIONS[one["relation"]] for one in shown}
    found = []
    for name, (left, right, holds) in row["findings"].items():
        sides = float(left), float(right)  # rounded: where they are equal, they need not have been
        if name in relations and sides[0] != sides[1] and relations[name](*sides) != holds:
            verb = "holds" if holds else "does not hold"
            found.append(f"{name} {verb} with seeds + {row['shift']}, which {left} and {right} contradict")
    return found


def all_faults() -> list[str]:
    """List the faults of all chapters, and rows of what is no chapter or no shift."""
    paths = {path.stem: path for path in sources()}
    strange = {
        f"{row['chapter']}, seeds + {row['shift']}: a row of no chapter or of no shift"
        for row in findings.rows()
        if row["chapter"] not in paths or row["shift"] not in SHIFTS
    }
    return sorted(strange) + [line for path in paths.values() for line in faults(path)]
