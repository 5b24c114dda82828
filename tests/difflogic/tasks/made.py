"""Tasks and automata made by hand."""

from difflogic.config import AutomatonConfig


def automaton(channels, boundary="periodic", steps=1, fire_rate=1.0):
    return AutomatonConfig(channels=channels, boundary=boundary, steps=steps, fire_rate=fire_rate)


def task(cls, automaton, **keys):
    """A task of a class, with these keys of its section."""
    return cls(cls.Section(**keys), automaton)
