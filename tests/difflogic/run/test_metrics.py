import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.run import measures
from difflogic.run.measures import PHASES, PhaseTimer, clocks
from difflogic.run.metrics import History, MetricsRow, Search, read_metrics, restarts
from difflogic.run.run_directory import RunDirectory

finite = st.floats(allow_nan=False, allow_infinity=False)


def to_csv(rows):
    return History(rows).to_csv()


def read(text, epochs=None):
    """Return the rows that are read from such a file, and what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "metrics.csv").write_text(text)
        return read_metrics(RunDirectory(Path(folder)), epochs)


optional = st.none() | finite
share = st.none() | st.floats(0, 1)
count = st.integers(0, 2**53)
search = st.none() | st.builds(Search, count, count, count, count, st.booleans())
attempt = st.integers(1, 2**53)


@settings(max_examples=25)
@given(st.lists(st.tuples(finite, optional, share, finite, share, search, attempt), max_size=4))
def test_csv_round_trip_up_to_any_epoch(values):
    rows = [
        MetricsRow(
            epoch, soft, hard, accuracy, dict.fromkeys(PHASES, seconds), decided, found, begun
        )
        for epoch, (soft, hard, accuracy, seconds, decided, found, begun) in enumerate(values, 1)
    ]
    for epochs in range(len(rows) + 1):
        # Damage after the epoch does not matter.
        history, problem = read(to_csv(rows) + "torn", epochs)
        assert (history.rows, problem) == (rows[:epochs], None)
        assert history.to_csv() == to_csv(rows[:epochs])
    gap = rows[:1] + rows[2:]
    assert read(to_csv(gap))[0].rows == gap


GOOD = to_csv([MetricsRow(1, 5.0, 4.0, 0.5), MetricsRow(2, 3.0), MetricsRow(3, 1.0, 2.0, 0.75)])


@pytest.mark.parametrize(
    ("text", "problem", "good"),
    [
        ("", "it ends after epoch 0", 0),
        (GOOD.replace("3,1.0", "4,1.0"), "epoch 4 stands where epoch 3 should", 2),
        (GOOD.replace("3,1.0", "2,1.0"), "epoch 2 stands after epoch 2", 2),
        (GOOD.replace("2,3.0", "2,many"), "the row after epoch 1 is damaged", 1),
        (GOOD.replace("soft_loss", "loss"), "the row after epoch 0 is damaged", 0),
        (GOOD[: GOOD.index("3,1.0") + 5], "a line is cut off", 2),
        (GOOD[: GOOD.index("3,1.0")], "it ends after epoch 2", 2),
        (GOOD.replace("3,1.0", "3," + "9" * 200_000), "a line is cut off or too long", 2),
        (GOOD.replace("2,3.0", "2,3.0,"), "the row after epoch 1 is damaged", 1),
    ],
)
def test_damaged_files(text, problem, good):
    history, found = read(text, 3)
    assert problem in found
    assert [row.epoch for row in history] == [1, 2, 3][:good]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("decided", "1.5"),
        ("decided", "all"),
        ("search_wrong", ""),
        ("search_wrong", "-1"),
        ("search_exact", "2"),
        ("attempt", "0"),
        ("stage", "-1"),
    ],
)
def test_damaged_cells(column, value):
    found = Search(7, 1, 0, 40, False)
    text = to_csv([MetricsRow(1, 5.0, decided=0.5, search=found, attempt=1)])
    head, line = (part.split(",") for part in text.splitlines())
    line[head.index(column)] = value
    assert "row after epoch 0 is damaged" in read(f"{','.join(head)}\n{','.join(line)}\n", 1)[1]


def test_learning_starts_over_where_the_attempt_changes():
    rows = [
        MetricsRow(n, 1.0, attempt=1 + sum(n > end for end in (5, 12, 15))) for n in range(1, 21)
    ]
    expected = [5, 12, 15]
    assert restarts(rows) == expected
    # Of a part, too: at its end nothing has begun yet.
    assert restarts(rows[4:12]) == expected[:1]
    assert restarts([]) == []


def test_the_best_is_of_one_attempt_and_its_last_stage():
    places = [(1, 1, 0.0), (1, 2, 9.0), (2, 1, 0.0), (2, 2, 7.0), (2, 2, None), (2, 2, 7.0)]
    history = History(
        MetricsRow(epoch, 1.0, loss, attempt=attempt, stage=stage)
        for epoch, (attempt, stage, loss) in enumerate(places, 1)
    )
    found = [history.best(attempt) for attempt in (1, 2, 3)]
    assert found == [history.rows[1], history.rows[3], None]
    assert [row.stage for row in read(history.to_csv())[0]] == [row.stage for row in history]


def test_a_block_counts_without_the_blocks_inside(monkeypatch):
    clock = [0.0]

    def spend(seconds):
        clock[0] += seconds

    monkeypatch.setattr(measures.time, "perf_counter", lambda: clock[0])
    timer = PhaseTimer()
    with timer("other"):
        spend(1.0)
        with timer("hard"):
            spend(2.0)
        timer.add({"forward": 0.25})
        with timer("compilation"):
            spend(4.0)
        spend(8.0)
    expected = {"other": 8.75, "hard": 2.0, "forward": 0.25, "compilation": 4.0, "all": 15.0}
    account = {part: spent for part, spent in timer.account.items() if part != "processor"}
    assert {part: spent for part, spent in account.items() if spent} == expected


def test_processor_time_is_of_ended_processes_too():
    child = "import time\nwhile time.process_time() < 0.2: pass"
    own = clocks()[1] - time.process_time()
    subprocess.run([sys.executable, "-c", child], check=True)
    # The system counts children in hundredths of a second.
    assert clocks()[1] - time.process_time() - own >= 0.15
