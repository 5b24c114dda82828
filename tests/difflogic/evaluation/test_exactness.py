from itertools import product

import numpy as np
import pytest

from difflogic.circuit.gates import Op
from difflogic.config import load_config
from difflogic.evaluation import exactness
from difflogic.evaluation.check_plan import Plan, StepCounts
from difflogic.evaluation.exactness import check, held_out_streams
from difflogic.evaluation.scores import Counted
from difflogic.evaluation.trial import count_wrong
from difflogic.model.model import Model
from difflogic.tasks import make_task
from difflogic.tasks.line import PARITY
from tests.difflogic.evaluation.naive import blinker, random_model, rollout, wired
from tests.difflogic.proof.mutants import Posed
from tests.difflogic.training.tiny import tiny

TINY_LIFE = ("perception.kernels=4", "perception.gates=[8,4,2,1]", "update.gates=[6,3,2,1]")


def judged(model, starts=64, streams=None):
    """Count the wrong cells of a model as its task asks for."""
    plan = Plan.of(
        model.config.problem.task, starts, streams or held_out_streams(model.config.training.seed)
    )
    return plan.judge(count_wrong(model.netlist, model.ops, plan.scene, plan.starts))


def test_an_exact_circuit(monkeypatch):
    monkeypatch.setattr(exactness, "DEFAULT_STARTS", 5)
    # A square as large as the grid is a target of zeros.
    model = Model.create(tiny("task.height=6", "task.width=6", "task.square=6"))
    model.logits[:, Op.FALSE] = 20.0
    scores = check(model)
    assert scores.wrong_cells == scores.wrong_cells_later == 0
    assert scores.exact is True
    with monkeypatch.context() as patched:
        patched.setattr(exactness, "keeps", lambda *asked: False)
        assert check(model).exact is False
    model.logits[:, Op.TRUE] = 30.0
    scores = check(model)
    assert scores.wrong_cells == scores.cells == 5 * 36
    assert scores.exact is False


def test_a_picture_has_one_start():
    config = load_config("letter-g", ["automaton.channels=3", "update.gates=[20,10,6,3]"])
    model = random_model(config, seed=3)
    start, target = make_task(config).sample(np.random.default_rng(0))
    states = rollout(model, start, 30)
    now, later = ((states[step - 1] != target).any(axis=0).sum() for step in (15, 30))
    assert now != later
    scores = check(model)
    assert (scores.starts, scores.cells) == (1, 256)
    assert (scores.wrong_cells, scores.wrong_cells_later) == (now, later)


@pytest.mark.parametrize(
    ("name", "rate", "said"),
    [
        ("checkerboard-small", 1, "64 random starts"),
        ("lizard", 1, "the only start"),
        ("lizard", 0.5, "the only start, 64 times"),
        ("game-of-life", 1, "all 512 boards"),
    ],
)
def test_what_is_tested_is_named(name, rate, said):
    task = make_task(load_config(name, [f"automaton.fire_rate={rate}"]))
    assert exactness.name_starts(Plan.of(task, 64, held_out_streams(0)), task) == said


@pytest.mark.parametrize("claims", [*product((False, True), repeat=4)])
@pytest.mark.parametrize("listed", [False, True])
def test_a_search_proves_what_a_task_asks_for_beyond_samples(listed, claims, monkeypatch):
    holds, stays, machine, rule = claims
    for name, value in {"holds": holds, "stays": stays, "machine": machine, "rule": rule}.items():
        monkeypatch.setattr(Posed, name, value and PARITY if name == "machine" else value)
    bits = np.zeros((2, 1, 2, 2), np.uint8)
    task = Posed(bits, bits)
    if not listed:
        task.cases = lambda: None
    plan = Plan.of(task, 2, held_out_streams(0))
    asked = holds or machine or (stays if listed else rule)
    assert (plan.proved is task, plan.exhaustive) == (bool(asked), listed)


def test_a_two_cycle_is_not_exact():
    # 0, the target, at even steps only: 2 and 4 are right, 3 and 5 wrong everywhere.
    model = blinker("automaton.steps=2")
    found = judged(model)
    wrong = {count.step: count.wrong_cells for count in found.counts}
    assert wrong == {2: 0, 3: 64 * 36, 4: 0, 5: 64 * 36}
    assert not found.exact
    scores = check(model)
    assert scores.wrong_cells == scores.wrong_cells_later == 0
    assert scores.exact is False


def test_one_wrong_cell_is_too_much():
    sizes = {"name": "", "height": 4, "width": 4, "fire_rate": 1.0, "starts": 64}
    right = Counted(**sizes, step=20, wrong_starts=0, cells=1024, wrong_cells=0, decisive=True)
    assert StepCounts([right] * 4).exact
    for place, decisive in product(range(4), (False, True)):
        counts = [right] * 4
        counts[place] = right.model_copy(update={"wrong_cells": 1, "decisive": decisive})
        assert StepCounts(counts).exact != decisive
        assert StepCounts(counts).cells == 1024 * (3 + decisive)


def test_only_the_training_step_of_a_picture_counts(tmp_path):
    """One cell of ones that turns into its complement and back: #.# is its complement."""
    picture = tmp_path / "dots.txt"
    picture.write_text("#.#\n")
    keys = ["task.height=1", "task.width=3", f'task.target="{picture}"', "automaton.channels=1"]
    keys += ["perception.kernels=1", "update.gates=[1]", "automaton.steps=3"]
    model = wired(load_config("lizard", keys), [[(Op.NOT_A, 0, 0)]])
    found = judged(model)
    assert [(c.step, c.wrong_cells, c.decisive) for c in found.counts] == [
        (3, 0, True),
        (4, 3, False),
        (6, 3, False),
        (7, 0, False),
    ]
    assert found.exact
    assert found.counts[0].starts == 1
    assert check(model).exact is True


def test_all_boards_of_life():
    config = load_config("game-of-life-small", [*TINY_LIFE])
    model = random_model(config, seed=5)
    found = judged(model)
    life = make_task(config)
    wrong = np.zeros(512, int)
    for number in range(512):
        board = np.array([number >> bit & 1 for bit in range(9)], np.uint8).reshape(3, 3)
        state = rollout(model, board[None], 1, "periodic")[0][0]
        wrong[number] = (state != life.advance(board)).sum()
    assert 0 < wrong.sum() < 512 * 9
    assert [(c.step, c.starts, c.cells, c.decisive) for c in found.counts] == [
        (1, 512, 512 * 9, True)
    ]
    assert found.wrong_cells == wrong.sum()
    assert found.counts[0].wrong_starts == (wrong > 0).sum()


def test_cases_are_all_only_if_all_cells_fire(monkeypatch):
    cases = make_task(load_config("game-of-life-small")).find_cases()
    monkeypatch.setattr("difflogic.tasks.life.Life.cases", lambda task: cases)
    for fire_rate, expected in ((1, (True, 512)), (0.5, (False, 8))):
        config = load_config("game-of-life-small", [f"automaton.fire_rate={fire_rate}"])
        plan = Plan.of(config.problem.task, 8, held_out_streams(0))
        assert (plan.exhaustive, plan.starts) == expected


def test_several_generations_are_compared():
    config = load_config("game-of-life-small", [*TINY_LIFE, "automaton.steps=2"])
    model = random_model(config)
    required = [(c.step, c.decisive) for c in judged(model, 5).counts]
    assert required == [(2, True), (3, False), (4, False), (5, False)]
