"""Phases of training steps beside an outside clock: python -m tests.difflogic.training.clock."""

import subprocess
import sys
import time
from statistics import median

from difflogic.config import load_config
from difflogic.training.searching import Trainer

EXPERIMENTS = ("game-of-life", "checkerboard", "checkerboard-async", "letter-g", "lizard")
STEPS = 30


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


def main():
    """Print the medians of experiments and workers, alone and beside a busy core."""
    print(f"| | workers | step, ms | phases / step | off by 2 % | {', ms | '.join(SHOWN)}, ms |")
    for busy in (False, True):
        command = [sys.executable, "-c", "while True: pass"]
        neighbour = subprocess.Popen(command) if busy else None
        for name in EXPERIMENTS:
            for workers in (1, 2, 3):
                config = load_config(name, [f"parallel.workers={workers}"]).without_searches()
                found = list(timed_steps(config, STEPS))
                shares = [sum(phases.values()) / passed for passed, phases in found]
                off = sum(abs(1 - share) > 0.02 for share in shares)
                shown = [median(phases[each] for _, phases in found) for each in SHOWN]
                numbers = " | ".join(f"{1000 * spent:.2f}" for spent in shown)
                step = 1000 * median(passed for passed, _ in found)
                beside = ", busy core" if busy else ""
                print(
                    f"| {name}{beside} | {workers} | {step:.2f} "
                    f"| {median(shares):.4f} | {off} of {STEPS} | {numbers} |",
                    flush=True,
                )
        if neighbour is not None:
            neighbour.kill()
            neighbour.wait()


SHOWN = ("backward", "waiting", "other")

if __name__ == "__main__":
    main()
