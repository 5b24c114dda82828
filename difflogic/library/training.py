"""Training automata: `train`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from difflogic.config import Config, Override, load_config, shipped_configs
from difflogic.config.effects import without_effect
from difflogic.experiment.overrides import Set
from difflogic.experiment.session import Session
from difflogic.library.loaded import Source, load
from difflogic.run.measures import StepResult
from difflogic.run.opened_run import StartModel
from difflogic.run.run_directory import RunDirectory, saved_model
from difflogic.run.settings import differing, read_config, run_name
from difflogic.run.summary import Summary
from difflogic.system.deadline import never_stop
from difflogic.system.declaration import NewDirectory, Recipe, checked
from difflogic.system.errors import ConfigError
from difflogic.system.ranks import ALONE, Ranks
from difflogic.system.stops import deferring_interrupts
from difflogic.system.work import say
from difflogic.tasks import task_class


@dataclass(frozen=True)
class Trained:
    """A run and its results."""

    path: Path
    summary: Summary = field(repr=False)
    """The contents of the run's summary.json."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do; otherwise the run was stopped and can be resumed."""
        return self.summary.finished

    @property
    def exact_epoch(self) -> int | None:
        """The epoch at which the hard circuit was verified to be exact; None if it was not."""
        return self.summary.exact_epoch


def resolve(
    config: Config | str | Path | None = None,
    overrides: Sequence[str | Override] = (),
    recipe: str | None = None,
    *,
    resume: str | Path | None = None,
    allow_code: bool = False,
) -> Config:
    """Return a configuration: as given, or loaded by a shipped name or from a file.

    `overrides`, written as ``section.key=value``, and a `recipe` change a loaded configuration.
    `resume` is a run to continue, or "last"; its configuration is the default, and its name, seed
    and length are kept. If overrides make it another experiment, published results are left out.
    `allow_code` allows the code of a custom task to run. Raises ConfigError, and RunDirectoryError
    if there is no such run.
    """
    if isinstance(config, Config):
        if overrides or recipe is not None:
            raise ConfigError("a loaded configuration cannot be changed here: give its name")
        return config
    source = config
    kept = list(overrides)
    if resume is not None:
        run = RunDirectory.named(resume)
        stored = read_config(run)  # through no link
        assert stored is not None
        source = source or run.config
        kept = [
            Override("name", stored.name),
            Override("training.seed", stored.training.seed),
            Override("training.epochs", stored.training.epochs),
            *kept,
        ]
    if source is None:
        known = ", ".join(shipped_configs())
        raise ConfigError(
            f"name a configuration, one of {known}, or a TOML file; or use --resume RUN"
        )
    settings = load_config(source, kept, recipe, allow_code=allow_code, drop_published=True)
    task_class(settings.task)  # fails now if its code may not run
    return settings


@checked
def train(
    config: Config | str | Path | None = None,
    overrides: Set = (),
    recipe: Recipe = None,
    *,
    directory: NewDirectory = None,
    new: bool = False,
    resume: str | Path | None = None,
    source: Source | None = None,
    begin: Callable[[Session], object] = lambda run: run.trainer.warm_up(),
    progress: Callable[[StepResult], None] | None = None,
    should_stop: Callable[[], bool] = never_stop,
    allow_code: bool = False,
    ranks: Ranks = ALONE,
) -> Trained:
    """Train an experiment in a run directory until it is done, and save it.

    Without a `directory`, a new one is made in runs/. An unfinished run of this configuration in
    `directory` is resumed, unless `new`, with the same result as without the interruption. `resume`
    names a run to continue, or "last". A finished run is returned unchanged; more epochs extend it.

    `begin` is called before the first epoch and must warm up the session; it is not called for a
    finished run. `progress` is called with each epoch's result. `should_stop` is called between
    epochs; if it returns true, the run is saved and can be resumed. Ctrl-C, or a notebook's stop
    button, saves the run as well, and raises KeyboardInterrupt.
    `allow_code` allows the code of a custom task to run. With several `ranks`, the first calls
    this, and the others call `follow`.

    `source` is a model to start from: a run, "last", a file, or a loaded model. Its circuit must
    have the configuration's sizes. It keeps its wiring, so [perception] and [update] of the run say
    how that was drawn. The run keeps a copy of it, which restarts use, too.

    Raises ConfigError, RunDirectoryError for an unusable directory, CircuitError or ModelFileError
    for a `source` that is not a model, and TrainingError if training or saving fails.
    """
    settings = resolve(config, overrides, recipe, resume=resume, allow_code=allow_code)
    if resume is not None and directory is not None:
        raise ConfigError("a resumed run already has a directory: leave --dir out")
    if resume is not None and source is not None:
        raise ConfigError("a resumed run keeps the model that it started from: leave --from out")
    start = None if source is None else start_model(source)
    if start is not None:
        before, settings = settings, start.named_in(settings)
        changes = differing(before.model_copy(update={"run": settings.run}), settings)
        if changes:
            lines = "\n  ".join(changes)
            say(f"{start.name}: keeps its wires, and so how they were drawn:\n  {lines}")
    run = open_run(settings, directory, new, resume)
    with Session(settings, run, ranks, start) as session:
        if session.summary is None:
            for useless in without_effect(settings):
                say(f"warning: {useless}")
            begin(session)
            with deferring_interrupts():
                session.train(should_stop, progress)
        else:
            say(_finished(session))
        assert session.summary is not None
        return Trained(run.path, session.summary)


def start_model(source: Source) -> StartModel:
    """Return a model to start from, given as for `load`.

    Raises CircuitError, ModelFileError or RunDirectoryError if it cannot be loaded, or if the model
    of a finished run does not match its summary; ConfigError for a circuit, which has no logits.
    """
    loaded = load(source)
    model = loaded.require_model()
    if not isinstance(source, str | Path):
        return StartModel.of(model)
    path = saved_model(Path(source))
    return StartModel.read(path, loaded.name, follow=path == Path(source))


def open_run(
    config: Config, directory: str | Path | None, new: bool, resume: str | Path | None
) -> RunDirectory:
    """Return the directory of the run: the named one, that of the resumed run, or a new one."""
    if resume is not None:
        return RunDirectory.named(resume)
    if directory is not None and not new:
        return RunDirectory.at(directory)
    return RunDirectory.create(run_name(config), directory)


def _finished(session: Session) -> str:
    assert session.summary is not None
    requested = session.config.training.epochs
    epochs = session.summary.epochs
    remedy = f"--epochs above {requested} extends it"
    if epochs < requested:
        remedy = "it met its goal before the last epoch"
    return f"{session.run.path}: finished already, after {epochs} epochs: {remedy}"
