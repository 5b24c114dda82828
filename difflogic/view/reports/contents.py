"""What a report says, as plain values for its template."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import READS, SYMBOLS, Op
from difflogic.config import Config, load_config, shipped_configs
from difflogic.evaluation.gate_counts import PASSING, count
from difflogic.formats.diagram.graph import DRAWN
from difflogic.model.model import Model
from difflogic.run.measures import PHASES
from difflogic.run.metrics import MetricsRow, read_metrics
from difflogic.run.run_directory import RunDirectory
from difflogic.run.settings import changed
from difflogic.run.story import in_training, story, time_by_part
from difflogic.run.summary import Summary, read_summary
from difflogic.system.array_types import Bits
from difflogic.system.errors import ConfigError
from difflogic.system.files import START, kind_of
from difflogic.system.quantities import counted
from difflogic.system.work import say
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Exhibit
from difflogic.view.reports import curves

Facts = list[tuple[str, str]]
"""Names, and what is told of each."""

OpCounts = list[tuple[str, int, bool]]
"""Ops: their signs, how many gates have them, and whether they only pass an input on."""

CHARTS = ("loss", "decided", "searches")
"""The charts of a training on the page."""


@dataclass(frozen=True)
class ReportSource:
    """An automaton and, if known, its training."""

    automaton: Automaton
    """As trained, with every gate, or as in its file."""
    model: Model | None = None
    rows: Sequence[MetricsRow] = ()
    """The epochs that are recorded."""
    summary: Summary | None = None
    painted: Bits | None = None
    """The part that each cell shows at first, shape (rows, columns)."""
    exact_epoch: int | None = None
    """The epoch after which a circuit was verified exact."""

    @property
    def exact(self) -> bool:
        """Whether the training found an exact circuit."""
        summed = self.summary is not None and self.summary.scores.checked.exact
        return bool(summed) or self.exact_epoch is not None


def read_training(directory: Path) -> tuple[tuple[MetricsRow, ...], Summary | None]:
    """Return the rows of a run's metrics, and its summary, if they are there.

    Of damaged metrics, these are the rows before the damage, which is told. Raises
    RunDirectoryError for a damaged summary, and UnreadableError.
    """
    run = RunDirectory(directory)
    history, problem = read_metrics(run)
    if problem is not None and kind_of(run.metrics):
        say(f"warning: {problem}: what follows is not shown")
    return tuple(history), read_summary(run)


def parts(source: ReportSource) -> dict[str, Any]:
    """Return the figures of a training, for `update` of main.js: a living run's change."""
    published = source.model.config.published.learned_by if source.model else None
    charts = curves.charts(source.rows, source.exact_epoch, published)
    return {
        "charts": {f"{name}-chart": charts[name] for name in CHARTS if name in charts},
        "histograms": histograms(source.model) if source.model else {},
    }


def histograms(model: Model) -> dict[str, OpCounts]:
    """Return the ops of perception and update, as in the article, by the chart's element."""
    scope = count(model)["scopes"]["all"]
    return {
        f"{part}-ops": [
            (SYMBOLS[Op[name]], number, Op[name] in PASSING)
            for name, number in scope[part]["ops"].items()
        ]
        for part in ("perception", "update")
    }


def facts(source: ReportSource, small: Automaton) -> Facts:
    """Return what a report says first."""
    trained = source.automaton
    found = list[tuple[str, str]]()
    if source.model:
        gates = count(source.model)
        active = gates["active_gates_per_cell"]["loss_channels"]
        number = gates["scopes"]["all"]["both"]["gates"]
        found += [("gates with logits", f"{number:,}"), ("active gates of a cell", f"{active:,}")]
    what = f"{trained.circuit.gates:,} as trained, {small.circuit.gates:,} simplified"
    found += [
        ("gates of a cell", what if small is not trained else f"{small.circuit.gates:,}"),
        ("bits per cell", f"{small.circuit.channels}"),
        ("trained on", f"{small.height}×{small.width} cells, {counted(small.steps, 'step')}"),
    ]
    return found


def training(source: ReportSource) -> Facts:
    """Return what a report says of the training besides its figures."""
    model = source.model
    summary = source.summary
    if model is None:
        return []
    attempt = attempts(source.rows)
    published = model.config.published.learned_by
    found = {
        "epochs": f"{summary.epochs:,}" if summary else None,
        "attempts": f"{attempt:,}" if attempt > 1 else None,
        "published hard loss 0 from epoch": None if published is None else f"{published:,}",
        "seed": f"{model.config.training.seed}",
    }
    if summary:
        spent = summary.seconds
        parts = time_by_part(spent)
        times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in parts.items())
        found["time"] = f"{times}; processor time {spent.processor:.1f} s"
        found["training’s time"] = in_training(spent.phases, len(PHASES))
        found["versions"] = ", ".join(f"{name} {v}" for name, v in summary.versions.items())
        found["processor"] = f"{summary.cpu.name}, {summary.cpu.count} cores"
    return [(name, value) for name, value in found.items() if value is not None]


def attempts(rows: Sequence[MetricsRow]) -> int:
    """Return the number of attempts: above 1 if learning started over."""
    return rows[-1].attempt if rows else 1


def origin(source: ReportSource) -> str:
    """Say what found the gates of a trained circuit, in the words of the terminal."""
    if source.model is None:
        return ""
    told = story(source.summary) if source.summary else {}
    parts = [told[name] for name in ("learned", "searched") if name in told]
    found = "; ".join(parts or ["gradient descent found them"])
    found += f"; polishing: {told['polished']}" if "polished" in told else ""
    some = "them, except those that count a cell’s row and column"
    what = some if source.model.config.automaton.places else "these gates"
    return f"Nobody wrote {what}: {found}."


def op_table() -> list[dict[str, Any]]:
    """Return what the page needs to write and draw each op."""
    return [
        {
            "symbol": SYMBOLS[op],
            "sign": SYMBOLS[op] if family.sign == "0 1" else family.sign,
            "family": family.name.lower(),
            "inverted": inverted,
            "reads": list(READS[op]),
        }
        for op, (family, _, _, inverted) in sorted(DRAWN.items())
    ]


def first_settings(automaton: Automaton, shown: Exhibit) -> dict[str, Any]:
    """Return the page's settings when it opens; `open` lets the page look for a start itself."""
    usual = {"speed": 8.0, "pauses": False, "marks": True, "brush": "erase", "size": 5}
    size = {"height": automaton.height, "width": automaton.width}
    return {**size, **usual, "open": shown == Exhibit(), **shown.view}


def example(task: Task, automaton: Automaton, first: Mapping[str, Any]) -> list[list[str]] | None:
    """Return a start of the task on the page's grid, as rows of 0 and 1 for each channel.

    None if the task draws what its automaton starts from anyway.
    """
    if automaton.start == "random":
        return None
    height = first["height"]
    width = first["width"]
    is_own = (height, width) == (task.height, task.width)
    shown = task if is_own else task.on_grid(height, width)
    start, _ = shown.sample(np.random.default_rng(0))
    cells = start[list(automaton.circuit.labels)]
    if not cells.any() or automaton.start == "center":
        return None
    return [["".join(map(str, row)) for row in channel] for channel in cells.tolist()]


MOST_CHANGES = 12
"""Most changed settings on a command line. With more, a file is easier to read."""


def train_command(config: Config) -> tuple[str, str]:
    """Return the command that repeats a training, and a remark about the files that it needs."""
    if config.run.start_sha256 is not None:
        files = f"with the configuration below saved under that name, and {START} from the run"
        return f"dct train {config.name}.toml --from {START}", files
    changes = _changes(config)
    if changes is None or len(changes) > MOST_CHANGES:
        return f"dct train {config.name}.toml", "with the configuration below saved under that name"
    parts = ["dct", "train", config.name, "--seed", str(config.training.seed)]
    for change in changes:
        parts += ["--set", change]
    return shlex.join(parts), ""


def _changes(config: Config) -> list[str] | None:
    """Return the differences from the shipped configuration of this name; None if none fits."""
    if config.name not in shipped_configs():
        return None
    try:
        shipped = load_config(config.name, [f"training.seed={config.training.seed}"])
    except ConfigError:
        return None
    # A changed experiment has no published results.
    found = {
        key: new
        for key, (_, new) in changed(shipped, config).items()
        if not key.startswith(("parallel.", "published."))
    }
    if "task.target" in found or None in found.values():
        return None
    return [f"{key}={json.dumps(value)}" for key, value in found.items()]
