"""Runs of one shape on a device, side by side: buffers, dispatches, and results.

Each run has its own place in every buffer, and computes only from that. So runs can share a
dispatch with any others: each gives the same bits as alone.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from difflogic.gpu.adapter import Adapter, surviving
from difflogic.gpu.tables import JOB_WORDS, THREADS, TILE_CELLS, Shape, Words32, offsets, shader
from difflogic.system.array_types import Array, Float32s

MIXES = 1
RUNS = 2
REDUCES = 4
MOVES = 8
"""Parts of a training step that a job takes part in, as in kernels.wgsl."""

KERNELS = ("learn", "mix", "forward", "loss", "backward", "reduce", "share")
"""Entry points of the shader, in the order in which a step runs them."""

GATHER_SECONDS = 0.005
"""How long a dispatch waits for the other runs; a step takes longer than that."""

BUFFERS = ("net", "jobs", "learned", "states", "values", "gradients", "sums", "report")
"""The device's buffers, in the order of the shader's bindings."""


@dataclass
class Job:
    """What a run does in a dispatch."""

    run: int
    does: int
    steps: int = 0
    samples: int = 0
    loss_steps: Sequence[int] = (0,)
    masked: bool = False
    fresh: bool = True
    """Whether to begin the gates' sums, or else to add to them."""
    rates: Sequence[float] = ()
    report: Words32 | None = None
    """The run's words in the report buffer, once the job is done."""
    error: BaseException | None = field(default=None, repr=False)

    def words(self, cells: int) -> Words32:
        """Return the head of the job's words; a sample has `cells` cells."""
        head = np.zeros(JOB_WORDS, np.uint32)
        used = self.samples * cells
        tiles = -(-used // TILE_CELLS)
        first = self.loss_steps[0]
        last = self.loss_steps[-1]
        head[:8] = self.does, self.steps, used, tiles, first, last, self.masked, self.fresh
        rates = np.array(self.rates, np.float32)
        head[8 : 8 + len(rates)] = rates.view(np.uint32)
        return head


class Fleet:
    """The buffers and kernels for several runs of one shape. Thread-safe."""

    def __init__(self, adapter: Adapter, shape: Shape, runs: int) -> None:
        """Raises ConfigError if the runs do not fit the adapter."""
        adapter.require(shape, runs)
        self.adapter = adapter
        self.shape = shape
        self.runs = runs
        self._free = list(range(runs))
        self._condition = threading.Condition()
        self._using = threading.Lock()
        self._waiting: list[Job] = []
        self._busy = False
        with surviving("allocating its buffers"):
            self._device = adapter.open()
            self._make(shader(shape, runs))

    def _make(self, text: str) -> None:
        import wgpu

        device = self._device
        usage = wgpu.BufferUsage
        sizes = {name: size * self.runs for name, size in self.shape.bytes.items()}
        sizes["jobs"] += 4 * self.runs
        self._buffers = {
            name: device.create_buffer(
                size=sizes[name], usage=usage.STORAGE | usage.COPY_DST | usage.COPY_SRC
            )
            for name in BUFFERS
        }
        # Every step's number has its own place, 256 bytes apart, as all devices accept.
        steps = np.zeros((max(1, self.shape.steps), 64), np.uint32)
        steps[:, 0] = np.arange(len(steps))
        numbers = device.create_buffer_with_data(data=steps, usage=usage.UNIFORM)
        compute = wgpu.ShaderStage.COMPUTE
        layouts = [
            device.create_bind_group_layout(
                entries=[
                    {"binding": place, "visibility": compute, "buffer": {"type": kind}}
                    for place, kind in enumerate(kinds)
                ]
            )
            for kinds in (["read-only-storage"] * 2 + ["storage"] * 6, ["uniform"])
        ]

        def bind(layout: int, *resources: dict[str, Any]) -> Any:
            entries = [
                {"binding": place, "resource": resource} for place, resource in enumerate(resources)
            ]
            return device.create_bind_group(layout=layouts[layout], entries=entries)

        self._bound = bind(0, *({"buffer": self._buffers[name]} for name in BUFFERS))
        self._numbers = [
            bind(1, {"buffer": numbers, "offset": 256 * step, "size": 16})
            for step in range(len(steps))
        ]
        module = device.create_shader_module(code=text)
        layout = device.create_pipeline_layout(bind_group_layouts=layouts)
        self._pipelines = {
            name: device.create_compute_pipeline(
                layout=layout, compute={"module": module, "entry_point": name}
            )
            for name in KERNELS
        }

    def take(self) -> int:
        """Reserve a run's place; return its number."""
        with self._condition:
            return self._free.pop()

    def leave(self, run: int) -> None:
        """Give a run's place back."""
        with self._condition:
            self._free.append(run)
            self._condition.notify_all()

    def write(self, buffer: str, run: int, part: str, data: Array) -> None:
        """Write `data`, numbers of 4 bytes, to a part of a run's place in a buffer."""
        words = np.ascontiguousarray(data).view(np.uint32)
        with surviving("writing to it"), self._using:
            at = self._at(buffer, run, part)
            self._device.queue.write_buffer(self._buffers[buffer], at, words)

    def read(self, buffer: str, run: int, part: str, numbers: int) -> Float32s:
        """Return the first `numbers` numbers of a part of a run's place in a buffer."""
        with surviving("reading from it"), self._using:
            at = self._at(buffer, run, part)
            found = self._device.queue.read_buffer(self._buffers[buffer], at, 4 * numbers)
        return np.frombuffer(found, np.float32)

    def _at(self, buffer: str, run: int, part: str) -> int:
        """Return the byte where a part of a run's place in a buffer begins."""
        shape = self.shape
        first = 4 * self.runs if buffer == "jobs" else 0
        place = shape.element(buffer) * offsets(shape.parts[buffer])[part]
        return first + run * shape.bytes[buffer] + place

    def do(self, job: Job) -> Words32:
        """Do a job, together with those of other threads; return the run's report, in words."""
        with self._condition:
            self._waiting.append(job)
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._all_wait or self._busy, GATHER_SECONDS)
            while job.report is None and job.error is None:
                if self._busy:
                    self._condition.wait()
                    continue
                together, self._waiting, self._busy = self._waiting, [], True
                self._dispatch(together)
        if job.error is not None:
            raise job.error
        assert job.report is not None
        return job.report

    @property
    def _all_wait(self) -> bool:
        return len(self._waiting) >= self.runs - len(self._free)

    def _dispatch(self, jobs: list[Job]) -> None:
        """Run jobs on the device, with the lock released meanwhile."""
        self._condition.release()
        try:
            with surviving("in a training step"), self._using:
                words = self._run(jobs)
            for job in jobs:
                job.report = words[job.run]
        except BaseException as error:
            for job in jobs:
                job.error = error
        finally:
            self._condition.acquire()
        self._busy = False
        self._condition.notify_all()

    def _run(self, jobs: list[Job]) -> Words32:
        """Run jobs on the device; return the reports of all places, (runs, words)."""
        shape = self.shape
        queue = self._device.queue
        active = np.array([job.run for job in jobs], np.uint32)
        queue.write_buffer(self._buffers["jobs"], 0, active)
        for job in jobs:
            at = self._at("jobs", job.run, "HEAD")
            queue.write_buffer(self._buffers["jobs"], at, job.words(shape.grid.cells))
        does = np.bitwise_or.reduce([job.does for job in jobs])
        encoder = self._device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_bind_group(0, self._bound)
        for kernel, step, groups in self._order(int(does), max(job.steps for job in jobs)):
            work.set_pipeline(self._pipelines[kernel])
            work.set_bind_group(1, self._numbers[step])
            work.dispatch_workgroups(groups, len(jobs))
        work.end()
        queue.submit([encoder.finish()])
        found = queue.read_buffer(self._buffers["report"])
        return np.frombuffer(found, np.uint32).reshape(self.runs, -1)

    def _order(self, does: int, steps: int) -> list[tuple[str, int, int]]:
        """Return the kernels to run, each with its automaton step and number of workgroups."""
        shape = self.shape
        parameters = -(-shape.parameters // THREADS)
        gates = -(-shape.gates // THREADS)
        found = [("learn", 0, parameters)] if does & MOVES else []
        found += [("mix", 0, parameters)] if does & MIXES else []
        if does & RUNS:
            found += [("forward", step, shape.tiles) for step in range(steps)]
            found += [("loss", 0, shape.batch)]
            found += [("backward", step, shape.tiles) for step in reversed(range(steps))]
        if does & REDUCES:
            found += [("reduce", 0, gates), ("share", 0, parameters)]
        return found


class Fleets:
    """Fleets by shape, for runs side by side in threads of this process."""

    def __init__(self, runs: int) -> None:
        """At most `runs` of each shape run at a time."""
        self._runs = runs
        self._fleets: dict[Shape, Fleet] = {}
        self._lock = threading.Lock()

    def of(self, adapter: Adapter, shape: Shape) -> Fleet:
        """Return the fleet of a shape. Raises ConfigError if its runs do not fit."""
        with self._lock:
            if shape not in self._fleets:
                self._fleets[shape] = Fleet(adapter, shape, self._runs)
            return self._fleets[shape]
