"""What is asked of a recording."""

from __future__ import annotations

from dataclasses import dataclass

from difflogic.examples.film import Recording
from difflogic.identification.rules import RuleTable, Space
from difflogic.system.deadline import NEVER, Deadline


@dataclass(frozen=True)
class Inquiry:
    """Which rule of `space` explains a recording of frames `gap` steps apart."""

    recording: Recording
    space: Space
    boundary: str = "periodic"
    gap: int = 1
    deadline: Deadline = NEVER
    noise: bool = False
    """Whether some cells may have been recorded wrongly, as few as possible."""
    hidden: int = 0
    """Cells may have up to this many more states than are seen."""
    likely: RuleTable | None = None
    """The likeliest state by entry: the rule has it where the recording allows."""
    may_remember: bool = False
    """Whether the rule may look back at one more frame, if no other explains the recording."""
    of_a_kind: bool = False
    """Whether the space was chosen of several: rules of the others may explain the recording."""
