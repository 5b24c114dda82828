"""Conversion between nets and circuits."""

from hypothesis import given

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.xag import from_circuit, to_circuit
from difflogic.simplification import nets
from tests.difflogic.circuit.circuits import circuits, same_next_states
from tests.examples import examples

few = examples(30)


@few
@given(circuits())
def test_a_circuit_survives_the_way_to_a_net_and_back(circuit: Circuit) -> None:
    net = nets.from_circuit(circuit)
    found = nets.to_circuit(net, (0, 1))
    assert same_next_states(circuit, found)
    assert nets.gates(nets.from_circuit(found)) == nets.gates(net)


@few
@given(circuits())
def test_has_as_many_gates_as_the_way_through_a_xag(circuit: Circuit) -> None:
    xag, outputs = from_circuit(circuit)
    other = to_circuit(xag, outputs, (0, 1), range(2))
    assert nets.to_circuit(nets.from_circuit(circuit), (0, 1)).gates == other.gates
    assert nets.gates(nets.from_xag(xag, outputs)) == nets.gates(nets.from_circuit(circuit))
