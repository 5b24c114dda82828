"""What is left of a training run when it is over, for machines: summary.json."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from difflogic.config import Config
from difflogic.evaluation import evaluate, held_out
from difflogic.evaluation.assurance import assure
from difflogic.evaluation.exactness import EXACTNESS
from difflogic.model.model import Model
from difflogic.system import machine
from difflogic.tasks import task_class
from difflogic.training.best import NONE
from difflogic.training.metrics import History, count_given_up
from difflogic.training.trainer import Trainer


def final_scores(model: Model) -> dict[str, Any]:
    """Score the hard circuit that a run leaves behind: the one place for what a run ends with.

    `held_out` holds the counts on held-out starts, `assurance` what is proved; for a rule that goes
    on from target to target `exactness` holds the counts on all cases and in a random soup.
    """
    scores = {"held_out": held_out(model), "assurance": assure(model).as_dict()}
    if task_class(model.config.task).moves_on():
        scores["exactness"] = evaluate(model, [EXACTNESS.name])["tests"][EXACTNESS.name]
    return scores


def summarize(
    config: Config, trainer: Trainer, history: History, resumed: int, processor: float
) -> dict[str, Any]:
    """Return what summary.json holds: scores, seconds per phase, versions, machine.

    `config` is the run's, whatever its last stretch ran with; `resumed` counts the stretches
    after the first, and `processor` the seconds that this process' processors worked in the last.
    """
    phases, finished = trainer.phases, trainer.done
    last, last_hard, best = history.rows[-1:], history.last_hard, history.best
    return {
        "experiment": config.name,
        "seed": config.training.seed,
        "workers": trainer.workers,
        **({"ranks": trainer.ranks.size} if trainer.ranks.size > 1 else {}),
        "plan": trainer.plan.as_dict(),
        "epochs": trainer.epoch,
        "epochs_requested": config.training.epochs,
        "finished": finished,
        "interrupted": not finished,
        "resumed": resumed,
        "exact_epoch": trainer.exact_epoch,
        **_attempts(config, trainer, history),
        **_growth(config, trainer),
        "polished": None if trainer.gain is None else asdict(trainer.gain),
        "scores": {
            "soft_loss": last[0].soft_loss if last else None,
            "hard_loss": last_hard.hard_loss if last_hard else None,
            "accuracy": last_hard.accuracy if last_hard else None,
            "best_hard_loss": best.hard_loss if best else None,
            "best_accuracy": best.accuracy if best else None,
            "best_epoch": best.epoch if best else None,
            **final_scores(trainer.result),
        },
        "seconds": {
            "training": sum(phases.seconds.values()),
            "compilation": phases.compile_seconds,
            "processor": processor,
            "phases": dict(phases.seconds),
        },
        "versions": machine.versions(),
        "cpu": machine.cpu(),
    }


def _attempts(config: Config, trainer: Trainer, history: History) -> dict[str, Any]:
    """Return how often learning began, and of which attempt the result is, where it starts over.

    How many were given up is None where an earlier version, which did not write it down, began.
    """
    if not config.starts_over:
        return {}
    counted = {
        "begun": trainer.attempt,
        "given_up": count_given_up(history.rows, config.training.abandon_after),
        "result": trainer.result_attempt,
    }
    return {"attempts": counted}


def _growth(config: Config, trainer: Trainer) -> dict[str, int | None]:
    """Return the epoch from which a pool was used that waited for the target to grow."""
    if not config.pool.after_growth:
        return {}
    since = int(trainer.state()["pool_from"])
    return {"pool_from": None if since == NONE else since}
