"""The directory of a sweep: its plan, a directory per run, and the tables."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from difflogic.config import config_from_dict
from difflogic.run.run_directory import SWEEP, RunDirectory
from difflogic.run.settings import differing, read_config
from difflogic.run.summary import Summary, read_summary
from difflogic.sweeps.sweep_plan import Request, SweepPlan, Variant, differences, lookup, with_seed
from difflogic.system.errors import ConfigError, DctError, RunDirectoryError
from difflogic.system.files import for_shell, kind_of, read_inside, refused, require_directory
from difflogic.system.quantities import format_ranges, parse_seeds
from difflogic.tasks import custom, task_class
from difflogic.tasks.code import allow_code

FORMAT = "dct-sweep"
VERSION = 3
"""Format of sweep.toml; increases with every incompatible change."""

MOST_TABLE_BYTES = 2**26
"""Size of a file that is read back, far above what is ever written."""


@dataclass(frozen=True)
class RunState:
    """State of a run's directory; all empty if the run is missing or can be resumed."""

    summary: Summary | None = None
    """Summary of a finished, undamaged run."""
    problem: str | None = None
    """Damage to a finished run, or the difference from a foreign one."""
    foreign: bool = False
    """Whether it belongs to another sweep, so that it cannot be resumed here."""


class SweepDirectory(RunDirectory):
    """``sweep.toml``, ``<variant>/seed<N>/`` per run, and ``table.csv``, ``table.json``."""

    def run_path(self, variant: Variant, seed: int) -> Path:
        return self.path / variant.name / f"seed{seed}"

    def discard_if_without_runs(self) -> None:
        """Remove its files if it has no runs."""
        with suppress(OSError, DctError):
            if not self.split()[1]:
                self.discard()

    def read_plan(self) -> SweepPlan:
        """Read the plan. Raises RunDirectoryError if it is damaged or of another version."""
        path = self.sweep
        try:
            content = read_inside(path, MOST_TABLE_BYTES)
        except FileNotFoundError:
            raise RunDirectoryError(
                f"{self.path}: is not a sweep (no {SWEEP}): name a sweep, or start one with dct "
                "sweep CONFIG --seeds 0-15"
            ) from None
        try:
            data = tomllib.loads(content.decode())
            if data["format"] != FORMAT:
                raise ValueError("it is of another format")
            if data["version"] != VERSION:
                raise ValueError("another version of dct wrote it: use that one")
            return _plan(data, str(path))
        except (ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
            what = f"no key {error}" if isinstance(error, KeyError) else str(error)
            raise RunDirectoryError(
                f"{path}: cannot be used: {what}. Restore the file, or start a new sweep"
            ) from None

    def load_code(self, plan: SweepPlan, allowed: bool) -> None:
        """Load the code of custom tasks from the copies in the directory.

        Raises ConfigError if there is such code and it is not `allowed`.
        """
        for variant in plan.variants:
            if allowed:
                allow_code(variant.config.task, self.path)
            task_class(variant.config.task)

    def write_plan(self, plan: SweepPlan) -> None:
        """Write sweep.toml. Raises RunDirectoryError."""
        request = plan.request
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "seeds": format_ranges(plan.seeds),
            "request": {
                "config": request.config,
                "set": list(request.overrides),
                "grid": list(request.grid),
                "axes": list(plan.axes),
            },
            "variants": {variant.name: variant.config.to_dict() for variant in plan.variants},
        }
        if request.recipe is not None:
            data["request"]["recipe"] = request.recipe
        for variant in plan.variants:
            del data["variants"][variant.name]["training"]["seed"]
        self.write(self.sweep, tomli_w.dumps(data, multiline_strings=True))
        for variant in plan.variants:
            code = custom.code_of(variant.config.task)
            if code is not None:
                code.keep(self.path)

    def join(self, plan: SweepPlan) -> SweepPlan:
        """Return `plan` with the seeds of the earlier sweep added.

        Raises RunDirectoryError, naming the keys, if the earlier sweep differs otherwise.
        """
        before = self.read_plan()
        found = differences(before, plan)
        if found:
            raise RunDirectoryError(
                f"{self.path}: contains a different sweep:\n  "
                + "\n  ".join(found)
                + "\nChoose another --dir, or continue the sweep there: dct sweep --dir "
                + for_shell(self.path)
            )
        return plan.with_seeds(before.seeds)

    def run_state(self, variant: Variant, seed: int) -> RunState:
        """Return the state of a run's directory.

        Raises RunDirectoryError if it is a link, and UnreadableError.
        """
        path = self.run_path(variant, seed)
        require_directory(path.parent)
        require_directory(path)
        run = RunDirectory(path)
        config = with_seed(variant.config, seed)
        try:
            stored = read_config(run)
        except ConfigError as error:
            return RunState(problem=str(error), foreign=True)
        if stored is None:
            return RunState()
        changes = differing(stored, config)
        if changes:
            return RunState(problem=f"{path}: is another run: {', '.join(changes)}", foreign=True)
        try:
            summary = read_summary(run, config)
        except RunDirectoryError as error:
            return RunState(problem=str(error))
        # If the run was extended by hand, its job will report that it no longer fits.
        epochs = config.training.epochs
        if summary is None or not summary.finished or summary.epochs_requested != epochs:
            return RunState()
        return RunState(summary)

    def set_aside(self, variant: Variant, seed: int) -> Path:
        """Rename a foreign directory in a run's place; return its new path."""
        path = self.run_path(variant, seed)
        number = 1
        while kind_of(aside := path.with_name(f"{path.name}-set-aside-{number}"), follow=False):
            number += 1
        try:
            path.rename(aside)
        except OSError as error:
            raise refused(path, "moved away", error) from error
        return aside


def _plan(data: Mapping[str, Any], source: str) -> SweepPlan:
    typed = data["request"]
    axes = tuple(typed["axes"])
    variants = []
    for name, table in data["variants"].items():
        if re.search(r"^\.|[/\\]", name):
            raise ValueError(f'"{name}" cannot be a variant\'s name')
        config = config_from_dict(table, source)
        variants.append(Variant(name, {key: lookup(config, key) for key in axes}, config))
    if not variants:
        raise ValueError("it has no variants")
    return SweepPlan(
        Request(typed["config"], tuple(typed["set"]), tuple(typed["grid"]), typed.get("recipe")),
        tuple(variants),
        parse_seeds(data["seeds"]),
        axes,
    )
