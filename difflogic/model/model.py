"""A circuit with its logits and configuration, and their file."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from difflogic.circuit import gates
from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.circuit.netlist import WiredLayers, Wires
from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.circuit.wiring import Wiring
from difflogic.config.checking import config_from_dict
from difflogic.config.models import Config
from difflogic.config.problem import untrained
from difflogic.system.archive import NpzReader, write_npz
from difflogic.system.array_types import Int32s
from difflogic.system.declaration import checked
from difflogic.system.errors import ConfigError, ModelFileError, shorten
from difflogic.system.files import write_output

FORMAT = "dct-model"
VERSION = 2
"""Changes when programs can no longer read each other's files."""

MAX_HEADER_BYTES = 2**20


@dataclass(frozen=True, eq=False)
class Model(SoftCircuit):
    """A circuit with the configuration of its run, as it is saved."""

    config: Config

    def __post_init__(self) -> None:
        if self.layers.architecture != self.config.architecture:
            raise ConfigError("the circuit's sizes are not those of the configuration")
        super().__post_init__()

    @classmethod
    def of(cls, circuit: SoftCircuit, config: Config) -> Model:
        """Return a circuit with the configuration of its run, which it may have outgrown."""
        return cls(circuit.layers, circuit.logits, config.grown(circuit.layers.architecture))

    @classmethod
    def create(
        cls,
        config: Config,
        attempt: int = 0,
        *,
        perception: Sequence[Wires] | None = None,
        update: Wires | None = None,
    ) -> Model:
        """Return an untrained model, wired from the seed.

        Each `attempt` of a run that starts over has its own wiring. The caller may give wires
        instead: for each layer an array (gates, 2), the inputs a and b of each gate. `update` is a
        list of these arrays, `perception` a list of such lists: one for each kernel, or one for all
        with perception.directions "same". Raises ConfigError if wires do not fit.
        """
        if config.update.corrected:
            raise ConfigError(
                "a circuit that was rebuilt after training cannot be trained again: train with "
                "the configuration of its run"
            )
        return cls.of(
            untrained(config.architecture, config.training, attempt, perception, update), config
        )

    def __repr__(self) -> str:
        sizes = self.config.architecture
        kind = self.logits.dtype
        return (
            f"Model({self.config.name!r}, {sizes.channels} channels, {sizes.parameters} gates with "
            f"{kind} logits)"
        )

    def save(self, path: str | Path) -> None:
        """Write the model to `path`, whole or not at all; equal models give equal bytes.

        The file leaves out settings that change no bit of a result, such as the number of workers.
        Raises RunDirectoryError if the file cannot be written, and ModelFileError if a logit is not
        finite, since such a file could not be loaded.
        """
        path = Path(path)
        write_output(path, self.to_bytes(str(path)), force=True)

    def to_bytes(self, name: str) -> bytes:
        """Return the content of the model's file, which messages call `name`.

        Raises ModelFileError.
        """
        if not np.isfinite(self.logits).all():
            raise ModelFileError(f"{name}: not saved: a logit is NaN or infinite")
        header = {"format": FORMAT, "version": VERSION, "config": self.config.effective()}
        arrays = {
            "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
            "logits": self.logits,
            **_pack("perception", list(chain.from_iterable(self.layers.perception))),
            **_pack("update", self.layers.update),
        }
        file = io.BytesIO()
        write_npz(file, arrays)
        return file.getvalue()

    @classmethod
    @checked
    def load(cls, path: str | Path, *, follow: bool = True) -> Model:
        """Read a model, through a link only if `follow`. Raises ModelFileError."""
        with NpzReader(Path(path), follow=follow) as reader:
            config = _read_config(reader, str(path))
            architecture = config.architecture
            shape = (architecture.parameters, gates.OPS)
            logits = reader.array("logits", shape, (np.float32, np.float64))
            if not np.isfinite(logits).all():
                raise reader.error("a logit is NaN or infinite: the training run failed")
            kernels = architecture.kernel_wirings
            inputs = architecture.update_inputs
            sizes = architecture.perception
            perception = _unpack(reader, "perception", NEIGHBORHOOD, sizes, kernels)
            (update,) = _unpack(reader, "update", inputs, architecture.update)
            try:
                return cls(WiredLayers(architecture, perception, update), logits, config)
            except ConfigError as error:  # a wire that leads nowhere
                raise reader.error(f"the wiring is damaged: {error}") from None


def _read_config(reader: NpzReader, source: str) -> Config:
    foreign = "holds arrays, but no model saved by dct"
    header = reader.header(FORMAT, MAX_HEADER_BYTES, foreign)
    version = header.get("version")
    if type(version) is not int or version != VERSION:
        raise reader.error(
            f"has format version {shorten(repr(version))}, but this program reads {VERSION}: use "
            "the dct that wrote it"
        )
    config = header.get("config")
    if not isinstance(config, dict):
        raise reader.error("contains no configuration: the file is damaged")
    try:
        return config_from_dict(config, f"configuration in {source}")
    except ConfigError as error:
        raise ModelFileError(str(error)) from None


def _pack(part: str, layers: Sequence[Wiring]) -> dict[str, Int32s]:
    """Return the wires of all layers in order, as two arrays."""
    return {
        f"{part}_a": np.concatenate([layer.a for layer in layers]),
        f"{part}_b": np.concatenate([layer.b for layer in layers]),
    }


def _unpack(
    reader: NpzReader, part: str, inputs: int, sizes: tuple[int, ...], copies: int = 1
) -> tuple[tuple[Wiring, ...], ...]:
    """Return `copies` stacks of layers with these sizes; the first layer reads `inputs`."""
    wires = copies * sum(sizes)
    a = reader.array(f"{part}_a", (wires,), (np.int32,)).reshape(copies, -1)
    b = reader.array(f"{part}_b", (wires,), (np.int32,)).reshape(copies, -1)
    ends = np.cumsum(sizes)[:-1]
    layer_inputs = (inputs, *sizes[:-1])
    return tuple(
        tuple(map(Wiring, layer_inputs, np.split(a[copy], ends), np.split(b[copy], ends)))
        for copy in range(copies)
    )
