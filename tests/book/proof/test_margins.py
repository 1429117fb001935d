import nbformat
import pytest
from small_course import chapter

from book.proof.margins import TABLE, table
from book.recording.notebooks import sources

TRAINING = """\
from d2lrnn import RNNLMScratch, generate, load_corpus, plot_curves, train

corpus, vocab = load_corpus(max_tokens=2000)
model = RNNLMScratch(len(vocab), 64, seed=0)
run = train(model, corpus, num_epochs=2, lr=1e-2, seed=0)
plot_curves({"training": ((1, 2), run.perplexity)}, xlabel="epoch", ylabel="perplexity")"""
TEXT = "generate(model, vocab, 'the tide', 20)"


@pytest.fixture(scope="module")
def recordings(course):
    """Record a chapter that trains, from nothing, on one thread and on four."""
    course.write("tiny.md", chapter(TRAINING, TEXT))
    path, found = course.root / "chapters" / "tiny.ipynb", []
    for threads in ("1", "4"):
        path.unlink(missing_ok=True)
        done = course.record(OMP_NUM_THREADS=threads)
        assert done.returncode == 0, done.stderr
        found.append(path.read_bytes())
    return found


def test_a_recording_holds_its_margins(recordings):
    noted = nbformat.reads(recordings[0].decode(), as_version=4).metadata["d2lrnn"]["margins"]
    assert -20 < noted["grid"] < -5
    assert len(noted["texts"]) == 1


def test_recordings_from_different_thread_counts_have_the_same_bytes(recordings):
    # All but the times, which `history` prints as measured; this chapter prints none.
    assert recordings[0] == recordings[1]


def test_a_recording_whose_margins_alone_moved_is_kept(course, recordings):
    path = course.root / "chapters" / "tiny.ipynb"
    moved = recordings[0].replace(b'"grid": -', b'"grid": -1', 1)
    assert moved != recordings[0]
    path.write_bytes(moved)
    course.record()
    assert path.read_bytes() == moved


def test_the_table_of_margins_is_written(course, recordings):
    assert course.run("python", "-m", "book.proof.margins").returncode == 0
    text = (course.root / "book" / "proof" / "tables" / "margins.md").read_text(encoding="utf-8")
    assert "| tiny | 10⁻" in text


def test_table_shows_the_smallest_of_each_and_a_margin_that_is_none(course, recordings):
    path = course.root / "chapters" / "tiny.ipynb"
    notebook = nbformat.reads(recordings[0].decode(), as_version=4)
    margins = {"grid": -12, "texts": [-3, None, "none", -5], "draws": [-2, -4, None]}
    notebook.metadata["d2lrnn"]["margins"] = margins
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    assert "| tiny | 10⁻¹² | 4 | none | 3 | 10⁻⁴ |" in table([path.with_suffix(".md")])


def test_appendix_table_is_that_of_the_recordings():
    assert TABLE.read_text(encoding="utf-8") == table(sources()), "run `make record`"
