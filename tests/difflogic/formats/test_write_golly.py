"""Rules for Golly, read by an interpreter written from Golly's help, and run by Golly."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import difflogic
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.grid import NEIGHBORS
from difflogic.formats.read_golly import read_golly
from difflogic.formats.write_golly import write_golly
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import all_cases, automaton, step
from tests.difflogic.circuit.rules import circuits
from tests.difflogic.formats.made import life, random_circuit
from tests.difflogic.identification.automata import brains_brain, film

BGOLLY = shutil.which("bgolly")


class Rule:
    """A .rule file, read strictly by Golly's help."""

    def __init__(self, text):
        lines = text.splitlines()
        (self.name,) = re.fullmatch(r"@RULE ([A-Za-z0-9_-]+)", lines[0]).groups()
        starts = [number for number, line in enumerate(lines) if re.match("@[A-Z]", line)]
        (tree,) = [number for number in starts if lines[number] == "@TREE"]
        body = lines[tree + 1 : min([s for s in starts if s > tree], default=len(lines))]
        body = [line for line in body if line and not line.startswith("#")]
        self.numbers = {}
        while "=" in body[0]:
            name, value = body.pop(0).split("=")
            self.numbers[name] = int(value)
        assert self.numbers.keys() == {"num_states", "num_neighbors", "num_nodes"}
        states = self.numbers["num_states"]
        depth = self.numbers["num_neighbors"] + 1
        self.nodes = [tuple(map(int, line.split(" "))) for line in body]
        assert len(self.nodes) == self.numbers["num_nodes"]
        for place, (level, *children) in enumerate(self.nodes):
            assert len(children) == states
            assert 1 <= level <= depth
            for child in children:
                # A state at depth 1, else an earlier node, one level down.
                assert 0 <= child < (states if level == 1 else place)
                assert level == 1 or self.nodes[child][0] == level - 1
        assert [place for place, node in enumerate(self.nodes) if node[0] == depth] == [
            len(self.nodes) - 1
        ]

    def next_state(self, cells):
        """The next state for the states of named cells."""
        at = len(self.nodes) - 1
        for cell in ("NW", "NE", "SW", "SE", "N", "W", "E", "S", "C"):
            at = self.nodes[at][1 + cells[cell]]
        return at


@settings(max_examples=20)
@given(circuits(channels=3), st.integers(0, 2**32 - 1))
def test_neighbourhoods_of_several_states(circuit, seed):
    """A state's bits are channels. Neighbourhoods are random, of states that can follow."""
    made = automaton(circuit, visible=tuple(circuit.labels))
    assume(not circuit.next_state(np.zeros((circuit.inputs, 1), bool)).any())
    rule = Rule(write_golly(made))
    weights = 1 << np.arange(circuit.channels)
    states = np.random.default_rng(seed).integers(0, rule.numbers["num_states"], (9, 40))
    bits = states[:, None] >> np.arange(circuit.channels)[:, None] & 1
    expected = weights @ circuit.next_state(bits.reshape(circuit.inputs, -1).astype(bool))
    found = [rule.next_state(dict(zip(NEIGHBORS, each, strict=True))) for each in states.T.tolist()]
    assert found == expected.tolist()


def test_a_rule_has_the_name_of_its_file_and_the_colours_of_its_states():
    made = automaton(life(), name="made", palette=((1, 2, 3), (4, 5, 6)))
    assert Rule(write_golly(made)).name == "Made"
    assert write_golly(made).endswith("@COLORS\n\n0 1 2 3\n1 4 5 6\n")
    text = write_golly(made, file="x-Y_2.rule")
    assert Rule(text).name == "x-Y_2"
    assert "called x-Y_2.rule" in text
    for name in ("", "a b", "a:T3", "ä", "a\n"):
        with pytest.raises(CircuitError, match="is not a valid rule name for Golly"):
            write_golly(made, file=name)


@pytest.mark.once
@pytest.mark.thorough
def test_rules_that_golly_cannot_run_are_refused():
    several = automaton(life(channels=9, channel=1), visible=tuple(range(9)))
    with pytest.raises(CircuitError, match=r"9 channels affect .* simplify the circuit"):
        write_golly(several)
    mixed = random_circuit(8, 2000, np.random.default_rng(0))
    with pytest.raises(CircuitError, match="tree is too large"):
        write_golly(automaton(mixed, visible=tuple(range(8))))
    born = Circuit([Op.NOR], [1], [3], [9], (0,))
    with pytest.raises(CircuitError, match="and would run this rule wrongly: export another"):
        write_golly(automaton(born))


@pytest.mark.skipif(BGOLLY is None, reason="needs bgolly, of Golly")
@pytest.mark.parametrize("boundary", ["zero", "periodic"])
def test_golly_runs_it(tmp_path, boundary):
    """A random rule and a random start on a bounded grid, step by step for 20 steps."""
    rng = np.random.default_rng(5)
    height = 24
    width = 37
    while True:
        circuit = random_circuit(1, 60, rng)
        values = circuit.next_state(all_cases(9))[0]
        if not values[0] and 180 < values.sum() < 330:
            break
    made = automaton(circuit, name="drawn", boundary=boundary, height=height, width=width)
    state = rng.integers(0, 2, (1, height, width))
    (tmp_path / "Drawn.rule").write_text(write_golly(made, file="Drawn.rule"))
    suffix = {"zero": "P", "periodic": "T"}[boundary] + f"{width},{height}"
    write_rle(tmp_path / "start.rle", state[0], f"Drawn:{suffix}")
    for steps in range(1, 21):
        state = step(circuit, state, boundary)
        if steps in (1, 2, 20):
            np.testing.assert_array_equal(run_golly(tmp_path, steps), crop(state[0]))
            assert 0 < state.sum() < state.size


@pytest.mark.skipif(BGOLLY is None, reason="needs bgolly, of Golly")
def test_golly_runs_brains_brain(tmp_path):
    """An automaton of three states, identified from a recording that hides the third."""
    rng = np.random.default_rng(0)
    frames = film(brains_brain, rng.integers(0, 3, (32, 32)), 17)
    found = difflogic.identify(
        frames == 1, difflogic.Assumptions(symmetry="outer-totalistic", hidden=1), effort="low"
    )
    assert found.rule.name == "B2/S/C3"
    text = write_golly(found.automaton, file="Drawn.rule")
    assert Rule(text).numbers["num_states"] == 3
    (tmp_path / "Drawn.rule").write_text(text)
    start = rng.integers(0, 3, (24, 37))
    write_rle(tmp_path / "start.rle", start, "Drawn:T37,24")
    for steps in (1, 9):
        cells = film(brains_brain, start, 2, steps)[1]
        np.testing.assert_array_equal(run_golly(tmp_path, steps), crop(cells))


@pytest.mark.skipif(BGOLLY is None, reason="needs bgolly, of Golly")
@pytest.mark.parametrize("seed", range(6))
def test_golly_reads_tables_alike(tmp_path, seed):
    """Bound variables in the order of their values and names, which permuted lines make visible."""
    rng = np.random.default_rng(seed)
    text = "@RULE Drawn\n@TABLE\nn_states:4\nneighborhood:vonNeumann\nsymmetries:permute\n"
    for name in ("zz", "b", "x"):
        values = rng.permutation(4)[: rng.integers(2, 5)]
        text += f"var {name}={{{','.join(map(str, values))}}}\n"
    text += "var c=b\nvar d = 0, x\n"
    for _ in range(8):
        names = rng.choice(["zz", "b", "x", "c", "d", "1", "2"], 5)
        text += ",".join([*names, str(rng.choice(names))]) + "\n"
    (tmp_path / "Drawn.rule").write_text(text)
    start = rng.integers(0, 4, (24, 37))
    write_rle(tmp_path / "start.rle", start, "Drawn:T37,24")
    _, circuit, _ = read_golly(text)
    state = step(circuit, np.stack([start & 1, start >> 1]), "periodic")
    expected = crop(state[0] + 2 * state[1])
    np.testing.assert_array_equal(run_golly(tmp_path, 1), expected)


def run_golly(folder, steps):
    """The living cells after `steps`, in the smallest box."""
    command = [BGOLLY, "-a", "RuleLoader", "-s", "./", "-m", str(steps), "-o", "end.rle"]
    done = subprocess.run(
        [*command, "start.rle"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return read_rle((folder / "end.rle").read_text())


def crop(cells):
    """The smallest box with all living cells; bgolly does not tell its place."""
    rows, columns = (np.flatnonzero(cells.any(axis=axis)) for axis in (1, 0))
    return cells[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def write_rle(path, cells, rule):
    """Write cells that fill the bounded grid, whose corner is at -⌊w/2⌋, -⌊h/2⌋."""
    height, width = cells.shape
    signs = "bo" if cells.max() < 2 else ".ABC"
    rows = ["".join(signs[cell] for cell in row) for row in cells]
    head = (
        f"#CXRLE Pos={-(width // 2)},{-(height // 2)}\nx = {width}, y = {height}, rule = {rule}\n"
    )
    path.write_text(head + "$\n".join(rows) + "!\n")


def read_rle(text):
    """Read a pattern of a few states."""
    width, height = map(int, re.search(r"^x = (\d+), y = (\d+)", text, flags=re.M).groups())
    body = "".join(line for line in text.splitlines() if line[:1] not in ("#", "x"))
    cells = np.zeros((height, width), int)
    y = 0
    x = 0
    for count, sign in re.findall(r"(\d*)([bo.ABC$!])", body):
        times = int(count or 1)
        if sign == "$":
            y, x = y + times, 0
        elif sign != "!":
            cells[y, x : x + times] = max("bo".find(sign), ".ABC".find(sign))
            x += times
    return cells
