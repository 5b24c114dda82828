"""Rules of Golly: what dct writes comes back, and tables do what they do in plain Python."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_array_equal

from difflogic.circuit.grid import NEIGHBORS
from difflogic.formats.read_golly import read_golly
from difflogic.formats.write_golly import write_golly
from difflogic.system.errors import CircuitError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import circuits
from tests.difflogic.formats.test_write_golly import walk
from tests.difflogic.identification.automata import wireworld
from tests.examples import any_seed

WIREWORLD = """@RULE Wire
# electrons in wires
@TABLE
n_states:4
neighborhood:Moore
symmetries:permute
var a={0,1,2,3}
var b={a}
var c={b}
var d={a}
var e={a}
var f={a}
var g={a}
var h={a}
var i={0,2,3}
var j={i}
var k={i}
var l={i}
var m={i}
var n={i}
var o={i}
1,a,b,c,d,e,f,g,h,2  # head
2,a,b,c,d,e,f,g,h,3
3,1,i,j,k,l,m,n,o,1
3,1,1,i,j,k,l,m,n,1
@COLORS
0 0 0 0
1 0 0 255
2 255 0 0
3 255 255 0
"""


def next_states(circuit, cells):
    """The next states of nine cells' states, shape (9, n), in the order of NEIGHBORS."""
    bits = cells[:, None] >> np.arange(circuit.channels)[:, None] & 1
    found = circuit.next_state(bits.reshape(circuit.inputs, -1).astype(bool))
    return (1 << np.arange(circuit.channels)) @ found


@settings(max_examples=20)
@given(circuits(channels=3), any_seed)
def test_trees_that_dct_writes_come_back(circuit, seed):
    made = automaton(circuit, visible=tuple(circuit.labels))
    assume(not circuit.next_state(np.zeros((circuit.inputs, 1), bool)).any())
    name, found, _ = read_golly(text := write_golly(made, "Drawn"))
    states = int(text.partition("num_states=")[2].split()[0])
    cells = np.random.default_rng(seed).integers(0, states, (9, 60))
    assert name == "Drawn"
    expected = next_states(circuit, cells)
    assert_array_equal(next_states(found, cells), expected)
    named = (dict(zip(NEIGHBORS, each, strict=True)) for each in cells.T.tolist())
    assert [walk(text, each) for each in named] == expected.tolist()


def test_a_tree_of_four_neighbours():
    """The next state is that of the cell in the north, in a tree whose root asks for it."""
    passed_on = [f"{n} {2 * n - 4 + i} {2 * n - 4 + i}" for n in (2, 3, 4) for i in (0, 1)]
    nodes = ["1 0 0", "1 1 1", *passed_on]
    text = "@RULE North\n@TREE\nnum_states=2\nnum_neighbors=4\nnum_nodes=9\n" + "\n".join(nodes)
    _, circuit, _ = read_golly(text + "\n5 6 7\n")
    cells = np.random.default_rng(0).integers(0, 2, (9, 200))
    assert_array_equal(next_states(circuit, cells), cells[NEIGHBORS.index("N")])


def test_wireworld_and_its_colours():
    name, circuit, palette = read_golly(WIREWORLD)
    assert (name, palette[1], len(palette)) == ("Wire", (0, 0, 255), 4)
    grid = np.random.default_rng(1).integers(0, 4, (30, 30))
    around = [np.roll(grid, (1 - n // 3, 1 - n % 3), (0, 1)).ravel() for n in range(9)]
    found = next_states(circuit, np.array(around)).reshape(grid.shape)
    assert_array_equal(found, wireworld(grid))


def test_lines_and_crosses():
    """Rule 110 in two lines, without commas; and a cell that follows its eastern neighbour."""
    text = "@RULE r\n@TABLE\nn_states:2\nneighborhood:oneDimensional\nsymmetries:{}\n{}\n"
    drawn = [f"{c}{w}{e}{110 >> (4 * w + 2 * c + e) & 1}" for w, c, e in product((0, 1), repeat=3)]
    _, circuit, _ = read_golly(text.format("none", "\n".join(drawn)))
    cells = np.random.default_rng(0).integers(0, 2, (9, 60))
    w, c, e = (cells[NEIGHBORS.index(name)] for name in "WCE")
    assert_array_equal(next_states(circuit, cells), 110 >> (4 * w + 2 * c + e) & 1)
    _, circuit, _ = read_golly(text.format("reflect", "0,1,0,1"))
    assert_array_equal(next_states(circuit, cells), np.where(w ^ e, 1, c))


TREE = "@RULE x\n@TREE\nnum_states=2\nnum_neighbors=4\n1 0 1"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "is no rule of Golly"),
        ("@RULE x\n@COLORS\n", "it needs @RULE, and"),
        ("@TREE\nnum_states=2\n", "it needs @RULE, and"),
        ("@RULE x\n@TREE\nnum_states=9999999999999\n", "must be from 2 to 256"),
        ("@RULE x\n@TREE\nnum_states=2\nnum_neighbors=6\n1 0 0\n", "8 or 4 neighbours"),
        ("@RULE x\n@TREE\nnum_states=2\nnum_neighbors=4\n1 0 2\n", '"1 0 2" is no node'),
        (f"{TREE}\n2 0 -1\n", '"2 0 -1" is no node'),
        (f"{TREE}\n3 0 0\n", '"3 0 0" is no node'),
        (f"{TREE}\n2 0 0\n3 1 1\n4 2 2\n5 3 3\n6 4 4", '"6 4 4" is no node'),
        (TREE, "has no root"),
        ("@RULE x\n@TABLE\nn_states:2\nneighborhood:Margolus\n", "neighborhood Margolus"),
        (WIREWORLD.replace("permute", "rotate3"), "symmetries:rotate3 of 8"),
        (WIREWORLD.replace("1,a,b", "1,z,b"), '"z" is neither'),
        (WIREWORLD.replace("1,a,b", "4,a,b"), '"4" is neither'),
        (WIREWORLD.replace("g,h,2", "g,2"), "has 9 states, not 10"),
        (WIREWORLD.replace("g,h,2", "g,h,i"), "is not one state"),
        (WIREWORLD.replace("1,a,b", "1,0,1,2,3,a,i,1,2,2\n" * 9 + "1,a,b"), "more than 65536"),
    ],
)
def test_what_is_no_rule(text, hint):
    with pytest.raises(CircuitError, match=hint):
        read_golly(text)
