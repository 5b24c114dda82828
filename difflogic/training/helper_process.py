"""A helper process that compiles the kernels that a run needs later.

Numba compiles one kernel at a time per process, and caches the code on disk. So a second process
can compile while this one does, and this one then loads the code. The helper compiles what a
training step calls besides its rollouts, and then what judges a search's candidates; training has
begun by then. If the helper ends early, for any reason, this process compiles the rest.
"""

from __future__ import annotations

import gc
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
"""Limit of its run time; it usually takes about ten seconds of a core."""
CLOSING = 10
"""Seconds that it gets to finish writing a file before it is killed."""

OBJECTS = 50_000
"""New objects after which Python collects garbage, as in cli/entry.py: compiling keeps most."""

SLICE = 0.1
"""Seconds between two calls of `should_stop`."""


class HelperProcess:
    """The process; it runs until `close`, or until this process ends."""

    def __init__(self, precision: str) -> None:
        """Raises OSError if the process cannot be started."""
        # Isolated, so that it imports what this process imports, and nothing from the working
        # directory. It ignores Ctrl-C: this process handles that, and ends the helper.
        places = [str(Path(__file__).parents[2]), *filter(os.path.isabs, sys.path)]
        program = (
            "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            f"sys.path[:] = {places!r}\nfrom {__name__} import compile_for_parent\n"
            f"compile_for_parent({precision!r})"
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
        """Wait until a stage is compiled or the process has ended; return whether it is compiled.

        Returns None if `should_stop`, which is called repeatedly, returned True before.
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


def start(precision: str) -> HelperProcess | None:
    """Start the process; None without a core for it or a place for the compiled code."""
    if not JIT or cpu_count() < 2 or not keeps_code():
        return None
    try:
        return HelperProcess(precision)
    except OSError:
        return None


def compile_for_parent(precision: str) -> None:
    """Compile the stages in turn, and print the name of each when it is done.

    Ends when standard input does, which is when the parent process ends, however that happens.
    """
    threading.Thread(target=_end_with_input, daemon=True).start()
    gc.set_threshold(OBJECTS)
    for stage in compile_stages(precision):
        print(stage, flush=True)


def compile_stages(precision: str) -> Iterator[Stage]:
    """Compile or load the stages in turn, and yield the name of each when it is done."""
    from difflogic.config import load_config
    from difflogic.model.model import Model
    from difflogic.training.warming import compile_candidates, compile_steps

    # The kernels are the same for every experiment.
    config = load_config("checkerboard-small", [f"training.precision={precision}"])
    model = Model.create(config)
    ops = compile_steps(model.netlist, model.logits.T.astype(precision, "C"), config.training)
    yield "steps"
    compile_candidates(model.netlist, ops)
    yield "search"


def _end_with_input() -> None:
    # Not through sys.stdin: at exit Python would wait for its reader.
    while os.read(0, 1):
        pass
    with SAVING:
        os._exit(0)
