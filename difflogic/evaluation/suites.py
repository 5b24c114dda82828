"""All suites, and what they find out about a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from difflogic.config import Config
from difflogic.errors import ConfigError, did_you_mean
from difflogic.evaluation.asynchronous import ASYNCHRONOUS
from difflogic.evaluation.counts import Count
from difflogic.evaluation.damage import FAULT, HEALING
from difflogic.evaluation.exactness import EXACTNESS
from difflogic.evaluation.gates import GATES
from difflogic.evaluation.generalisation import GENERALISATION
from difflogic.evaluation.robustness import ROBUSTNESS
from difflogic.evaluation.suite import Subject, Suite
from difflogic.model import Model

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (EXACTNESS, GENERALISATION, FAULT, HEALING, ASYNCHRONOUS, ROBUSTNESS, GATES)
}


def choose(config: Config, names: Sequence[str] = ()) -> list[Suite]:
    """Return the suites called `names`, or all that apply to a configuration, in fixed order.

    Exactness is always among them. Raises ConfigError if there is no such suite, or it does not
    apply.
    """
    for name in names:
        if name not in SUITES:
            raise ConfigError(f'no suite "{name}": {did_you_mean(name, SUITES)}')
        reason = SUITES[name].refuse(config)
        if reason is not None:
            known = ", ".join(suite.name for suite in choose(config))
            raise ConfigError(
                f'suite "{name}" does not apply to {config.name}: {reason}; those that do: {known}'
            )
    return [
        suite
        for suite in SUITES.values()
        if suite.refuse(config) is None and (not names or suite.name in {*names, EXACTNESS.name})
    ]


def evaluate(
    model: Model,
    suites: Sequence[str] = (),
    *,
    starts: int | None = None,
    seed: int | None = None,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> dict[str, Any]:
    """Measure the hard circuit of a model; return plain values, as `dct eval --json` prints them.

    `suites` are names out of SUITES, by default all that apply. `starts` replaces the number of
    starts of every scene that draws any. `seed` names all random streams, by default that of the
    model's configuration; results follow from the model, `starts` and `seed` alone. `progress`
    is called as each suite begins, and at the end, with how many are done of how many. Raises
    ConfigError for a suite that does not exist or apply.
    """
    config = model.config
    chosen = choose(config, suites)
    subject = Subject(model, config.training.seed if seed is None else seed, starts)
    found: dict[str, dict[str, Any]] = {}
    for done, suite in enumerate(chosen):
        progress(done, len(chosen), suite.name)
        found[suite.name] = {"about": suite.about, **_plain(suite.run(subject))}
    progress(len(chosen), len(chosen), "")
    refused = {suite.name: suite.refuse(config) for suite in SUITES.values()}
    return {
        "experiment": config.name,
        "task": config.task.kind,
        "training_seed": config.training.seed,
        "seed": subject.seed,
        "exact": found[EXACTNESS.name]["exact"],
        "published": config.published.model_dump(exclude_none=True),
        "suites": found,
        "not_applicable": {name: reason for name, reason in refused.items() if reason is not None},
    }


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    counts = found.get("counts")
    if counts is None:
        return found
    rows = [count.as_dict() if isinstance(count, Count) else count for count in counts]
    return {**found, "counts": rows}
