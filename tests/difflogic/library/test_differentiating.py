import numpy as np
import pytest

import difflogic
from difflogic.circuit import gates
from difflogic.engine import oracle
from difflogic.engine.layout import Grid
from difflogic.engine.rollout import Engine
from difflogic.engine.sharing import Sharing
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError
from tests.difflogic.engine.comparison import TOLERANCES, assert_close
from tests.difflogic.training.tiny import tiny


@pytest.fixture(params=["zero", "periodic"])
def model(request):
    config = tiny("training.precision=float64", f"automaton.boundary={request.param}")
    start = Model.create(config)
    rng = np.random.default_rng(2)
    return Model(start.layers, start.logits + rng.normal(size=start.logits.shape), config)


def drawn(model, samples=1, steps=None, seed=0, size=(5, 7)):
    rng = np.random.default_rng(seed)
    channels = model.netlist.channels
    starts = rng.integers(0, 2, (samples, channels, *size), dtype=np.uint8)
    targets = rng.random((samples, len(model.config.task.loss_channels), *size))
    masks = None if steps is None else rng.integers(0, 2, (samples, steps, *size), dtype=np.uint8)
    return starts, targets, masks


@pytest.mark.parametrize("steps", [None, 2])
def test_gradients_of_a_sample_are_those_of_the_oracle(model, steps):
    (start,), (target,), masks = drawn(model, steps=steps)
    mask = None if masks is None else masks[0]
    target[:, 2:, ::2] = np.nan  # does not count
    before = start.copy(), target.copy()
    found = difflogic.sample_gradients(model, start, target, mask)
    config, channels = model.config, model.config.task.loss_channels
    how = steps or config.automaton.steps, config.automaton.boundary, mask
    loss, to_logits = oracle.logit_gradients(
        model.netlist, model.logits, start, target, channels, *how
    )
    assert found.loss == pytest.approx(loss, rel=1e-12)
    assert_close(found.logits, to_logits, TOLERANCES["float64"])
    assert found.state.shape == start.shape
    last = oracle.rollout(model.netlist, gates.one_hot(model.ops), start, *how)[-1]
    assert found.hard_loss == pytest.approx(oracle.loss(last, target, channels), rel=1e-12)
    # In the order of the netlist's parameters: the kernels' gates, then the update's.
    kernels = [gate for kernel in found.perception for gate in kernel]
    np.testing.assert_array_equal(np.concatenate([kernels, found.update]), found.logits)
    assert len(found.perception) == config.perception.kernels
    assert len(found.update) == sum(config.update.gates)
    assert (start == before[0]).all()
    np.testing.assert_array_equal(target, before[1])
    np.testing.assert_array_equal(difflogic.all_reduce(found.slots), found.coefficients)


def test_slots_of_samples_add_up_to_the_bits_of_a_training_step(model):
    starts, targets, _ = drawn(model, samples=3, size=(9, 13))
    alone = [difflogic.sample_gradients(model, *pair) for pair in zip(starts, targets, strict=True)]
    found = difflogic.all_reduce(slot for one in alone for slot in one.slots)
    coefficients = gates.mix(gates.softmax(model.logits))
    grid = Grid(9, 13, model.config.automaton.boundary)
    steps, channels = model.config.automaton.steps, model.config.task.loss_channels
    sharing = Sharing(3)
    with Engine(model.netlist, grid, steps, 3, "float64", sharing) as engine:
        losses, _ = engine.run_training(coefficients, starts, targets, channels)
        np.testing.assert_array_equal(engine.reduce(np.zeros_like(coefficients)), found)
    assert losses == [one.loss for one in alone]


def tile_by_hand(netlist, coefficients, inputs, output_gradients):
    """The same gradients, gate by gate, with the rows of the netlist."""
    values = oracle.row_values(netlist, coefficients, inputs)
    grad = np.zeros_like(values)
    grad[netlist.outputs] = output_gradients
    sums = np.zeros_like(coefficients)
    for gate in range(netlist.gates)[::-1]:
        a, b, p = netlist.a[gate], netlist.b[gate], netlist.param[gate]
        g, x, y = grad[netlist.inputs + gate], values[a], values[b]
        grad[a] += g * (coefficients[p, 1] + coefficients[p, 3] * y)
        grad[b] += g * (coefficients[p, 2] + coefficients[p, 3] * x)
        sums[p] += [part.sum() for part in (g, g * x, g * y, g * x * y)]
    return grad[: netlist.inputs], sums


def test_gradients_of_a_tile_are_those_computed_by_hand(model):
    netlist, channels = model.netlist, list(model.config.task.loss_channels)
    rng = np.random.default_rng(3)
    inputs, target = rng.random((netlist.inputs, 20)), rng.random((len(channels), 20))
    found = difflogic.tile_gradients(model, inputs, target)
    coefficients = gates.mix(gates.softmax(model.logits))
    outputs = oracle.row_values(netlist, coefficients, inputs)[netlist.outputs]
    upstream = np.zeros_like(outputs)
    upstream[channels] = 2 * (outputs[channels] - target)
    to_inputs, sums = tile_by_hand(netlist, coefficients, inputs, upstream)
    assert_close(found.outputs, outputs, TOLERANCES["float64"])
    assert_close(found.inputs, to_inputs, TOLERANCES["float64"])
    assert_close(found.coefficients, sums, TOLERANCES["float64"])
    assert found.loss == pytest.approx(((outputs[channels] - target) ** 2).sum(), rel=1e-12)
    assert found.logits.shape == model.logits.shape


def test_wrong_shapes_are_refused(model):
    (start,), (target,), (mask,) = drawn(model, steps=2)
    with pytest.raises(ConfigError, match=r"start has shape \(5, 7\): give \(\d+, H, W\)"):
        difflogic.sample_gradients(model, start[0], target)
    with pytest.raises(ConfigError, match=r"target has shape .* give \(\d+, 5, 7\)"):
        difflogic.sample_gradients(model, start, target[:, :4])
    with pytest.raises(ConfigError, match=r"mask has shape \(2, 5, 6\): give \(2, 5, 7\)"):
        difflogic.sample_gradients(model, start, target, mask[:, :, :6])
    inputs = np.zeros((model.netlist.inputs, 65))
    with pytest.raises(ConfigError, match="of 1 to 64 cells"):
        difflogic.tile_gradients(model, inputs, np.zeros((len(target), 65)))
    with pytest.raises(ConfigError, match="target has shape"):
        difflogic.tile_gradients(model, inputs[:, :3], np.zeros((len(target), 4)))


def test_gradients_are_added_in_order():
    parts = [np.float32([value]) for value in (1e8, 1, -1e8, 1)]
    assert difflogic.all_reduce(parts) == [1]
    assert difflogic.all_reduce(parts[::-1]) == [0]
    with pytest.raises(ValueError, match="nothing to add up"):
        difflogic.all_reduce([])
    with pytest.raises(ValueError, match="cannot be added up"):
        difflogic.all_reduce([np.zeros(2), np.zeros(3)])
