"""`dct report`: what it writes, from which sources, and what it refuses."""

from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[3] / "docs" / "gallery"


@pytest.mark.thorough
def test_a_run_becomes_a_page(dct, run):
    result = dct("report", str(run), "-o", "run.html", "--effort", "low")
    assert result.exit_code == 0, result.stderr
    text = Path("run.html").read_text(encoding="utf-8")
    assert f"saved run.html: {len(text.encode()) / 1000:.0f} kB" in result.stderr
    for said in (
        "soft loss",
        "dct train checkerboard --seed 5 --set",
        "The whole configuration",
        "exactness: training grid",
        "Which ops it learned",
        "numpy ",
    ):
        assert said in text, said


def test_a_model_has_no_curves_and_a_circuit_no_training(dct, run):
    assert dct("report", str(run / "model.npz"), "-o", "m.html", "--without-tests").exit_code == 0
    text = Path("m.html").read_text(encoding="utf-8")
    assert "soft loss" not in text
    assert "Do it again" in text
    assert dct("report", str(GALLERY / "game-of-life.json"), "-o", "c.html").exit_code == 0
    text = Path("c.html").read_text(encoding="utf-8")
    assert "Do it again" not in text
    assert "24 gates" in text


def test_a_run_that_goes_on_has_no_summary_yet(dct, run):
    (run / "summary.json").unlink()
    rows = (run / "metrics.csv").read_text().splitlines(keepends=True)
    (run / "metrics.csv").write_text("".join(rows[:2]) + rows[2][:9])
    result = dct("report", str(run), "-o", "run.html", "--without-tests")
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("damage", ["epoch\n1,2\n", "\xff\xfe\n\xff\n", ""])
def test_damaged_metrics_are_an_error_or_nothing(dct, run, damage):
    (run / "metrics.csv").write_bytes(damage.encode("latin-1"))
    result = dct("report", str(run), "-o", "run.html", "--without-tests")
    assert (result.exit_code == 0) == (damage == "")
    assert damage == "" or "metrics.csv: is damaged" in result.stderr


def test_what_is_refused(dct):
    circuit = str(GALLERY / "checkerboard.json")
    for arguments, said in (
        ((circuit, "-o", "report.pdf"), "must end in .html"),
        (("nowhere", "-o", "report.html"), "nowhere"),
        ((circuit, "-o", "no/report.html"), "create the directory first"),
    ):
        result = dct("report", *arguments)
        assert result.exit_code == 2, arguments
        assert said in result.stderr
    Path("report.html").write_text("mine")
    assert dct("report", circuit).exit_code == 2
    assert Path("report.html").read_text() == "mine"
    assert dct("report", circuit, "--force").exit_code == 0
