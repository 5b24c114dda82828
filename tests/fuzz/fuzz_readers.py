"""Fuzzes the readers of circuits for as long as one likes, led by the code that is reached.

    python -m tests.fuzz.fuzz_readers 600 FOLDER [libFuzzer's options]

runs for 600 seconds; FOLDER keeps the files that reached something new, and begins with them the
next time. It stops at the first file that breaks what `readers.check` demands, that takes more
than 20 s or 2 GiB, and leaves that file in FOLDER, named crash-…, timeout-… or oom-…; the first
byte of a file there says which reader it is for. At the end libFuzzer says how many files were
read, the slowest and the most memory. Needs atheris (pip install atheris) and a system that
it runs on, such as Linux.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["difflogic"], exclude=["difflogic.engine"]):
    from tests.fuzz import readers


def main() -> None:
    seconds, kept = int(sys.argv[1]), Path(sys.argv[2])
    kept.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for number, kind in enumerate(readers.KINDS):
            for place, content in enumerate(readers.seeds(kind, folder)):
                (kept / f"seed-{kind}-{place}").write_bytes(bytes([number]) + content)

        def read(data: bytes) -> None:
            if data:
                readers.check(readers.KINDS[data[0] % len(readers.KINDS)], data[1:], folder)

        def mutate(data: bytes, max_size: int, seed: int) -> bytes:
            random = Random(seed)
            if not data or random.random() < 0.2:
                return atheris.Mutate(data, max_size)
            kind = readers.KINDS[data[0] % len(readers.KINDS)]
            return data[:1] + readers.damage(kind, data[1:], random)[: max_size - 1]

        options = [
            f"-max_total_time={seconds}",
            "-max_len=65536",
            "-timeout=20",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
            f"-artifact_prefix={kept}/",
        ]
        arguments = [sys.argv[0], *options, *sys.argv[3:], str(kept)]
        atheris.Setup(arguments, read, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
