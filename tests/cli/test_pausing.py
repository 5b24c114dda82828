"""Long rollouts are announced, and signals stop them and other long work."""

import signal

import pytest

from cli import interrupt
from cli.progress import LongWork, report_long_work, show_progress
from difflogic.system.work import Heartbeat, may_cancel
from tests.cli.processes import with_hook
from tests.marks import compiled


def test_long_work_is_announced_once(clock, capsys):
    notice = LongWork()
    for done in range(6):
        clock[0] = 2 * done
        notice(Heartbeat("rollout", 100 * done, 1000))
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("rollout 100/1000 automaton steps, about 18 s left")


@pytest.mark.parametrize(
    "pauses",
    [
        # Has just begun; ends within ten seconds; is short; takes several calls of kernels, or of
        # others.
        [(0, 0, 100), (0.5, 1, 100)],
        [(0, 0, 32), (24, 24, 32)],
        [(turn, done, 3) for turn in range(50) for done in (0, 1, 2)],
        [(0, 0, 73), (0, 24, 73), (20, 0, 73), (20, 25, 73)],
    ],
)
def test_short_work_is_not_announced(clock, capsys, pauses):
    notice = LongWork()
    for now, done, total in pauses:
        clock[0] = now
        notice(Heartbeat("rollout", done, total))
    assert capsys.readouterr().err == ""


def test_a_pause_raises_if_a_stop_was_requested(monkeypatch):
    with interrupt.Interruption() as interruption:
        interruption.request(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), report_long_work():
            may_cancel()


def test_a_signal_in_the_last_part_ends_the_command(capfd):
    with pytest.raises(KeyboardInterrupt), show_progress():
        [signal.raise_signal(signal.SIGINT) for _ in range(2)]
    assert capfd.readouterr().err.count("stopping after this part") == 1


@pytest.mark.once
@compiled
def test_many_steps_can_be_stopped(start, tmp_path):
    """In its first epoch, a run leaves nothing, or what resumes."""
    # However quick the machine is, the steps are announced.
    hook = with_hook(tmp_path, "from cli import progress\nprogress.SECONDS = progress.LEFT = 0")
    words = "train-checkerboard --small --dir=run --set=automaton.steps=50000"
    process = start(words, variables=hook)
    process.wait_for("/50000 automaton steps")
    assert process.end(signal.SIGTERM) == 143, process.err
    left = {path.name for path in (tmp_path / "run").glob("*")}
    assert not left or "config.toml" in left
