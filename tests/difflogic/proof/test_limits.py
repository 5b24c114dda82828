"""No limit makes a verdict wrong: each, set to 1 or to its first value, may only leave it open."""

import ast
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import Op
from difflogic.evaluation.assurance import assure_automaton
from difflogic.library.joining import join
from difflogic.proof import decide_equality
from difflogic.proof.answer import TIME_IS_UP, Answer, Budget, Method
from difflogic.proof.convergence.confinement import Ground, confine
from difflogic.proof.convergence.every_size import EverySize, Plane
from difflogic.proof.convergence.findings import Convergence, MethodRun
from difflogic.proof.convergence.methods import SETS, UNROLLED, answer_of, by_sets
from difflogic.proof.convergence.sets import UNKNOWN
from difflogic.proof.decided import Extent
from difflogic.proof.joined import decide_regions
from difflogic.proof.prover import confined
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import Deadline
from difflogic.system.errors import OutOfTimeError
from tests.difflogic.circuit.circuits import automaton, circuit_of, same_next_states
from tests.difflogic.proof.asking import decide, every_size
from tests.difflogic.proof.convergence.brute import right_from, zeros
from tests.difflogic.proof.mutants import CLAIMS, FIELDS, Posed, judge, mutant, pair, picking
from tests.difflogic.system.clocks import Clock
from tests.paths import ROOT

PLACES = ("proof", "evaluation/assurance.py")
"""Where verdicts are made."""

NO_LIMITS = {
    "BESIDE",  # rows of the smallest grids
    "CASES_AT_ONCE",  # the size of a piece
    "CENTER",  # a neighbour's number
    "EAST",  # a neighbour's number
    "FORMAT",  # a name
    "GO_ON",  # words
    "METHODS",  # the prover's, in order
    "MIXED",  # numbers of a hash
    "MOST_VALUES",  # refuses to write a file
    "LASTING",  # stands for no number
    "NO_ARRIVAL",  # stands for no number
    "QUICK",  # a budget
    "SET_SIGNS",  # letters of a file
    "STRIDE",  # how many windows are left out
    "TOO_MANY",  # words
    "NOT_KNOWN",  # stands for no number
    "UNKNOWN",  # stands for no number
    "VERSION",  # of a format
    "WORD_CELLS",  # bits of one
    "WAYS",  # all ways to erase neighbours
    "WEST",  # a neighbour's number
}


@cache
def constants() -> dict[str, str]:
    """Return the module of each constant, by module and name."""
    root = ROOT / "difflogic"
    found = {}
    for place in PLACES:
        path = root / place
        for file in [path] if path.suffix else sorted(path.rglob("*.py")):
            module = ".".join(file.relative_to(root.parent).with_suffix("").parts)
            for node in ast.parse(file.read_text()).body:
                targets = node.targets if isinstance(node, ast.Assign) else []
                for name in (each for target in targets for each in ast.walk(target)):
                    if isinstance(name, ast.Name) and name.id.isupper():
                        found[f"{module.removeprefix('difflogic.')}.{name.id}"] = module
    return found


def value_of(limit: str) -> Any:
    return getattr(import_module(constants()[limit]), limit.rpartition(".")[2])


def limits() -> list[str]:
    names = [name for name in constants() if name.rpartition(".")[2] not in NO_LIMITS]
    return [name for name in names if not isinstance(value_of(name), Method)]


def shrink(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """Set a limit to its least in every module that has it, and in the defaults of functions."""
    name = limit.rpartition(".")[2]
    value = value_of(limit)
    least = value[:1] if isinstance(value, tuple | range) else type(value)(1)
    for module in [each for key, each in sys.modules.items() if key.startswith("difflogic.")]:
        if vars(module).get(name) is value:
            monkeypatch.setattr(module, name, least)
        for function in list(vars(module).values()):
            defaults = getattr(function, "__defaults__", None) or ()
            if value not in (0, 1) and any(each is value for each in defaults):
                changed = tuple(least if each is value else each for each in defaults)
                monkeypatch.setattr(function, "__defaults__", changed)


@cache
def suite() -> list[tuple[Automaton, Posed]]:
    """Return questions of each kind, and mutants of them; always the same."""
    pick = picking(0)
    pairs = [pair(pick, claim) for claim in CLAIMS]
    return pairs + [mutant(pick, *each, pick(FIELDS)) for each in pairs]


def check_all() -> int:
    """Ask everything; return how many answers are open."""
    still_open = 0
    for made, task in suite():
        found = assure_automaton(made, task)
        assert judge(made, task, found, limited=True) == ""
        still_open += found.verdict is Verdict.open
        if task.claim == "stays":
            goal = Convergence.of(made, task.targets[0])
            answer = decide(goal, 5).verdict
            truth = right_from(goal)
            wrong = Verdict.proved if truth is None else Verdict.refuted
            assert answer is not wrong or made.fire_rate < 1
    for (one, _), (other, _) in zip(suite(), suite()[len(suite()) // 2 :], strict=False):
        if one.circuit.labels == other.circuit.labels:
            answer = decide_equality(one.circuit, other.circuit, one.visible).verdict
            same = same_next_states(one.circuit, other.circuit)
            assert answer is not (Verdict.refuted if same else Verdict.proved)
    return still_open


def test_every_constant_is_known() -> None:
    assert {name.rpartition(".")[2] for name in constants()} >= NO_LIMITS
    assert len(limits()) > 20


def test_without_changes_little_is_open() -> None:
    assert check_all() < len(suite()) // 2


@pytest.mark.once
@pytest.mark.parametrize("limit", limits())
def test_the_least(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    shrink(monkeypatch, limit)
    check_all()


@pytest.mark.parametrize("limit", [name for name in limits() if ".every_size." in name])
def test_larger_grids(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    shrink(monkeypatch, limit)

    def columns(height: int, width: int) -> np.ndarray:
        return np.broadcast_to((np.arange(width) + 1) % 2, (1, height, width)).astype(np.uint8)

    made = automaton(circuit_of([(Op.NOT_A, 3, 3)], [9]), boundary="zero")
    deadline = Deadline.after(1.0)
    table = every_size(made, columns, 2, deadline).table
    for size in ((20, 30), (1, 25)):
        step = by_sets(Convergence.of(made, columns(*size))).from_step
        assert table is None or step <= table.from_step(*size)
    forgets = automaton(circuit_of([(Op.FALSE, 0, 0)], [9]), boundary="zero")
    assert every_size(forgets, columns, 2, deadline).table is None


def last_look(ask: Callable[[Clock], object]) -> Clock:
    """Return a clock that passes when it is looked at for the last time."""
    whole = Clock()
    ask(whole)
    return Clock(most=whole.looks - 1)


def test_a_search_for_a_witness_that_was_cut_off_says_so() -> None:
    """Two hidden bits are equal, which sets do not know: there is no witness."""
    circuit = circuit_of([(Op.A_AND_NOT_B, 10, 11)], [27, 13, 13])
    target = zeros(4, 6)
    question = Convergence(circuit, (0,), 4, 6, "zero", target)
    ground = Ground(np.concatenate([target, np.full((2, 4, 6), UNKNOWN, np.uint8)]))
    late = last_look(lambda clock: confine(question, Wound(1), ground, clock))
    for clock, reason in ((Clock(), ""), (late, TIME_IS_UP)):
        found = confine(question, Wound(1), ground, clock)
        assert (found.verdict, found.reason) == (Verdict.open, reason)


def test_a_witness_that_was_not_followed_in_time_does_not_pass_for_none() -> None:
    """A cell that blinks has a wrong state, which comes back after two steps."""
    blinking = circuit_of([(Op.NOT_A, 4, 4)], [9])
    question = Convergence(blinking, (0,), 1, 1, "zero", zeros(1, 1))
    before = answer_of(by_sets(question))

    def ask(clock: Clock) -> Answer | str:
        return UNROLLED.decide(question, Budget(clock), before)

    found = ask(Clock())
    assert found.verdict is Verdict.refuted
    with pytest.raises(OutOfTimeError):
        ask(last_look(ask))


@pytest.mark.parametrize(
    ("outcome", "seconds", "reason"),
    [
        ("too coarse", 60.0, "it is not proved by sets that every start settles"),
        (TIME_IS_UP, 60.0, TIME_IS_UP),
        ("too coarse", -1.0, TIME_IS_UP),
    ],
)
def test_damage_is_open_for_want_of_time_if_sets_were(
    outcome: str, seconds: float, reason: str
) -> None:
    made = automaton(circuit_of([], [4]), boundary="zero")
    plane = Plane(made, zeros, 1)
    finding = by_sets(Convergence.of(made, plane.target(2, 2)))
    one = replace(finding, attempts=(MethodRun(SETS.name, outcome, 0.0),))
    everywhere = EverySize(plane, reason="rows and columns do not repeat")
    found = confined(everywhere, one, Wound(1), Budget(Deadline.after(seconds)))
    assert (found.verdict, found.reason) == (Verdict.open, reason)


def test_a_part_that_was_not_proved_in_time_says_so() -> None:
    """What a part ends in is known at once; that every start ends there takes some steps."""
    corner = circuit_of([(Op.NOR, 1, 3)], [9])
    parts = [automaton(circuit, boundary="zero", height=5, width=5) for circuit in (corner, corner)]
    made = join(parts).automaton
    late = Budget(Deadline.after(-1.0))
    found = decide_regions(made, Extent(), late, lambda same, _: same).assurance
    assert found.verdict is Verdict.open
    assert "not proved for every start: the time was up" in found.text
