"""`dct inspect`: prints a circuit as equations, with its properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.failures import in_one_line
from cli.options import AsJson, SourceOperand
from cli.progress import show_progress
from cli.terminal import output
from difflogic.system.declaration import Opt, SecondsOption, Unsimplified

if TYPE_CHECKING:
    from difflogic.circuit.automaton import Automaton
    from difflogic.inspection import Inspection
    from difflogic.inspection.symmetry import Certainty

MOST_LISTED = 24
"""Equations and channels that are printed; JSON has all."""


def inspect(
    source: SourceOperand,
    unsimplified: Unsimplified = False,
    time_limit: Annotated[
        SecondsOption | None, Opt("Time limit for the symmetries", shown="10")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print a circuit as equations, with the properties of its rule.

    n0' is the next state of channel 0. C0 is channel 0 of the cell, and NW0 N0 NE0 W0 E0 SW0 S0 SE0
    are channel 0 of its neighbours. The circuit of a run or a model is simplified first,
    dropping channels that no visible one depends on. A circuit file is taken as is.
    """
    import difflogic

    loaded = difflogic.load(source)
    with show_progress(stop_at_once=True):
        found = difflogic.inspect(loaded, unsimplified=unsimplified, time_limit=time_limit)
    if as_json:
        output.show_json(_data(found, loaded.automaton))
        return
    typer.echo(_text(found, loaded.automaton), nl=False)


def _text(found: Inspection, trained: Automaton) -> str:
    from difflogic.circuit.gates import SYMBOLS

    automaton = found.automaton
    circuit = found.automaton.circuit
    data = _data(found, trained)
    widest = int(circuit.fan_out.argmax())
    meanings = {label: in_one_line(name) for label, name in _meanings(automaton).items()}
    return output.page(
        "inspect",
        found=found,
        automaton=automaton,
        circuit=circuit,
        trained=trained,
        limit=MOST_LISTED,
        symbols=SYMBOLS,
        data=data,
        meanings=meanings,
        cells=[
            f"  {label}{', ' + meanings[label] if meanings else ''}: {' '.join(read) or 'none'}"
            for label, read in data["reads"].items()
        ],
        symmetries=_answers(found.rule.symmetries),
        properties=_answers(found.rule.properties),
        widest=circuit.input_name(widest) if widest < circuit.inputs else "a gate",
    )


def _answers(decisions: Mapping[str, Certainty]) -> str:
    """Return a line for each answer, with what it is given to."""
    lines = ""
    for answer in ("yes", "no", "not decided"):
        given = [name for name, each in decisions.items() if each == answer]
        if given:
            proof = " (proved)" if answer == "yes" else ""
            lines += f"  {answer}: {', '.join(given)}{proof}\n"
    return lines


def _meanings(automaton: Automaton) -> dict[str, str]:
    """Return what the channels of a rule learned from examples mean, by label."""
    from difflogic.examples.encoding import Encoding

    if automaton.encoding is None:
        return {}
    labels = automaton.circuit.labels
    names = Encoding(**automaton.encoding).named(labels)
    return {str(label): name for label, name in zip(labels, names, strict=True)}


def _cells(found: Inspection) -> dict[str, list[str]]:
    """Return the neighbours that any next state reads, by channel."""
    from difflogic.circuit.grid import NEIGHBORS

    return {
        str(label): [name for name, read in zip(NEIGHBORS, column, strict=True) if read]
        for label, column in zip(found.automaton.circuit.labels, found.reads.T, strict=True)
    }


def _data(found: Inspection, trained: Automaton) -> dict[str, Any]:
    from difflogic.system.json_values import chosen

    automaton = found.automaton
    circuit = automaton.circuit
    fan_out = circuit.fan_out
    return {
        **chosen(automaton, "name", "boundary", "fire_rate"),
        "visible_channels": automaton.visible,
        "state_channels": [label for label in circuit.labels if label not in automaton.visible],
        "meanings": _meanings(automaton),
        "trained": chosen(trained.circuit, "gates", "depth", "channels"),
        "circuit": chosen(circuit, "gates", "depth", "channels"),
        "reversible": found.reversal is not None,
        "ops": {op.name: count for op, count in circuit.op_counts().items()},
        "inputs": circuit.inputs,
        "inputs_read": [circuit.input_name(row) for row in circuit.read_inputs],
        "reads": _cells(found),
        "fan_out": {"max": fan_out.max(), "mean": fan_out[fan_out > 0].mean()},
        "equations": [
            {"target": line.target, "channel": line.channel, "text": text}
            for line, text in zip(found.equations.lines, found.equations.texts, strict=True)
        ],
        "rule": found.rule,
    }
