"""Decision diagrams compute the tables that they are made from."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from difflogic.pictures.decision_diagram import ANY_VALUE, CONSTANT, smallest_diagram
from tests.difflogic.circuit.circuits import all_cases, looked_up
from tests.examples import any_seed


def values(diagram):
    """Evaluate each gate by its truth table on all inputs, (outputs, 2 ** inputs)."""
    rows = looked_up(diagram, all_cases(diagram.inputs))
    assert CONSTANT == -1
    return np.vstack([rows, 0 * rows[:1]])[list(diagram.outputs)] ^ diagram.inverted[:, None]


@given(
    st.integers(1, 6),
    st.integers(1, 3),
    st.integers(0, 6),
    st.sampled_from([(0, 1), (ANY_VALUE, 0, 1), (0, 0, 0, 1), (1,)]),
    any_seed,
)
def test_a_diagram_has_the_values_of_its_table(inputs, outputs, split, cells, seed):
    table = np.random.default_rng(seed).choice(cells, (outputs, 2**inputs))
    groups = list(range(inputs))[:split], list(range(inputs))[split:]
    matter = table != ANY_VALUE
    np.testing.assert_array_equal(values(smallest_diagram(table, groups))[matter], table[matter])


def test_equal_parts_share_their_gates():
    # 16 rows of 16 columns: parity, and a row of blocks that repeat, beside its opposite.
    y, x = np.divmod(np.arange(256), 16)
    parity = np.array([int(n).bit_count() & 1 for n in range(256)])
    blocks = ((x % 4 < 2) ^ (y % 4 < 1)).astype(int)
    groups = [7, 6, 5, 4], [3, 2, 1, 0]
    assert smallest_diagram(parity[None], groups).gates == 7
    one = smallest_diagram(blocks[None], groups).gates
    assert one == smallest_diagram(np.array([blocks, 1 - blocks]), groups).gates <= 3
