"""What a circuit is tested or proved for: a model's own task, custom code included, or another."""

from __future__ import annotations

from difflogic.config import Config, load_config
from difflogic.library.loaded import Loaded, Source, load
from difflogic.system.errors import ConfigError, shorten
from difflogic.system.quantities import counted, format_ranges
from difflogic.tasks import make_task
from difflogic.tasks.code import allow_code as run_code


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
