"""Learning automata: `train`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from difflogic.config import Config, Override, load_config, shipped_configs
from difflogic.config.applying import without_effect
from difflogic.library.common import MessageCallback, ShouldStop, table
from difflogic.library.loading import Loaded, Source, load
from difflogic.system.callbacks import ignore, listening, never_stop
from difflogic.system.errors import ConfigError, RunDirectoryError
from difflogic.system.files import for_shell
from difflogic.system.ranks import ALONE, Ranks
from difflogic.tasks import task_class
from difflogic.training.metrics import StepResult
from difflogic.training.resuming import differing, without_foreign_results
from difflogic.training.run_directory import (
    CONFIG,
    MODEL,
    SUMMARY,
    RunDirectory,
    find_run,
    run_name,
    saved_model,
)
from difflogic.training.session import Session
from difflogic.training.start_model import StartModel
from difflogic.training.summary import FILES


@dataclass(frozen=True)
class Trained:
    """A run: its directory, and what came out."""

    path: Path
    summary: Mapping[str, Any] = field(repr=False)
    """The contents of the run's summary.json."""

    def _repr_html_(self) -> str:
        """Show in a notebook how far the run came."""
        epochs, exact = self.summary["epochs"], self.exact_epoch
        row = {"run": self.path, "epochs": epochs, "finished": self.finished, "exact from": exact}
        return table([row])

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do; otherwise the run was stopped and can be resumed."""
        return bool(self.summary["finished"])

    @property
    def exact_epoch(self) -> int | None:
        """The epoch at which the hard circuit was verified to be exact; None if it was not."""
        epoch: int | None = self.summary["exact_epoch"]
        return epoch

    def load(self) -> Loaded:
        """Return the model that was saved."""
        return load(self.path)


def resolve(
    config: Config | str | Path | None = None,
    overrides: Sequence[str | Override] = (),
    recipe: str | None = None,
    *,
    resume: str | Path | None = None,
    allow_code: bool = False,
) -> Config:
    """Return a configuration: one that is given, a shipped one's by its name, or a file's.

    `overrides` are written as ``section.key=value``, and like a `recipe` change one that is named.
    `resume` is a run to continue, or "last"; its configuration provides what is not given, and its
    name and length always stay. Published results are left out if overrides make it another
    experiment. `allow_code` permits running the code of a task that is not built in. Raises
    ConfigError, and RunDirectoryError if there is no such run.
    """
    if isinstance(config, Config):
        if overrides or recipe is not None:
            raise ConfigError("a configuration that is loaded already stays as it is: name it")
        return config
    source, kept = config, list(overrides)
    if resume is not None:
        path = find_run(str(resume)) / CONFIG
        stored = load_config(path)
        whole = [f"name={stored.name}", f"training.epochs={stored.training.epochs}"]
        source, kept = source or path, [*map(Override, whole), *kept]
    if source is None:
        known = ", ".join(shipped_configs())
        raise ConfigError(f"name a configuration, one of {known}, or a TOML file; or a run")
    read = partial(load_config, source, allow_code=allow_code)
    settings = read(kept, recipe)
    task_class(settings.task)  # before anything is made, if its code may not run
    return without_foreign_results(settings, read())


def warm_up(run: Session) -> None:
    """Compile the kernels, or load them."""
    run.trainer.warm_up()


def train(
    config: Config | str | Path | None = None,
    overrides: Sequence[str | Override] = (),
    recipe: str | None = None,
    *,
    directory: str | Path | None = None,
    new: bool = False,
    resume: str | Path | None = None,
    source: Source | None = None,
    begin: Callable[[Session], None] = warm_up,
    progress: Callable[[StepResult], None] | None = None,
    should_stop: ShouldStop = never_stop,
    say: MessageCallback = ignore,
    allow_code: bool = False,
    ranks: Ranks = ALONE,
) -> Trained:
    """Train an experiment in a run directory until it is done, and save it.

    Without a `directory`, a new one is made in runs/. An unfinished run of this configuration in
    `directory` is resumed, unless it has to be `new`, and ends as if it had never been interrupted;
    so does a run named by `resume`, or "last". A finished run is returned unchanged; more epochs
    extend it. `begin` is called before the first epoch, but not for a finished run, and has to warm
    up the session. `progress` is called with each epoch's result. `should_stop` is called between
    epochs; if it returns True, the run is saved and can be resumed; nothing is raised. Ctrl-C, or a
    notebook's stop button, saves the run as well, and raises KeyboardInterrupt. `allow_code`
    permits running the code of a task that is not built in. Of several `ranks` this is the first;
    the others have to call `follow`.

    `source` is a saved model that a new run starts from: a run, "last", a file, or a loaded model.
    Its circuit has to have the configuration's sizes. It keeps its wiring, and the run's
    [perception] and [update] say how that was drawn. The run keeps a copy, which it also starts
    over from, identified by the SHA-256 of the file.

    Raises ConfigError, RunDirectoryError for a directory that cannot be used, CircuitError or
    ModelFileError for a `source` that is not a model, and TrainingError if training or saving
    fails.
    """
    settings = resolve(config, overrides, recipe, resume=resume, allow_code=allow_code)
    if source is not None and resume is not None:
        raise ConfigError("a resumed run keeps the model that it started from: name no other")
    start = None if source is None else start_model(source)
    if start is not None:
        asked, settings = settings, start.named_in(settings)
        _say_how_it_is_wired(start.name, asked, settings, say)
    run = open_run(settings, directory, new, resume)
    with Session(settings, run, say, ranks, start) as session:
        if session.summary is None:
            for useless in without_effect(settings):
                say(f"warning: {useless}")
            begin(session)
            with _saved_at_interrupts() as interrupted:
                session.train(lambda: interrupted() or should_stop(), progress)
        else:
            say(_finished(session))
        assert session.summary is not None
        return Trained(run.path, session.summary)


@contextmanager
def _saved_at_interrupts() -> Iterator[ShouldStop]:
    """While entered, hold Ctrl-C back until the run is saved; yield whether it came.

    Python's own handler raises anywhere, also where a step has changed half of the logits. Other
    handlers stay, and so does what happens in other threads.
    """
    own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not own or threading.current_thread() is not threading.main_thread():
        yield never_stop
        return
    came = saving = False

    def remember(*signals: Any) -> None:
        nonlocal came
        came = True

    def asked() -> bool:
        nonlocal saving
        saving = came
        return came

    def end_long_steps(*pauses: Any) -> None:
        if came and not saving:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, remember)
    try:
        with listening(end_long_steps):
            yield asked
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt


def _say_how_it_is_wired(name: str, asked: Config, settings: Config, say: MessageCallback) -> None:
    """Report if the start model was wired in another way than `asked`."""
    changes = differing(asked.model_copy(update={"run": settings.run}), settings)
    if changes:
        say(f"{name}: keeps its wires, and so how they were drawn:\n  " + "\n  ".join(changes))


def start_model(source: Source) -> StartModel:
    """Return a model to start from, from anything that `load` accepts.

    Raises CircuitError, ModelFileError or RunDirectoryError if it cannot be loaded, or if the model
    of a finished run does not match its summary; ConfigError for a circuit, which has no logits.
    """
    loaded = load(source)
    model = loaded.require_model()
    if not isinstance(source, str | Path):
        return StartModel.of(model)
    path = saved_model(Path(source))
    if path == Path(source):
        return StartModel.read(path, loaded.name)
    start = StartModel.read(path, loaded.name, follow=False)
    _require_as_summed_up(start, path)
    return start


def _require_as_summed_up(start: StartModel, path: Path) -> None:
    """Raise RunDirectoryError if a finished run's summary describes another model."""
    problem = None
    try:
        summary = RunDirectory(path.parent).read_summary()
    except RunDirectoryError as error:
        problem = str(error)
    else:
        # An unfinished run may have saved a newer model than its summary describes.
        if summary is not None and summary["finished"]:
            kept = summary[FILES].get(MODEL, start.sha256)
            said = {"sha256": kept} | {key: summary[key] for key in ("experiment", "seed")}
            if said != start.as_dict():
                problem = f"{path}: is damaged, or of another run than {SUMMARY} tells of"
    if problem is not None:
        raise RunDirectoryError(
            f"{problem}: to start from the model as it is, name its file; to have it made again "
            f"from a checkpoint: dct train --resume {for_shell(path.parent)}"
        )


def open_run(
    config: Config, directory: str | Path | None, new: bool, resume: str | Path | None
) -> RunDirectory:
    """Return the directory of a run: the named one, that of a run to resume, or a new one."""
    if resume is not None:
        if directory is not None:
            raise ConfigError("a resumed run already has a directory: name no other")
        return RunDirectory(find_run(str(resume)))
    if directory is not None and not new:
        return RunDirectory.at(Path(directory))
    return RunDirectory.create(
        name=run_name(config), requested=None if directory is None else Path(directory)
    )


def _finished(session: Session) -> str:
    assert session.summary is not None
    asked, epochs = session.config.training.epochs, session.summary["epochs"]
    remedy = f"--epochs above {asked} extends it"
    if epochs < asked:
        remedy = "it met its goal before the last epoch"
    return f"{session.run.path}: finished already, after {epochs} epochs: {remedy}"
