"""Pages about runs and circuits: `report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

from difflogic.circuit.automaton import Automaton
from difflogic.library.evaluating import evaluate
from difflogic.library.loaded import Loaded, Source, load_trusted
from difflogic.library.painting import UNPAINTED, Painting, read_painting
from difflogic.library.simplifying import small_form
from difflogic.run.run_directory import saved_model
from difflogic.system.declaration import TimeLimit, checked
from difflogic.system.errors import ConfigError
from difflogic.system.files import is_file, require_output, write_output
from difflogic.tasks import task_class
from difflogic.view import reports

PAGES = (".html", ".htm")


@dataclass(frozen=True)
class Reported:
    """A web page for a run, or a gallery."""

    automata: tuple[Automaton, ...]
    """The automata in the page: simplified, and proved equal."""
    page: str = field(repr=False)

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own."""
        return framed(self.page)


@checked
def report(
    sources: Source | Sequence[Source],
    file: str | Path | None = None,
    *,
    tests: bool = True,
    force: bool = False,
    time_limit: TimeLimit = None,
    allow_code: bool = False,
    painting: Painting = UNPAINTED,
) -> Reported:
    """Make a web page in which a run, a model or a circuit runs, and which shows how it learned.

    Several sources make a gallery, in which what stays is wounded. The page needs no
    server and no network. The circuit of a run or a model is simplified and proved
    equal first, and tested unless `tests` is false; `time_limit` is as in `simplify`. `force`
    overwrites an earlier file. `allow_code` allows the code of a custom task, which tests need, to
    run. `painting` says what a joined circuit shows at first; the page can change it.

    Raises what `load` raises; ConfigError for a wrong suffix; ProofError if the simplified circuit
    cannot be proved equal; RunDirectoryError if the page cannot be written, or the run's metrics
    are damaged.
    """
    if file is not None:
        require_output(file, PAGES, force)
    given = [sources] if isinstance(sources, Source) else sources
    loaded = tuple(load_trusted(each, allow_code) for each in given)
    if not loaded:
        raise ConfigError("sources: name a run or a circuit")
    tested = tests and len(loaded) == 1 and loaded[0].trained
    if tested:
        task_class(loaded[0].require_model().config.task)  # fails now if its code may not run
    small = [small_form(x, time_limit=time_limit) for x in loaded]
    if len(loaded) > 1:
        page = reports.build_gallery(small)
    else:
        found = _source(loaded[0])
        results = evaluate(loaded[0]) if tested else None
        painted = read_painting(painting, small[0])
        page = reports.build(replace(found, painted=painted), small[0], results)
    if file is not None:
        write_output(file, page, force)
    return Reported(tuple(small), page)


def framed(page: str) -> str:
    """Return a page in a frame that can reach neither the notebook nor its server."""
    style = "width:100%;height:640px;border:1px solid #ccc"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(page)}"></iframe>'


def _source(loaded: Loaded) -> reports.ReportSource:
    """Return what is shown of something: of a run its training, too."""
    found = reports.ReportSource(loaded.automaton, loaded.model)
    if loaded.folder is None or is_file(Path(loaded.name)):
        return found
    rows, summary = reports.read_training(saved_model(Path(loaded.name)).parent)
    exact = summary.exact_epoch if summary else None
    return replace(found, rows=rows, summary=summary, exact_epoch=exact)
