"""What may change when a run goes on."""

import pytest

from difflogic.config import load_config
from difflogic.config.sections import FREE
from difflogic.system.errors import RunDirectoryError
from difflogic.training.compatibility import as_begun, differing, for_this_stretch, refuse_changes

STORED = load_config("checkerboard-small")


@pytest.mark.parametrize(
    ("override", "difference"),
    [
        ("training.seed=24", "training.seed: 23 → 24"),
        ("training.precision=float64", "training.precision: 'float32' → 'float64'"),
        ("automaton.fire_rate=0.5", "automaton.fire_rate: 1.0 → 0.5"),
        ("parallel.lanes=16", "parallel.lanes: 'auto' → 16"),
        ("parallel.chunk=3", "parallel.chunk: 'auto' → 3"),
        ("pool.later=3", "pool.later: 48 → 3"),
        ("name=other", "name: 'checkerboard-small' → 'other'"),
        ("published.learned_by=5", "published.learned_by: not set → 5"),
        (
            "update.gates=[256,256,256,256,256,128,64,32,16,8]",
            "update.gates: [256, 256, 256, 256, 128, 64, 32, 16, 8] → "
            "[256, 256, 256, 256, 256, 128, 64, 32, 16, 8]",
        ),
    ],
)
def test_what_makes_it_another_run(override, difference):
    asked = load_config("checkerboard-small", [override])
    assert differing(STORED, asked) == [difference]
    with pytest.raises(RunDirectoryError, match="runs/x: is a run with other settings"):
        refuse_changes("runs/x", STORED, asked)


FREELY = [
    "parallel.workers=3",
    "parallel.strategy=sequential",
    "parallel.memory_budget=1GB",
    "parallel.device=gpu",
    "checkpoint.every_seconds=0.0",
    "checkpoint.every_epochs=3",
]


def test_what_changes_no_result_may_change():
    named = {f"{section}.{key}" for section, keys in FREE.items() for key in keys}
    assert {override.partition("=")[0] for override in FREELY} == named
    asked = load_config("checkerboard-small", FREELY)
    assert differing(STORED, asked) == []
    stretch = for_this_stretch(STORED, asked)
    assert stretch == asked
    assert STORED.parallel.workers == "auto"


def test_more_epochs_but_not_fewer():
    most = STORED.training.epochs
    for epochs in (most, most + 1):
        asked = load_config("checkerboard-small", [f"training.epochs={epochs}"])
        refuse_changes("runs/x", STORED, asked)
        assert for_this_stretch(STORED, asked).training.epochs == epochs
    fewer = load_config("checkerboard-small", [f"training.epochs={most - 1}"])
    with pytest.raises(RunDirectoryError, match=f"of {most} epochs, and {most - 1} are fewer"):
        refuse_changes("runs/x", STORED, fewer)


def test_a_run_goes_on_with_the_cut_that_it_began_with():
    plan = {"lanes": 16, "chunk": 3, "workers": 7}
    found = as_begun(STORED, {"plan": plan}).parallel
    assert (found.lanes, found.chunk, found.workers) == (16, 3, "auto")
    given = load_config("checkerboard-small", ["parallel.lanes=32", "parallel.chunk=1"])
    assert as_begun(given, {"plan": plan}) == given
    for summary in (None, {}, {"plan": 3}, {"plan": {"lanes": 17, "chunk": True}}):
        assert as_begun(STORED, summary) == STORED
