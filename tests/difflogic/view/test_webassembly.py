"""Modules made from LLVM's objects. `reports/test_engines.py` runs them."""

import pytest

from difflogic.system.errors import CircuitError
from difflogic.view.webassembly import HEAD, IMPORTS, compile_module, linked
from tests.difflogic.circuit.rules import life_like


def test_equal_circuits_give_equal_bytes():
    code = compile_module(life_like("3", "23"))
    assert compile_module(life_like("3", "23")) == code
    assert compile_module(life_like("36", "23")) != code


@pytest.mark.parametrize(
    "code", [b"\2\1\0", bytes([2, len(IMPORTS), *IMPORTS, 11, 1, 0])], ids=["calls", "data"]
)
def test_what_needs_linking_is_refused(code):
    with pytest.raises(CircuitError, match="LLVM's code needs linking"):
        linked(HEAD + code, ["run", "fill"])
