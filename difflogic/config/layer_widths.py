"""Layer widths of an update circuit for another number of channels."""

from __future__ import annotations

from collections.abc import Sequence


def fit_layer_widths(gates: Sequence[int], inputs: int, channels: int) -> list[int]:
    """Return layer widths like `gates` for an update circuit from `inputs` bits to `channels`.

    Each layer has at least half the width of the one before, so that every output can be read, and
    at most one gate per pair of inputs. A circuit that fits is returned unchanged.
    """
    if channels == gates[-1]:
        return list(gates)
    widths: list[int] = []
    for size in gates[:-1]:
        if size <= channels and widths:
            break
        pairs = inputs * (inputs - 1) // 2
        inputs = max(1, min(max(size, _half(inputs)), pairs))
        widths.append(inputs)
    while inputs > 2 * channels:
        inputs = _half(inputs)
        widths.append(inputs)
    return [*widths, channels]


def _half(width: int) -> int:
    return (width + 1) // 2
