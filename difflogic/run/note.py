"""What a user notes about a run: a text and tags, kept in its directory."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from difflogic.run.run_directory import RunDirectory
from difflogic.system.errors import RunDirectoryError
from difflogic.system.files import read_inside

MAX_BYTES = 2**17
TAG = r"[\w.+-]{1,40}"
MAX_TEXT = 10_000


class Note(BaseModel):
    """A text and tags. Raises ValidationError."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")
    text: Annotated[str, Field(max_length=MAX_TEXT)] = ""
    tags: Annotated[list[Annotated[str, Field(pattern=f"^{TAG}$")]], Field(max_length=100)] = []


def read_note(run: RunDirectory) -> Note:
    """Return a run's note; an empty one if it has none. Raises RunDirectoryError if damaged."""
    try:
        return Note.model_validate_json(read_inside(run.note, MAX_BYTES))
    except FileNotFoundError:
        return Note()
    except ValidationError:
        raise RunDirectoryError(
            f"{run.note}: is damaged: restore or remove it, or write another note"
        ) from None


def write_note(run: RunDirectory, note: Note) -> None:
    """Replace a run's note. Raises RunDirectoryError."""
    run.write(run.note, note.model_dump_json(indent=2) + "\n")
