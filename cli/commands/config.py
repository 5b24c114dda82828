"""`dct config`: lists and prints configurations, and documents every key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from cli.options.common import AllowCode, AsJson, Recipe, Set, ShippedConfig, Small, choose_config
from cli.terminal import output

if TYPE_CHECKING:
    from difflogic.config.catalog import Experiment


def list_(as_json: AsJson = False) -> None:
    """List the shipped experiments, and the pictures that automata can grow.

    "gates" counts gates with logits of their own, "per cell" the gates evaluated per cell and step.
    "time" estimates all training steps of one attempt on two cores of a server with AVX-512; dct
    bench measures it here. "published" gives the epoch of the first hard loss 0 in the article and
    its notebook, with one seed, and the gates that are not pass-throughs.
    """
    from difflogic.config import catalog

    experiments, pictures = catalog.experiments(), catalog.pictures()
    if as_json:
        output.show_json(
            {
                "experiments": [experiment.as_dict() for experiment in experiments],
                "pictures": [picture.as_dict() for picture in pictures],
            }
        )
        return
    output.show_table(
        "experiment | task | published | grid | channels | steps | gates | per cell | epochs"
        " | batch | time",
        map(_row, experiments),
        texts=3,
        spare="per cell | batch | steps | channels | published | epochs | grid | gates",
    )
    typer.echo()
    output.show_table(
        "picture | grid | loss channels | ones",
        (
            (each.name, f"{each.height}×{each.width}", each.loss_channels, each.ones)
            for each in pictures
        ),
    )


def show(
    config: ShippedConfig = None,
    small: Small = False,
    recipe: Recipe = None,
    overrides: Set = None,
    allow_code: AllowCode = False,
) -> None:
    """Print a resolved configuration as TOML, with the meaning, unit and range of every key.

    The output is itself a configuration: dct config show > my.toml

    --set overrides the recipe; both override the file. Without --allow-code, the keys of a custom
    task that the file does not set are not printed.
    """
    from difflogic.config import describe, load_config

    settings = load_config(
        choose_config(config, small, "CONFIG"), overrides or [], recipe, allow_code=allow_code
    )
    typer.echo(describe(settings), nl=False)


def docs() -> None:
    """Print docs/configuration.md, the list of all keys, generated from the models."""
    from difflogic.config import document

    typer.echo(document(), nl=False)


def _row(experiment: Experiment) -> list[Any]:
    config, architecture = experiment.config, experiment.config.architecture
    task, automaton, training = config.task, config.automaton, config.training
    kind = experiment.task.title
    if automaton.fire_rate < 1:
        kind += f", fire rate {automaton.fire_rate:g}"
    return [
        config.name,
        kind,
        _published(experiment),
        f"{task.height}×{task.width}",
        automaton.channels,
        automaton.steps,
        architecture.parameters,
        architecture.gates,
        experiment.attempt_epochs,
        training.batch,
        f"{experiment.seconds:.0f} s" if experiment.seconds >= 1 else "< 1 s",
    ]


def _published(experiment: Experiment) -> str:
    published = experiment.config.published
    parts = []
    if published.learned_by is not None:
        budget = f" of {published.epochs}" if published.epochs is not None else ""
        parts.append(f"epoch {published.learned_by}{budget}")
    if published.active_gates is not None:
        parts.append(f"{published.active_gates} active gates")
    return ", ".join(parts) or "–"
