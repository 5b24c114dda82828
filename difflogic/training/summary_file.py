"""summary.json as a file: sealed when it is written, and checked before anything relies on it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from difflogic.system.plain import plain

MAX_BYTES = 2**24
"""A summary has 5 kB."""

SEAL = "sha256"
FILES = "files"

_NUMBER = (int, float)
_MAYBE_NUMBER = (int, float, type(None))

_TYPES: dict[str, tuple[type, ...]] = {
    "experiment": (str,),
    "seed": (int,),
    "workers": (int,),
    "epochs": (int,),
    "epochs_requested": (int,),
    "finished": (bool,),
    "interrupted": (bool,),
    "resumed": (int,),
    "exact_epoch": (int, type(None)),
    "scores.soft_loss": _MAYBE_NUMBER,
    "scores.hard_loss": _MAYBE_NUMBER,
    "scores.accuracy": _MAYBE_NUMBER,
    "scores.best_hard_loss": _MAYBE_NUMBER,
    "scores.best_accuracy": _MAYBE_NUMBER,
    "scores.best_epoch": (int, type(None)),
    "scores.held_out.starts": (int,),
    "scores.held_out.cells": (int,),
    "scores.held_out.step": (int,),
    "scores.held_out.wrong_cells": (int,),
    "scores.held_out.later_step": (int,),
    "scores.held_out.wrong_cells_later": (int,),
    "scores.held_out.exact": (bool,),
    "scores.held_out.active_gates": (int,),
    "seconds.training": _NUMBER,
    "seconds.compilation": _NUMBER,
    "seconds.phases": (dict,),
}
"""What is read of a summary anywhere, besides what a task adds."""

_COUNT_TYPES: dict[str, tuple[type, ...]] = {
    "what": (str,),
    "height": (int,),
    "width": (int,),
    "step": (int,),
    "wrong_cells": (int,),
    "cells": (int,),
}
"""What is read of each of ``scores.exactness.counts``, where there are some."""

_ATTEMPT_TYPES: dict[str, tuple[type, ...]] = {"attempts.begun": (int,), "attempts.result": (int,)}
"""What is read of a run's attempts; those that do not start over do not say."""


def render(summary: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """Return the file's text: the summary, the SHA-256 of the run's `files`, and one over it all.

    NumPy's numbers and paths become plain, NaN and infinity null.
    """
    data = {key: value for key, value in plain(summary).items() if key not in (FILES, SEAL)}
    data[FILES] = dict(files)
    return json.dumps({**data, SEAL: _digest(data)}, indent=2, ensure_ascii=False) + "\n"


def parse(content: bytes) -> dict[str, Any]:
    """Read a summary, sealed or of an earlier version. Raises ValueError with what is wrong."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON, or is cut off") from None
    if not isinstance(data, dict):
        raise ValueError("it holds no object")
    sealed = {key: value for key, value in data.items() if key != SEAL}
    # Before there were seals there were no checksums of files either.
    if (SEAL in data or FILES in data) and data.get(SEAL) != _digest(sealed):
        raise ValueError("its checksum is wrong")
    _require(data, _TYPES)
    for name, spent in data["seconds"]["phases"].items():
        if type(spent) not in _NUMBER:
            raise ValueError(f'"seconds.phases.{name}" is missing or has a wrong type')
    _check_exactness(data["scores"].get("exactness", {}))
    _check_assurance(data["scores"].get("assurance"))
    _check_polished(data.get("polished"))
    if data.get("attempts") is not None:
        _require(data, _ATTEMPT_TYPES)
    if type(data["seconds"].get("processor", 0)) not in _NUMBER:
        raise ValueError('"seconds.processor" has a wrong type')
    files = data.setdefault(FILES, {})
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files.values()):
        raise ValueError(f'"{FILES}" has a wrong type')
    return data


def _check_assurance(found: Any) -> None:
    """Check what is proved of a run's circuit; runs of earlier versions say nothing of it."""
    if found is None:
        return
    keys = ("text", "verdict") if isinstance(found, dict) else (None,)
    if not all(key and isinstance(found.get(key), str) for key in keys):
        raise ValueError('"scores.assurance" has a wrong type')
    if type(found.get("from_step")) not in (int, type(None)):
        raise ValueError('"scores.assurance.from_step" has a wrong type')


def _check_polished(found: Any) -> None:
    """Check what polishing gained; most runs of earlier versions do not say."""
    if found is None:
        return
    pairs = [found.get("gates"), found.get("from_step")] if isinstance(found, dict) else [1]
    for place, pair in enumerate(pairs):
        whole = isinstance(pair, list | tuple) and [type(number) for number in pair] == [int, int]
        if not whole and (place == 0 or pair is not None):
            raise ValueError('"polished" has a wrong type')


def _check_exactness(found: Any) -> None:
    counts = found.get("counts", []) if isinstance(found, dict) else None
    if not isinstance(counts, list):
        raise ValueError('"scores.exactness" has a wrong type')
    for count in counts:
        _require(count, _COUNT_TYPES)
    if found.get("first_wrong_step") is not None and not counts:
        raise ValueError('"scores.exactness.counts" is missing')


def _require(data: Any, types: Mapping[str, tuple[type, ...]]) -> None:
    for place, allowed in types.items():
        value = data
        for part in place.split("."):
            value = value.get(part, _Missing) if isinstance(value, dict) else _Missing
        if type(value) not in allowed:
            raise ValueError(f'"{place}" is missing or has a wrong type')


class _Missing:
    """Stands for what is not there."""


def _digest(data: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
