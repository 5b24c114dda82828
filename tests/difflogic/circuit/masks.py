"""Fire masks of whole epochs."""

from difflogic.circuit.firing import Firing
from difflogic.system.streams import Purpose, sample_streams


def draw_masks(seed, epoch, batch, steps, height, width, fire_rate, purpose=Purpose.MASK, first=0):
    """Draw all masks of an epoch, (batch, steps, height, width), beginning with sample `first`."""
    streams = sample_streams(seed, purpose, epoch, range(first, first + batch))
    return Firing(fire_rate, (height, width), streams).draw(steps)
