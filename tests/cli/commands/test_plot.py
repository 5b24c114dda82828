"""`dct plot`: of runs, models and sweeps, and what it refuses."""

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")


@pytest.mark.thorough
def test_a_run_a_model_and_a_sweep(dct, tiny, run):
    changes = [f"--set={change}" for change in tiny]
    options = ["--epochs=2", "--seeds=0-1", "--workers=1", "--dir=sweep", "--quiet"]
    assert dct("sweep", "checkerboard", *changes, *options).exit_code == 0
    for source, file, head in (
        ("run", "run.svg", b"<?xml"),
        ("run/model.npz", "model.png", b"\x89PNG"),
        ("sweep", "sweep.pdf", b"%PDF"),
    ):
        result = dct("plot", source, "-o", file)
        assert result.exit_code == 0, result.stderr
        assert Path(file).read_bytes().startswith(head)
        assert f"saved {file}" in result.stderr
    assert dct("plot", "run", "-o", "run.svg").exit_code == 2, "it is there already"


def test_what_is_refused(dct):
    circuit = str(Path(__file__).parents[3] / "docs" / "gallery" / "checkerboard.json")
    for arguments, said in (
        (("nowhere", "-o", "a.svg"), "nowhere"),
        ((circuit, "-o", "a.svg"), "not a trained model"),
        ((circuit, "-o", "a.gif"), "must end in .svg"),
    ):
        result = dct("plot", *arguments)
        assert result.exit_code == 2, arguments
        assert said in result.stderr
