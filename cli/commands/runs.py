"""`dct runs`: lists saved runs, the newest last; shows, compares and removes them."""

from __future__ import annotations

import hashlib
import json
import string
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.failures import FAILURE, in_one_line, note
from cli.options import AsJson
from cli.terminal import output
from difflogic.system.declaration import Operand, Opt
from difflogic.system.errors import ConfigError
from difflogic.system.quantities import counted, show_bytes

if TYPE_CHECKING:
    from difflogic.run.records import Records

RunOrSweep = Annotated[Path, Operand('Run directory ("last" for the newest), or sweep', "RUN")]
RunPaths = Annotated[Sequence[Path], Operand(metavar="RUN…")]
WIDEST = 40
"""Characters of a value in a table."""
UNCOMPARED = ("path", "begun", "age")
ALWAYS_COMPARED = ("verdict", "gates", "epochs", "seconds")
"""Results that are shown even if they are equal."""
_SETTINGS = {True: "as shipped", False: "of no shipped experiment", None: ""}
"""By whether a run's experiment is a shipped one."""
AGES = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def list_(
    directory: Annotated[Path, Operand("Directory of runs, or a sweep", "DIR")] = Path("runs"),
    inside: Annotated[bool, Opt("List the runs inside sweeps, too", names="--all")] = False,
    as_json: AsJson = False,
) -> None:
    """List saved runs and sweeps, the newest last, with the settings that differ.

    For other commands, "last" names the newest run. The verdict proved means right in every case,
    exact right on samples, late right only from a later step on; a rule learned from examples is
    right on its pairs, and not proved on other grids. A run that is stopped continues with
    dct train --resume RUN.
    """
    from difflogic.run import records

    found = records.runs(directory, inside=inside)
    if as_json:
        output.show_json(found)
    elif not found:
        note(f"{directory}: no runs yet: dct train NAME makes one, dct runs show RUN shows it")
    else:
        _show_records(found, found.settings)
    _tell(found)


def _tell(found: Records) -> None:
    """Name what is wrong with runs. Exits 1 if something could not be read."""
    for problem in found.problems:
        note(f"error: {in_one_line(problem)}")
    if not found.is_complete:
        raise typer.Exit(FAILURE)


def _show_records(found: Sequence[dict[str, Any]], settings: Sequence[str]) -> None:
    """Show a line per run. On a narrow terminal, columns are left out; settings go late."""
    words = ["experiment", "verdict"]
    heads = {key: key.rpartition(".")[2] for key in settings}
    numbers = ["seed", "gates", "epochs", "seconds", "age"]
    for key, head in heads.items():
        if [*heads.values(), *words, *numbers].count(head) > 1:
            heads[key] = key
    columns = {"path": "run"} | {key: key for key in words} | heads | {key: key for key in numbers}
    spare = ["experiment", "seed", "seconds", "epochs", "age", *reversed(heads.values())]
    output.show_table(
        " | ".join(columns.values()),
        ([_cell(key, run[key]) for key in columns] for run in found),
        texts=1 + len(words),
        spare=" | ".join([*(each for each in spare if each in columns.values()), "gates"]),
    )


def _cell(key: str, value: Any) -> str | None:
    """Return a value of a record as a short text; None if it has none."""
    match value:
        case None | "" | []:
            return None
        case float() if key == "age":
            size, unit = next((s, unit) for s, unit in AGES if value >= s or s == 1)
            return f"{max(value, 0) // size:.0f} {unit}"
        case float() if key.endswith("seconds"):
            return f"{value:.1f}"
        case list() if key in ("task.pairs", "task.held_out"):
            return str(len(value))
        case str() if "\n" in value and key != "path":  # a picture
            rows = value.strip().split("\n")
            return f"{len(rows)}×{len(rows[0])} {hashlib.sha256(value.encode()).hexdigest()[:4]}"
        case _:
            text = in_one_line(value if isinstance(value, str) else json.dumps(value))
            return text if len(text) <= WIDEST or key == "path" else text[: WIDEST - 1] + "…"


def show(run: RunOrSweep, as_json: AsJson = False) -> None:
    """Show a run: its results, its settings beside the shipped ones, and its files."""
    from cli.terminal import report
    from difflogic.run import records

    found = records.describe(run)
    record = found.record
    if as_json:
        output.show_json(found)
        if record["state"] == "unreadable":
            raise typer.Exit(FAILURE)
        return
    path = record["path"]
    state = record["state"]
    begun = record["begun"].astimezone()
    age = _cell("age", record["age"])
    lines = {
        "run": in_one_line(path),
        "begun": f"{begun:%Y-%m-%d %H:%M}, {age} ago",
        "state": state,
        "problem": in_one_line(found.problem or ""),
        "experiment": in_one_line(f"{record['experiment']}, seed {record['seed']}"),
        "settings": _SETTINGS[found.is_shipped],
        "files": ", ".join(
            f"{in_one_line(name)} {show_bytes(size)}" for name, size in found.files.items()
        ),
    }
    if found.changed:
        lines["settings"] = "\n".join(
            f"{key} {_cell(key, here) or '-'}, shipped {_cell(key, shipped) or '-'}"
            for key, (shipped, here) in found.changed.items()
        )
    if record["experiment"] is None:
        lines.pop("experiment")
    output.show_lines({label: text for label, text in lines.items() if text})
    if found.summary is not None:
        usable = found.problem is None
        typer.echo("\n" + report.render(found.summary, path, table=True, usable=usable))
    if state == "unreadable":
        raise typer.Exit(FAILURE)


def compare(
    sources: Annotated[RunPaths, Opt('Two runs or more; "last" is the newest')],
    as_json: AsJson = False,
) -> None:
    """Compare runs: the settings in which they differ, and their results, side by side."""
    from difflogic.run import records

    found = records.runs(sources)
    if len(found) < 2:
        raise ConfigError("name two runs or more, such as runs/a and last")
    if as_json:
        output.show_json(found)
        _tell(found)
        return
    names = string.ascii_uppercase[: len(found)] if len(found) <= 26 else range(1, len(found) + 1)
    heads = {str(name): in_one_line(run["path"]) for name, run in zip(names, found, strict=True)}
    output.show_lines(heads)
    typer.echo()
    results = [key for key in found[0] if key not in (*found.settings, *UNCOMPARED)]
    lines = [[key, *(_cell(key, run[key]) for run in found)] for key in (*found.settings, *results)]
    shown = [line for line in lines if len(set(line[1:])) > 1 or line[0] in ALWAYS_COMPARED]
    output.show_table(" | ".join(["", *heads]), shown, texts=1 + len(heads))
    _tell(found)


def remove(
    sources: Annotated[RunPaths, Opt('Runs or sweeps; "last" is the newest')],
    yes: Annotated[bool, Opt("Do not ask", names="--yes -y")] = False,
) -> None:
    """Remove runs and sweeps: the files that dct wrote, and then their directories.

    Asks first. Refuses a run that is training, a directory that holds other files, and links.
    """
    from difflogic.run.lock import removable
    from difflogic.run.records import runs

    found = list({each.path: each for each in map(removable, sources)}.values())
    if not yes:
        if not sys.stdin.isatty():
            raise ConfigError("nothing is removed without --yes where nobody can be asked")
        records = runs([each.path for each in found])
        _show_records(records, records.settings)
        size = show_bytes(sum(each.size for each in found))
        if not typer.confirm(f"Remove {counted(len(found), 'run')}, {size}?", err=True):
            return
    for each in found:
        each.remove()
        note(f"removed {each.path}")
