"""A process that compiles what a run calls later, while this one compiles what it calls first.

Numba compiles one kernel at a time in a process, and its code is kept on disk: so another process
can compile for this one, which then loads what it finds. The other one compiles what a training
step calls besides its rollouts, and then what searches call, while training is under way already.
What it has not done when it ends, of whatever, is compiled here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from difflogic.system.callbacks import never_stop
from difflogic.system.jit import JIT, keeps_code
from difflogic.system.jit.cache import SAVING
from difflogic.system.machine import cpu_count

Stage = Literal["steps", "search"]

SECONDS = 1800
"""That it may take: some twenty of a core's time."""
CLOSING = 10
"""Seconds for what it is keeping at its end; else it is killed, and leaves a file of no use."""


SLICE = 0.1
"""Seconds between two looks at whether who waits is to stop."""


class HelperProcess:
    """The process, from its start to `close`, or to the end of this process."""

    def __init__(self, precision: str, rectifies: bool) -> None:
        """Raises OSError if the system starts no process."""
        # Isolated, so that it imports what is imported here, and nothing from the working
        # directory. Ctrl-C is meant for this process, which ends the other.
        places = [str(Path(__file__).parents[2]), *filter(os.path.isabs, sys.path)]
        program = (
            "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            f"sys.path[:] = {places!r}\nfrom {__name__} import compile_for_parent\n"
            f"compile_for_parent({precision!r}, {rectifies!r})"
        )
        self._told: set[str] = set()
        self._ended = False
        self._news = threading.Condition()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="ascii",
            errors="replace",
        )
        self._limit = threading.Timer(SECONDS, self._process.kill)
        self._limit.daemon = True
        self._limit.start()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._told.add(line.strip())
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait(self, stage: Stage, should_stop: Callable[[], bool] = never_stop) -> bool | None:
        """Wait until a stage is compiled, or until it will not be; return whether it is.

        None where `should_stop`, which is asked again and again, said yes before.
        """
        with self._news:
            while stage not in self._told and not self._ended:
                if should_stop():
                    return None
                self._news.wait(SLICE)
            return stage in self._told

    def close(self) -> None:
        """End the process."""
        self._limit.cancel()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSING)
        self._process.kill()
        self._reader.join()
        self._process.__exit__(None, None, None)


def start(precision: str, rectifies: bool) -> HelperProcess | None:
    """Start the process, if there is a core for it, and if what it compiles would be kept.

    `rectifies` says that searches change several gates at once, too.
    """
    if not JIT or cpu_count() < 2 or not keeps_code():
        return None
    try:
        return HelperProcess(precision, rectifies)
    except OSError:
        return None


def compile_for_parent(precision: str, rectifies: bool) -> None:
    """Compile one stage after the other, and print the name of each that is done.

    Ends when the standard input does: with the process that has started this one, however that one
    ends.
    """
    threading.Thread(target=_end_with_input, daemon=True).start()
    for stage in compile_stages(precision, rectifies):
        print(stage, flush=True)


def compile_stages(precision: str, rectifies: bool) -> Iterator[Stage]:
    """Compile or load one stage after the other, and yield the name of each that is done."""
    from difflogic.config import load_config
    from difflogic.model.model import Model
    from difflogic.training.warming import compile_rectification, compile_search, compile_steps

    # Any will do.
    config = load_config("checkerboard-small", [f"training.precision={precision}"])
    model = Model.create(config)
    ops = compile_steps(model.netlist, model.logits.T.astype(precision, "C"), config.training)
    yield "steps"
    compile_search(model.netlist, ops)
    if rectifies:
        compile_rectification(model.netlist, ops)
    yield "search"


def _end_with_input() -> None:
    # By its number: at its end Python would wait for who reads sys.stdin.
    while os.read(0, 1):
        pass
    with SAVING:
        os._exit(0)
