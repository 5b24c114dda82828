"""An inspected circuit as data, for `dct inspect --json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from difflogic.circuit.grid import NEIGHBORS

if TYPE_CHECKING:
    from cli.terminal.inspection import Signs
    from difflogic.inspection import Inspection
    from difflogic.inspection.equations import Equations
    from difflogic.inspection.periods import Period
    from difflogic.model.automaton import Automaton
    from difflogic.proof.decision import Decision


def data(found: Inspection, trained: Automaton, signs: Signs) -> dict[str, Any]:
    """Return everything; bits of pictures stand row by row, one list for each visible channel."""
    automaton, circuit, fan_out = found.automaton, found.automaton.circuit, found.wires.fan_out
    return {
        "name": automaton.name,
        "boundary": automaton.boundary,
        "fire_rate": automaton.fire_rate,
        "visible_channels": list(automaton.visible),
        "state_channels": [n for n in circuit.labels if n not in automaton.visible],
        "trained": _size(trained),
        "circuit": _size(automaton),
        "ops": {op.name: count for op, count in found.ops.items()},
        "inputs": circuit.inputs,
        "inputs_read": [circuit.input_name(row) for row in circuit.read_inputs],
        "reads": {
            str(label): [
                name for name, read in zip(NEIGHBORS, found.wires.reads[:, c], strict=True) if read
            ]
            for c, label in enumerate(circuit.labels)
        },
        "fan_out": {"max": int(fan_out.max()), "mean": float(fan_out[fan_out > 0].mean())},
        "equations": equations_data(found.equations, signs),
        "symmetries": _decisions(found.rule.symmetries),
        "properties": _decisions(found.rule.properties),
        "outer_totalistic": found.rule.notation,
        "totalistic": found.rule.totalistic,
        "fixed_points": {
            "periods_up_to": found.fixed_points.bound,
            "complete": found.fixed_points.stopped is None,
            "stopped": found.fixed_points.stopped,
            "pictures": [
                {**_period(picture.period), "bits": picture.bits.tolist()}
                for picture in found.fixed_points.pictures
            ],
        },
        "settling": _settling(found),
    }


def equations_data(equations: Equations, signs: Signs) -> list[dict[str, Any]]:
    """Return the equations in an order in which they can be evaluated."""
    return [
        {"target": line.target, "channel": line.channel, "text": signs(equations.text(line))}
        for line in equations.lines
    ]


def _size(automaton: Automaton) -> dict[str, int]:
    circuit = automaton.circuit
    return {"gates": circuit.gates, "depth": circuit.depth, "channels": circuit.channels}


def _decisions(decisions: Mapping[str, Decision]) -> dict[str, Any]:
    return {
        name: {"answer": decision.answer, "method": decision.method}
        for name, decision in decisions.items()
    }


def _period(period: Period) -> dict[str, Any]:
    return {"height": period.height, "width": period.width, "diagonal": period.diagonal}


def _settling(found: Inspection) -> dict[str, Any] | None:
    settling = found.settling
    if settling is None:
        return None
    return {
        "starts": settling.starts,
        "steps": settling.steps,
        "fixed": settling.fixed,
        "cycles": {str(length): count for length, count in settling.cycles.items()},
        "unsettled": settling.unsettled,
        "searched_steps": settling.searched,
        "periods": [
            {**_period(period), "starts": count} for period, count in settling.periods.items()
        ],
    }
