"""`dct list`: the experiments and pictures that come with the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.terminal import output

if TYPE_CHECKING:
    from difflogic.config.catalog import Experiment


def list_(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as one JSON object.")
    ] = False,
) -> None:
    """List the experiments that come with the program, and the pictures that can be grown.

    Gates are those with logits of their own, and those evaluated per cell and step. The time is
    what all training steps should take on two cores: an estimate from the gates evaluated, after
    measurements on a server's processor (Intel Xeon with AVX-512); `dct bench` measures it here.
    The published result is that of the article and its notebook, with one seed: the epoch from
    which the hard loss was 0, and gates whose op is no pass-through. Epochs and time are those of
    one attempt: learning starts over until a circuit is verified, or training.epochs are over.
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
    table = output.new_table(
        "experiment",
        "task",
        "published",
        "grid",
        "channels",
        "steps",
        "gates",
        "per cell",
        "epochs",
        "batch",
        "time",
        texts=3,
    )
    for experiment in experiments:
        table.add_row(*_row(experiment))
    output.show_table(
        table, ("per cell", "batch", "steps", "channels", "published", "epochs", "grid", "gates")
    )
    typer.echo()
    table = output.new_table("picture", "grid", "loss channels", "ones")
    for picture in pictures:
        size = f"{picture.height}×{picture.width}"
        table.add_row(picture.name, size, str(picture.loss_channels), str(picture.ones))
    output.show_table(table)


def _row(experiment: Experiment) -> list[str]:
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
        str(automaton.channels),
        str(automaton.steps),
        str(architecture.parameters),
        str(architecture.gates),
        str(experiment.attempt_epochs),
        str(training.batch),
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
