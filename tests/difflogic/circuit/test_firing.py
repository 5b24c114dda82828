import numpy as np
import pytest

from difflogic.circuit import firing
from difflogic.system.streams import Purpose, sample_streams, stream
from tests.difflogic.circuit.masks import draw_masks


def test_no_mask_if_all_cells_fire():
    assert draw_masks(5, 1, 2, 3, 4, 5, fire_rate=1.0) is None


@pytest.mark.parametrize("at_once", [1, 7, 2**14])
@pytest.mark.parametrize("pieces", [(9,), (1, 8), (4, 2, 3)])
def test_pieces_are_the_whole(monkeypatch, at_once, pieces):
    """However many are drawn at a time, these are the streams' numbers in order."""
    monkeypatch.setattr(firing, "NUMBERS_AT_ONCE", at_once)
    plain = [stream(3, Purpose.MASK, 2, sample).random((9, 5, 6)) <= 0.4 for sample in (4, 1)]
    fires = firing.Firing(0.4, (5, 6), sample_streams(3, Purpose.MASK, 2, (4, 1)))
    drawn = np.concatenate([fires.draw(steps) for steps in pieces], axis=1)
    assert drawn.dtype == np.uint8
    np.testing.assert_array_equal(drawn, plain)
