"""Workers under a scheduler: every order in which they can reach what they share.

The kernels' sources run as plain Python, in which each access to something shared is a step. A
worker is a generator: it says what it is about to do, and goes on with the result. What it does
next follows from where it stands and what its variables hold, so its steps are learned once, as an
automaton, and orders of several workers' steps are found in tables. Two workers that are about to
use the same thing race, unless both do it atomically or both only read it.
"""

import ast
from collections import defaultdict
from itertools import combinations
from typing import NamedTuple

import numpy as np

from difflogic.engine.kernels import teams

SHARED = ("control", "sums")
"""Arrays whose elements are shared, as the sources call them."""


KEPT = teams.SPUN
"""Numbers of a cursor that say what a worker does. Others count."""


class ScheduleError(AssertionError):
    """Workers race, wait without end, or do what they should not."""


class Step(NamedTuple):
    """What a worker is about to do: `arguments` are for the method of `State`."""

    kind: str
    arguments: tuple
    reads: frozenset
    writes: frozenset = frozenset()
    atomic: bool = False


def stepping(names):
    """Return what compiles a text in which calls of `names`, and of what calls them, are steps."""
    steps = set(names)

    def read(text, file, mode):
        tree = ast.parse(text)
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for _ in functions:
            for function in functions:
                if any(_called(node) in steps or _element(node) for node in ast.walk(function)):
                    steps.add(function.name)
        return compile(ast.fix_missing_locations(_Stepping(steps).visit(tree)), file, mode)

    return read


def _called(node):
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", None))


def _element(node):
    return isinstance(node, ast.Subscript) and getattr(node.value, "id", None) in SHARED


class _Stepping(ast.NodeTransformer):
    """Yields from calls, and turns elements of shared arrays into calls."""

    def __init__(self, steps):
        self.steps = steps

    def visit_Call(self, node):
        self.generic_visit(node)
        return ast.YieldFrom(node) if _called(node) in self.steps else node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        return self._plain("load", node) if _element(node) else node

    def visit_Assign(self, node):
        if not _element(node.targets[0]):
            return self.generic_visit(node)
        return ast.Expr(self._plain("store", node.targets[0], self.visit(node.value)))

    def _plain(self, what, node, *value):
        place = ast.Constant(0) if isinstance(node.slice, ast.Slice) else node.slice
        name = ast.Name(f"plain_{what}", ast.Load())
        return ast.YieldFrom(ast.Call(name, [node.value, place, *value], []))


class Worker:
    """A worker's automaton: where it can stand, what it is about to do, and where it goes then.

    `begin` returns its generator and its cursor. Places are numbers; it begins at 0.
    """

    def __init__(self, begin):
        self._begin = begin
        self._places = {}
        self._next = {}
        self._from = []
        self.steps = []
        self._enter(*self._advance(*begin(), None), None)

    def after(self, place, result):
        """Return where the step at a place leads, by its result."""
        key = place, result
        if key not in self._next:
            where, running = self._live
            if where != place:
                running = self._replay(place)
            self._next[key] = self._enter(*self._advance(*running, result), key)
        return self._next[key]

    def _replay(self, place):
        results = []
        while self._from[place] is not None:
            place, result = self._from[place]
            results.append(result)
        running = self._begin()
        for result in (None, *reversed(results)):
            self._advance(*running, result)
        return running

    @staticmethod
    def _advance(generator, cursor, result):
        try:
            return generator, cursor, generator.send(result)
        except StopIteration:
            return generator, cursor, None

    def _enter(self, generator, cursor, step, came):
        held = tuple(cursor[:KEPT])
        key = step, held, tuple(_frames(generator))
        if key not in self._places:
            self._places[key] = len(self.steps)
            self.steps.append(step)
            self._from.append(came)
        self._live = self._places[key], (generator, cursor)
        return self._places[key]


def _frames(generator):
    """Where a generator stands, and what its variables hold."""
    while getattr(generator, "gi_frame", None) is not None:
        held = []
        for name, value in generator.gi_frame.f_locals.items():
            value = min(value, 1) if name == "spins" else value
            if isinstance(value, bool | int | float | range | np.integer):
                held.append((name, value))
        yield generator.gi_code.co_name, generator.gi_frame.f_lasti, tuple(held)
        generator = generator.gi_yieldfrom


class Schedules:
    """All states that workers can reach together.

    A state is the workers' places, the control array, and what lies in memory, by location.
    """

    def __init__(self, workers, control, memory):
        self.workers = workers
        self.locations = {location: index for index, location in enumerate(memory)}
        self.first = (0,) * len(workers), (0,) * control, tuple(memory.values())
        self._apart = {}

    def explore(self, most):
        """Visit all states; return those at the end, and how many there are.

        Raises ScheduleError for a race, a wrong value, or a state from which not all end, and
        RuntimeError for more than `most` states.
        """
        numbers = {self.first: 0}
        before = defaultdict(list)
        ends = []
        open_ = [self.first]
        while open_:
            state = open_.pop()
            number = numbers[state]
            following = self.following(state)
            if not following:
                ends.append(state)
            for one in following:
                if one not in numbers:
                    if len(numbers) == most:
                        raise RuntimeError(f"more than {most} states")
                    numbers[one] = len(numbers)
                    open_.append(one)
                before[numbers[one]].append(number)
        ending = {numbers[end] for end in ends}
        open_ = list(ending)
        while open_:
            for one in before[open_.pop()]:
                if one not in ending:
                    ending.add(one)
                    open_.append(one)
        if len(ending) < len(numbers):
            raise ScheduleError("workers wait without end")
        return ends, len(numbers)

    def run(self, rng, most):
        """Draw an order until all workers end; return the last state. Raises as `explore` does."""
        state = self.first
        for _ in range(most):
            following = self.following(state)
            if not following:
                return state
            state = following[rng.integers(len(following))]
        raise ScheduleError("workers wait without end")

    def following(self, state):
        """Return the states after one step of each worker that has one. Raises for a race."""
        places, control, memory = state
        if places not in self._apart:
            steps = [worker.steps[at] for worker, at in zip(self.workers, places, strict=True)]
            self._check(steps)
            self._apart[places] = [(who, step) for who, step in enumerate(steps) if step]
        found = []
        for who, step in self._apart[places]:
            result, now, kept = getattr(self, f"_{step.kind}")(
                places, control, memory, *step.arguments
            )
            then = self.workers[who].after(places[who], result)
            found.append(((*places[:who], then, *places[who + 1 :]), now, kept))
        return found

    @staticmethod
    def _check(steps):
        for one, other in combinations([step for step in steps if step], 2):
            shared = one.writes & (other.reads | other.writes) | other.writes & one.reads
            if shared and not (one.atomic and other.atomic):
                raise ScheduleError(f"two workers race for {sorted(map(str, shared))[0]}")

    def _load(self, places, control, memory, at):
        return control[at], control, memory

    def _store(self, places, control, memory, at, value):
        if value > 99:
            raise ScheduleError(f"control {at} counts without end")
        return None, (*control[:at], value, *control[at + 1 :]), memory

    def _add(self, places, control, memory, at, value):
        _, added, _ = self._store(places, control, memory, at, control[at] + value)
        return control[at], added, memory

    def _claim(self, places, control, memory, at, value):
        if control[at] != value:
            return False, control, memory
        return True, self._store(places, control, memory, at, value + 1)[1], memory

    def _touch(self, places, control, memory, expected, left):
        for location, _ in (*expected, *left):
            if location not in self.locations:
                raise ScheduleError(f"there is no {location}")
        for location, value in expected:
            if memory[self.locations[location]] != value:
                raise ScheduleError(
                    f"{location} holds {memory[self.locations[location]]}, not {value}"
                )
        if left:
            memory = list(memory)
            for location, value in left:
                memory[self.locations[location]] = value
        return None, control, tuple(memory)


def touching(expected=(), left=()):
    """Read and write locations; those `expected` hold a value before, those `left` after."""
    reads = frozenset(location for location, _ in expected)
    writes = frozenset(location for location, _ in left)
    return Step("touch", (tuple(expected), tuple(left)), reads, writes)


def _accessing(kind, writes, atomic):
    def access(control, place, *value):
        here = frozenset([("control", int(place))])
        arguments = int(place), *map(int, value)
        return (yield Step(kind, arguments, here, here if writes else frozenset(), atomic))

    return access


ATOMIC = {
    f"atomic_{kind}": _accessing(kind, kind != "load", True) for kind in ("load", "add", "claim")
}
load = _accessing("load", False, False)
store = _accessing("store", True, False)


def plain_add(control, place, value):
    """What atomic_add does, but not atomically."""
    before = yield from load(control, place)
    yield from store(control, place, before + value)
    return before


def plain_claim(control, place, value):
    """What atomic_claim does, but not atomically."""
    found = yield from load(control, place)
    if found == value:
        yield from store(control, place, value + 1)
    return found == value
