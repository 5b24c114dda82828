"""Phases of training steps beside an outside clock."""

import time

from difflogic.training.searching import Trainer


def timed_steps(config, steps):
    """Yield the seconds of each step by an outside clock, and what each phase adds meanwhile."""
    with Trainer(config) as trainer:
        trainer.warm_up()
        trainer.step()
        for _ in range(steps):
            before, begun = dict(trainer.phases.seconds), time.perf_counter()
            trainer.step()
            passed = time.perf_counter() - begun
            now = trainer.phases.seconds
            yield passed, {phase: now[phase] - before[phase] for phase in now}
