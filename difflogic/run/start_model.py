"""A saved model that training starts from, identified by the checksum of its file.

The run keeps a copy, and can therefore resume and start over without the original file.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from difflogic.config.models import Config
from difflogic.model.model import Model
from difflogic.run.run_directory import RunDirectory
from difflogic.system.archive import MAX_FILE_BYTES
from difflogic.system.errors import ConfigError, ModelFileError, RunDirectoryError
from difflogic.system.files import cannot_read, open_plain, write_whole

_SIZES = {
    "channels": "automaton.channels",
    "kernels": "perception.kernels",
    "perception": "perception.gates",
    "update": "update.gates",
}
"""The configuration key of each size. Other keys say how wires are drawn; a model has its own."""


class StartModel:
    """A model, and the bytes of its file."""

    def __init__(self, name: str, model: Model, content: bytes) -> None:
        """`name` is used in messages."""
        self.name = name
        self.model = model
        self.content = content

    @classmethod
    def read(cls, path: Path, name: str | None = None, follow: bool = True) -> StartModel:
        """Read a model's file, through a link only if `follow`.

        Raises ModelFileError or UnreadableError.
        """
        model = Model.load(path, follow=follow)
        try:
            with open_plain(path, follow) as file:
                content = file.read(MAX_FILE_BYTES)
        except OSError as error:
            raise cannot_read(path, error, ModelFileError) from None
        return cls(name or str(path), model, content)

    @classmethod
    def of(cls, model: Model) -> StartModel:
        """Wrap a model. Raises ModelFileError if it cannot be saved."""
        name = model.config.name
        return cls(name, model, model.to_bytes(name))

    @classmethod
    def kept(cls, run: RunDirectory, config: Config) -> StartModel:
        """Read the model that a run with `config` started from.

        Raises RunDirectoryError if it is missing, damaged or another model, and UnreadableError.
        """
        try:
            start = cls.read(run.start, follow=False)
        except ModelFileError as error:
            raise RunDirectoryError(
                f"{error}\nThe run started from this model, and can neither continue nor start "
                "over without it: begin again with --from"
            ) from None
        if start.sha256 != config.run.start_sha256:
            raise RunDirectoryError(
                f"{run.start}: is not the model that the run started from, whose SHA-256 is "
                f"{config.run.start_sha256}: put that one back, or begin the run again"
            )
        return start

    def keep(self, run: RunDirectory) -> None:
        """Write it to a run that starts from it."""
        write_whole(run.start, methodcaller("write", self.content))

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of a run's summary."""
        config = self.model.config
        return {"sha256": self.sha256, "experiment": config.name, "seed": config.training.seed}

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file, in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()

    def named_in(self, config: Config) -> Config:
        """Return `config` with this model as the start of training; the model keeps its wiring.

        Raises ConfigError if the model does not fit, or the configuration names another one.
        """
        config = fitted(self.model, config, self.name).config
        named = config.run.start_sha256
        if named not in (None, self.sha256):
            raise ConfigError(
                f"{self.name}: has the SHA-256 {self.sha256}, and the configuration starts from "
                f"the model of SHA-256 {named} ([run] start_sha256): name that one, or leave the "
                "key out"
            )
        return config.with_facts(start_sha256=self.sha256)


def fitted(model: Model, config: Config, name: str) -> Model:
    """Return `model` as the start of a run with `config`.

    The model keeps its logits and its wiring; all other settings come from `config`. Raises
    ConfigError, naming the differences, if its circuit has other sizes than `config`.
    """
    has = model.layers.architecture
    wants = config.architecture
    different = [
        f"{key}: {_show(getattr(has, part))} in the model, {_show(getattr(wants, part))} asked for"
        for part, key in _SIZES.items()
        if getattr(has, part) != getattr(wants, part)
    ]
    if different:
        raise ConfigError(
            f"{name}: is of another circuit than {config.name}, which cannot start from it:\n  "
            + "\n  ".join(different)
            + "\nName a model that fits, or set these keys to the model's values"
        )
    wired = {"perception": model.config.perception, "update": model.config.update}
    return replace(
        model,
        logits=model.logits.astype(config.training.precision),
        config=config.model_copy(update=wired),
    )


def _show(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
