"""What a browser is told of a living run: everything at first, then what has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from difflogic.circuit.live_part import fold
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow
from difflogic.run.records import ListedState
from difflogic.view.reports import build_live
from difflogic.view.reports.circuits import interpreted
from difflogic.view.reports.contents import Facts, ReportSource, attempts, parts

WAITING_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="1">'
    "<title>dct watch</title><p>Waiting for the first epoch …</p></html>"
)
"""The page before there is a model. It asks again by itself."""

News = dict[str, Any]


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment."""

    model: Model | None = None
    """With its own copy of the logits."""
    rows: Sequence[MetricsRow] = ()
    state: ListedState | Literal["removed"] = "waiting"
    exact_epoch: int | None = None
    path: str = ""
    """The run's directory, quoted for a command line."""
    training: bool = False
    """Whether the process that serves the page also trains."""


def page(snapshot: Snapshot) -> str:
    """Return the report of a run as it is now, which goes on with the news."""
    source = _source(snapshot)
    return WAITING_PAGE if source is None else build_live(source, news(snapshot))


def news(snapshot: Snapshot) -> News:
    """Return all that may change, as plain values for `update` of main.js."""
    source = _source(snapshot)
    found: News = {"facts": facts(snapshot), "gone": _gone(snapshot)}
    if source is None or source.model is None:
        return found
    config = source.model.config.to_toml()
    found["page"] = hashlib.sha256(config.encode()).hexdigest()
    return found | parts(source) | {"circuit": interpreted(source.automaton)["circuit"]}


def _source(snapshot: Snapshot) -> ReportSource | None:
    model = snapshot.model
    if model is None:
        return None
    trained = from_model(model)
    automaton = trained.with_circuit(fold(trained.circuit))
    return ReportSource(automaton, model, snapshot.rows, exact_epoch=snapshot.exact_epoch)


def facts(snapshot: Snapshot) -> Facts:
    """Return the state of a run, and its last numbers."""
    model = snapshot.model
    rows = snapshot.rows
    exact = snapshot.exact_epoch
    last = rows[-1] if rows else None
    losses = (row.hard_loss for row in reversed(rows) if row.hard_loss is not None)
    of = f" of {model.config.training.epochs:,}" if model else ""
    decided = None if last is None else last.decided
    not_yet = (
        "by no search; the report has the tests" if snapshot.state == "finished" else "not yet"
    )
    return [
        ("state", _state(snapshot)),
        ("epoch", f"{last.epoch if last else 0:,}{of}"),
        ("attempt", f"{attempts(rows):,}"),
        ("soft loss", _short(last.soft_loss if last else None)),
        ("hard loss", _short(next(losses, None))),
        ("gates decided", "–" if decided is None else f"{decided:.1%}"),
        ("last search", _last_search(snapshot)),
        ("verified exact", not_yet if exact is None else f"after epoch {exact:,}"),
    ]


def _short(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _last_search(snapshot: Snapshot) -> str:
    row = next((row for row in reversed(snapshot.rows) if row.searched), None)
    if row is None:
        return "none yet"
    found = row.search
    if found is None:
        return f"after epoch {row.epoch:,}"
    result = "exact" if found.exact else f"{found.wrong_before:,} → {found.wrong:,} wrong bits"
    return f"{result}, {found.candidates:,} tried"


def _state(snapshot: Snapshot) -> str:
    said = {
        "stopped": f"stopped; dct train --resume {snapshot.path} goes on",
        "finished": f"finished; dct report {snapshot.path} adds its circuit and tests",
        "removed": f"its directory {snapshot.path} is gone; this is what was last read",
    }
    return said.get(snapshot.state, snapshot.state)


def _gone(snapshot: Snapshot) -> str:
    """Say what a page that gets no answer knows, and how to get it back."""
    watch = f"dct watch {snapshot.path}"
    if not snapshot.training:
        return f"{watch} does not answer: if it has ended, start it again for a new link."
    if snapshot.state == "finished":
        return f"The run is over, and with it this link. {watch} shows it again."
    return (
        f"The process that trains does not answer: if it has ended, {watch} shows how far it came, "
        f"and dct train --resume {snapshot.path} --watch goes on from the last checkpoint."
    )
