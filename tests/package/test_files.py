"""Writing: whether a file can be written is tried beside it, and touches nothing that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from d2lrnn import files


def test_trying_to_write_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "model.pt"
    assert files.writable("path", target) == target
    assert list(tmp_path.iterdir()) == []


def test_trying_to_write_takes_no_file_that_is_somebody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / ".model.pt.part"
    theirs.write_bytes(b"half a model")
    monkeypatch.setattr(files, "_part", lambda _target: theirs)
    with pytest.raises(FileExistsError, match="path="):
        files.writable("path", tmp_path / "model.pt")
    with pytest.raises(FileExistsError), files.replacing(tmp_path / "model.pt"):
        pass
    assert theirs.read_bytes() == b"half a model"
