"""All tests of `dct eval`, and what they find out about a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from difflogic.config import Config
from difflogic.evaluation.assurance import assure
from difflogic.evaluation.conditions import CONDITIONS
from difflogic.evaluation.exactness import EXACTNESS
from difflogic.evaluation.gates import GATES
from difflogic.evaluation.subject import CircuitTest, Subject
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError, did_you_mean
from difflogic.system.json_values import json_value
from difflogic.tasks import make_task

TESTS: dict[str, CircuitTest] = {test.name: test for test in (EXACTNESS, *CONDITIONS, GATES)}


def choose(config: Config, names: Sequence[str] = ()) -> list[CircuitTest]:
    """Return the tests called `names`, or all that apply to a configuration, in fixed order.

    Exactness is always among them. Raises ConfigError if there is no such test, or it does not
    apply.
    """
    task = make_task(config)
    for name in names:
        if name not in TESTS:
            raise ConfigError(f'no test "{name}": {did_you_mean(name, TESTS)}')
        reason = TESTS[name].refusal(task)
        if reason is not None:
            known = ", ".join(test.name for test in choose(config))
            raise ConfigError(
                f'test "{name}" does not apply to {config.name}: {reason}; those that do: {known}'
            )
    return [
        test
        for test in TESTS.values()
        if test.refusal(task) is None and (not names or test.name in {*names, EXACTNESS.name})
    ]


def evaluate(
    model: Model,
    tests: Sequence[str] = (),
    *,
    starts: int | None = None,
    seed: int | None = None,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> dict[str, Any]:
    """Measure the hard circuit of a model; return plain values, as `dct eval --json` prints them.

    `tests` are names out of TESTS, by default all that apply. `starts` replaces the number of
    starts of every scene that draws any. `seed` names all random streams, by default that of the
    model's configuration; results follow from the model, `starts` and `seed` alone. `progress`
    is called as each test begins, and at the end, with how many are done of how many. Raises
    ConfigError for a test that does not exist or apply.
    """
    config = model.config
    chosen = choose(config, tests)
    subject = Subject(model, config.training.seed if seed is None else seed, starts)
    found: dict[str, dict[str, Any]] = {}
    for done, test in enumerate(chosen):
        progress(done, len(chosen), test.name)
        found[test.name] = json_value({"about": test.about, **test.run(subject)})
    progress(len(chosen), len(chosen), "")
    refused = {test.name: test.refusal(subject.task) for test in TESTS.values()}
    return {
        "experiment": config.name,
        "task": subject.task.name,
        "training_seed": config.training.seed,
        "seed": subject.seed,
        "exact": found[EXACTNESS.name]["exact"],
        "assurance": json_value(assure(model)),
        "published": config.published.model_dump(exclude_none=True),
        "tests": found,
        "not_applicable": {name: reason for name, reason in refused.items() if reason is not None},
    }
