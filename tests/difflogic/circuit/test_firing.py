from __future__ import annotations

import numpy as np
import pytest

from difflogic.circuit import firing
from difflogic.system.streams import Purpose, sample_streams, stream
from tests.difflogic.circuit.masks import draw_masks


def test_masks():
    masks = draw_masks(5, 1, batch=3, steps=20, height=7, width=9, fire_rate=0.6)
    assert masks.shape == (3, 20, 7, 9)
    assert masks.dtype == np.uint8
    assert set(np.unique(masks)) == {0, 1}
    spread = np.sqrt(0.6 * 0.4 / masks.size)
    assert abs(masks.mean() - 0.6) < 4 * spread
    flat = masks.reshape(60, 63)
    assert len({mask.tobytes() for mask in flat}) == 60


def test_masks_do_not_depend_on_batch_or_rate():
    sizes = {"steps": 4, "height": 5, "width": 5}
    few = draw_masks(5, 1, batch=1, fire_rate=0.3, **sizes)
    many = draw_masks(5, 1, batch=3, fire_rate=0.3, **sizes)
    higher = draw_masks(5, 1, batch=1, fire_rate=0.5, **sizes)
    np.testing.assert_array_equal(few[0], many[0])
    assert (higher >= few).all()
    assert (draw_masks(5, 1, 1, 4, 5, 5, 0.3, Purpose.HELD_OUT_MASK) != few).any()


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
