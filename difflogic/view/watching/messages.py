"""From snapshots to events for one browser, as plain values: only what is new to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from difflogic.circuit import gates
from difflogic.evaluation.exactness import held_out_streams
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow, restarts
from difflogic.tasks import custom, draw_batch, exhibit_of, make_task
from difflogic.view.reports.circuits import grid_of, packed
from difflogic.view.watching.feed import Snapshot

MOST_ROWS = 4000
"""Most epochs sent. Of longer runs every second or third is sent, and so on."""

MOST_EVENTS = 400
"""Most searches sent, and most restarts: the newest."""

Event = tuple[str, dict[str, Any]]


class Listener:
    """Remembers what one browser has been sent."""

    def __init__(self) -> None:
        self._config: dict[str, Any] | None = None
        self._wiring: Any = None
        self._circuit: tuple[int, int] | None = None
        self._generation = -1
        self._rows = 0
        self._state: dict[str, Any] | None = None

    def events(self, snapshot: Snapshot) -> Iterator[Event]:
        """Yield the events that bring the browser up to date."""
        model = snapshot.model
        if model is not None and model.config.to_dict() != self._config:
            self._config, self._wiring, self._circuit = model.config.to_dict(), None, None
            yield "run", _run(model)
        yield from self._row_events(snapshot)
        place = snapshot.epoch, snapshot.generation
        if model is not None and place != self._circuit:
            self._circuit = place
            known = self._wiring is model.layers
            self._wiring = model.layers
            yield "circuit", {"epoch": snapshot.epoch, **_circuit(model, known)}
        state = {
            "status": snapshot.status,
            "exactEpoch": snapshot.exact_epoch,
            "seconds": _seconds(snapshot),
            "runs": list(snapshot.runs),
            "path": snapshot.path,
            "training": snapshot.training,
        }
        if state != self._state:
            self._state = state
            yield "state", state

    def _row_events(self, snapshot: Snapshot) -> Iterator[Event]:
        rows = snapshot.rows
        count = len(rows)
        begins = snapshot.generation != self._generation
        if begins:
            self._generation, self._rows = snapshot.generation, 0
        if count == self._rows and not begins:
            return
        begun, self._rows = self._rows, count
        unsent = rows[begun:count]
        new = list(unsent[:: -(-count // MOST_ROWS) or 1])
        if count and (not new or new[-1] is not rows[count - 1]):
            new.append(rows[count - 1])
        yield (
            "rows",
            {
                "begins": begins,
                "rows": [_row(row) for row in new],
                "searches": [_search(row) for row in unsent if row.searched][-MOST_EVENTS:],
                # Includes the last row sent before, to compare the first new one with.
                "starts": restarts(rows[max(0, begun - 1) : count])[-MOST_EVENTS:],
            },
        )


def _row(row: MetricsRow) -> list[Any]:
    loss = row.soft_loss, row.hard_loss
    return [row.epoch, *loss, row.accuracy, row.decided, row.attempt]


def _search(row: MetricsRow) -> list[Any]:
    """Return epoch, wrong cells before and after, circuits tried, and whether one is exact.

    All but the epoch are None if not recorded.
    """
    found = row.search
    if found is None:
        return [row.epoch, None, None, None, None]
    return [row.epoch, found.wrong_before, found.wrong, found.candidates, found.exact]


def _run(model: Model) -> dict[str, Any]:
    config = model.config
    automaton = from_model(model)
    start, goal = _sample(model)
    return {
        "name": config.name,
        "seed": config.training.seed,
        "epochs": config.training.epochs,
        "target": exhibit_of(config).target,
        "start": _texts(start),
        "goal": None if goal is None else _texts(goal),
        "published": config.published.learned_by,
        "layers": _layer_names(model),
        "symbols": list(gates.SYMBOLS),
        "passing": [int(gates.Op.A), int(gates.Op.B)],
        **grid_of(automaton),
    }


def _sample(model: Model) -> tuple[np.ndarray, np.ndarray | None]:
    """Return a fresh start (channels, H, W) and its target.

    For a task whose code is not loaded, return zeros and None: watching runs no such code.
    """
    config = model.config
    shape = config.automaton.channels, config.task.height, config.task.width
    if not custom.is_loaded(config.task):
        return np.zeros(shape, np.uint8), None
    streams = held_out_streams(config.training.seed)
    starts, targets = draw_batch(make_task(config), streams.seed, streams.epoch, 1, streams.start)
    return starts[0], np.rint(targets[0]).astype(np.uint8)


def _texts(channels: np.ndarray) -> list[str]:
    return ["".join(map(str, channel.ravel().tolist())) for channel in channels]


def _circuit(model: Model, wiring_known: bool) -> dict[str, Any]:
    netlist = model.netlist
    probabilities = gates.softmax(model.logits.astype(np.float64))
    ops = gates.harden(model.logits)
    sure = probabilities.max(axis=1) > gates.DECIDED
    ends = np.cumsum(_layer_sizes(model))
    perception = ends[0]
    event: dict[str, Any] = {
        "ops": "".join(f"{op:x}" for op in ops),
        "coefficients": packed(gates.mix(probabilities), "<f4"),
        "decided": [float(part.mean()) for part in np.split(sure, ends[:-1])],
        "histogram": [
            np.bincount(part, minlength=gates.OPS).tolist()
            for part in (ops[:perception], ops[perception:])
        ],
    }
    if not wiring_known:
        event["netlist"] = {
            "channels": netlist.channels,
            **{
                name: packed(getattr(netlist, name), "<i4")
                for name in ("a", "b", "param", "outputs")
            },
        }
    return event


def _layer_sizes(model: Model) -> list[int]:
    architecture = model.config.architecture
    return [architecture.kernels * architecture.kernel_gates, *architecture.update]


def _layer_names(model: Model) -> list[str]:
    return ["perception", *(f"update {n}" for n in range(1, len(_layer_sizes(model))))]


def _seconds(snapshot: Snapshot) -> dict[str, float]:
    """Return the seconds of each phase, rounded so that they do not change all the time."""
    found: dict[str, float] = {}
    for row in snapshot.rows[-200:]:
        for phase, seconds in row.phase_seconds.items():
            found[phase] = found.get(phase, 0.0) + seconds
    return {phase: round(seconds, 2) for phase, seconds in found.items() if seconds >= 0.005}
