"""Proofs about every start, every case, and every step of the only start."""

from dataclasses import replace

import numpy as np
import pytest

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.specification import Cases
from difflogic.config import load_config
from difflogic.evaluation.assurance import WOUND, assure_automaton, keeps, listed
from difflogic.evaluation.circuit_test import Subject, exactness
from difflogic.formats.circuit_file import read_circuit
from difflogic.proof.cases import ListedStarts
from difflogic.proof.convergence import orbits
from difflogic.proof.prover import prove
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.json_values import json_value
from difflogic.tasks import make_task
from tests.difflogic.circuit.circuits import automaton, circuit_of
from tests.difflogic.library.test_signals import tough_checkerboard
from tests.difflogic.proof.convergence.trained import trained
from tests.difflogic.proof.mutants import Posed
from tests.paths import GALLERY


def task_of(name: str, *overrides: str):
    return make_task(load_config(name, list(overrides)))


@pytest.mark.parametrize(
    ("name", "unit", "since"), [("checkerboard", "step", 18), ("checkerboard-async", "round", 19)]
)
def test_every_start_is_proved(name: str, unit: str, since: int) -> None:
    found = assure_automaton(trained(f"{name}-seed-1"), task_of(name))
    assert found.text == f"proved for every start from {unit} {since} on"
    known = (found.method, found.from_step, found.any_schedule)
    assert known == ("sets of values", since, True)


@pytest.mark.once
@pytest.mark.parametrize("fire_rate", [0.6, 1.0])
def test_damage_after_every_start(fire_rate: float) -> None:
    """If all cells fire at each step, a proof for any order says more."""
    automaton = tough_checkerboard(fire_rate)
    task = task_of("checkerboard-tough")
    plain = assure_automaton(automaton, task)
    found = assure_automaton(automaton, task, wound=WOUND)
    assert (plain.confined, found.confined) == (None, True)
    assert found.text == plain.text + (
        "; a wound of 10×10 cells with any content at least 1 cell from the edges never "
        "reaches a cell outside it, and is closed after 19 rounds, under any fair schedule, on "
        "every grid"
    )
    found = assure_automaton(automaton, task, wound=Wound(2, zeros=False))
    assert (found.verdict, found.confined) == (Verdict.proved, False)
    assert "; fails: on " in found.text


def test_some_start_is_refuted() -> None:
    automaton = trained("checkerboard-seed-1")
    ops = automaton.circuit.op.copy()
    ops[0] = Op.FALSE
    circuit = automaton.circuit
    spoiled = Circuit(ops, circuit.a, circuit.b, circuit.outputs, circuit.labels)
    found = assure_automaton(automaton.with_circuit(spoiled), task_of("checkerboard"))
    assert found.text == "fails: some starts keep missing the target"
    assert not found.proved


def life() -> Automaton:
    return read_circuit(GALLERY / "game-of-life.json")


def test_every_case_is_proved() -> None:
    found = assure_automaton(life(), task_of("game-of-life"))
    assert (found.text, found.scope) == ("proved for all 512 boards", "every case")


def test_some_cases_are_refuted() -> None:
    """A board that is right has no cell that lives with more than three neighbours."""
    found = assure_automaton(life(), task_of("game-of-life", 'task.rule="B3/S234"'))
    boards = (np.arange(512)[:, None] >> np.arange(9) & 1).sum(axis=1)
    assert found.text == f"fails on {(boards == 5).sum()} of 512 boards"
    assert found.from_step is None


def test_cells_that_may_not_fire() -> None:
    found = assure_automaton(replace(life(), fire_rate=0.5), task_of("game-of-life"))
    assert found.text == "not proved: all cells fire in its cases, and not in the circuit"
    cases = task_of("game-of-life").find_cases()
    assert cases is not None
    asked = ListedStarts(replace(life(), fire_rate=0.5), cases, 1)
    assert found.verdict is prove(asked).verdict is Verdict.open


ONES = """task.target=\"\"\"\n{}\"\"\"""".format("#####\n" * 5)
WIDE = (ONES, "task.height=5", "task.width=5", "task.hold=true")
LATER = "proved at step 2 and at every later one"


def dot(gates, outputs, *more: str, steps: int = 2, boundary="periodic"):
    """A circuit, and the task to show one cell in the middle of 3×3."""
    task = task_of(
        "lizard",
        "task.target=...\n.#.\n...",
        "task.height=3",
        "task.width=3",
        "automaton.channels=1",
        f"automaton.steps={steps}",
        "perception.kernels=1",
        "update.gates=[1]",
        "task.loss_channels=[0]",
        *more,
    )
    circuit = circuit_of(gates, outputs)
    return Automaton("dot", circuit, (0,), boundary, 3, 3, steps, 1.0, "center"), task


# One cell in the middle of 3×3


def assured(gates, outputs, *more: str, **keys):
    return assure_automaton(*dot(gates, outputs, *more, **keys))


@pytest.mark.parametrize(
    ("gates", "more", "verdict", "text", "from_step", "period"),
    [
        ([], (), "proved", LATER, 0, 1),
        # Once around the torus in three steps.
        (
            [(Op.A, 3, 3)],
            ("automaton.steps=3",),
            "proved",
            "proved at step 3, not at every later one; states repeat with period 3",
            None,
            3,
        ),
        (
            [(Op.FALSE, 3, 3)],
            (),
            "refuted",
            "fails at step 2; states repeat with period 1",
            None,
            1,
        ),
        ([], ("task.hold=true",), "proved", LATER, 0, 1),
        (
            [(Op.A, 3, 3)],
            ("automaton.steps=3", "task.hold=true"),
            "refuted",
            "fails after step 3, where it is right; states repeat with period 3",
            None,
            3,
        ),
    ],
)
def test_what_is_said_of_the_only_start(gates, more, verdict, text, from_step, period) -> None:
    found = assured(gates, [9 if gates else 4], *more)
    said = (found.verdict, found.text, found.from_step, found.period, found.healing)
    assert said == (verdict, text, from_step, period, ())
    assert found.asked is not None
    assert found.asked.starts == "one cell"


def test_damage_that_stays() -> None:
    found = assured([], [4], "task.hold=true", "task.heal=[1,2]")
    assert not found.proved
    assert found.text == f"fails: 5 of 18 cases of damage do not heal; {LATER}"
    one, two = json_value(found.healing)
    assert (one["side"], one["damages"], one["lasting"], one["within"]) == (1, 9, 1, 0)
    assert one["steps"] == [0, 0, 0, 0, -1, 0, 0, 0, 0]
    assert (two["lasting"], two["steps"].count(-1)) == (4, 4)


def test_a_wrong_cycle_is_repeated_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orbits, "plain_step", lambda question, state: 1 - state)
    with pytest.raises(RuntimeError, match="the plain interpreter disagrees"):
        assured([], [4], "task.hold=true", "task.heal=[1]")


@pytest.mark.parametrize(("op", "within"), [(Op.TRUE, "1 step"), (Op.OR, "2 steps")])
def test_damage_that_grows_back(op: int, within: str) -> None:
    """Ones everywhere at once, or from the west and from the centre."""
    found = assured([(op, 3, 4), (Op.OR, 9, 1)], [10], *WIDE, "task.heal=[2]", steps=8)
    assert found.text == (
        f"proved at step 8 and at every later one, and at most {within} after each of 25 "
        "cases of damage"
    )


def test_what_heals_from_every_state_is_proved_at_once() -> None:
    found = assured([(Op.TRUE, 0, 0)], [9, 18], *WIDE, *TWO, "task.heal=[2]", steps=8)
    assert (found.verdict, found.method) == (Verdict.proved, "sets of values")


@pytest.mark.parametrize("steps", [2, 3])
def test_every_state_of_a_cycle_is_damaged(steps: int) -> None:
    """Channel 1 blinks. A cell is mended where it blinks in time with its western neighbour.

    Zeros are out of time after odd steps only.
    """
    found = assured(
        [(Op.XNOR, 9, 7), (Op.OR, 8, 18), (Op.NOT_A, 9, 9)],
        [19, 20],
        *WIDE,
        "task.start=zeros",
        "task.heal=[1]",
        "automaton.channels=2",
        "update.gates=[4,3,2]",
        steps=steps,
    )
    assert found.text.startswith("fails: 25 of 25 cases of damage do not heal; ")
    assert found.healing[0].states == 2


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (
            "MOST_ALONE",
            "not proved: 1 of 9 cases of damage may heal later than they were followed: "
            f"dct verify convergence --time-limit goes on; {LATER}",
        ),
        ("MOST_RESTING", f"{LATER}; it has too many states to damage each of them"),
    ],
)
def test_a_limit_leaves_it_open(monkeypatch: pytest.MonkeyPatch, limit: str, text: str) -> None:
    monkeypatch.setattr(f"difflogic.proof.cases.{limit}", 0)
    found = assured([], [4], "task.hold=true", "task.heal=[1]")
    assert (found.verdict, found.text) == (Verdict.open, text)


def of_starts(circuit, starts, targets, step: int, holds: bool = False):
    """Ask about a list of starts, with zeros beyond the edges."""
    made = automaton(circuit, visible=(0,), boundary="zero")
    cases = Cases("both", starts, targets, "zero", step, "")
    return prove(ListedStarts(made, cases, step, holds=holds)).assurance


@pytest.mark.parametrize("order", [1, -1])
def test_the_worst_of_several_starts_decides(order: int) -> None:
    """Cells keep their bits: zeros stay, and so do ones, which should not."""
    starts = np.zeros((2, 1, 2, 2), np.uint8)
    starts[1] = 1
    found = of_starts(circuit_of([], [4]), starts[::order], 0 * starts, 3, holds=True)
    assert (found.verdict, found.from_step) == (Verdict.refuted, None)


@pytest.mark.parametrize(
    ("circuit", "starts", "step", "text"),
    [
        # All cells blink: they are right at even steps.
        (circuit_of([(Op.NOT_A, 4, 4)], [9]), [[0], [1]], 2, "proved for both"),
        # A one passes: zeros are shown at steps 0 and 1, not at 2, and from 3 on.
        (
            circuit_of([(Op.FALSE, 0, 0)], [13, 14, 27]),
            [[0, 0, 1]],
            1,
            "proved at step 1, and at every one from step 3 on",
        ),
    ],
)
def test_a_target_that_comes_back_was_not_kept(circuit, starts, step: int, text: str) -> None:
    cells = np.array(starts, np.uint8)[..., None, None]
    kept, shown = (of_starts(circuit, cells, cells[:, :1], step, holds) for holds in (True, False))
    assert (kept.verdict, shown.verdict) == (Verdict.refuted, Verdict.proved)
    assert shown.text == text


HALF = ["task.computes=parity", "task.loss_channels=[1]", "task.inputs=[0]", "task.stages=[]"]
HALF += ["task.width=2", "automaton.steps=2"]
TWO = ("automaton.channels=2", "update.gates=[2]")


def half_parity(channels: int) -> Automaton:
    """Each cell adds its bit to that of the right one only, and to those of unread channels."""
    own = 4 * channels
    east = 5 * channels
    ors = [(Op.OR, own + n, 9 * channels + n - 2) for n in range(2, channels)]
    gates = [(Op.XOR, own, east), *ors]
    outputs = [own, 10 * channels - 2, *range(own + 2, own + channels)]
    return Automaton("half", circuit_of(gates, outputs), (1,), "zero", 1, 2, 2, 1.0, "zeros")


AROUND = [(Op.A, 3, 3)]
"""Once around the torus in three steps."""


def shown_at_step_2(later: int, stays: bool):
    """A circuit that shows zeros for two steps, then `later`, and a task that lists this start."""
    zeros = np.zeros((1, 3, 2, 2), np.uint8)
    task = Posed(zeros, zeros[:, :1])
    task.stays = stays
    task.cases = lambda: Cases("one", zeros, zeros[:, :1], "zero", 2, "")
    circuit = circuit_of([(Op.TRUE if later else Op.FALSE, 0, 0)], [14, 27, 13])
    return Automaton("shown", circuit, (0,), "zero", 2, 2, 2, 1.0, "zeros"), task


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (lambda: dot(AROUND, [9], steps=3), True),
        # Whatever the start, all cells are ones from step 2 on, which may be too late.
        (lambda: dot([(Op.TRUE, 0, 0)], [9, 18], *WIDE, *TWO, steps=1), False),
        (lambda: dot([(Op.TRUE, 0, 0)], [9, 18], *WIDE, *TWO, steps=2), True),
        # Nothing is known of other channels than those that the task compares.
        (lambda: dot([], [8, 9], "task.hold=true", "task.loss_channels=[1]", *TWO), False),
        (lambda: (trained("checkerboard-seed-1"), task_of("checkerboard")), True),
        (lambda: (trained("checkerboard-seed-1"), task_of("checkerboard-tough")), False),
        (lambda: shown_at_step_2(1, stays=True), False),
        (lambda: shown_at_step_2(1, stays=False), True),
        (lambda: shown_at_step_2(0, stays=True), True),
        (lambda: (half_parity(4), task_of("addition", *HALF)), False),
        # A line with too many channels is neither proved nor refuted.
        (lambda: (half_parity(7), task_of("addition", *HALF)), True),
    ],
)
def test_what_an_exact_circuit_must_keep(asked, kept: bool) -> None:
    assert keeps(*asked()) == kept


@pytest.mark.parametrize(("free", "proved"), [(np.nan, True), (0, False)])
def test_cells_that_do_not_count_may_show_anything(free: float, proved: bool) -> None:
    starts = np.zeros((2, 1, 2, 2), np.uint8)
    targets = np.ones((2, 1, 2, 2))
    starts[1] = 1
    targets[:, 0, 0, 1] = free
    assert of_starts(circuit_of([(Op.TRUE, 0, 0)], [9]), starts, targets, 2).proved == proved


@pytest.mark.parametrize(
    ("random", "target", "proved"),
    [(False, 0, True), (True, 0, False), (False, np.nan, False), (False, 0.5, False)],
)
def test_one_start_proves_a_task_that_has_one_and_bits_as_target(
    random: bool, target: float, proved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Posed, "has_random_start", random)
    made, task = shown_at_step_2(0, stays=False)
    task.cases = lambda: None
    task.targets = np.zeros((1, 1, 2, 2))
    task.targets[..., 0] = target
    assert assure_automaton(made, task).proved == proved


def test_cases_of_another_boundary_prove_nothing() -> None:
    task = task_of("game-of-life")
    cases = task.find_cases()
    assert cases is not None
    made = replace(life(), boundary="zero")
    assert prove(listed(made, task, cases)).verdict is Verdict.proved
    found = prove(listed(made, task, replace(cases, repeats=None)))
    assert found.verdict is Verdict.open
    assert "the cases have a periodic boundary, the circuit another" in found.assurance.text


def test_a_line_that_fails_on_other_lengths_is_not_exact() -> None:
    found = exactness(Subject(half_parity(4), load_config("addition", HALF), 0))
    assert not any(count.wrong_cells for count in found["counts"])
    assert found["exact"] is False


def test_samples_alone() -> None:
    automaton = replace(trained("checkerboard-seed-1"), fire_rate=0.5, start="center")
    task = task_of("lizard", "automaton.fire_rate=0.5")
    found = assure_automaton(automaton, task)
    assert (found.scope, found.proved) == ("samples", False)
