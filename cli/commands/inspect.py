"""`dct inspect`: prints a circuit as equations, with its properties."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.calling import Call, calls
from cli.options import AsJson
from cli.progress import show_progress
from cli.terminal import output
from difflogic.library.options import Natural
from difflogic.system.quantities import counted, format_ranges

if TYPE_CHECKING:
    from difflogic.circuit.automaton import Automaton
    from difflogic.inspection import Inspection
    from difflogic.inspection.fixed_points import FixedPoints, Period, Picture
    from difflogic.inspection.symmetry import Decision


PICTURES = 16
"""Most fixed points that are drawn."""
MOST_DRAWN_CHANNELS = 4
"""Most channels of a drawn picture: there are signs for no more."""


@calls("evaluating.inspect")
def inspect(examine: Call, *, source: Path, limit: Natural = 24, as_json: AsJson = False) -> None:
    """Print a circuit as equations, with the properties of its rule.

    n0' is the next state of channel 0. C0 is channel 0 of the cell, and NW0 N0 NE0 W0 E0 SW0 S0 SE0
    are channel 0 of its neighbours. The circuit of a run or a model is simplified first,
    dropping channels that no visible one depends on. A circuit file is taken as is.

    Options:
        limit: Largest number of equations and channels to print; 0 for all
    """
    from difflogic.library.loading import load

    loaded = load(source)
    with show_progress(stop_at_once=True) as progress:
        found: Inspection = examine(source=loaded, progress=progress)
    if as_json:
        output.show_json(_data(found, loaded.automaton))
        return
    equations = [*found.equations.texts[: limit or None]]
    if more := len(found.equations.texts) - len(equations):
        equations.append(f"… and {more} more equations: --limit 0 prints all.")
    parts = [
        _head(found, loaded.automaton),
        _reads(found, limit),
        equations,
        _rule(found),
        _fixed_points(found.fixed_points),
    ]
    for index, lines in enumerate(parts):
        if index:
            typer.echo()
        _print(lines)


def _print(lines: Iterable[str]) -> None:
    """Print lines, with the signs of C on a terminal that has no signs of logic."""
    from difflogic.inspection.equations import ASCII

    in_ascii = not _shows_signs()
    for line in lines:
        typer.echo(line.translate(ASCII) if in_ascii else line)


def _shows_signs() -> bool:
    """Return whether stdout can show the signs of logic."""
    try:
        "¬∧∨⊕".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _size(automaton: Automaton) -> str:
    circuit = automaton.circuit
    return (
        f"{counted(circuit.gates, 'gate')}, depth {circuit.depth}, "
        f"{counted(circuit.channels, 'channel')}"
    )


def _channels(labels: Sequence[int]) -> str:
    return format_ranges(sorted(labels)) or "none"


def _state_channels(automaton: Automaton) -> list[int]:
    return [label for label in automaton.circuit.labels if label not in automaton.visible]


def _head(found: Inspection, trained: Automaton) -> list[str]:
    from difflogic.circuit.gates import SYMBOLS

    automaton, circuit = found.automaton, found.automaton.circuit
    meanings = _meanings(automaton).items()
    before = "" if automaton.circuit is trained.circuit else f" (as trained: {_size(trained)})"
    fan_out = found.wires.fan_out
    widest = int(fan_out.argmax())
    name = circuit.input_name(widest) if widest < circuit.inputs else "a gate"
    fires = "synchronous" if automaton.fire_rate == 1 else f"fire rate {automaton.fire_rate:g}"
    return [
        f"{automaton.name}: {_size(automaton)}{before}",
        f"trained on {automaton.height}×{automaton.width} cells, {automaton.boundary} boundary, "
        f"{counted(automaton.steps, 'step')}, {fires}",
        "gates: " + (", ".join(f"{n} {SYMBOLS[op]}" for op, n in found.ops.items()) or "none"),
        f"visible channels: {_channels(automaton.visible)}; "
        f"state channels: {_channels(_state_channels(automaton))}",
        *(["meaning: " + "; ".join(f"{n}: {name}" for n, name in meanings)] if meanings else []),
        f"inputs: {int(found.wires.reads.sum())} of {circuit.inputs} are read; fan-out: "
        f"{fan_out[fan_out > 0].mean():.1f} on average, at most {fan_out[widest]} ({name})",
    ]


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
        for label, column in zip(found.automaton.circuit.labels, found.wires.reads.T, strict=True)
    }


def _reads(found: Inspection, limit: int) -> list[str]:
    cells, meanings = _cells(found), _meanings(found.automaton)
    names = {label: f"{label}, {meanings[label]}" if meanings else label for label in cells}
    shown = [f"  {names[label]}: {' '.join(read) or 'none'}" for label, read in cells.items()]
    lines = ["cells that are read, by channel:", *shown[: limit or None]]
    if more := len(cells) - len(lines) + 1:
        lines.append(f"… and {more} more channels: --limit 0 shows all.")
    return lines


def _rule(found: Inspection) -> list[str]:
    rule = found.rule
    lines = _answers("symmetries of the rule, for all channels together:", rule.symmetries)
    if found.automaton.circuit.channels == 1:
        totalistic = "yes" if rule.totalistic else "no"
        outer = "no" if rule.notation is None else f"yes, {rule.notation}"
        lines.append(f"outer-totalistic: {outer}; totalistic: {totalistic}")
    return [*lines, *_answers("other properties of the rule:", rule.properties)]


def _answers(title: str, decisions: Mapping[str, Decision]) -> list[str]:
    """List the properties by answer. A yes names its proof; a no takes a single case."""
    lines = [title]
    for answer in ("yes", "no", "not decided"):
        given = {name: found for name, found in decisions.items() if found.answer == answer}
        if given:
            methods = ", ".join(sorted({found.method for found in given.values()}))
            proof = f" (proved by {methods})" if answer == "yes" else ""
            lines.append(f"  {answer}: {', '.join(given)}{proof}")
    return lines


def _period(period: Period) -> str:
    size = f"{period.height or '-'}×{period.width or '-'}"
    if period.diagonal is None:
        return size
    return f"{size} with the shift ({period.diagonal[0]}, {period.diagonal[1]})"


def _fixed_points(fixed: FixedPoints) -> list[str]:
    count = f"{'at least ' if fixed.stopped else ''}{len(fixed.pictures)}"
    stopped = f" ({fixed.stopped})" if fixed.stopped else ""
    more = len(fixed.pictures) - PICTURES
    return [
        f"fixed points of the plane with periods of up to {fixed.bound}×{fixed.bound} cells: "
        f"{count}{stopped}; those whose visible channels differ only by a shift count once, "
        "and are drawn row by row",
        *(f"  {_period(each.period)}{_drawn(each)}" for each in fixed.pictures[:PICTURES]),
        *([f"  … and {more} more pictures: --json has all."] if more > 0 else []),
    ]


def _drawn(picture: Picture) -> str:
    """Return the rows of the repeating rectangle; several channels by their numbers."""
    from difflogic.pictures.text import render_picture

    if len(picture.bits) > MOST_DRAWN_CHANNELS:
        return ""
    return f": {' '.join(render_picture(picture.bits).split())}"


def _data(found: Inspection, trained: Automaton) -> dict[str, Any]:
    from difflogic.system.json_values import chosen

    automaton, circuit, fan_out = found.automaton, found.automaton.circuit, found.wires.fan_out
    return {
        **chosen(automaton, "name", "boundary", "fire_rate"),
        "visible_channels": automaton.visible,
        "state_channels": _state_channels(automaton),
        "meanings": _meanings(automaton),
        "trained": chosen(trained.circuit, "gates", "depth", "channels"),
        "circuit": chosen(circuit, "gates", "depth", "channels"),
        "ops": {op.name: count for op, count in found.ops.items()},
        "inputs": circuit.inputs,
        "inputs_read": [circuit.input_name(row) for row in circuit.read_inputs],
        "reads": _cells(found),
        "fan_out": {"max": fan_out.max(), "mean": fan_out[fan_out > 0].mean()},
        "equations": [
            {"target": line.target, "channel": line.channel, "text": text}
            for line, text in zip(found.equations.lines, found.equations.texts, strict=True)
        ],
        **chosen(found, "rule", "fixed_points"),
    }
