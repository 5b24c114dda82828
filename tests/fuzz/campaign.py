"""Long campaigns against the whole program, for as long as one likes.

    python -m tests.fuzz.campaign files 100000 FOLDER [SEED]
    python -m tests.fuzz.campaign commands 2000 FOLDER [SEED]
    python -m tests.fuzz.campaign kills 100 FOLDER [SEED]

`files` damages files of every kind and lets their readers read them; `commands` runs hostile
command lines in directories of hostile files, each in a process of its own; `kills` kills runs,
sweeps, searches and compilations, goes on with them, and compares how they end. What fails is
kept in FOLDER, with the seed that makes it again. The last line counts, in JSON.
Exits 1 if something failed.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from random import Random

MOST_SECONDS = 10.0
MOST_BYTES = 2**30


def files(count: int, kept: Path, seed: int) -> dict:
    """Damage `count` files; none may end otherwise than as an accepted or a refused one."""
    from tests.fuzz import readers, run_readers

    warnings.simplefilter("ignore")
    kinds = [(readers, kind) for kind in readers.KINDS]
    kinds += [(run_readers, kind) for kind in run_readers.KINDS]
    found: dict = {"files": 0, "accepted": 0, "failed": 0, "slowest": 0.0, "kinds": len(kinds)}
    with tempfile.TemporaryDirectory() as scratch:
        folders = []
        for module, kind in kinds:
            folder = Path(scratch) / kind
            folder.mkdir()
            made = module.seeds(kind, folder)
            for name in ("sweep.toml",):
                (folder / name).unlink(missing_ok=True)
            folders.append((module, kind, folder, made))
        for number in range(count):
            random = Random(f"{seed}-{number}")
            module, kind, folder, made = folders[number % len(folders)]
            content = module.damage(kind, random.choice(made), random)
            began = time.perf_counter()
            try:
                found["accepted"] += module.check(kind, content, folder)
                seconds = time.perf_counter() - began
                if seconds > MOST_SECONDS:
                    raise AssertionError(f"took {seconds:.1f} s")
            except Exception:
                seconds = time.perf_counter() - began
                found["failed"] += 1
                (kept / f"{kind}-{seed}-{number}").write_bytes(content)
                (kept / f"{kind}-{seed}-{number}.txt").write_text(traceback.format_exc())
            found["files"] += 1
            found["slowest"] = max(found["slowest"], seconds)
            if number % 10_000 == 9_999:
                print(json.dumps(found), flush=True)
    found["most_memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return found


def main() -> None:
    what, count, kept = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    kept.mkdir(parents=True, exist_ok=True)
    if what == "files":
        found = files(count, kept, seed)
    elif what == "commands":
        from tests.fuzz.commands import run_commands

        found = run_commands(count, kept, seed)
    else:
        from tests.fuzz.kills import run_kills

        found = run_kills(count, kept, seed)
    print(json.dumps(found))
    sys.exit(bool(found["failed"]))


if __name__ == "__main__":
    main()
