"""Tiles: guides and targets against plain definitions, lessons, whole runs, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.experiment.searching import Trainer
from difflogic.library.groups import Claims, PictureOptions
from difflogic.library.picture_experiment import picture
from difflogic.library.proving import certify
from difflogic.library.simplifying import simplify
from difflogic.pictures.places import ring
from difflogic.system.errors import ConfigError
from difflogic.tasks import Task, make_task
from tests.difflogic.proof.convergence.brute import step_all
from tests.difflogic.training.tiny import trained

CONFIGS = ("bricks", "diagonals", "hexagons")


def task_of(name: str, *overrides: str) -> Task:
    return make_task(load_config(name, overrides))


@pytest.mark.parametrize("period", range(1, 33))
def test_a_ring_tells_places_apart_by_one_gate(period: int) -> None:
    codes = [tuple(code) for code in ring(period).T.tolist()]
    assert len({*codes}) == period
    before = [(0,) * len(codes[0]), *codes]
    news = {}
    for last, code in zip(before, [*codes, codes[0]], strict=True):
        assert code[1:] == last[:-1]
        if period > 1:
            assert news.setdefault(last[-2:], code[0]) == code[0]  # of two bits alone


@pytest.mark.parametrize("name", CONFIGS)
def test_the_target_is_the_tile_again_and_again(name: str) -> None:
    task = task_of(name)
    signs = ".#" if name != "diagonals" else "012"
    rows = [[signs.index(sign) for sign in row] for row in task.section.tile.split()]
    assert task.height % len(rows)
    assert task.width % len(rows[0])
    for height, width in ((1, 1), (9, 4), (5, 17)):
        target = task.lasting_target_on(height, width)
        shown = (target << np.arange(len(target))[:, None, None]).sum(axis=0)
        for y, x in np.ndindex(height, width):
            assert shown[y, x] == rows[y % len(rows)][x % len(rows[0])]


def test_lessons_count_cells_whose_neighbours_are_right() -> None:
    (lessons,) = task_of("diagonals").stages
    whole = lessons.whole.known
    counted = 0
    for seed in range(4):
        start, target = lessons.draw(np.random.default_rng(seed))
        right = np.pad((start[:6] == whole).all(axis=0), ((1, 0), (1, 0)), constant_values=True)
        counts = ~np.isnan(target)
        assert (counts == counts[0]).all()
        assert (target[counts] == whole[counts]).all()
        for y, x in np.argwhere(counts[0]):
            assert right[y : y + 2, x : x + 2].ravel()[:3].all()
        counted += counts[0].mean()
    assert counted > 0.5


@pytest.mark.once
@pytest.mark.parametrize(("name", "rate"), [("bricks", 1.0), ("diagonals", 0.6)])
def test_a_run_ends_with_a_proof_that_simplifying_keeps(name: str, rate: float) -> None:
    with Trainer(load_config(name, [f"automaton.fire_rate={rate}", "automaton.steps=80"])) as made:
        while not made.done:
            made.step()
    assert made.exact_epoch is not None
    found = simplify(made.result)
    proof = certify(found.automaton, Claims([(1, 1), (5, 3)], all_sizes=True), task=name)
    assert proof.proved
    circuit = found.automaton.circuit
    task = task_of(name)
    rng = np.random.default_rng(0)
    for grid in ((1, 1), (3, 16), (14, 5)):
        state = rng.integers(0, 2, (1, circuit.channels, *grid)).astype(np.uint8)
        fire = np.ones(grid, bool)
        for _ in range(sum(grid) * 2 if rate == 1 else sum(grid) * 30):
            fire = rng.random(grid) < rate
            state = np.where(fire, step_all(circuit, state, "zero"), state)
        shown = state[0, list(found.automaton.visible_rows)]
        assert (shown == task.lasting_target_on(*grid)).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"heal": True}, "leave out --hold, --heal"),
        ({"channels": 9}, "leave out --hold, --heal"),
        ({"target": "{}/drawn.txt", "asynchronous": True}, "need 24 bits for a place"),
        ({"target": None}, "name its file by --target"),
        ({"target": "{}/wide.txt"}, "1×33 cells are more than the 32×32 of a tile"),
        ({"tile": False, "asynchronous": True}, "use it with --tile"),
    ],
)
def test_what_the_command_refuses(options: dict, words: str, tmp_path: Path) -> None:
    # One cell differs, or a tile of one cell would do.
    (tmp_path / "wide.txt").write_text(32 * "#" + ".")
    (tmp_path / "drawn.txt").write_text(23 * (24 * "#" + "\n") + 23 * "#" + ".")
    given = {"target": "letter-g", "tile": True} | options
    if isinstance(given["target"], str):
        given["target"] = given["target"].format(tmp_path)
    with pytest.raises(ConfigError, match=words):
        picture(None, PictureOptions(**given), resumed=False)


@pytest.mark.parametrize("rows", [".#", "0123\n2301\n1032", "f0\n0f", "#" * 32])
def test_the_command_chooses_a_grid_that_cuts_each_tile(rows: str, tmp_path: Path) -> None:
    (tmp_path / "tile.txt").write_text(rows)
    options = PictureOptions(target=str(tmp_path / "tile.txt"), tile=True, asynchronous=True)
    made = picture(None, options, resumed=False)
    config = load_config(made.default, made.overrides)
    task = make_task(config)
    sides = len(rows.split()), len(rows.split()[0])
    for side, own in zip(sides, (task.height, task.width), strict=True):
        assert own >= 13
        assert side == 1 or own % side
    assert made.name == "tile-tile"
    assert config.automaton.fire_rate == 0.6


@pytest.mark.parametrize("sides", [(3, 9), (1, 12), (9, 3), (4, 16)])
def test_counted_tiles_are_corrected_and_proved(sides: tuple[int, int], tmp_path: Path) -> None:
    rows = np.random.default_rng(3).integers(0, 2, sides)
    (tmp_path / "tile.txt").write_text("\n".join("".join(map(str, row)) for row in rows.tolist()))
    options = PictureOptions(target=str(tmp_path / "tile.txt"), tile=True)
    made = picture(None, options, resumed=False)
    few = ["automaton.places=true", "training.epochs=3"]
    trainer, _ = trained(load_config(made.default, [*made.overrides, *few]))
    assert trainer.exact_epoch == 3
    assert trainer.correction.bits > 0
    assert certify(trainer.result, Claims([(2, 7)], all_sizes=True)).proved
