"""Settings for all tests."""

import faulthandler
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, settings
from jinja2 import Environment

from cli.entry import OBJECTS
from difflogic.evaluation import noise
from difflogic.speed import spread
from difflogic.system.work import working
from tests.examples import FEW, MANY

# Everybody tries the same examples, whether or not hypothesis finds signs of a CI service or has
# kept failures of earlier runs. A slow or busy machine must not fail tests.
settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=FEW,
)
# `make thorough` tries as many as hypothesis does by default; `make exhaustive` draws them, with
# seeds that it prints.
settings.register_profile("thorough", settings.get_profile("fixed"), max_examples=MANY)
settings.register_profile("drawn", settings.get_profile("thorough"), derandomize=False)
settings.load_profile("fixed")

SECONDS = 900.0
"""A test that takes longer hangs, on a busy machine, too: none needs a minute on a quiet one.

Those of `make exhaustive` alone may take four times that.
"""


def pytest_configure() -> None:
    """Handle SIGINT, which background jobs ignore, and SIGHUP, which `nohup` does.

    Processes that tests start would inherit it. And save time: no test cuts the power, rough
    figures of speed and noise will do, and a template is compiled once.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    os.fsync = lambda descriptor: None
    spread.BURST /= 10
    noise.SETTLING_STEPS = 20
    noise.NOISY_STEPS = 20
    Environment.compile = compiled_once(Environment.compile)  # type: ignore[method-assign]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than cores: tests also wait, for processes and for clocks."""
    return int(psutil.cpu_count()) + 1


def compiled_once(compiling: Any) -> Any:
    """Return what compiles Jinja's templates, and keeps their code."""
    kept: dict[Any, Any] = {}

    def compiled(environment: Environment, *arguments: Any, **more: Any) -> Any:
        key = bool(environment.autoescape), arguments, *more.items()
        if key not in kept:
            kept[key] = compiling(environment, *arguments, **more)
        return kept[key]

    return compiled


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is tried once as thorough, except its first case, which `make test` runs.

    And begin with the modules of slow tests: one at the end would keep one core waiting.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    seen = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if item.get_closest_marker("once"):
            item.add_marker("thorough")
            if test not in seen and not item.get_closest_marker("exhaustive"):
                item.add_marker("first")
                seen.add(test)


def pytest_collection_finish() -> None:
    """Collect garbage as seldom as `dct` does, and leave out all that was imported by now."""
    gc.freeze()
    gc.set_threshold(OBJECTS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Give each test a limit: what hangs says nothing, and takes the time of all others."""
    seconds = SECONDS * (4 if item.get_closest_marker("exhaustive") else 1)
    timer = threading.Timer(seconds, give_up, (item, seconds))
    timer.daemon = True
    timer.start()
    # Compiled code that keeps Python's lock holds up the timer, too.
    faulthandler.dump_traceback_later(seconds + 30, exit=True, file=sys.__stderr__)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
        timer.cancel()


def give_up(item: pytest.Item, seconds: float) -> None:
    """Print all stacks, and end this process and all that it started."""
    children = psutil.Process().children(recursive=True)
    item.config.pluginmanager.get_plugin("capturemanager").suspend_global_capture(in_=True)
    print(f"\n{item.nodeid} has not ended after {seconds:.0f} s", file=sys.stderr, flush=True)
    faulthandler.dump_traceback(file=sys.stderr)
    for process in children:
        process.kill()
    os._exit(1)


@pytest.fixture
def said() -> Iterator[list[str]]:
    """The messages for users while a test runs."""
    messages: list[str] = []
    with working(say=messages.append):
        yield messages
