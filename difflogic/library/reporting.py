"""Runs as self-contained web pages: `report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from difflogic.library.loading import Loaded, Source, load
from difflogic.library.measuring import evaluate
from difflogic.library.outputs import require_output, write_output
from difflogic.library.progress import ProgressCallback
from difflogic.library.showing import framed
from difflogic.library.simplifying import small_form
from difflogic.model.automaton import Automaton
from difflogic.system.callbacks import ignore
from difflogic.tasks import task_class
from difflogic.training.run_directory import saved_model
from difflogic.view import reports

SUFFIXES = (".html", ".htm")


@dataclass(frozen=True)
class Reported:
    """A page for a run."""

    source: Loaded
    automaton: Automaton
    """The automaton in the page: simplified, and proved equal."""
    page: str = field(repr=False)
    tested: bool
    """Whether it has the tests of `evaluate`."""

    def _repr_html_(self) -> str:
        """Show the page in a notebook, where it runs in a frame of its own."""
        return framed(self.page)


def gallery(
    sources: Sequence[Source],
    file: str | Path | None = None,
    *,
    effort: str = "normal",
    force: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore,
    allow_code: bool = False,
) -> str:
    """Make one web page in which several runs, models or circuits run, are wounded, and heal.

    Everything is as in `report`, which shows one of them in detail.
    """
    if file is not None:
        require_output(file, SUFFIXES, force)
    automata = [
        small_form(
            load(source, allow_code=allow_code), effort, time_limit=time_limit, progress=progress
        )
        for source in sources
    ]
    page = reports.build_gallery(automata)
    if file is not None:
        write_output(file, page, force)
    return page


def report(
    source: Source,
    file: str | Path | None = None,
    *,
    effort: str = "normal",
    tests: bool = True,
    force: bool = False,
    time_limit: float | None = None,
    progress: ProgressCallback = ignore,
    allow_code: bool = False,
) -> Reported:
    """Make a web page in which a run, a model or a circuit runs, and which shows how it learned.

    It needs no server and no network. The circuit of a run or a model is simplified and proved
    equal first, and tested unless `tests` is false; `time_limit` is as in `simplify`. `force`
    overwrites an earlier file. `allow_code` is that of `load`; the tests of custom tasks need it.

    Raises what `load` raises; ConfigError for a wrong suffix; ProofError if the simplified circuit
    cannot be proved equal; RunDirectoryError if the page cannot be written, or the run's metrics
    are damaged.
    """
    if file is not None:
        require_output(file, SUFFIXES, force)
    loaded = load(source, allow_code=allow_code)
    tested = tests and loaded.trained
    if tested:
        task_class(loaded.require_model().config.task)  # at once, if its code may not run
    history, summary = None, None
    if loaded.trained and isinstance(source, str | Path) and not Path(source).is_file():
        history, summary = reports.read_training(saved_model(Path(source)).parent)
    small = small_form(loaded, effort, time_limit=time_limit, progress=progress)
    results = None
    if tested:
        results = evaluate(loaded, progress=progress).results
    found = reports.Source(loaded.automaton, loaded.model, history, summary)
    page = reports.build(found, small, results)
    if file is not None:
        write_output(file, page, force)
    return Reported(loaded, small, page, tested)
