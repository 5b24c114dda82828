"""The sections that say how a run is computed, and when it is written down."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from difflogic.system.quantities import BYTES
from difflogic.tasks.sections import Section, Size

Auto = Literal["auto"]

FREE = {
    "parallel": ("workers", "strategy", "memory_budget", "device"),
    "checkpoint": ("every_seconds", "every_epochs"),
}
"""Settings that say how a result is computed, and change no bit of it, but for the device: a GPU
rounds otherwise."""


class ParallelConfig(Section):
    """How the work is spread. Only lanes, chunk and device change results, in their last bits."""

    workers: Auto | Annotated[int, Field(ge=1, le=1024)] = Field(
        default="auto",
        description="worker threads; auto is as many as help, at most one per available core",
    )
    strategy: Literal["auto", "sequential", "samples", "cells", "steps", "gates"] = Field(
        default="auto",
        description="how workers share a step: sequential not at all, on one worker; samples one "
        "worker each; cells of a sample with a barrier at each step; steps as a pipeline without "
        "barriers; gates of a tile; auto by samples as far as they go around, then by steps",
    )
    memory_budget: Annotated[str, Field(pattern=rf"^auto$|{BYTES}")] = Field(
        default="auto",
        description="bytes that the buffers of all workers may take together; samples in flight, "
        "and then workers, become fewer until they do; auto is what is available",
        json_schema_extra={"accepted": '"auto" or a number of bytes, such as "512MB" or "2GiB"'},
    )
    lanes: Literal["auto", 16, 32, 64] = Field(
        default="auto",
        description="cells that one tile updates together; auto follows from grid and circuit",
    )
    chunk: Auto | Size = Field(
        default="auto",
        description="tiles that a worker takes at a time, with one slot for their gate sums",
    )

    device: Literal["cpu", "gpu"] = Field(
        default="cpu",
        description="what trains: cpu, these workers; gpu, a graphics processor (needs the gpu "
        "extra, and float32), while searches and proofs stay on the workers",
    )

    @field_validator("lanes", mode="before")
    @classmethod
    def _refuse_float(cls, lanes: object) -> object:
        if isinstance(lanes, float):  # which equals an integer of the list
            raise ValueError
        return lanes


class CheckpointConfig(Section):
    """When a run writes down where it stands. Changes no result."""

    every_seconds: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=10.0, description="seconds from one checkpoint to the next; 0 is never"
    )
    every_epochs: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0, description="epochs from one checkpoint to the next; 0 is never"
    )
