"""Joined circuits: what they show is what their parts show alone, by a plain simulator."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from difflogic.circuit.automaton import Automaton, Blocks
from difflogic.circuit.gates import Op
from difflogic.circuit.regions import alone
from difflogic.config import load_config
from difflogic.formats import by_name
from difflogic.formats.circuit_file import parse, read_circuit, write_circuit
from difflogic.library.conditions import Conditions, Rectangle
from difflogic.library.groups import Claims
from difflogic.library.joining import join
from difflogic.library.painting import Painting, read_painting
from difflogic.library.proving import certify
from difflogic.library.reporting import report
from difflogic.library.simplifying import Simplified
from difflogic.library.simulating import simulate
from difflogic.proof.answer import Assurance
from difflogic.proof.verdict import Verdict
from difflogic.system.array_types import Bits
from difflogic.system.errors import CircuitError, ConfigError
from tests.difflogic.circuit.circuits import automaton, circuit_of, step
from tests.difflogic.proof.convergence.brute import all_states, successors
from tests.paths import GALLERY

HOUSE = GALLERY / "regions.json"
# Rows that differ, columns that differ, and both at once; each looks up or to the left only.
TILES = {"rows": [(Op.NOT_A, 1, 1)], "columns": [(Op.NOT_A, 3, 3)], "corners": [(Op.NOR, 1, 3)]}
COLOURS = ((250, 0, 0), (0, 0, 0), (0, 250, 0), (0, 0, 250))


def tile(name: str, **changes: Any) -> Automaton:
    usual = {"name": name, "boundary": "zero", "palette": COLOURS[:2]}
    return automaton(circuit_of(TILES[name], [9]), **usual | changes)


PARTS = [tile("rows"), tile("columns", palette=COLOURS[1:3]), tile("corners")]


@cache
def three() -> Simplified:
    return join(PARTS)


def run(made: Automaton, state: Bits, steps: int, rng: np.random.Generator) -> Bits:
    """Take steps, by looking each gate up in its truth table."""
    for _ in range(steps):
        fire = rng.random(state.shape[1:]) < made.fire_rate
        state = step(made.circuit, state, made.boundary, fire)
    return state


def colours(made: Automaton, state: Bits) -> np.ndarray:
    """Return the colour of each cell."""
    bits = state[list(made.visible_rows)].astype(int)
    numbers = sum(bit << place for place, bit in enumerate(bits))
    return np.array(made.palette)[numbers]


def painted(made: Automaton, state: Bits, mask: np.ndarray) -> Bits:
    state = state.copy()
    for place in made.held_rows:
        state[place] = mask >> made.held.index(made.circuit.labels[place]) & 1
    return state


def wrong(made: Automaton, parts: Sequence[Automaton], seed: int, most: int = 9) -> int:
    """Run it from a random start, wound it, and repaint it; return how many cells are wrong."""
    rng = np.random.default_rng(seed)
    size = tuple(rng.integers(1, most + 1, 2))
    steps = int((2 * sum(size) + 8) / made.fire_rate**2) + 20 * (made.fire_rate < 1)
    pictures = [
        colours(part, run(part, np.zeros((part.circuit.channels, *size), np.uint8), steps, rng))
        for part in (replace(each, fire_rate=1.0) for each in parts)
    ]
    mask = rng.integers(0, len(parts), size)
    state = rng.integers(0, 2, (made.circuit.channels, *size)).astype(np.uint8)
    found = 0
    state = run(made, painted(made, state, mask), steps, rng)
    for _ in range(2):
        wanted = np.take_along_axis(np.stack(pictures), mask[None, ..., None], 0)[0]
        found += int((colours(made, state) != wanted).any(axis=-1).sum())
        hurt = [place for place in range(len(state)) if place not in made.held_rows]
        y, x = (int(rng.integers(0, side)) for side in size)
        state[hurt, y : y + 3, x : x + 3] = rng.integers(
            0, 2, state[hurt, y : y + 3, x : x + 3].shape
        )
        mask = rng.integers(0, len(parts), size)
        state = run(made, painted(made, state, mask), steps, rng)
    return found


@pytest.mark.parametrize("rate", [1.0, 0.6])
def test_each_cell_shows_its_part(rate: float) -> None:
    made = join([replace(each, fire_rate=rate) for each in PARTS]).automaton
    assert not sum(wrong(made, PARTS, seed) for seed in range(8))


@pytest.mark.thorough
def test_the_house_shows_its_parts() -> None:
    made = read_circuit(HOUSE)
    parts = [alone(made, number) for number in range(4)]
    assert not sum(wrong(made, parts, seed, 24) for seed in range(3))


def test_a_repainted_cell_is_right_after_a_step() -> None:
    made = three().automaton
    rng = np.random.default_rng(0)
    state = run(made, np.zeros((made.circuit.channels, 6, 7), np.uint8), 20, rng)
    mask = rng.integers(0, 3, (6, 7))
    shown = run(made, painted(made, state, mask), 1, rng)
    assert_array_equal(
        colours(made, shown), colours(made, run(made, painted(made, state, mask), 30, rng))
    )


def asked(made: Automaton, *claims: Claims) -> Assurance:
    """Return what is proved of a joined circuit."""
    found = certify(made, *claims, time_limit=2)
    assert found.proved == (found.assurance.verdict is Verdict.proved)
    return found.assurance


def test_what_does_not_settle_is_not_proved() -> None:
    """Circuits of two channels, drawn; those that have two ends, or none, by all states."""
    rng = np.random.default_rng(0)
    tried = 0
    while tried < 10:
        gates = [(int(rng.integers(16)), *rng.integers(0, 18 + n, 2).tolist()) for n in range(5)]
        drawn = circuit_of(gates, rng.integers(18, 23, 2).tolist())
        after = successors(drawn, 2, 2, "zero")
        ends = np.arange(256)
        for _ in range(256):
            ends = after[ends]
        shown = all_states(2, 2, 2)[np.unique(ends), 0].reshape(-1, 4)
        if len(np.unique(shown, axis=0)) == 1:
            continue
        tried += 1
        part = automaton(drawn, name="drawn", visible=(0,), boundary="zero", height=2, width=2)
        made = replace(join([tile("rows"), part]).automaton, height=2, width=2)
        for claims in (Claims(), Claims(all_sizes=True)):
            found = asked(made, claims)
            assert found.verdict is Verdict.open
            assert "part 2 (drawn)" in found.text


def test_a_picture_has_the_proof_of_its_own_start() -> None:
    grows = automaton(
        circuit_of([(Op.OR, 3, 4)], [9]), name="grows", boundary="zero", start="center"
    )
    made = join([tile("rows"), grows]).automaton
    found = asked(made)
    assert found.verdict is Verdict.proved
    assert "from its own start, center" in found.text
    assert "from every start without part 2 (grows)" in found.text
    assert not certify(made, Claims(all_sizes=True)).proved
    assert not certify(made, Claims(sizes=[(3, 3)])).proved
    assert not certify(replace(made, fire_rate=0.5), time_limit=2).proved


def test_a_proof_of_a_smaller_part_is_no_certificate(tmp_path: Path) -> None:
    """Sets of values do not show that a hidden bit becomes one, and the smaller circuit does."""
    ones = automaton(circuit_of([(Op.TRUE, 0, 0)], [9]), boundary="zero", palette=COLOURS[:2])
    made = join([tile("rows"), ones]).automaton
    gates = [*zip(made.circuit.op, made.circuit.a, made.circuit.b, strict=True)]
    gates += [(Op.AND, 14, 17), (Op.A_AND_NOT_B, 17, 14), (Op.NAND, 29, 30)]
    found = certify(made.with_circuit(circuit_of(gates, [12, 27, 31])))
    assert found.proved
    with pytest.raises(CircuitError, match="simplify the joined one"):
        found.save(tmp_path / "proof.json")


def test_a_part_that_reads_what_is_painted_is_none() -> None:
    made = three().automaton
    circuit = made.circuit
    place = circuit.channels - 1
    for row in (4 * circuit.channels, circuit.channels, 4 * circuit.channels + 2):
        outputs = circuit.outputs.copy()
        gates = [*zip(*(each.tolist() for each in (circuit.op, circuit.a, circuit.b)), strict=True)]
        gates.append((int(Op.XOR), int(outputs[place]), row))
        outputs[place] = circuit.inputs + len(gates) - 1
        other = made.with_circuit(circuit_of(gates, outputs.tolist(), circuit.labels))
        with pytest.raises(CircuitError, match="which is no part's"):
            alone(other, 0)
        assert asked(other).verdict is Verdict.open


def test_the_file_says_what_is_held(tmp_path: Path) -> None:
    made = three().automaton
    three().save(tmp_path / "made.json")
    again = read_circuit(tmp_path / "made.json")
    assert (again.held, again.parts) == ((0, 1), tuple(TILES)) == (made.held, made.parts)
    data = json.loads((tmp_path / "made.json").read_text())
    for change, reason in (
        ({"held": [0, 5]}, "channel 5 stays"),
        ({"held": [0]}, "3 parts need more"),
        ({"parts": ["a"] * 17}, '"parts"'),
        ({"parts": [""]}, '"parts"'),
    ):
        with pytest.raises(CircuitError, match=reason):
            parse(data | change, "made.json")
    assert "held" not in write_circuit(tile("rows"))


WIDE = automaton(circuit_of([], [n for n in range(600)]), visible=(0,), boundary="zero")


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([tile("rows")], "join 2 to 16"),
        ([tile("rows")] * 17, "join 2 to 16"),
        ([tile("rows"), tile("rows", boundary="periodic")], "differ in boundary"),
        ([tile("rows"), tile("rows", fire_rate=0.5)], "differ in fire rate"),
        ([tile("rows", start="zeros"), tile("rows", start="center")], "from one cell"),
        ([WIDE, WIDE], "1200 channels"),
        ([tile("rows", palette=((n, 0, 0), (n, 9, 0))) for n in range(9)], "18 colours"),
        ([tile("rows"), replace(WIDE, blocks=Blocks(1, 2, 0, 0))], "by blocks"),
        ([tile("rows"), replace(WIDE, visible=(0, 1, 2, 3))], "no palette"),
        ([tile("rows"), HOUSE], "join its parts"),
    ],
)
def test_what_cannot_be_joined(parts: list[Any], reason: str) -> None:
    with pytest.raises((CircuitError, ConfigError), match=reason):
        join(parts)


def test_golly_refuses_what_grows_from_nothing() -> None:
    with pytest.raises(CircuitError, match="Golly skips empty regions"):
        by_name("golly").render(join([tile("rows"), tile("columns")]).automaton)


def test_paintings(tmp_path: Path) -> None:
    from PIL import Image

    made = three().automaton
    numbers = np.array([[0, 0, 1], [2, 0, 1]])
    np.save(tmp_path / "a.npy", numbers)
    shades = np.array([[9, 9, 9], [200, 0, 0], [0, 0, 200]], np.uint8)
    Image.fromarray(shades[numbers]).save(tmp_path / "e.png")
    for paint in (tmp_path / "a.npy", tmp_path / "e.png", numbers):
        assert_array_equal(read_painting(Painting(paint), made), numbers)
    other = Painting(tmp_path / "e.png", ("#0000c8", "rgb(9, 9, 9)", "#c80000"))
    assert_array_equal(read_painting(other, made), np.array([1, 2, 0])[numbers])
    end = simulate(made, Conditions(paint=tmp_path / "a.npy", steps=9))
    assert (end.geometry.height, end.geometry.width) == numbers.shape
    with pytest.raises(ConfigError, match=r'e\.png: --regions: "bla" is no colour'):
        read_painting(Painting(tmp_path / "e.png", ("bla",)), made)
    held = end.grid.bits(made.held_rows)
    assert_array_equal(held[0] + 2 * held[1], numbers)


@pytest.mark.parametrize(
    ("paint", "more", "reason"),
    [
        (np.full((8, 8), 3), {}, "has 1 number, such as 3, and the parts are 0 to 2"),
        (np.array([[0.5]]), {}, "parts are 0 to 2"),
        (np.array([0, 1]), {}, "rows, columns"),
        (np.array([[0, 1]]), {"size": (2, 2)}, "give --size 1x2"),
        ("missing.png", {}, "missing.png: cannot be read"),
        (None, {"regions": ("#fff",)}, "give --paint"),
    ],
)
def test_what_cannot_be_painted(paint: Any, more: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        simulate(three().automaton, Conditions(paint=paint, **more))


def test_what_needs_or_forbids_held_channels() -> None:
    with pytest.raises(ConfigError, match="dct join"):
        simulate(tile("rows"), Conditions(paint=np.zeros((3, 3))))
    made = three().automaton
    with pytest.raises(ConfigError, match="--damage"):
        certify(made, Claims(damage=1))
    fits = load_config("flood", ["automaton.channels=4", "update.gates=[32, 16, 8, 4]"])
    with pytest.raises(ConfigError, match="--task"):
        certify(join([tile("rows"), tile("columns")]).automaton, task=fits)


@pytest.mark.parametrize("start", ["random", "center", "zeros"])
def test_without_a_painting_everything_is_the_first_part(start: str) -> None:
    made = three().automaton
    end = simulate(made, Conditions(start=start, steps=0, size=(5, 5)))
    assert not end.grid.bits(made.held_rows).any()


def test_damage_spares_what_is_painted() -> None:
    made = three().automaton
    mask = np.full((5, 5), 2)
    conditions = Conditions(paint=mask, steps=1, damage=[Rectangle((1,), 0, 0, 5, 5)])
    bits = simulate(made, conditions).grid.bits()
    assert bits[made.held_rows[1]].all()
    assert bits.sum() == 25


def test_the_page_shows_the_painting() -> None:
    page = report(three().automaton, painting=Painting(np.array([[0, 1, 2]]))).page
    assert '"painted":["012"]' in page
    assert all(f"<span>{name}</span>" in page for name in TILES)
