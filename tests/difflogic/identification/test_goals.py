"""The figures of docs/identify.md: `python -m tests.results` runs these tests with 16 seeds.

Each prints a row: what was found, and the processor time per recording. The default is one
seed, which takes seconds.
"""

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

from difflogic.examples.film import Reading, from_array
from difflogic.identification import Space, identify
from difflogic.identification.explanation import run
from difflogic.identification.inquiry import Inquiry
from difflogic.identification.solver import solve
from difflogic.system.deadline import Deadline
from tests.difflogic.identification import automata
from tests.difflogic.identification.automata import film, life, life_table, soup
from tests.marks import exhaustive

pytestmark = pytest.mark.slow
SEEDS = int(os.environ.get("DCT_SEEDS", "1"))


class Row:
    """Counts correct results and prints the row."""

    def __init__(self, name):
        self.name = name
        self.right = []
        self.seconds = []
        self.notes = []

    def find(self, frames, space=None, mask=None, seconds=None, **settings):
        line = space is not None and space.neighbourhood == "line-1"
        recording = from_array(frames, mask, Reading(line=line))
        began = time.process_time()
        deadline = {} if seconds is None else {"deadline": Deadline.after(seconds)}
        found = identify(Inquiry(recording, space or Space(), **settings, **deadline))
        self.seconds.append(time.process_time() - began)
        return found

    def show(self, least=None):
        """Print the row; at least this many, by default all, must be right."""
        if "DCT_FOUND" in os.environ:
            ends = {"": np.median, "_min": min, "_max": max}
            figures = {f"seconds{end}": f"{of(self.seconds):.2f}" for end, of in ends.items()}
            counts = {"runs": str(len(self.right)), "exact": str(int(sum(self.right)))}
            text = json.dumps({**counts, **figures, "notes": "; ".join(self.notes)})
            Path(os.environ["DCT_FOUND"]).write_text(text, encoding="utf-8")
        took = f"median {np.median(self.seconds):.2f} s, most {max(self.seconds):.2f} s"
        print(f"\n{self.name}: {sum(self.right)} of {len(self.right)}, {took}", *self.notes)
        assert sum(self.right) >= (len(self.right) if least is None else least)


def explains(found, frames):
    """Whether the complete rule gives each frame from the one before."""
    return (run(found.space, found.complete, frames[:-1], "periodic", 1) == frames[1:]).all()


def agrees(found, table):
    """Whether all determined entries agree with a table."""
    known = found.determined
    return (found.table[known] == table[known]).all()


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "step", "shown", "space", "hidden", "size"),
    [
        ("Brian's Brain, dying unseen", automata.brains_brain, (0, 1, 0), Space(), 1, 64),
        exhaustive(
            "B2/S/C4, both dying states unseen", automata.star, (0, 1, 0, 0), Space(), 2, 64
        ),
        exhaustive(
            "WireWorld, tails like wire", automata.wireworld, (0, 1, 2, 2), Space(states=3), 1, 64
        ),
        exhaustive(
            "cyclic of 3 states, one unseen",
            lambda cells: automata.cyclic(cells, 3),
            (0, 1, 0),
            Space("von-neumann", "outer-totalistic"),
            1,
            16,
        ),
    ],
)
def test_hidden_states(name, step, shown, space, hidden, size):
    row = Row(f"{name}, {size}×{size} × 16 steps")
    free = []
    seeds = SEEDS if "Brian" in name else max(4, SEEDS)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        films = [film(step, rng.integers(0, len(shown), (n, n)), 17) for n in (size, min(size, 24))]
        recorded, fresh = (
            from_array(np.array(shown)[each], how=Reading(states=space.states)) for each in films
        )
        found = row.find(recorded.frames, space, hidden=hidden, seconds=300)
        # Whether exactly this rule explains another film.
        rule = found.complete[found.space.examples]
        again = solve(Inquiry(fresh, found.space), rule, decide=False)
        row.right.append(again is not None)
        free.append((int(found.open.sum()), int(found.never_seen.sum())))
    opened, unseen = (f"{min(each)} to {max(each)}" for each in zip(*free, strict=True))
    row.notes = [f"{opened} of {found.space.entries} entries open, {unseen} never seen"]
    # Open or unseen entries may have been filled in wrongly for another film.
    row.show(least=seeds if "Brian" in name else seeds // 4)


@pytest.mark.once
def test_elementary_rules():
    row = Row("256 elementary rules, 64 cells × 32 steps, seed 0")
    free = 0
    rng = np.random.default_rng(0)
    space = Space("line-1")
    for number in range(256):
        frames = film(automata.elementary(number), soup(rng, (64,), 0.5), 33)
        found = row.find(frames, space)
        windows = np.stack([np.roll(frames[:-1], s, 1) for s in (1, 0, -1)])
        seen = set((np.array([4, 2, 1]) @ windows.reshape(3, -1)).tolist())
        same_unseen = set(np.flatnonzero(found.never_seen)) == set(range(8)) - seen
        row.right.append(same_unseen and explains(found, frames[:, None]))
        free += bool(found.never_seen.any())
    row.notes = [f"{free} with entries never seen"]
    row.show()


DRAWN = {
    "outer_totalistic": (100, Space("moore", "outer-totalistic"), 32, ", which are named"),
    "512": (20, Space(), 64, ""),
    "isotropic": (100, Space(symmetry="isotropic"), 64, "; all others named"),
}


@pytest.mark.parametrize(
    "kind",
    ["outer_totalistic", pytest.param("512", marks=pytest.mark.once), exhaustive("isotropic")],
)
def test_drawn_rules(kind):
    count, space, size, said = DRAWN[kind]
    row = Row(f"{count} rules, {kind}, {size}×{size} × 8 steps, seed 0")
    free = 0
    rng = np.random.default_rng(0)
    for _ in range(count):
        if kind == "outer_totalistic":
            table = (rng.random(18) < 0.5).astype(int)
        else:
            table = rng.integers(0, 2, space.entries)
        frames = film(automata.tabulated(space.spread(table)), soup(rng, (size, size), 0.5), 9)
        found = row.find(frames, space)
        unseen = bool(found.never_seen.any())
        named = kind == "512" or found.name == space.name(space.spread(table))
        row.right.append(agrees(found, table) and explains(found, frames) and (named or unseen))
        free += unseen
    row.notes = [f"{free} with entries never seen{said}"] if said else []
    row.show()


@pytest.mark.once
@pytest.mark.parametrize("gap", [2, 3, exhaustive(4)])
def test_life_with_gaps(gap):
    row = Row(f"Life, pairs of 16×16 {gap} steps apart, outer-totalistic")
    needed = []
    space = Space("moore", "outer-totalistic")
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        pairs = np.stack([film(life, soup(rng, (16, 16)), 2, gap) for _ in range(8)])
        for count in range(1, 9):
            found = row.find(pairs[:count], space, gap=gap, seconds=120)
            if found.unique:
                break
        needed.append(count)
        row.right.append(found.unique and agrees(found, life_table(space)))
    row.notes = [f"unique, with {min(needed)} to {max(needed)} pairs"]
    row.show()


@pytest.mark.exhaustive
def test_life_with_gaps_and_no_symmetry():
    row = Row("Life, two films of 64×64, 8 frames 2 steps apart, no symmetry assumed")
    least = 512
    for seed in range(max(1, SEEDS // 2)):
        rng = np.random.default_rng(seed)
        films = np.stack([film(life, soup(rng, (64, 64), 0.3), 8, 2) for _ in range(2)])
        found = row.find(films, gap=2, seconds=300)
        least = min(least, int(found.determined.sum()))
        row.right.append(found.unique and agrees(found, life_table(Space())))
    row.notes = [f"{least} of 512 entries determined"]
    row.show()


@pytest.mark.once
@pytest.mark.parametrize(("what", "share"), [("masked", 0.05), ("flipped", 0.01)])
def test_cells_that_are(what, share):
    row = Row(f"Life, 32×32 × 8 steps, {100 * share:.0f} % of the cells {what}, outer-totalistic")
    space = Space("moore", "outer-totalistic")
    same = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        frames = film(life, soup(rng, (32, 32)), 9)
        some = rng.random(frames.shape) < share
        if what == "masked":
            found = row.find(frames, space, some, seconds=120)
            row.right.append(agrees(found, life_table(space)) and explains(found, frames))
            continue
        found = row.find(frames ^ some, space, noise=True, seconds=120)
        truth = life_table(space)[~found.never_seen]
        row.right.append((found.table[~found.never_seen] == truth).all())
        same += some.sum() == len(found.flipped)
    if what == "flipped":
        row.notes = [f"as many flips found as there were in {same} of {SEEDS}"]
    row.show()


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "states", "step", "hood"),
    [
        ("Brian's Brain", 3, automata.brains_brain, "moore"),
        ("WireWorld", 4, automata.wireworld, "moore"),
        ("cyclic, 4 states", 4, automata.cyclic, "von-neumann"),
    ],
)
def test_several_states(name, states, step, hood):
    row = Row(f"{name}, 64×64 × 16 steps, outer-totalistic")
    space = Space(hood, "outer-totalistic", states)
    free = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        frames = film(step, rng.integers(0, states, (64, 64)), 17)
        found = row.find(frames, space)
        fresh = film(step, rng.integers(0, states, (64, 64)), 17)
        row.right.append(explains(found, fresh))
        free.append(int(found.never_seen.sum()))
        assert (found.name is None) == (step != automata.brains_brain)
    row.notes = [f"{min(free)} to {max(free)} of {space.entries} entries never seen"]
    row.show(least=0)
    # Only unseen entries may be wrong.
    assert all(right for right, unseen in zip(row.right, free, strict=True) if not unseen)
