"""The machine to plan for: this one, or a described one."""

import pytest

from difflogic.engine.hardware import USUAL_L2, Machine
from difflogic.system import machine, memory
from difflogic.system.errors import ConfigError


def test_this_machine_comes_from_the_system(monkeypatch):
    monkeypatch.setattr(machine, "cpu_count", lambda: 6)
    monkeypatch.setattr(machine, "cache_bytes", lambda level: None)
    monkeypatch.setattr(memory, "available_memory", lambda: 12345)
    here = Machine.here()
    assert (here.cores, here.l2, here.memory) == (6, USUAL_L2, 12345)
    assert not here.described


def test_a_text_describes_a_machine():
    found = Machine.parse("cores=64, l2=1MB,memory=256GB,vector=avx")
    assert (found.cores, found.l2, found.memory) == (64, 10**6, 256 * 10**9)
    assert (found.vector, found.described) == (32, True)
    # The rest is as on this machine.
    assert Machine.parse("cores=3").l2 == Machine.here().l2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", r'"" is not KEY=VALUE, such as cores=64'),
        ("cores=0", r'cores: "0" is not a whole number from 1 to 1024'),
        ("cores=٣", "cores: "),
        ("core=4", 'no "core": did you mean "cores"'),
        ("l2=1", r'l2: "1" is not a number of bytes: write it as'),
        ("memory=0GB", "memory: .* is not a number of bytes"),
        ("vector=avx2", 'vector: no "avx2": did you mean "avx"'),
        ("cores=2,cores=3", "cores is given twice"),
    ],
)
def test_other_descriptions_are_refused(text, problem):
    with pytest.raises(ConfigError, match=problem):
        Machine.parse(text)
