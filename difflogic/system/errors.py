"""Errors that a user can cause. Each message says where the problem is and what to do."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class DctError(Exception):
    """Base of every error that the command line shows without a traceback."""


class ConfigError(DctError):
    """An unusable configuration, argument or combination of them."""


class MissingFileError(ConfigError):
    """A file that the user named and that does not exist."""


class ModelFileError(DctError):
    """A model file that is truncated, foreign, newer than this program, or inconsistent."""


class CircuitError(DctError):
    """A circuit that is damaged, impossible, or not expressible in the requested form."""


class RunDirectoryError(DctError):
    """A file or run directory that cannot be created or written, or that exists already."""


class UnreadableError(DctError):
    """A file or directory that the system does not let us read now: nothing is known of it.

    It is neither missing nor damaged, so nothing that handles those may catch this.
    """


class ProofError(DctError):
    """A simplified circuit without a proof that it does the same; it is not used."""

    def __init__(self, message: str, proof: object) -> None:
        super().__init__(message)
        self.proof = proof
        """The attempted proof, a `difflogic.proof.Proof`."""


class OutOfTimeError(DctError):
    """A time limit that passed before an answer: it leaves one question open.

    Work that is asked to end raises `difflogic.system.work.Stopped`.
    """


class StorageError(RunDirectoryError):
    """A full or failing disk, too many open files, or too little memory for a valid request."""


class LockLostError(RunDirectoryError):
    """A run directory whose lock was removed, so that another process may use it."""


class TrainingError(DctError):
    """A training run that cannot continue, for instance because its loss is not finite."""


@contextmanager
def errors_about(name: object) -> Iterator[None]:
    """Put the name of a file, or of another subject, before errors about its content."""
    try:
        yield
    except (ConfigError, CircuitError) as error:
        raise type(error)(f"{name}: {error}") from None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest of the `known` names, or with all of them."""
    known = list(known)
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f'did you mean "{nearest[0]}"?' if nearest else "choose from " + ", ".join(known)


def described(value: object) -> str:
    """Describe a value without its contents, such as "a list of 512"."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"an array of shape {shape}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    return f"of type {type(value).__name__}"


QUOTED = 80
"""Most characters of a file or an option that a message shows."""


def shorten(text: str) -> str:
    """Cut a text that a message quotes."""
    return text if len(text) <= QUOTED else text[: QUOTED - 1] + "…"


def shown(value: object) -> str:
    """Return a value from a file of JSON or TOML as messages show it."""
    match value:
        case dict():
            return "an object"
        case list() | tuple():
            return f"a list of {len(value)}" if value else "an empty list"
        case int() if abs(value) > 10**20:  # Python refuses to print thousands of digits
            return "a number of more than 20 digits"
        case str() | bool() | None:
            return shorten(json.dumps(value, ensure_ascii=False))
        case _:
            return shorten(str(value))
