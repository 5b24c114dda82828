"""The top level in Icarus Verilog: steps, damage and read-out."""

from dataclasses import replace

import numpy as np
import pytest

from difflogic.silicon.synthesis import ACTS, _bench
from difflogic.silicon.write_top import firing_eighths, first_ring, hexadecimal, write_top
from tests.difflogic.circuit.circuits import step
from tests.difflogic.formats import examples
from tests.difflogic.formats.tools import call
from tests.marks import needs


def rule30(ring):
    return np.roll(ring, 1) ^ (ring | np.roll(ring, -1))


def expected(automaton, start, damaged, acts, seed):
    """The bits at serial_out before each act, by NumPy; serial_in gets the same bits."""
    state = start.copy()
    shown = list(automaton.visible_rows)
    bits = []
    ring = first_ring(start[0].size, seed)
    cells = np.arange(start[0].size)
    for act in acts:
        bits.append(state[shown[0]].flat[0])
        if act == "reset":
            state = start.copy()
            ring = first_ring(start[0].size, seed)
        elif act == "damage":
            state = state * (1 - damaged)
        elif act == "shift":
            state[shown] = np.roll(state[shown].ravel(), -1).reshape(state[shown].shape)
        else:
            third = len(ring) // 3
            number = 4 * ring[cells] + 2 * ring[(cells + third) % len(ring)]
            number += ring[(cells + 2 * len(ring) // 3) % len(ring)]
            fire = (number < firing_eighths(automaton.fire_rate)).reshape(start[0].shape)
            state = step(automaton.circuit, state, automaton.boundary, fire)
            ring = rule30(ring)
    return bits


@pytest.mark.once
@needs("iverilog", "vvp")
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (5, 4)])
def test_pins_do_their_acts(size, tmp_path):
    rng = np.random.default_rng(3)
    for number, automaton in enumerate([*examples.wicked(), examples.life()]):
        labels = automaton.circuit.labels
        visible = labels[-1], *labels[:-1][:1]
        automaton = replace(
            automaton, name=f"t{number}", height=size[0], width=size[1], visible=visible
        )
        start = rng.integers(0, 2, (len(labels), *size)).astype(np.uint8)
        damaged = rng.integers(0, 2, size).astype(np.uint8)
        acts = ["reset", *rng.choice([*ACTS, "run", "shift", "shift"], 60).tolist()]
        top = write_top(automaton, start, damaged, seed=number)
        (tmp_path / "top.v").write_text(top)
        (tmp_path / "bench.v").write_text(_bench(automaton, acts))
        call("iverilog", "-g2001", "-o", "b", "-s", "bench", "top.v", "bench.v", cwd=tmp_path)
        bits = call("vvp", "-n", "b", cwd=tmp_path)
        right = expected(automaton, start, damaged, acts, number)
        assert bits[1:] == "".join(map(str, right[1:])), number


def test_the_lowest_bit_of_a_number_is_the_first():
    bits = np.random.default_rng(0).integers(0, 2, (3, 5, 7))
    number = int(hexadecimal(bits), 16)
    assert [number >> place & 1 for place in range(bits.size)] == bits.ravel().tolist()


def test_random_bits_continue_and_fire_rates_are_rounded():
    assert [firing_eighths(rate) for rate in (1.0, 0.99, 0.6, 0.01)] == [8, 7, 5, 1]
    for cells in (1, 63, 400):
        ring = first_ring(cells, 0)
        ones = []
        assert len(ring) % 3
        for _ in range(400):
            ring = rule30(ring)
            ones.append(ring.mean())
        assert 0.45 < np.mean(ones) < 0.55
