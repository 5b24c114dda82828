"""`dct plan`."""

import json

import pytest

from difflogic.system.quantities import show_bytes
from tests.difflogic.system.test_machine import write_nodes
from tests.difflogic.training.tiny import TINY


def rows(found):
    """The words of each line below the heads of the table of workers."""
    assert found.exit_code == 0, found.stderr
    lines = iter(found.stdout.splitlines())
    assert any(
        line.startswith("workers  tasks") or "  tasks  samples at once" in line for line in lines
    )
    return [line.split() for line in iter(lambda: next(lines, ""), "")]


OVERRIDES = [word for each in TINY for word in ("--set", each)]


@pytest.fixture
def plan(dct):
    return lambda *arguments: dct("plan", *arguments)


def test_a_plan_gives_decisions_and_reasons(plan):
    machine = ("--machine", "cores=2,l2=2MiB,vector=avx512")
    found = plan("checkerboard", "--no-measure", "--recipe", "benchmark", *machine)
    assert found.exit_code == 0, found.stderr
    lines = found.stdout.splitlines()
    assert lines[0] == (
        "checkerboard · 16×16 cells, 20 automaton steps, batch 2 · another machine, 2 cores"
    )
    words = {line.split("  ")[0]: line for line in lines}
    assert {"lanes", "chunks", "groups", "workers", "strategy", "tasks", "waves", "memory"} <= set(
        words
    )
    assert "2 groups by one worker each" in words["strategy"]
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
    common = ("checkerboard", "--no-measure", "--set", "training.batch=5")
    common += ("--set", "parallel.samples_at_once=2")
    found = plan(*common, "--workers", "3,1")
    table = {workers: cells for workers, *cells in rows(found)}
    assert list(table) == ["3", "1"]
    for workers in table:
        alone = json.loads(plan(*common, "--workers", workers, "--json").stdout)["plan"]
        tasks, samples, _, number, unit, seconds = table[workers]
        assert (int(tasks), int(samples), seconds) == (alone["tasks"], 2, "-")
        assert show_bytes(alone["bytes"]) == f"{number} {unit}"
    tight = ("--set", f"parallel.memory_budget={alone['bytes']}B", "--workers", "1,2")
    tight += ("--set", "parallel.workers=1")
    assert [workers for workers, *_ in rows(plan(*common, *tight))] == ["1", "2"]
    least = json.loads(plan(*common, *tight, "--json").stdout)["by_workers"]
    assert [each["used"] for each in least] == [1, 0]


def test_a_machine_of_several_nodes_gets_a_command_that_stays_on_one(plan, tmp_path, monkeypatch):
    write_nodes(tmp_path, monkeypatch)
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = plan("--small", "--no-measure").stdout
    assert "0 (2 processors, 4.10 GB), 1 (3 processors)" in found
    assert "taskset --cpu-list 2-3,6 dct train …: up to 3 workers" in found
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert "numactl --cpunodebind=1 --membind=1 dct train" in plan("--small", "--no-measure").stdout
    assert "node" not in plan("--small", "--no-measure", "--machine", "cores=2").stdout
    (tmp_path / "node1").rename(tmp_path / "other")
    assert "node" not in plan("--small", "--no-measure").stdout


def test_a_measured_plan_estimates_a_step(plan):
    found = plan(*OVERRIDES, "--json", "--small")
    assert found.exit_code == 0, found.stderr
    data = json.loads(found.stdout)
    assert data["plan"]["workers"] == 1
    assert data["expected_step_seconds"] == data["expected_step_seconds_on_one_worker"] > 0
    assert data["machine"]["described"] is False
    assert set(data["reasons"]) >= {"lanes", "memory"}


def test_a_plan_estimates_whether_machines_pay_off(plan):
    found = plan(*OVERRIDES, "--small", "--ranks", "2", "--set", "training.batch=4")
    assert found.exit_code == 0, found.stderr
    lines = {line.split("  ")[0]: line for line in found.stdout.splitlines()}
    assert "saved" in lines["machines"]
    assert "3 in sequence per step, 2 with 704 B of sums" in lines["messages"]
    assert lines["pays off"]
    found = plan(*OVERRIDES, "--small", "--ranks", "2", "--json")
    assert json.loads(found.stdout)["network"]["messages"] == 3


def test_more_workers_than_tasks_cause_a_warning(plan):
    machine = ("--machine", "cores=8,l2=2MiB,vector=avx512")
    found = plan("game-of-life", "--no-measure", "--workers", "8", *machine)
    assert found.exit_code == 0
    assert found.stderr == ("warning: 8 workers for 3 tasks: 5 of them only wait\n")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--machine", "core=3"], 'machine "core=3": no "core": did you mean "cores"?'),
        (["--set", "parallel.memory_budget=1MB"], '[parallel] memory_budget "1MB": the buffers'),
        (["--set", "parallel.memory_budget=much"], '[parallel] memory_budget must be "auto" or a'),
        (["--ranks", "2", "--no-measure"], "leave --no-measure out"),
        (["--ranks", "1"], '"1" is not a whole number from 2'),
        (["--workers", "0"], '"0" is not a whole number from 1'),
        (["--workers", "1,x"], '"x" is not a whole number from 1'),
        (["--recipe", "none"], 'no recipe "none"'),
        (["nothing"], "nothing"),
    ],
)
def test_refusals(plan, arguments, message):
    assert message in plan(*arguments, "--no-measure").refusal


@pytest.mark.thorough
def test_a_simulation(plan):
    found = plan(*OVERRIDES, "--small", "--simulate", "1-4")
    assert found.exit_code == 0, found.stderr
    lines = found.stdout.splitlines()
    head = next(index for index, line in enumerate(lines) if "samples" in line and "gates" in line)
    assert [line.split()[0] for line in lines[head + 1 : head + 5]] == ["1", "2", "3", "4"]
    assert lines[-3].startswith("1 worker: ")
    assert "measured at best" in lines[-2]
    assert lines[-1].startswith("Beyond 2 workers this is a prediction")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--simulate", "4-1"], "must be a range of workers"),
        (["--simulate", "0-4"], "must be a range of workers"),
        (["--simulate", "many"], "such as 1-128"),
        (["--simulate", "1-2", "--no-measure"], "a simulation needs measured costs"),
    ],
)
def test_refused_simulations(plan, arguments, message):
    assert message in plan(*OVERRIDES, "--small", *arguments).refusal
