"""Single runs among many: describe one, and note something about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difflogic.config import load_config, shipped_configs
from difflogic.config.loading import flat
from difflogic.library.listing import UNIMPORTANT, opened, runs
from difflogic.run import lock, notes
from difflogic.run.notes import Note
from difflogic.system.errors import ConfigError, RunDirectoryError


@dataclass(frozen=True)
class Described:
    """One run."""

    record: dict[str, Any]
    """As `runs` returns it."""
    changed: dict[str, tuple[Any, Any]]
    """Settings that differ from the shipped experiment's: its value, and the run's."""
    is_shipped: bool
    """Whether the experiment is a shipped one; if not, `changed` is empty."""
    summary: dict[str, Any] | None
    """The contents of summary.json."""
    files: dict[str, int]
    """The bytes of each file."""


def describe(run: str | Path) -> Described:
    """Return a run's results, its settings beside the shipped ones, and its files.

    Raises RunDirectoryError.
    """
    listed = opened(run)
    (record,) = runs([listed.path])
    changed = {}
    if is_shipped := (name := listed.columns["experiment"]) in shipped_configs():
        shipped = flat(load_config(name).to_dict())
        for key in dict.fromkeys([*shipped, *listed.settings]):
            pair = shipped.get(key), listed.settings.get(key)
            if pair[0] != pair[1] and listed.settings and not UNIMPORTANT.match(key):
                changed[key] = pair
    entries = sorted(each for each in listed.path.iterdir() if each.name != lock.NAME)
    files = {each.name: each.lstat().st_size for each in entries if each.is_file()}
    summary = None if listed.summary is None else dict(listed.summary)
    return Described(record, changed, is_shipped, summary, files)


def annotate(
    run: str | Path, text: str | None = None, tags: Sequence[str] = (), without: Sequence[str] = ()
) -> Note:
    """Keep a note with a run or sweep: replace its text, add tags, and take others away.

    Returns the whole note. Raises ConfigError for a text or a tag that is too long, and for other
    signs in a tag than letters, digits and ``._+-``.
    """
    path = opened(run).path
    for tag in (*tags, *without):
        if not re.fullmatch(notes.TAG, tag):
            raise ConfigError(f'tag "{tag}": must be letters, digits and . _ + -, at most 40')
    if text is not None and len(text) > notes.MAX_TEXT:
        raise ConfigError(f"the note has {len(text)} characters: at most {notes.MAX_TEXT} are kept")
    try:
        before = notes.read_note(path)
    except RunDirectoryError:
        if text is None:
            raise
        before = Note()
    kept = [tag for tag in dict.fromkeys([*before.tags, *tags]) if tag not in without]
    note = Note(text=before.text if text is None else text, tags=kept)
    notes.write_note(path, note)
    return note
