"""Compiling the kernels before a command starts, announced, since it may take a while."""

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
        note(f"compiling the kernels, once for {precision}: this may take half a minute …")
    seconds = trainer.warm_up(meanwhile)
    if announced:
        rest = "; the search is compiled while it trains" if trainer.compiles else ""
        note(f"compiled in {seconds:.1f} s{rest}")


def compile_for(config: Config) -> None:
    """Compile what `config` needs, if that is still to be done."""
    from difflogic.training.trainer import Trainer

    # By one worker: should Ctrl-C end it, no other waits for it in a kernel.
    alone = config.parallel.model_copy(update={"workers": 1})
    with Trainer(config.model_copy(update={"parallel": alone})) as trainer:
        if trainer.cold:
            warm_up(trainer)


def announce_search() -> None:
    """Say so if the kernels that simplify circuits are still to be compiled."""
    from difflogic.simplification.kernels.annealing import anneal
    from difflogic.simplification.kernels.windows import find_window
    from difflogic.system.jit import JIT, is_compiled

    if JIT and not (is_compiled(anneal) and is_compiled(find_window)):
        note("compiling the search for small circuits, once: this may take half a minute …")


def announce_hard() -> None:
    """Say so if the simulator of hard circuits is still to be compiled."""
    from difflogic.engine.compilation import is_hard_cached

    if not is_hard_cached():
        note("compiling the simulator, once: this may take ten seconds …")
