"""JSON of any kind gives a value or an error that says what is wrong, in bounded memory."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

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


@pytest.mark.thorough
@settings(max_examples=20)
@given(NESTED)
def test_right_json_is_what_json_says(value):
    assert decode(json.dumps(value)) == value


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_give_a_value_or_an_error(text):
    try:
        found = decode(text)
    except CircuitError:
        return
    assert found == json.loads(text)


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
        ('{"a": 1, "b": {"c": 1, "d": 2, "c": 3}}', 'key "c" occurs twice in the object that'),
        ('{"a": ' + "1" * 5000 + "}", "holds a number of thousands of digits"),
        ("[" * 100_000, "is nested too deeply: this is not a circuit"),
        (b'{"a": "\xff"}', "byte 7 is not ASCII"),
        ("{}".encode("utf-16"), "or in another encoding"),
    ],
)
def test_what_is_no_json(text, says):
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
def test_more_values_than_any_circuit_has_are_not_read(text):
    assert "more than any circuit that this program accepts: it was not read" in problem(text)


def test_larger_than_any_circuit(monkeypatch, tmp_path):
    monkeypatch.setattr(strict_json, "MAX_TEXT_BYTES", 100)
    assert decode(" " * 98 + "[]") == []
    assert "is larger than any circuit (100 bytes)" in problem(" " * 99 + "[]")
    (tmp_path / "x").write_text(" " * 10**6)
    with pytest.raises(CircuitError, match="larger than any circuit"):
        strict_json.read(tmp_path / "x", keep)


# The worst that fits into a file's bounds, all made a 32nd: texts that become much larger than
# they are.
HOSTILE = """
import resource, sys
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
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    circuit_file.parse(strict_json.decode(text, "x", circuit_file.shrink), "x")
except CircuitError as error:
    print("refused:", error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, "KiB")
"""


@pytest.mark.thorough
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.parametrize("kind", ["keys", "numbers", "text"])
def test_hostile_files_take_less_than_a_gibibyte(kind):
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE, kind], capture_output=True, text=True, timeout=100
    )
    assert done.stdout.startswith("refused: x: "), done.stderr
    assert int(done.stdout.split()[-2]) < 2**20 / 32


# What is no plain file


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    caught = []

    def read():
        try:
            strict_json.read(tmp_path / "pipe", keep)
        except CircuitError as error:
            caught.append(str(error))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert "cannot be read: not a regular file: copy its output to one first" in caught[0]


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/tty"])
@pytest.mark.skipif(os.name != "posix", reason="devices of POSIX")
def test_devices(name):
    with pytest.raises(CircuitError, match="cannot be read"):
        strict_json.read(Path(name), keep)


def test_directories_and_missing_files(tmp_path):
    for path, says in ((tmp_path, "is a directory"), (tmp_path / "none", "no such file")):
        with pytest.raises(CircuitError, match=says):
            strict_json.read(path, keep)
    with pytest.raises(CircuitError, match="null"):
        strict_json.read(tmp_path / "a\0b", keep)
