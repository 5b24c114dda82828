"""What one does with a circuit, as methods of what `load` returns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from difflogic.library import loaded
from difflogic.library.conditions import AS_TRAINED, Conditions
from difflogic.library.declaration import Effort
from difflogic.library.loaded import Loaded, Source

if TYPE_CHECKING:
    from difflogic.inspection import Inspection
    from difflogic.library.applying import Applied
    from difflogic.library.certifying import Certified
    from difflogic.library.evaluating import Evaluated
    from difflogic.library.exporting import Exported
    from difflogic.library.groups import Claims
    from difflogic.library.proving import Compared
    from difflogic.library.rendering import Rendered
    from difflogic.library.reporting import Reported
    from difflogic.library.simplifying import Simplified
    from difflogic.library.simulating import Simulated


class LoadedCircuit(Loaded):
    """A trained model or a circuit. Each method calls the function of its name, for all options."""

    def apply(self, inputs: str | Path | Sequence[Any]) -> list[Applied]:
        """Apply a rule learned from examples to other grids."""
        from difflogic.library.applying import apply

        return apply(self, inputs)

    def certify(self, *claims: Claims, **options: Any) -> Certified:
        """Prove that every start reaches the target and stays there."""
        from difflogic.library.proving import certify

        return certify(self, *claims, **options)

    def evaluate(self, tests: Sequence[str] = (), **options: Any) -> Evaluated:
        """Test it on fresh starts, larger grids, and with damage."""
        from difflogic.library.evaluating import evaluate

        return evaluate(self, tests, **options)

    def export(self, file: str | Path | None = None, **options: Any) -> Exported:
        """Write it for other tools."""
        from difflogic.library.exporting import export

        return export(self, file, **options)

    def inspect(self, **options: Any) -> Inspection:
        """Find its equations and symmetries."""
        from difflogic.library.evaluating import inspect

        return inspect(self, **options)

    def prove(self, against: Source | None = None, **options: Any) -> Compared:
        """Prove it equal to another circuit, by default to its own simplified form."""
        from difflogic.library.proving import prove

        return prove(self, against, **options)

    def render(
        self, file: str | Path, conditions: Conditions = AS_TRAINED, **options: Any
    ) -> Rendered:
        """Draw a rollout as an animation or strip."""
        from difflogic.library.rendering import render

        return render(self, file, conditions, **options)

    def report(self, file: str | Path | None = None, **options: Any) -> Reported:
        """Make a page in which it runs."""
        from difflogic.library.reporting import report

        return report(self, file, **options)

    def simplify(self, effort: Effort = "normal", **options: Any) -> Simplified:
        """Make it smaller, and prove that it computes the same."""
        from difflogic.library.simplifying import simplify

        return simplify(self, effort, **options)

    def simulate(self, conditions: Conditions = AS_TRAINED, **options: Any) -> Simulated:
        """Run it on a grid of any size."""
        from difflogic.library.simulating import simulate

        return simulate(self, conditions, **options)


def load(source: Source) -> LoadedCircuit:
    """Load a run's directory, "last" for the newest, a model file, or a circuit file.

    A loaded model or automaton is accepted, too. Raises CircuitError, ModelFileError or
    RunDirectoryError if the path leads to none of these.
    """
    found = loaded.load(source)
    return LoadedCircuit(found.name, found.model, found.circuit, found.folder)
