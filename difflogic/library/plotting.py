"""Figures of runs and sweeps: `plot`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from difflogic.evaluation.gates import count
from difflogic.library.loading import load
from difflogic.library.outputs import require_output, write_output
from difflogic.scale.sweeps.directory import SweepDirectory
from difflogic.scale.sweeps.results import aggregate, make_row
from difflogic.system.errors import ConfigError
from difflogic.training.run_directory import saved_model
from difflogic.view.plotting import runs, sweeps
from difflogic.view.plotting.style import SUFFIXES, encode, require_matplotlib, styled
from difflogic.view.reports.source import read_training

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Plotted:
    """A figure, and the file if it was written."""

    file: Path | None
    what: str
    """"run" or "sweep"."""
    bytes: int
    """Of the file; 0 if there is none."""
    figure: Figure = field(repr=False)

    def _repr_svg_(self) -> str:
        """Show the figure in a notebook."""
        with styled():
            return encode(self.figure, ".svg").decode()


def plot(source: str | Path, file: str | Path | None = None, *, force: bool = False) -> Plotted:
    """Draw a figure of a run, a model or a sweep's directory, as .svg, .png or .pdf if at all.

    Without a `file` nothing is written; `figure` is matplotlib's, and a notebook shows it.

    Needs matplotlib. Raises ConfigError without it, for another kind of file, and for a circuit,
    which has no training; RunDirectoryError for a damaged run or sweep, and if the file cannot be
    written.
    """
    path = None if file is None else require_output(file, SUFFIXES, force)
    require_matplotlib()
    directory = SweepDirectory(Path(source))
    is_sweep = directory.exists
    with styled():
        made = _sweep(directory) if is_sweep else _run(source)
        content = b"" if path is None else encode(made, path.suffix)
    if path is not None:
        write_output(path, content, force)
    return Plotted(path, "sweep" if is_sweep else "run", len(content), made)


def _run(source: str | Path) -> Figure:
    model = load(source).require_model()
    history, summary = None, None
    if not Path(source).is_file():
        history, summary = read_training(saved_model(Path(source)).parent)
    exact = summary["exact_epoch"] if summary else None
    return runs.draw(model, history, exact, count(model))


def _sweep(directory: SweepDirectory) -> Figure:
    question = directory.read_question()
    if len(question.variants) > sweeps.MOST_VARIANTS:
        raise ConfigError(
            f"{directory.path}: {len(question.variants)} variants are more than a figure can tell "
            f"apart (at most {sweeps.MOST_VARIANTS}); table.csv holds them all"
        )
    rows = []
    for variant in question.variants:
        for seed in question.seeds:
            found = directory.look(variant, seed)
            rows.append(make_row(variant, seed, found.summary, found.problem))
    return sweeps.draw(directory.path.name, aggregate(question, rows), rows)
