"""Proofs for every length, compared with brute force, the page's checker, and Python's integers."""

import random
from dataclasses import replace

import numpy as np
import pytest

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.specification import Machine
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.proof.answer import TIME_IS_UP
from difflogic.proof.every_length import EveryLength, every_length
from difflogic.simplification.resynthesis import Expansion
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError
from difflogic.tasks.line import ADDITION, MACHINES, PARITY
from tests.difflogic.circuit.circuits import Builder
from tests.difflogic.proof.convergence.brute import shows
from tests.marks import exhaustive

LINES = (
    "confirmed: lines of n cells show what the machine addition prints, from every input, "
    "from step n + "
)
E = 5
C = 4
W = 3


def automaton(channels, gates, outputs, visible):
    """Return an automaton on a line; gates are (op, a, b), rows numbers or (neighbour, channel)."""

    def row(wire):
        return wire if isinstance(wire, int) else wire[0] * channels + wire[1]

    ops, a, b = zip(*[(op, row(x), row(y)) for op, x, y in gates], strict=True)
    circuit = Circuit(ops, a, b, [row(each) for each in outputs], tuple(range(channels)))
    return Automaton("line", circuit, (visible,), "zero", 1, 8, 10, 1.0, "zeros")


def adder(first=Op.AND, second=Op.XOR):
    """Return the carry-save adder: two gates for any length, with the sum in channel 1."""
    gates = [(first, (E, 0), (E, 1)), (second, (C, 0), (C, 1))]
    return automaton(2, gates, [18, 19], 1)


def right_up_to_8():
    """Return the adder, with cells that count their place in channels 2 to 5; the ninth shows 0."""
    gate = Builder(6)
    both = gate(Op.AND, (E, 0), (E, 1))
    one = gate(Op.XOR, (C, 0), (C, 1))
    low, *higher = [(E, channel) for channel in (2, 3, 4, 5)]
    place = [gate(Op.NOT_A, low, low)]
    carry = low
    for bit in higher:
        place.append(gate(Op.XOR, bit, carry))
        carry = gate(Op.AND, bit, carry)
    ninth = gate(Op.AND, (C, 2), (C, 5))
    shown = gate(Op.A_AND_NOT_B, one, ninth)
    return automaton(6, gate.gates, [both, shown, *place], 1)


def is_right(made, machine, lines, delay):
    """Return whether lines of one length are right for some steps from their delay on."""
    length = len(lines[0])
    wanted = [machine.run(list(line)) for line in lines]
    return shows(made, lines, wanted, range(length - 1 + delay, 2 * length + delay))


def test_two_gates_add_numbers_of_any_length(check):
    assert every_length(adder(), ADDITION, 1).text == "proved for every length n, from step n on"
    found = every_length(adder(), ADDITION, 2)
    assert found.text == "proved for every length n, from step n + 1 on"
    confirmed, output = check(found.certificate(), checker="lines.py")
    assert confirmed, output
    assert output.startswith(LINES + "1 on, for every n; 1×n cells, zero boundary")


def test_a_late_sum_needs_a_longer_delay():
    gates = [(Op.AND, (E, 0), (E, 1)), (Op.XOR, (C, 0), (C, 1))]
    late = automaton(3, gates, [27, 28, (C, 1)], 2)
    line, step = every_length(late, ADDITION, 1).wrong
    assert step >= len(line)
    assert not shows(late, [line], ADDITION.run(line), [step])
    assert every_length(late, ADDITION, 2).proved


def test_a_circuit_that_is_right_up_to_8_cells_and_wrong_at_9():
    made = right_up_to_8()
    rng = random.Random(0)
    for length in range(1, 9):
        assert is_right(made, ADDITION, [[rng.randrange(4) for _ in range(length)]], 2)
    found = every_length(made, ADDITION, 2)
    assert not found.proved
    line, _ = found.wrong
    assert len(line) >= 9
    assert not is_right(made, ADDITION, [line], 2)
    with pytest.raises(CircuitError, match="fails on a line of"):
        found.certificate()


def test_states_that_a_machine_reaches_late_are_not_passed_over():
    """It prints a one after 16 ones in a row, and the circuit never shows one."""
    late = Machine(1, tuple((0, min(n + 1, 16)) for n in range(17)), ((0, 0),) * 16 + ((0, 1),))
    made = automaton(2, [(Op.FALSE, 0, 0)], [(C, 0), 18], 1)
    assert not is_right(made, late, [[1] * 17], 1)
    assert not every_length(made, late, 1).proved
    assert every_length(made, late, 1, Deadline.after(-1.0)).reason == TIME_IS_UP


def test_proved_circuits_are_right():
    rng = random.Random(1)
    proved = 0
    for first in (Op.AND, Op.OR, Op.B):
        for second in Op:
            made = adder(first, second)
            for machine in MACHINES.values():
                found = every_length(made, machine, 2)
                lines = [[rng.randrange(1 << machine.inputs) for _ in range(12)] for _ in range(3)]
                assert not found.proved or is_right(made, machine, lines, 2)
                proved += found.proved
                if found.wrong is not None:
                    assert not is_right(made, machine, [found.wrong[0]], 2)
    assert proved


@pytest.mark.parametrize(("look", "proved"), [(C, True), (W, False)])
def test_a_cell_on_the_left_may_hold_anything(look, proved):
    """A bit that stays 0 is known of the cell itself alone."""
    gates = [(Op.XOR, (E, 1), (C, 0)), (Op.OR, 27, (look, 2))]
    made = automaton(3, gates, [(C, 0), 28, (C, 2)], 1)
    assert every_length(made, PARITY, 1).proved == proved


@pytest.mark.parametrize("change", [{"fire_rate": 0.5}, {"boundary": "periodic"}])
def test_what_cells_do_together_proves_nothing_of_others(change):
    found = every_length(replace(adder(), **change), ADDITION, 1)
    assert not found.proved
    assert found.reason == "cells must fire together, with zeros beyond the edge"


def test_too_many_channels():
    gates = [(Op.XOR, (C, channel), (E, channel + 1)) for channel in range(6)]
    gates.append((Op.XOR, (C, 6), (E, 0)))
    found = every_length(automaton(7, gates, list(range(63, 70)), 0), PARITY, 2)
    assert isinstance(found, EveryLength)
    assert found.text == "not proved for every length: the circuit has more than 6 channels"


def encoded(machine: Machine, codes: list[int]) -> Automaton:
    """Return cells that do what the table says: input, bits of the state, and what is printed."""
    inputs = machine.inputs
    bits = max(codes).bit_length()
    size = inputs + bits + 1
    xag = Xag(9 * size)
    held = [xag.input(C * size + number) for number in range(inputs)]
    wires = [xag.input(E * size + inputs + bit) for bit in range(bits)] + held
    expand = Expansion(xag, wires, davio=False)
    after = [0] * bits
    shown = 0
    for case in range(2 ** len(wires)):
        code = case % 2**bits
        state = codes.index(code) if code in codes else 0
        number = case >> bits
        new = codes[machine.moves[state][number]]
        after = [table | (new >> bit & 1) << case for bit, table in enumerate(after)]
        shown |= machine.prints[state][number] << case
    outputs = [*held, *map(expand, after), expand(shown)]
    circuit = to_circuit(xag, outputs, tuple(range(size)), range(size))
    return Automaton("line", circuit, (size - 1,), "zero", 1, 8, 10, 1.0, "zeros")


def drawn_machine(seed: int) -> tuple[Machine, Automaton]:
    """Return a machine of 2 to 8 states, and cells that do what it says."""
    rng = np.random.default_rng(seed)
    states = 2 + seed % 7
    inputs = 1 + (states < 5 and seed % 2)
    shape = (states, 2**inputs)
    moves = rng.integers(0, states, shape)
    prints = rng.integers(0, 2, shape)
    machine = Machine(inputs, tuple(map(tuple, moves.tolist())), tuple(map(tuple, prints.tolist())))
    bits = (states - 1).bit_length()
    codes = [0, *(1 + rng.permutation(2**bits - 1)[: states - 1]).tolist()]
    return machine, encoded(machine, codes)


@pytest.mark.thorough
@pytest.mark.parametrize("seeds", [range(14), exhaustive(range(88))])
def test_cells_that_do_what_a_table_says_are_proved(check, seeds):
    for seed in seeds:
        machine, made = drawn_machine(seed)
        found = every_length(made, machine, 1 + seed % 3)
        assert found.proved, seed
        rng = np.random.default_rng(seed)
        lines = rng.integers(0, 2**machine.inputs, (3, 9)).tolist()
        assert is_right(made, machine, lines, 1 + seed % 3)
        if seed < 7:
            confirmed, output = check(found.certificate(), checker="lines.py")
            assert confirmed, output
