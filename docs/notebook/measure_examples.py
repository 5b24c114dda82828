"""Measures dct train-examples on 1D-ARC and ARC-AGI, whose files the user has: see ../examples.md.

    python docs/notebook/measure_examples.py families 1D-ARC/dataset --seeds 0,1
    python docs/notebook/measure_examples.py few 1D-ARC/dataset --every 5
    python docs/notebook/measure_examples.py few ARC-AGI/data/training --most 10

`families` learns from tasks 0 to 34 of each family, and is tested on tasks 35 to 49; `few` learns
from each task's own pairs. Prints a row of CSV for each. Processor seconds end a run, since another
program's share of the machine should not.
"""

import argparse
import csv
import json
import sys
import tempfile
import time
from pathlib import Path

from difflogic.examples.pairs import Examples
from difflogic.examples.reading import read_examples
from difflogic.experiment.example_options import ExampleOptions
from difflogic.experiment.example_run import train_examples
from difflogic.system.errors import ConfigError

HEAD = "what,seed,outcome,train,test,tests,gates,steps,features,seconds"


def by_number(path):
    digits = path.stem.rpartition("_")[2]
    return (int(digits), "") if digits.isdigit() else (0, path.stem)


def families(folder, names):
    """Yield each family's examples: pairs of 35 tasks, and those of 15 others as a test."""
    for family in sorted(each for each in folder.iterdir() if each.is_dir()):
        if names and family.name not in names:
            continue
        tasks = [read_examples([path]) for path in sorted(family.glob("*.json"), key=by_number)]
        parts = [
            tuple(pair for task in some for pair in (*task.train, *task.held_out))
            for some in (tasks[:35], tasks[35:50])
        ]
        symbols = max((task.symbols for task in tasks), key=len)
        yield family.name, lambda parts=parts, symbols=symbols: Examples(symbols, *parts)


def few(folder, every, offset, most):
    """Yield every n-th task; of ARC-AGI, only tasks whose outputs have their inputs' sizes."""
    folders = sorted(each for each in folder.iterdir() if each.is_dir()) or [folder]
    taken = 0
    for each in folders:
        for path in sorted(each.glob("*.json"), key=by_number)[offset::every]:
            task = json.loads(path.read_text())
            pairs = [pair for part in ("train", "test") for pair in task[part]]
            shapes = [[(len(g), len(g[0])) for g in (p["input"], p["output"])] for p in pairs]
            if any(before != after for before, after in shapes):
                continue
            taken += 1
            if most and taken > most:
                return
            yield path.stem, lambda path=path: read_examples([path])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["families", "few"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", default="")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    out = csv.DictWriter(sys.stdout, HEAD.split(","))
    out.writeheader()
    tasks = (
        families(given.folder, given.names.split(",") if given.names else ())
        if given.what == "families"
        else few(given.folder, given.every, given.offset, given.most)
    )
    for name, read in tasks:
        for seed in map(int, given.seeds.split(",")):
            out.writerow({"what": name, "seed": seed, **measured(read, seed, given.seconds)})
            sys.stdout.flush()


def measured(read, seed, limit):
    began = time.process_time()

    def late():
        return time.process_time() - began > limit

    with tempfile.TemporaryDirectory() as place:
        try:
            found = train_examples(
                read(),
                ExampleOptions(seed=seed, directory=Path(place) / "run", time_limit=1e6),
                should_stop=late,
            )
        except ConfigError as error:
            return {"outcome": str(error).partition(": ")[2][:90]}
        scores = found.summary.scores
        test, tests = scores.right_pairs["held out"]
        best = next(each for each in found.attempts if each.words == found.words)
        return {
            "outcome": "right" if found.right else "not right",
            "train": scores.right_pairs["training"][0],
            "test": test,
            "tests": tests,
            "gates": best.gates,
            "steps": best.steps,
            "features": found.words.partition("told: ")[2].partition(";")[0],
            "seconds": round(time.process_time() - began, 2),
        }


if __name__ == "__main__":
    main()
