from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.circuit.netlist import Architecture
from difflogic.config import config_from_dict, load_config, shipped_configs
from difflogic.config.models import MAX_GATES_PER_CELL
from difflogic.config.sections import fit_layer_widths
from difflogic.system.errors import ConfigError


@pytest.fixture
def plain():
    return load_config("checkerboard").to_dict()


def test_architecture():
    expected = Architecture(8, 16, (8, 4, 2), (*[256] * 10, 128, 64, 32, 16, 8, 8))
    assert load_config("checkerboard", recipe="reference").architecture == expected
    levers = {"distinct_wiring": True, "all_directions": True, "carry": 4.0}
    assert load_config("checkerboard").architecture == replace(expected, **levers)


@pytest.mark.parametrize("name", shipped_configs())
def test_without_searches_there_is_one_attempt(name):
    config = load_config(name)
    plain = config.without_searches()
    assert config_from_dict(plain.to_dict(), "test") == plain
    assert plain.training.restart_every == plain.finishing.every == 0
    assert plain.pool == config.pool
    assert plain.automaton == config.automaton


def test_more_gates_than_memory_holds(plain):
    plain["perception"] |= {"kernels": 65536, "gates": [8]}
    with pytest.raises(
        ConfigError, match=rf"4\d+ gates per cell are more than the limit of {MAX_GATES_PER_CELL}"
    ):
        config_from_dict(plain, "test")


def test_layer_widths():
    gates = [512, 512, 256, 128]
    assert fit_layer_widths(gates, 320, 64) == [512, 512, 256, 128, 64]
    assert fit_layer_widths(gates, 160, 32) == [512, 512, 256, 128, 64, 32]
    assert fit_layer_widths(gates, 1280, 256) == [640, 512, 256]
    assert fit_layer_widths(gates, 10, 2) == [45, 512, 256, 128, 64, 32, 16, 8, 4, 2]


@pytest.mark.once
@given(st.integers(3, 700), st.sampled_from(["lizard", "letter-g"]))
def test_layer_widths_can_be_wired_for_any_number_of_channels(channels, name):
    config = load_config(name)
    inputs = channels * (1 + config.perception.kernels * config.perception.gates[-1])
    gates = fit_layer_widths(config.update.gates, inputs, channels)
    fitted = load_config(name, [f"automaton.channels={channels}", f"update.gates={gates}"])
    assert fitted.automaton.channels == channels
