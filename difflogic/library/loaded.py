"""Loading a run's directory, a model file, or a circuit file, with its task: `load`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.config import Config, load_config
from difflogic.formats.circuit_file import BY_CHANCE, Parse, read_circuit
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.run.run_directory import RunDirectory, saved_model
from difflogic.run.summary import require_whole
from difflogic.system.archive import is_archive
from difflogic.system.declaration import checked
from difflogic.system.errors import CircuitError, ConfigError, described, shorten
from difflogic.system.quantities import counted, format_ranges
from difflogic.tasks import make_task
from difflogic.tasks.code import allow_code as run_code

VERBS = (
    "apply",
    "certify",
    "evaluate",
    "export",
    "inspect",
    "prove",
    "render",
    "report",
    "simplify",
    "simulate",
)
"""Public functions that take what `load` returns."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A trained model or a circuit. VERBS are its methods: each is the function of its name."""

    name: str
    """How messages name it."""
    model: Model | None = None
    circuit: Automaton | None = None
    folder: Path | None = None
    """Where a model's file is, beside its task's own code."""

    def __getattr__(self, name: str) -> Any:
        if name not in VERBS:
            raise AttributeError(f"what is loaded has no attribute {name!r}")
        return partial(getattr(import_module("difflogic"), name), self)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *VERBS])

    def __repr__(self) -> str:
        return f"Loaded({self.name!r}, {self.model or self.circuit!r})"

    @property
    def trained(self) -> bool:
        """Whether this is a run or a model, not a circuit."""
        return self.model is not None

    @cached_property
    def automaton(self) -> Automaton:
        """The hard automaton, not simplified."""
        if self.circuit is not None:
            return self.circuit
        assert self.model is not None
        return from_model(self.model)

    def require_model(self) -> Model:
        """Return the model. Raises ConfigError for a circuit, which has no logits."""
        if self.model is None:
            raise ConfigError(
                f"{self.name}: is a circuit, not a trained model: name a run or a model"
            )
        return self.model


Source = str | Path | Loaded | Model | Automaton
"""What every function that takes a circuit accepts: see `load`."""


@checked
def load(source: Source, by_chance: Parse | None = None) -> Loaded:
    """Load a run's directory, "last" for the newest, a model file, or a circuit file.

    A loaded model or automaton is accepted, too. Raises CircuitError, ModelFileError or
    RunDirectoryError if the path leads to none of these, to a finished run whose files have
    changed, or to a rule by chance, unless `by_chance` parses it.
    """
    own = source.circuit if isinstance(source, Loaded) else source
    if by_chance is None and isinstance(own, Automaton) and own.circuit.interpreter:
        raise CircuitError(f"{own.name}: {BY_CHANCE}")
    match source:
        case Loaded():
            return source
        case Model():
            return Loaded(source.config.name, model=source)
        case Automaton():
            return Loaded(source.name, circuit=source)
        case str() | Path():
            path = Path(source)
        case _:  # an array
            raise CircuitError(f"source: is {described(source)}: give a path, a model or a circuit")
    file = saved_model(path)
    if is_archive(file):
        model = Model.load(file)
        if file != path:
            require_whole(RunDirectory(file.parent), model.config)
        return Loaded(str(source), model=model, folder=file.parent)
    return Loaded(str(source), circuit=read_circuit(file, by_chance))


def load_trusted(source: Source, allow_code: bool) -> Loaded:
    """Load what `load` does; `allow_code` allows the code of a model's custom task to run.

    Raises what `load` raises, and ConfigError for code that is missing or has changed.
    """
    loaded = load(source)
    if allow_code and loaded.model is not None and loaded.folder is not None:
        run_code(loaded.model.config.task, loaded.folder)
    return loaded


def experiment_of(loaded: Loaded, experiment: Config | str | None) -> Config | None:
    """Return the configuration of a model, or of an experiment that fits a circuit, if any."""
    if loaded.model is not None:
        if experiment is not None:
            name = experiment if isinstance(experiment, str) else experiment.name
            raise ConfigError(f"task {name}: {loaded.name} has a task of its own: leave it out")
        return loaded.model.config
    if experiment is None:
        return None
    config = load_config(experiment) if isinstance(experiment, str) else experiment
    automaton = loaded.automaton
    task = make_task(config)
    labels = automaton.circuit.labels
    if task.loss_channels != automaton.visible or max(labels) >= task.channels:
        some = task.loss_channels, labels, automaton.visible
        compared, known, visible = (shorten(format_ranges(each)) for each in some)
        raise ConfigError(
            f"task {config.name}: it has {counted(task.channels, 'channel')} and compares "
            f"{compared}, but the circuit has the channels {known}, with {visible} visible"
        )
    require_same("boundary", config, loaded)
    return config


def require_same(key: str, config: Config, loaded: Loaded) -> None:
    """Raise ConfigError if an experiment's boundary or fire rate is not that of a circuit."""
    asked, found = (getattr(each, key) for each in (config.automaton, loaded.automaton))
    if asked != found:
        raise ConfigError(
            f"task {config.name}: its {key} is {asked}, but that of {loaded.name} is {found}"
        )
