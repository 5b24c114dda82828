"""The display of a training run."""

import io
import re
import signal
from queue import Queue
from types import SimpleNamespace

import numpy as np
import pytest

from cli import interrupt
from cli.terminal import display, screen
from cli.terminal.display import LineDisplay, RunProgress
from cli.terminal.screen import Bar, Display, Screen
from difflogic.run.measures import PHASES
from difflogic.run.metrics import MetricsRow
from difflogic.search.polish import CircuitCost
from difflogic.search.walk import SearchProgress
from difflogic.system.work import Progress
from tests.cli.terminal.screens import Terminal, open_terminal


def result(epoch, hard_loss=5.0, **changes):
    values = {
        "epoch": epoch,
        "soft_loss": 12.25,
        "hard_loss": hard_loss,
        "accuracy": None if hard_loss is None else 0.75,
        "hard_state": None if hard_loss is None else np.eye(4, dtype=np.uint8)[None],
        "finished": None,
        "decided": 0.875,
        "attempt": 1,
        "stage": 1,
    }
    return SimpleNamespace(**values | changes)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"exact": False, "late": False, "wrong_before": 12, "wrong": 3}, "12 → 3 wrong bits"),
        ({"exact": False, "late": True}, "proved, but right too late"),
        ({"exact": True, "late": False, "polished": None}, "found an exact circuit"),
        (
            {
                "exact": True,
                "late": False,
                "polished": SimpleNamespace(before=CircuitCost(6, 18), after=CircuitCost(3, 16)),
            },
            "found an exact circuit, 6 → 3 active gates",
        ),
    ],
)
def test_the_result_of_the_last_check_stays_visible(found, said):
    progress = RunProgress(10)
    progress.add(result(1, finished=SimpleNamespace(**found)))
    progress.add(result(2))
    assert f"searched at epoch 1: {said};" in display.line(progress)


def test_attempt_and_stage_are_shown_and_the_best_is_theirs():
    progress = RunProgress(10, restart_every=4, stages=["1×3", "1×5", "1×7"])
    progress.recall([MetricsRow(1, 12.0, 0.0, 1.0, attempt=1)])
    assert "stage 1 of 3: 1×3" in display.line(progress)
    progress.add(result(2, stage=2, hard_loss=None))
    assert "stage 2 of 3: 1×5" in display.line(progress)
    assert "best" not in display.line(progress), "that of the stage before is no best here"
    progress.add(result(3, stage=2, hard_loss=9.0))
    progress.add(result(5, attempt=2, hard_loss=11.0))
    assert display.line(progress).startswith(
        "attempt 2 of at most 3, stage 1 of 3: 1×3; learning epoch 1 of 4"
    )
    assert "75.00 % of the samples' bits are right; best 75.00 %, at epoch 5" in display.line(
        progress
    )
    assert "attempt" not in display.line(RunProgress(10))


@pytest.mark.parametrize(
    ("changes", "seconds", "epoch", "said"),
    [
        ({}, 4.0, 1, "4 s; ends once a circuit is exact"),
        ({}, 40.0, 100, "40 s; ends once a circuit is exact"),
        ({}, 40.0, 800, "40 s, at most 0:10 left"),
        ({"searches": False}, 40.0, 157, "40 s, 3:31 left"),
        ({"searches": False}, 4.0, 1, "4 s"),
        ({"over": True}, 4.0, 20, "4 s"),
    ],
)
def test_a_limit_is_named_once_it_is_near(monkeypatch, changes, seconds, epoch, said):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    progress = RunProgress(1000, started=0.0, **{"searches": True, **changes})
    over = progress.over
    now[0] = 1.0
    progress.add(result(1))
    now[0] = seconds
    if epoch > 1:
        progress.add(result(epoch), 1, over=over)
    assert progress.outlook == said


def test_what_is_running():
    progress = RunProgress(100, searches=True, restart_every=25)
    assert progress.now == Bar("learning", 0, 25, "epoch 0 of 25")
    progress.compiling = Progress("groups", 3, 6)
    assert "; compiling groups of kernels: 3 of 6; " in display.line(progress)
    progress.compiling = Progress("groups", 6, 6)
    progress.searching = SearchProgress(1500, 3000, 37)
    assert progress.now == Bar("searching", 1500, 3000, "circuits: 37 wrong bits left")
    assert "; searching 50 % of circuits: 37 wrong bits left; " in display.line(progress)
    found = SimpleNamespace(exact=True, late=False, polished=None)
    progress.add(result(30, finished=found), 2, over=True)
    assert (progress.now.what, progress.stage) == ("testing", 2)
    progress.add(result(30, attempt=2), 2)
    assert progress.now[:3] == ("learning", 5, 25)


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ([[0, 1, 0, 1], [0, 0, 1, 1]], [" ▀▄█"]),
        ([[1]], ["▀"]),
        ([[0, 0], [1, 1], [1, 0]], ["▄▄", "▀ "]),
    ],
)
def test_a_character_shows_two_cells(grid, lines):
    drawn = display.draw_cells(np.array([grid], np.uint8), False)
    assert [line.plain for line in drawn] == lines


RGB = np.array([[[1, 0], [0, 1]], [[0, 0], [1, 1]], [[0, 1], [0, 1]]], np.uint8)
"""Red and blue over green and white."""
PALETTE = [(1, 2, 3), (4, 5, 6), (7, 8, 9), (250, 9, 9)]


@pytest.mark.parametrize(
    ("bits", "palette", "styles"),
    [
        (RGB, (), ["red on green", "blue on white"]),
        (RGB[[0, 1]], PALETTE, ["rgb(4,5,6) on rgb(7,8,9)", "rgb(1,2,3) on rgb(250,9,9)"]),
        # What has no colours shows its first channel.
        (RGB[:1], (), None),
        (RGB[[0, 0, 0, 0]], (), None),
    ],
)
def test_several_channels_are_drawn_in_colours(bits, palette, styles):
    (line,) = display.draw_cells(bits, True, palette)
    assert line.plain == ("▀▀" if styles else "▀▄")
    assert [str(span.style) for span in line.spans] == (styles or [])


def test_a_resumed_run_has_its_best_and_the_rate_of_this_process(monkeypatch):
    monkeypatch.setattr("time.perf_counter", lambda: 100.0)
    progress = RunProgress(100)
    losses = enumerate([7.0, 2.0, 4.0], 1)
    progress.recall([MetricsRow(epoch, 12.0, hard_loss, 0.5) for epoch, hard_loss in losses])
    progress.add(result(4))
    monkeypatch.setattr("time.perf_counter", lambda: 100.5)
    progress.add(result(5))
    assert (progress.best.hard_loss, progress.best.epoch, progress.epoch) == (2.0, 2, 5)
    assert progress.rate == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (display.loss, None, "-"),
        (display.percent, None, "-"),
        (display.percent, 1.0, "100 %"),
        (display.percent, 0.999999, "99.99 %"),
        (display.rate, 3.14159, "3.14"),
        (screen.clock, 3725.0, "1:02:05"),
    ],
)
def test_numbers_are_formatted(function, value, text):
    assert function(value) == text


def test_lines_are_few_but_none_is_late(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    slow = RunProgress(10**6, stages=["1×3", "1×5"])
    lines = LineDisplay(slow)
    for epoch in range(1, 101):
        now[0] += 1.0
        slow.add(result(epoch, stage=1 + epoch // 55))
        lines.update()
    lines.close()
    shown = [
        int(re.search(r"epoch (\d+) of", line)[1]) for line in capsys.readouterr().err.splitlines()
    ]
    assert shown == [1, 11, 21, 31, 41, 51, 55, 65, 75, 85, 95, 100]

    progress = RunProgress(1000, started=0.0)
    lines = LineDisplay(progress)
    for epoch in range(1, 1001):
        progress.add(result(epoch))
        lines.update()
    lines.close()
    shown = capsys.readouterr().err.splitlines()
    assert [line.split()[2] for line in shown] == [f"{n}" for n in [1, *range(100, 1001, 100)]]
    assert "hard 5 (likeliest ops); 87.50 % of the gates decided" in shown[0]


def test_a_long_step_is_no_reason_for_silence(monkeypatch):
    """No event tells what should happen: a line is awaited, for as long as it takes."""
    written = Queue()
    monkeypatch.setattr(display, "note", written.put)
    monkeypatch.setattr(display, "LINE_SECONDS", 0.0)
    lines = LineDisplay(RunProgress(10))
    assert written.get(timeout=60).startswith("learning epoch 0 of 10; ")
    assert written.get(timeout=60)
    lines.close()


def frame_text(monkeypatch, progress, width, height):
    """Return the lines of one frame on a terminal of that size."""
    terminal = open_terminal(monkeypatch, width)
    monkeypatch.setenv("LINES", str(height))
    shown = display.live("title · seed 0", progress)
    terminal.truncate(0)
    shown.update(now=True)
    lines = [
        line.rstrip() for line in terminal.text.replace("\r", "\n").split("\x1b[2K")[-1].split("\n")
    ]
    shown.close()
    return lines


def test_a_frame_shows_the_numbers_the_phases_and_the_picture(monkeypatch):
    spent = dict.fromkeys(PHASES, 0.0) | {"sample": 0.05}
    picture = np.ones((3, 16, 16), np.uint8)
    progress = RunProgress(10, (0, 1, 2), phases=spent, picture=picture)
    # The trainer goes on counting.
    spent |= {"backward": 6.0, "forward": 2.0, "finish": 1.5, "hard": 0.45}
    state = picture.copy()
    state[:, 0, :2] = 0
    progress.add(result(5, hard_state=state))
    progress.searching = SearchProgress(1500, 3000, 37)
    for width in (80, 50, 30):
        lines = frame_text(monkeypatch, progress, width, 40)
        assert lines[0] == "title · seed 0"
        assert lines[1].startswith("run ")
        found = "\n".join(lines)
        assert "circuits: 37 wrong bits left" in " ".join(found.split())
        assert "training 8 s, search 2 s; training: backward 71 %" in " ".join(found.split())
        # Target and state side by side where both fit, and what differs where three do.
        names = {80: "target now 2 wrong", 50: "target now", 30: "now"}[width]
        assert names in [" ".join(line.split()) for line in lines]
    assert frame_text(monkeypatch, RunProgress(10), 80, 24)[2].startswith("learning ")


@pytest.mark.parametrize(("width", "height"), [(40, 20), (60, 12), (80, 24), (300, 100)])
@pytest.mark.parametrize("side", [3, 40])
def test_a_frame_fits_and_no_word_is_cut(monkeypatch, width, height, side):
    progress = RunProgress(20000, searches=True, restart_every=5000, stages=["1×31", "12×12"])
    progress.phases = dict.fromkeys(PHASES, 1.0)
    progress.add(result(555, hard_state=np.ones((1, side, side), np.uint8), stage=2))
    progress.searching = SearchProgress(1500, 3000, 37)
    monkeypatch.setattr("time.perf_counter", lambda: progress.started + 60.0)
    lines = frame_text(monkeypatch, progress, width, height)
    assert max(len(line) for line in lines) <= width
    assert len(lines) <= height
    if height > 20 or side == 3:
        words = set("\n".join(frame_text(monkeypatch, progress, 300, 100)).split())
        assert {w for w in words if not set(w) & set("━╸█▀ ")} <= set("\n".join(lines).split())


def test_a_signal_and_another_width_are_shown_by_the_display(monkeypatch):
    terminal = open_terminal(monkeypatch)
    shown = display.live("title", RunProgress(10))
    with interrupt.Interruption("this step", patience=None) as interruption:
        interruption.request(signal.SIGINT)
        interruption.say()
        assert terminal.text.endswith("stopping after this step")
        shown.console.width = 60
        shown.update(now=True)
        *_, last = terminal.text.split("\x1b[2J\x1b[H")
        assert last.endswith("stopping after this step")
        assert max(map(len, last.split("\n"))) <= 60
    shown.close()


@pytest.mark.parametrize(
    ("out", "err", "term", "quiet", "expected"),
    [
        (True, True, "xterm", False, Screen),
        (False, True, "xterm", False, LineDisplay),
        (True, True, "dumb", False, LineDisplay),
        (False, False, "xterm", True, Display),
    ],
)
def test_the_display_depends_on_the_output(monkeypatch, out, err, term, quiet, expected):
    monkeypatch.setattr("sys.stdout", Terminal() if out else io.StringIO())
    monkeypatch.setattr("sys.stderr", Terminal() if err else io.StringIO())
    monkeypatch.setenv("TERM", term)

    shown = display.choose("title", RunProgress(1), quiet)
    shown.close()

    assert type(shown) is expected


def colours(terminal):
    """Return the escape sequences that set a colour: parameters 30 to 49 and 90 to 107."""
    parameters = re.findall(r"\x1b\[([0-9;]*)m", terminal.getvalue())
    return [p for p in parameters if re.search(r"(^|;)(3[0-9]|4[0-9]|9[0-7]|10[0-7])\b", p)]


@pytest.mark.parametrize("allowed", [True, False])
def test_no_color_is_honoured(monkeypatch, allowed):
    terminal = open_terminal(monkeypatch)
    if not allowed:
        monkeypatch.setenv("NO_COLOR", "1")
    progress = RunProgress(10)
    progress.add(result(5))
    display.live("title", progress).close()
    assert bool(colours(terminal)) == allowed
