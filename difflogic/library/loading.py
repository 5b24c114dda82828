"""Reading what users name: a run's directory, a model file, or a circuit's JSON."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from difflogic.formats.read_circuit import read_circuit
from difflogic.model.automaton import Automaton, from_model
from difflogic.model.model import Model
from difflogic.system.archive import is_archive
from difflogic.system.errors import CircuitError, ConfigError
from difflogic.tasks import own
from difflogic.training.run_directory import saved_model


@dataclass(frozen=True, eq=False)
class Loaded:
    """What a name leads to: a trained model, or a circuit of its own. Exactly one is given."""

    name: str
    """What messages call it."""
    model: Model | None = None
    circuit: Automaton | None = None

    @property
    def trained(self) -> bool:
        """Whether this is a run or a model, as against a circuit's own file."""
        return self.model is not None

    @cached_property
    def automaton(self) -> Automaton:
        """The hard automaton, as it is, nothing simplified."""
        if self.circuit is not None:
            return self.circuit
        assert self.model is not None
        return from_model(self.model)

    def require_model(self) -> Model:
        """Return the model. Raises ConfigError for a circuit, which has no logits."""
        if self.model is None:
            raise ConfigError(
                f"{self.name}: is a circuit, and no model that was trained: name a run or a model"
            )
        return self.model


Source = str | Path | Loaded | Model | Automaton
"""Whatever `load` takes, and so every function that takes a circuit."""


def load(source: Source, *, allow_code: bool = False) -> Loaded:
    """Return what a path leads to: a run's directory, "last", a model, or a circuit's file.

    What is no path is taken as it is. `allow_code` runs the code of a model's task, if that is not
    the program's own; only tests of the task need it. Raises CircuitError, ModelFileError or
    RunDirectoryError for whatever is none.
    """
    match source:
        case Loaded():
            return source
        case Model():
            return Loaded(source.config.name, model=source)
        case Automaton():
            return Loaded(source.name, circuit=source)
    path = Path(source)
    try:
        file = saved_model(path)
    except OSError as error:  # a name that is too long, or a directory that may not be entered
        reason = (error.strerror or str(error)).lower()
        raise CircuitError(f"{path}: cannot be read: {reason}") from None
    if is_archive(file):
        model = Model.load(file)
        if allow_code:
            own.allow_code(model.config.task, file.parent)
        return Loaded(str(source), model=model)
    return Loaded(str(source), circuit=read_circuit(file))
