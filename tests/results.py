"""The figures on the user pages: `python -m tests.results` measures them, and says which moved.

docs/results/runs.csv has a row for each set of runs: the shell commands that train them (or a test
that reports what it found), and what came of them, with processor, date and commit. Tables of the
pages are made from it, as tables.toml says.
With --write, new figures replace the old ones, in the file and on the pages.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import difflogic
from difflogic.config import load_config, shipped_configs
from difflogic.sweeps.sweep_results import wilson_interval
from difflogic.system import machine

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "results"
FILE = FOLDER / "runs.csv"
COUNTS = ("runs", "proved", "exact")
MEASURED = ("epochs", "gates", "seconds", "learned")
SPREAD = tuple(f"{name}{end}" for name in MEASURED for end in ("", "_min", "_max"))
FIGURES = (*COUNTS, *SPREAD, "notes")
COLUMNS = ("name", "command", *FIGURES, "processor", "date", "commit", "quick")
Row = Mapping[str, str]


TABLES = tomllib.loads((FOLDER / "tables.toml").read_text(encoding="utf-8"))


def read() -> dict[str, Row]:
    """Return the rows of runs.csv by name."""
    with FILE.open(newline="", encoding="utf-8") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def write(rows: Iterable[Row]) -> None:
    """Write runs.csv."""
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def measure(row: Row) -> dict[str, str]:
    """Run a row's command in an empty directory, and return the row with what came of it.

    What counts are the runs in its directory `runs`, or what it wrote to `found.json`. Gates of the
    circuits in the directory are notes.
    """
    source, root = provenance(), ROOT / "tests"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder, "found.json")
        environment = {
            **os.environ,
            "PATH": path,
            "PICTURES": str(root / "pictures"),
            "GOALS": str(root / "difflogic" / "identification" / "test_goals.py"),
            "DCT_FOUND": str(there),
        }
        command = ["bash", "-ec", row["command"]]
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        if there.exists():
            return {**row, **json.loads(there.read_text(encoding="utf-8")), **source}
        records = difflogic.runs(Path(folder) / "runs", inside=True)
        for run in records:
            summary = json.loads(Path(run["path"], "summary.json").read_text(encoding="utf-8"))
            run["learned"] = 100 * summary["scores"]["accuracy"]
        sizes = [len(json.loads(file.read_text())["gates"]) for file in Path(folder).glob("*.json")]
    simplified = f"{median(sizes):g} ({min(sizes)} to {max(sizes)})" if sizes else row["notes"]
    return {**row, **figures(records), "notes": simplified, **source}


def figures(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the counts of some runs, and median, least and most of each measure."""
    runs = list(records)
    verdicts = [run["verdict"] for run in runs]
    proved = verdicts.count("proved")
    counts = len(runs), proved, proved + verdicts.count("exact")
    found = dict(zip(COUNTS, map(str, counts), strict=True))
    for name in MEASURED:
        values = [run["processor_seconds" if name == "seconds" else name] for run in runs]
        for end, value in (("", median(values)), ("_min", min(values)), ("_max", max(values))):
            found[name + end] = f"{value:.1f}" if name in ("seconds", "learned") else f"{value:g}"
    return found


@cache  # before --write changes files
def provenance() -> dict[str, str]:
    """Return the processor, the date and the commit of what is measured now."""
    words = ["git", "describe", "--always", "--dirty"]
    head = subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    cpu = machine.cpu()["name"]
    return {"processor": cpu, "date": date.today().isoformat(), "commit": head}


def render(table: Mapping[str, Any], rows: Mapping[str, Row]) -> str:
    """Return a table in Markdown."""
    heads = table["heads"].split(" | ")
    lines = [f"| {table['heads']} |", "|" + "---|" * len(heads)]
    lines += [f"| {_cells(table, rows[name], label)} |" for name, label in table["rows"].items()]
    return "".join(f"{line}\n" for line in lines)


def _cells(table: Mapping[str, Any], row: Row, label: str) -> str:
    values = {**row, "label": label, "said": row["notes"]}
    values["notes"] = row["notes"] and f"; {row['notes']}"
    for name in MEASURED:
        least, most = row[f"{name}_min"], row[f"{name}_max"]
        values[f"{name}_median"] = row[name] or "–"
        span = "" if least == most else f" ({least} to {most})"
        values[name] = values[f"{name}_median"] + span
    if row["name"] in shipped_configs():
        published = load_config(row["name"]).published
        for name in ("learned_by", "active_gates"):
            values[name] = getattr(published, name) or "–"
    low, high = wilson_interval(int(row["exact"]), int(row["runs"]))
    values["interval"] = f"{100 * low:.0f} to {100 * high:.0f} %"
    # A loop over seeds is for a shell, and too long for a page.
    values["shown"] = (
        f"`{row['command']}`" if ";" not in row["command"] else "[see the file](results/runs.csv)"
    )
    return table["cells"].format_map(values)


def on_page(name: str) -> tuple[str, str, str]:
    """Return a page's text before a table, the table, and the text after it."""
    text = (ROOT / "docs" / TABLES[name]["page"]).read_text(encoding="utf-8")
    before, mark, rest = text.partition(f"<!-- results: {name} -->\n")
    assert mark, f"{TABLES[name]['page']} has no line <!-- results: {name} -->"
    table = re.match(r"(\|.*\n)*", rest)[0]
    return before + mark, table, rest[len(table) :]


def main() -> int:
    """Measure the named rows, or all; show each beside what the file says."""
    parser = argparse.ArgumentParser(prog="python -m tests.results", description=__doc__)
    rows = read()
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows to measure, by default all")
    parser.add_argument("--quick", action="store_true", help="only rows that take seconds")
    parser.add_argument(
        "--write", action="store_true", help="replace the figures in file and pages"
    )
    given = parser.parse_args()
    if unknown := set(given.names) - set(rows):
        parser.error(f"no row {', '.join(sorted(unknown))}: choose from {', '.join(rows)}")
    chosen = given.names or [name for name, row in rows.items() if row["quick"] or not given.quick]
    moved = []
    for name in chosen:
        new = measure(rows[name])
        changes = [
            f"{key} {rows[name][key] or '-'} → {new[key]}"
            for key in FIGURES
            if new[key] != rows[name][key]
        ]
        others = [change for change in changes if not change.startswith("seconds")]
        moved += [name] if others else []
        print(f"{name}: {'; '.join(changes) or 'all figures hold'}", flush=True)
        if given.write:
            rows[name] = new
            write(rows.values())
    if given.write:
        for name in TABLES:
            before, _, after = on_page(name)
            page = ROOT / "docs" / TABLES[name]["page"]
            page.write_text(before + render(TABLES[name], rows) + after, encoding="utf-8")
    print(f"{len(chosen)} measured; moved beyond seconds: {', '.join(moved) or 'none'}")
    return 1 if moved and not given.write else 0


if __name__ == "__main__":
    sys.exit(main())
