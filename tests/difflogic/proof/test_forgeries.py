"""Proofs and circuits with changed fields: what a checker confirms is true by brute force."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.circuit.specification import Cases, Machine
from difflogic.formats.circuit_file import parse
from difflogic.library.groups import Claims
from difflogic.library.joining import join
from difflogic.library.loaded import Source, load
from difflogic.library.proving import certify
from difflogic.proof.answer import Confinement
from difflogic.proof.certificates import damage_part, write_cases, write_certificate
from difflogic.proof.every_length import every_length
from difflogic.proof.local_rule import broken
from difflogic.proof.question import Wound
from difflogic.proof.verdict import Verdict
from difflogic.system.deadline import Deadline
from difflogic.tasks.line import ADDITION
from tests.difflogic.circuit.circuits import automaton, circuit_of
from tests.difflogic.proof.asking import every_size
from tests.difflogic.proof.conftest import Check
from tests.difflogic.proof.convergence.brute import all_states, rounds, step_all, zeros
from tests.difflogic.proof.test_every_length import adder, is_right
from tests.difflogic.proof.test_local_rule import RULES
from tests.difflogic.proof.wounds import harm, settled
from tests.paths import GALLERY

Proof = dict[str, Any]
Forge = Callable[[Proof], object]
SAID = re.compile(
    r"confirmed: (.*); (\w+)×(\w+) cells(?: \(its own are (\d+)×(\d+)\))?, (zero|periodic) "
    r"boundary, (all cells at each step|every fair schedule), visible ([\d, ]+)\n"
)


def of_sets(source: Source, *size: int) -> Proof:
    return json.loads(
        write_certificate(load(source).automaton, certify(source, Claims([size])).findings[0])
    )


def of_cases(circuit: Circuit, size: tuple[int, int], steps: int, boundary: str = "zero") -> Proof:
    """Return the proof of what the circuit does from all starts, or from the start of zeros."""
    every = circuit.channels == 1
    starts = all_states(circuit.channels, *size)[: None if every else 1]
    ends = starts
    for _ in range(steps):
        ends = step_all(circuit, ends, boundary)
    made = automaton(circuit, boundary=boundary, start="random" if every else "zeros")
    return json.loads(write_cases(made, Cases("all", starts, ends, boundary, steps, "")))


def small(circuit: Circuit) -> Automaton:
    return automaton(circuit, boundary="zero", visible=(0,), height=2, width=3)


def of_damage(circuit: Circuit, contents: str, margin: int) -> Proof:
    """Return the certificate that wounds of one cell stay local."""
    found = certify(small(circuit), Claims(damage=1, contents=contents, margin=margin))
    assert found.proved
    return json.loads(found.certificate(found.source.automaton, found.source.trained))


def forged(circuit: Circuit, change: Forge, margin: int) -> Proof:
    """Return the certificate of an every-size proof, with wounds of one cell that go nowhere."""
    made = small(circuit)
    found = certify(made)
    everywhere = every_size(made, zeros, 1, Deadline.after(60.0), compared=False)
    kept = Confinement(Wound(1, 0, margin, zeros=False), Verdict.proved)
    part = damage_part(kept, everywhere.table)
    proof = json.loads(write_certificate(made, found.findings[0], {"damage": part}))
    change(proof["damage"])
    return proof


def settled_otherwise(damage: Proof) -> None:
    damage["sets"] = [signs.replace("?", "0") for signs in damage["sets"]]


# What one channel of damage does runs along the row, if a held channel says so, or always.
STREETS = (circuit_of([(Op.AND, 6, 9)], [18, 9]), circuit_of([(Op.NOT_A, 3, 3)], [9]))


@pytest.mark.parametrize(
    ("circuit", "change", "margin"),
    [
        (STREETS[0], settled_otherwise, 0),
        (STREETS[1], lambda damage: damage.update(first=2, period=8), 0),
        (STREETS[1], lambda damage: None, 7),
        (STREETS[1], lambda damage: None, 40),
    ],
)
def test_damage_that_spreads_is_not_confirmed(
    circuit: Circuit, change: Forge, margin: int, check: Check
) -> None:
    proof = forged(circuit, change, margin)
    assert check(proof, checker="check.py")[0]
    assert not check(proof, checker="damage.py")[0]


NOT_WEST = circuit_of([(Op.NOT_A, 3, 3)], [9])
COUNTER = circuit_of([(Op.NOT_A, 8, 8), (Op.XOR, 8, 9)], [18, 19])


# Channel 0 shows 1 unless a neighbour's channel 1 says 0, which only damage makes it do. The last
# two rules also have a channel that nothing settles: it is held, or blinks.
BESIDE = [(Op.AND, 10, 14), (Op.NOR, 27, 16), (Op.FALSE, 0, 0), (Op.NOT_A, 14, 14)]
LOCAL = (
    (circuit_of([(Op.TRUE, 0, 0)], [9]), "any", 0),
    (circuit_of([(Op.NOR, 7, 11), (Op.FALSE, 0, 0)], [18, 19]), "any", 0),
    (circuit_of([(Op.OR, 7, 8), (Op.TRUE, 0, 0), (Op.OR, 18, 19)], [20, 19]), "zeros", 0),
    (circuit_of(BESIDE[:3], [28, 29, 14]), "any", 0),
    (circuit_of(BESIDE, [28, 29, 30]), "any", 5),
)


# Every other row, or column, or both; no part reads what another one does.
TILES = tuple(
    automaton(circuit_of(gates, [9]), boundary="zero", height=1, width=2)
    for gates in ([(Op.NOT_A, 1, 1)], [(Op.NOT_A, 3, 3)], [(Op.NOR, 1, 3)])
)
GROWS = automaton(
    circuit_of([(Op.OR, 3, 4)], [9]),
    **{"boundary": "zero", "height": 1, "width": 2, "start": "center"},
)
"""From one cell to the right: other starts end in other pictures."""
REGIONS = (
    (TILES[:2], True),
    (TILES[:2], False),
    (TILES, True),
    ([replace(each, fire_rate=0.5) for each in TILES[:2]], True),
    ([TILES[0], GROWS], False),
)


def of_regions(parts: Sequence[Automaton], all_sizes: bool) -> Proof:
    """Return the certificate of joined parts."""
    made = join(parts).automaton
    found = certify(made, Claims(all_sizes=all_sizes))
    assert found.proved, found.assurance
    return json.loads(found.certificate(made, False))


@cache
def valid(checker: str) -> list[Proof]:
    """Return proofs that a checker confirms, on few cells."""
    match checker:
        case "check.py":
            asynchronous = automaton(NOT_WEST, boundary="zero", fire_rate=0.5)
            return [
                of_sets(GALLERY / "checkerboard.json", 2, 3),
                of_sets(GALLERY / "checkerboard-async.json", 1, 2),
                of_sets(asynchronous, 1, 4),
            ]
        case "cases.py":
            xor = circuit_of([(Op.XOR, 3, 5)], [9])
            spread_out = circuit_of([(Op.OR, 1, 4)], [9])
            ring = of_cases(xor, (2, 2), 2, "periodic")
            return [ring, of_cases(spread_out, (1, 2), 1), of_cases(COUNTER, (2, 2), 3)]
        case "lines.py":
            return [json.loads(every_length(adder(), ADDITION, 2).certificate())]
        case "damage.py":
            return [of_damage(*each) for each in LOCAL]
        case "regions.py":
            return [of_regions(*each) for each in REGIONS]
    files = {name: json.loads((GALLERY / f"{name}.json").read_text()) for name in RULES}
    return [{"kind": name, "circuit": file} for name, file in files.items()]


def spread(lines: list[list[int]], *size: int) -> np.ndarray:
    return np.repeat([value for _, value in lines], [count for count, _ in lines]).reshape(size)


def automaton_in(proof: Proof, **known: Any) -> Automaton:
    return parse(proof["circuit"] | {"name": "forged", "palette": [], **known}, "")


def circuit_in(proof: Proof) -> tuple[Circuit, list[int]]:
    made = automaton_in(proof)
    return made.circuit, list(made.visible_rows)


Said = re.Match[str]


def sets_are_true(proof: Proof, said: Said) -> bool:
    """Reach all states after so many rounds, under the schedule, and all that follow."""
    what = re.fullmatch(r"every start shows the target .* from (step|round) (\d+) on", said[1])
    size = (int(said[2]), int(said[3]))
    (circuit, shown) = circuit_in(proof)
    together = said[7] == "all cells at each step"
    assert (what[1] == "step") == together
    states = all_states(circuit.channels, *size)
    after = rounds(circuit, *size, said[6], together)
    target = np.stack([spread(lines, *size) for lines in proof["target"]])
    reached = next(islice(after, int(what[2]), None))
    return bool((states[reached][:, shown] == target).all())


def cases_are_true(proof: Proof, said: Said) -> bool:
    what = re.fullmatch(
        r"step (\d+) shows the targets in the proof, from (?:(all) (\d+) starts of channel "
        r"([\d, ]+)|(its own start), (\w+)|(\d+) listed starts?)(?:, those of the rule (.*?))?"
        r"(?:, and at (every|not every) later step)?",
        said[1],
    )
    assert said[7] == "all cells at each step"
    assert what[8] is None, "no example is a rule like Life"
    size = (int(said[2]), int(said[3]))
    (circuit, shown) = circuit_in(proof)
    starts, ends = (
        np.array([[spread(lines, *size) for lines in pair[end]] for pair in proof["cases"]])
        for end in (0, 1)
    )
    seen = []
    state = starts
    while len(seen) <= int(what[1]) or not any((state == each).all() for each in seen):
        seen.append(state)
        state = step_all(circuit, state, said[6])
    right = [bool((each[:, shown] == ends).all()) for each in [*seen, state]]
    if what[9] is not None and all(right[int(what[1]) :]) != (what[9] == "every"):
        return False
    if what[5]:
        lit = np.zeros(starts.shape, int)
        lit[..., size[0] // 2, size[1] // 2] = what[6] == "center"
        if len(starts) > 1 or (starts != lit).any() or proof["circuit"]["start"] != what[6]:
            return False
    count = len({start.tobytes() for start in starts})
    bits = size[0] * size[1] * len((what[4] or "").split(","))
    claimed = int(what[3] or what[7] or 1)
    return right[int(what[1])] and count == claimed and (not what[2] or count == 2**bits)


def lines_are_true(proof: Proof, said: Said) -> bool:
    """Try all lines of up to three cells."""
    step = re.search(r"from step n(?: \+ (\d+))? on, for every n$", said[1])
    assert (said[2], said[3], said[6]) == ("1", "n", "zero")
    table = proof["machine"]
    inputs = len(table["moves"][0]).bit_length() - 1
    machine = Machine(inputs, table["moves"], table["prints"])
    assert "addition" not in said[1] or machine.moves == [list(row) for row in ADDITION.moves]
    made = automaton_in(proof)
    lines = ([*product(range(1 << inputs), repeat=n)] for n in (1, 2, 3))
    return all(is_right(made, machine, some, int(step[1] or 0) + 1) for some in lines)


def rule_is_true(proof: Proof, said: Said) -> bool:
    assert said[1].startswith(proof["kind"])
    assert said[6] == "zero"
    return not broken(automaton_in(proof, held=[]), RULES[proof["kind"]])


def damage_is_true(proof: Proof, said: Said) -> bool:
    """Try all settled states, wounds and orders on few cells."""
    what = re.fullmatch(
        r"a wound of (\d+)×\d+ cells, (zeros|any), (\d+) or more from the edges, makes no cell "
        r"wrong that is more than (\d+) away, and none after round (\d+), .*",
        said[1],
    )
    assert (said[2], said[3]) == ("m", "n")
    (circuit, shown) = circuit_in(proof)
    period = proof["damage"]["period"]
    grid = proof["question"]["height"], proof["question"]["width"]
    tile = np.stack([spread(rows, *grid) for rows in proof["target"]])
    side, margin, reach, last = (int(what[n]) for n in (1, 3, 4, 5))
    wound = Wound(side, reach, margin, what[2] == "zeros")
    for size in ((1, 4), (2, 2), (1, 5)):
        wide = np.pad(tile[:, :period, :period], ((0, 0), (0, 5), (0, 5)), mode="wrap")
        target = wide[:, : size[0], : size[1]]
        if said[1].endswith(", where what every start ends in is right"):
            state = np.zeros((1, circuit.channels, *size), np.uint8)
            for _ in range(60):
                state = step_all(circuit, state, "zero")
            target = state[0, shown]
        calm = settled(circuit, size, None, "zero", False)
        far, late = harm(circuit, shown, target, wound, calm)
        if far > reach or late > last:
            return False
    return True


def regions_are_true(proof: Proof, said: Said) -> bool:
    """Reach all states from all paintings: what a cell shows depends on its number alone."""
    what = re.fullmatch(
        r"for every value of the held channels, from (every start|its own start, (\w+)), each cell "
        r"shows what its part alone ends in, from (?:step|round) (\d+)(?: · \(m \+ n - 1\))? on",
        said[1],
    )
    anywhere = said[2] == "m"
    (circuit, shown) = circuit_in(proof)
    held = [circuit.labels.index(label) for label in proof["circuit"]["held"]]
    free = [place for place in range(circuit.channels) if place not in held]
    most = 14 // circuit.channels
    sizes = [(n, m) for n in (1, 2) for m in range(1, most // n + 1)]
    for size in sizes if anywhere else [(int(said[2]), int(said[3]))]:
        states = all_states(circuit.channels, *size)
        own = np.zeros((len(free), *size), int)
        own[:, size[0] // 2, size[1] // 2] = what[2] == "center"
        starts = (states[:, free] == own).all(axis=(1, 2, 3)) | (what[1] == "every start")
        together = said[7] == "all cells at each step"
        rounds_of = int(what[3]) * (sum(size) - 1 if anywhere else 1)
        after = rounds(circuit, *size, said[6], together, starts)
        reached = states[next(islice(after, rounds_of, None))]
        numbers = sum(reached[:, place].astype(int) << bit for bit, place in enumerate(held))
        for place, number in product(np.ndindex(size), range(2 ** len(held))):
            here = (slice(None), *place)
            there = reached[numbers[here] == number][:, shown]
            if len(np.unique(there[(slice(None), slice(None), *place)], axis=0)) > 1:
                return False
    return True


TRUE = {
    "regions.py": regions_are_true,
    "check.py": sets_are_true,
    "cases.py": cases_are_true,
    "lines.py": lines_are_true,
    "rule.py": rule_is_true,
    "damage.py": damage_is_true,
}


def confirms(checker: str, proof: Proof, circuit: Proof, file: Path, check: Check) -> bool:
    """Return whether a checker confirms a proof about a circuit; what it says must be true."""
    file.write_text(json.dumps(circuit))
    kind = [proof.get("kind")] if checker == "rule.py" else []
    confirmed, output = check(proof, *kind, file, checker=checker)
    if not confirmed:
        assert output.startswith("NOT CONFIRMED: ")
        return False
    said = SAID.fullmatch(output.splitlines(keepends=True)[-1])
    assert said is not None, output
    sides = zip(said.group(2, 3), (circuit["height"], circuit["width"]), strict=True)
    assert (said[4] is not None) == any(a.isdigit() and int(a) != b for a, b in sides)
    assert said[6] == circuit["boundary"]
    assert (said[7] == "all cells at each step") == (circuit["fire_rate"] == 1)
    assert said[8] == ", ".join(map(str, circuit["visible"]))
    assert TRUE[checker](proof | {"circuit": circuit}, said), output
    return True


def each_edited(tree: Any, whole: Any) -> Iterator[Proof]:
    """Yield a proof with each of its numbers, and of its lists, changed until the next is asked."""
    for key in tree if isinstance(tree, dict) else range(len(tree)):
        value = tree[key]
        edited = []
        if type(value) is int:
            edited = [value - 1, value + 1]
        elif isinstance(value, list) and value:
            edited = [value[:-1]]
        for tree[key] in edited:
            yield whole
        tree[key] = value
        if isinstance(value, dict | list):
            yield from each_edited(value, whole)


@pytest.mark.once
@pytest.mark.parametrize("checker", TRUE)
@pytest.mark.parametrize(
    "most", [25, pytest.param(10**6, marks=[pytest.mark.exhaustive, pytest.mark.slow])]
)
def test_each_number_and_list_counts(checker: str, most: int, tmp_path: Path, check: Check) -> None:
    """A proof with one of them changed is refused, or true all the same."""
    count = confirmed = 0
    for proof in valid(checker):
        whole = copy.deepcopy(proof)
        assert confirms(checker, whole, whole["circuit"], tmp_path / "circuit.json", check)
        edits = sum(1 for _ in each_edited(whole, whole)) * len(valid(checker))
        for edited in islice(each_edited(whole, whole), 0, None, max(1, edits // most)):
            count += 1
            confirmed += confirms(
                checker, edited, edited["circuit"], tmp_path / "circuit.json", check
            )
    print(f"{checker}: {confirmed} of {count} confirmed, all true")
    assert confirmed < count // 2
