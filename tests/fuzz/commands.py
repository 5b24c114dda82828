"""Hostile command lines in hostile directories, each in its own process.

The processes are forks of one that has imported everything, so that thousands can run. Each must
end in bounded time and memory, with a known exit code, without a traceback, and without printing
raw control characters. Targets of links in the directory must stay the same.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import typer

from cli.app import app
from tests.difflogic.training.tiny import TINY
from tests.fuzz import readers
from tests.fuzz.readers import MOST_BYTES, MOST_SECONDS

EXIT_CODES = (0, 1, 2, 130, 143)

SECONDS = 40.0
"""After this time a long command gets SIGTERM, and has MOST_SECONDS to end."""

PRECIOUS = b"years of work"

VALID = ["run", "circuit.json", "model.npz", "checkerboard-small", "last"]

ALONE = ("list", "bench", "train-pattern", "train-gol")
CONFIGURED = ("train", "train-checkerboard", "sweep", "config show")

VALID_VALUES = {
    "--output": ["out.json", "out.svg", "out.png", "out.html", "out.v", "out.c", "out.gif"],
    "--save": ["out.npz"],
    "--picture": ["out.png"],
    "--test": ["gates", "exactness"],
    "--starts": ["4"],
    "--start": ["random", "zeros", "center"],
    "--seed": ["1"],
    "--seeds": ["0", "0-1"],
    "--dir": ["new", "run", "empty", "runs/new"],
    "--resume": ["run", "last"],
    "--target": ["letter-g"],
    "--recipe": ["reference"],
    "--against": ["circuit.json", "model.npz", "run"],
    "--set": ["training.batch=1", "checkpoint.every_epochs=1", "finishing.every=1"],
    "--grid": ["training.batch=1,2"],
    "--backend": ["loky", "sequential"],
    "--size": ["16x16", "3x3"],
    "--steps": ["3"],
    "--epochs": ["2"],
    "--repeat": ["2"],
    "--workers": ["1", "2"],
    "--time-limit": ["3"],
    "--effort": ["low"],
    "--rule": ["B36/S23"],
    "--channels": ["8"],
    "--density": ["0.3"],
    "--damage": ["1:0,0,2x2"],
    "--format": ["c", "json", "verilog", "auto"],
}

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

NUMBERS = [
    "",
    *str.split("0 1 2 3 -1 1_0 +5 1e3 nan inf x 999999999999999999999 0.5 ٣ 1.0 0x10 auto true"),
]
WORDS = ["", " ", "\x1b[2J", "a\nb", "x" * 300, "\u202e", "$(touch owned)"]
WORDS += str.split("../x é -- - [ {} a.b.c ' %s%n NaN")
SIZES = ["3x3", "16x16", "0x5", "5", "1x99999999999", "axb", "16X16", "9000x9000", "64x1"]
SETTINGS = [
    *str.split("""
    training.batch=0 training.epochs=nan task.height=-1 task.kind=life task.kind=absent
    training.epochs=1_000 update.gates=[] update.gates=[3] a.b=1 training=1 = x
    automaton.steps=1000000 task.height=70000 training.learning_rate=1e300 name=../x
    training.seed=9223372036854775808 parallel.workers=5000 task.target='absent.png'
    automaton.fire_rate=0.5 pool.batch=65536
    """),
    "a." * 200 + "b=1",
    "[" * 500 + "=1",
    *str.split("""
    training.batch=[[[[1]]]] perception.wiring=moore training.precision=float64
    task.kind='evil.py:Task' checkpoint.every_epochs=1 finishing.every=1
    """),
]

UNENDING = ("watch", "verify equivalence", "bench simulate", "config docs")
"""Commands that wait for a browser, take minutes, or read nothing."""

LEFT_OUT = {"--allow-code", "--watch", "--ranks", "--oversubscribe", "--device", "--port"}
"""Options that run what stands in a file, and those that need other programs."""


def _commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, dict[str, bool]]]:
    """Yield each command, with its options and whether they take no value."""
    for name in group.entries if hasattr(group, "entries") else ():
        yield from _commands(group.get_command(None, name), (*words, name))
    if words and group.params and " ".join(words) not in UNENDING:
        found = {
            (*each.opts, *each.secondary_opts)[0]: each.is_flag
            for each in group.params
            if each.param_type_name == "option" and LEFT_OUT.isdisjoint(each.opts)
        }
        yield " ".join(words), found | {"--x": False}


COMMANDS = dict(_commands(typer.main.get_command(app)))


def make_directory(folder: Path, right: Path, random: Random) -> list[str]:
    """Fill a directory with valid, damaged and hostile files; return their names."""
    precious = folder.parent / "precious"
    precious.write_bytes(PRECIOUS)
    run = folder / "run"
    shutil.copytree(right / "run", run)
    shutil.copytree(right / "run", folder / "runs" / "20260101-000000-x-seed1")
    for name in ("circuit.json", "logicars.json", "model.npz", "config.toml"):
        shutil.copy(right / name, folder / name)
        content = (right / name).read_bytes()
        kind = {"circuit.json": "circuit", "model.npz": "model"}.get(name, "text")
        (folder / f"damaged-{name}").write_bytes(readers.damage(kind, content, random))
    for place in random.sample(sorted(run.iterdir()), 2):
        _spoil(place, precious, random)
    (folder / "empty").mkdir()
    (folder / "link.json").symlink_to(precious)
    (folder / "zero.npz").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.toml")
    (folder / "\x1b[2J.json").write_text("{}")
    (folder / "evil.py").write_text("raise SystemExit(99)")
    (folder / "json.py").write_text("raise SystemExit(99)")
    return [
        *(path.name for path in folder.iterdir()),
        "absent",
        "last",
        "checkerboard-small",
        "lizard",
        "run/model.npz",
        "run/config.toml",
        "/dev/zero",
        "/dev/full",
        "/",
        ".",
        "runs",
    ]


def _spoil(place: Path, precious: Path, random: Random) -> None:
    content = place.read_bytes()
    match random.randrange(8):
        case 0:
            place.unlink()
        case 1:
            place.unlink()
            place.symlink_to(precious)
        case 2:
            place.unlink()
            place.symlink_to("/dev/zero")
        case 3:
            place.unlink()
            os.mkfifo(place)
        case 4:
            place.write_bytes(content[: random.randrange(len(content) + 1)])
        case 5:
            place.write_bytes(readers.damage("text", content, random))
        case 6:
            with suppress(FileExistsError):
                place.with_name(".lock").symlink_to(precious)
        case _:
            return


def make_command(names: list[str], random: Random) -> list[str]:
    """Return the words of a partly valid command line."""
    command = random.choice([*COMMANDS, random.choice(WORDS)])
    words = command.split() if command in COMMANDS else [command]
    # Half of them are valid except for their files: these get far.
    right = random.random() < 0.5
    if random.random() < 0.9 and not (right and command in ALONE):
        known = ["checkerboard-small"] if command in CONFIGURED else VALID
        words.append(random.choice(known if right or random.random() < 0.5 else names))
    if right and command == "sweep":
        words.append("--seeds=0")
    options = COMMANDS.get(command, {"--x": False})
    for option in random.sample(list(options), random.randint(0, min(4, len(options)))):
        words.append(option)
        if not options.get(option) or random.random() < 0.03:
            values = VALID_VALUES.get(option)
            take = right and values is not None
            words.append(random.choice(values) if take else _value(option, names, random))
    if command.startswith(("train", "sweep", "bench")):
        for setting in TINY if random.random() < 0.6 else ():
            words += ["--set", setting]
        if "--epochs" not in words and command != "bench":
            words += ["--epochs", "3"]
    return words


VALUES = {
    "--set": SETTINGS,
    "--grid": ["training.batch=1,2", "a=1", "training.batch=", "training.batch=-1,-2", "x"],
    "--seeds": ["0", "0-1", "1-0", "x", "0-99999999", "-1", "٣"],
    "--size": SIZES,
    "--damage": ["1:0,0,2x2", "1:0,0,99x99", "x", "0:0,0,1x1"],
    "--rule": ["B3/S23", "B/S", "x", "B9/S1", "B3/S23\x1b[2J"],
    "--backend": ["loky", "sequential", "dask", "x"],
    "--scheduler": ["tcp://127.0.0.1:9", "x", "tcp://[::1]:9", "http://x:1"],
    **{key: ["1", "2", "5", *NUMBERS[:6]] for key in ("--epochs", "--steps", "--repeat")},
    "--workers": ["1", "2", *NUMBERS],
    "--effort": ["low", "normal", "x"],
    "--time-limit": ["1", "3", "0", "-1", "nan"],
    "--format": ["c", "json", "blif", "verilog", "svg", "golly", "x"],
}


def _value(option: str, names: list[str], random: Random) -> str:
    if random.random() < 0.15:
        return random.choice(WORDS + NUMBERS + names)
    return random.choice(VALUES.get(option, names + NUMBERS))


def run_commands(count: int, kept: Path, seed: int) -> dict:
    """Run `count` commands; keep failures in `kept`."""
    found: dict = {"commands": 0, "failed": 0, "codes": {}, "slowest": 0.0, "most_memory": 0}
    with tempfile.TemporaryDirectory() as scratch:
        right = _valid_files(Path(scratch))
        import_everything()
        for number in range(count):
            random = Random(f"{seed}-{number}")
            folder = Path(scratch) / "here" / "work"
            folder.mkdir(parents=True)
            words = make_command(make_directory(folder, right, random), random)
            problem, code, seconds, memory = _run(words, folder)
            found["commands"] += 1
            found["codes"][str(code)] = found["codes"].get(str(code), 0) + 1
            found["slowest"] = max(found["slowest"], seconds)
            found["most_memory"] = max(found["most_memory"], memory)
            if problem:
                found["failed"] += 1
                text = (
                    json.dumps(words)
                    + f"\nexit {code}, {seconds:.1f} s, {memory} bytes\n{problem}\n"
                )
                (kept / f"command-{seed}-{number}.txt").write_text(text)
            shutil.rmtree(folder.parent)
            if number % 100 == 99:
                print(json.dumps(found), flush=True)
    return found


def _run(words: list[str], folder: Path) -> tuple[str, int, float, int]:
    """Run a command in a fork; return its problems, exit code, seconds and bytes of memory."""
    out, err = folder.parent / "out", folder.parent / "err"
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        be_the_command(words, folder, out, err)
    stopped_at: float | None = None
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            break
        now = time.monotonic()
        if stopped_at is None and now - began > SECONDS:
            stopped_at = now
            os.kill(child, signal.SIGTERM)
        if stopped_at is not None and now - stopped_at > 3 * MOST_SECONDS:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)
    code = os.waitstatus_to_exitcode(status)
    memory = usage.ru_maxrss * 1024
    text, printed = err.read_bytes(), out.read_bytes()
    problems = []
    if b"Traceback" in text or b"Traceback" in printed:
        problems.append("a traceback")
    if code not in EXIT_CODES:
        problems.append("its exit code")
    if stopped_at is not None and time.monotonic() - stopped_at > MOST_SECONDS:
        problems.append("it did not end in time")
    if memory > MOST_BYTES:
        problems.append("its memory")
    if _CONTROL.search(text) or _CONTROL.search(printed):
        problems.append("raw control characters")
    if (folder.parent / "precious").read_bytes() != PRECIOUS:
        problems.append("it wrote through a link")
    if len(text) > 100_000:
        problems.append("too much on stderr")
    shown = f"{', '.join(problems)}\n{text[-4000:].decode(errors='replace')}" if problems else ""
    return shown, code, time.monotonic() - began, memory


def be_the_command(words: list[str], folder: Path, out: Path, err: Path) -> None:
    """Run a command in this process, a fork, and end it."""
    import sys

    os.setsid()
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for place, number in ((out, 1), (err, 2)):
        os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.argv = ["dct", *words]
    code = 99
    try:
        from cli.entry import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                code = code or 1
        os._exit(code)


def _valid_files(scratch: Path) -> Path:
    """Make a run, and valid files of every kind, in a fork, since this starts threads."""
    right = scratch / "right"
    right.mkdir()
    child = os.fork()
    if child == 0:
        from difflogic.training.session import execute
        from tests.difflogic.training.tiny import tiny

        status = 1
        try:
            execute(tiny("training.epochs=3"), right / "run")
            for kind, name in (
                ("circuit", "circuit.json"),
                ("logicars", "logicars.json"),
                ("model", "model.npz"),
            ):
                (right / name).write_bytes(readers.seeds(kind, right)[0])
            (right / "config.toml").write_text(tiny("training.epochs=3").to_toml())
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    return right


def import_everything() -> None:
    """Import what commands need, so that forks of this process start at once."""
    import importlib

    from cli.app import Root

    for entry in Root.entries.values():
        entry.load()
    for name in (
        "difflogic.library.training",
        "difflogic.library.sweeping",
        "difflogic.library.loading",
        "difflogic.library.simulating",
        "rich.console",
        "rich.table",
    ):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
