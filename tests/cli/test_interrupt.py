"""Ctrl-C and SIGTERM: requests during training, otherwise the end of the process."""

import signal

import pytest

from cli.interrupt import Interruption
from tests.cli.processes import with_hook

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
ALL_CODES = EXIT_CODES | {signal.SIGHUP: 129, signal.SIGXCPU: 152, signal.SIGUSR1: 138}


@pytest.mark.parametrize(("number", "code"), ALL_CODES.items())
def test_a_signal_is_a_request_and_interrupts_nothing(number, code):
    before = [signal.getsignal(each) for each in ALL_CODES]
    with Interruption() as interruption:
        assert not interruption.requested
        signal.raise_signal(number)
        signal.raise_signal(signal.SIGINT)
        assert interruption.requested
        assert interruption.exit_code == code  # of the first
        with pytest.raises(KeyboardInterrupt):
            interruption.check()
    assert [signal.getsignal(each) for each in ALL_CODES] == before


HANGING_IMPORT = """
import sys, time

class Hanging:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            print("importing", name, file=sys.stderr, flush=True)
            time.sleep(600)

sys.meta_path.insert(0, Hanging())
"""


CRASHING = "import atexit, os; atexit.register(os.abort)"


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "number", "code", "said"),
    [
        ("typer", signal.SIGINT, 130, "interrupted"),
        ("numba", signal.SIGTERM, 143, "interrupted"),
        ("difflogic.experiment.session", signal.SIGINT, 130, "interrupted"),
        # Before signals are handled.
        ("cli.interrupt", signal.SIGINT, -signal.SIGINT, "importing cli.interrupt"),
    ],
)
def test_a_signal_during_imports_ends_without_traceback(tmp_path, start, name, number, code, said):
    """Nor does Python exit by itself then, which would crash here."""
    crashing = "" if said.startswith("importing") else CRASHING
    hook = with_hook(tmp_path, crashing + HANGING_IMPORT.format(name=name))
    process = start("train checkerboard-small", variables=hook)
    process.wait_for("importing")
    assert process.end(number) == code
    assert process.err.splitlines()[-1] == said
    assert "Traceback" not in process.err
    assert not (tmp_path / "runs").exists()


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


def test_an_error_that_a_signal_caused_is_not_printed_in_c(start):
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


@pytest.mark.parametrize("number", EXIT_CODES)
def test_a_signal_while_python_exits_changes_no_exit_code(tmp_path, start, number):
    process = start(code=PYTHON_EXIT)
    process.wait_for("ending")
    process.send_signal(number)
    (tmp_path / "go").touch()
    assert process.end() == 130


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
def test_during_a_long_step_a_signal_is_reported_at_once(tmp_path, start):
    process = start(code=LONG_STEP.format(patience=None))
    process.wait_for("ready")
    process.send_signal(signal.SIGTERM)
    process.wait_for("stopping after this step")
    process.send_signal(signal.SIGINT)
    (tmp_path / "go").touch()
    assert process.end() == 143
    assert "saved" in process.err


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


@pytest.mark.once
@pytest.mark.parametrize("code", [WRITING, SWALLOWING, LONG_STEP.format(patience=0.1)])
def test_what_does_not_stop_is_cut_short_and_leaves_no_file(tmp_path, start, code):
    """Not even a swallowed exception, or a step that would have saved something, keeps it."""
    process = start(code=code)
    process.wait_for("ready")
    assert process.end(signal.SIGTERM) == 143
    assert "saved" not in process.err
    assert list(tmp_path.iterdir()) == []


def test_ignored_signals_stay_ignored(start):
    code = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from cli import interrupt
interrupt.install()
with interrupt.command(), interrupt.Interruption() as interruption:
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGHUP)
    print("alive", interruption.requested, file=sys.stderr)
"""
    process = start(code=code, launcher=["nohup"])
    assert process.end() == 0
    assert process.err == "alive False\n"
