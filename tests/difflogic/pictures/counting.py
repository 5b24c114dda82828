"""Configurations of small pictures whose cells count their places."""

from dataclasses import replace

from difflogic.config import load_config
from difflogic.library import picture_experiment as growing
from difflogic.library.groups import PictureOptions
from difflogic.pictures.places import Places


def counting(picture, *overrides):
    """Cells that count the places of a picture of any size, which heals."""
    options = PictureOptions(hold=True, heal=min(picture.bits.shape[1:]) > 3)
    plan = growing.experiment_for(picture, options)
    places = Places.over(*picture.bits.shape[1:])
    growth = replace(growing.growth_for(picture, options), places=places)
    changes = growing.COUNTING_KEYS | growing._counting_circuit(growth, places)
    first = growing.overriding(changes, "--size")
    return load_config(plan.default, [*plan.overrides, *first, *overrides])
