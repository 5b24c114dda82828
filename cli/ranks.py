"""`--ranks`: starts one run as several processes on this machine, and takes the part of one.

mpiexec.gforker, of MPICH's wheel, only forks: no port is opened, and no other machine reached.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import site
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import typer

from cli.errors import FAILURE, USAGE, note
from cli.interrupt import Interruption

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.system.ranks import Ranks

DESCRIPTORS = "DCT_RANKS_DESCRIPTORS"
"""Names those of the ranks: one that ends when the command that started them does; and of rank 0
one on which it says that all have begun, and come to their end together, and the command's own
stdout and stderr, as the launcher's copies are no terminal."""

LAUNCHED = "DCT_LAUNCHED_RANK"
"""Set in every process that `launch` starts: none of them launches again, whoever calls it."""

BEGIN, END = b"+", b"."

STARTS = 3
"""Times that ranks are started: on a busy machine MPICH now and then does not find together."""

NO_NETWORK = {"UCX_TLS": "posix,self", "FI_PROVIDER": "shm"}
"""What keeps MPICH to the memory of this machine: else each rank listens on every address."""

GRACE = 10.0
"""Seconds that a rank has to save and end where what started it is gone."""

OTHERS = "all others"
THE_RUN = "the run: what it had saved goes on with dct train --resume "

_NOISE = re.compile(rb"\[\d+\]\d+:Return code = ")
"""What mpiexec says of each rank that it ends."""


def launch(ranks: int, lost: str = OTHERS) -> None:
    """Run this command line again as so many ranks, and exit as they do, or as a signal asks.

    `lost` is what ends with one of them that ends too early. Raises ConfigError, in a launched rank
    too: a command that launches itself there would go on doing so until no process is left.
    """
    from difflogic.system.errors import ConfigError

    if ranks < 2:
        raise ValueError(f"{ranks} ranks need no launcher")
    if LAUNCHED in os.environ:
        raise ConfigError(
            "this process is a rank that dct has started, and starts no others: the launcher did "
            f"not connect it to them. Leave --ranks out, or unset {LAUNCHED}"
        )
    mpiexec = launcher(ranks)
    for _ in range(STARTS):
        code, stopped, said = _run([str(mpiexec), "-n", str(ranks), *_command()])
        if said or stopped or code == USAGE:
            break
        note("MPI has not started")
    if stopped and not said:
        note("interrupted")
    whole = said.endswith(END) and code >= 0
    if not whole and not stopped:
        who = "a rank" if code >= 0 else mpiexec.name
        note(f"error: {who} ended before its time, and with it {lost}")
    raise typer.Exit(stopped or (code if whole else FAILURE))


def of_run(directory: object) -> str:
    """Return what is lost with a run, and how it goes on; the directory is None if not known."""
    if directory is None:
        return f"{THE_RUN}RUN, the directory of the run (dct runs lists them)"
    return THE_RUN + shlex.quote(str(directory))


def _command() -> list[str]:
    return [sys.executable, "-P", "-m", "cli", *sys.argv[1:]]


def _run(command: list[str]) -> tuple[int, int, bytes]:
    """Run ranks; return their exit code, that of a stop if there was one, and what rank 0 said.

    The exit code is negative where a signal has ended their launcher.
    """
    reading, writing = os.pipe()
    alive, living = os.pipe()  # nobody writes: the ranks see it end, however this process does
    given = [alive, writing, os.dup(1), os.dup(2)]
    try:
        try:
            process = subprocess.Popen(
                command,
                env=_environment() | {DESCRIPTORS: " ".join(map(str, given))},
                pass_fds=given,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        finally:
            for each in given:
                os.close(each)
        with Interruption(None, patience=None) as interruption:
            passing = threading.Thread(
                target=_pass_on, args=(process.stderr, interruption), daemon=True
            )
            passing.start()
            _wait(process, interruption)
        os.close(living)
        # A launcher that was killed leaves ranks that are about to save.
        said = _heard(reading, 2 * GRACE if process.returncode < 0 else 0)
    finally:
        os.close(reading)
    passing.join(1)  # a rank may be about to be killed
    return process.returncode, interruption.exit_code, said


def _heard(reading: int, seconds: float) -> bytes:
    """Return what rank 0 has said, and says until no rank is left or so many seconds are over."""
    said, until = b"", time.monotonic() + seconds
    while select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        more = os.read(reading, 2)
        if not more:
            break
        said += more
    return said


def _pass_on(errors: IO[bytes], interruption: Interruption) -> None:
    """Write what comes from the ranks through their launcher, without what that says itself.

    Nor what they say once interrupted: rank 0 tells, and the others only that it is gone.
    """
    for line in errors:
        if not interruption.requested and not _NOISE.match(line):
            with suppress(OSError):
                os.write(2, line)


def launcher(ranks: int) -> Path:
    """Return what starts ranks on this machine. Raises ConfigError."""
    from difflogic.system.errors import ConfigError
    from difflogic.system.ranks import MISSING, require

    require()
    mpiexec = Path(sysconfig.get_path("scripts")) / "mpiexec.gforker"
    if not mpiexec.is_file():
        raise ConfigError(
            f"--ranks: no {mpiexec}, which comes with the wheel of MPICH: {MISSING}. With another "
            f"MPI start them yourself: mpiexec -n {ranks} dct …"
        )
    return mpiexec


def _environment() -> dict[str, str]:
    """Return the variables of the ranks, who import what this process did from where it did."""
    home = str(Path(__file__).resolve().parents[1])
    installed = home in [*site.getsitepackages(), site.getusersitepackages()]
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    path = os.pathsep.join(before if installed or home in before else [home, *before])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | NO_NETWORK | {LAUNCHED: "1"} | ({"PYTHONPATH": path} if path else {})


def _wait(process: subprocess.Popen[bytes], interruption: Interruption) -> None:
    """Wait for the launcher, and hand on to it what signal comes."""
    told = False
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            return
        if interruption.requested and not told:
            told = True
            process.send_signal(interruption.exit_code - 128)


@contextmanager
def joined() -> Iterator[Ranks]:
    """While entered, be one of the ranks that a launcher has started, or alone."""
    from difflogic.system.ranks import started, together

    given, end = _descriptors() if started() > 1 else [], None
    orphaned = threading.Event()
    if given:
        threading.Thread(target=_end_after, args=(given[0], orphaned), daemon=True).start()
    try:
        with together() as ranks:
            if given and ranks.leads:
                end = given[1]
                os.dup2(given[2], 1)
                os.dup2(given[3], 2)
            _say(end, BEGIN)
            try:
                yield ranks
            except BaseException as error:
                # Last words, where what comes next ends this process at once.
                if not ranks.leads:
                    note(f"error: rank {ranks.rank}: {error or type(error).__name__}")
                elif ranks.torn and not isinstance(error, KeyboardInterrupt):
                    note(f"error: {error or type(error).__name__}")
                elif ranks.torn:
                    note("interrupted")
                    _silence()
                raise
            finally:
                if orphaned.is_set():
                    _silence()
    finally:
        _say(end, END)


def _descriptors() -> list[int]:
    """Return what `DESCRIPTORS` names; nothing if another launcher has started the ranks."""
    try:
        given = list(map(int, os.environ.pop(DESCRIPTORS).split()))
        for each in given:
            os.fstat(each)
    except (KeyError, ValueError, OSError):
        return []
    return given if len(given) == 4 else []


def _end_after(alive: int, orphaned: threading.Event) -> None:
    """End this rank as SIGTERM does once what started it is gone; if that takes long, at once."""
    with suppress(OSError):
        while os.read(alive, 1):
            pass
        orphaned.set()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os.kill(os.getpid(), signal.SIGKILL)


def _silence() -> None:
    """Let MPI say nothing of its own where ranks end that were interrupted."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _say(end: int | None, what: bytes) -> None:
    if end is not None:
        with suppress(OSError):  # nobody is left to hear it
            os.write(end, what)


def check(config: Config, ranks: int, oversubscribe: bool) -> None:
    """Raise ConfigError for what so many ranks on this machine cannot do, or should not."""
    from difflogic.engine.hardware import Machine
    from difflogic.system.errors import ConfigError

    if ranks == 1:
        return
    cores, workers = Machine.here().cores, config.parallel.workers
    threads = ranks * (1 if workers == "auto" else workers)
    if threads > cores and not oversubscribe:
        each = "" if workers == "auto" else f" of {workers} workers each"
        raise ConfigError(
            f"{ranks} ranks{each} on {cores} cores: they wait for each other at every step, and "
            "whoever waits keeps another from working: start fewer, or give --oversubscribe"
        )
