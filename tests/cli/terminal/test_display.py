"""The display of a training run."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from cli.terminal import display, drawing
from cli.terminal.display import Display, Lines, Live, Progress
from difflogic.search.polishing import Extent
from difflogic.search.search import SearchProgress
from difflogic.training.metrics import MetricsRow


def result(epoch: int, hard_loss: float | None = 5.0, **changes: Any) -> Any:
    values = {
        "epoch": epoch,
        "soft_loss": 12.25,
        "hard_loss": hard_loss,
        "accuracy": None if hard_loss is None else 0.75,
        "hard_state": None if hard_loss is None else np.eye(4, dtype=np.uint8)[None],
        "finished": None,
        "decided": 0.875,
        "attempt": 1,
    }
    return SimpleNamespace(**values | changes)


def test_progress_keeps_what_the_last_check_found() -> None:
    progress = Progress(10)
    searched = SimpleNamespace(exact=False, late=False, wrong_before=12, wrong=3)
    progress.add(result(1, finished=searched))
    progress.add(result(2))
    assert "finishing 12 → 3" in display.line(progress)
    progress.add(result(3, finished=SimpleNamespace(exact=False, late=True)))
    assert "finishing proved, but late" in display.line(progress)
    verified = SimpleNamespace(exact=True, late=False, polished=None)
    progress.add(result(3, finished=verified))
    assert "finishing exact" in display.line(progress)
    verified.polished = SimpleNamespace(before=Extent(6, 18), after=Extent(3, 16))
    progress.add(result(4, finished=verified))
    assert "finishing exact, 6 → 3 gates" in display.line(progress)


def test_the_attempt_is_shown_where_learning_starts_over() -> None:
    progress = Progress(10, starts_over=True)
    progress.recall([MetricsRow(1, 12.0, attempt=1)])
    progress.add(result(2, attempt=2))
    progress.add(result(3, attempt=3))
    assert display.line(progress).startswith("epoch  3/10  attempt 3  soft loss")
    assert "attempt           3" in display.compose("run", progress, 80, 24).plain
    progress.starts_over = False
    assert "attempt" not in display.line(progress)
    assert "attempt" not in display.compose("run", progress, 80, 24).plain


def test_a_search_that_waits_for_its_kernels_is_shown(capsys: Any) -> None:
    progress = Progress(10)
    progress.add(result(4))
    assert "compiling" not in display.compose("run", progress, 80, 24).plain
    progress.compiling = True
    assert "compiling           the search" in display.compose("run", progress, 80, 24).plain
    lines = Lines()
    lines.update(progress)
    lines.update(progress)
    assert capsys.readouterr().err == "epoch 5: compiling the search …\n"
    progress.add(result(5))
    assert not progress.compiling


def test_progress_keeps_the_best_and_the_last_hard_evaluation() -> None:
    progress = Progress(10)
    progress.add(result(1, hard_loss=5.0, accuracy=0.5))
    progress.add(result(2, hard_loss=3.0, accuracy=0.7))
    progress.add(result(3, hard_loss=4.0, accuracy=0.6))
    progress.add(result(4, hard_loss=None))

    assert progress.epoch == 4
    assert (progress.hard_loss, progress.accuracy) == (4.0, 0.6)
    best = (progress.best_hard_loss, progress.best_accuracy, progress.best_epoch)
    assert best == (3.0, 0.7, 2)
    assert np.array_equal(progress.hard_state, np.eye(4)[None])


def test_progress_estimates_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress(30, started=100.0)
    progress.add(result(10))
    monkeypatch.setattr(display.time, "perf_counter", lambda: 105.0)

    assert progress.rate == pytest.approx(2.0)
    assert progress.seconds_left == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("colored", "caption"), [(True, "hard channels 0, 1, 2"), (False, "hard channel 0")]
)
def test_the_caption_says_which_channels_are_drawn(colored: bool, caption: str) -> None:
    progress = Progress(10, (0, 1, 2))
    progress.add(result(1, hard_state=np.ones((3, 2, 2), np.uint8)))
    assert f" {caption}\n" in display.compose("title", progress, 80, 24, colored).plain


def test_a_resumed_run_has_its_best_and_the_rate_of_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    progress = Progress(100, started=100.0)
    losses = enumerate([7.0, 2.0, 4.0], 1)
    progress.recall([MetricsRow(epoch, 12.0, hard_loss, 0.5) for epoch, hard_loss in losses])
    progress.add(result(4))
    monkeypatch.setattr(display.time, "perf_counter", lambda: 100.5)
    assert (progress.best_hard_loss, progress.best_epoch, progress.epoch) == (2.0, 2, 4)
    assert progress.rate == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (display.loss, None, "-"),
        (display.loss, 128.0, "128"),
        (display.loss, 128.456789, "128.46"),
        (display.loss, 0.000123456, "0.00012346"),
        (display.percent, None, "-"),
        (display.percent, 1.0, "100 %"),
        (display.percent, 0.999999, "99.99 %"),
        (display.percent, 0.5, "50.00 %"),
        (display.rate, 3.14159, "3.14"),
        (display.rate, 123.456, "123"),
        (display.clock, 0.2, "0:00"),
        (display.clock, 65.0, "1:05"),
        (display.clock, 3725.0, "1:02:05"),
        (display.clock, 1e30, "99:59:59"),
    ],
)
def test_numbers_are_formatted(function: Any, value: Any, text: str) -> None:
    assert function(value) == text


def test_lines_are_few(capsys: pytest.CaptureFixture[str]) -> None:
    progress, lines = Progress(1000), Lines()
    for epoch in range(1, 1001):
        progress.add(result(epoch))
        lines.update(progress)
    lines.close(progress)

    captured = capsys.readouterr()
    shown = captured.err.splitlines()
    assert captured.out == ""
    assert [line.split()[1] for line in shown] == [
        f"{epoch}/1000" for epoch in [1, *range(100, 1001, 100)]
    ]
    assert (
        "soft loss 12.250  hard loss 5  accuracy 75.00 %  decided 87.50 %  best 5 at epoch 1 "
        in shown[0]
    )


def test_lines_show_an_early_end(capsys: pytest.CaptureFixture[str]) -> None:
    progress, lines = Progress(1000), Lines()
    for epoch in range(1, 8):
        progress.add(result(epoch))
        lines.update(progress)
    lines.close(progress)

    assert capsys.readouterr().err.splitlines()[-1].startswith("epoch    7/1000 ")


def test_lines_come_at_least_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(display.time, "perf_counter", lambda: now[0])
    progress, lines = Progress(10**6), Lines()
    for epoch in range(1, 101):
        now[0] += 1.0
        progress.add(result(epoch))
        lines.update(progress)

    assert len(capsys.readouterr().err.splitlines()) == 1 + 99 // display.LINE_SECONDS


def frame_text(progress: Progress, width: int, height: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height)
    frame = console.render_lines(display.compose("title · seed 0", progress, width, height))
    return ["".join(segment.text for segment in line).rstrip() for line in frame]


def test_frame_shows_the_numbers_and_the_picture() -> None:
    progress = Progress(10)
    progress.add(result(5, hard_state=np.ones((1, 16, 16), np.uint8)))
    lines = frame_text(progress, 100, 30)

    assert lines[0] == "title · seed 0"
    assert "epoch  5/10" in lines[1]
    assert "50 %" in lines[1]
    assert "left" in lines[1]
    assert "soft loss" in lines[3]
    assert "12.250" in lines[3]
    assert sum("█" * 16 in line for line in lines) == 8


@pytest.mark.parametrize(("width", "height"), [(20, 5), (40, 10), (80, 24), (300, 100)])
def test_frame_fits_the_terminal(width: int, height: int) -> None:
    progress = Progress(10)
    progress.add(result(5, hard_state=np.ones((1, 128, 128), np.uint8)))
    lines = frame_text(progress, width, height)

    assert max(len(line) for line in lines) <= width
    assert len(lines) <= max(height, 10)


@pytest.mark.parametrize(("width", "height"), [(20, 5), (60, 10), (80, 24), (120, 50), (300, 100)])
@pytest.mark.parametrize("side", [3, 16, 40])
def test_channels_side_by_side_are_what_they_are_and_fit(
    width: int, height: int, side: int
) -> None:
    state = np.random.default_rng(0).integers(0, 2, (12, side, side), dtype=np.uint8)
    progress = Progress(10, sheet=(11, 0, 4, 5, 6, 7))
    progress.add(result(5, hard_state=state))
    lines = frame_text(progress, width, height)
    assert max(len(line) for line in lines) <= width
    assert len(lines) <= max(height, 10)
    drawn, count = drawing.sheet(state, progress.sheet, width - display.LEFT, height)
    assert 1 <= count <= 6
    if (width, height) != (300, 100):
        return
    assert count == 6
    for channel, place in zip(progress.sheet, range(6), strict=True):
        left = (max(side, 2) + 1) * place
        tile = [line[left : left + side].ljust(side) for line in drawn]
        assert tile[0].split() == [str(channel)]
        assert tile[1:] == drawing.picture(state[channel], side)


def test_channels_that_have_no_room_are_counted() -> None:
    progress = Progress(10, sheet=range(12))
    progress.add(result(5, hard_state=np.ones((12, 16, 16), np.uint8)))
    assert "no room for 10 more" in "\n".join(frame_text(progress, 80, 14))


def test_a_search_is_shown_as_long_as_it_goes_on() -> None:
    progress = Progress(10)
    progress.add(result(5))
    progress.searching = SearchProgress(1500, 3000, 37)
    shown = "\n".join(frame_text(progress, 80, 24))
    assert "50 % 37 wrong" in shown
    assert "87.50 % of the gates" in shown
    progress.add(result(6))
    assert "searching" not in "\n".join(frame_text(progress, 80, 24))


def test_frame_before_the_first_step() -> None:
    assert "epoch  0/10" in frame_text(Progress(10), 80, 24)[1]


class Stream(io.StringIO):
    encoding = "utf-8"

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(
    ("out", "err", "term", "quiet", "expected"),
    [
        (True, True, "xterm", False, Live),
        (True, True, "xterm", True, Display),
        (False, True, "xterm", False, Lines),
        (True, False, "xterm", False, Lines),
        (True, True, "dumb", False, Lines),
        (False, False, "xterm", True, Display),
    ],
)
def test_display_suits_where_the_output_goes(
    monkeypatch: pytest.MonkeyPatch,
    out: bool,
    err: bool,
    term: str,
    quiet: bool,
    expected: type[Display],
) -> None:
    monkeypatch.setattr("sys.stdout", Stream(out))
    monkeypatch.setattr("sys.stderr", Stream(err))
    monkeypatch.setenv("TERM", term)

    shown = display.choose("title", quiet)
    shown.close(Progress(1))

    assert type(shown) is expected


def test_live_display_draws_on_stderr_seldom_and_without_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import threading

    stdout, stderr = Stream(True), Stream(True)
    monkeypatch.setattr("sys.stdout", stdout)
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("TERM", "xterm-256color")
    threads = threading.active_count()
    progress = Progress(1000)
    live = Live("title")
    frames = 0
    draw = live._draw

    def count(progress: Progress) -> None:
        nonlocal frames
        frames += 1
        draw(progress)

    monkeypatch.setattr(live, "_draw", count)
    for epoch in range(1, 1001):
        progress.add(result(epoch))
        live.update(progress)
    assert threading.active_count() == threads
    assert frames <= 1 + progress.seconds / display.FRAME_SECONDS
    live.close(progress)

    assert stdout.getvalue() == ""
    assert "1000/1000" in stderr.getvalue()


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Stream(True)
    monkeypatch.setattr("sys.stdout", Stream(True))
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    progress = Progress(10)
    progress.add(result(5))
    live = Live("title")
    live.close(progress)

    # 30 to 49 and 90 to 107 set colours, also after another parameter.
    import re

    parameters = re.findall(r"\x1b\[([0-9;]*)m", stderr.getvalue())
    assert not [p for p in parameters if re.search(r"(^|;)(3[0-9]|4[0-9]|9[0-7]|10[0-7])\b", p)]
