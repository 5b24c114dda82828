"""The conditions that commands run a circuit under, as options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.options.common import ADVANCED, MOST_SEED
from cli.options.parsing import parse_damage, parse_size, whole_number

if TYPE_CHECKING:
    from difflogic.library.conditions import Conditions


def size_option(default: str = "as trained") -> Any:
    """Declare --size; `default` is what the help shows."""
    return typer.Option(
        "--size",
        parser=lambda text: parse_size("--size", text),
        metavar="HxW",
        help="Rows and columns of the grid",
        show_default=default,
    )


def steps_option(default: str = "as trained") -> Any:
    """Declare --steps; `default` is what the help shows."""
    return typer.Option(
        "--steps", parser=whole_number(0), metavar="N", help="Automaton steps", show_default=default
    )


@dataclass(frozen=True)
class ConditionOptions:
    """The fields of `difflogic.Conditions`, as command-line options."""

    size: Annotated[Any, size_option()] = None
    steps: Annotated[int | None, steps_option()] = None
    start: Annotated[
        str | None,
        typer.Option(
            metavar="START",
            help="random, center, zeros, or a file: image, text picture, .rle pattern, .npz state",
            show_default="as trained",
        ),
    ] = None
    density: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Share of ones in a random start")
    ] = 0.5
    seed: Annotated[
        int, typer.Option(parser=whole_number(0, MOST_SEED), metavar="N", help="Random seed")
    ] = 0
    fire_rate: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Share of cells that update in a step", show_default="as trained"
        ),
    ] = None
    boundary: Annotated[
        Literal["zero", "periodic"] | None,
        typer.Option(help="What lies beyond the grid's edge", show_default="as trained"),
    ] = None
    damage: Annotated[
        list[Any] | None,
        typer.Option(
            parser=parse_damage,
            metavar="STEPS:Y,X,HxW",
            help="Zero H rows and W columns from row Y and column X, after steps such as 10,20; "
            "repeatable",
        ),
    ] = None
    unsimplified: Annotated[
        bool,
        typer.Option(
            "--unsimplified",
            help="Use the circuit as trained, with every gate",
            rich_help_panel=ADVANCED,
        ),
    ] = False

    @property
    def conditions(self) -> Conditions:
        """These options as the library takes them. Raises ConfigError if out of range."""
        from difflogic.library.conditions import Conditions

        return Conditions(**{**vars(self), "damage": self.damage or ()})
