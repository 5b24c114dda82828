"""Damaged files of every kind: readers accept or refuse each, in bounded time and memory."""

from __future__ import annotations

import json
import resource
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from random import Random

from tests.fuzz import readers, run_readers
from tests.fuzz.readers import MOST_BYTES, MOST_SECONDS


def run_files(count: int, kept: Path, seed: int) -> dict:
    """Damage `count` files and let their readers read them."""
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
            (folder / "sweep.toml").unlink(missing_ok=True)
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
    found["failed"] += found["most_memory"] > MOST_BYTES
    return found
