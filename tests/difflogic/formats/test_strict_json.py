"""Any text gives a value or an error that says what is wrong, in bounded memory."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.formats import strict_json
from difflogic.system.errors import CircuitError


def keep(decoded):
    return decoded


def decode(text):
    return strict_json.decode(text if isinstance(text, bytes) else text.encode(), "x.json", keep)


def problem(text):
    with pytest.raises(CircuitError) as caught:
        decode(text)
    message = str(caught.value)
    assert message.startswith("x.json: ")
    assert "\n" not in message
    assert len(message) < 300
    return message.removeprefix("x.json: ")


NESTED = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.once
@settings(max_examples=20)
@given(NESTED)
def test_valid_json_gives_what_the_standard_library_gives(value):
    assert decode(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("hello", "is neither a model nor a circuit in JSON"),
        ('{"a": [1, 2', "ends too early, it is cut off"),
        ('{"a": "zer', "ends too early, it is cut off"),
        ('{"a": 1}\n{"b"', "is not JSON: line 2, column 1: extra data"),
        ('{"a": 1,\n "b" 2}', "is not JSON: line 2, column 6: expecting ':' delimiter"),
        ('{"a": NaN}', "holds NaN, which is not a JSON number"),
        ('{"a": 1, "b": {"c": 1, "d": 2, "c": 3}}', 'key "c" occurs twice in an object'),
        ('{"a": ' + "1" * 5000 + "}", "holds a number of thousands of digits"),
        ("[" * 100_000, "is nested too deeply: this is not a circuit"),
        (b'{"a": "\xff"}', "byte 7 is not ASCII"),
        ("{}".encode("utf-16"), "or in another encoding"),
    ],
)
def test_invalid_json_is_explained(text, says):
    assert says in problem(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" + "[]," * 2**18 + "[]]",
        "[" + "{}," * 2**21 + "{}]",
        "[" + "0," * 2**19 + "0]",
        '["' + "{[," * 2**22 + '"]',
    ],
)
def test_texts_with_too_many_values_are_not_parsed(text):
    assert "more than any circuit that this program accepts: it was not read" in problem(text)


def test_larger_than_any_circuit(monkeypatch, tmp_path):
    monkeypatch.setattr(strict_json, "MAX_TEXT_BYTES", 100)
    (tmp_path / "x").write_text(" " * 98 + "[]")
    assert strict_json.read(tmp_path / "x", keep) == []
    (tmp_path / "x").write_text(" " * 99 + "[]")
    with pytest.raises(CircuitError, match="x: is larger than 100 bytes: this is not a circuit"):
        strict_json.read(tmp_path / "x", keep)


# The worst texts within the limits, with all limits divided by 32: they grow most when parsed.
HOSTILE = """
import sys
from difflogic.system.errors import CircuitError
from difflogic.formats import circuit_file, strict_json
for name in ("MAX_OBJECTS", "MAX_LISTS", "MAX_EXTRA_COMMAS", "MAX_TEXT_BYTES"):
    setattr(strict_json, name, getattr(strict_json, name) // 32)
objects = strict_json.MAX_OBJECTS
commas = 3 * objects + strict_json.MAX_EXTRA_COMMAS
text = {
    "keys": '{"gates":[' + "{}," * (objects - 3) + "0],"
    + ",".join('"%x":0' % key for key in range(commas - objects - 5)) + "}",
    "numbers": '{"gates":[' + "{}," * (objects - 2) + "1.5," * (2 * objects) + "0]}",
    "text": '{"gates":"' + "a" * (strict_json.MAX_TEXT_BYTES - 12) + '"}',
}[sys.argv[1]].encode()
assert len(text) <= strict_json.MAX_TEXT_BYTES
def peak():  # of this program: that of getrusage is at least the size of the process before it
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
before = peak()
try:
    circuit_file.parse(strict_json.decode(text, "x", circuit_file.shrink), "x")
except CircuitError as error:
    print("refused:", error)
print(peak() - before, "KiB")
"""


@pytest.mark.once
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.parametrize("kind", ["keys", "numbers", "text"])
def test_hostile_files_take_less_than_a_gibibyte(kind):
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE, kind], capture_output=True, text=True, timeout=100
    )
    assert done.stdout.startswith("refused: x: "), done.stderr
    assert int(done.stdout.split()[-2]) < 2**20 / 32
