"""`--ranks`: starts one run as several processes on this machine, and joins them.

mpiexec.gforker, from MPICH's wheel, only forks: it opens no port and uses no other machine.
"""

from __future__ import annotations

import math
import os
import re
import select
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
from cli.interrupt import PATIENCE, Interruption, caused
from difflogic.system.errors import ConfigError
from difflogic.system.files import for_shell

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.system.ranks import Ranks

DESCRIPTORS = "DCT_RANKS_DESCRIPTORS"
"""File descriptors that the ranks inherit. The first one closes when the starting command ends. The
others are for rank 0: one to report that all ranks have started, and that all have ended; and
the command's own stdout and stderr, since those of the launcher are not a terminal."""

LAUNCHED = "DCT_LAUNCHED_RANK"
"""Set in every process that `launch` starts: it must not launch others."""

BEGIN, END = b"+", b"."

STARTS = 3
"""Attempts to start the ranks: on a busy machine MPICH sometimes fails to connect them."""

NO_NETWORK = {"UCX_TLS": "posix,self", "FI_PROVIDER": "shm"}
"""Restricts MPICH to shared memory. By default each rank listens on every address."""

GRACE = 10.0
"""Seconds in which a rank must save and end after its launcher is gone."""

STUCK = 20.0
"""Seconds in which ranks must save and end after a signal; then they are killed."""

_NOISE = re.compile(rb"\[\d+\]\d+:Return code = ")
"""mpiexec prints this for each rank that ends."""


def launch(ranks: int, lost: str = "all others") -> None:
    """Run this command line again as several ranks, and exit as they do, or as a signal asks.

    `lost` says what ends with a rank that ends early. Raises ConfigError in a rank that `launch`
    started, which would otherwise launch ranks without end.
    """
    if LAUNCHED in os.environ:
        raise ConfigError(
            "this process is already a rank started by dct, but the launcher did not connect it "
            f"to the others: leave --ranks out, or unset {LAUNCHED}"
        )
    mpiexec = launcher(ranks)
    command = [str(mpiexec), "-n", str(ranks), sys.executable, "-P", "-m", "cli", *sys.argv[1:]]
    for _ in range(STARTS):
        code, stopped, reports = _run(command)
        if reports or stopped or code == USAGE:
            break
        note("MPI did not start")
    if stopped and (code < 0 or not reports):  # rank 0 says so only while its launcher lives
        note("interrupted")
    complete = reports.endswith(END) and code >= 0
    if not complete and not stopped:
        who = "a rank" if code >= 0 else mpiexec.name
        note(f"error: {who} ended early, and with it {lost}")
    raise typer.Exit(stopped or (code if complete else FAILURE))


def lost_run(directory: object) -> str:
    """Say that a run ended, and how to resume it; the directory is None if unknown."""
    run = "RUN, with a run directory (see dct runs)"
    if directory is not None:
        run = for_shell(str(directory))
    return f"the run: continue from what it saved with dct train --resume {run}"


def _run(command: list[str]) -> tuple[int, int, bytes]:
    """Run ranks; return their exit code, the exit code of an interruption or 0, and the reports.

    The ranks' exit code is negative if a signal ended their launcher.
    """
    reading, writing = os.pipe()
    alive, living = os.pipe()  # never written: the ranks see it close when this process ends
    inherited = [alive, writing, os.dup(1), os.dup(2)]
    try:
        with Interruption(None, patience=None) as interruption:
            try:
                process = subprocess.Popen(
                    command,
                    env=_environment() | {DESCRIPTORS: " ".join(map(str, inherited))},
                    pass_fds=inherited,
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                )
            finally:
                for each in inherited:
                    os.close(each)
            passing = threading.Thread(
                target=_pass_on, args=(process.stderr, interruption), daemon=True
            )
            passing.start()
            _wait(process, interruption, reading)
        os.close(living)
        # If the launcher was killed, the ranks still have to save.
        reports = _read_messages(reading, 2 * GRACE if process.returncode < 0 else 0)
    finally:
        os.close(reading)
    passing.join(1)  # a rank may be about to be killed
    return process.returncode, interruption.exit_code, reports


def _read_messages(reading: int, seconds: float) -> bytes:
    """Return the reports of rank 0 until all ranks have ended, or for at most `seconds`."""
    reports, until = b"", time.monotonic() + seconds
    while select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        more = os.read(reading, 2)
        if not more:
            break
        reports += more
    return reports


def _pass_on(errors: IO[bytes], interruption: Interruption) -> None:
    """Pass on the ranks' stderr, without the launcher's own lines.

    After an interruption nothing is passed on: rank 0 reports it, the others only lose rank 0.
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
    """Return the environment of the ranks: they import from the same places as this process."""
    home = str(Path(__file__).resolve().parents[1])
    installed = home in [*site.getsitepackages(), site.getusersitepackages()]
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    path = os.pathsep.join(before if installed or home in before else [home, *before])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | NO_NETWORK | {LAUNCHED: "1"} | ({"PYTHONPATH": path} if path else {})


def _wait(process: subprocess.Popen[bytes], interruption: Interruption, reading: int) -> None:
    """Wait for the launcher, and pass the first signal on to it.

    A rank that the launcher is just starting misses a signal. The other ranks end, but that one
    keeps waiting for them. So the launcher is killed unless all ranks have joined PATIENCE seconds
    after the signal. A rank that is stopped or stuck keeps the others waiting, too: after STUCK
    seconds all are killed.
    """
    until = math.inf
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            return
        if interruption.requested and until == math.inf:
            until = time.monotonic() + PATIENCE
            process.send_signal(interruption.exit_code - 128)
        elif time.monotonic() > until and not select.select([reading], [], [], 0)[0]:
            process.kill()
        elif time.monotonic() > until + STUCK:
            note(f"error: killed ranks that did not end in {PATIENCE + STUCK:g} seconds")
            for each in _children(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
            process.kill()


def _children(process: int) -> list[int]:
    """Return the processes that a process started; none where the system does not list them."""
    try:
        return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))
    except OSError:
        return []


@contextmanager
def joined() -> Iterator[Ranks]:
    """While entered, this process is one of the ranks that a launcher started, or alone."""
    from difflogic.system.ranks import mpi_ranks, started

    inherited, reporting = _descriptors() if started() > 1 else [], None
    orphaned = threading.Event()
    if inherited:
        threading.Thread(target=_end_after, args=(inherited[0], orphaned), daemon=True).start()
    try:
        with mpi_ranks() as ranks:
            try:
                if inherited and ranks.leads:
                    os.dup2(inherited[2], 1)
                    os.dup2(inherited[3], 2)
                    reporting = inherited[1]
                _report(reporting, BEGIN)
                yield ranks
            except BaseException as error:
                # Report it now: leaving MPI may end this process at once.
                if not ranks.leads:
                    note(f"error: rank {ranks.rank}: {error or type(error).__name__}")
                elif ranks.others_wait and caused(error):
                    note("interrupted")
                    _silence()
                elif ranks.others_wait:
                    note(f"error: {error or type(error).__name__}")
                raise
            finally:
                if orphaned.is_set():
                    _silence()
    finally:
        _report(reporting, END)


def _descriptors() -> list[int]:
    """Return the file descriptors in `DESCRIPTORS`; none if another launcher started the ranks."""
    try:
        inherited = list(map(int, os.environ.pop(DESCRIPTORS).split()))
        for each in inherited:
            os.fstat(each)
    except (KeyError, ValueError, OSError):
        return []
    return inherited if len(inherited) == 4 else []


def _end_after(alive: int, orphaned: threading.Event) -> None:
    """End this rank by SIGTERM once its launcher is gone, and by SIGKILL after GRACE seconds."""
    with suppress(OSError):
        while os.read(alive, 1):
            pass
        orphaned.set()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os.kill(os.getpid(), signal.SIGKILL)


def _silence() -> None:
    """Discard MPI's own messages while interrupted ranks end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _report(reporting: int | None, message: bytes) -> None:
    if reporting is not None:
        with suppress(OSError):  # nobody is left to read it
            os.write(reporting, message)


def check(config: Config, ranks: int, oversubscribe: bool) -> None:
    """Raise ConfigError if this machine has too few cores for the ranks."""
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
