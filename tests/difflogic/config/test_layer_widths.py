import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.config.sections import fit_layer_widths

LIZARD = load_config("lizard")


def test_a_circuit_that_fits_stays_as_it_is():
    gates = LIZARD.update.gates
    assert fit_layer_widths(gates, 640, gates[-1]) == list(gates)


def test_fewer_and_more_channels():
    gates = [512, 512, 256, 128]
    assert fit_layer_widths(gates, 320, 64) == [512, 512, 256, 128, 64]
    assert fit_layer_widths(gates, 160, 32) == [512, 512, 256, 128, 64, 32]
    assert fit_layer_widths(gates, 1280, 256) == [640, 512, 256]
    assert fit_layer_widths(gates, 10, 2) == [45, 512, 256, 128, 64, 32, 16, 8, 4, 2]


@pytest.mark.thorough
@given(channels=st.integers(1, 700), name=st.sampled_from(["lizard", "letter-g"]))
def test_every_number_of_channels_gives_a_circuit_that_can_be_wired(channels, name):
    config = load_config(name)
    inputs = channels * (1 + config.perception.kernels * config.perception.gates[-1])
    gates = fit_layer_widths(config.update.gates, inputs, channels)
    channels_of_loss = list(range(min(channels, len(config.task.loss_channels))))
    if len(channels_of_loss) < len(config.task.loss_channels):
        return
    fitted = load_config(name, [f"automaton.channels={channels}", f"update.gates={gates}"])
    assert fitted.automaton.channels == channels
