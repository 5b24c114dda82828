"""docs/circuit-file.md and docs/circuit.schema.json agree with the program.

    python -m tests.difflogic.formats.test_circuit_document

writes the schema.
"""

import json
import re

import numpy as np
import pytest

from difflogic.circuit.gates import Op
from difflogic.formats import circuit_file
from difflogic.formats.circuit_file import CircuitFile, write_circuit
from tests.difflogic.circuit.circuits import automaton, step
from tests.difflogic.formats.made import random_circuit
from tests.marks import each_boundary
from tests.paths import DOCS

SCHEMA = DOCS / "circuit.schema.json"
DOCUMENT = (DOCS / "circuit-file.md").read_text(encoding="utf-8")


def schema() -> str:
    """The schema of the file's model."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(head | CircuitFile.model_json_schema(), indent=2) + "\n"


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", DOCUMENT, flags=re.S)
    return found


@pytest.fixture(scope="module")
def interpreter():
    """The program in the document."""
    names: dict = {}
    exec(compile(block("python"), "circuit-file.md", "exec"), names)
    return names


def test_the_schema_is_up_to_date():
    remedy = f"run: python -m {__spec__.name}"
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json.loads(schema()), remedy


def test_the_table_of_keys_has_all_keys():
    table = DOCUMENT.partition("| key | value |\n|---|---|\n")[2].partition("\n\n")[0]
    keys = [key for row in table.splitlines() for key in re.findall("`(.*?)`", row.split("|")[1])]
    assert sorted(keys) == sorted(CircuitFile.model_fields)


def test_the_table_of_ops_is_right():
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| (\d{4}) \|", DOCUMENT, flags=re.M)
    assert [(int(number), name) for number, name, _ in rows] == [(op, op.name) for op in Op]
    for number, _, table in rows:
        assert int(table, 2) == int(number)


def test_the_example_is_a_circuit_and_computes_its_rule(interpreter, tmp_path):
    (tmp_path / "example.json").write_text(block("json"))
    read = circuit_file.read_circuit(tmp_path / "example.json")
    assert json.loads(write_circuit(read)) == json.loads(block("json"))
    rng = np.random.default_rng(1)
    grid = rng.integers(0, 2, (8, 12))
    found = interpreter["step"](
        interpreter["load"](tmp_path / "example.json"), grid[..., None].tolist()
    )
    expected = np.roll(grid, 1, axis=1) ^ np.roll(grid, -1, axis=1)
    np.testing.assert_array_equal(np.array(found)[..., 0], expected)


@each_boundary
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (5, 4)])
@pytest.mark.parametrize("channels", [1, 3])
def test_the_documents_interpreter_agrees_with_ours(
    interpreter, tmp_path, boundary, size, channels
):
    rng = np.random.default_rng(channels)
    made = automaton(random_circuit(channels, 120, rng), boundary=boundary)
    (tmp_path / "made.json").write_text(write_circuit(made))
    circuit = interpreter["load"](tmp_path / "made.json")
    state = rng.integers(0, 2, (channels, *size))
    for _ in range(4):
        found = interpreter["step"](circuit, state.transpose(1, 2, 0).tolist())
        state = step(made.circuit, state, boundary)
        np.testing.assert_array_equal(np.array(found).transpose(2, 0, 1), state)


if __name__ == "__main__":
    SCHEMA.write_text(schema(), encoding="utf-8")
