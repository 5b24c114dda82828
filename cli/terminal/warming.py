"""Compiles the kernels before a command starts, and says so if it takes a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.errors import note

if TYPE_CHECKING:
    from difflogic.config import Config
    from difflogic.training.trainer import Trainer


def warm_up(trainer: Trainer, quiet: bool = False, meanwhile: bool = False) -> None:
    """Compile or load the kernels, and say so if it takes a while.

    With `meanwhile` those of searches may be compiled while training goes on.
    """
    announced = trainer.cold and not quiet
    if announced:
        precision = trainer.config.training.precision
        note(f"compiling the kernels for {precision}, once; may take half a minute …")
    seconds = trainer.warm_up(meanwhile)
    if announced:
        rest = "; the search compiles during training" if trainer.compiles else ""
        note(f"compiled in {seconds:.1f} s{rest}")


def compile_for(config: Config) -> None:
    """Compile what `config` needs, unless that is done."""
    from difflogic.training.trainer import Trainer

    # With one worker, so that no other waits in a kernel if Ctrl-C ends it.
    alone = config.parallel.model_copy(update={"workers": 1})
    with Trainer(config.model_copy(update={"parallel": alone})) as trainer:
        if trainer.cold:
            warm_up(trainer)


def announce_search() -> None:
    """Say so if the kernels that simplify circuits have to be compiled."""
    from difflogic.simplification.kernels.annealing import anneal
    from difflogic.simplification.kernels.windows import find_window
    from difflogic.system.jit import JIT, is_compiled

    if JIT and not (is_compiled(anneal) and is_compiled(find_window)):
        note("compiling the search for small circuits, once; may take half a minute …")


def announce_hard() -> None:
    """Say so if the simulator of hard circuits has to be compiled."""
    from difflogic.engine.compilation import is_hard_cached

    if not is_hard_cached():
        note("compiling the simulator, once; may take ten seconds …")
