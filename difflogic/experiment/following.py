"""The other ranks of a run: they take every step together with rank 0, and write nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from difflogic.circuit.netlist import WiredLayers
from difflogic.circuit.wiring import Wiring
from difflogic.config import config_from_dict
from difflogic.experiment.searching import Trainer
from difflogic.model.model import Model
from difflogic.run.checkpoint import made_with
from difflogic.system.deadline import never_stop
from difflogic.system.errors import ConfigError, TrainingError
from difflogic.system.ranks import Ranks
from difflogic.system.work import Stopped, ignore, working
from difflogic.tasks import is_custom


def gather(trainer: Trainer, ranks: Ranks) -> None:
    """Send the state of the first rank's trainer to the other ranks."""
    if ranks.size == 1:
        return
    config = trainer.config
    ranks.send({"config": config.to_dict(), "versions": made_with()})
    if config.run.start_sha256 is not None:
        _share_model(trainer.first_model, ranks)
    for array in trainer.state().values():
        ranks.broadcast(array)


def follow(ranks: Ranks, load_code: Callable[[], object] = ignore) -> bool:
    """Take all steps of one training together with rank 0, from the state that it sends.

    If the task is not built in, calls `load_code` first: rank 0 names the code, but only whoever
    started this process may allow it to run. Returns False if rank 0 has ended without another
    training. Raises ConfigError.
    """
    message = ranks.receive()
    if message is None:
        return False
    if message["versions"] != made_with():
        raise ConfigError(
            f"rank {ranks.rank} has {made_with()}, and rank 0 {message['versions']}: only "
            "equal ones compute the same bits"
        )
    if is_custom(message["config"]["task"]["kind"]):
        load_code()
    config = config_from_dict(message["config"], "rank 0")
    model = None
    if config.run.start_sha256 is not None:
        model = _share_model(Model.create(config), ranks)
    # Rank 0 alone hears signals: it says when to stop.
    alone = working(asked=never_stop, hear=ignore, tell=ignore)
    with alone, Trainer(config, model, ranks) as trainer:
        trainer.warm_up()
        state = trainer.state()
        for array in state.values():
            ranks.broadcast(array)
        trainer.restore(state)
        while ranks.has_next_step():
            # Rank 0 raises an error too, and reports it; if it stops, the next is no step.
            with suppress(TrainingError, Stopped):
                trainer.step()
    return True


def follow_all(ranks: Ranks) -> None:
    """Follow one training after the other, until rank 0 ends."""
    while follow(ranks):
        pass


def _share_model(model: Model, ranks: Ranks) -> Model:
    """Return rank 0's `model`; other ranks pass any model of the same sizes."""
    logits = model.logits.copy()
    ranks.broadcast(logits)

    def share(layers: Iterable[Wiring]) -> tuple[Wiring, ...]:
        copies = tuple(Wiring(layer.inputs, layer.a.copy(), layer.b.copy()) for layer in layers)
        for copy in copies:
            ranks.broadcast(copy.a)
            ranks.broadcast(copy.b)
        return copies

    layers = model.layers
    perception = tuple(map(share, layers.perception))
    shared = WiredLayers(layers.architecture, perception, share(layers.update))
    return Model(shared, logits, model.config)
