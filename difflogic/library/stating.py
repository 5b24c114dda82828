"""What is claimed of a grid, as a file for model checkers: `state_property`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from difflogic.config import Config
from difflogic.evaluation.assurance import assure_automaton, question
from difflogic.library.certifying import certify, task_of
from difflogic.library.conditions import Conditions
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.outputs import require_output, write_output
from difflogic.library.progress import ProgressCallback
from difflogic.library.simulating import simulate
from difflogic.proof.convergence import Finding
from difflogic.proof.convergence.folding import live_part
from difflogic.proof.write_property import write_invariant, write_property
from difflogic.system.callbacks import ignore
from difflogic.system.errors import CircuitError, ConfigError

PROPERTIES = ("converges", "invariant", "holds", "heals")


@dataclass(frozen=True)
class Stated:
    """A property as it was written, and what is known of it here."""

    height: int
    width: int
    from_step: int
    """From which step, or round, on the visible channels are claimed to be right."""
    finding: Finding | None
    """Of convergence, what `certify` found."""
    bytes: int
    within: int | None = None
    """Of damage, after how many steps they are."""


def state_property(
    source: Source,
    file: str | Path,
    claim: str,
    size: tuple[int, int] | None = None,
    *,
    task: Config | str | None = None,
    from_step: int | None = None,
    within: int | None = None,
    time_limit: float | None = None,
    force: bool = False,
    progress: ProgressCallback = ignore,
) -> Stated:
    """Write a claim about a grid as AIGER, in letters if the file's name ends in .aag.

    `converges`: from `from_step` on every start shows the target; by default the step that
    `certify` proves, else the one that was trained for. `invariant`: the certificate by sets of the
    same, as three outputs that are never 1. `holds`: what the circuit's own start shows at that
    step, it shows at every later one. `heals`: from the state at that step on, any one damage that
    the task asks for, at any time, is mended `within` steps, by default those that are proved.
    Raises what `certify` raises, and ConfigError.
    """
    path = require_output(file, (".aig", ".aag"), force)
    if claim not in PROPERTIES:
        raise ConfigError(f'no property "{claim}": choose one of {", ".join(PROPERTIES)}')
    loaded, text = load(source), path.suffix == ".aag"
    automaton = loaded.automaton
    height, width = size or (automaton.height, automaton.width)
    finding = None
    if claim in ("holds", "heals"):
        if automaton.start not in ("zeros", "center") or automaton.fire_rate < 1:
            raise ConfigError(
                f"{loaded.name}: only a run from one start, all cells at once, can be said to hold"
            )
        small = replace(live_part(automaton), height=height, width=width)
        steps = automaton.steps if from_step is None else from_step
        first, shown = (
            simulate(small, Conditions(steps=step), engine="interpreter").grid.bits()
            for step in (0, steps)
        )
        asked = question(small, np.asarray(shown[list(small.visible_rows)], np.uint8))
        if claim == "holds":
            data = write_property(asked, steps, first, text)
        else:
            patches, within = _damages(loaded, task, (height, width), within)
            data = write_property(asked, within, shown, text, patches)
    else:
        found = certify(
            source, [(height, width)], task=task, time_limit=time_limit, progress=progress
        )
        if not found.findings:
            raise CircuitError(f"{loaded.name}: has no target that every start should end in")
        (finding,) = found.findings
        proved = automaton.steps if finding.from_step is None else finding.from_step
        steps = proved if claim == "invariant" or from_step is None else from_step
        if claim == "invariant":
            data = write_invariant(finding, text)
        else:
            data = write_property(finding.question, steps, text=text)
    write_output(path, data, force)
    return Stated(height, width, steps, finding, len(data), within)


def _damages(
    loaded: Loaded, asked: Config | str | None, size: tuple[int, int], within: int | None
) -> tuple[npt.NDArray[np.uint8], int]:
    """Return the damages (N, H, W) of a task, and `within`: by default, as all are proved to heal.

    Raises ConfigError for fewer than one step, and CircuitError if not all heal by default.
    """
    if within is not None and within < 1:
        raise ConfigError(f"--within: damage heals in 1 step or more, not {within}")
    task = task_of(loaded, asked)
    if task is None or not task.patches:
        raise ConfigError(
            "--property heals needs a task that says what is damaged: name one by --task, such as "
            "lizard-small-heal"
        )
    if size != (task.height, task.width):
        raise ConfigError(f"--grid: the task {task.name} damages {task.height}×{task.width} cells")
    if within is None:
        healing = assure_automaton(loaded.automaton, task).healing
        if not healing or any(each.lasting for each in healing):
            raise CircuitError(
                f"{loaded.name}: not every damage heals: say --within how many steps"
            )
        within = max(1, *(each.within for each in healing))
    return np.concatenate(list(task.patches.values())), within
