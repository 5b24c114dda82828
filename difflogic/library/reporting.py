"""A run as one page that opens in any browser: `report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from difflogic.library.loading import Loaded, Source, load
from difflogic.library.measuring import evaluate
from difflogic.library.simplifying import small_form
from difflogic.library.watching import ShouldStop, Watch, never, unwatched
from difflogic.model.automaton import Automaton
from difflogic.system.errors import ConfigError
from difflogic.system.files import check_output, write_whole
from difflogic.tasks import task_class
from difflogic.training.run_directory import saved_model
from difflogic.view import reports

SUFFIXES = (".html", ".htm")


@dataclass(frozen=True)
class Reported:
    """A page, and where it was written, if it was."""

    source: Loaded
    automaton: Automaton
    """As it runs in the page: simplified, and proved equal."""
    page: str
    tested: bool
    """Whether the tests of `evaluate` are in it."""


def require_page(file: str | Path, force: bool = False) -> None:
    """Raise ConfigError or RunDirectoryError unless a page may be written there."""
    if Path(file).suffix not in SUFFIXES:
        raise ConfigError(f"{file}: a report is a page: give the file a name that ends in .html")
    check_output(Path(file), force)


def report(
    source: Source,
    file: str | Path | None = None,
    *,
    effort: str = "normal",
    tests: bool = True,
    force: bool = False,
    time_limit: float | None = None,
    progress: Watch = unwatched,
    should_stop: ShouldStop = never,
    allow_code: bool = False,
) -> Reported:
    """Make a page in which a run, a model or a circuit runs, and which says how it was learned.

    It needs no server and no network. That of a run or a model is simplified and proved equal
    first, and measured unless `tests` is false; `time_limit` is as in `simplify`. An earlier file
    is only replaced with `force`. `allow_code` is that of `load`; the tests need it where a model's
    task is not the program's own.

    Raises what `load` raises; ConfigError for a file that is no page; ProofError if the simplified
    circuit is not proved equal; RunDirectoryError if it cannot be written, or if the run's metrics
    are damaged.
    """
    if file is not None:
        require_page(file, force)
    loaded = load(source, allow_code=allow_code)
    tested = tests and loaded.trained
    if tested:
        task_class(loaded.require_model().config.task)  # at once, if its code may not run
    history, summary = None, None
    if loaded.trained and isinstance(source, str | Path) and not Path(source).is_file():
        history, summary = reports.read_training(saved_model(Path(source)).parent)
    small = small_form(
        loaded, effort, time_limit=time_limit, progress=progress, should_stop=should_stop
    )
    results = None
    if tested:
        results = evaluate(loaded, progress=progress, should_stop=should_stop).results
    found = reports.Source(loaded.automaton, loaded.model, history, summary)
    page = reports.build(found, small, results)
    if file is not None:
        content = page.encode()
        write_whole(Path(file), lambda out: out.write(content))
    return Reported(loaded, small, page, tested)
