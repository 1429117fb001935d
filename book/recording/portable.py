"""Turn a chapter's MyST into the plain Markdown that Jupyter, Colab and GitHub show.

Only what the chapters use is known here; anything else is an error, so that no raw MyST can reach a reader.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field

ADMONITIONS = {
    "attention": "Attention",
    "caution": "Caution",
    "hint": "Hint",
    "important": "Important",
    "note": "Note",
    "seealso": "See also",
    "tip": "Tip",
    "warning": "Warning",
}

_DIRECTIVE = re.compile(r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}\s*(?P<argument>.*?)\s*$")
_CODE_FENCE = re.compile(r"^\s*(?P<fence>`{3,}|~{3,})(?!\s*\{)")
_OPTION = re.compile(r"^:(?P<key>[\w-]+):\s*(?P<value>.*?)\s*$")
_LABEL = re.compile(r"^\([\w:-]+\)=\s*$")
_MATH_END = re.compile(r"^\$\$\s*(?:\((?P<label>[\w:-]+)\))?\s*$")
# A code span or role comes first, so that what it holds is not taken for a link.
_INLINE = re.compile(
    r"(?P<role>\{[\w:.-]+\})?(?<!`)(?P<ticks>`+)(?!`)(?P<text>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|(?P<link>\]\([\w-]+)\.md(?P<rest>(?:#[^()\s]*)?(?:\s+\"[^\"]*\")?\))"
)
_ROLE_TARGET = re.compile(r"^(?P<text>.+?)\s*<(?P<target>[^<>]+)>$")
# What a converted text may not hold outside code: MyST that came through, or that plain Markdown cannot show.
_LEFT_OVER = re.compile(
    r"\{[\w:.-]+\}`|^[\s>*-]*(?:`{3,}|:{3,}|~{3,})\s*\{|^\([\w:-]+\)=|\[\]\(|^\[[^\]]+\]:\s*\S+\.md|\$\$\s*\([\w:-]+\)",
    re.MULTILINE,
)
_CODE = re.compile(
    r"^(\s*>?\s*)(`{3,}|~{3,})(?!\s*\{).*?^\1\2`*\s*$|(?<![`}])(`{1,2})(?!`).+?(?<!`)\3(?!`)", re.M | re.S
)

# A line break within a code span or a formula, where the next line begins like a list, a heading, a quote or
# a table: on the site that is what it becomes.
_BREAK = r"\n[ \t]*(?:[-+*] |\d+\. |#|>|\|)"
_BROKEN = re.compile(
    rf"^[^`\n]*(?:`[^`\n]+`[^`\n]*)*`[^`\n]+{_BREAK}|^[^$\n]*(?:\$[^$\n]+\$[^$\n]*)*\$[^$\n]+{_BREAK}",
    re.MULTILINE,
)

# Where a solution opens and closes, until a cell is put together: a <details> cannot reach over cells.
_SOLUTION_MARK = re.compile(r"\0(open|close)\0")


class PortableError(ValueError):
    """A chapter holds MyST that has no plain form here; the message names the chapter and the construct."""


def to_markdown(cells: list[tuple[str, str]], name: str) -> list[tuple[str, bool]]:
    """Convert the (kind, source) cells of the chapter `name`; code passes unchanged.

    Returns
    -------
    list of (text, in_solution)
        One pair for each cell, in order; `in_solution` tells whether it stands in an exercise's solution.

    Raises
    ------
    PortableError
        For a directive, role or equation label that is not known.
    """
    converter = _Converter(name)
    for kind, source in cells:
        if kind == "markdown":
            converter.collect_labels(source.split("\n"))
    converted = []
    for kind, source in cells:
        text = converter.convert_cell(source) if kind == "markdown" else source
        converted.append((text, converter.solution is not None))
    if converter.solution is not None:
        raise PortableError(f"{name}: the solution of {converter.solution!r} is never closed")
    return converted


@dataclass
class _Converter:
    """Holds what reaches over cells: labels of equations and exercises, and the solution that is open."""

    name: str
    equations: dict[str, int] = field(default_factory=dict)
    exercises: dict[str, str] = field(default_factory=dict)  # label -> "Exercise (title)"
    solution: str | None = None  # label of the exercise whose solution is open
    opened: list[str] = field(default_factory=list)  # labels of the solutions that this cell opens

    def error(self, what: str) -> PortableError:
        return PortableError(f"{self.name}: {what}")

    def collect_labels(self, lines: list[str]) -> None:
        number = 0
        while number < len(lines):
            line = lines[number]
            if directive := _DIRECTIVE.match(line):
                body, number = self.body(lines, number, directive["fence"])
                options, content = self.split_options(body)
                if directive["name"] == "math" and "label" in options:
                    self.number_equation(options["label"])
                elif directive["name"] in ("exercise", "exercise-start"):
                    self.name_exercise(directive["argument"], options)
                if directive["name"] != "code-block":
                    self.collect_labels(content)
            elif code := _CODE_FENCE.match(line):
                number = self.body(lines, number, code["fence"])[1]
            elif line == "$$":
                _, label, number = self.display_math(lines, number)
                if label:
                    self.number_equation(label)
            else:
                number += 1

    def number_equation(self, label: str) -> None:
        if label in self.equations:
            raise self.error(f"equation label {label!r} is used twice")
        self.equations[label] = len(self.equations) + 1

    def name_exercise(self, title: str, options: dict[str, str]) -> None:
        label = options.get("label")
        if not title or not label or "nonumber" not in options:
            raise self.error(f"exercise {title!r} needs a title, a :label: and :nonumber:")
        if label in self.exercises:
            raise self.error(f"exercise label {label!r} is used twice")
        self.exercises[label] = f"Exercise ({title})"

    def convert_cell(self, source: str) -> str:
        open_label = self.solution
        text = self.convert(source.split("\n"))
        if broken := _BROKEN.search(text):
            raise self.error(
                f"{broken[0]!r} is code or a formula that a line break turns into something else"
            )
        if left := _LEFT_OVER.search(_CODE.sub("", text)):
            raise self.error(f"{left[0].strip()!r} has no plain Markdown form here")
        return self.fold_solutions(text, open_label)

    def fold_solutions(self, text: str, open_label: str | None) -> str:
        """Put each solution's part of a cell into a <details> of its own."""
        pieces = _SOLUTION_MARK.split(text)  # text, mark, text, mark, ..., text
        labels = iter([label for label in (open_label, *self.opened) if label])
        self.opened = []
        out: list[str] = []
        inside = open_label is not None
        label, continued = (next(labels), ", continued") if inside else (None, "")
        for number in range(0, len(pieces), 2):
            part, last = pieces[number].strip("\n"), number == len(pieces) - 1
            summary = f"Solution to {self.exercises.get(label or '', '')}{continued}"
            if not inside:
                out.append(part)
            elif part:
                out.append(_details(summary, part))
            elif last and not continued:
                out.append(f"*{summary} is in the next cell, which is folded.*")
            if not last and pieces[number + 1] == "open":
                inside, label, continued = True, next(labels), ""
            elif not last:
                inside = False
        return "\n\n".join(part for part in out if part)

    def convert(self, lines: list[str]) -> str:
        out: list[str] = []
        number = 0
        while number < len(lines):
            line = lines[number]
            if directive := _DIRECTIVE.match(line):
                body, number = self.body(lines, number, directive["fence"])
                out += [
                    self.directive(directive["name"], directive["argument"], directive["fence"], body),
                    "",
                ]
            elif code := _CODE_FENCE.match(line):
                end = self.body(lines, number, code["fence"])[1]
                out += lines[number:end]
                number = end
            elif line == "$$":
                formula, label, number = self.display_math(lines, number)
                out.append(self.math(formula, label))
            else:
                if line.startswith("%") and number and lines[number - 1].strip():
                    raise self.error(f"{line!r} would be a comment in the middle of a paragraph")
                if not (_LABEL.match(line) or line.startswith("%")):
                    out.append(_INLINE.sub(self.inline, line))
                number += 1
        return "\n".join(out).strip("\n")

    def body(self, lines: list[str], start: int, fence: str) -> tuple[list[str], int]:
        """Return the lines between the fence opening at `start` and its end, and the number of the next."""
        for number in range(start + 1, len(lines)):
            line = lines[number].strip()
            if line.startswith(fence) and not line.strip(fence[0]):
                return lines[start + 1 : number], number + 1
        raise self.error(f"the block that opens with {lines[start]!r} is never closed")

    def display_math(self, lines: list[str], start: int) -> tuple[str, str | None, int]:
        """Return the formula from the $$ at `start` to the next, its label, and the next line's number."""
        for number in range(start + 1, len(lines)):
            if end := _MATH_END.match(lines[number]):
                return "\n".join(lines[start + 1 : number]), end["label"], number + 1
        raise self.error(f"the formula that begins with {lines[start + 1 : start + 2]} is never closed")

    def split_options(self, body: list[str]) -> tuple[dict[str, str], list[str]]:
        if body[:1] == ["---"]:
            raise self.error("write options as :key: value, not between ---")
        options = {}
        for number, line in enumerate(body):
            if not (option := _OPTION.match(line)):
                return options, body[number:]
            options[option["key"]] = option["value"]
        return options, []

    def directive(self, name: str, argument: str, fence: str, body: list[str]) -> str:
        options, body = self.split_options(body)
        handlers: dict[str, Callable[[], str]] = {
            "admonition": lambda: self.quote(argument, body),
            "code-block": lambda: self.code_block(argument, fence, options, body),
            "dropdown": lambda: _details(self.summary(argument), self.convert(body)),
            "exercise": lambda: f"**{self.exercise_title(options['label'])}.**\n\n{self.convert(body)}",
            "exercise-start": lambda: f"**{self.exercise_title(options['label'])}.**",
            "exercise-end": lambda: "",
            "figure": lambda: f"{_image(argument, options)}\n\n{_emphasise(self.convert(body))}",
            "image": lambda: _image(argument, options),
            "math": lambda: self.math("\n".join([argument, *body]), options.get("label")),
            "solution": lambda: _details(f"Solution to {self.exercise_title(argument)}", self.convert(body)),
            "solution-start": lambda: self.open_solution(argument),
            "solution-end": self.close_solution,
        }
        if name in ADMONITIONS:
            return self.quote(f"{ADMONITIONS[name]}. {argument}".strip(), body)
        if name not in handlers:
            raise self.error(f"the directive {{{name}}} has no plain Markdown form here")
        return handlers[name]()

    def summary(self, title: str) -> str:
        """Return the title of something folded as HTML, since Markdown is not read there."""
        if re.search(r"[$`{]", title):  # and a backtick would end the fence on the site
            raise self.error(f"the title {title!r} of a dropdown can hold plain words only")
        return html.escape(title, quote=False)

    def code_block(self, language: str, fence: str, options: dict[str, str], body: list[str]) -> str:
        if options:
            raise self.error(f"the options {sorted(options)} of a code-block have no plain Markdown form")
        ticks = "`" * len(fence)
        return "\n".join([f"{ticks}{language}", *body, ticks])

    def exercise_title(self, label: str) -> str:
        if label not in self.exercises:
            raise self.error(f"there is no exercise {label!r}")
        return self.exercises[label]

    def open_solution(self, label: str) -> str:
        self.exercise_title(label)
        if self.solution is not None:
            raise self.error(f"the solution of {self.solution!r} is still open at that of {label!r}")
        self.solution = label
        self.opened.append(label)
        return "\0open\0"

    def close_solution(self) -> str:
        if self.solution is None:
            raise self.error("a solution ends that never began")
        self.solution = None
        return "\0close\0"

    def math(self, formula: str, label: str | None) -> str:
        tag = "" if label is None else rf"\tag{{{self.equations[label]}}}" + "\n"
        return f"$$\n{formula.strip()}\n{tag}$$"

    def quote(self, title: str, body: list[str]) -> str:
        lines = [f"**{_INLINE.sub(self.inline, title)}**", "", *self.convert(body).split("\n")]
        return "\n".join(f"> {line}".rstrip() for line in lines)

    def inline(self, match: re.Match[str]) -> str:
        if match["link"]:  # to another chapter, which has a notebook beside it
            return f"{match['link']}.ipynb{match['rest']}"
        if match["role"] is None:  # a code span
            return match[0]
        role, content = match["role"][1:-1], match["text"]
        with_target = _ROLE_TARGET.match(content)
        text = with_target["text"] if with_target else content
        if role == "math":
            return f"${content}$"
        if role == "eq":
            if content not in self.equations:
                raise self.error(f"there is no equation {content!r}")
            return f"({self.equations[content]})"
        if role == "term" or (role in ("ref", "doc") and with_target):
            return text
        raise self.error(f"the role {match[0]!r} has no plain Markdown form here")


def _details(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text.strip()}\n\n</details>"


def _image(address: str, options: dict[str, str]) -> str:
    return f"![{options.get('alt', '')}]({address})"


def _emphasise(text: str) -> str:
    """Set the first paragraph, a figure's caption, in italics."""
    caption, *legend = text.strip().split("\n\n")
    return "\n\n".join([f"*{caption}*", *legend])
