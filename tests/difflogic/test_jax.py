"""The engine in JAX: JAX's gradient check, and the library's bits."""

import numpy as np
import pytest

from difflogic import SoftRollout
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError
from tests.difflogic.training.tiny import tiny


def setup_module():
    """Import JAX, which takes long, only where these tests run."""
    global jax, jnp, check_grads, rollout
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jnp = jax.numpy
    from jax.test_util import check_grads

    from difflogic.jax import rollout


@pytest.fixture
def doubles():
    with jax.enable_x64(True):
        yield


def drawn(*overrides):
    model = Model.create(tiny("training.precision=float64", *overrides))
    rng = np.random.default_rng(1)
    logits = model.logits + rng.normal(size=model.logits.shape)
    return model, jnp.asarray(logits), jnp.asarray(rng.random((2, model.netlist.channels, 4, 5)))


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize(("boundary", "rate"), [("zero", 1), ("periodic", 0.5)])
def test_a_rollout_gives_the_bits_of_the_library(boundary, rate):
    settings = f"automaton.boundary={boundary}", f"automaton.fire_rate={rate}"
    model, logits, states = drawn(*settings)
    automaton = SoftRollout(model)
    masks = None if rate == 1 else np.random.default_rng(0).random((2, 3, 4, 5)) < rate
    how = {"steps": 3, "keep": [0, 1, 3], "masks": masks}
    expected, pull = automaton(np.asarray(logits), np.asarray(states), **how)
    run = jax.jit(lambda logits, states: rollout(logits, states, automaton, **how))
    found, pull_back = jax.vjp(run, logits, states)
    np.testing.assert_array_equal(found, expected)
    for one, other in zip(pull_back(2 * found), pull(2 * expected), strict=True):
        np.testing.assert_array_equal(one, other)


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
    found = rollout(logits.astype(np.float32), bits, SoftRollout(model, hard=True))
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
    layer = SoftRollout(model)
    with pytest.raises(ConfigError, match=r"nan at .*give finite numbers"):
        rollout(logits, states, layer)
    with pytest.raises(ConfigError, match="give bits, or real numbers from 0 to 1"):
        rollout(logits, states.at[0, 0, 0, 0].set(2), layer)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"nan at .*give finite numbers"):
        jax.jit(lambda states: rollout(logits, states, layer))(states).block_until_ready()
