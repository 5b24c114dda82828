"""A seed means the same circuit on every processor, with any number of workers in any strategy."""

import json
import os
import platform
import shlex
import subprocess
import sys

import pytest

from difflogic import load_config
from difflogic.run.checkpoint import Checkpoint, _note_other_origin, made_with
from difflogic.system import rounding
from difflogic.system.jit.processor import registers
from difflogic.system.strategy import STRATEGIES
from tests.difflogic.training.tiny import least_bytes
from tests.digests import FEW, KEPT, MANY, NAMES, digest, digests
from tests.marks import exhaustive, fused

DIGESTS = json.loads(KEPT.read_text("utf-8"))
FEATURES = "+sse4.2,+popcnt,+fma,+bmi,+bmi2,+f16c,+lzcnt"
PLAIN = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL",
    "OPENBLAS_CORETYPE": "Haswell",
    "NUMBA_CPU_NAME": "haswell",
}
"""Libraries without AVX-512. They only warn of features that they do not know."""
ARM = shlex.split(os.environ.get("DCT_ARM64", ""))
"""A command that runs Python on an emulated ARM: docs/notebook/bits.md."""

WIDTHS = {
    "own": (0, {}),
    "AVX2": (64, PLAIN | {"NUMBA_CPU_FEATURES": f"{FEATURES},+avx,+avx2"}),
    "16 bytes": (32, PLAIN | {"NUMBA_CPU_FEATURES": FEATURES}),
}
"""For each width of code, bytes of the own registers from which the code is another, and what makes
the compiler and the libraries take it."""

pytestmark = fused


def printed(command, *asked, **environment):
    done = subprocess.run(
        [*command, "-m", "tests.digests", *asked],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def kept(asked):
    epochs, precision = asked.split(":")
    return {key: text for key, text in DIGESTS.items() if key.endswith(f" {precision} {epochs}")}


def test_every_experiment_has_digests():
    every = [(n, p, e) for n in NAMES for p in ("float32", "float64") for e in (FEW, MANY)]
    assert {f"{n} {p} {e}" for n, p, e in every} == set(DIGESTS)
    assert len(set(DIGESTS.values())) == len(every)


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        f"{FEW}:float32",
        *(
            exhaustive(f"{epochs}:{precision}")
            for epochs, precision in ((FEW, "float64"), (MANY, "float32"), (MANY, "float64"))
        ),
    ],
)
# Each width compiles its kernels for a quarter of a minute.
@pytest.mark.parametrize("width", ["own", "AVX2", exhaustive("16 bytes")])
def test_all_widths_of_vectors_have_the_same_bits(width, asked):
    least, environment = WIDTHS[width]
    if registers().width < least or (least and platform.machine() not in ("x86_64", "AMD64")):
        pytest.skip("the own code is as narrow")
    epochs, precision = asked.split(":")
    here = digests(int(epochs), precision) if width == "own" else None
    assert (here or printed([sys.executable], asked, **environment)) == kept(asked)


@pytest.mark.parametrize(
    ("device", "fused", "how"),
    [
        ("cpu", True, None),
        ("cpu", False, "like a processor without fused multiply-adds"),
        ("gpu", True, "like a GPU"),
    ],
)
def test_what_rounds_in_its_own_way_says_so(device, fused, how, monkeypatch, said):
    monkeypatch.setattr(rounding, "fuses", lambda: fused)
    assert [how in each for each in rounding.warnings(device)] == ([] if how is None else [True])
    none: dict = {"config": {}, "state": {}, "seconds": {}}
    then = Checkpoint(epoch=3, resumed=0, made_with=made_with(device), **none)
    monkeypatch.setattr(rounding, "fuses", lambda: True)
    _note_other_origin(then, "cpu")
    assert [f"computed with rounding {how}" in each for each in said] == ([True] if how else [])


@pytest.mark.exhaustive
@pytest.mark.skipif(not ARM, reason="DCT_ARM64 names no emulator")
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_arm_has_the_same_bits(precision):
    asked = f"{FEW}:{precision}", f"{MANY}:{precision}"
    assert printed(ARM, *asked) == kept(asked[0]) | kept(asked[1])


@pytest.mark.once
@pytest.mark.parametrize("workers", [exhaustive(1), 2, 3])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_ways_to_share_have_the_same_bits(strategy, workers):
    # Tiles of 16, 32 and 64 lanes; samples in waves, or at once.
    for size, in_waves in ((4, False), (9, True), (16, False)):
        sizes = f"task.height={size}", f"task.width={size}", "automaton.steps=5"
        search = "finishing.every=2", "finishing.from_epoch=2", "finishing.candidates=60"
        setting = (*sizes, *search, "training.batch=3", "automaton.fire_rate=0.7")
        ways = [f"parallel.strategy={strategy}", f"parallel.workers={workers}"]
        if in_waves:
            least = least_bytes(load_config("checkerboard-small", [*setting, *ways]))
            ways.append(f"parallel.memory_budget={least}B")
        alone = digest("checkerboard-small", 2, *setting)
        assert digest("checkerboard-small", 2, *setting, *ways) == alone
