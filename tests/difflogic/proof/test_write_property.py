"""Properties in AIGER, run by a plain interpreter and decided by Berkeley's ABC and by z3."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from difflogic.config import load_config
from difflogic.evaluation.assurance import assure_automaton
from difflogic.formats.circuit_file import read_circuit
from difflogic.library.certifying import certify, state_property
from difflogic.proof.convergence import Question, Verdict, by_sets, decide
from difflogic.proof.write_property import write_healing, write_invariant, write_property
from difflogic.system.errors import CircuitError
from difflogic.tasks import make_task
from tests.difflogic.circuit.circuits import circuit_of, step
from tests.difflogic.formats.examples import mutants
from tests.difflogic.formats.tools import ABC, needs

GALLERY = Path(__file__).parents[3] / "docs" / "gallery"
LIZARD = GALLERY.parent / "lizard-small.json"


def parse(text):
    """Return a file's inputs, latches (own, next, first), outputs, bad literals and ANDs."""
    lines = [line.split() for line in text.decode().splitlines()]
    head, body = lines[0], [list(map(int, line)) for line in lines[1 : lines.index(["c"])]]
    assert head[0] == "aag"
    _, inputs, latches, outputs, ands, *bad = map(int, head[1:])
    parts = []
    for count in (inputs, latches, outputs, *bad, ands):
        parts.append(body[:count])
        body = body[count:]
    assert body == []
    return parts


def values_of(parts, given):
    """Return the values of all literals, given those of inputs and latches."""
    values = {0: 0, 1: 1}
    for literal, bit in given.items():
        values |= {literal: bit, literal ^ 1: 1 - bit}
    for own, x, y in parts[-1]:
        values |= {own: values[x] & values[y], own ^ 1: 1 - (values[x] & values[y])}
    return values


def pdr(data, folder, command="&r p.aig; &put; pdr"):
    """Return ABC's verdict: True, False or None. `&r` turns free latches into inputs."""
    (folder / "p.aig").write_bytes(data)
    done = subprocess.run(
        [ABC, "-q", command], cwd=folder, capture_output=True, text=True, timeout=60
    )
    answer = done.stdout
    proved, failed = "Property proved" in answer, "was asserted" in answer
    return True if proved and not failed else False if failed and not proved else None


def certified(name, side):
    automaton = read_circuit(GALLERY / f"{name}.json")
    (finding,) = certify(automaton, [(side, side)]).findings
    return automaton, finding


@pytest.mark.parametrize("name", ["checkerboard", "checkerboard-async"])
def test_latches_follow_the_cells_and_count(name):
    _, finding = certified(name, 4)
    question, steps = finding.question, 3
    parts = parse(write_property(question, steps, text=True))
    inputs, latches, _, (bad,), _ = parts
    rng = np.random.default_rng(0)
    channels, cells = question.circuit.channels, 16
    state = rng.integers(0, 2, (channels, 4, 4)).astype(np.uint8)
    now = {own: first for own, _, first in latches}
    free = [own for own, _, first in latches if own == first]
    assert len(free) == channels * cells
    now |= dict(zip(free, state.ravel().tolist(), strict=True))
    rounds, fired = 0, np.zeros((4, 4), bool)
    for _ in range(40):
        fire = rng.integers(0, 2, (4, 4)).astype(bool)
        given = now | dict(zip((line[0] for line in inputs), fire.ravel().tolist(), strict=False))
        values = values_of(parts, {each: int(bit) for each, bit in given.items()})
        right = (state[list(question.visible_places)] == question.target).all()
        assert values[bad[0]] == (rounds >= steps and not right)
        now = {own: values[after] for own, after, _ in latches}
        state = step(
            question.circuit, state, question.boundary, None if question.synchronous else fire
        )
        assert [now[own] for own in free] == state.ravel().tolist()
        fired |= fire | question.synchronous
        if fired.all():
            rounds, fired = rounds + 1, np.zeros((4, 4), bool)
    assert rounds > steps


@needs(ABC)
def test_latches_are_free_without_a_start(tmp_path):
    """A cell that keeps its state shows zeros only from a start of zeros."""
    zeros = np.zeros((1, 2, 2), np.uint8)
    question = Question(circuit_of([], [4]), (0,), 2, 2, "zero", zeros)
    assert pdr(write_property(question, 1), tmp_path) is False
    assert pdr(write_property(question, 1, zeros), tmp_path) is True
    assert pdr(write_property(question, 1, zeros + 1), tmp_path) is False


@pytest.mark.thorough
@needs(ABC)
@pytest.mark.parametrize(("name", "side"), [("checkerboard", 5), ("checkerboard-async", 3)])
def test_abc_agrees_on_circuits_and_mutants(name, side, tmp_path):
    automaton, finding = certified(name, side)
    assert pdr(write_property(finding.question, finding.from_step), tmp_path) is True
    verdicts = set()
    for mutant in mutants(automaton):
        question = Question(
            mutant.circuit,
            mutant.visible,
            side,
            side,
            mutant.boundary,
            finding.question.target,
            mutant.fire_rate,
        )
        ours = decide(question, 5)
        theirs = pdr(write_property(question, ours.from_step or 12), tmp_path)
        if ours.verdict is not Verdict.open:
            assert theirs is (ours.verdict is Verdict.proved)
            verdicts.add(ours.verdict)
    assert Verdict.refuted in verdicts


def holds(z3, data):
    """Return for each output whether z3 finds no input that makes it 1."""
    parts = parse(data)
    values = {0: z3.BoolVal(False), 1: z3.BoolVal(True)}
    for (own,) in parts[0]:
        values[own] = z3.Bool(f"v{own}")
        values[own ^ 1] = z3.Not(values[own])
    for own, x, y in parts[-1]:
        values[own] = z3.And(values[x], values[y])
        values[own ^ 1] = z3.Not(values[own])
    found = []
    for (output,) in parts[2]:
        solver = z3.Solver()
        solver.add(values[output])
        found.append(solver.check() == z3.unsat)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["checkerboard", "checkerboard-async"])
def test_z3_confirms_only_the_right_certificate(name):
    z3 = pytest.importorskip("z3")
    automaton, finding = certified(name, 3)
    assert holds(z3, write_invariant(finding, text=True)) == [True, True, True]
    # A step of another circuit leaves the invariant.
    wrong = [
        holds(z3, write_invariant(_about(finding, mutant.circuit), text=True))
        for mutant in mutants(automaton)
    ]
    assert [True, False, True] in wrong


def _about(finding, circuit):
    """Return a finding with another circuit."""
    return replace(finding, question=replace(finding.question, circuit=circuit))


@pytest.mark.thorough
def test_z3_agrees_on_the_steps_to_heal():
    z3 = pytest.importorskip("z3")
    automaton, finding = certified("checkerboard", 4)
    question = finding.question
    patches = np.random.default_rng(0).integers(0, 2, (5, 4, 4)).astype(np.uint8)
    within, verdicts = None, set()
    for each in (automaton, *islice(mutants(automaton), 12)):
        rest, needed = np.zeros((question.circuit.channels, 4, 4), np.uint8), 1
        for _ in range(30):
            rest = step(each.circuit, rest, question.boundary)
        if (step(each.circuit, rest, question.boundary) != rest).any():
            continue
        hurt = rest * (1 - patches[:, None])
        for count in range(1, 30):
            hurt = np.array([step(each.circuit, one, question.boundary) for one in hurt])
            if (hurt[:, list(question.visible_places)] != question.target).any():
                needed = count + 1
        within = within or needed
        for most in (within - 1, within):
            about = _about(finding, each.circuit).question
            answer = holds(z3, write_healing(about, most, rest, True, patches))
            assert answer == [True, True, needed <= most]
            verdicts.add((each is automaton, answer[-1]))
    assert verdicts >= {(True, False), (True, True), (False, False)}
    with pytest.raises(CircuitError, match="choose a later --from-step"):
        write_healing(question, 1, 1 - rest, True, patches)


def test_only_sets_make_an_invariant():
    question = Question(circuit_of([], [4]), (0,), 2, 2, "zero", np.zeros((1, 2, 2), np.uint8))
    with pytest.raises(CircuitError, match="only a proof by sets"):
        write_invariant(by_sets(question))


def test_an_input_damages_once_and_starts_the_count():
    _, finding = certified("checkerboard", 4)
    question, within, rng = finding.question, 1, np.random.default_rng(0)
    patches = rng.integers(0, 2, (5, 4, 4)).astype(np.uint8)
    start = rng.integers(0, 2, (question.circuit.channels, 4, 4)).astype(np.uint8)
    parts = parse(write_property(question, within, start, True, patches))
    inputs, latches, _, (bad,), _ = parts
    assert len(inputs) == 3
    seen = set()
    for _ in range(30):
        state, since = start.copy(), None
        now = {own: first for own, _, first in latches}
        for _ in range(8):
            number = int(rng.integers(8))
            bits = {line[0]: number >> place & 1 for place, line in enumerate(inputs)}
            values = values_of(parts, now | bits)
            right = (state[list(question.visible_places)] == question.target).all()
            wrong = since is not None and since >= within and not right
            assert values[bad[0]] == wrong
            seen.add(wrong)
            if since is None and number < len(patches):
                state, since = state * (1 - patches[number]), 0
            state = step(question.circuit, state, question.boundary)
            since = None if since is None else since + 1
            now = {own: values[after] for own, after, _ in latches}
    assert seen == {True, False}


@pytest.mark.thorough
def test_healing_is_claimed_within_the_proved_steps(tmp_path):
    automaton, task = read_circuit(LIZARD), load_config("lizard-small-heal")
    proved = max(each.within for each in assure_automaton(automaton, make_task(task)).healing)
    files = [tmp_path / "default.aag", tmp_path / "explicit.aag", tmp_path / "holds.aag"]
    stated = state_property(automaton, files[0], "heals", task=task)
    assert stated.within == proved
    state_property(automaton, files[1], "heals", task=task, within=proved)
    state_property(automaton, files[2], "holds")
    default, explicit, holds = (file.read_bytes() for file in files)
    assert default == explicit != holds
    proof = tmp_path / "proof.aag"
    with pytest.raises(CircuitError, match="later --from-step"):
        state_property(automaton, proof, "heals-invariant", task=task)
    assert not proof.exists()
