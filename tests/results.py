"""The figures on the user pages: `make figures` measures them, and says which pages would change.

docs/results/runs.csv has a row for each: a shell command, and what came of it, with processor, date
and commit. pages.toml says where it stands: in the tables and in the sentences of the pages.
By default only rows are measured that take up to ten CPU seconds, their `cost`, and none without
one: these need data or a machine that is not here, and name commit and processor. What was measured
at this commit is not measured again: a stopped `make figures ALL=1` goes on. With --write, it
replaces what file and pages say. seeds.csv keeps what came of each seed of the rows in README.md,
so that tests can repeat single ones.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import ChainMap
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import difflogic
from difflogic.config import load_config, shipped_configs
from difflogic.sweeps.sweep_results import wilson_interval
from difflogic.system import machine
from tests.paths import DOCS, ROOT

FOLDER = DOCS / "results"
FILE = FOLDER / "runs.csv"
SEEDS = FOLDER / "seeds.csv"
COUNTS = ("runs", "proved", "exact")
MEASURED = ("epochs", "gates", "seconds", "learned")
SPREAD = tuple(f"{name}{end}" for name in MEASURED for end in ("", "_min", "_max"))
FIGURES = (*COUNTS, *SPREAD, "notes")
COLUMNS = ("name", "command", *FIGURES, "processor", "date", "commit", "cost")
CHEAP = 10
"""CPU seconds of a row's command, its `cost`, up to which it is measured by default."""
FOUND = ROOT / "build" / "figures.json"
"""What was measured, by commit and name."""
SEED = ("seed", "verdict", "epochs", "gates", "learned")
"""What seeds.csv has of each run, after the row's name."""
FIELD = re.compile(r"\{.*?\}")
Row = Mapping[str, str]

TABLES = tomllib.loads((FOLDER / "pages.toml").read_text("utf-8"))
SENTENCES = TABLES.pop("sentences")
PRINTED = TABLES.pop("printed")
TYPED = TABLES.pop("typed")
HEADLINES = tuple(TABLES["summary"]["rows"])
PAGES = sorted({table["page"] for table in TABLES.values()} | SENTENCES.keys())


def read() -> dict[str, Row]:
    """Return the rows of runs.csv by name."""
    with FILE.open(newline="", encoding="utf-8") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def seeds() -> dict[str, list[dict[str, Any]]]:
    """Return the runs of each row in README.md, as they are in seeds.csv."""
    found: dict[str, list[dict[str, Any]]] = {}
    with SEEDS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = {key: int(row[key]) for key in ("seed", "epochs", "gates")}
            run = {**row, **numbers, "learned": float(row["learned"])}
            found.setdefault(run.pop("name"), []).append(run)
    return found


def write(rows: Iterable[Row], runs: Mapping[str, list[dict[str, Any]]]) -> None:
    """Write runs.csv and seeds.csv."""
    every = [{"name": name, **run} for name in HEADLINES for run in runs[name]]
    for path, columns, lines in ((FILE, COLUMNS, rows), (SEEDS, ("name", *SEED), every)):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


def measure(row: Row) -> dict[str, Any]:
    """Run a row's command in an empty directory, and return the row with what came of it.

    What counts are the runs in its directory `runs`, or what it wrote to `found.json`. Notes are
    gates of the circuits in the directory, or else what a command without runs printed. `seeds`
    has each run.
    """
    source = provenance()
    tests = ROOT / "tests"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder, "found.json")
        environment = {
            **os.environ,
            "PATH": path,
            "DOCS": str(DOCS),
            "PICTURES": str(tests / "pictures"),
            "GOALS": str(tests / "difflogic" / "identification" / "test_goals.py"),
            "DCT_FOUND": str(there),
        }
        command = ["bash", "-ec", row["command"]]
        began = sum(os.times()[2:4])  # of processes that have ended
        done = subprocess.run(
            command, cwd=folder, env=environment, check=True, text=True, stdout=subprocess.PIPE
        )
        source["cost"] = f"{sum(os.times()[2:4]) - began:.0f}"
        if there.exists():
            return {**row, **json.loads(there.read_text("utf-8")), **source}
        if not Path(folder, "runs").exists():
            notes = re.sub(r"\s*\n\s*", " | ", done.stdout.strip())
            return {**row, "notes": notes, **source}
        records = difflogic.runs(Path(folder) / "runs", inside=True)
        for run in records:
            summary = json.loads(Path(run["path"], "summary.json").read_text("utf-8"))
            run["learned"] = 100 * summary["scores"]["accuracy"]
            run["seed"] = summary["seed"]
        sizes = [len(json.loads(file.read_text())["gates"]) for file in Path(folder).glob("*.json")]
    simplified = f"{median(sizes):g} ({min(sizes)} to {max(sizes)})" if sizes else row["notes"]
    each = [{key: run[key] for key in SEED} for run in records]
    each.sort(key=lambda run: int(run["seed"]))
    return {**row, **figures(records), "notes": simplified, **source, "seeds": each}


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


def git(*words: str) -> str:
    """Return what Git says of this repository."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def provenance() -> dict[str, str]:
    """Return the processor, the date and the commit of what is measured now."""
    head = git("describe", "--always", "--dirty")
    cpu = machine.cpu()["name"]
    return {"processor": cpu, "date": date.today().isoformat(), "commit": head}


def day() -> int:
    """Return the day of the last commit, which draws what tests repeat."""
    return int(git("log", "-1", "--format=%ct") or 0) // 86400


def render(table: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Return a table in Markdown."""
    heads = table["heads"]
    lines = [f"| {heads} |", "|" + "---|" * (heads.count("|") + 1)]
    for name, label in table["rows"].items():
        lines.append(f"| {table['cells'].format_map(ChainMap({'label': label}, values[name]))} |")
    return "".join(f"{line}\n" for line in lines)


def values_of(row: Row) -> dict[str, Any]:
    """Return what cells and sentences may name of a row."""
    values: dict[str, Any] = {**row, "said": row["notes"]}
    values["n"] = re.findall(r"\d+(?:\.\d+)?", row["notes"])
    values["notes"] = row["notes"] and f"; {row['notes']}"
    for name in MEASURED:
        least = row[f"{name}_min"]
        most = row[f"{name}_max"]
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
    return values


def filled(page: str, values: Mapping[str, Any]) -> str:
    """Return a page of docs/ with its figures, the values of rows by name, in their places.

    A table stands below its line <!-- results: NAME -->. A sentence is found by its words, however
    lines break, with anything in the places of its figures. It begins and ends with words.
    """
    text = (DOCS / page).read_text("utf-8")
    for name, table in TABLES.items():
        if table["page"] == page:
            before, mark, rest = text.partition(f"<!-- results: {name} -->\n")
            assert mark, f"{page} has no line <!-- results: {name} -->"
            text = before + mark + render(table, values) + re.sub(r"\A(\|.*\n)*", "", rest)
    for sentence in SENTENCES.get(page, ()):
        words = (re.sub(r"(\\?\s)+", r"\\s+", re.escape(each)) for each in FIELD.split(sentence))
        pattern = ")([^|;]{1,40}?)(".join(words)
        found, *more = re.finditer(rf"(?<!\w)({pattern})(?!\d)|\Z", text)
        assert len(more) == 1, f"{page} has {len(more)} times: {sentence}"
        parts = list(found.groups())
        parts[1::2] = (field.format_map(values) for field in FIELD.findall(sentence))
        text = text[: found.start()] + "".join(parts) + text[found.end() :]
    return text


def shown_in(page: str) -> set[str]:
    """Return the names of the rows that a page of docs/ shows."""
    tables = {row for each in TABLES.values() if each["page"] == page for row in each["rows"]}
    return tables | set(re.findall(r"\{([\w-]+)\[", " ".join(SENTENCES.get(page, ()))))


def main() -> int:
    """Measure the named rows, or the cheap ones; show each beside what the file says."""
    parser = argparse.ArgumentParser(prog="python -m tests.results", description=__doc__)
    rows = read()
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows to measure")
    parser.add_argument("--all", action="store_true", help="also rows that take longer")
    parser.add_argument("--write", action="store_true", help="replace figures in file and pages")
    given = parser.parse_args()
    values = {name: values_of(row) for name, row in rows.items()}
    other = [page for page in PAGES if filled(page, values) != (DOCS / page).read_text()]
    print("other figures than in runs.csv are on:", ", ".join(other) or "no page")
    runs = seeds()
    if unknown := set(given.names) - set(rows):
        parser.error(f"no row {', '.join(sorted(unknown))}: choose from {', '.join(rows)}")
    most = float("inf") if given.all else CHEAP
    cheap = [name for name, row in rows.items() if row["cost"] and float(row["cost"]) <= most]
    commit = provenance()["commit"]
    found = {}
    moved = set()
    if FOUND.exists() and "dirty" not in commit:
        found = json.loads(FOUND.read_text("utf-8")).get(commit, {})
    for name in given.names or cheap:
        if name not in found:
            found[name] = measure(rows[name])
            FOUND.parent.mkdir(exist_ok=True)
            FOUND.write_text(json.dumps({commit: found}), "utf-8")
        old = rows[name]
        new = found[name]
        changes = [
            f"{key} {old[key] or '-'} → {new[key]}" for key in FIGURES if old[key] != new[key]
        ]
        if not all(change.startswith("seconds") for change in changes):
            moved.add(name)
        print(f"{name}: {'; '.join(changes) or 'all figures hold'}", flush=True)
        rows[name] = new
        if name in HEADLINES:
            if runs[name] != new["seeds"]:
                moved.add(name)
            runs[name] = new["seeds"]
    if given.write:
        write(rows.values(), runs)
        values = {name: values_of(row) for name, row in rows.items()}
        for page in PAGES:
            (DOCS / page).write_text(filled(page, values), "utf-8")
    pages = [page for page in PAGES if moved & shown_in(page)]
    print("beyond seconds, figures change on:", ", ".join(pages) or "no page")
    return 1 if (moved or other) and not given.write else 0


if __name__ == "__main__":
    sys.exit(main())
