"""How workers share the training step of a small problem, as schedules."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from types import SimpleNamespace

from difflogic.engine.kernels import structures as k
from difflogic.engine.kernels import teams
from difflogic.engine.kernels.pipeline import control_places
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
    touching,
)

CLEARED = "cleared"


@dataclass(frozen=True)
class Sharing:
    """Groups of samples, in chunks of one tile each, and the workers that share them."""

    workers: int = 2
    alone: int = 0
    """Groups that one worker does alone."""
    groups: int = 1
    chunks: int = 2
    steps: int = 2
    all_seen: bool = False
    """Whether a chunk waits for all others after each step, not for those at its side."""
    missing: tuple[int, ...] = ()
    """Workers that never start, so that the call is aborted."""

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
        tiles = {
            "tile_at": lambda layout, tile: tile,
            "tile_forward": lambda problem, tile, step, space: self.forward(tile, step),
            "tile_backward": lambda problem, tile, step, sums, space: self.back(tile, step),
        }
        primitives = ATOMIC | dict.fromkeys(
            ("flush_denormals", "restore_denormals", "yield_thread"), lambda *mode: 0
        )
        primitives |= dict.fromkeys(("now", "processor_clock"), lambda: 0.0)
        added = {
            "plain_load": load,
            "plain_store": self.clear,
            "plain_add": plain_add,
            "plain_claim": plain_claim,
        }
        names = {*ATOMIC, *added, *tiles, "loss_share"} - {"tile_at"}
        texts = {name: text for name, text in texts.items() if name != "tiles"}
        kernels = plain_kernels(
            {"primitives": primitives, "tiles": tiles}, texts, stepping(names), added
        )
        kernels.teams.SPINS = 0
        kernels.training.loss_share = self.loss_share
        self.kernels = kernels.training

    @cached_property
    def schedules(self):
        sharing = self.sharing
        workers = [self.worker(worker) for worker in range(sharing.workers)]
        pieces = (sharing.groups - sharing.alone) * sharing.chunks
        places = control_places(sharing.workers, pieces)
        if sharing.missing:
            workers.append(Worker(lambda: (abort(), ())))
        return Schedules(workers, places, self.memory())

    def memory(self, done=False):
        """What lies at each location before the step, or when all is done."""
        sharing = self.sharing
        places = list(product(range(sharing.groups), range(sharing.chunks)))
        found = {}
        for group in range(sharing.groups):
            found["loss", group, 0] = done or None
        for group, chunk in places:
            for step in range(sharing.steps + 1):
                found["state", group, step, chunk] = step == 0 or done or None
            for ring in range(k.RING):
                found["gradient", group, ring, chunk] = (
                    ring if done and ring < sharing.steps else None
                )
            found["sums", group, chunk] = 0 if done else None
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
            seen_start=[sum(map(len, self.seen[:chunk])) for chunk in range(sharing.chunks + 1)],
            seen=[other for some in self.seen for other in some],
        )
        batch = SimpleNamespace(
            coefficients=None,
            states=Place("state", shape=(sharing.groups,)),
            masks=Place("mask"),
            loss_steps=[sharing.steps],
            loss_gradients=Place("loss"),
            input_gradients=Place("gradient"),
            sums=Place("sums"),
            clock=[[0.0] * teams.CLOCK_FIELDS for _ in range(sharing.workers)],
        )
        problem = SimpleNamespace(team=self.team, layout=layout)
        span = k.Span(k.FORWARD | k.LOSS | k.BACKWARD, 0, sharing.steps, 0)
        task = k.Call(problem, batch, span, control)

        def begin():
            cursor = Cursor([0] * teams.CURSOR_FIELDS)
            if worker in sharing.missing:
                return (step for step in ()), cursor
            return self.kernels.train(worker, task, SimpleNamespace(cursor=cursor)), cursor

        return Worker(begin)

    def clear(self, array, place, value):
        yield self.touch(left=[(array.path, CLEARED)])

    def forward(self, tile, step):
        """Take a tile one step on."""
        yield self.touch(
            [(step.state.at(other), True) for other in self.seen[tile]]
            + [(step.new_state.at(tile), None)],
            [(step.new_state.at(tile), True)],
        )

    def back(self, tile, step):
        """Take a tile one step back."""
        _, group, at = step.state.path
        sums = ("sums", group, tile)
        expected = [(step.state.at(other), True) for other in self.seen[tile]]
        if not step.last:
            expected += [(step.upstream.at(other), at + 1) for other in self.seen[tile]]
        if step.supervised:
            expected.append((step.loss_gradient.path, True))
        expected.append((sums, CLEARED if step.last else at + 1))
        yield self.touch(expected, [(step.downstream.at(tile), at), (sums, at)])

    def touch(self, expected=(), left=()):
        # An aborted call's results are not used.
        return touching() if self.sharing.missing else touching(expected, left)

    def loss_share(self, worker, workers, layout, batch, in_use):
        sharing = self.sharing
        for group in range(worker, sharing.groups, workers):
            last = [("state", group, sharing.steps, chunk) for chunk in range(sharing.chunks)]
            yield self.touch([(place, True) for place in last], [(("loss", group, 0), True)])


def abort():
    """Abort the call at any time."""
    here = frozenset([("control", teams.ABORTED)])
    yield Step("store", (teams.ABORTED, 1), here, here, True)
