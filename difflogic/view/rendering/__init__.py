"""Pictures of rollouts: animations and strips of frames, whose pixels are exactly the cells."""

from difflogic.view.rendering.panels import MOST_COLORED, Panel, View
from difflogic.view.rendering.writing import SUFFIXES, Animation, write

__all__ = ["MOST_COLORED", "SUFFIXES", "Animation", "Panel", "View", "write"]
