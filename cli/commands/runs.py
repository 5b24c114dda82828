"""`dct runs`: lists saved runs, the newest last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import in_one_line, note
from cli.options import AsJson
from cli.terminal import output
from difflogic.system.files import for_shell

if TYPE_CHECKING:
    from difflogic.training.run_directory import Listed


def runs(directory: Path = Path("runs"), as_json: AsJson = False) -> None:
    """List saved runs and sweeps, the newest last.

    For other commands, "last" names the newest run. A run that is listed as stopped may still be
    training; if it is not, continue it with dct train --resume RUN. Seconds are training time.

    Operands:
        directory DIR: Directory of runs, by default runs
    """
    from difflogic.training.run_directory import SWEEP, list_runs

    found = list_runs(directory)
    if as_json:
        output.show_json(found)
        return
    if not found:
        hint = "no runs yet: dct train NAME makes one"
        if (directory / SWEEP).is_file():
            place = for_shell(directory)
            hint = f"is a sweep: dct watch {place} shows it, dct sweep --dir {place} continues it"
        note(f"{directory}: {hint}")
        return
    # The default name of a run contains its experiment, seed and time.
    output.show_table(
        "run | started | experiment | state | seed | epochs | exact | active gates | seconds",
        map(_row, found),
        texts=4,
        spare="started | experiment | seed | active gates | epochs | seconds",
    )


def _row(listed: Listed) -> list[Any]:
    return [
        in_one_line(str(listed.path)),
        f"{listed.begun.astimezone():%Y-%m-%d %H:%M}",
        in_one_line(listed.experiment or "-"),
        listed.state,
        listed.seed,
        listed.epochs,
        {True: "yes", False: "no", None: None}[listed.exact],
        listed.active_gates,
        None if listed.seconds is None else f"{listed.seconds:.1f}",
    ]
