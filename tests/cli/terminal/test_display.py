"""The display of a training run, and the preview of its picture."""

import io
import re
from queue import Queue
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from cli.terminal import display, screen
from cli.terminal.display import Lines, RunProgress, show_preview
from cli.terminal.screen import Display, Screen
from difflogic.config import load_config
from difflogic.run.measures import PHASES
from difflogic.run.metrics import MetricsRow
from difflogic.search.polish import CircuitCost
from difflogic.search.walk import SearchProgress
from difflogic.tasks import make_task
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
        ({"exact": False, "late": False, "wrong_before": 12, "wrong": 3}, "12 → 3"),
        ({"exact": False, "late": True}, "proved, but late"),
        ({"exact": True, "late": False, "polished": None}, "exact"),
        (
            {
                "exact": True,
                "late": False,
                "polished": SimpleNamespace(before=CircuitCost(6, 18), after=CircuitCost(3, 16)),
            },
            "exact, 6 → 3 active gates",
        ),
    ],
)
def test_the_result_of_the_last_check_stays_visible(found, said):
    progress = RunProgress(10)
    progress.add(result(1, finished=SimpleNamespace(**found)))
    progress.add(result(2))
    assert f"last check {said}  " in display.line(progress)


def test_attempt_and_stage_are_shown_and_the_best_is_theirs():
    progress = RunProgress(10, restart_every=4, stages=["1×3", "1×5", "1×7"])
    progress.recall([MetricsRow(1, 12.0, 0.0, 1.0, attempt=1)])
    assert "stage 1 of 3: 1×3" in display.line(progress)
    progress.add(result(2, stage=2, hard_loss=None))
    assert "stage 2 of 3: 1×5" in display.line(progress)
    assert "best -  right -" in display.line(progress), "that of the stage before is no best here"
    progress.add(result(3, stage=2, hard_loss=9.0))
    progress.add(result(5, attempt=2, hard_loss=11.0))
    assert display.line(progress).startswith("epoch  5/10  attempt 2  stage 1 of 3: 1×3  training")
    assert "best 11 at epoch 5" in display.line(progress)
    assert "attempt" not in display.line(RunProgress(10))


def test_the_time_left_is_a_range_by_earlier_runs(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    progress = RunProgress(20000, searches=True, started=0.0, earlier=[400, 100, 200, 300, 1000])
    progress.add(result(50))
    now[0] = 25.0
    assert progress.outlook == "1:15 to 2:55 left, by 5 earlier runs"
    progress.add(result(350))
    whole = screen.clock(19650 / 14)
    assert progress.outlook == f"up to {whole} left", "two of them took longer: too few"
    progress.searches = False
    assert progress.outlook == f"{whole} left"
    progress.add(result(20000), 1, over=True)
    assert (progress.running, progress.outlook) == ("proof and final tests", "at epoch 20000")


def test_what_is_running():
    progress = RunProgress(100, searches=True, restart_every=25)
    assert progress.running == "training"
    progress.searching = SearchProgress(1500, 3000, 37)
    assert progress.running == "searching: 50 %, 37 wrong"
    found = SimpleNamespace(exact=True, late=False, polished=None)
    progress.add(result(30, finished=found), 2, over=True)
    assert (progress.running, progress.stage) == ("proof and final tests", 2)
    assert "last check exact" in display.line(progress)
    progress.add(result(30, attempt=2), 2)
    assert progress.running == "training"
    assert progress.share == 0.2, "of its attempt"


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ([[0, 1, 0, 1], [0, 0, 1, 1]], [" ▀▄█"]),
        ([[1]], ["▀"]),
        ([[0, 0], [1, 1], [1, 0]], ["▄▄", "▀ "]),
        ([[1, 1, 1]] * 100, ["███"] * 10),
    ],
)
def test_a_character_shows_two_cells(grid, lines):
    drawn = display.draw_cells(np.array([grid], np.uint8), 10, colored=False)
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
    (line,) = display.draw_cells(bits, 10, True, palette)
    assert line.plain == ("▀▀" if styles else "▀▄")
    assert [str(span.style) for span in line.spans] == (styles or [])
    assert len(display.draw_cells(np.repeat(bits, 9, axis=1), 2, True, palette)) == 2


def test_a_resumed_run_has_its_best_and_the_rate_of_this_process(monkeypatch):
    progress = RunProgress(100, started=100.0)
    losses = enumerate([7.0, 2.0, 4.0], 1)
    progress.recall([MetricsRow(epoch, 12.0, hard_loss, 0.5) for epoch, hard_loss in losses])
    progress.add(result(4))
    monkeypatch.setattr("time.perf_counter", lambda: 100.5)
    assert (progress.best_hard_loss, progress.best_epoch, progress.epoch) == (2.0, 2, 4)
    assert progress.rate == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (display.loss, None, "-"),
        (display.loss, 128.456789, "128.46"),
        (display.loss, 0.000123456, "0.00012346"),
        (display.percent, None, "-"),
        (display.percent, 1.0, "100 %"),
        (display.percent, 0.999999, "99.99 %"),
        (display.rate, 3.14159, "3.14"),
        (screen.clock, 0.2, "0:00"),
        (screen.clock, 3725.0, "1:02:05"),
        (screen.clock, 1e30, "99:59:59"),
    ],
)
def test_numbers_are_formatted(function, value, text):
    assert function(value) == text


def test_lines_are_few_but_none_is_late(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    slow = RunProgress(10**6, stages=["1×3", "1×5"])
    lines = Lines(slow)
    for epoch in range(1, 101):
        now[0] += 1.0
        slow.add(result(epoch, stage=1 + epoch // 55))
        lines.update()
    lines.close()
    shown = [int(line.split("/")[0].split()[1]) for line in capsys.readouterr().err.splitlines()]
    assert shown == [1, 11, 21, 31, 41, 51, 55, 65, 75, 85, 95, 100]

    progress = RunProgress(1000)
    lines = Lines(progress)
    for epoch in range(1, 1001):
        progress.add(result(epoch))
        lines.update()
    lines.close()
    captured = capsys.readouterr()
    shown = captured.err.splitlines()
    assert captured.out == ""
    assert [line.split()[1] for line in shown] == [
        f"{epoch}/1000" for epoch in [1, *range(100, 1001, 100)]
    ]
    assert (
        "soft loss 12.250  hard loss 5  accuracy 75.00 %  best 5 at epoch 1  "
        "right 75.00 % at epoch 1  decided 87.50 % of the gates" in shown[0]
    )


def test_a_long_step_is_no_reason_for_silence(monkeypatch):
    """No event tells what should happen: a line is awaited, for as long as it takes."""
    written = Queue()
    monkeypatch.setattr(display, "note", written.put)
    monkeypatch.setattr(display, "LINE_SECONDS", 0.0)
    lines = Lines(RunProgress(10))
    assert written.get(timeout=60).startswith("epoch  0/10  training")
    assert written.get(timeout=60)
    lines.close()


def frame_text(progress, width, height):
    console = Console(file=io.StringIO(), width=width, height=height)
    frame = console.render_lines(display.compose("title · seed 0", progress, width, height))
    return ["".join(segment.text for segment in line).rstrip() for line in frame]


def test_a_frame_shows_the_numbers_the_phases_and_the_picture():
    spent = dict.fromkeys(PHASES, 0.0) | {"sample": 0.05}
    progress = RunProgress(10, (0, 1, 2), phases=spent)
    assert frame_text(progress, 80, 24)[1] == "epoch  0/10"
    # The trainer goes on counting.
    spent |= {"backward": 6.0, "forward": 2.0, "finish": 1.5, "hard": 0.45}
    progress.add(result(5, hard_state=np.ones((3, 16, 16), np.uint8)))
    progress.searching = SearchProgress(1500, 3000, 37)
    lines = frame_text(progress, 100, 30)
    assert lines[0] == "title · seed 0"
    assert lines[1] == "epoch  5/10"
    assert lines[2].startswith("searching: 50 %, 37 wrong, ")
    shares = "backward 60 %, forward 20 %, finishing 15 %, hard evaluation 4 %"
    assert lines[3] == f"time      {shares}"
    assert sum("█" * 16 in line for line in lines) == 8
    for said in ("87.50 % of the gates", "hard channel 0", "12.250"):
        assert said in "\n".join(lines)
    assert " hard channels 0, 1, 2\n" in display.compose("run", progress, 80, 24, True).plain
    progress.add(result(6, hard_loss=None))
    assert "searching" not in "\n".join(frame_text(progress, 80, 24))


@pytest.mark.parametrize(("width", "height"), [(40, 16), (60, 10), (80, 24), (300, 100)])
@pytest.mark.parametrize("side", [3, 40])
def test_a_frame_fits_and_no_word_is_cut(monkeypatch, width, height, side):
    monkeypatch.setattr("time.perf_counter", lambda: 60.0)
    progress = RunProgress(
        20000, started=0.0, searches=True, restart_every=5000, stages=["1×31", "12×12"]
    )
    progress.earlier, progress.phases = [1000, 2000, 3000], dict.fromkeys(PHASES, 1.0)
    progress.add(result(555, hard_state=np.ones((1, side, side), np.uint8), stage=2))
    progress.searching = SearchProgress(1500, 3000, 37)
    lines = frame_text(progress, width, height)
    assert max(len(line) for line in lines) <= width
    assert len(lines) <= max(height, 16)
    words = re.sub("[━─█▀]+|hard channel 0", "", "\n".join(frame_text(progress, 300, 100))).split()
    assert set(words) <= set("\n".join(lines).split())


@pytest.mark.parametrize(
    ("out", "err", "term", "quiet", "expected"),
    [
        (True, True, "xterm", False, Screen),
        (True, True, "xterm", True, Display),
        (False, True, "xterm", False, Lines),
        (True, False, "xterm", False, Lines),
        (True, True, "dumb", False, Lines),
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


@pytest.mark.parametrize(
    ("name", "color", "sign", "rows"),
    [("letter-g", True, "▀", 8), ("letter-g", False, "", 16), ("lizard", False, "█", 10)],
)
def test_a_picture_is_previewed_in_colours_or_signs(monkeypatch, name, color, sign, rows):
    terminal, config = open_terminal(monkeypatch), load_config(name)
    if not color:
        monkeypatch.setenv("NO_COLOR", "1")
    preview = make_task(config).preview
    assert preview is not None
    show_preview(preview)
    caption, *shown = terminal.text.splitlines()
    assert caption.startswith("to grow from ")
    assert len(shown) == rows
    # Letters stand for colours that cannot be shown.
    assert sign in "".join(shown) if sign else shown == config.task.target.split()
