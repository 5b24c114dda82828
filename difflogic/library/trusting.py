"""Loading a model whose task is custom code, for what tests the task: `load_trusted`."""

from __future__ import annotations

from difflogic.library.loading import Loaded, Source, load
from difflogic.tasks.code import allow_code as run_code


def load_trusted(source: Source, allow_code: bool) -> Loaded:
    """Load what `load` does; `allow_code` allows the code of a model's custom task to run.

    Raises what `load` raises, and ConfigError for code that is missing or has changed.
    """
    loaded = load(source)
    if allow_code and loaded.model is not None and loaded.folder is not None:
        run_code(loaded.model.config.task, loaded.folder)
    return loaded
