"""What workers share, in every order of their steps, and without each meeting, care and test."""

import re
from itertools import count

import numpy as np
import pytest

from tests.difflogic.engine.plain import sources
from tests.difflogic.engine.protocol import Sharing
from tests.difflogic.engine.schedules import ScheduleError

SMALL = {
    "chunks": Sharing(),
    "groups alone": Sharing(alone=2, groups=2, chunks=1),
    "chunks that wait for all": Sharing(chunks=3, steps=1, all_seen=True),
    "an abort of chunks without worker 0": Sharing(missing=(0,)),
    "an abort of chunks without worker 2": Sharing(3, chunks=1, steps=1, missing=(2,)),
}
LARGER = {
    "two samples": Sharing(groups=2),
    "* a group alone, and chunks": Sharing(alone=1, groups=2),
}


def exhaustive(name, condition):
    """A case that only `make exhaustive` tries, on a condition."""
    return pytest.param(name, marks=[pytest.mark.exhaustive] if condition else [])


@pytest.mark.once
@pytest.mark.parametrize("name", [exhaustive(name, name[0] == "*") for name in SMALL | LARGER])
def test_no_order_of_steps_changes_anything(name):
    assert (SMALL | LARGER)[name].explore() > 10


@pytest.mark.thorough
@pytest.mark.parametrize("orders", [1, exhaustive(40, True)])
@pytest.mark.parametrize(
    "sharing", [Sharing(3, alone=2, groups=4, chunks=3), Sharing(5, groups=2, chunks=5, steps=3)]
)
def test_no_drawn_order_of_more_workers_changes_anything(sharing, orders):
    sharing.draw(np.random.default_rng(0), orders)


# In « → », what stands in the sources and what stands there in the mutant.
TESTS = {
    "a chunk waits for none": "+ DONE) < «steps → 0»:\n            return False",
    "a chunk waits for all but the last": "layout.seen_start[chunk + 1]« → - 1»):\n",
    "a chunk that another took": "found >= 0 and «atomic_claim(control, base + APART * found + "
    "BEGUN, least) → True»:",
    "a group beyond the share": "if «group < end → True»:",
    "no end": "if «begun < steps → True»:",
    "a chunk is never done": "        «atomic_add(control, base + APART * piece + DONE, 1) → pass»",
    "the way back has the tickets of the other": "t.TICKETS + «backward * workers +  → »owner",
    "the way back has the chunks of the other": "    if «backward → False»:\n        base",
    "a barrier that opens at once": "while «atomic_load(control, GENERATION) == generation"
    " → False»:",
    "a barrier that never opens": "        «atomic_add(control, GENERATION, 1) → pass»\n",
    "a barrier that opens for one": "== «workers - 1 → 0»:",
    "a barrier that forgets nobody": "        «atomic_add(control, ARRIVED, -workers) → pass»\n",
    "a barrier that lasts after an abort": "if «atomic_load(control, ABORTED) → 0» != 0:\n",
}


def without():
    """The module, the place and the other text of each source that lacks something, by name."""
    found = {}
    for module, text in sources().items():
        for match in re.finditer(r"(?<=\n) +(t\.barrier)\(.*\n|(?<=[ (])atomic_(\w+)(?=\()", text):
            function = re.findall(r"^def (\w+)", text[: match.start()], re.MULTILINE)[-1]
            what = match[1] or match[0]
            names = (f"{function}, {what} {number}" for number in count(1))
            name = next(name for name in names if name not in found)
            indent = match[0][: -len(match[0].lstrip())]
            found[name] = (
                module,
                match.span(),
                f"{indent}pass\n" if match[1] else f"plain_{match[2]}",
            )
        for name, mutation in TESTS.items():
            old, new = (
                re.sub("«(.*?) → (.*?)»", rf"\{side}", mutation, flags=re.DOTALL) for side in (1, 2)
            )
            if text.count(old) == 1:
                assert name not in found
                found[name] = module, (text.index(old), text.index(old) + len(old)), new
    assert found.keys() >= TESTS.keys()
    return found


MUTANTS = without()


FEW = (
    "train, t.barrier 1",
    "barrier, atomic_add 1",
    "take_ready, atomic_claim 1",
    "a chunk waits for none",
    "a chunk is never done",
)


@pytest.mark.once
@pytest.mark.parametrize("name", [exhaustive(name, name not in FEW) for name in MUTANTS])
def test_what_is_taken_away_is_missed(name):
    """Each barrier goes, each atomic access becomes an ordinary one, and each test is answered."""
    module, (first, end), other = MUTANTS[name]
    texts = sources()
    texts[module] = texts[module][:first] + other + texts[module][end:]
    for sharing in SMALL.values():
        try:
            sharing.explore(texts, most=200_000)
        except ScheduleError:
            return
    pytest.fail("not caught")
