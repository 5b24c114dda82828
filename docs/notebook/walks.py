"""Follows five things through the program, and counts the packages that they visit.

    python docs/notebook/walks.py logit      or picture, film, stop, seed

A function is on the way of a thing that it gets in an argument (the thing itself, in a tuple, a
list or a dict, or in an attribute of the argument) or returns, and on that of a stop if it is
called after the signal and before the run's checkpoint is written. Functions count once, when the
thing first reaches them. Neighbours in this order that are of one package are one visit. Rooms are
the packages; a return is a visit to one that was left before. With --long, functions are listed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
SEED = 987_654_321
SIDES = (13, 17)
"""Of the picture and the film: no other array has as many cells."""
TEXT_BYTES = 10**5


def parts(value: Any) -> Iterator[Any]:
    """Yield a value, the values in it, and those of its attributes."""
    yield value
    if isinstance(value, tuple | list):
        yield from value[:50]
    elif isinstance(value, dict):
        yield from list(value.values())[:50]
    else:
        yield from list(getattr(value, "__dict__", {}).values())


def is_logits(value: Any) -> bool:
    """Whether it has 16 numbers, or the four that they mean, for each gate of the run."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.ndim != 2:
        return False
    return {*value.shape} in ({GATES, 16}, {GATES, 4})


def shows(value: Any, pictures: list[np.ndarray]) -> bool:
    """Whether an array has one of the pictures, in any two values, or a text or bytes name one."""
    if isinstance(value, str | bytes):
        names = ("quetzal", ROWS[5])
        texts = names if isinstance(value, str) else tuple(name.encode() for name in names)
        content = isinstance(value, bytes) and value[:6] in (b"GIF89a", b"GIF87a")
        return content or any(text in value[:TEXT_BYTES] for text in texts)  # type: ignore[operator]
    if isinstance(value, Path):
        return "quetzal" in value.name
    cells = SIDES[0] * SIDES[1]
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "uifb" or value.size % cells:
        return False
    for row in value.reshape(-1, cells)[:20]:
        if any(np.array_equal(row != row[0], each != each[0]) for each in pictures):
            return True
    return False


def is_seed(value: Any) -> bool:
    """Whether it is the seed, a text with it, or draws numbers that follow from it."""
    if isinstance(value, str):
        return str(SEED) in value[:TEXT_BYTES]
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return (is_number and int(value) == SEED) or isinstance(value, np.random.Generator)


class Walk:
    """Records the packages of the functions that a thing reaches."""

    def __init__(self, carries: Callable[[Any], bool] | None) -> None:
        """Without `carries`, every function is on the way."""
        self.carries = carries
        self.found: dict[Any, str] = {}
        self.begun = True
        self._checks = False

    def hear(self, frame: FrameType, event: str, value: Any) -> None:
        code = frame.f_code
        if self._checks or event not in ("call", "return") or code in self.found:
            return
        place = Path(code.co_filename)
        if not self.begun or not place.is_relative_to(ROOT):
            return
        package = ".".join(place.relative_to(ROOT).with_suffix("").parts[:2])
        if not package.startswith(("cli", "difflogic")) or code.co_name == "<module>":
            return
        if package.startswith("cli"):
            package = "cli"
        self._checks = True
        try:
            given = [value] if event == "return" else list(frame.f_locals.values())
            if self.carries is None or any(
                self.carries(part) for each in given for part in parts(each)
            ):
                self.found[code] = package
        finally:
            self._checks = False

    def report(self, name: str) -> None:
        """Print rooms and returns, and how often each room was entered."""
        visits: list[str] = []
        for package in self.found.values():
            if not visits or visits[-1] != package:
                visits.append(package)
        rooms = list(dict.fromkeys(visits))
        print(f"{name}: {len(rooms)}/{len(visits) - len(rooms)}")
        print(
            "  "
            + ", ".join(f"{room.removeprefix('difflogic.')} {visits.count(room)}" for room in rooms)
        )
        if "--long" in sys.argv:
            last = ""
            for code, package in self.found.items():
                print(f"  {package if package != last else '':24} {code.co_qualname}")
                last = package


def dct(*words: str) -> None:
    """Run a command in this process."""
    from cli.app import app

    sys.stdout.flush()
    with suppress(SystemExit, KeyboardInterrupt):
        app(list(words), standalone_mode=False)


def saved() -> dict[Path, int]:
    """Return when the run's checkpoints were written."""
    return {path: path.stat().st_mtime_ns for path in Path("run").glob("**/*checkpoint*")}


def walk(carries: Callable[[Any], bool] | None, words: list[str], stops: bool = False) -> Walk:
    """Run a command, and follow what `carries` tells; the stop comes after the third epoch."""
    found = Walk(carries)
    found.begun = not stops
    steps = 0
    written: dict[Path, int] = {}

    def hear(frame: FrameType, event: str, value: Any) -> None:
        nonlocal steps, written
        found.hear(frame, event, value)
        if stops and event == "return" and frame.f_code.co_qualname == "Trainer.step":
            steps += 1
            if steps == 3:
                found.begun = True
                written = saved()
                os.kill(os.getpid(), signal.SIGINT)
        elif stops and found.begun and event == "return" and saved() != written:
            found.begun = False

    threading.setprofile(hear)
    sys.setprofile(hear)
    try:
        dct(*words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return found


def main(name: str) -> None:
    """Follow one thing."""
    global GATES, ROWS
    GATES = 0
    drawn = random.Random(1)
    bits = [[drawn.randrange(2) for _ in range(SIDES[1])] for _ in range(SIDES[0])]
    ROWS = ["".join(".#"[bit] for bit in row) for row in bits]
    os.chdir(tempfile.mkdtemp())
    train = ["train", "checkerboard-small", "--dir", "run", "--workers", "1"]
    if name == "logit":
        from difflogic import Model

        dct(*train, "--epochs", "3")
        GATES = len(Model.load("run/model.npz").logits)
        found = walk(is_logits, ["train", "--resume", "run", "--epochs", "6", "--workers", "1"])
    elif name == "seed":
        found = walk(is_seed, [*train, "--epochs", "20", "--seed", str(SEED)])
    elif name == "stop":
        found = walk(None, [*train, "--epochs", "20"], stops=True)
    elif name == "picture":
        Path("quetzal.txt").write_text("\n".join(ROWS) + "\n")
        picture = np.array(bits).ravel()
        words = ["train-pattern", "--target", "quetzal.txt", "--dir", "run", "--workers", "1"]
        found = walk(lambda value: shows(value, [picture]), [*words, "--epochs", "20"])
    else:
        from PIL import Image

        state = np.array(bits, np.uint8)
        frames = [state]
        for _ in range(12):
            near = sum(np.roll(frames[-1], (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1))
            frames.append(((near == 3) | ((near == 4) & (frames[-1] == 1))).astype(np.uint8))
        images = [Image.fromarray(255 * frame) for frame in frames]
        images[0].save("quetzal.gif", save_all=True, append_images=images[1:], duration=100)
        flat = [frame.ravel() for frame in frames]
        found = walk(lambda value: shows(value, flat), ["identify", "quetzal.gif"])
    found.report(name)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1])
