"""Symmetries and other properties, compared with 3×3 boards turned by NumPy."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.inspection import symmetry
from difflogic.inspection.symmetry import examine
from tests.difflogic.circuit.circuits import all_cases
from tests.difflogic.circuit.rules import circuits, from_function, life_like, random_circuit
from tests.examples import any_seed, examples

TURNS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rotation by 90°": lambda board: np.rot90(board, -1),
    "rotation by 180°": lambda board: np.rot90(board, 2),
    "rotation by 270°": lambda board: np.rot90(board, 1),
    "reflection left to right": lambda board: board[:, ::-1],
    "reflection top to bottom": lambda board: board[::-1],
    "reflection in the diagonal": lambda board: board.swapaxes(0, 1),
    "reflection in the antidiagonal": lambda board: board[::-1, ::-1].swapaxes(0, 1),
}


def holds(circuit: Circuit, cases: np.ndarray) -> dict[str, bool]:
    """Return which properties hold in these cases (9·C, n)."""
    after = circuit.next_state(cases)
    found = {}
    for name, turn in TURNS.items():
        turned = turn(cases.reshape(3, 3, circuit.channels, -1)).reshape(cases.shape)
        found[name] = bool((circuit.next_state(turned) == after).all())
    zero = circuit.next_state(np.zeros((circuit.inputs, 1), bool))
    found[symmetry.QUIESCENT] = not zero.any()
    return found


def answers(circuit: Circuit) -> dict[str, str]:
    rule = examine(circuit, 20)
    return {**rule.symmetries, **rule.properties}


def check(circuit: Circuit, cases: np.ndarray) -> None:
    found = answers(circuit)
    for name, value in holds(circuit, cases).items():
        assert found[name] == ("yes" if value else "no"), name


def test_the_seven_symmetries_of_the_square() -> None:
    assert set(symmetry.SQUARE_SYMMETRIES) == set(TURNS)
    board = np.arange(9).reshape(3, 3)
    for name, matrix in symmetry.SQUARE_SYMMETRIES.items():
        moved = np.empty(9, int)
        moved[symmetry.turned(matrix)] = board.ravel()
        assert moved.tolist() == TURNS[name](board).ravel().tolist()


@examples(30)
@given(circuits(channels=1, gates=8))
def test_all_cases_of_one_channel(circuit: Circuit) -> None:
    check(circuit, all_cases(9))


@pytest.mark.once
@given(any_seed, st.sampled_from(sorted(TURNS)))
@settings(max_examples=8)
def test_symmetric_rules(seed: int, name: str) -> None:
    """Draw random rules with one symmetry."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, 512)

    def rule(board: np.ndarray) -> int:
        orbit = [board]
        for _ in range(3):
            orbit.append(TURNS[name](orbit[-1]))
        return bits[min(int("".join(map(str, b.ravel())), 2) for b in orbit)]

    circuit = from_function(rule)
    assert answers(circuit)[name] == "yes"
    check(circuit, all_cases(9))


@pytest.mark.parametrize(
    ("born", "stays"), [("36", "23"), ("", ""), ("5678", "45678"), ("1357", "02468")]
)
def test_notation(born: str, stays: str) -> None:
    circuit = life_like(born, stays)
    rule = examine(circuit, 20)
    assert rule.notation == f"B{''.join(sorted(born))}/S{''.join(sorted(stays))}"
    assert {*rule.symmetries.values()} == {"yes"}
    check(circuit, all_cases(9))


def test_no_notation() -> None:
    rule = examine(from_function(lambda board: int(board[0, 0])), 20)
    assert rule.notation is None
    assert examine(random_circuit(np.random.default_rng(0), channels=2), 20).notation is None


@examples(30)
@given(circuits(channels=1, gates=6))
def test_linear(circuit: Circuit) -> None:
    cases = all_cases(9)
    values = circuit.next_state(cases)[0]
    found = answers(circuit)
    numbers = np.arange(512)
    sums = values[numbers[:, None] ^ numbers] == values[:, None] ^ values ^ values[0]
    assert found[symmetry.AFFINE] == ("yes" if sums.all() else "no")
    assert found[symmetry.LINEAR_RULE] == ("yes" if sums.all() and not values[0] else "no")


def wide(channels: int, turn: bool) -> Circuit:
    """Return a rule that is 1 if all outer cells are; `turn` adds an input at one corner."""
    xag = Xag(9 * channels)
    outputs = []
    for channel in range(channels):
        every = 1
        for row in range(9 * channels):
            if row // channels != 4:
                every = xag.and_(every, xag.input(row) ^ (row % channels == channel))
        outputs.append(xag.or_(every, xag.input(0)) if turn else every)
    return to_circuit(xag, outputs, tuple(range(channels)), range(channels))


def test_many_inputs() -> None:
    found = examine(wide(6, turn=False), 30)
    assert {*found.symmetries.values()} == {"yes"}
    cut = answers(wide(6, turn=True))
    assert [name for name in TURNS if cut[name] == "yes"] == ["reflection in the diagonal"]


def test_no_time_leaves_questions_open() -> None:
    rule = examine(life_like("3", "23"), 0)
    assert {*rule.symmetries.values()} == {"not decided"}
    assert rule.properties[symmetry.AFFINE] == "not decided"
