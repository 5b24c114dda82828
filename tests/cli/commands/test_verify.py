"""`dct verify equivalence`: output. Other tests cover the checks themselves."""

import math
import signal

import pytest

from difflogic import verification
from difflogic.config import load_config
from difflogic.verification import Deviation
from difflogic.verification.checks import EXACT, SINGLE_TOLERANCE
from tests.cli.conftest import TINY

FOUND = [
    Deviation("cells, 2, 3 workers", "sequential", "5×7 zero", 0.0, EXACT),
    Deviation("cells, 2, 3 workers", "sequential", "1×1 periodic", 0.0, EXACT),
    Deviation("float32 states", "float64", "5×7 zero", 1.25e-7, SINGLE_TOLERANCE),
    Deviation("float32 gradients", "float64", "5×7 zero", 3e-7, SINGLE_TOLERANCE),
    Deviation("float32 states", "float64", "1×1 periodic", 2.5e-7, SINGLE_TOLERANCE),
]
WRONG = Deviation("float32 gradients", "float64", "11×13 zero", 0.04, SINGLE_TOLERANCE)


@pytest.fixture
def compiled(monkeypatch):
    """Compile nothing; return a list of what would be."""
    found = []
    monkeypatch.setattr("difflogic.experiment.searching.compile_kernels", found.append)
    return found


@pytest.fixture
def check(dct, monkeypatch, compiled):
    """Run `dct verify equivalence` with given findings."""

    def run(findings, *arguments):
        monkeypatch.setattr(verification, "equivalence", lambda config: iter(findings))
        return dct("verify equivalence", *arguments)

    return run


def cells(text, first):
    """Return the cells of the rows that start with `first`."""
    rows = [line for line in text.splitlines() if line.startswith(first)]
    return [[cell.strip() for cell in row.split("  ") if cell.strip()] for row in rows]


def test_one_row_per_group_and_a_verdict(check):
    result = check(FOUND).good
    table = result.stdout.split("\n\n")[0].splitlines()
    assert [[c.strip() for c in row.split("  ") if c.strip()] for row in table] == [
        ["what", "against", "cases", "worst", "tolerance", "result"],
        ["cells, 2, 3 workers", "sequential", "2", "0", "0", "ok"],
        ["float32 states", "float64", "2", "2.5e-07", "1e-05", "ok"],
        ["float32 gradients", "float64", "1", "3e-07", "1e-05", "ok"],
    ]
    assert result.stdout.endswith("\nall 5 comparisons passed\n")
    assert "FAILED" not in result.stdout
    assert "5×7 zero" not in result.stdout
    for tolerance in (EXACT, SINGLE_TOLERANCE):
        assert result.stdout.count(tolerance.reason) == 1


# Failed comparisons


def test_each_failure_is_listed(check):
    other = Deviation("hard loss", "reference trainer", "checkerboard", 1.0, EXACT)
    result = check([*FOUND, WRONG, other]).failed
    assert cells(result.stdout, "float32 gradients") == [
        ["float32 gradients", "float64", "2", "0.04", "1e-05", "FAILED"]
    ]
    assert cells(result.stdout, "float32 states")[0][-1] == "ok"
    listed = [line for line in result.stdout.splitlines() if line.startswith("FAILED")]
    assert listed == [
        "FAILED  float32 gradients, against float64, on 11×13 zero: "
        "difference 0.04, tolerance 1e-05",
        "FAILED  hard loss, against reference trainer, on checkerboard: difference 1, tolerance 0",
    ]
    assert result.stdout.endswith("\n2 of 7 comparisons FAILED\n")


@pytest.mark.parametrize(("difference", "place"), [(math.nan, 0), (math.nan, 1), (math.inf, 0)])
def test_a_difference_that_is_no_number(check, difference, place):
    # A maximum of NaN and a number depends on their order.
    found = FOUND[:1]
    first = FOUND[0]
    found.insert(place, Deviation(first.what, first.against, "1×1 zero", difference, EXACT))
    result = check(found).failed
    assert cells(result.stdout, "cells")[0][-3:] == ["inf", "0", "FAILED"]
    told = check(found, "--json").json
    assert (told["passed"], told["findings"][place]["difference"]) == (False, None)


# Configurations, progress and interruption


def test_the_configuration_that_is_named_is_checked(dct, tiny, monkeypatch, compiled):
    checked = []

    def equivalence(config):
        checked.append(config)
        yield from FOUND

    monkeypatch.setattr(verification, "equivalence", equivalence)
    assert dct("verify equivalence").good
    assert dct(f"verify equivalence --small {tiny}").good
    assert dct("verify equivalence --config checkerboard-small").good
    assert checked == [
        load_config("checkerboard"),
        load_config("checkerboard-small", TINY),
        load_config("checkerboard-small"),
    ]
    # Both are needed, whatever the configuration trains in.
    precisions = [config.training.precision for config in compiled]
    assert precisions == ["float32", "float64"] * 3


def test_ctrl_c_stops_between_comparisons(check):
    def findings():
        yield WRONG
        signal.raise_signal(signal.SIGINT)
        yield FOUND[0]
        raise AssertionError("goes on")

    result = check(findings())
    assert result.exit_code == 130
    assert "stopped after 2 comparisons, 1 failed" in result.stderr
    assert result.stdout == ""
