"""Whatever the time limit, all that is asked is answered, and exit code 0 means that it is proved.

Limits are in looks at the clock, each a millisecond, so that time runs out at any of them.
"""

import itertools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import Op
from difflogic.formats.circuit_file import write_circuit
from difflogic.proof.convergence.findings import Convergence
from difflogic.system import deadline
from tests.difflogic.circuit.circuits import automaton, circuit_of
from tests.difflogic.proof.convergence.brute import right_from, step_all
from tests.difflogic.proof.convergence.test_one_side import drawn
from tests.marks import exhaustive
from tests.paths import GALLERY

SHIPPED = (
    ("addition --task addition", "the task"),
    ("sorting --task sorting", "the task"),
    ("../lizard-small --task lizard-small-heal --damage 3", "the task, damage"),
    ("game-of-life --task game-of-life", "the task"),
    (
        "checkerboard-tough-async --task checkerboard-tough-async --all-sizes --damage 2",
        "14×14 cells, all sizes, damage",
    ),
    ("checkerboard --size 5x4 --all-sizes", "5×4 cells, all sizes"),
)
"""Circuits of each method, with the experiment that they are for; and what is asked."""

MOST_BITS = 9
"""Of a state, to try all starts."""


def resting(made: Automaton, height: int, width: int) -> Convergence | None:
    """Ask for the state that a start of zeros ends in; None if it never settles."""
    state = np.zeros((1, made.circuit.channels, height, width), np.uint8)
    for _ in range(300):
        state = step_all(made.circuit, state, "zero")
    shown = list(made.visible_rows)
    target = state[0, shown]
    for _ in range(24):
        state = step_all(made.circuit, state, "zero")
        if (state[0, shown] != target).any():
            return None
    return Convergence.of(made, target)


def random_rule(rng: np.random.Generator) -> Automaton:
    """Return a circuit that reads all neighbours."""
    channels = int(rng.integers(1, 4))
    gates = [(int(rng.integers(16)), *rng.integers(0, 9 * channels, 2).tolist()) for _ in range(5)]
    outputs = rng.integers(9 * channels, 9 * channels + 5, channels).tolist()
    rate = float(rng.choice([1.0, 0.5]))
    return automaton(
        circuit_of(gates, outputs), visible=(0,), boundary="zero", fire_rate=rate, height=2, width=2
    )


def contradiction(made: Automaton, verdicts: dict[str, str]) -> str:
    """Compare verdicts on small grids with all starts; return what is wrong."""
    for height, width in itertools.product(range(1, 5), repeat=2):
        if height * width * made.circuit.channels > MOST_BITS or made.fire_rate < 1:
            continue
        asked = resting(made, height, width)
        right = asked is not None and right_from(asked) is not None
        said = {verdicts.get(f"{height}×{width} cells"), verdicts.get("all sizes")}
        if "proved" in said and not right:
            return f"{height}×{width} cells: proved, but some start misses the target"
        if verdicts.get(f"{height}×{width} cells") == "refuted" and right:
            return f"{height}×{width} cells: refuted, but all starts are right"
    return ""


def drawn_question(seed: int, rng: np.random.Generator) -> tuple[Automaton, str, list[str]]:
    """Draw a circuit, and what to ask of it: as options and in words."""
    made = drawn(seed).automaton if seed % 2 else random_rule(rng)
    sizes = [tuple(rng.integers(1, 4, 2).tolist()) for _ in range(rng.integers(3))]
    options = "".join(f" --size {y}x{x}" for y, x in sizes)
    asked = [f"{y}×{x} cells" for y, x in sizes or [(made.height, made.width)]]
    everywhere = bool(rng.integers(2))
    damaged = bool(rng.integers(4) == 0)
    options += " --all-sizes" * everywhere + " --damage 1" * damaged
    asked += ["all sizes"] * (everywhere or damaged) + ["damage"] * damaged
    return made, options, asked


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function after which looks at the clock are counted from 0."""

    def begin() -> None:
        looks = itertools.count()
        clock = SimpleNamespace(monotonic=lambda: next(looks) / 1000)
        monkeypatch.setattr(deadline, "time", clock)

    return begin


def ask(dct: Any, seed: int) -> str:
    """Ask one question with a drawn limit; return what is wrong with the answer."""
    rng = np.random.default_rng(seed)
    limit = 2 ** rng.uniform(-10, 1)
    made = None
    if seed % 5:
        made, options, asked = drawn_question(seed, rng)
        Path("made.json").write_text(write_circuit(made))
        source = f"made.json{options}"
    else:
        words, parts = SHIPPED[seed // 5 % len(SHIPPED)]
        source = f"{GALLERY}/{words.replace(' ', '.json ', 1)}"
        asked = parts.split(", ")
    result = dct(f"verify convergence {source} --time-limit {limit:.4f} --json")
    if result.exit_code == 2:
        return "" if made and "settle" in result.stderr else result.stderr
    found = result.json
    verdicts = found["verdicts"]
    if {*verdicts} != {*asked}:
        return f"asked {asked}, answered {verdicts}"
    parts = [each["verdict"] for each in found["findings"]]
    keys = {"the task": "assurance", "all sizes": "every_size", "damage": "damage"}
    parts += [found[keys[what]]["verdict"] for what in asked if what in keys]
    if sorted(parts) != sorted(verdicts.values()) and len({*asked}) == len(asked):
        return f"parts {parts}, verdicts {verdicts}"
    whole = set(verdicts.values()) == {"proved"}
    if (result.exit_code == 0, found["proved"]) != (whole, whole):
        return f"exit code {result.exit_code} of {verdicts}"
    if made is None:
        verdicts.pop("damage", None)  # a wound in the lizard does spread
        return "refuted" if "refuted" in verdicts.values() else ""
    return contradiction(made, verdicts)


@pytest.mark.thorough
@pytest.mark.parametrize("part", [0, *map(exhaustive, range(1, 11))])
def test_drawn_limits(dct, looking, part) -> None:
    for seed in range(50 * part, 50 * part + 50):
        looking()
        assert ask(dct, seed) == "", seed


def test_what_is_open_is_named(dct, looking) -> None:
    """A grid is proved, and time runs out before all sizes are looked at."""
    gates = [(Op.AND, 0, 0), (Op.OR, 3, 4), (Op.TRUE, 0, 0)]
    made = automaton(circuit_of(gates, [11]), boundary="zero", height=1, width=1)
    Path("made.json").write_text(write_circuit(made))
    looking()
    result = dct("verify convergence made.json --all-sizes --time-limit 0.012")
    assert "proved" in result.stdout.splitlines()[2]
    assert (
        "All sizes: not proved for every grid: the time was up.\nopen: all sizes" in result.stdout
    )
    assert result.exit_code == 1
