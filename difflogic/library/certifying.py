"""Proofs that every start ends in the target and stays, and claims for model checkers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

import numpy as np
import numpy.typing as npt

from difflogic.config import Config, load_config
from difflogic.evaluation.assurance import (
    Assurance,
    all_cases,
    assure_automaton,
    every_length,
    of_lines,
    question,
)
from difflogic.library.common import Progress, ProgressCallback, require_output, table, write_output
from difflogic.library.loading import Loaded, Source, load
from difflogic.library.simplifying import proved, simplify
from difflogic.library.simulating import Conditions, simulate
from difflogic.model.automaton import Automaton
from difflogic.proof.convergence import Bits, Finding, Verdict, by_sets, decide, resting_picture
from difflogic.proof.convergence.folding import live_part
from difflogic.proof.convergence.sizes import Size, Sizes, Theorem
from difflogic.proof.every_length import EveryLength
from difflogic.proof.files import write_cases, write_certificate
from difflogic.proof.write_property import write_healing, write_invariant, write_property
from difflogic.system.callbacks import ignore
from difflogic.system.deadline import Deadline
from difflogic.system.errors import CircuitError, ConfigError
from difflogic.tasks import Cases, Task, make_task

GRIDS = "grids decided:"
"""What progress calls this."""

SQUARES = "square grids:"
"""And this."""

SECONDS = 60.0
"""For one grid, unless there is a time limit."""

MOST_SIDE = 256
"""Rows and columns of a grid: with more the sets of all steps outgrow a usual memory."""

SIDES = range(4, 129)
"""Of the square grids that are looked at where all sizes are asked for."""

Targets = Callable[[int, int], Bits]
"""From rows and columns to what the visible channels are to show."""


@dataclass(frozen=True)
class Certified:
    """What is proved about an automaton."""

    source: Loaded
    findings: tuple[Finding, ...]
    """One per grid; none if the task has no target that every start should end in."""
    assurance: Assurance | None = None
    """The verdict on such a task."""
    cases: Cases | None = None
    """All starts and targets of such a task, if they can be listed."""
    lines: EveryLength | None = None
    """What is known about lines of every length, if the task is about lines."""
    squares: tuple[Size, ...] = ()
    """With `all_sizes`: square grids of SIDES, as far as time allowed."""
    theorem: Theorem | None = None
    """With `all_sizes`: what is proved for all larger grids, if anything."""

    def __repr__(self) -> str:
        return f"Certified({self.source.name!r}, {'proved' if self.proved else 'not proved'})"

    def _repr_html_(self) -> str:
        """Show the verdicts in a notebook."""
        found = [
            {
                "cells": f"{each.question.height}×{each.question.width}",
                "verdict": each.verdict.value,
            }
            for each in self.findings
        ]
        return table(found) if found else escape(repr(self))

    @property
    def proved(self) -> bool:
        """Whether everything asked for is proved."""
        every = all(found.verdict is Verdict.proved for found in self.findings)
        return every and (self.assurance is None or self.assurance.proved)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the certificate of the first grid; `force` overwrites an earlier file.

        If all starts of the task can be listed, the certificate is a list of starts and targets.
        Raises CircuitError unless there is a proof by sets or by all cases, the only ones that can
        be written, and RunDirectoryError if the file cannot be written.
        """
        write_output(path, self._text(), force)

    def _text(self) -> str:
        automaton = self.source.automaton
        if self.findings:
            return write_certificate(automaton, self.findings[0])
        if self.lines is not None:
            return self.lines.certificate()
        if self.assurance is not None and self.assurance.scope == "every size":
            raise CircuitError(
                f"{self.source.name}: {self.assurance.text}: there is no certificate to write: "
                "docs/local-rules.md has a checker that takes the circuit itself"
            )
        if self.cases is None or not self.proved:
            said = "nothing" if self.assurance is None else self.assurance.text
            raise CircuitError(f"{self.source.name}: {said}: there is no stronger certificate")
        # A circuit file stays unchanged, so that a checker can compare the two.
        small = live_part(automaton) if self.source.trained else automaton
        return write_cases(small, self.cases)


def certify(
    source: Source,
    sizes: Sequence[tuple[int, int]] = (),
    *,
    task: Config | str | None = None,
    all_sizes: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore,
    allow_code: bool = False,
) -> Certified:
    """Prove that every start ends in the target and stays, or find a state that does not.

    `sizes` are rows and columns, by default as trained. Runs and models know their target. For a
    circuit file, `task` is the experiment or its name; without it, the target is what a start of
    zeros ends in. `all_sizes` also certifies square grids of SIDES, and all larger grids if
    possible. `time_limit` is in seconds, per grid, and once for all sizes. `allow_code` allows the
    code of a run's or model's custom task to run; that of `task` runs only if its configuration was
    loaded with it. Raises what `load` raises, ConfigError for a task or sizes that do not fit, and
    CircuitError without a target.
    """
    loaded = load(source, allow_code=allow_code)
    asked = task_of(loaded, task)
    automaton = loaded.automaton
    for size in sizes:
        if not all(1 <= side <= MOST_SIDE for side in size):
            raise ConfigError(f"{size[0]}×{size[1]}: sides must be from 1 to {MOST_SIDE}")
    if asked is not None and asked.find_lasting_target() is None:
        if sizes or all_sizes:
            raise ConfigError(
                f"the task {asked.name} has no target that every start should end in, so sizes "
                "cannot be certified"
            )
        lines = every_length(automaton, asked)
        if lines is not None:
            return Certified(loaded, (), of_lines(lines, asked), lines=lines)
        return Certified(loaded, (), assure_automaton(automaton, asked), all_cases(asked))
    seconds = SECONDS if time_limit is None else time_limit
    grids = sizes or [(automaton.height, automaton.width)]
    targets = _targets(automaton, asked)
    small = live_part(automaton)
    if not proved(automaton, small.circuit, seconds, progress).equal:
        small = automaton
    findings = [by_sets(question(small, targets(*grid))) for grid in grids]
    if any(found.verdict is not Verdict.proved for found in findings):
        # Fewer gates lose less of what signals have in common.
        found = simplify(small, "low", time_limit=time_limit, progress=progress)
        simple = found.automaton if found.proved else small
        for place, finding in enumerate(findings):
            if finding.verdict is not Verdict.proved:
                findings[place] = decide(
                    question(simple, finding.question.target),
                    seconds,
                    lambda method, place=place: progress(  # type: ignore[misc]
                        Progress(GRIDS, place, len(grids), method)
                    ),
                )
    if not all_sizes:
        return Certified(loaded, tuple(findings))
    squares, theorem = _all_sizes(small, targets, seconds, progress)
    return Certified(loaded, tuple(findings), squares=squares, theorem=theorem)


def _all_sizes(
    automaton: Automaton, targets: Targets, seconds: float, progress: ProgressCallback
) -> tuple[tuple[Size, ...], Theorem | None]:
    """Certify squares, and look for the theorem about all larger grids."""
    if automaton.boundary != "zero":
        raise ConfigError("all sizes can only be certified with a zero boundary")
    deadline = Deadline.after(seconds)
    found = Sizes(automaton.circuit, automaton.visible, targets)
    squares = []
    for size in found.table(SIDES, deadline):
        squares.append(size)
        progress(Progress(SQUARES, len(squares), len(SIDES)))
    progress(Progress(SQUARES, len(squares), len(SIDES), "all larger grids"))
    return tuple(squares), found.theorem(deadline)


def task_of(loaded: Loaded, asked: Config | str | None) -> Task | None:
    """Return the task that a model, or an experiment, is about; None if unknown."""
    if loaded.model is not None:
        if asked is not None:
            name = asked if isinstance(asked, str) else asked.name
            raise ConfigError(f"task {name}: {loaded.name} has a task of its own: leave it out")
        return make_task(loaded.model.config)
    if asked is None:
        return None
    config = load_config(asked) if isinstance(asked, str) else asked
    automaton, task = loaded.automaton, make_task(config)
    labels = automaton.circuit.labels
    if task.loss_channels != automaton.visible or max(labels) >= task.channels:
        raise ConfigError(
            f"task {config.name}: it has {task.channels} channels and compares "
            f"{_list(task.loss_channels)}, but the circuit has the channels {_list(labels)}, with "
            f"{_list(automaton.visible)} visible"
        )
    return task


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:8])) + (", …" if len(numbers) > 8 else "")


def _targets(automaton: Automaton, task: Task | None) -> Targets:
    """Return what gives the target of a grid: the task's, or what a start of zeros ends in."""

    def of_task(height: int, width: int) -> Bits:
        assert task is not None
        target = task.on_grid(height, width).find_lasting_target()
        assert target is not None, "a task has such targets on all grids, or on none"
        return target

    def of_zeros(height: int, width: int) -> Bits:
        found = resting_picture(automaton, height, width)
        if found is None:
            raise CircuitError(
                f"on {height}×{width} cells, a start of zeros never settles, so there is no "
                "target: use --task to name an experiment"
            )
        return found

    return of_zeros if task is None else of_task


PROPERTIES = ("converges", "invariant", "holds", "heals", "heals-invariant")


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
    `heals-invariant`: a list of all states that the same leads to, as three outputs again.
    Raises what `certify` raises, and ConfigError.
    """
    path = require_output(file, (".aig", ".aag"), force)
    if claim not in PROPERTIES:
        raise ConfigError(f'no property "{claim}": choose one of {", ".join(PROPERTIES)}')
    loaded, text = load(source), path.suffix == ".aag"
    automaton = loaded.automaton
    height, width = size or (automaton.height, automaton.width)
    finding = None
    if claim in ("holds", "heals", "heals-invariant"):
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
            write = write_property if claim == "heals" else write_healing
            data = write(asked, within, shown, text, patches)
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
