"""A rule for Golly: the next state for all 512 neighbourhoods of an automaton of one channel.

Written as a rule tree, Golly's diagram of decisions with equal nodes merged, since that is
complete: a rule table would leave cells alone that no line fits.

Source: Golly's help, "File formats", on .rule files and their @TREE section.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from difflogic import __version__
from difflogic.circuit.grid import NEIGHBORHOOD, NEIGHBORS
from difflogic.model.automaton import Automaton, live_channels
from difflogic.system.errors import CircuitError

ORDER = ("NW", "NE", "SW", "SE", "N", "W", "E", "S", "C")
"""The cells in which a tree decides, the root's first."""


def write_golly(automaton: Automaton, rule: str | None = None) -> str:
    """Return a .rule file, whose name must be `rule`: without it, as `rule_name` says.

    Raises CircuitError if Golly cannot run the automaton, or has no rules of this name.
    """
    name = rule_name(automaton) if rule is None else rule
    if not re.fullmatch("[A-Za-z0-9_-]+", name):
        raise CircuitError(
            f'"{name}" can be the name of no rule for Golly: name the file by letters, digits, - '
            "and _ alone, such as Life.rule"
        )
    values = _next_states(automaton)
    if values[0]:
        raise CircuitError(
            "a cell without living neighbours comes to life, and Golly does not compute regions "
            "that are empty, so it would run this rule wrongly: export another format"
        )
    nodes = _tree(values)
    height, width = automaton.height, automaton.width
    edge = "P" if automaton.boundary == "zero" else "T"
    lines = [
        f"@RULE {name}",
        "",
        f"The automaton {automaton.name}, written by dct {__version__}. 1 is alive: its channel "
        f"{automaton.visible[0]}.",
        f"This file must be called {name}.rule. The rule {name} runs on an endless plane, and",
        f"{name}:{edge}{width},{height} on a grid of {width} by {height} cells with "
        f"{_BEYOND[automaton.boundary]},",
        "as it was trained. In bgolly: -a RuleLoader -s FOLDER/ with the folder of this file.",
        *_asynchrony(automaton),
        "",
        "@TREE",
        "",
        "num_states=2",
        f"num_neighbors={NEIGHBORHOOD - 1}",
        f"num_nodes={len(nodes)}",
        *(" ".join(map(str, node)) for node in nodes),
    ]
    return "\n".join(lines) + "\n"


_BEYOND = {"zero": "dead cells beyond its edge", "periodic": "opposite edges joined"}


def rule_name(automaton: Automaton) -> str:
    """Return what to call an automaton's rule: Golly's begin with a capital letter."""
    return automaton.name[0].upper() + automaton.name[1:]


def _asynchrony(automaton: Automaton) -> list[str]:
    if automaton.fire_rate == 1:
        return []
    return [
        f"It was trained with a fire rate of {automaton.fire_rate:g}, and Golly updates all cells",
        "in each step: it may do something else here.",
    ]


def _next_states(automaton: Automaton) -> npt.NDArray[np.bool_]:
    """Return the next state for each neighbourhood, its bits in ORDER, the first one highest."""
    circuit = automaton.circuit
    live = np.flatnonzero(live_channels(circuit, automaton.visible))
    if len(live) > 1:
        raise CircuitError(
            f"{len(live)} channels matter to what is visible, and a rule for Golly has one: "
            "simplify the circuit, which may drop channels, or else export another format, such "
            "as c or verilog"
        )
    numbers = np.arange(2**NEIGHBORHOOD)
    inputs = np.zeros((circuit.inputs, len(numbers)), np.bool_)
    for place, neighbor in enumerate(reversed(ORDER)):
        row = NEIGHBORS.index(neighbor) * circuit.channels + live[0]
        inputs[row] = numbers >> place & 1
    return circuit.next_state(inputs)[live[0]]


def _tree(values: npt.NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return the nodes: a depth, and where to go if a cell is 0 and if it is 1.

    At depth 1 they go to a next state, else to a node of the depth below. The root comes last.
    """
    nodes: list[tuple[int, int, int]] = []
    known: dict[tuple[int, int, int], int] = {}
    level = values.astype(int).tolist()
    for depth in range(1, NEIGHBORHOOD + 1):
        merged = []
        for zero, one in zip(level[::2], level[1::2], strict=True):
            node = (depth, zero, one)
            if node not in known:
                known[node] = len(nodes)
                nodes.append(node)
            merged.append(known[node])
        level = merged
    return nodes
