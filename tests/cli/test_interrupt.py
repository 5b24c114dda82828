"""Ctrl-C and SIGTERM: requests during training, otherwise the end of the process."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.interrupt import Interruption
from tests.cli.processes import Process, with_hook

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}

posix = pytest.mark.skipif(os.name != "posix", reason="sends signals of POSIX")


@pytest.mark.parametrize(("number", "code"), EXIT_CODES.items())
def test_a_signal_is_a_request_and_interrupts_nothing(number: signal.Signals, code: int) -> None:
    before = [signal.getsignal(each) for each in EXIT_CODES]
    with Interruption() as interruption:
        assert not interruption.requested
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.requested
        assert interruption.exit_code == code  # of the first
        with pytest.raises(KeyboardInterrupt) as caught:
            interruption.check()
        assert caught.value.exit_code == code  # type: ignore[attr-defined]
    assert [signal.getsignal(each) for each in EXIT_CODES] == before


def test_the_awaited_work_is_named_once(capfd: pytest.CaptureFixture[str]) -> None:
    with Interruption("this search"):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    assert capfd.readouterr().err == "\nstopping after this search …\n"
    with Interruption(None):
        os.kill(os.getpid(), signal.SIGINT)
    assert capfd.readouterr().err == ""


def test_outside_the_main_thread_it_does_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    outcome: list[bool] = []

    def enter() -> None:
        with Interruption() as interruption:
            outcome.append(interruption.requested)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert outcome == [False]
    assert signal.getsignal(signal.SIGINT) is before


HANGING_IMPORT = """
import sys, time

class Hanging:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            print("importing", name, file=sys.stderr, flush=True)
            time.sleep(600)

sys.meta_path.insert(0, Hanging())
"""


@pytest.mark.thorough
@posix
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("typer", signal.SIGINT),
        ("numba", signal.SIGTERM),
        ("difflogic.training.session", signal.SIGINT),
    ],
)
def test_a_signal_during_imports_ends_without_traceback(
    tmp_path: Path, start: Callable[..., Process], name: str, number: signal.Signals
) -> None:
    hook = with_hook(tmp_path, HANGING_IMPORT.format(name=name))
    process = start("train", "checkerboard-small", variables=hook)
    process.wait_for("importing")
    assert process.end(number) == EXIT_CODES[number]
    assert process.err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in process.err
    assert not (tmp_path / "runs").exists()


@posix
def test_ctrl_c_before_signals_are_handled_shows_no_traceback(
    tmp_path: Path, start: Callable[..., Process]
) -> None:
    process = start(
        "runs", variables=with_hook(tmp_path, HANGING_IMPORT.format(name="cli.interrupt"))
    )
    process.wait_for("importing")
    assert process.end(signal.SIGINT) == -signal.SIGINT
    assert process.err == "importing cli.interrupt\n"


@posix
def test_python_does_not_exit_by_itself_after_an_interrupted_import(
    tmp_path: Path, start: Callable[..., Process]
) -> None:
    crashing = "import atexit, os\natexit.register(os.abort)\n"
    hanging = HANGING_IMPORT.format(name="difflogic.training.run_directory")
    process = start("runs", variables=with_hook(tmp_path, crashing + hanging))
    process.wait_for("importing")
    assert process.end(signal.SIGINT) == 130
    assert process.err.endswith("interrupted\n")


PRINTED_IN_C = """
import os, signal, sys
from cli import interrupt
interrupt.install()
try:
    with interrupt.command():
        os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt as error:
    sys.excepthook(type(error), error, None)  # PyErr_Print
sys.excepthook(ImportError, ImportError("numpy failed to import"), None)
"""


def test_an_error_that_a_signal_caused_is_not_printed_in_c(start: Callable[..., Process]) -> None:
    process = start(code=PRINTED_IN_C)
    assert process.end() == 0
    assert process.err == ""


PYTHON_EXIT = """
import itertools, os, sys
from cli import interrupt
interrupt.install()

class Late:
    def __del__(self, files=os.F_OK, access=os.access, repeat=itertools.repeat, err=sys.stderr):
        print("ending", file=err, flush=True)
        any(map(access, repeat("go"), repeat(files)))

late = Late()
sys.exit(130)
"""


@posix
@pytest.mark.parametrize("number", EXIT_CODES)
def test_a_signal_while_python_exits_changes_no_exit_code(
    tmp_path: Path, start: Callable[..., Process], number: signal.Signals
) -> None:
    process = start(code=PYTHON_EXIT)
    process.wait_for("ending")
    process.send_signal(number)
    (tmp_path / "go").touch()
    assert process.end() == 130


LONG_COMPILATION = """
import time
from difflogic.training.searching import Trainer

warm_up = Trainer.warm_up

def longer(self, meanwhile=False):
    warm_up(self, meanwhile)
    time.sleep(600)

Trainer.warm_up = longer
"""


@posix
@pytest.mark.slow
def test_a_signal_while_compiling_leaves_no_run(
    tmp_path: Path, start: Callable[..., Process]
) -> None:
    variables = with_hook(tmp_path, LONG_COMPILATION) | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    process = start("train", "checkerboard-small", variables=variables)
    process.wait_for("compiling")
    time.sleep(1)  # into the compiler, wherever it is then
    assert process.end(signal.SIGINT) == 130
    assert "compiled in" not in process.err
    assert "Traceback" not in process.err
    assert list((tmp_path / "runs").iterdir()) == []


SWALLOWING = """
import sys, time
from cli import interrupt
interrupt.install()
with interrupt.command():
    while True:
        try:
            print("ready", file=sys.stderr, flush=True)
            time.sleep(600)
        except KeyboardInterrupt:
            pass
"""


@pytest.mark.thorough
@posix
def test_a_swallowed_exception_still_ends_the_process(start: Callable[..., Process]) -> None:
    process = start(code=SWALLOWING)
    process.wait_for("ready")
    assert process.end(signal.SIGTERM) == 143


LONG_STEP = """
import itertools, os, sys
from cli import interrupt
interrupt.install()
with interrupt.command(), interrupt.Interruption("this step", patience={patience}) as stop:
    print("ready", file=sys.stderr, flush=True)
    # Hears nothing, as a kernel, until there is a file "go".
    any(map(os.access, itertools.repeat("go"), itertools.repeat(os.F_OK)))
    print("saved", file=sys.stderr, flush=True)
    sys.exit(stop.exit_code)
"""


@pytest.mark.thorough
@posix
def test_during_a_long_step_a_signal_is_reported_at_once(
    tmp_path: Path, start: Callable[..., Process]
) -> None:
    process = start(code=LONG_STEP.format(patience=None))
    process.wait_for("ready")
    process.send_signal(signal.SIGTERM)
    process.wait_for("stopping after this step")
    process.send_signal(signal.SIGINT)
    (tmp_path / "go").touch()
    assert process.end() == 143
    assert "saved" in process.err


@posix
def test_a_long_step_without_results_is_cut_short(start: Callable[..., Process]) -> None:
    process = start(code=LONG_STEP.format(patience=0.1))
    process.wait_for("ready")
    assert process.end(signal.SIGTERM) == 143
    assert "saved" not in process.err


UNDOING = """
import contextlib, hashlib, sys
from cli import interrupt
from difflogic.system.callbacks import undoing
interrupt.install()
interrupt.PATIENCE = 0.1
with interrupt.command(), undoing(lambda: print("undone", file=sys.stderr, flush=True)):
    for _ in range(2):  # a signal before the kernel begins is swallowed, as in a callback
        with contextlib.suppress(KeyboardInterrupt):
            print("ready", file=sys.stderr, flush=True)
            hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""


@posix
def test_half_done_work_is_undone(start: Callable[..., Process]) -> None:
    process = start(code=UNDOING)
    process.wait_for("ready")
    assert process.end(signal.SIGINT) == 130
    assert "undone" in process.err


WRITING = """
import contextlib, hashlib, sys
from pathlib import Path
from cli import interrupt
from difflogic.system.files import write_whole
interrupt.install()
interrupt.PATIENCE = 0.1

def write(file):
    for _ in range(2):
        with contextlib.suppress(KeyboardInterrupt):
            print("ready", file=sys.stderr, flush=True)
            hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)

with interrupt.command():
    write_whole(Path("picture.png"), write)
"""


@posix
def test_an_unfinished_file_is_removed(tmp_path: Path, start: Callable[..., Process]) -> None:
    process = start(code=WRITING)
    process.wait_for("ready")
    assert process.end(signal.SIGTERM) == 143
    assert list(tmp_path.iterdir()) == []


@posix
def test_ignored_signals_stay_ignored(start: Callable[..., Process]) -> None:
    code = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from cli import interrupt
interrupt.install()
with interrupt.command(), interrupt.Interruption() as interruption:
    os.kill(os.getpid(), signal.SIGINT)
    print("alive", interruption.requested, file=sys.stderr)
"""
    process = start(code=code)
    assert process.end() == 0
    assert process.err == "alive False\n"
