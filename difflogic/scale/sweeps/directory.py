"""The directory of a sweep: what was asked, one run directory per run, and the tables."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import tomli_w

from difflogic.config import config_from_dict
from difflogic.scale.sweeps.question import Asked, Question, Variant, differences, lookup, with_seed
from difflogic.system.errors import ConfigError, RunDirectoryError
from difflogic.system.files import (
    LEFTOVERS,
    for_shell,
    is_there,
    read_inside,
    refused,
    require_directory,
    write_whole,
)
from difflogic.system.quantities import format_ranges, parse_seeds
from difflogic.tasks import own, task_class
from difflogic.training import lock
from difflogic.training.resuming import differing
from difflogic.training.run_directory import SUMMARY, RunDirectory

FORMAT = "dct-sweep"
VERSION = 2
"""Goes up when files of one program can no longer be read by the other."""

FILE = "sweep.toml"

MAX_BYTES = 2**26
"""Of one file that is read back: far above what is ever written."""


@dataclass(frozen=True)
class Found:
    """What there is of a run that a sweep asks for."""

    summary: dict[str, Any] | None = None
    """Of a run that has ended, and is whole."""
    problem: str | None = None
    """What is wrong with one that should have been."""
    foreign: bool = False
    """It is no run of this sweep, and cannot go on as one."""


@dataclass(frozen=True)
class SweepDirectory:
    """``sweep.toml``, ``<variant>/seed<N>/`` per run, and ``table.csv``, ``.json``, ``.md``."""

    path: Path

    @property
    def exists(self) -> bool:
        """Whether a sweep was begun here. Raises RunDirectoryError if that cannot be known."""
        try:
            return is_there(self.path / FILE)
        except OSError as error:
            raise refused(self.path, "used for a sweep", error) from error

    def run_path(self, variant: Variant, seed: int) -> Path:
        return self.path / variant.name / f"seed{seed}"

    def require_empty(self) -> None:
        """Raise RunDirectoryError if there is something here that is no sweep.

        A lock and half-written files are what a killed process left, which had come no further.
        """
        try:
            found = (entry.name for entry in self.path.iterdir())
            foreign = sorted(
                name for name in found if name != lock.NAME and not fnmatch(name, LEFTOVERS)
            )
        except FileNotFoundError:
            return
        except OSError as error:
            raise refused(self.path, "used for a sweep", error) from error
        if foreign:
            raise RunDirectoryError(
                f"{self.path}: holds {foreign[0]}, and is not a sweep: name a new or empty "
                "directory, or an earlier sweep"
            )

    def make(self) -> None:
        """Create the directory, if it is not there. Raises RunDirectoryError."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(self.path, "created", error) from error

    def discard_if_without_runs(self) -> None:
        """Remove what there is of a sweep that has come to nothing."""
        with suppress(OSError):
            if {entry.name for entry in self.path.iterdir()} <= {FILE}:
                (self.path / FILE).unlink(missing_ok=True)
                self.path.rmdir()

    def read_question(self) -> Question:
        """Read what was asked. Raises RunDirectoryError if that is damaged or of a newer dct."""
        path = self.path / FILE
        try:
            content = read_inside(path, MAX_BYTES)
        except FileNotFoundError:
            raise RunDirectoryError(
                f"{self.path}: is not a sweep (no {FILE}): name a sweep, or start one with dct "
                "sweep CONFIG --seeds 0-15"
            ) from None
        try:
            data = tomllib.loads(content.decode())
            if data["format"] != FORMAT:
                raise ValueError("it is of another format")
            if data["version"] != VERSION:
                raise ValueError("another version of dct wrote it: use that one")
            return _question(data, str(path))
        except (ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
            what = f"no key {error}" if isinstance(error, KeyError) else str(error)
            raise RunDirectoryError(
                f"{path}: cannot be used: {what}. Restore the file, or start a new sweep"
            ) from None

    def load_code(self, question: Question, allowed: bool) -> None:
        """Load the code of the question's tasks, if it has any, from the copies that are here.

        Raises ConfigError if there is some, and it is not `allowed`.
        """
        for variant in question.variants:
            if allowed:
                own.allow_code(variant.config.task, self.path)
            task_class(variant.config.task)

    def write_question(self, question: Question) -> None:
        """Write sweep.toml. Raises RunDirectoryError."""
        asked = question.asked
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "command": question.command,
            "seeds": format_ranges(question.seeds),
            "asked": {
                "config": asked.config,
                "set": list(asked.overrides),
                "grid": list(asked.grid),
                "axes": list(question.axes),
            },
            "variants": {variant.name: _without_seed(variant) for variant in question.variants},
        }
        if asked.recipe is not None:
            data["asked"]["recipe"] = asked.recipe
        for variant in question.variants:
            code = own.code_of(variant.config.task)
            if code is not None:
                code.keep(self.path)
        self.write(FILE, tomli_w.dumps(data, multiline_strings=True))

    def join(self, question: Question) -> Question:
        """Return `question` with the seeds that were asked for here before.

        Raises RunDirectoryError, naming the keys, if it is not the question that was asked.
        """
        before = self.read_question()
        found = differences(before, question)
        if found:
            raise RunDirectoryError(
                f"{self.path}: contains a different sweep:\n  "
                + "\n  ".join(found)
                + "\nChoose another --dir, or continue the sweep there: dct sweep --dir "
                + for_shell(self.path)
            )
        return question.with_seeds(before.seeds)

    def look(self, variant: Variant, seed: int) -> Found:
        """Return what there is of a run. Raises RunDirectoryError for links in its place."""
        path = self.run_path(variant, seed)
        require_directory(path.parent)
        require_directory(path)
        run = RunDirectory(path)
        config = with_seed(variant.config, seed)
        try:
            stored = run.read_config()
        except ConfigError as error:
            return Found(problem=str(error), foreign=True)
        if stored is None:
            return Found()
        changes = differing(stored, config)
        if changes:
            return Found(problem=f"{path}: is another run: {', '.join(changes)}", foreign=True)
        try:
            summary = run.read_summary()
        except RunDirectoryError as error:
            return Found(problem=str(error))
        # A run that was extended by hand is no longer one of this sweep; its job will say so.
        asked = config.training.epochs
        if summary is None or not summary["finished"] or summary["epochs_requested"] != asked:
            return Found()
        problem = run.problem(summary, config)
        return Found(summary) if problem is None else Found(problem=problem)

    def set_aside(self, variant: Variant, seed: int) -> Path:
        """Move what is in a run's place, and no run of this sweep, to another name beside it."""
        path = self.run_path(variant, seed)
        number = 1
        while (aside := path.with_name(f"{path.name}-set-aside-{number}")).exists():
            number += 1
        try:
            path.rename(aside)
        except OSError as error:
            raise refused(path, "moved away", error) from error
        return aside

    def write(self, name: str, text: str) -> Path:
        """Write a file of that name, whole or not at all. Raises RunDirectoryError."""
        path = self.path / name
        write_whole(path, lambda file: file.write(text.encode()))
        return path

    def write_run(self, variant: Variant, seed: int, files: Mapping[str, bytes]) -> None:
        """Write the files of a run that was made elsewhere; its summary last, as it ends the run.

        Raises RunDirectoryError.
        """
        path = self.run_path(variant, seed)
        require_directory(path.parent)
        require_directory(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refused(path, "created", error) from error
        for name in sorted(files, key=lambda name: name == SUMMARY):
            write_whole(path / name, partial(_write, files[name]))


def _write(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _without_seed(variant: Variant) -> dict[str, Any]:
    data = variant.config.to_dict()
    del data["training"]["seed"]
    return data


def _question(data: Mapping[str, Any], source: str) -> Question:
    asked = data["asked"]
    axes = tuple(asked["axes"])
    variants = []
    for name, table in data["variants"].items():
        if "/" in name or "\\" in name or name.startswith("."):
            raise ValueError(f'"{name}" cannot be a variant\'s name')
        config = config_from_dict(table, source)
        variants.append(Variant(name, {key: lookup(config, key) for key in axes}, config))
    if not variants:
        raise ValueError("it has no variants")
    return Question(
        Asked(asked["config"], tuple(asked["set"]), tuple(asked["grid"]), asked.get("recipe")),
        tuple(variants),
        parse_seeds(data["seeds"]),
        axes,
    )
