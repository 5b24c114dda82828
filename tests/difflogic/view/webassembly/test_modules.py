"""Modules made of LLVM's objects: what they hold, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.system.errors import CircuitError
from difflogic.view.webassembly import compile_module
from difflogic.view.webassembly.modules import HEAD, Reader, Section, export, leb, sections
from tests.difflogic.circuit.rules import life_like

CODE = compile_module(life_like("3", "23"))


@given(st.integers(0, 2**70))
def test_numbers_are_read_back(value):
    reader = Reader(leb(value) + b"rest")
    assert reader.leb() == value
    assert reader.take(4) == b"rest"


def test_a_module_exports_its_functions_and_holds_nothing_for_a_linker():
    found = {part.section: Reader(part.content) for part in sections(CODE)}
    assert list(found) == sorted(found), "sections stand in their order"
    assert Section.CUSTOM not in found
    exports = found[Section.EXPORT]
    entries = {}
    for _ in range(exports.leb()):
        name, kind = exports.text(), exports.byte()
        entries[name] = kind, exports.leb()
    assert sorted(entries) == ["fill", "run"]
    assert {kind for kind, _ in entries.values()} == {0}, "all are functions"
    assert len(set(entries.values())) == 2


def test_it_uses_vectors_of_128_bits():
    (code,) = (part.content for part in sections(CODE) if part.section is Section.CODE)
    assert b"\xfd" in code, "the prefix of vector instructions"


def test_equal_circuits_give_equal_bytes():
    assert compile_module(life_like("3", "23")) == CODE
    assert compile_module(life_like("36", "23")) != CODE


def test_a_function_that_is_missing_is_named():
    with pytest.raises(CircuitError, match="the function walk is missing"):
        export(CODE, ["walk"])


@pytest.mark.parametrize("code", [b"", b"\x7fELF", HEAD + b"\x01\x7f", HEAD + b"\x01\x80"])
def test_what_is_no_module_is_refused(code):
    with pytest.raises(CircuitError, match="LLVM's code"):
        export(code, ["run"])
