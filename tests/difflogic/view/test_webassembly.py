"""Modules made from LLVM's objects. `reports/test_engines.py` runs them."""

import pytest

from difflogic.system.errors import CircuitError
from difflogic.view.webassembly import HEAD, compile_module, export
from tests.difflogic.circuit.rules import life_like

CODE = compile_module(life_like("3", "23"))


def test_equal_circuits_give_equal_bytes():
    assert compile_module(life_like("3", "23")) == CODE
    assert compile_module(life_like("36", "23")) != CODE


@pytest.mark.parametrize("code", [b"", b"\x7fELF", HEAD + b"\x01\x7f", HEAD + b"\x01\x80"])
def test_other_files_are_refused(code):
    with pytest.raises(CircuitError, match="LLVM's code"):
        export(code, ["run"])


def test_a_missing_function_is_named():
    with pytest.raises(CircuitError, match="the function walk is missing"):
        export(CODE, ["walk"])
