"""What workers share, in every order of their steps, and without each meeting and each care."""

import re
from itertools import count

import numpy as np
import pytest

from tests.difflogic.engine.plain import sources
from tests.difflogic.engine.protocol import Sharing
from tests.difflogic.engine.schedules import ScheduleError
from tests.marks import exhaustive

SMALL = {
    "chunks": Sharing(),
    "groups alone": Sharing(alone=2, groups=2, chunks=1),
    "chunks that wait for all": Sharing(chunks=3, steps=1, all_seen=True),
    "an abort of chunks without worker 0": Sharing(missing=(0,)),
    "an abort of chunks without worker 2": Sharing(3, chunks=1, steps=1, missing=(2,)),
}


@pytest.mark.once
@pytest.mark.parametrize(
    "sharing", [*SMALL.values(), Sharing(groups=2), exhaustive(Sharing(alone=1, groups=2))]
)
def test_no_order_of_steps_changes_anything(sharing):
    assert sharing.explore() > 10


@pytest.mark.thorough
@pytest.mark.parametrize("orders", [1, exhaustive(40)])
@pytest.mark.parametrize(
    "sharing", [Sharing(3, alone=2, groups=4, chunks=3), Sharing(5, groups=2, chunks=5, steps=3)]
)
def test_no_drawn_order_of_more_workers_changes_anything(sharing, orders):
    sharing.draw(np.random.default_rng(0), orders)


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
    return found


MUTANTS = without()


FEW = ("train, t.barrier 1", "barrier, atomic_add 1", "take_ready, atomic_claim 1")


@pytest.mark.once
@pytest.mark.parametrize("name", [name if name in FEW else exhaustive(name) for name in MUTANTS])
def test_what_is_taken_away_is_missed(name):
    """Each barrier goes, and each atomic access becomes an ordinary one."""
    module, (first, end), other = MUTANTS[name]
    texts = sources()
    texts[module] = texts[module][:first] + other + texts[module][end:]
    for sharing in SMALL.values():
        try:
            sharing.explore(texts, most=200_000)
        except ScheduleError:
            return
    pytest.fail("not caught")
