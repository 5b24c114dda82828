"""Errors that a user can cause. Each message says where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DctError(Exception):
    """Base of every error that the command line shows without a traceback."""


class ConfigError(DctError):
    """A configuration, an argument or a combination of them that cannot be used."""


class ModelFileError(DctError):
    """A model file that is truncated, foreign, newer than this program, or inconsistent."""


class CircuitError(DctError):
    """A logic circuit that is damaged or impossible, or that cannot be expressed as asked."""


class RunDirectoryError(DctError):
    """A run directory that cannot be created or written, or that already holds a run."""


class ProofError(DctError):
    """A simplified circuit that is not proved to do the same, so that it is not used."""

    def __init__(self, message: str, proof: object) -> None:
        super().__init__(message)
        self.proof = proof
        """The attempted proof, a `difflogic.proof.Proof`."""


class StoppedError(DctError):
    """Work that its caller cancelled."""


class StorageError(RunDirectoryError):
    """A full or failing disk, too many open files or too little memory for a valid request."""


class LockLostError(RunDirectoryError):
    """A run directory that others may have entered, since its lock was removed."""


class TrainingError(DctError):
    """A training run that cannot go on, such as one whose loss is no longer finite."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest of the `known` names, or lists them all."""
    known = list(known)
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if nearest:
        return f'did you mean "{nearest[0]}"?'
    return "known: " + ", ".join(known)


def described(value: object) -> str:
    """Return what a value is, without what it holds, as "a list of 512"."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"an array of shape {shape}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    return f"of type {type(value).__name__}"
