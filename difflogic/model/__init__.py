"""A trained model, and the hard automaton that it becomes."""

from difflogic.model.model import Model as Model
