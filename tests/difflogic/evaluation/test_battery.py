"""Each test of `dct eval` against plain NumPy, at sizes that take no time."""

import json
from functools import partial

import numpy as np
import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import Grid
from difflogic.circuit.live_part import live_part
from difflogic.config import load_config
from difflogic.evaluation import battery, circuit_test, noise
from difflogic.evaluation.battery import TESTS, Drawn, Subject, choose, run_tests
from difflogic.evaluation.scene import Scene, Streams
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.pictures.text import parse_picture
from difflogic.system.errors import ConfigError
from difflogic.system.streams import Purpose, stream
from difflogic.system.work import working
from tests.difflogic.circuit.circuits import automaton_of
from tests.difflogic.evaluation.naive import drawn, random_model, rollout, wired
from tests.difflogic.identification.automata import totalistic
from tests.difflogic.simulation.naive import simulate
from tests.difflogic.training.tiny import tiny

SEED = 4


def resized(config, height, width):
    """The same experiment on a grid of another size."""
    task = config.task.model_copy(update={"height": height, "width": width})
    return config.model_copy(update={"task": task})


def subject_of(model, starts=3):
    return Subject(model, model.config, SEED, starts)


def streams_of(draw):
    return Streams(SEED, Purpose.EVALUATION_START, Purpose.EVALUATION_MASK, draw)


def runs(model, draw, steps, fire_rate=1.0, size=None, damage=None):
    """Yield the plain states of three starts, and the target; `damage` also takes the start."""
    config = resized(model.config, *size) if size else model.config
    starts, targets, masks = drawn(config, streams_of(draw), 3, steps, fire_rate)
    for n in range(3):
        hit = damage and partial(damage, n)
        yield rollout(model, starts[n], steps, masks=masks[n], damage=hit), targets[n][0]


def shrink(monkeypatch, module, **sizes):
    for name, value in sizes.items():
        monkeypatch.setattr(module, name, value)


def wrong_cells(found):
    return [(count.step, count.wrong_cells) for count in found["counts"]]


@pytest.mark.parametrize("fire_rate", [1.0, 0.6])
def test_generalisation_of_a_checkerboard(fire_rate):
    model = random_model(tiny(f"automaton.fire_rate={fire_rate}"))
    y, x = np.indices((24, 28)) // model.config.task.square
    wrong = np.zeros(2, int)
    for states, target in runs(model, Drawn.GENERALISATION, 13, fire_rate, (24, 28)):
        np.testing.assert_array_equal(target, (x + y) % 2)
        wrong += [(states[step][0] != target).sum() for step in (11, 12)]
    found = battery.generalisation(subject_of(model))
    assert wrong_cells(found) == [(12, wrong[0]), (13, wrong[1])]
    assert found["counts"][0].cells == 3 * 24 * 28


def test_generalisation_of_a_picture_to_twice_the_side():
    config = load_config("lizard", ["automaton.channels=3", "update.gates=[9,5,3]"])
    model = random_model(config, seed=2)
    start = np.zeros((3, 40, 40), np.uint8)
    start[:, 20, 20] = 1
    state = rollout(model, start, 12, "periodic")[-1]
    picture = parse_picture(config.task.target, 1)[0]
    target = np.zeros((40, 40))
    target[10:30, 10:30] = picture
    found = battery.generalisation(subject_of(model))
    assert wrong_cells(found) == [(12, (state[0] != target).sum())]


@pytest.mark.parametrize("fire_rate", [1.0, 0.6])
@pytest.mark.parametrize(("run", "until"), [(battery.fault, 12), (battery.healing, 6)])
def test_damage_as_defined(run, until, fire_rate, monkeypatch):
    shrink(monkeypatch, battery, SQUARE_SIDE=12, SQUARE=4)
    model = random_model(tiny(f"automaton.fire_rate={fire_rate}"), seed=1)

    def zero(start, step, state):
        if step <= until:
            state[:, 4:8, 4:8] = 0

    wrong = 0
    for states, target in runs(model, Drawn.DAMAGE, 12, fire_rate, (12, 12), zero):
        different = states[-1][0] != target
        if until == 12:
            different[4:8, 4:8] = False
        wrong += int(different.sum())
    found = run(subject_of(model))
    assert wrong_cells(found) == [(12, wrong)]
    assert found["counts"][0].cells == 3 * (144 - (16 if until == 12 else 0))
    assert found["damaged_steps"] == until


@pytest.mark.parametrize(
    ("trained", "expected"),
    [(1.0, [(1.0, (3, 6, 12)), (0.6, (5, 10, 20))]), (0.5, [(0.5, (3, 6, 12)), (1.0, (2, 3, 6))])],
)
def test_both_modes_of_firing(trained, expected):
    model = random_model(tiny(f"automaton.fire_rate={trained}"), seed=1)
    found = []
    for rate, steps in expected:
        run = list(runs(model, Drawn.ASYNCHRONOUS, steps[-1], rate))
        for step in steps:
            wrong = [states[step - 1][0] != target for states, target in run]
            found.append((rate, step, int(np.sum(wrong))))
    counts = battery.asynchronous(subject_of(model))["counts"]
    assert [(c.fire_rate, c.step, c.wrong_cells) for c in counts] == found


def test_robustness_as_defined(monkeypatch):
    shrink(monkeypatch, battery, LONG_SIDE=12, LONG_SQUARE=5, LONG_STEPS=30, SETTLED=10)
    model = random_model(tiny(), seed=1)
    corners = [
        stream(SEED, Purpose.EVALUATION_DAMAGE, Drawn.ROBUSTNESS, n).integers(0, 8, (30, 2))
        for n in range(3)
    ]

    def zero(start, step, state):
        y, x = corners[start][step - 1]
        state[:, y : y + 5, x : x + 5] = 0

    means = [
        np.mean([(state[0] != target).sum() for state in states[10:]])
        for states, target in runs(model, Drawn.ROBUSTNESS, 30, 0.6, (12, 12), zero)
    ]
    found = battery.robustness(subject_of(model))
    assert found["mean_wrong_cells"] == pytest.approx(np.mean(means))
    assert found["best_start"] == pytest.approx(min(means))
    assert found["worst_start"] == pytest.approx(max(means))
    assert (found["cells"], found["first_step"]) == (144, 11)
    assert found["trained"] == "synchronously trained"
    assert found["published"]["synchronously trained"] == 1107


@pytest.mark.parametrize("fire_rate", [1.0, 0.5])
def test_noise_as_defined(monkeypatch, fire_rate):
    shrink(monkeypatch, noise, PROBABILITIES=(0.0, 0.1), SETTLING_STEPS=5, NOISY_STEPS=7)
    shrink(monkeypatch, battery, SQUARE_TIMES=1)
    model = random_model(tiny(f"automaton.fire_rate={fire_rate}"), seed=1)
    starts, targets, _ = drawn(model.config, streams_of(Drawn.NOISE), 2, 1, 1.0)
    found = battery.noise(subject_of(model, 2))
    counts = iter(found["counts"])
    circuit = from_model(model).circuit
    for name, rate in (("synchronous", 1.0), ("asynchronous", min(0.6, fire_rate))):
        shares = []
        for probability in (0.0, 0.1):
            count = next(counts)
            wrong = []
            for n in range(2):
                rng = stream(SEED, Purpose.EVALUATION_NOISE, Drawn.NOISE, n)
                seed = int(rng.integers(2**63))
                how = {"fire_rate": rate, "seed": seed, "noise": probability}
                for step in range(6, 13):
                    state = simulate(circuit, starts[n], step, "zero", **how)
                    wrong.append((state[0] != targets[n][0]).sum())
            assert (count.wrong_cells, count.cells) == (sum(wrong), 2 * 7 * 42)
            assert (count.fire_rate, count.step) == (rate, 12)
            shares.append((probability, count.wrong_cells / count.cells))
        assert found["curves"][name] == shares
        assert shares[0][1] != shares[1][1]


def test_cells_that_do_not_count_and_several_loss_channels():
    rng = np.random.default_rng(0)
    still = automaton_of(Circuit([], [], [], [12, 13, 14], (2, 4, 7)), (4, 7))
    start = rng.integers(0, 2, (1, 8, 5, 6), dtype=np.uint8)
    target = rng.integers(0, 2, (1, 2, 5, 6)).astype(float)
    target[0, :, 1:3] = np.nan
    wrong = (start[0, [4, 7]] != target[0]).any(axis=0)[[0, 3, 4]]
    streams = streams_of(0)
    scene = Scene(Grid(5, 6, "zero"), lambda *_: (start, target), streams, (3, 4), (4, 7))
    count = noise.count_wrong(still, scene, 0.0, 1)
    assert (count.wrong_cells, count.cells) == (2 * wrong.sum(), 2 * 18)


def still(monkeypatch, *overrides):
    """A circuit that does nothing, for a given rule, to be tested on a small soup."""
    shrink(monkeypatch, circuit_test, SOUP_SIDE=17, SOUP_STEPS=12)
    config = load_config(
        "game-of-life-small", ["perception.kernels=1", "update.gates=[1]", *overrides]
    )
    return wired(config, [[(Op.A, 0, 0)]])


@pytest.mark.parametrize(
    ("rule", "born", "survive"), [("B3/S23", [3], [2, 3]), ("B36/S23", [3, 6], [2, 3])]
)
def test_each_step_of_a_soup_is_compared_with_the_rule(rule, born, survive, monkeypatch):
    model = still(monkeypatch, f'task.rule="{rule}"')
    rng = stream(SEED, Purpose.EVALUATION_START, Drawn.SOUP)
    start = rng.integers(0, 2, (17, 17), dtype=np.uint8)
    rule_step = totalistic(born, survive)
    board = start
    wrong = 0
    for _ in range(12):
        board = rule_step(board)
        wrong += int((board != start).sum())
    count, first_wrong_step = circuit_test.run_soup(subject_of(model))
    assert count.wrong_cells == wrong
    assert first_wrong_step == 1


def test_a_rule_that_differs_for_few_boards(monkeypatch):
    # Wrong only for a living cell with eight neighbours: 1 of 512.
    model = still(monkeypatch, 'task.rule="B/S01234567"')
    found = run_tests(model, seed=1)
    assert found.tests["exactness"].wrong_neighborhoods == 1
    assert found.exact is False


def test_which_tests_apply():
    def chosen(config, *names):
        return [test.name for test in choose(config, names)]

    assert chosen(tiny()) == list(TESTS)
    assert chosen(load_config("lizard")) == ["exactness", "generalisation", "gates"]
    held = ["exactness", "noise", "gates"]
    assert chosen(load_config("letter-g-hold")) == held
    for config in ("game-of-life", "letter-g"):
        assert chosen(load_config(config)) == ["exactness", "gates"]
    assert chosen(tiny(), "gates") == ["exactness", "gates"]


@pytest.mark.parametrize(
    ("config", "name", "message"),
    [
        ("game-of-life", "robustness", "of life does not"),
        ("lizard", "fault", "of pattern does not"),
        ("lizard", "noise", "those that do: exactness, generalisation, gates"),
        ("flood", "noise", "would change the inputs"),
        ("letter-g-hold", "fault", "persists only from its own start"),
        ("checkerboard", "gatse", 'did you mean "gates"'),
        ("lizard task.start=zeros", "generalisation", "no start cell"),
    ],
)
def test_tests_that_do_not_apply_are_refused(config, name, message):
    shipped, *overrides = config.split()
    with pytest.raises(ConfigError, match=message):
        choose(load_config(shipped, overrides), [name])


@pytest.fixture
def small(monkeypatch):
    shrink(monkeypatch, battery, LONG_SIDE=16, LONG_STEPS=220, SQUARE_SIDE=24)


@pytest.mark.once
def test_results_follow_from_model_and_seed(small):
    model = random_model(tiny(), seed=7)
    found = run_tests(model, starts=3)
    assert run_tests(model, starts=3) == found
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()
    assert found.seed == model.config.training.seed
    other = run_tests(model, starts=3, seed=99)
    for name in TESTS:
        assert (other.tests[name] != found.tests[name]) == (name != "gates")


@pytest.mark.once
def test_a_circuit_is_tested_as_its_model_is(small):
    model = random_model(tiny(), seed=1)
    found = run_tests(model, starts=3)
    small = live_part(from_model(model))
    other = run_tests(small, config=model.config, starts=3)
    found.tests.pop("gates"), other.tests.pop("gates")
    assert other == found.model_copy(update={"training_seed": None})


def test_exactness_takes_64_starts_by_default():
    calls = []
    with working(tell=lambda news: calls.append((news.done, news.total, news.remark))):
        found = run_tests(random_model(tiny()), ["gates"])
    assert {count.starts for count in found.tests["exactness"].counts} == {64}
    assert calls == [(0, 2, "exactness"), (1, 2, "gates"), (2, 2, "")]


def test_tests_that_do_not_apply_are_named():
    found = run_tests(Model.create(load_config("letter-g")))
    assert list(found.tests) == ["exactness", "gates"]
    assert set(found.not_applicable) == set(TESTS) - {"exactness", "gates"}
