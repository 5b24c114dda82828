"""Builds the Game of Life and similar rules as a circuit, without training."""

from __future__ import annotations

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import CENTER, OFFSETS, Boundary
from difflogic.circuit.xag import Xag, to_circuit


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
