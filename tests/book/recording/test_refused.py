"""Outputs that no later run could show again are refused, with what to do instead."""

import datetime
import platform
import re
import sys
import tempfile
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_output

from book.recording.notebooks import ROOT
from book.recording.refused import fault
from d2lrnn.drawing.figures import SERIES_MIME

NOW = datetime.datetime.now()


def cell(*outputs, source="1", count=1, tags=()):
    return new_code_cell(source, outputs=list(outputs), execution_count=count, metadata={"tags": list(tags)})


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def result(**data):
    return new_output(
        "execute_result", data={kind.replace("_", "/"): content for kind, content in data.items()}
    )


def figure(**more):
    data = {"text/plain": "a line", "text/html": "<svg/>", "image/png": "iVBO", SERIES_MIME: {"y": [1.0]}}
    return new_output("display_data", data={**data, **more})


def error(evalue):
    return new_output("error", ename="ValueError", evalue=evalue, traceback=[])


REFUSED = {
    "no code": (cell(source=" \n"), "is empty"),
    "not run": (cell(count=None), "was not run: take its tag skip-execution out"),
    "does not raise": (cell(tags=["raises-exception"]), "did not raise: take the tag out"),
    "standard error": (cell(stream("oops", "stderr")), "writes to stderr, .*print it:\noops"),
    "address": (cell(result(text_plain="<object at 0x7f29c8d2b110>")), "a memory address, 0x7f29c8d2b110"),
    "address as on Windows": (cell(stream("at 0x000001A2B3C4D5E6")), "a memory address"),
    "address in HTML": (cell(result(text_plain="a", text_html="<b>0x7f29c8d2b110</b>")), "a memory address"),
    "folder of the checkout": (cell(stream(f"in {ROOT}/chapters\n")), "a path of this machine, .*: print"),
    "folder of Python": (cell(stream(sys.prefix)), "a path of this machine"),
    "home": (cell(error(f"no file {Path.home()}/notes")), "a path of this machine"),
    "temporary folder": (
        cell(stream(f"{tempfile.gettempdir()}/ipykernel_12/3.py:1: note")),
        "a path of this machine",
    ),
    "set of texts": (cell(stream("{'a', \"b's\"}\n")), "a set of texts, .*: print it sorted"),
    "date": (cell(stream(f"on {NOW:%Y-%m-%d}")), "today's date"),
    "time as in C": (cell(stream(NOW.ctime())), "today's date"),
    "Python": (cell(stream(sys.version)), "shows what this machine runs"),
    "system": (cell(result(text_plain=repr(platform.platform()))), "shows what this machine runs"),
    "bare picture": (
        cell(result(text_plain="<Figure>", image_png="iVBO")),
        r"cannot be compared: .*d2lrnn\.show",
    ),
    "SVG": (cell(result(text_plain="<SVG>", **{"image/svg+xml": "<svg/>"})), r"cannot be .*d2lrnn\.show"),
    "number that is none": (
        cell(result(text_plain="a", **{SERIES_MIME: {"y": [float("nan")]}})),
        "cannot be",
    ),
}
HOLDS = {
    "nothing": cell(),
    "text": cell(stream("loss 0.5\n"), result(text_plain="{'a': 1, 'b': 2}")),
    "a set that Jupyter sorts": cell(result(text_plain="{'a', 'b'}")),
    "a set of numbers": cell(stream("{1, 2}")),
    "figure": cell(figure()),
    "figure with a path in its picture": cell(figure(**{"text/html": f"<svg/>{tempfile.gettempdir()}/x"})),
    "raises": cell(error("no"), tags=["raises-exception"]),
    "short hexadecimal number": cell(stream("0xff")),
    "name that begins like a folder": cell(stream(f"{tempfile.gettempdir()}orary")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_is(name):
    found, expected = REFUSED[name]
    assert re.search(expected, fault(found) or "", re.DOTALL)


@pytest.mark.parametrize("name", HOLDS)
def test_kept_is(name):
    assert fault(HOLDS[name]) is None
