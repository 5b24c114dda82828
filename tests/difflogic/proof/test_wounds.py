"""Damage, drawn and by hand: no verdict differs from what all states and contents do."""

from dataclasses import replace

import numpy as np
import pytest

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.live_part import live_part
from difflogic.circuit.specification import Cases
from difflogic.library.groups import Claims
from difflogic.library.proving import certify
from difflogic.library.signals import rule
from difflogic.proof.answer import TIME_IS_UP, Budget, Confinement
from difflogic.proof.cases import ListedStarts
from difflogic.proof.convergence.confinement import Ground, confine
from difflogic.proof.convergence.every_size import Plane, refute
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import by_sets
from difflogic.proof.convergence.sets import as_array
from difflogic.proof.prover import confined, prove
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import Deadline
from difflogic.system.errors import ConfigError
from tests.difflogic.proof.convergence.brute import number, step_all, zeros
from tests.difflogic.proof.mutants import Pick, picking, random_circuit
from tests.difflogic.proof.wounds import harm, replay, settled


def tied(nw, n, ne, w, c, e, sw, s, se):
    return w[0] & ~(c[1] | c[9]), c[1], ~c[1], *c[2:9]


def grow(nw, n, ne, w, c, e, sw, s, se):
    return (c[0] | w[0],)


def test_nothing_is_said_of_a_torus_where_wounds_may_come_back() -> None:
    made = rule(grow, 1, size=(1, 6), boundary="periodic", start="zeros", steps=14)
    with pytest.raises(ConfigError, match="with a zero boundary"):
        certify(made, Claims(damage=1))
    calm = zeros(1, 6)
    found = confine(Convergence.of(made, calm), Wound(1), Ground(calm))
    assert found.verdict is Verdict.open
    assert found.text.endswith(": only grids with zeros beyond their edges are tried")


def test_after_the_deadline_the_reason_is_the_time() -> None:
    """Nothing was known yet of a start, a grid or all grids: each may still be proved, or fail."""
    made = rule(grow, 1, size=(1, 12), start="center", steps=14)
    start = np.eye(1, 12, 6, dtype=np.uint8)[None, None]
    cases = Cases("the only start", start, start.cumsum(axis=-1), "zero", 14, "")
    late = Budget(Deadline.after(-1.0))
    reasons = []
    for budget in (Budget(Deadline.after(60.0)), late):
        found = prove(ListedStarts(made, cases, 14, wound=Wound(1)), budget).confinement
        reasons.append(found.reason)
    assert reasons == ["", TIME_IS_UP]
    plane = Plane(made, zeros, 1, wound=Wound(1))
    everywhere = refute(plane, [(1, 2)], late)
    assert everywhere.reason == TIME_IS_UP
    assert confined(everywhere, None, Wound(1), late).reason == TIME_IS_UP


@pytest.mark.thorough
def test_no_witness_begins_where_no_start_leads() -> None:
    """Settled, the last of the chain is 1 where the held channel is 0: the wound stays local."""
    made = rule(tied, 10, size=(8, 12))
    found = certify(made, Claims(damage=2, contents="any")).confinement
    assert found.verdict is Verdict.open


def drawn(pick: Pick) -> tuple[Confinement, bool]:
    """Draw a question of damage, and compare the answer; return it, and whether it is decided."""
    channels = pick((1, 2, 2, 3))
    size = pick(((1, 3), (1, 4), (2, 2)) if channels > 2 else ((1, 4), (2, 2), (2, 3), (1, 6)))
    boundary = pick(("zero", "zero", "zero", "periodic"))
    rate = pick((1.0, 1.0, 0.5))
    shown = tuple(sorted({pick(range(channels)) for _ in range(channels)}))
    made = Automaton(
        "drawn", random_circuit(pick, channels), shown, boundary, *size, 60, rate, "zeros"
    )
    small = live_part(made)
    side = pick((1, 1, 2))
    wound = Wound(side, pick((0, 1, 2)), pick((0, 0, 1)), pick((True, False)))
    start = np.zeros((channels, *size), np.uint8)
    start[:, size[0] // 2, size[1] // 2] = pick((0, 1))
    start, state = start[list(small.circuit.labels)], start[list(small.circuit.labels)]
    for _ in range(60):
        state = step_all(small.circuit, state[None], boundary)[0]
    question = Convergence.of(small, state[list(small.visible_rows)])
    every = by_sets(question)
    if every.verdict is Verdict.proved and pick((True, False)):
        ground = Ground(as_array(question.board, every.final_sets))
        first = None
        asked = confine(question, wound, ground)
    else:
        whole = np.zeros((1, channels, *size), np.uint8)
        whole[:, list(small.circuit.labels)] = start
        cases = Cases("one", whole, question.target[None], boundary, 60, "")
        listed = ListedStarts(made, cases, 60, wound=wound)
        first = number(start)
        asked = prove(listed).confinement
    if asked.verdict is Verdict.refuted:
        assert boundary == "zero"
        replay(question, asked, start if first is not None else None)
    if asked.margin is None:
        return asked, asked.verdict is Verdict.refuted
    together = rate == 1
    calm = settled(small.circuit, size, first, boundary, together)
    reach, rounds = harm(
        small.circuit,
        question.visible_places,
        question.target,
        replace(asked.wound, margin=asked.margin),
        calm,
        boundary,
        asked.synchronous,
    )
    assert reach <= asked.reach <= asked.wound.reach
    assert rounds <= asked.rounds
    return asked, asked.verdict is not Verdict.open


@pytest.mark.parametrize(
    "count", [100, pytest.param(10_000, marks=[pytest.mark.exhaustive, pytest.mark.slow])]
)
@pytest.mark.thorough
def test_drawn_wounds(count: int) -> None:
    pick = picking(count)
    found = [drawn(pick) for _ in range(count)]
    verdicts = [answer.verdict.value for answer, _ in found]
    print({name: verdicts.count(name) for name in ("proved", "refuted", "open")})
    assert sum(decided for _, decided in found) > count // 4
