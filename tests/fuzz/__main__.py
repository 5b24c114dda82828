"""Fuzzing campaigns, for any length of time.

    python -m tests.fuzz --minutes 30 [--only CAMPAIGN] [--count COUNT] [--seed 0] [--keep FOLDER]

`files` lets readers read damaged files of every kind. `commands` runs hostile command lines in
directories of hostile files, each in its own process. `kills` kills runs, sweeps, searches and
compilations, resumes them, and compares their results. The campaigns take turns of COUNT files,
commands or kills, each turn with the next seed. FOLDER keeps failures, with the seed to repeat
them. The last line of output is a summary in JSON. Exits 1 if something failed.
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
"""Of one turn, which takes at most a minute."""

TURN = "import sys; from tests.fuzz.__main__ import turn; turn(*sys.argv[1:])"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--only", choices=COUNTS)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    kept = options.keep or Path(tempfile.mkdtemp(prefix="dct-fuzz-"))
    kept.mkdir(parents=True, exist_ok=True)
    campaigns = [options.only] if options.only else list(COUNTS)
    totals: dict = {what: {"seeds": [], what: 0, "failed": 0} for what in campaigns}
    until, seed = time.monotonic() + 60 * options.minutes, options.seed
    while seed == options.seed or time.monotonic() < until:
        for what in campaigns:
            if seed == options.seed or time.monotonic() < until:
                _add_turn(totals[what], what, options.count or COUNTS[what], kept, seed)
        seed += 1
    print(json.dumps({"kept": str(kept), **totals}))
    sys.exit(any(each["failed"] for each in totals.values()))


def _add_turn(total: dict, what: str, count: int, kept: Path, seed: int) -> None:
    """Run a turn in its own process, and add its counts."""
    words = [sys.executable, "-c", TURN, what, str(count), str(kept), str(seed)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
    total["seeds"].append(seed)
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):  # the turn itself failed
        total["failed"] += 1
        return
    total[what] += found[what]
    total["failed"] += found["failed"]
    for name in ("slowest", "most_memory"):
        if name in found:
            total[name] = max(total.get(name, 0), found[name])


def turn(what: str, count: str, kept: str, seed: str) -> None:
    """Run one campaign, and print its counts as the last line, in JSON."""
    if what == "files":
        from tests.fuzz.files import run_files as run
    elif what == "commands":
        from tests.fuzz.commands import run_commands as run
    else:
        from tests.fuzz.kills import run_kills as run
    print(json.dumps(run(int(count), Path(kept), int(seed))))


if __name__ == "__main__":
    main()
