"""Circuits that look to one side: the method's verdicts, also with mutants, against all starts."""

import itertools
import json
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import Op
from difflogic.circuit.live_part import live_part
from difflogic.formats.circuit_file import write_circuit
from difflogic.library.signals import rule
from difflogic.proof.answer import Answer, Budget
from difflogic.proof.certificates import write_one_side
from difflogic.proof.convergence import one_side
from difflogic.proof.convergence.every_size import Plane
from difflogic.proof.convergence.findings import Convergence
from difflogic.proof.convergence.methods import by_sets
from difflogic.proof.convergence.one_side import Cell, EndlessRow, Settling, corner_of
from difflogic.proof.convergence.planes import Network
from difflogic.proof.convergence.sets import UNKNOWN
from difflogic.proof.decided import Extent, decide
from difflogic.proof.prover import prove
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import Deadline
from tests.difflogic.circuit.circuits import automaton, circuit_of, step
from tests.difflogic.proof.conftest import Check
from tests.difflogic.proof.convergence.brute import right_from, step_all, zeros
from tests.difflogic.proof.mutants import picking, random_circuit

SIDES = ((-1, -1), (-1, 1), (1, -1), (1, 1))
FAR = ((1, 23), (17, 1), (9, 8))
"""Larger grids, where starts are drawn."""


@cache
def drawn(seed: int) -> Plane:
    """Return a question about a random circuit and what it shows, or nearly: always the same."""
    rng = np.random.default_rng(seed)
    channels = int(rng.integers(1, 4))
    (down, across) = SIDES[seed % 4]
    looks = (4, 4 + 3 * down, 4 + across, 4 + 3 * down + across)[: 4 if seed % 3 else 3]
    circuit = random_circuit(picking(seed), channels, looks)
    rate = 1.0 if seed % 5 else 0.5
    made = live_part(automaton(circuit, visible=(0,), boundary="zero", fire_rate=rate))
    side = 15 + seed // 4 % 2
    state = np.zeros((1, made.circuit.channels, side, side), np.uint8)
    for _ in range(int(rng.integers(60, 62))):
        state = step_all(made.circuit, state, "zero")
    period = int(rng.choice((1, 2, 2, 3, 4, 6)))
    picture = state[0, list(made.visible_rows)][:, :period, :period]

    def target(height: int, width: int) -> np.ndarray:
        y, x = np.indices((height, width)) % period
        return picture[:, y, x]

    return Plane(made, target, period)


@cache
def truth(seed: int, *grid: int) -> int | None:
    """Return the step from which all starts are right."""
    plane = drawn(seed)
    return right_from(Convergence.of(plane.automaton, plane.target(*grid)))


def judge(seed: int, bits: int) -> str:
    """Compare a verdict with all starts of grids of few bits; return it, or what is wrong."""
    plane = drawn(seed)
    if not one_side.ONE_SIDE.answers(plane):
        return "does not look to one side"
    answer = one_side.ONE_SIDE.decide(plane, Budget(Deadline.after(20)), None)
    if not isinstance(answer, Answer) or answer.verdict is Verdict.open:
        return "open"
    made = plane.automaton
    found = answer.evidence
    if answer.verdict is Verdict.refuted:
        return _refutation(made, found.refuted)
    for grid in itertools.product(range(1, 5), repeat=2):
        if grid[0] * grid[1] * made.circuit.channels <= bits:
            late = truth(seed, *grid)
            if late is None or late > found.proof.from_step(*grid):
                return f"wrong: {grid} cells are right from {late}"
    rng = np.random.default_rng(seed)
    for height, width in FAR:
        steps = found.proof.from_step(height, width)
        rate = made.fire_rate
        state = rng.integers(0, 2, (made.circuit.channels, height, width)).astype(np.uint8)
        for _ in range(steps if rate == 1 else 12 * (steps + 1)):
            state = step(made.circuit, state, "zero", rng.random((height, width)) <= rate)
        if (state[list(made.visible_rows)] != plane.target(height, width)).any():
            return f"wrong: {height}×{width} cells miss the target"
    return "proved"


def _refutation(made: Automaton, found) -> str:
    """Run a witness in which a cell is wrong again and again, even if it alone fires."""
    state = first = found.counterexample.start
    wrong = state[list(made.visible_rows)] != found.question.target
    for _ in range(found.counterexample.period):
        state = step(made.circuit, state, "zero")
    if not wrong.any() or (state != first).any():
        return "wrong: the witness is none"
    if made.fire_rate == 1 or found.counterexample.period == 1:
        return "refuted"
    for y, x in np.argwhere(wrong.any(axis=0)):
        alone = np.zeros(wrong.shape[1:], bool)
        alone[y, x] = True
        for _ in range(2**made.circuit.channels):
            state = step(made.circuit, state, "zero", alone)
            if (state == first).all():
                return "refuted"
    return "wrong: other orders may settle it"


def verdicts(seeds: range, bits: int) -> Counter[str]:
    return Counter(judge(seed, bits) for seed in seeds)


@pytest.mark.once
def test_verdicts_against_all_starts() -> None:
    found = verdicts(range(24), 6)
    assert set(found) == {"proved", "refuted", "open"}
    assert found["open"] <= 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(20))
def test_two_thousand_verdicts(part: int) -> None:
    found = verdicts(range(100 * part, 100 * part + 100), 16)
    assert set(found) <= {"proved", "refuted", "open"}
    assert found["open"] < 5


def hexagons() -> Plane:
    """Rows of three cells and columns of two, counted by shift registers that hidden bits keep."""

    def counting(nw, n, ne, w, c, e, sw, s, se):  # type: ignore[no-untyped-def]
        place = (~(w[1] | w[2]), w[1])
        row = ~n[3]
        return place[0] ^ row, *place, row

    made = rule(counting, 4, name="hexagons", size=(7, 7), visible=(0,))

    def target(height: int, width: int) -> np.ndarray:
        y, x = np.indices((height, width))
        return ((x % 3 == 0) ^ (y % 2 == 0))[None].astype(np.uint8)

    return Plane(made, target, 6)


@pytest.mark.parametrize("most", [30, 60])
def test_all_is_proved_only_if_all_was_compared(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(one_side, "MOST_CELLS", most)  # of 36 to compare
    answer = one_side.ONE_SIDE.decide(hexagons(), Budget(Deadline.after(20)), None)
    assert isinstance(answer, Answer) == (most > 36)


def test_a_cell_that_is_unknown_and_right_hides_none_that_is_wrong() -> None:
    gates = [(Op.AND, 3, 7), (Op.A_AND_NOT_B, 3, 7), (Op.AND, 18, 19)]  # never one
    made = automaton(circuit_of(gates, [20, 9]), visible=(0,), boundary="zero")

    def target(height: int, width: int) -> np.ndarray:
        y, x = np.indices((height, width)) % 3
        return ((y == 2) & (x == 0))[None].astype(np.uint8)

    answer = one_side.ONE_SIDE.decide(Plane(made, target, 3), Budget(Deadline.after(20)), None)
    assert answer.verdict is Verdict.refuted


def test_damage_leaves_no_size_open_that_is_proved_without() -> None:
    for seed in range(40):
        verdict = prove(drawn(seed)).verdict
        assert prove(replace(drawn(seed), wound=Wound(1))).verdict is verdict, seed
    extent = Extent(all_sizes=True, wound=Wound(1))
    budget = Budget(Deadline.after(60.0))
    plane = drawn(25)
    found = decide(plane.automaton, plane, extent, budget, lambda made, seconds: made).verdicts
    assert found == {"5×7 cells": "proved", "all sizes": "proved", "damage": "proved"}


FORGERIES = (
    lambda proof: proof["circuit"]["gates"][0].update(op="AND"),
    lambda proof: proof["target"][1].__setitem__(2, "1"),
    lambda proof: proof["target"].pop(),
    lambda proof: proof["rows"].pop(),
    lambda proof: proof["rows"][0][1].pop(),
    lambda proof: proof["sets"].__setitem__(0, "?" * 4),
    lambda proof: proof["corner"].__setitem__(0, 1),
    lambda proof: proof["question"].update(step="0 · (m + n - 1)"),
    lambda proof: proof["question"].update(height=3),
    lambda proof: proof["circuit"].update(boundary="periodic"),
)


def test_the_certificate_is_confirmed_and_no_forgery(check: Check) -> None:
    found = prove(hexagons()).evidence
    text = write_one_side(found)
    confirmed, said = check(text, checker="one_side.py")
    assert confirmed, said
    assert said.startswith(
        "confirmed: every start shows the target, 6×6 cells again and again, from step "
        f"{found.proof.firings} · (m + n - 1) on, for all m and n; m×n cells, zero boundary"
    )
    for forge in FORGERIES:
        forged = json.loads(text)
        forge(forged)
        assert not check(forged, checker="one_side.py")[0], forged


@pytest.mark.once
@pytest.mark.parametrize(("shown", "verdict"), [(0, Verdict.open), (1, Verdict.refuted)])
def test_what_cells_settle_in_need_not_repeat(shown: int, verdict: Verdict) -> None:
    """Each row of Pascal's triangle modulo 2 repeats, but after more cells than rows before."""

    def triangle(nw, n, ne, w, c, e, sw, s, se):  # type: ignore[no-untyped-def]
        odd = w[1] ^ n[1] ^ (~w[2] & ~n[2])
        return c[1] ^ odd, odd, w[0] | ~w[0]

    made = rule(triangle, 3, name="triangle", size=(7, 7), visible=(shown,))
    answer = prove(Plane(live_part(made), zeros, 1))
    assert answer.verdict is verdict
    assert answer.outcome == "decided" or answer.evidence.proof is None


def test_a_row_is_written_in_one_way() -> None:
    """Equal rows are equal objects, whatever they are made of, and different rows are not."""
    cells = ((0,), (1,))
    written: dict[tuple[Cell, ...], EndlessRow] = {}
    for first, again in itertools.product(range(3), range(1, 5)):
        for text in itertools.product(cells, repeat=first + again):
            row = EndlessRow.shortest(text[:first], text[first:])
            shown = tuple(text[x if x < first else first + (x - first) % again] for x in range(30))
            assert tuple(map(row.at, range(30))) == shown
            assert written.setdefault(shown, row) == row


@pytest.mark.parametrize("seed", range(12))
def test_states_of_a_cell_do_not_touch_each_other(seed: int) -> None:
    """Each is followed as it is alone, also where what the cell sees is unknown."""
    network = Network(drawn(seed).automaton.circuit)
    corner = corner_of(network)
    channels = network.channels
    settling = Settling(network, corner)
    owns = list(itertools.product((0, 1, UNKNOWN), repeat=channels))
    for around in itertools.product((0, 1, UNKNOWN), repeat=3):
        seen = [(value,) * channels for value in around]
        alone = [settling._after(tuple(seen), [own])[0] for own in owns]
        assert settling._after(tuple(seen), owns) == alone


def test_the_rows_before_those_that_come_again_are_compared_too() -> None:
    """The first row shows zeros, since nothing above it is set, and all the others ones."""
    made = automaton(circuit_of([(Op.TRUE, 0, 0)], [3, 18]), visible=(0,), boundary="zero")
    assert prove(Plane(made, lambda *grid: 1 - zeros(*grid), 1)).verdict is Verdict.refuted


def test_what_a_cell_comes_back_to_refutes_where_drawn_starts_do_not() -> None:
    assert judge(85, 0) == "refuted"


def test_the_own_grid_gets_a_step_where_its_sets_alone_know_none() -> None:
    plane = drawn(13)
    own = Convergence.of(plane.automaton, plane.target(3, 4))
    assert by_sets(own).from_step is None
    found = prove(replace(plane, own=own))
    step = found.evidence.proof.from_step(3, 4)
    assert found.assurance.from_step == step
    assert f"3×4 cells from step {step} on" in found.assurance.text


def test_what_is_compared_must_repeat() -> None:
    assert not one_side.ONE_SIDE.answers(replace(drawn(0), repeats=None))
    assert one_side.ONE_SIDE.answers(replace(drawn(0), repeats=None, compared=False))


def test_any_picture_will_do_but_not_two() -> None:
    """Cells that keep what they have; and cells that forget it."""
    for output, verdict in ((4, Verdict.refuted), (9, Verdict.proved)):
        made = automaton(circuit_of([(0, 0, 0)], [output]), boundary="zero")
        assert prove(Plane(made, zeros, 1, compared=False)).verdict is verdict


def test_a_proof_that_knows_nothing_is_not_confirmed(check: Check) -> None:
    """Cells that keep what they have settle in anything, which no picture is."""
    constant = automaton(circuit_of([(0, 0, 0)], [9]), boundary="zero")
    found = prove(Plane(constant, zeros, 1, compared=False))
    proof = json.loads(write_one_side(found.evidence))
    assert check(proof, checker="one_side.py")[0]
    held = automaton(circuit_of([], [4]), boundary="zero")
    proof["circuit"] = json.loads(write_circuit(held))
    proof["question"].update(held=[0], step="0 · (m + n - 1)")
    for signs in ("?", "0"):
        proof["sets"] = [signs] * len(proof["sets"])
        confirmed, said = check(proof, checker="one_side.py")
        assert not confirmed
        assert "the cells show the target" in said or signs == "0"
