"""The results of a run: scores of its hard circuit, seconds per phase, versions, machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from difflogic.config import Config
from difflogic.evaluation.scores import Scores
from difflogic.run.metrics import History
from difflogic.run.summary import Summary
from difflogic.system import machine

if TYPE_CHECKING:
    from difflogic.experiment.searching import Trainer


def summarize(config: Config, trainer: Trainer, history: History, resumed: int) -> Summary:
    """Return the contents of summary.json: scores, seconds per phase, versions, machine.

    `config` is the run's own, and `resumed` the number of times it was resumed.
    """
    # Imported here, since it needs kernels, and readers of summaries do not.
    from difflogic.evaluation.final_scores import final_scores

    phases = trainer.phases
    finished = trainer.done
    with phases("tests"):
        tests = final_scores(trainer.result)
    account = phases.account
    last = history.rows[-1] if history.rows else None
    best = history.best(trainer.result_attempt)
    spent = dict(phases.seconds)
    seconds = {part: each for part, each in account.items() if part not in spent}
    found: dict[str, Any] = {
        "experiment": config.name,
        "seed": config.training.seed,
        "workers": trainer.descent.plan.workers,
        "plan": trainer.descent.plan.as_dict(),
        "epochs": trainer.epoch,
        "epochs_requested": config.training.epochs,
        "finished": finished,
        "interrupted": not finished,
        "resumed": resumed,
        "exact_epoch": trainer.exact_epoch,
        "searched": config.finishing.candidates > 0,
        "polished": trainer.gain and trainer.gain.as_dict(),
        "corrected": trainer.correction and trainer.correction.as_dict(),
        "scores": Scores(
            soft_loss=last.soft_loss if last else None,
            hard_loss=last.hard_loss if last else None,
            accuracy=last.accuracy if last else None,
            best_hard_loss=best.hard_loss if best else None,
            best_accuracy=best.accuracy if best else None,
            best_epoch=best.epoch if best else None,
            **tests,
        ),
        "seconds": {**seconds, "training": sum(spent.values()), "phases": spent},
        "versions": machine.versions(),
        "cpu": machine.cpu(),
    }
    if trainer.ranks.size > 1:
        found["ranks"] = trainer.ranks.size
    if config.training.restart_every:
        found["attempts"] = {"begun": trainer.descent.attempt, "result": trainer.result_attempt}
    return Summary.model_validate(found)
