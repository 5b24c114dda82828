"""The results of a training run, for scripts: the contents of summary.json."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from difflogic.config import Config
from difflogic.evaluation import evaluate, held_out
from difflogic.evaluation.assurance import assure
from difflogic.evaluation.exactness import EXACTNESS
from difflogic.model.model import Model
from difflogic.system import machine
from difflogic.system.json_values import json_value
from difflogic.tasks import task_class
from difflogic.training.metrics import History
from difflogic.training.trainer import Trainer


def final_scores(model: Model) -> dict[str, Any]:
    """Score the hard circuit that a run ends with.

    `held_out` has the counts on held-out starts, and `assurance` what is proved. For a task whose
    target moves on, `exactness` has the counts on all cases and in a random soup.
    """
    scores = {"held_out": held_out(model), "assurance": json_value(assure(model))}
    if task_class(model.config.task).moves_on():
        scores["exactness"] = evaluate(model, [EXACTNESS.name])["tests"][EXACTNESS.name]
    return scores


def summarize(
    config: Config, trainer: Trainer, history: History, resumed: int, processor: float
) -> dict[str, Any]:
    """Return what summary.json holds: scores, seconds per phase, versions, machine.

    `config` is the run's, not that of its last part; `resumed` counts how often it was resumed,
    and `processor` the processor seconds since then.
    """
    phases, finished = trainer.phases, trainer.done
    last, best = history.rows[-1] if history.rows else None, history.best
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
        **_attempts(config, trainer),
        "polished": None if trainer.gain is None else asdict(trainer.gain),
        "scores": {
            "soft_loss": last.soft_loss if last else None,
            "hard_loss": last.hard_loss if last else None,
            "accuracy": last.accuracy if last else None,
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


def _attempts(config: Config, trainer: Trainer) -> dict[str, Any]:
    """Return the number of attempts and the one of the result, if the run starts over."""
    if not config.training.restart_every:
        return {}
    return {"attempts": {"begun": trainer.attempt, "result": trainer.result_attempt}}
