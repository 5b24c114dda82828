"""Random circuits, and rules given as functions."""

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.grid import CENTER, OFFSETS, Boundary
from difflogic.circuit.xag import Xag, to_circuit
from tests.examples import any_seed


def random_circuit(
    rng: np.random.Generator, channels: int = 1, gates: int = 20, labels: Sequence[int] = ()
) -> Circuit:
    """A circuit whose gates read any earlier rows, late ones more often."""
    inputs = 9 * channels
    own = np.arange(inputs, inputs + gates)
    a, b = (np.maximum(rng.integers(0, own + 1), rng.integers(0, own + 1)) - 1 for _ in range(2))
    return Circuit(
        rng.integers(0, 16, gates),
        a.clip(0),
        b.clip(0),
        rng.integers(max(0, inputs + gates - 3 * channels), inputs + gates, channels),
        tuple(labels) or tuple(range(channels)),
    )


LABELS = st.integers(0, 5) | st.integers(0, 2**31 - 1)


@st.composite
def circuits(draw: st.DrawFn, channels: int = 2, gates: int = 24) -> Circuit:
    """Random circuits, also without gates, and with next states that are inputs."""
    count = draw(st.integers(1, channels))
    size = draw(st.integers(0, gates))
    rng = np.random.default_rng(draw(any_seed))
    # Few sources and recent gates, so that paths meet again.
    rows = 9 * count + np.arange(size)
    sources = rng.choice(9 * count, 3)
    again = draw(st.sampled_from([0.2, 0.6]))
    a, b = (
        np.where(
            rng.random(size) < again,
            rng.choice(sources, size),
            rng.integers(np.maximum(0, rows - draw(st.sampled_from([2, 99]))), rows),
        )
        for _ in range(2)
    )
    lowest = 0 if draw(st.booleans()) else max(0, 9 * count + size - 3)
    return Circuit(
        rng.integers(0, 16, size),
        a,
        b,
        rng.integers(lowest, 9 * count + size, count),
        tuple(draw(st.lists(LABELS, min_size=count, max_size=count, unique=True))),
    )


def from_function(function: Callable[[np.ndarray], int]) -> Circuit:
    """The one-channel circuit of a function of 3×3 bits, as a decision tree."""
    xag = Xag(9)
    table = [
        bool(function(np.array([case >> bit & 1 for bit in range(9)]).reshape(3, 3)))
        for case in range(512)
    ]

    def decide(bit: int, case: int) -> int:
        if bit < 0:
            return int(table[case])
        low = decide(bit - 1, case)
        high = decide(bit - 1, case | 1 << bit)
        row = xag.input(bit)
        return xag.or_(xag.and_(row, high), xag.and_(row ^ 1, low))

    return to_circuit(xag, [decide(8, 0)], (0,), [0])


def life_like(born: str, stays: str) -> Circuit:
    """The rule B…/S…."""

    def rule(board: np.ndarray) -> int:
        others = str(board.sum() - board[1, 1])
        return others in (stays if board[1, 1] else born)

    return from_function(rule)


def life_automaton(rule: str = "B3/S23", boundary: Boundary = "periodic") -> Automaton:
    """Return a one-channel automaton for a rule in Golly's B/S notation.

    Full adders count the eight neighbours; the four bits of the count decide.
    """
    born, survive = (part[1:] for part in rule.split("/"))
    xag = Xag(len(OFFSETS))
    count = xag.count_ones([xag.input(n) for n in range(len(OFFSETS)) if n != CENTER])

    alive = xag.input(CENTER)
    stays = xag.and_(alive, xag.any_of(map(int, survive), count))
    following = xag.or_(stays, xag.and_(alive ^ 1, xag.any_of(map(int, born), count)))
    circuit = to_circuit(xag, [following], (0,), [0])
    return Automaton(
        f"life-{rule.replace('/', '')}",
        circuit,
        visible=(0,),
        boundary=boundary,
        height=64,
        width=64,
        steps=100,
        fire_rate=1.0,
        start="random",
    )
