"""The option that changes keys of a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from difflogic.system.declaration import Opt

if TYPE_CHECKING:
    from difflogic.config import Override

    Changes = Sequence[str | Override]
else:  # an option has texts only
    Changes = Sequence[str]

Set = Annotated[
    Changes, Opt("Override a configuration value; repeatable", "SECTION.KEY=VALUE", names="--set")
]
