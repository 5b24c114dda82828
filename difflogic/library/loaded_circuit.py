"""What one does with a circuit, as methods of what `load` returns."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from difflogic.library import loaded
from difflogic.library.loaded import Loaded, Source

VERBS = (
    "apply",
    "certify",
    "evaluate",
    "export",
    "inspect",
    "prove",
    "render",
    "report",
    "simplify",
    "simulate",
)
"""Public functions that take what `load` returns."""


class LoadedCircuit(Loaded):
    """A trained model or a circuit. VERBS are its methods: each is the function of its name."""

    def __getattr__(self, name: str) -> Any:
        if name not in VERBS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return partial(getattr(import_module("difflogic"), name), self)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *VERBS])


def load(source: Source) -> LoadedCircuit:
    """Load a run's directory, "last" for the newest, a model file, or a circuit file.

    A loaded model or automaton is accepted, too. Raises CircuitError, ModelFileError or
    RunDirectoryError if the path leads to none of these.
    """
    found = loaded.load(source)
    return LoadedCircuit(found.name, found.model, found.circuit, found.folder)
