"""The machine to plan for."""

from difflogic.engine.hardware import Hardware
from difflogic.system import machine, memory


def test_this_machine_comes_from_the_system(monkeypatch):
    monkeypatch.setattr(machine, "cpu_count", lambda: 6)
    monkeypatch.setattr(memory, "available_memory", lambda: 12345)
    assert Hardware.here() == Hardware(cores=6, memory=12345)
