"""Rules for Golly, read by an interpreter written from Golly's help, and run by Golly."""

import re
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.formats.read_golly import RINGS, read_golly
from difflogic.formats.write_golly import write_golly
from difflogic.pictures.patterns import parse_pattern
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import all_cases, automaton, circuit_of, step
from tests.difflogic.circuit.rules import life_like
from tests.difflogic.formats.made import random_circuit
from tests.marks import each_boundary, needs

SYMMETRIES = ("none", "rotate4", "rotate4reflect")


def walk(text, cells):
    """The next state that a tree gives for the states of named cells, by Golly's help."""
    body = text.partition("@TREE")[2].partition("@")[0]
    numbers = dict(re.findall(r"^(num_\w+)=(\d+)$", body, flags=re.M))
    assert {*numbers} == {"num_states", "num_neighbors", "num_nodes"}
    nodes = [tuple(map(int, row.split())) for row in re.findall(r"^[\d ]+$", body, flags=re.M)]
    assert len(nodes) == int(numbers["num_nodes"])
    at = -1
    for cell in ("NW", "NE", "SW", "SE", "N", "W", "E", "S", "C"):
        at = nodes[at][1 + cells[cell]]
    return at


def test_a_rule_has_the_name_of_its_file_and_the_colours_of_its_states():
    made = automaton(life_like("3", "23"), name="made", palette=((1, 2, 3), (4, 5, 6)))
    assert write_golly(made).startswith("@RULE Made\n")
    assert write_golly(made).endswith("@COLORS\n\n0 1 2 3\n1 4 5 6\n")
    hidden = automaton(circuit_of([], [9, 8]), visible=(0,), palette=made.palette)
    assert "@COLORS" not in write_golly(hidden)
    text = write_golly(made, file="x-Y_2.rule")
    assert text.startswith("@RULE x-Y_2\n")
    assert "called x-Y_2.rule" in text
    for name in ("", "a b", "a:T3", "ä", "a\n"):
        with pytest.raises(CircuitError, match="is not a valid rule name for Golly"):
            write_golly(made, file=name)


@pytest.mark.once
def test_rules_that_golly_cannot_run_are_refused():
    several = automaton(random_circuit(9, 9, np.random.default_rng(0)), visible=tuple(range(9)))
    with pytest.raises(CircuitError, match=r"9 channels affect .* simplify the circuit"):
        write_golly(several)
    mixed = random_circuit(8, 2000, np.random.default_rng(0))
    with pytest.raises(CircuitError, match="tree is too large"):
        write_golly(automaton(mixed, visible=tuple(range(8))))
    born = Circuit([Op.NOR], [1], [3], [9], (0,))
    with pytest.raises(CircuitError, match="and would run this rule wrongly: export another"):
        write_golly(automaton(born))


@needs("bgolly")
@each_boundary
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
            assert_array_equal(run_golly(tmp_path, steps), crop(state[0]))
            assert 0 < state.sum() < state.size


@needs("bgolly")
@pytest.mark.parametrize(
    ("seed", "hood", "symmetry"),
    [
        *((seed, "vonNeumann", "permute") for seed in range(6)),
        *((0, "vonNeumann", each) for each in SYMMETRIES),
        *((0, "Moore", each) for each in (*SYMMETRIES, "rotate8reflect")),
        (0, "hexagonal", "rotate6"),
    ],
)
def test_golly_reads_tables_alike(tmp_path, seed, hood, symmetry):
    """Bound variables in the order of their values and names, which permuted lines make visible."""
    rng = np.random.default_rng(seed)
    text = f"@RULE Drawn\n@TABLE\nn_states:4\nneighborhood:{hood}\nsymmetries:{symmetry}\n"
    for name in ("zz", "b", "x"):
        values = rng.permutation(4)[: rng.integers(2, 5)]
        text += f"var {name}={{{','.join(map(str, values))}}}\n"
    text += "var c=b\nvar d = 0, x\n"
    for _ in range(8):
        names = rng.choice(["zz", "b", "x", "c", "d", "1", "2"], 1 + len(RINGS[hood]))
        text += ",".join([*names, str(rng.choice(names))]) + "\n"
    (tmp_path / "Drawn.rule").write_text(text)
    start = rng.integers(0, 4, (24, 37))
    write_rle(tmp_path / "start.rle", start, "Drawn:T37,24")
    _, circuit, _ = read_golly(text)
    state = step(circuit, np.stack([start & 1, start >> 1]), "periodic")
    expected = crop(state[0] + 2 * state[1])
    assert_array_equal(run_golly(tmp_path, 1), expected)
    if not circuit.next_state(np.zeros((18, 1), bool)).any():  # as a tree, too
        tree = write_golly(automaton(circuit, visible=(0, 1)), file="Drawn.rule")
        (tmp_path / "Drawn.rule").write_text(tree)
        assert_array_equal(run_golly(tmp_path, 1), expected)


def run_golly(folder, steps):
    """The living cells after `steps`, in the smallest box."""
    command = ["bgolly", "-a", "RuleLoader", "-s", "./", "-m", str(steps), "-o", "end.rle"]
    done = subprocess.run(
        [*command, "start.rle"], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return parse_pattern((folder / "end.rle").read_bytes()).cells


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
