"""`dct` and Python in processes of their own, and what /proc tells of them."""

import os
import shlex
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.paths import ROOT

SECONDS = 120.0
"""After which a process that a test talks to prints its stacks and ends; who waits for it fails."""


def wait_until(condition: Callable[[], object]) -> None:
    """Look until the condition holds."""
    until = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < until, f"not so after {SECONDS:.0f} s"
        time.sleep(0.01)


def with_defaults(options: dict[str, Any]) -> dict[str, Any]:
    """Complete the options of a process: it imports from the checkout, and all output is text."""
    always = {"PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"}
    environment = os.environ | always | options.pop("variables", {})
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    return {"env": environment, "stdin": subprocess.DEVNULL, "text": True, **pipes, **options}


def run_python(*arguments: str, cwd: Path = ROOT, good: bool = False, **options: Any) -> Any:
    """Run Python to its end, a good one if that is said, with `variables` in its environment."""
    options = {"timeout": 300, **options}
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, **with_defaults(options))
    assert done.returncode == 0 or not good, done.stderr
    return done


def as_options(settings: Iterable[str]) -> str:
    """Return settings as they stand in the words of a command."""
    return " ".join(f"--set={each}" for each in settings)


def words_of(texts: Iterable[str]) -> list[str]:
    """Return the words of a command line; a text with blanks is split as a shell does."""
    found: list[str] = []
    for text in texts:
        found += [text] if text and " " not in text else shlex.split(text)
    return found


def run_dct(*words: str, **options: Any) -> Any:
    """Run `dct` to its end."""
    return run_python("-P", "-m", "cli", *words_of(words), **options)


def with_hook(folder: Path, code: str) -> dict[str, str]:
    """Return variables with which processes, and all that they start, run some code first."""
    hooks = folder / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": os.pathsep.join([str(hooks), str(ROOT)])}


HELD = """
import os, time
from difflogic.experiment.searching import Trainer

step = Trainer.step

def held(self):
    while self.epoch >= {epoch} and not os.path.exists({go!r}):
        time.sleep(0.01)
    return step(self)

Trainer.step = held
"""
"""Code for `with_hook`: runs wait after an epoch for a file."""


def mpiexec(ranks: int) -> dict[str, Any]:
    """Return options of a process that is started as several ranks, without a port."""
    program = Path(sysconfig.get_path("scripts")) / "mpiexec.gforker"
    if not program.is_file():
        pytest.skip("needs the launcher of MPICH's wheel")
    variables = {"UCX_TLS": "posix,self", "FI_PROVIDER": "shm"}
    # The launcher may cut a character in two.
    options = {"variables": variables, "errors": "replace"}
    return {"launcher": [str(program), "-n", str(ranks)], **options}


class Process(subprocess.Popen):
    """A process in a session of its own, with a limit. `err` is what was read of its stderr."""

    err = ""

    def __init__(self, *arguments: str, cwd: Path, launcher: Any = (), **options: Any) -> None:
        words, options = [*launcher, sys.executable, *arguments], with_defaults(options)
        super().__init__(words, cwd=cwd, start_new_session=True, **options)
        self._limit = threading.Timer(SECONDS, self._abort)
        self._limit.daemon = True
        self._limit.start()

    def _abort(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGABRT)  # Python prints its stacks
            time.sleep(1)
            os.killpg(self.pid, signal.SIGKILL)

    def wait_for(self, text: str) -> None:
        """Read stderr up to the line with this text."""
        while text not in self.err:
            line = self.stderr.readline()
            assert line, f"it ended without {text!r}: {self.err}"
            self.err += line

    def end(self, number: signal.Signals | None = None) -> int:
        """Send a signal, if given; wait for the end, and return the exit code."""
        if number is not None:
            self.send_signal(number)
        self.out, rest = self.communicate()
        self.err += rest or ""
        self._limit.cancel()
        return self.returncode

    def close(self) -> None:
        """Kill it, and all that it started, if it still runs."""
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
        self.end()


def of_session(session: int) -> list[int]:
    """Return the running processes of a session."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(folder.name))
    return found


COMPILERS = (b"compile_for_parent", b"_lower_text")
"""In the command line of a process that compiles kernels or a circuit."""


def compiles(process: int) -> bool:
    """Return whether a process only compiles."""
    with suppress(OSError):
        said = Path(f"/proc/{process}/cmdline").read_bytes()
        return any(name in said for name in COMPILERS)
    return False


def end_session(session: int) -> None:
    """Kill every process of a session, until none is left."""
    while found := of_session(session):
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def listening(process: int) -> set[tuple[str, int]]:
    """Return the addresses and ports on which a process listens; it may have ended."""
    with suppress(psutil.NoSuchProcess):
        connections = psutil.Process(process).net_connections("inet")
        return {tuple(one.laddr) for one in connections if one.status == psutil.CONN_LISTEN}
    return set()
