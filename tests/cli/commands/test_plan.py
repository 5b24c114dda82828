"""`dct plan`."""

import json

import pytest

from difflogic.system.quantities import show_bytes
from tests.difflogic.system.test_machine import write_nodes


def rows(found):
    """The words of each line below the heads of the table of workers."""
    assert found.exit_code == 0, found.stderr
    lines = iter(found.stdout.splitlines())
    assert any("tasks at once  samples in flight" in line for line in lines)
    return [line.split() for line in iter(lambda: next(lines, ""), "")]


@pytest.fixture
def plan(dct):
    return lambda *arguments: dct("plan", *arguments)


def test_a_plan_gives_decisions(plan):
    machine = ("--machine", "cores=2")
    found = plan("checkerboard", "--recipe", "benchmark", *machine)
    assert found.exit_code == 0, found.stderr
    lines = found.stdout.splitlines()
    assert lines[0] == (
        "checkerboard · 16×16 cells, 20 automaton steps, batch 2 · another machine, 2 cores"
    )
    words = {line.split("  ")[0]: line for line in lines}
    assert {"chunks", "groups", "workers", "strategy", "tasks", "waves", "memory"} <= set(words)
    assert words["strategy"].split() == ["strategy", "samples"]
    assert " of buffers: " in words["memory"]
    assert words["besides"].endswith("170 MB or more, for the interpreter and its libraries")
    assert {workers: ceiling for workers, _, _, ceiling, *_ in rows(found)} == {
        "1": "1.00",
        "2": "2.00",
        "4": "4.00",
        "8": "8.00",
        "16": "8.00",
    }
    assert not found.stderr


def test_numbers_of_workers_stand_side_by_side(plan):
    """With their memory, as a plan for each alone has it."""
    common = ("checkerboard", "--set", "training.batch=5")
    common += ("--set", "parallel.samples_at_once=2")
    found = plan(*common, "--workers", "3,1")
    table = {workers: cells for workers, *cells in rows(found)}
    assert list(table) == ["3", "1"]
    for workers in table:
        alone = json.loads(plan(*common, "--workers", workers, "--json").stdout)["plan"]
        tasks, samples, _, number, unit = table[workers]
        assert (int(tasks), int(samples)) == (alone["tasks"], 2)
        assert show_bytes(alone["bytes"]) == f"{number} {unit}"
    tight = ("--set", f"parallel.memory_budget={alone['bytes']}B", "--workers", "1,64", "--json")
    one, many = json.loads(plan(*common, *tight).stdout)["by_workers"]
    assert one["used"] == 1 <= many["used"] < 64


def test_a_machine_of_several_nodes_gets_a_command_that_stays_on_one(plan, tmp_path, monkeypatch):
    write_nodes(tmp_path, monkeypatch)
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = plan("--small").stdout
    assert "0 (2 processors, 4.10 GB), 1 (3 processors)" in found
    assert "taskset --cpu-list 2-3,6 dct train …: up to 3 workers" in found
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert "numactl --cpunodebind=1 --membind=1 dct train" in plan("--small").stdout
    assert "node" not in plan("--small", "--machine", "cores=2").stdout
    (tmp_path / "node1").rename(tmp_path / "other")
    assert "node" not in plan("--small").stdout


def test_more_workers_than_tasks_cause_a_warning(plan):
    machine = ("--machine", "cores=8")
    found = plan("game-of-life", "--workers", "8", *machine)
    assert found.exit_code == 0
    assert found.stderr == ("warning: 8 workers for 3 tasks: 5 of them only wait\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--machine", "core=3"], 'machine "core=3": no "core": did you mean "cores"?'),
        (["--set", "parallel.memory_budget=1MB"], '[parallel] memory_budget "1MB": the buffers'),
        (["--set", "parallel.memory_budget=much"], '[parallel] memory_budget must be "auto" or a'),
        (["--workers", "0"], '"0" is not a whole number from 1'),
        (["--workers", "1,x"], '"x" is not a whole number from 1'),
        (["--recipe", "none"], 'no recipe "none"'),
        (["nothing"], "nothing"),
    ],
)
def test_refusals(plan, arguments, message):
    assert message in plan(*arguments).refusal
