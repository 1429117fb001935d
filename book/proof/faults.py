"""Small faults to plant in the package, by cosmic-ray's operators."""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

# Left out: those that put one variable where another was, which need to be told which, and those that put a
# bitwise operator, which on floats fails at the first run, so that any test catches it.
_UNUSED = ("VariableInserter", "VariableReplacer", "BitAnd", "BitOr", "BitXor", "LShift", "RShift")
_OPERATORS = {
    name.partition("/")[2]: cosmic_ray.plugins.get_operator(name)()
    for name in sorted(cosmic_ray.plugins.operator_names())
    if not name.endswith(_UNUSED)
}


@dataclass(frozen=True)
class Fault:
    """One change of one module, which is named by its path within the package.

    `before` and `after` are the lines that differ, without their indentation.
    """

    module: str
    operator: str
    before: str
    after: str
    code: str

    @property
    def name(self) -> str:
        """What tells the fault from others, also after changes elsewhere in the module."""
        return f"{self.module}: {self.before} -> {self.after}"


def faults(path: Path, package: Path, most: int) -> list[Fault]:
    """Return at most so many faults of a module, the same ones each time, each at a place of its own.

    Places where a fault changes nothing that matters are left out: annotations, and what is raised.
    """
    module = path.relative_to(package).as_posix()
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    # One column more, for the @ that stands before a decorator.
    idle = [(node.lineno, node.col_offset - 1, node.end_lineno, node.end_col_offset) for node in _idle(tree)]
    places: dict[tuple[int, int], list[tuple[str, int]]] = defaultdict(list)
    nodes = list(ast_nodes(get_ast(source)))
    for name, operator in _OPERATORS.items():
        occurrence = 0
        for node in nodes:
            for (line, column), _ in operator.mutation_positions(node):
                if not any((a, b) <= (line, column) < (c, d) for a, b, c, d in idle):
                    places[line, column].append((name, occurrence))
                occurrence += 1
    lines = source.splitlines()
    chosen: list[Fault] = []
    for line, column in sorted(places, key=lambda place: _lot(module, lines[place[0] - 1], place[1])):
        if len(chosen) == most:
            break
        ways = sorted(places[line, column], key=lambda way: _lot(lines[line - 1], *way))
        found = (_fault(module, source, tree, *way) for way in ways)
        if fault := next((one for one in found if one and one.name not in {f.name for f in chosen}), None):
            chosen.append(fault)
    return chosen


def _fault(module: str, source: str, tree: ast.Module, name: str, occurrence: int) -> Fault | None:
    """Return a fault, or none if it leaves the code as it was, or none that Python reads."""
    code = mutate_code(source, _OPERATORS[name], occurrence)
    try:
        if code is None or ast.dump(ast.parse(code)) == ast.dump(tree):
            return None
    except SyntaxError:
        return None
    changed = [line for line in difflib.ndiff(source.splitlines(), code.splitlines()) if line[0] in "-+"]
    before, after = (
        " ".join(word for line in changed if line[0] == sign for word in line[1:].split()) for sign in "-+"
    )
    return Fault(module, name, before, after, code)


def _idle(tree: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    """Yield what may change without a change of what runs."""
    for node in ast.walk(tree):
        typing_only = isinstance(node, ast.If) and _is_named(node.test, "TYPE_CHECKING")
        if typing_only or isinstance(node, ast.Raise):
            yield node
        elif isinstance(node, ast.arg) and node.annotation:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef) and node.returns:
            yield from (node.returns, *(mark for mark in node.decorator_list if _is_named(mark, "overload")))
        elif isinstance(node, ast.AnnAssign):
            yield node if _is_named(node.annotation, "TypeAlias") else node.annotation


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _lot(*what: object) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()
