"""Ranks other than the first: they take every step of a run with it, and write nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from difflogic.config import config_from_dict
from difflogic.errors import ConfigError, TrainingError
from difflogic.ranks import Ranks
from difflogic.tasks import OwnSection
from difflogic.training.checkpoint import made_with
from difflogic.training.trainer import Trainer


def gather(trainer: Trainer, ranks: Ranks) -> None:
    """Bring the other ranks to where the first one's trainer stands. Raises ConfigError."""
    if ranks.size == 1:
        return
    config = trainer.config
    if config.training.start_from is not None:
        raise ConfigError(
            "a run that starts from a saved model is trained in one process: leave the ranks out"
        )
    if isinstance(config.task, OwnSection):
        raise ConfigError(
            "a task with code of its own is trained in one process: leave the ranks out"
        )
    # Another processor would choose others, and add in another order.
    cut = {"lanes": trainer.plan.lanes, "chunk": trainer.plan.chunk}
    config = config.model_copy(update={"parallel": config.parallel.model_copy(update=cut)})
    ranks.tell({"config": config.to_dict(), "versions": _versions()})
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
    with Trainer(config_from_dict(told["config"], "rank 0"), ranks=ranks) as trainer:
        trainer.warm_up()
        state = trainer.state()
        for array in state.values():
            ranks.share(array)
        trainer.restore(state)
        while ranks.steps_on():
            with suppress(TrainingError):  # rank 0 has it, too, and says so
                trainer.step()


def _versions() -> dict[str, Any]:
    return {name: version for name, version in made_with().items() if name != "cpu"}
