"""All campaigns in turn, for as long as one likes.

    python -m tests.fuzz --minutes 30 [--seed 0] [--keep FOLDER]

Damaged files, hostile commands and kills take turns, each with the next seed. What fails is kept in
FOLDER. At the end, the seeds and counts of each are printed in JSON. Exits 1 if something failed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COUNTS = {"files": 2000, "commands": 40, "kills": 4}
"""Of one turn: a minute or less each."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    kept = asked.keep or Path(tempfile.mkdtemp(prefix="dct-fuzz-"))
    totals = {what: {"seeds": [], what: 0, "failed": 0} for what in COUNTS}
    until, seed = time.monotonic() + 60 * asked.minutes, asked.seed
    while time.monotonic() < until:
        for what, count in COUNTS.items():
            if time.monotonic() < until:
                _turn(what, count, seed, kept, totals[what])
        seed += 1
    print(json.dumps({"kept": str(kept), **totals}))
    sys.exit(any(each["failed"] for each in totals.values()))


def _turn(what: str, count: int, seed: int, kept: Path, total: dict) -> None:
    """Run one campaign in a process of its own, and add what it counts."""
    words = [sys.executable, "-m", "tests.fuzz.campaign", what, str(count), str(kept), str(seed)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    total["seeds"].append(seed)
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):  # it broke off itself
        total["failed"] += 1
        return
    total[what] += found[what]
    total["failed"] += found["failed"]


if __name__ == "__main__":
    main()
