import csv
import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.training.metrics import COLUMNS, MetricsRow, to_csv
from difflogic.training.phases import PHASES

finite = st.floats(allow_nan=False, allow_infinity=False)


def parse(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_columns():
    assert COLUMNS == (
        "epoch", "soft_loss", "hard_loss", "accuracy", "sample_seconds", "forward_seconds",
        "loss_seconds", "backward_seconds", "reduce_seconds", "optimizer_seconds",
        "hard_seconds", "checkpoint_seconds", "other_seconds",
    )  # fmt: skip
    assert to_csv([]) == ",".join(COLUMNS) + "\n"


def test_what_was_not_measured_is_empty():
    text = to_csv([MetricsRow(1, 231.5, phase_seconds={"forward": 0.25})])
    assert text.splitlines()[1] == "1,231.5,,,0.0,0.25,0.0,0.0,0.0,0.0,0.0,0.0,0.0"


@given(st.lists(st.tuples(finite, finite, st.floats(0, 1), finite), max_size=5))
def test_floats_come_back_exactly(values):
    rows = [
        MetricsRow(epoch, soft, hard, accuracy, dict.fromkeys(PHASES, seconds))
        for epoch, (soft, hard, accuracy, seconds) in enumerate(values, 1)
    ]
    for row, found in zip(rows, parse(to_csv(rows)), strict=True):
        assert int(found["epoch"]) == row.epoch
        assert float(found["soft_loss"]) == row.soft_loss
        assert float(found["hard_loss"]) == row.hard_loss
        assert float(found["accuracy"]) == row.accuracy
        for phase in PHASES:
            assert float(found[f"{phase}_seconds"]) == row.phase_seconds[phase]


def test_numbers_of_numpy():
    row = MetricsRow(np.int64(3), np.float32(0.1), np.float64(0.5), np.float64(1))
    assert to_csv([row]).splitlines()[1].startswith("3,0.10000000149011612,0.5,1.0,")
