"""Public signatures change only on purpose: parameter names, their order, and defaults are a promise.

After a change that is meant, run `python tests/test_signatures.py`.
"""

import dataclasses
import inspect
from pathlib import Path

import d2lrnn

KNOWN = Path(__file__).with_name("signatures.txt")


def signatures():
    """Return a line for each public function, class and method."""
    lines = []
    for name in sorted(d2lrnn.__all__):
        value = getattr(d2lrnn, name)
        if callable(value):
            lines.append(f"{name}{_signature(value)}")
        if not inspect.isclass(value):
            continue
        if dataclasses.is_dataclass(value):
            lines.append(f"{name} is {'frozen' if value.__dataclass_params__.frozen else 'open'}")
        for key, member in sorted(vars(value).items()):
            function = getattr(member, "__func__", member)
            if isinstance(member, property) and not key.startswith("_"):
                lines.append(f"{name}.{key}")
            elif inspect.isfunction(function) and not key.startswith("_"):
                lines.append(f"{name}.{key}{_signature(function)}")
    return "".join(f"{line}\n" for line in lines)


def _signature(value):
    """Return the parameters with their defaults; annotations are for mypy to check."""
    found = inspect.signature(value)
    bare = [
        p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values() if p.name != "self"
    ]
    return inspect.Signature(bare)


def test_public_signatures_are_the_known_ones():
    assert signatures() == KNOWN.read_text(encoding="utf-8")


if __name__ == "__main__":
    KNOWN.write_text(signatures(), encoding="utf-8", newline="\n")
