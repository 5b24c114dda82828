"""The machine to plan for: this one, or a described one."""

import pytest

from difflogic.engine.hardware import Hardware
from difflogic.system import machine, memory
from difflogic.system.errors import ConfigError


def test_this_machine_comes_from_the_system(monkeypatch):
    monkeypatch.setattr(machine, "cpu_count", lambda: 6)
    monkeypatch.setattr(memory, "available_memory", lambda: 12345)
    here = Hardware.here()
    assert (here.cores, here.memory) == (6, 12345)
    assert not here.described


def test_a_text_describes_a_machine():
    found = Hardware.parse("cores=64, memory=256GB")
    assert (found.cores, found.memory, found.described) == (64, 256 * 10**9, True)
    # The rest is as on this machine.
    assert Hardware.parse("memory=1GB").cores == Hardware.here().cores


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", r'"" is not KEY=VALUE, such as cores=64'),
        ("cores=0", r'cores: "0" is not a whole number from 1 to 1024'),
        ("cores=٣", "cores: "),
        ("core=4", 'no "core": did you mean "cores"'),
        ("memory=0GB", r'memory: "0GB" is not a number of bytes: write it as'),
        ("cores=2,cores=3", "cores is given twice"),
    ],
)
def test_other_descriptions_are_refused(text, problem):
    with pytest.raises(ConfigError, match=problem):
        Hardware.parse(text)
