"""Turn a chapter's MyST into the plain Markdown that Jupyter, Colab and GitHub show.

Only what the chapters use is known here; any other directive or role is an error, so that no raw MyST can
reach a reader.
"""

from __future__ import annotations

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
_CODE_FENCE = re.compile(r"^\s*(?P<fence>`{3,}|~{3,})(?!\{)")
_OPTION = re.compile(r"^:(?P<key>[\w-]+):\s*(?P<value>.*?)\s*$")
_LABEL = re.compile(r"^\([\w:-]+\)=\s*$")
_ROLE_OR_CODE = re.compile(
    r"(?P<role>\{[\w:.-]+\})?(?<!`)(?P<ticks>`+)(?!`)(?P<text>.+?)(?<!`)(?P=ticks)(?!`)"
)
_ROLE_TARGET = re.compile(r"^(?P<text>.+?)\s*<(?P<target>[^<>]+)>$")
_LINK_TO_SOURCE = re.compile(r"(\]\((?!\w+:)[^()\s]*?)\.md(#[^()\s]*)?\)")
_MATH_LABEL = re.compile(r"^\$\$\s*\((?P<label>[\w:-]+)\)\s*$")


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
            converter.number_labels(source)
    converted = []
    for kind, source in cells:
        if kind == "markdown":
            converted.append((converter.convert_cell(source), converter.solution is not None))
        else:
            converted.append((source, converter.solution is not None))
    if converter.solution is not None:
        raise PortableError(f"{name}: the solution of {converter.solution!r} is never closed")
    return converted


@dataclass
class _Converter:
    """Holds what reaches over cells: numbers of equations and exercises, and the solution that is open."""

    name: str
    equations: dict[str, int] = field(default_factory=dict)
    exercises: dict[str, str] = field(default_factory=dict)  # label -> "Exercise 1 (title)"
    solution: str | None = None  # label of the exercise whose solution is open

    def number_labels(self, source: str) -> None:
        lines = source.split("\n")
        for number, line in enumerate(lines):
            labelled = _MATH_LABEL.match(line)
            directive = _DIRECTIVE.match(line)
            if labelled:
                self._number_equation(labelled["label"])
            elif directive and directive["name"] in ("math", "exercise", "exercise-start"):
                options, _ = _split_options(_body(lines, number, directive["fence"], self.name)[0])
                if directive["name"] == "math":
                    if "label" in options:
                        self._number_equation(options["label"])
                elif "label" not in options:
                    raise PortableError(f"{self.name}: exercise {directive['argument']!r} has no label")
                else:
                    title = f"Exercise {len(self.exercises) + 1} ({directive['argument']})"
                    self.exercises[options["label"]] = title

    def _number_equation(self, label: str) -> None:
        if label in self.equations:
            raise PortableError(f"{self.name}: equation label {label!r} is used twice")
        self.equations[label] = len(self.equations) + 1

    def convert_cell(self, source: str) -> str:
        if self.solution is None:
            return _tidy(self.convert(source))
        opening = f"<details><summary>Solution to {self.exercises[self.solution]}, continued</summary>\n\n"
        converted = self.convert(source)
        before, closed, after = converted.partition(_CLOSE)
        if not closed:
            return _tidy(f"{opening}{converted}\n\n{_CLOSE}")
        return _tidy(opening + converted if before.strip() else after)  # else: the solution ended with code

    def convert(self, source: str) -> str:
        """Convert some lines of Markdown; ends an open solution's <details>, since a cell cannot span one."""
        lines = source.split("\n")
        out: list[str] = []
        number = 0
        while number < len(lines):
            line = lines[number]
            directive, code = _DIRECTIVE.match(line), _CODE_FENCE.match(line)
            labelled = _MATH_LABEL.match(line)
            if directive:
                body, number = _body(lines, number, directive["fence"], self.name)
                out.append(self.directive(directive["name"], directive["argument"], body))
                continue
            if code:
                body, end = _body(lines, number, code["fence"], self.name)
                out += lines[number:end]
                number = end
                continue
            if labelled:
                out += [rf"\tag{{{self.equations[labelled['label']]}}}", "$$"]
            elif not (_LABEL.match(line) or line.startswith("%")):
                out.append(self.inline(line))
            number += 1
        text = "\n".join(out)
        if self.solution is not None and _OPEN in text.rpartition(_CLOSE)[2]:
            text += "\n\n" + _CLOSE
        return text

    def directive(self, name: str, argument: str, body: list[str]) -> str:
        options, body = _split_options(body)
        text = "\n".join(body)
        handlers: dict[str, Callable[[], str]] = {
            "admonition": lambda: self.quote(argument, text),
            "code-block": lambda: f"```{argument}\n{text}\n```",
            "dropdown": lambda: _details(argument, self.convert(text)),
            "exercise": lambda: self.exercise(options["label"]) + "\n\n" + self.convert(text),
            "exercise-start": lambda: self.exercise(options["label"]),
            "exercise-end": lambda: "",
            "figure": lambda: f"![{options.get('alt', '')}]({argument})\n\n*{self.convert(text).strip()}*",
            "image": lambda: f"![{options.get('alt', '')}]({argument})",
            "math": lambda: self.math(text, options.get("label")),
            "solution": lambda: _details(f"Solution to {self.exercise_title(argument)}", self.convert(text)),
            "solution-start": lambda: self.open_solution(argument),
            "solution-end": self.close_solution,
        }
        if name in ADMONITIONS:
            return self.quote(f"{ADMONITIONS[name]}. {argument}".strip(), text)
        if name not in handlers:
            raise PortableError(f"{self.name}: the directive {{{name}}} has no plain Markdown form")
        return handlers[name]()

    def exercise_title(self, label: str) -> str:
        if label not in self.exercises:
            raise PortableError(f"{self.name}: there is no exercise {label!r}")
        return self.exercises[label]

    def exercise(self, label: str) -> str:
        return f"**{self.exercise_title(label)}.**"

    def open_solution(self, label: str) -> str:
        if self.solution is not None:
            raise PortableError(
                f"{self.name}: the solution of {self.solution!r} is still open at that of {label!r}"
            )
        summary = f"Solution to {self.exercise_title(label)}"
        self.solution = label
        return f"{_OPEN}{summary}</summary>\n"

    def close_solution(self) -> str:
        if self.solution is None:
            raise PortableError(f"{self.name}: a solution ends that never began")
        self.solution = None
        return _CLOSE

    def math(self, text: str, label: str | None) -> str:
        tag = "" if label is None else rf"\tag{{{self.equations[label]}}}" + "\n"
        return f"$$\n{text.strip()}\n{tag}$$"

    def quote(self, title: str, text: str) -> str:
        lines = [f"**{self.inline(title)}**", "", *self.convert(text).strip().split("\n")]
        return "\n".join(f"> {line}".rstrip() for line in lines)

    def inline(self, line: str) -> str:
        line = _LINK_TO_SOURCE.sub(r"\1.ipynb\2)", line)
        return _ROLE_OR_CODE.sub(self.role, line)

    def role(self, match: re.Match[str]) -> str:
        if match["role"] is None:  # a code span
            return match[0]
        role, content = match["role"][1:-1], match["text"]
        with_target = _ROLE_TARGET.match(content)
        text = with_target["text"] if with_target else content
        if role == "math":
            return f"${content}$"
        if role == "eq":
            if content not in self.equations:
                raise PortableError(f"{self.name}: there is no equation {content!r}")
            return f"({self.equations[content]})"
        if role == "term" or (role in ("ref", "doc") and with_target):
            return text
        raise PortableError(f"{self.name}: the role {match[0]!r} has no plain Markdown form")


_OPEN, _CLOSE = "<details><summary>", "</details>"
_EMPTY_DETAILS = re.compile(f"{_OPEN}(.*?)</summary>\\s*{_CLOSE}")


def _details(summary: str, text: str) -> str:
    return f"{_OPEN}{summary}</summary>\n\n{text.strip()}\n\n{_CLOSE}"


def _body(lines: list[str], start: int, fence: str, name: str) -> tuple[list[str], int]:
    """Return the lines between the fence opening at `start` and its end, and the number of the next."""
    for number in range(start + 1, len(lines)):
        line = lines[number].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return lines[start + 1 : number], number + 1
    raise PortableError(f"{name}: the block that opens with {lines[start]!r} is never closed")


def _split_options(body: list[str]) -> tuple[dict[str, str], list[str]]:
    options = {}
    for number, line in enumerate(body):
        option = _OPTION.match(line)
        if not option:
            return options, body[number:]
        options[option["key"]] = option["value"]
    return options, []


def _tidy(text: str) -> str:
    """Drop blank lines at the ends, squeeze runs of them, and say where a solution is that is all code."""
    text = re.sub(r"\n{3,}", "\n\n", text).strip("\n")
    return _EMPTY_DETAILS.sub(r"*\1 is in the next cell, which is folded.*", text)
