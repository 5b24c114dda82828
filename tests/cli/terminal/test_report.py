"""The summary of a run, as text."""

import shlex

import pytest

from cli.terminal import report
from difflogic.run.measures import PHASES
from tests.difflogic.run.summaries import merged, summary

NO_TIME = dict.fromkeys(("training", "start", "compilation", "tests", "all"), 0.0)
NO_TIME |= {"phases": dict.fromkeys(PHASES, 0.0)}
OPEN = {"scores": {"assurance": {"verdict": "open"}}}
WRONG = {"scores": {"checked": {"exact": False}, "assurance": {"from_step": None}}}


def test_timing_per_phase():
    lines = report.render(summary(), "runs/x", table=True).splitlines()

    assert lines[0].split() == ["phase", "seconds", "share", "ms/epoch"]
    table = {line[:17].strip(): line[17:].split() for line in lines[1 : len(PHASES) + 7]}
    assert table["forward"] == ["2.000", "40.0", "%", "4.000"]
    assert table["training"] == ["5.000", "100.0", "%", "10.000"]
    assert [table[name] for name in ("start-up", "processor")] == [["0.500"], ["21.000"]]
    short = report.render(summary(epochs=0, seconds=NO_TIME), "runs/x", table=True)
    assert "0.0 %" in short
    quiet = report.render(summary(), "runs/x", time=False)
    assert "phase" not in quiet
    assert "█" not in quiet
    assert "run        runs/x\n" in quiet


def test_time_by_part_is_a_bar_with_its_legend():
    run = summary(seconds={"phases": {"backward": 2.0, "finish": 1.0}})
    bar, *lines = report.render(run, "runs/x").splitlines()[:3]
    # 4 s of training, 1 of search, 13 of start-up, 0.25 of tests, on 48 characters.
    assert bar == f"time       {'█' * 11}{'▓' * 2}{'▒' * 34}░  18.5 s"
    assert [line.strip() for line in lines] == [
        "█ training 4.0 s  ▓ search 1.0 s  ▒ start-up 13.0 s  ░ tests 0.2 s",
        "training: forward 50 %, backward 50 %; 21.0 CPU seconds",
    ]
    assert report.render(summary(seconds=NO_TIME), "runs/x").startswith("time         0.0 s\n")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "proof      proved for every start from step 18 on\n"),
        (OPEN, "proof      right on samples; proved for"),
        (merged(OPEN, WRONG), "proof      proved for every"),
    ],
)
def test_what_is_proved(changes, said):
    assert said in report.render(summary(**changes), "runs/x")


def next_step(text):
    """Return the advice of a summary: a sentence, then commands."""
    return [line.strip() for line in text.partition("next ")[2].splitlines()]


RESUME = "dct train --resume runs/x"


@pytest.mark.parametrize(
    ("changes", "said", "commands"),
    [
        (
            WRONG | {"epochs_requested": 50, "start": {"seed": 1}},
            "Not exact yet: resume this run, or try another seed",
            [
                f"{RESUME} --epochs 100",
                "dct train runs/x/config.toml --seed 24 --from runs/x/start.npz",
            ],
        ),
        (
            {},
            "Exact: run all tests, or look at the circuit",
            ["dct eval runs/x", "dct inspect runs/x"],
        ),
        ({"interrupted": True}, "Interrupted: resume this run", [RESUME]),
    ],
)
def test_the_next_step(changes, said, commands):
    assert next_step(report.render(summary(**changes), "runs/x")) == [said, *commands]


@pytest.mark.parametrize(
    ("verdict", "step", "said"),
    [
        ("proved", 31, "Too late: right from step 31, not from step 20"),
        ("proved", 20, "Not exact yet"),
        ("proved", None, "Not exact yet"),
        ("refuted", 31, "Not exact yet"),
    ],
)
def test_a_proof_from_a_later_step_is_explained(verdict, step, said):
    scores = {"checked": {"exact": False}, "assurance": {"verdict": verdict, "from_step": step}}
    lines = next_step(report.render(summary(scores=scores), "runs/x"))
    assert lines[0].startswith(f"{said}: resume this run, or ")


def test_the_next_commands_can_be_copied():
    for directory in ("a run", "it's", "$(x)", "-x;y"):
        for changes in (WRONG, {}, {"interrupted": True}):
            commands = next_step(report.render(summary(**changes), directory, True))[1:]
            assert all(directory in " ".join(shlex.split(command)) for command in commands)
            assert "--allow-code" in commands[0]
            assert "--allow-code" not in report.render(summary(**changes), directory)
