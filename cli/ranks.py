"""`--ranks`: starts one run as several processes on this machine, and takes the part of one.

mpiexec.gforker, of MPICH's wheel, only forks: no port is opened, and no other machine reached.
"""

from __future__ import annotations

import os
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli.errors import FAILURE, USAGE, note
from cli.interrupt import Interruption

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.ranks import Ranks

DESCRIPTORS = "DCT_RANKS_DESCRIPTORS"
"""Names those of rank 0: one on which it says that all have begun, and come to their end together,
and the command's own stdout and stderr, as the launcher's copies are no terminal."""

BEGIN, END = b"+", b"."

STARTS = 3
"""Times that ranks are started: on a busy machine MPICH now and then does not find together."""

NO_NETWORK = {"UCX_TLS": "posix,self", "FI_PROVIDER": "shm"}
"""What keeps MPICH to the memory of this machine: else each rank listens on every address."""

LOST = "error: a rank ended before its time, and with it all others"
LOST_RUN = (
    "error: a rank ended before its time, and with it the run: what it had saved goes on with "
    "dct train --resume RUN, the directory of the run (dct runs lists them)"
)


def launch(ranks: int, lost: str = LOST) -> None:
    """Run this command line again as so many ranks, and exit as they do.

    `lost` is said where one of them ended too early. Raises ConfigError.
    """
    mpiexec = launcher(ranks)
    for _ in range(STARTS):
        code, stopped, said = _run([str(mpiexec), "-n", str(ranks), *_command()])
        if said or stopped or code == USAGE:
            break
        note("MPI has not started")
    whole = said.endswith(END)
    if not whole and not stopped:
        note(lost)
    raise typer.Exit(code if whole else stopped or FAILURE)


def _command() -> list[str]:
    return [sys.executable, "-P", "-m", "cli", *sys.argv[1:]]


def _run(command: list[str]) -> tuple[int, int, bytes]:
    """Run ranks; return their exit code, that of a stop if there was one, and what rank 0 said."""
    reading, writing = os.pipe()
    given = [writing, os.dup(1), os.dup(2)]
    try:
        try:
            process = subprocess.Popen(
                command,
                env=_environment() | {DESCRIPTORS: " ".join(map(str, given))},
                pass_fds=given,
                stdin=subprocess.DEVNULL,
            )
        finally:
            for each in given:
                os.close(each)
        stopped = _wait(process)
        os.set_blocking(reading, False)
        said = b""
        with suppress(BlockingIOError):  # a rank is still about to be killed
            said = os.read(reading, 2)
    finally:
        os.close(reading)
    return process.returncode, stopped, said


def launcher(ranks: int) -> Path:
    """Return what starts ranks on this machine. Raises ConfigError."""
    from difflogic.errors import ConfigError
    from difflogic.ranks import MISSING, require

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
    return kept | NO_NETWORK | ({"PYTHONPATH": path} if path else {})


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for the launcher, and hand on to it what signal comes; return 128 plus its number."""
    told = False
    with Interruption(None, patience=None) as interruption:
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
                return interruption.exit_code
            if interruption.requested and not told:
                told = True
                process.send_signal(interruption.exit_code - 128)


@contextmanager
def joined() -> Iterator[Ranks]:
    """While entered, be one of the ranks that a launcher has started, or alone."""
    from difflogic.ranks import together

    end = None
    try:
        with together() as ranks:
            if ranks.size > 1 and ranks.leads:
                end = _take_descriptors()
            _say(end, BEGIN)
            try:
                yield ranks
            except BaseException as error:
                # Last words, where what comes next ends this process at once.
                if not ranks.leads:
                    note(f"error: rank {ranks.rank}: {error or type(error).__name__}")
                elif ranks.torn and not isinstance(error, KeyboardInterrupt):
                    note(f"error: {error or type(error).__name__}")
                raise
    finally:
        _say(end, END)


def _take_descriptors() -> int | None:
    """Write where the command that started the ranks does; return where to say the end."""
    try:
        end, out, err = map(int, os.environ.pop(DESCRIPTORS).split())
        os.dup2(out, 1)
        os.dup2(err, 2)
    except (KeyError, ValueError, OSError):  # started by another launcher
        return None
    return end


def _say(end: int | None, what: bytes) -> None:
    if end is not None:
        os.write(end, what)


def check(config: Config, ranks: int, oversubscribe: bool) -> None:
    """Raise ConfigError for what so many ranks on this machine cannot do, or should not."""
    from difflogic.engine.hardware import Machine
    from difflogic.errors import ConfigError

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
