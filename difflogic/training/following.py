"""Ranks other than the first: they take every step of a run with it, and write nothing."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from difflogic.config import config_from_dict
from difflogic.errors import ConfigError, TrainingError
from difflogic.model import Model
from difflogic.netlist import Circuit
from difflogic.ranks import Ranks
from difflogic.tasks import OwnSection
from difflogic.training.checkpoint import made_with
from difflogic.training.trainer import Trainer
from difflogic.wiring import Wiring


def gather(trainer: Trainer, ranks: Ranks) -> None:
    """Bring the other ranks to where the first one's trainer stands. Raises ConfigError."""
    if ranks.size == 1:
        return
    config = trainer.config
    if isinstance(config.task, OwnSection):
        raise ConfigError(
            "a task with code of its own is trained in one process: leave the ranks out"
        )
    # Another processor would choose others, and add in another order.
    cut = {"lanes": trainer.plan.lanes, "chunk": trainer.plan.chunk}
    config = config.model_copy(update={"parallel": config.parallel.model_copy(update=cut)})
    ranks.tell({"config": config.to_dict(), "versions": _versions()})
    if config.training.start_from is not None:
        share_model(trainer.first, ranks)
    for array in trainer.state().values():
        ranks.share(array)


def follow(ranks: Ranks) -> None:
    """Take the steps of rank 0 with it, until it has come to its end. Raises ConfigError."""
    told = ranks.hear()
    if told is None:
        return
    if told["versions"] != _versions():
        raise ConfigError(
            f"rank {ranks.rank} has {_versions()}, and rank 0 {told['versions']}: they compute the "
            "same bits only with the same versions"
        )
    config, model = config_from_dict(told["config"], "rank 0"), None
    if config.training.start_from is not None:
        model = share_model(Model.create(config), ranks)
    with Trainer(config, model, ranks) as trainer:
        trainer.warm_up()
        state = trainer.state()
        for array in state.values():
            ranks.share(array)
        trainer.restore(state)
        while ranks.steps_on():
            with suppress(TrainingError):  # rank 0 has it, too, and says so
                trainer.step()


def share_model(model: Model, ranks: Ranks) -> Model:
    """Return what rank 0 has as `model`, whose sizes all ranks know."""
    logits = model.logits.copy()
    ranks.share(logits)

    def share(layers: Iterable[Wiring]) -> tuple[Wiring, ...]:
        copies = tuple(Wiring(layer.inputs, layer.a.copy(), layer.b.copy()) for layer in layers)
        for copy in copies:
            ranks.share(copy.a)
            ranks.share(copy.b)
        return copies

    circuit = model.circuit
    perception = tuple(map(share, circuit.perception))
    shared = Circuit(circuit.architecture, perception, share(circuit.update))
    return Model(shared, logits, model.config)


def _versions() -> dict[str, Any]:
    return {name: version for name, version in made_with().items() if name != "cpu"}
