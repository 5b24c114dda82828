"""`--ranks`: starts one run as several processes on this machine, and joins them.

mpiexec.gforker, from MPICH's wheel, only forks: it opens no port and uses no other machine.
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
from difflogic.system.errors import ConfigError

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.system.ranks import Ranks

DESCRIPTORS = "DCT_RANKS_DESCRIPTORS"
"""File descriptors of the ranks: one that closes when the command that started them ends; and for
rank 0 one to report that all ranks have started, and ended together, and the command's own stdout
and stderr, as the launcher's copies are not a terminal."""

LAUNCHED = "DCT_LAUNCHED_RANK"
"""Set in every process that `launch` starts: such a process may not launch others."""

BEGIN, END = b"+", b"."

STARTS = 3
"""Attempts to start the ranks: on a busy machine MPICH sometimes fails to connect them."""

NO_NETWORK = {"UCX_TLS": "posix,self", "FI_PROVIDER": "shm"}
"""Restricts MPICH to shared memory: otherwise each rank listens on every address."""

GRACE = 10.0
"""Seconds that a rank has to save and end if its launcher is gone."""

OTHERS = "all others"
THE_RUN = "the run: continue from what it saved with dct train --resume "

_NOISE = re.compile(rb"\[\d+\]\d+:Return code = ")
"""What mpiexec prints for each rank that ends."""


def launch(ranks: int, lost: str = OTHERS) -> None:
    """Run this command line again as several ranks, and exit as they do, or as a signal asks.

    `lost` says what is lost if a rank ends early. Raises ConfigError, in a launched rank too, which
    would otherwise launch ranks without end.
    """
    if ranks < 2:
        raise ValueError(f"{ranks} ranks need no launcher")
    if LAUNCHED in os.environ:
        raise ConfigError(
            "this process is already a rank started by dct, but the launcher did not connect it "
            f"to the others: leave --ranks out, or unset {LAUNCHED}"
        )
    mpiexec = launcher(ranks)
    for _ in range(STARTS):
        code, stopped, said = _run([str(mpiexec), "-n", str(ranks), *_command()])
        if said or stopped or code == USAGE:
            break
        note("MPI did not start")
    if stopped and not said:
        note("interrupted")
    whole = said.endswith(END) and code >= 0
    if not whole and not stopped:
        who = "a rank" if code >= 0 else mpiexec.name
        note(f"error: {who} ended early, and with it {lost}")
    raise typer.Exit(stopped or (code if whole else FAILURE))


def of_run(directory: object) -> str:
    """Return what is lost with a run, and how to resume it; the directory is None if unknown."""
    if directory is None:
        return f"{THE_RUN}RUN, with a run directory (see dct runs)"
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
        said = _read_messages(reading, 2 * GRACE if process.returncode < 0 else 0)
    finally:
        os.close(reading)
    passing.join(1)  # a rank may be about to be killed
    return process.returncode, interruption.exit_code, said


def _read_messages(reading: int, seconds: float) -> bytes:
    """Return what rank 0 writes until all ranks have ended, or for at most `seconds`."""
    said, until = b"", time.monotonic() + seconds
    while select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        more = os.read(reading, 2)
        if not more:
            break
        said += more
    return said


def _pass_on(errors: IO[bytes], interruption: Interruption) -> None:
    """Pass on what the ranks write to stderr, without the launcher's own lines.

    Nothing once interrupted: rank 0 reports that, and the others only that it is gone.
    """
    for line in errors:
        if not interruption.requested and not _NOISE.match(line):
            with suppress(OSError):
                os.write(2, line)


def launcher(ranks: int) -> Path:
    """Return the program that starts ranks on this machine. Raises ConfigError."""
    from difflogic.system.ranks import MISSING, require

    require()
    mpiexec = Path(sysconfig.get_path("scripts")) / "mpiexec.gforker"
    if not mpiexec.is_file():
        raise ConfigError(
            f"--ranks: no {mpiexec}, which comes with MPICH's wheel: {MISSING}. With another MPI, "
            f"start the ranks yourself: mpiexec -n {ranks} dct …"
        )
    return mpiexec


def _environment() -> dict[str, str]:
    """Return the environment of the ranks, which import from the same places as this process."""
    home = str(Path(__file__).resolve().parents[1])
    installed = home in [*site.getsitepackages(), site.getusersitepackages()]
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    path = os.pathsep.join(before if installed or home in before else [home, *before])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | NO_NETWORK | {LAUNCHED: "1"} | ({"PYTHONPATH": path} if path else {})


def _wait(process: subprocess.Popen[bytes], interruption: Interruption) -> None:
    """Wait for the launcher, and pass signals on to it."""
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
    from difflogic.system.ranks import mpi_ranks, started

    given, end = _descriptors() if started() > 1 else [], None
    orphaned = threading.Event()
    if given:
        threading.Thread(target=_end_after, args=(given[0], orphaned), daemon=True).start()
    try:
        with mpi_ranks() as ranks:
            if given and ranks.leads:
                end = given[1]
                os.dup2(given[2], 1)
                os.dup2(given[3], 2)
            _say(end, BEGIN)
            try:
                yield ranks
            except BaseException as error:
                # Report it now, since what follows may end this process at once.
                if not ranks.leads:
                    note(f"error: rank {ranks.rank}: {error or type(error).__name__}")
                elif ranks.others_wait and not isinstance(error, KeyboardInterrupt):
                    note(f"error: {error or type(error).__name__}")
                elif ranks.others_wait:
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
    """End this rank as SIGTERM does once its launcher is gone; after GRACE seconds, kill it."""
    with suppress(OSError):
        while os.read(alive, 1):
            pass
        orphaned.set()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os.kill(os.getpid(), signal.SIGKILL)


def _silence() -> None:
    """Silence MPI's own messages while interrupted ranks end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _say(end: int | None, what: bytes) -> None:
    if end is not None:
        with suppress(OSError):  # nobody is left to read it
            os.write(end, what)


def check(config: Config, ranks: int, oversubscribe: bool) -> None:
    """Raise ConfigError if this machine has too few cores for that many ranks."""
    from difflogic.engine.hardware import Machine

    if ranks == 1:
        return
    cores, workers = Machine.here().cores, config.parallel.workers
    threads = ranks * (1 if workers == "auto" else workers)
    if threads > cores and not oversubscribe:
        each = "" if workers == "auto" else f" of {workers} workers each"
        raise ConfigError(
            f"{ranks} ranks{each} on {cores} cores: waiting ranks would slow the others down: "
            "start fewer, or use --oversubscribe"
        )
