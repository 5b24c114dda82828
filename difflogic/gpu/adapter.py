"""The graphics processor that wgpu finds, what it can hold, and what can go wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from difflogic.gpu.tables import Shape
from difflogic.system.errors import ConfigError, TrainingError
from difflogic.system.quantities import show_bytes

LIMITS = (
    "max-storage-buffer-binding-size",
    "max-buffer-size",
    "max-compute-workgroup-storage-size",
    "max-compute-invocations-per-workgroup",
    "max-storage-buffers-per-shader-stage",
    "max-compute-workgroups-per-dimension",
)
"""What is asked of the device: as much as the adapter gives."""


@dataclass(frozen=True)
class Adapter:
    """A way to a device, with its limits."""

    name: str
    kind: str
    """Such as "DiscreteGPU"; "CPU" if a processor plays it."""
    limits: dict[str, int]
    handle: Any

    def open(self) -> Any:
        """Return a device of its own."""
        limits = {name: self.limits[name] for name in LIMITS if name in self.limits}
        return self.handle.request_device_sync(required_limits=limits)

    @property
    def most_bytes(self) -> int:
        """Bytes that one buffer may have."""
        return min(self.limits["max-storage-buffer-binding-size"], self.limits["max-buffer-size"])

    def most_runs(self, shape: Shape) -> int:
        """Return how many runs of a shape fit side by side; 0 if not even one."""
        return self.most_bytes // (max(shape.bytes.values()) + 4)

    def require(self, shape: Shape, runs: int) -> None:
        """Raise ConfigError, with the least that would do, if the runs do not fit."""
        name, most = max(shape.bytes.items(), key=lambda each: each[1])
        fit = self.most_runs(shape)
        if runs <= fit:
            return
        needed = show_bytes((most + 4) * runs)
        remedy = (
            f"train at most {fit} at a time"
            if fit
            else "lower [training] batch, the grid, [automaton] steps or the circuit's gates, or "
            "use --device cpu"
        )
        raise ConfigError(
            f"[parallel] device: {runs} {'run' if runs == 1 else 'runs'} side by side need a "
            f"buffer of {needed} for {name}, and {self.name} has {show_bytes(self.most_bytes)}: "
            f"{remedy}"
        )


@cache
def find_adapter() -> Adapter:
    """Return the fastest adapter of this machine. Raises ConfigError if there is none."""
    try:
        import wgpu
        from wgpu.backends.wgpu_native.extras import set_instance_extras
    except ImportError as error:
        raise ConfigError(
            "[parallel] device: a GPU needs the package wgpu: pip install 'dct-difflogic-ca[gpu]', "
            f"or use --device cpu ({error})"
        ) from None
    set_instance_extras(backends=["Vulkan", "Metal", "DX12"])
    try:
        handle = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except RuntimeError as error:
        raise _missing(str(error)) from None
    if handle is None:
        raise _missing("no adapter")
    info = handle.info
    return Adapter(info["device"], info["adapter_type"], dict(handle.limits), handle)


def _missing(why: str) -> ConfigError:
    return ConfigError(
        "[parallel] device: no GPU was found: it needs a driver for Vulkan, Metal or Direct3D 12 "
        f"(on Debian, mesa-vulkan-drivers plays one on the processor), or use --device cpu ({why})"
    )


@contextmanager
def surviving(doing: str) -> Iterator[None]:
    """Turn what the device raises into a TrainingError that says how to go on without it."""
    try:
        import wgpu

        yield
    except wgpu.GPUOutOfMemoryError as error:
        raise TrainingError(
            f"the GPU is out of memory, {doing}: train fewer runs at a time, or resume on the "
            f"processor with --device cpu ({error})"
        ) from None
    except (wgpu.GPUError, RuntimeError) as error:
        raise TrainingError(
            f"the GPU was lost, {doing}: resume on the processor with --device cpu ({error})"
        ) from None
