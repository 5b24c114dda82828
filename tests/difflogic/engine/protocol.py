"""How workers share the training step of a small problem, as schedules."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from types import SimpleNamespace

from difflogic.circuit.netlist import Netlist
from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels import teams
from difflogic.engine.kernels.pipeline import control_places
from difflogic.engine.soft.split import split_program
from tests.difflogic.engine.footprints import footprint
from tests.difflogic.engine.plain import plain_kernels, sources
from tests.difflogic.engine.schedules import (
    ATOMIC,
    ScheduleError,
    Schedules,
    Step,
    Worker,
    load,
    plain_add,
    plain_claim,
    stepping,
    store,
    touching,
)

CLEARED = "cleared"
FORWARD = frozenset([("state", 0)]), frozenset([("new", 0)])
BACK = (
    frozenset([("state", 0), ("upstream", 0), ("loss", 0), ("sums", 0)]),
    frozenset([("downstream", 0), ("sums", 0)]),
)
"""What a tile's step reads and writes where nobody shares its gates: all of it is one row."""


@dataclass(frozen=True)
class Sharing:
    """Groups of samples, in chunks of one tile each, and the workers that share them."""

    workers: int = 2
    """Teams, if `parts` of them share a tile's gates."""
    alone: int = 0
    """Groups that one worker does alone."""
    groups: int = 1
    chunks: int = 2
    steps: int = 2
    ways: int = k.FORWARD | k.LOSS | k.BACKWARD
    all_seen: bool = False
    """Whether a chunk waits for all others after each step, not for those at its side."""
    missing: tuple[int, ...] = ()
    """Workers that never start, so that the call is aborted."""
    netlist: Netlist | None = None
    parts: int = 1

    def explore(self, texts=None, most=10**6):
        """Visit all states of the sources, or of changed ones; return how many there are."""
        model = _Model(self, texts or sources())
        ends, states = model.schedules.explore(most)
        for end in ends:
            model.check(end)
        return states

    def draw(self, rng, orders, texts=None):
        """Draw some orders of the workers' steps."""
        model = _Model(self, texts or sources())
        for _ in range(orders):
            model.check(model.schedules.run(rng, 10**5))


class Place:
    """A location, or a part of the memory that has locations."""

    def __init__(self, *path, shape=()):
        self.path = path
        self.shape = shape

    def __getitem__(self, index):
        return Place(*self.path, *(index if isinstance(index, tuple) else (index,)))

    def at(self, *place):
        return *self.path, *place


class Cursor(list):
    """A worker's cursor. Its numbers are Python's, so that a worker's variables can be compared."""

    def __setitem__(self, at, value):
        super().__setitem__(at, [value] * len(self[at]) if isinstance(at, slice) else value)


class _Model:
    """The training step as steps of workers. Memory holds, at each location, who wrote it last."""

    def __init__(self, sharing, texts):
        self.sharing = sharing
        self.team = k.Team(sharing.workers, sharing.alone)
        chunks = range(sharing.chunks)
        self.seen = [
            [other for other in chunks if sharing.all_seen or abs(other - chunk) < 2]
            for chunk in chunks
        ]
        self.touches: dict = {}
        self.split = sharing.netlist and split_program(sharing.netlist, sharing.parts)
        self.channels = range(sharing.netlist.channels if self.split else 1)
        self.inputs = range(sharing.netlist.inputs if self.split else 1)
        self.parameters = range(sharing.netlist.parameters if self.split else 1)
        tiles = {
            "tile_at": lambda layout, tile: tile,
            "tile_forward": lambda problem, tile, step, space: self.use(FORWARD, tile, step),
            "tile_backward": lambda problem, tile, step, sums, space: self.use(BACK, tile, step),
        }
        primitives = ATOMIC | dict.fromkeys(
            ("flush_denormals", "restore_denormals", "yield_thread"), lambda *mode: 0
        )
        primitives |= dict.fromkeys(("now", "processor_clock"), lambda: 0.0)
        added = {
            "plain_load": self.plain_load,
            "plain_store": self.plain_store,
            "plain_add": plain_add,
            "plain_claim": plain_claim,
        }
        names = {*ATOMIC, *added, *tiles, "duty_forward", "duty_back", "loss_share"} - {"tile_at"}
        texts = {name: text for name, text in texts.items() if name != "tiles"}
        kernels = plain_kernels(
            {"primitives": primitives, "tiles": tiles}, texts, stepping(names), added
        )
        kernels.teams.SPINS = 0
        kernels.training.loss_share = self.loss_share
        kernels.training.duty_forward = self.duty_forward
        kernels.training.duty_back = self.duty_back
        self.kernels = kernels.training

    @cached_property
    def schedules(self):
        sharing = self.sharing
        count = sharing.workers * sharing.parts
        workers = [self.worker(worker) for worker in range(count)]
        pieces = (sharing.groups - sharing.alone) * sharing.chunks
        places = control_places(sharing.workers, pieces) + teams.MEETING * sharing.workers
        if sharing.missing:
            workers.append(Worker(lambda: (abort(), ())))
        return Schedules(workers, places, self.memory())

    def memory(self, done=False):
        """What lies at each location before the step, or when all is done."""
        ways = (k.FORWARD, k.LOSS, k.BACKWARD)
        did = {way for way in ways if done or way < self.sharing.ways & -self.sharing.ways}
        did &= {way for way in ways if way <= self.sharing.ways}
        forward, loss, back = (way in did for way in ways)
        sharing = self.sharing
        places = list(product(range(sharing.groups), range(sharing.chunks)))
        found = {}
        for group, c in product(range(sharing.groups), self.channels):
            found["loss", group, 0, 0, c] = loss or None
        for (group, chunk), step, c in product(places, range(sharing.steps + 1), self.channels):
            found["state", group, step, chunk, c] = step == 0 or forward or None
        for (group, chunk), ring, row in product(places, range(k.RING), self.inputs):
            found["gradient", group, ring, chunk, row] = (
                ring if back and ring < sharing.steps else None
            )
        for (group, chunk), parameter in product(places, self.parameters):
            found["sums", group, chunk, parameter] = 0 if back else None
        return found

    def check(self, end):
        """Raise ScheduleError if a state at the end is not what should be there."""
        if not self.sharing.missing:
            for location, value in self.memory(done=True).items():
                if end[2][self.schedules.locations[location]] != value:
                    raise ScheduleError(f"in the end, {location} is not {value}")

    def worker(self, worker):
        sharing = self.sharing
        control = Place("control")
        layout = SimpleNamespace(
            chunk_start=range(sharing.chunks + 1),
            slot_tiles=1,
            seen_start=[sum(map(len, self.seen[:chunk])) for chunk in range(sharing.chunks + 1)],
            seen=[other for some in self.seen for other in some],
        )
        program = SimpleNamespace(inputs=None)
        batch = SimpleNamespace(
            coefficients=None,
            states=Place("state", shape=(sharing.groups,)),
            masks=Place("mask"),
            loss_steps=[sharing.steps],
            loss_gradients=Place("loss"),
            input_gradients=Place("gradient"),
            sums=Place("sums"),
            clock=[[0.0] * teams.CLOCK_FIELDS for _ in range(sharing.workers * sharing.parts)],
        )
        problem = SimpleNamespace(team=self.team, layout=layout, program=program)
        span = k.Span(sharing.ways, 0, sharing.steps, 0)
        task = k.Call(problem, batch, span, control)
        team, part = divmod(worker, sharing.parts)
        pieces = (sharing.groups - sharing.alone) * sharing.chunks
        place = control_places(sharing.workers, pieces) + teams.MEETING * team
        leader = SimpleNamespace(cursor=Place("cursor", team * sharing.parts))
        seat = k.Seat(part, self.split, leader, control, place)

        def begin():
            cursor = Cursor([0] * teams.CURSOR_FIELDS)
            if worker in sharing.missing:
                return (step for step in ()), cursor
            space = SimpleNamespace(cursor=cursor, team=team)
            if self.split:
                return self.kernels.train_by_gates(worker, task, space, seat), cursor
            return self.kernels.train(worker, task, space), cursor

        return Worker(begin)

    def plain_load(self, array, place):
        if array.path == ("control",):
            return (yield from load(array, place))
        return (yield Step("peek", (array.path[1], int(place)), frozenset()))

    def plain_store(self, array, place, value):
        if array.path == ("control",):
            yield from store(array, place, value)
        else:
            yield touching(left=[(array.at(each), CLEARED) for each in self.parameters])

    def duty_forward(self, duty, tile, step, seat):
        return self.use(tuple(map(int, duty)), tile, step, seat)

    def duty_back(self, duty, inputs, tile, step, sums, seat):
        return self.use(tuple(map(int, duty)), tile, step, seat)

    def use(self, duty, tile, step, seat=None):
        """Do a duty of a tile's step, or all of it."""
        key = duty, tile, step.state.path, seat and seat.leader.cursor.path
        if key not in self.touches:
            rows = footprint(self.split, [duty]) if seat else duty
            self.touches[key] = self.touch(*self.rows(rows, tile, step, seat))
        yield self.touches[key]

    def rows(self, rows, tile, step, seat):
        """What is read and written, what it held before, and what it holds then."""
        _, group, at = step.state.path
        reads = set()
        writes = set()
        expected = []
        left = []

        def seen(place, row, value):
            return [(place.at(other, row), value) for other in self.seen[tile]]

        for array, row in rows[0]:
            if array == "state":
                expected += seen(step.state, row, True)
            elif array == "upstream" and not step.last:
                expected += seen(step.upstream, row, at + 1)
            elif array == "loss" and step.supervised:
                expected.append((step.loss_gradient.at(0, row), True))
            elif array == "sums":
                expected.append((("sums", group, tile, row), CLEARED if step.last else at + 1))
            elif array not in ("upstream", "loss"):
                reads.add((seat.leader.cursor.path, array, row))
        for array, row in rows[1]:
            if array == "new":
                expected.append((step.new_state.at(tile, row), None))
                left.append((step.new_state.at(tile, row), True))
            elif array == "downstream":
                left.append((step.downstream.at(tile, row), at))
            elif array == "sums":
                left.append((("sums", group, tile, row), at))
            else:
                writes.add((seat.leader.cursor.path, array, row))
        return reads, writes, expected, left

    def touch(self, reads=(), writes=(), expected=(), left=()):
        # An aborted call's results are not used.
        return touching() if self.sharing.missing else touching(reads, writes, expected, left)

    def loss_share(self, worker, workers, layout, batch, in_use):
        sharing = self.sharing
        for group in range(worker, sharing.groups, workers):
            ends = product([group], [sharing.steps], range(sharing.chunks), self.channels)
            yield self.touch(
                expected=[(("state", *place), True) for place in ends],
                left=[(("loss", group, 0, 0, c), True) for c in self.channels],
            )


def abort():
    """Abort the call at any time."""
    here = frozenset([("control", teams.ABORTED)])
    yield Step("store", (teams.ABORTED, 1), here, here, True)
