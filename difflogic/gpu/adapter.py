"""The GPU that wgpu finds, its limits, and its errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from difflogic.gpu.tables import TILE_CELLS, Shape
from difflogic.system.errors import ConfigError, TrainingError
from difflogic.system.quantities import counted, show_bytes


@dataclass(frozen=True)
class Adapter:
    """A GPU of this machine, with its limits."""

    name: str
    limits: dict[str, int]
    handle: Any

    def open(self) -> Any:
        """Return a new device, which may use as much as the adapter offers."""
        return self.handle.request_device_sync(required_limits=self.limits)

    @property
    def most_bytes(self) -> int:
        """Most bytes of one buffer."""
        return min(self.limits["max-storage-buffer-binding-size"], self.limits["max-buffer-size"])

    def most_runs(self, shape: Shape) -> int:
        """Return how many runs of a shape fit side by side; 0 if not even one."""
        return self.most_bytes // (max(shape.bytes.values()) + 4)

    def require(self, shape: Shape, runs: int) -> None:
        """Raise ConfigError, saying what would fit, if the runs do not."""
        name, most = max(shape.bytes.items(), key=lambda each: each[1])
        fit = self.most_runs(shape)
        if runs <= fit:
            return
        remedy = f"train at most {fit} at a time"
        if not fit:
            # Nearly all of a buffer is proportional to the cells.
            cells = shape.lanes * self.most_bytes // (most + 4) // TILE_CELLS * TILE_CELLS
            remedy = f"at most {cells} cells of all samples together do: lower the grid or "
            remedy += "[training] batch, or use --device cpu"
        raise ConfigError(
            f"[parallel] device: {counted(runs, 'run')} side by side: {name} take "
            f"{show_bytes((most + 4) * runs)}, and a buffer of {self.name} holds "
            f"{show_bytes(self.most_bytes)}: {remedy}"
        )


@cache
def _leave_opengl_out() -> None:
    """Leave OpenGL's drivers out, once per process: they print messages and cannot compute."""
    from wgpu.backends.wgpu_native.extras import set_instance_extras

    with suppress(RuntimeError):  # other code in this process has chosen already
        set_instance_extras(backends=["Vulkan", "Metal", "DX12"])


@cache
def find_adapter() -> Adapter:
    """Return the fastest adapter of this machine. Raises ConfigError without one."""
    try:
        import wgpu

        _leave_opengl_out()
    except ImportError as error:
        raise ConfigError(
            "[parallel] device: a GPU needs the package wgpu: pip install '.[gpu]' in dct's "
            f"directory, or use --device cpu ({error})"
        ) from None
    try:
        handle = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except RuntimeError as error:
        raise _missing(str(error).partition("\n")[0]) from None
    if handle is None:
        raise _missing("no adapter")
    return Adapter(handle.info["device"], dict(handle.limits), handle)


def _missing(why: str) -> ConfigError:
    return ConfigError(
        "[parallel] device: no GPU was found: it needs a driver for Vulkan, Metal or Direct3D 12 "
        f"(on Debian, mesa-vulkan-drivers installs a software GPU), or use --device cpu ({why})"
    )


def _brief(error: Exception) -> str:
    """Return the last line of a message, which names the cause."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()


@contextmanager
def surviving(doing: str) -> Iterator[None]:
    """Turn the device's errors into a TrainingError that says how to continue without it."""
    try:
        import wgpu

        yield
    except (wgpu.GPUError, RuntimeError) as error:
        full = isinstance(error, wgpu.GPUOutOfMemoryError)
        what = "is out of memory" if full else "failed or was lost"
        remedy = "train fewer runs at a time, or " if full else ""
        raise TrainingError(
            f"the GPU {what}, {doing}: {remedy}go on from the last checkpoint with dct train "
            f"--resume RUN --device cpu ({_brief(error)})"
        ) from None
