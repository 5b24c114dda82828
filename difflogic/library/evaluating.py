"""What a circuit does, and how well: `inspect` and `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence

from difflogic import inspection
from difflogic.config import Config
from difflogic.evaluation import exactness
from difflogic.evaluation.battery import run_tests
from difflogic.evaluation.scores import Checked, Evaluation
from difflogic.inspection import Inspection
from difflogic.library.loaded import Source, experiment_of, load, load_trusted, require_same
from difflogic.library.simplifying import small_form
from difflogic.system.declaration import SecondsOption, Seed, Starts, checked
from difflogic.system.errors import ConfigError
from difflogic.system.work import tell


@checked
def inspect(
    source: Source, *, unsimplified: bool = False, time_limit: SecondsOption | None = None
) -> Inspection:
    """Find equations and symmetries.

    The circuit of a run or a model is simplified first, unless `unsimplified`. Raises what `load`
    raises, and ProofError if the simplified circuit cannot be proved equal.
    """
    loaded = load(source)
    automaton = loaded.automaton
    if not unsimplified:
        automaton = small_form(loaded, time_limit=time_limit)

    tell("inspecting: part", 0, 1, "symmetries")
    seconds = 10.0 if time_limit is None else time_limit
    return inspection.inspect(automaton, seconds)


@checked
def check(source: Source) -> Checked:
    """Count the wrong cells of a model's hard circuit, as each run does at its end.

    `tested` says on which starts. `exact` is what the glossary says. Raises what `load` raises, and
    ConfigError for a circuit, which has no task.
    """
    return exactness.check(load(source).require_model())


@checked
def evaluate(
    source: Source,
    tests: Sequence[str] = (),
    *,
    task: Config | str | None = None,
    starts: Starts = None,
    seed: Seed | None = None,
    allow_code: bool = False,
) -> Evaluation:
    """Test a hard circuit on fresh starts, larger grids, with damage, and so on.

    `tests` are names as in `dct eval`, by default all that apply. A circuit file is tested on
    `task`, an experiment or its name. `starts` is the number of starts per test; `seed` is that of
    training by default. `allow_code` allows the code of a run's or model's custom task to run.
    Raises what `load` raises, and ConfigError for an experiment or tests that do not exist or
    apply.
    """
    loaded = load_trusted(source, allow_code)
    config = experiment_of(loaded, task)
    found = loaded.model or loaded.automaton
    if config is None:
        raise ConfigError(f"{loaded.name}: is a circuit: --task names what to test it on")
    require_same("fire_rate", config, loaded)
    return run_tests(found, tests, config=config, starts=starts, seed=seed)
