"""The engine in JAX, compared with automatic differentiation of a plain JAX rollout."""

import numpy as np
import pytest

from difflogic import SoftRollout
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError
from tests.difflogic.training.tiny import tiny

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy
check_grads = pytest.importorskip("jax.test_util").check_grads
rollout = pytest.importorskip("difflogic.jax").rollout

TABLE = np.array([[op >> 3 - corner & 1 for corner in range(4)] for op in range(16)], float)
"""The 16 ops at (0, 0), (0, 1), (1, 0) and (1, 1)."""


def plain(netlist, logits, states, steps, boundary, masks):
    """Return the states of all steps, every gate as a mixture of its 16 ops."""
    tables = jax.nn.softmax(logits, axis=1) @ TABLE
    levels = [0] * netlist.inputs  # a gate reads only lower levels
    for a, b in zip(netlist.a, netlist.b, strict=True):
        levels.append(1 + max(levels[a], levels[b]))
    by_level = np.array(levels[netlist.inputs :])
    (batch, _, height, width), wraps = states.shape, boundary == "periodic"

    def step(old, fires):
        mode = "wrap" if wraps else "constant"
        padded = jnp.pad(old, ((0, 0), (0, 0), (1, 1), (1, 1)), mode=mode)
        seen = [padded[:, :, y : y + height, x : x + width] for y in range(3) for x in range(3)]
        inputs = jnp.concatenate(seen, axis=1).swapaxes(0, 1)
        rows = jnp.concatenate([inputs, jnp.zeros((len(netlist.a), *inputs.shape[1:]))])
        for level in range(1, max(levels) + 1):
            (gates,) = np.nonzero(by_level == level)
            a, b = rows[netlist.a[gates]], rows[netlist.b[gates]]
            corners = jnp.stack([(1 - a) * (1 - b), (1 - a) * b, a * (1 - b), a * b])
            values = jnp.einsum("gk,kgbyx->gbyx", tables[netlist.param[gates]], corners)
            rows = rows.at[netlist.inputs + gates].set(values)
        new = fires * rows[netlist.outputs].swapaxes(0, 1) + (1 - fires) * old
        return new, new

    fires = jnp.ones((batch, steps, height, width)) if masks is None else jnp.asarray(masks)
    _, later = jax.lax.scan(step, states, fires.swapaxes(0, 1)[:, :, None].astype(states.dtype))
    return jnp.concatenate([states[:, None], later.swapaxes(0, 1)], axis=1)


@pytest.fixture
def doubles():
    with jax.enable_x64(True):
        yield


def drawn(*overrides):
    model = Model.create(tiny("training.precision=float64", *overrides))
    rng = np.random.default_rng(1)
    logits = model.logits + rng.normal(size=model.logits.shape)
    return model, jnp.asarray(logits), jnp.asarray(rng.random((2, model.netlist.channels, 4, 5)))


@pytest.mark.thorough
@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize(("boundary", "rate"), [("zero", 1), ("periodic", 0.5)])
def test_gradients_agree_with_automatic_differentiation(boundary, rate):
    settings = f"automaton.boundary={boundary}", f"automaton.fire_rate={rate}"
    model, logits, states = drawn(*settings)
    automaton, netlist = SoftRollout(model), model.netlist
    masks = automaton.draw_masks(2, (4, 5), 3, seed=1, epoch=0)
    weights = jnp.asarray(np.random.default_rng(2).normal(size=(2, 3, *states.shape[1:])))

    def ours(logits, states):
        kept = rollout(logits, states, automaton, steps=3, keep=[0, 1, 3], masks=masks)
        return (weights * kept**2).sum()

    def theirs(logits, states):
        kept = plain(netlist, logits, states, 3, boundary, masks)[:, np.array([0, 1, 3])]
        return (weights * kept**2).sum()

    found = jax.jit(jax.value_and_grad(ours, argnums=(0, 1)))(logits, states)
    quick = {"xla_backend_optimization_level": 0}
    there = jax.jit(jax.value_and_grad(theirs, argnums=(0, 1)), compiler_options=quick)
    expected = there(logits, states)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


@pytest.mark.thorough
@pytest.mark.usefixtures("doubles")
def test_vmap_and_check_grads():
    model, logits, states = drawn()
    automaton = SoftRollout(model)

    def loss(logits, states):
        return rollout(logits, states, automaton, steps=2).sum()

    check_grads(loss, (logits, states), order=1, modes=["rev"])
    each = jax.vmap(jax.grad(loss), in_axes=(None, 0))(logits, states[:, None])
    np.testing.assert_allclose(each.sum(0), jax.grad(loss)(logits, states), atol=1e-12)


def test_single_precision_and_bits_are_accepted():
    model, logits, states = drawn()
    bits = (states > 0.5).astype(np.uint8)
    found = rollout(logits.astype(np.float32), bits, SoftRollout(model), hard=True)
    assert found.dtype == np.float32
    assert set(np.unique(found)) <= {0.0, 1.0}


def test_arguments_are_checked_when_a_call_is_traced():
    model, logits, states = drawn()
    with pytest.raises(ConfigError, match=r"automaton: of type Model: give a difflogic.SoftRoll"):
        rollout(logits, states, model)
    with pytest.raises(ConfigError, match=r"type complex64: give real numbers"):
        rollout(logits, states.astype("complex64"), SoftRollout(model))
    with pytest.raises(ConfigError, match=r"starts have shape \(2, 4, 5\): give"):
        jax.jit(lambda states: rollout(logits, states, SoftRollout(model)))(states[0])


def test_a_nan_is_named_in_the_error_of_jax():
    model, logits, states = drawn()
    states = states.at[0, 0, 0, 0].set(np.nan)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"nan at .*give finite numbers"):
        rollout(logits, states, SoftRollout(model)).block_until_ready()
