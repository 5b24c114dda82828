"""`dct bench` with several settings in turn."""

import pytest

from difflogic.experiment.searching import Trainer
from difflogic.system.machine import cpu_count
from tests.cli.processes import as_options
from tests.difflogic.training.tiny import TINY


@pytest.fixture
def bench(dct):
    return lambda *arguments: dct("bench --small", as_options(TINY), "--repeat=1", *arguments)


def test_workers(bench):
    found = bench("--workers 1,2,5").good
    lines = [line.split() for line in found.stdout.splitlines()]
    assert [line[0] for line in lines[3:6]] == ["1", "2", "5"]
    assert lines[5][1] == ("*" if cpu_count() < 5 else lines[5][1])
    assert [line[-1] for line in lines[3:6]] == ["-", "yes", "yes"]
    assert ("oversubscribed" in found.stdout) == (cpu_count() < 5)


def test_unequal_rows_fail(bench, monkeypatch):
    step = Trainer.step

    def wrong(trainer):
        if trainer.descent.plan.sharing.strategy == "samples":
            trainer.descent.logits[0, 0] += 1e-3
        return step(trainer)

    monkeypatch.setattr(Trainer, "step", wrong)
    found = bench("--compare cells,samples")
    heads = [line.split()[0] for line in found.stdout.splitlines() if line]
    assert heads.index("configured") < heads.index("cells") < heads.index("samples")
    assert bench("--compare cells,samples --json").json["equal"] is False
    assert found.exit_code == 1
    assert "NO: " in found.stdout
    assert "error: samples (by 0.0051) and configured disagree" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--workers 100000", "1024"),
        ("--config checkerboard", "--small and --config"),
        ("--set training.bach=2", 'did you mean "batch"'),
        ("quick", "quick"),
        ("--workers 1,x", '"x" is not a whole number from 1'),
        (
            "--workers 1,2 --compare samples,cells",
            "--workers and --compare measure different things",
        ),
        ("--compare cell", 'no strategy "cell": did you mean "cells"?'),
        ("--workers 2,2", "twice"),
    ],
)
def test_refusals(bench, arguments, message):
    assert message in bench(arguments).refusal
