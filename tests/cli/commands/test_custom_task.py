"""A custom task: trained, resumed and swept; its code runs only if allowed."""

import pytest

import difflogic
from difflogic.tasks import custom
from difflogic.view.watching.news import page
from tests.difflogic.tasks.custom_task import SOURCE, has_run, write

QUESTION = 'the task "shift.py:Shift" is custom code'


@pytest.fixture
def forget(monkeypatch):
    """Return a function that forgets all allowed tasks."""

    def now():
        monkeypatch.setattr(custom, "LOADED", {})

    now()
    return now


@pytest.fixture
def run(dct, tmp_path, forget):
    """A finished run whose task's original file is gone."""
    (tmp_path / "here").mkdir()
    path = write(tmp_path / "here")
    assert dct(f"train {path} --dir run --quiet").good
    assert (tmp_path / "run" / "shift.py").read_text() == SOURCE
    (tmp_path / "here" / "shift.py").unlink()
    forget()
    return tmp_path / "run"


def test_what_needs_the_circuit_alone_runs_no_code(dct, run):
    for command in (
        "inspect run",
        "simplify run -o small.json",
        "verify circuit run --against small.json",
        "simulate run --steps 2",
        "export run --format blif -o small.blif",
        "report run -o page.html --without-tests",
    ):
        assert dct(command).good
        assert not has_run(run)
    with difflogic.watch(run) as server:
        assert "circuit" in server.feed.since(0)
        assert page(server.feed.snapshot).startswith("<!doctype html>")
    assert not has_run(run)


@pytest.mark.parametrize("source", ["run", "run/model.npz"])
def test_what_needs_the_task_asks_for_leave(dct, run, source):
    assert QUESTION in dct(f"report {source} -o page.html").refusal
    assert QUESTION in dct(f"verify convergence {source}").refusal
    # A task that is named beside it gives none.
    refusal = dct(f"verify convergence {source} --task checkerboard").refusal
    assert "has a task of its own: leave it out" in refusal
    assert not has_run(run)


def test_looking_at_a_configuration_runs_no_code(dct, tmp_path, forget):
    path = str(write(tmp_path))
    result = dct(f"config show {path}").good
    assert "by = " not in result.stdout
    assert not has_run(tmp_path)
    assert "shift · 4×5 cells" in dct(f"plan {path}").stdout
    assert not has_run(tmp_path)
    result = dct(f"config show {path} --allow-code").good
    assert "by = 1" in result.stdout
    assert has_run(tmp_path)


@pytest.mark.parametrize(
    "words", ["eval run --test exactness", "train --resume run --epochs 6 --quiet"]
)
def test_what_runs_the_task_needs_allow_code(dct, run, words):
    assert QUESTION in dct(words).refusal
    assert not has_run(run)
    assert dct(words, "--allow-code").good
    assert has_run(run)


def test_resuming_with_a_changed_file_is_refused(dct, run, tmp_path):
    path = write(tmp_path / "here", SOURCE + "# changed\n")
    refusal = dct(f"train {path} --resume run --epochs 6 --quiet").refusal
    assert "the file with the task's code has changed" in refusal
    (run / "shift.py").write_text(SOURCE + "# changed too\n")
    refusal = dct("train --resume run --epochs 6 --allow-code").refusal
    assert "has changed" in refusal
    assert not has_run(run)


@pytest.mark.thorough
def test_a_sweep_continues_only_with_allow_code(dct, tmp_path, forget):
    path = write(tmp_path)
    assert dct(f"sweep {path} --seeds 0 --dir sweep --quiet").good
    assert (tmp_path / "sweep" / "shift" / "seed0" / "shift.py").read_text() == SOURCE
    forget()
    has_run(tmp_path)
    assert QUESTION in dct("sweep --dir sweep --seeds 1 --quiet").refusal
    assert dct("sweep --dir sweep --seeds 1 --quiet --allow-code").good
    assert (tmp_path / "sweep" / "shift" / "seed1" / "summary.json").exists()


def test_debug_shows_the_traceback_of_a_broken_task(dct, tmp_path, forget, monkeypatch):
    path = write(tmp_path, SOURCE.replace("np.roll(", "np.rol("))
    refusal = dct(f"train {path} --quiet").refusal
    assert "shift.py: Shift.sample failed in line 20: AttributeError" in refusal
    monkeypatch.setenv("DCT_DEBUG", "1")
    result = dct(f"train {path} --quiet")
    assert 'shift.py", line 20, in sample' in result.stderr
