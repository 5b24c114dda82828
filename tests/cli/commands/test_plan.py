"""`dct plan`."""

import json

import pytest

from difflogic.system.quantities import show_bytes


def rows(found):
    """The words of each line below the heads of the table of workers."""
    assert found.exit_code == 0, found.stderr
    lines = iter(found.stdout.splitlines())
    assert any("tasks at once  samples in flight" in line for line in lines)
    return [line.split() for line in iter(lambda: next(lines, ""), "")]


@pytest.fixture
def plan(dct, monkeypatch):
    """`dct plan` on a machine of two cores."""
    monkeypatch.setattr("difflogic.system.machine.cpu_count", lambda: 2)
    return lambda *arguments: dct("plan", *arguments)


def test_a_plan_gives_decisions(plan):
    found = plan("checkerboard --recipe benchmark").good
    lines = found.stdout.splitlines()
    assert lines[0] == ("checkerboard · 16×16 cells, 20 automaton steps, batch 2 · 2 cores")
    words = {line.split("  ")[0]: line for line in lines}
    assert {"chunks", "groups", "workers", "strategy", "tasks", "waves", "memory"} <= set(words)
    assert words["strategy"].split() == ["strategy", "samples"]
    assert " of buffers: " in words["memory"]
    assert words["besides"].endswith("170 MB or more, for the interpreter and its libraries")
    assert [workers for workers, *_ in rows(found)] == ["1", "2", "4", "8", "16"]
    assert not found.stderr


def test_numbers_of_workers_stand_side_by_side(plan):
    """With their memory, as a plan for each alone has it."""
    common = "checkerboard --set training.batch=5"
    found = plan(f"{common} --workers 3,1")
    table = {workers: cells for workers, *cells in rows(found)}
    assert list(table) == ["3", "1"]
    for workers in table:
        alone = json.loads(plan(f"{common} --workers {workers} --json").stdout)["plan"]
        tasks, samples, number, unit = table[workers]
        assert (int(tasks), int(samples)) == (alone["tasks"], 5)
        assert show_bytes(alone["bytes"]) == f"{number} {unit}"
    tight = f"--set parallel.memory_budget={alone['bytes']}B --workers 1,64 --json"
    one, many = json.loads(plan(f"{common} {tight}").stdout)["by_workers"]
    assert one["used"] == 1 <= many["used"] < 64


def test_more_workers_than_tasks_cause_a_warning(plan):
    found = plan("game-of-life --workers 8").good
    assert found.stderr.startswith("warning: 8 workers for 3 tasks: 5 of them only wait\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--set parallel.memory_budget=1MB", '[parallel] memory_budget "1MB": the buffers'),
        ("--set parallel.memory_budget=much", '[parallel] memory_budget must be "auto" or a'),
        ("--workers 0", '"0" is not a whole number from 1'),
        ("nothing", "nothing"),
    ],
)
def test_refusals(plan, arguments, message):
    assert message in plan(arguments).refusal
