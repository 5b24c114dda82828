"""Circuits from rules that are written as functions: `rule`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.colors import Color
from difflogic.circuit.grid import NEIGHBORHOOD, Start
from difflogic.circuit.xag import Xag, to_circuit
from difflogic.formats.circuit_file import require_expressible
from difflogic.system.declaration import Range, checked
from difflogic.system.errors import CircuitError


@dataclass(frozen=True, eq=False)
class Signal:
    """A bit of a circuit that is being built, for `&`, `|`, `^` and `~`; others may be 0 or 1."""

    _xag: Xag
    _literal: int

    def _literal_of(self, other: Signal | int) -> int:
        if isinstance(other, Signal) and other._xag is self._xag:
            return other._literal
        if isinstance(other, Signal) or other not in (0, 1):
            raise CircuitError(f"{other!r} is not a bit of this rule: use its signals, 0 and 1")
        return int(other)

    def __and__(self, other: Signal | int) -> Signal:
        return Signal(self._xag, self._xag.and_(self._literal, self._literal_of(other)))

    def __or__(self, other: Signal | int) -> Signal:
        return Signal(self._xag, self._xag.or_(self._literal, self._literal_of(other)))

    def __xor__(self, other: Signal | int) -> Signal:
        return Signal(self._xag, self._xag.xor_(self._literal, self._literal_of(other)))

    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__

    def __invert__(self) -> Signal:
        return self ^ 1

    def __bool__(self) -> bool:
        raise CircuitError("a rule becomes gates, so it cannot branch on a signal: use & | ^ ~")

    def __eq__(self, other: object) -> bool:
        raise CircuitError("a rule becomes gates, so it cannot compare signals: use ~(a ^ b)")


@checked
def rule(
    function: Callable[..., Iterable[Signal | int]],
    channels: Annotated[int, Range(1, 64)],
    *,
    name: str = "rule",
    visible: tuple[int, ...] = (0,),
    size: tuple[int, int] = (16, 16),
    boundary: Literal["zero", "periodic"] = "zero",
    steps: Annotated[int, Range(1, 10**6)] = 20,
    fire_rate: Annotated[float, Range(1e-9, 1)] = 1.0,
    start: Start = "random",
    palette: tuple[Color, ...] = (),
) -> Automaton:
    """Return the automaton of a rule that is written as a function of nine cells.

    `function` gets the cells NW, N, NE, W, C, E, SW, S and SE, each a list of `channels` signals.
    It returns the next state of C: a signal, 0 or 1 for each channel. It is called once, so loops
    and ifs of Python build gates. The rest says how to run the circuit, within the limits of a
    circuit file. Raises CircuitError for what is no circuit, or breaks them.
    """
    xag = Xag(NEIGHBORHOOD * channels)
    signals = [Signal(xag, xag.input(row)) for row in range(xag.inputs)]
    cells = (signals[first : first + channels] for first in range(0, xag.inputs, channels))
    after = [signals[0]._literal_of(bit) for bit in function(*cells)]
    if len(after) != channels:
        raise CircuitError(f"{name}: returns {len(after)} bits, but its cells have {channels}")
    circuit = to_circuit(xag, after, tuple(range(channels)), range(channels))
    made = Automaton(name, circuit, visible, boundary, *size, steps, fire_rate, start, palette)
    require_expressible(made)
    return made
