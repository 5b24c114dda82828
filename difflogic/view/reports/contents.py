"""What a report says, as plain values for its template."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import READS, SYMBOLS, Op
from difflogic.config import Config, load_config, shipped_configs
from difflogic.evaluation.gates import PASSING
from difflogic.formats.diagram.graph import DRAWN
from difflogic.run.metrics import History
from difflogic.run.resuming import changed
from difflogic.system.errors import ConfigError
from difflogic.system.files import START
from difflogic.tasks.parts import Exhibit


def histograms(results: Mapping[str, Any]) -> dict[str, list[tuple[str, int, bool]]]:
    """Return the ops of perception and update, as in the article, by the chart's id.

    They are (sign, count, whether it only passes an input on).
    """
    parts = results["tests"]["gates"]["scopes"]["all"]
    return {
        f"{part}-ops": [
            (SYMBOLS[Op[name]], count, Op[name] in PASSING)
            for name, count in parts[part]["ops"].items()
        ]
        for part in ("perception", "update")
    }


def attempts(history: History | None) -> str | None:
    """Return the number of attempts, if learning started over."""
    rows = history.rows if history else []
    last = rows[-1].attempt if rows else None
    return None if last is None or last == 1 else f"{last:,}"


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
    """Return the page's settings when it opens."""
    usual = {"speed": 8.0, "pauses": False, "marks": True, "brush": "erase", "size": 5}
    return {"height": automaton.height, "width": automaton.width, **usual, **shown.view}


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
