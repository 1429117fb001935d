"""When a recording is written, when it stays as it is, and when it is refused."""

import copy

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from book.recording import provenance, record
from book.recording.notebooks import read_recording, write_recording
from d2lrnn import measured
from d2lrnn.drawing.figures import SERIES_MIME


def figure(y, picture="<svg/>", png="iVBO"):
    bundle = {"text/plain": "a line", "text/html": picture, "image/png": png, SERIES_MIME: {"y": y}}
    return new_output("display_data", data=bundle)


def stream(text):
    return new_output("stream", name="stdout", text=text)


def recording(*outputs, code="draw()", files="f", margins=-12):
    setup = new_code_cell("# set up", id="a", execution_count=1)
    cell = new_code_cell(code, id="b", execution_count=2, outputs=list(outputs))
    made = new_notebook(cells=[setup, cell])
    made.metadata[provenance.KEY] = {"files": files, "margins": {"grid": margins}}
    made.metadata[provenance.KEY]["outputs"] = provenance.outputs_digest(made)
    return made


OLD = recording(figure([1.0, 0.123456]), stream(f"took {measured(1.5, 's')}\n"))
AGAIN = {
    "the very same": OLD,
    "other times": recording(figure([1.0, 0.123456]), stream(f"took {measured(2.5, 's')}\n")),
    "another last digit of a series": recording(
        figure([1.0, 0.123457]), stream(f"took {measured(1.5, 's')}\n")
    ),
    "another margin": recording(*OLD.cells[1].outputs, margins=-13),
}
OTHER = {
    "another number": recording(figure([1.0, 0.2]), OLD.cells[1].outputs[1]),
    "another way to draw": recording(figure([1.0, 0.123456], picture="<svg></svg>"), OLD.cells[1].outputs[1]),
    "another PNG": recording(figure([1.0, 0.123456], png="iVBP"), OLD.cells[1].outputs[1]),
    "other code": recording(*OLD.cells[1].outputs, code="draw(1)"),
    "an output less": recording(OLD.cells[1].outputs[0]),
}


@pytest.fixture
def update(tmp_path, monkeypatch):
    """Return a function that updates OLD: was it written, and how often was that tried again."""
    path = tmp_path / "rnn.md"
    tried = []

    def run(new, refused=(), old=OLD):
        if old:
            write_recording(path.with_suffix(".ipynb"), copy.deepcopy(old))
        monkeypatch.setattr(record, "record", lambda _path: copy.deepcopy(new))
        monkeypatch.setattr(record, "as_tests_do", lambda again: tried.append(again) or list(refused))
        monkeypatch.setattr(record, "ROOT", tmp_path)
        return record.update(path), len(tried)

    run.target = path.with_suffix(".ipynb")
    return run


@pytest.mark.parametrize("name", AGAIN)
def test_recording_stays_where_a_run_shows(name, update):
    assert update(AGAIN[name]) == (False, 0)
    assert read_recording(update.target) == OLD


@pytest.mark.parametrize("name", OTHER)
def test_recording_is_written_and_tried_again_where_a_run_shows(name, update):
    assert update(OTHER[name]) == (True, 1)
    assert read_recording(update.target) == OTHER[name]


def test_a_first_recording_is_tried_again(update):
    assert update(OLD, old=None) == (True, 1)
    assert read_recording(update.target) == OLD


@pytest.mark.parametrize("name", AGAIN)
def test_outputs_and_their_key_stay_where_a_change_of_the_package_leaves_them(name, update):
    new = copy.deepcopy(AGAIN[name])
    new.metadata[provenance.KEY]["files"] = "another"
    assert update(new) == (True, 0)
    written = read_recording(update.target)
    assert written.cells[1].outputs == OLD.cells[1].outputs
    noted = {"files": "another", "margins": new.metadata[provenance.KEY]["margins"]}
    assert written.metadata[provenance.KEY] == {**OLD.metadata[provenance.KEY], **noted}


def test_a_set_up_cell_alone_is_renewed(update):
    new = copy.deepcopy(OLD)
    new.cells[0].source = "# another release"
    assert update(new) == (True, 0)
    assert read_recording(update.target) == new


def test_a_recording_that_tests_refuse_leaves_the_one_that_was_there(update):
    with pytest.raises(
        record.RecordingError, match=r"^rnn\.md, code cell 1 moves\nrnn\.md, code cell 2 too$"
    ):
        update(OTHER["another number"], refused=["code cell 1 moves", "code cell 2 too"])
    assert read_recording(update.target) == OLD


def test_a_first_recording_that_tests_refuse_does_not_stay(update):
    with pytest.raises(record.RecordingError):
        update(OLD, refused=["code cell 1 moves"], old=None)
    assert not update.target.exists()


def test_an_interrupted_test_leaves_the_recording_that_was_there(update, monkeypatch):
    class Stop(BaseException):
        pass

    def refused():
        raise Stop
        yield

    with pytest.raises(Stop):
        update(OTHER["another number"], refused=refused())
    assert read_recording(update.target) == OLD
