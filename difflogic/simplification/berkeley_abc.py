"""Other programs that simplify circuits, to compare with. Nothing they return is trusted."""

from __future__ import annotations

import shutil
import subprocess
from collections import deque
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from difflogic.circuit.circuit import Circuit
from difflogic.circuit.gates import Op
from difflogic.proof.convergence.folding import fold
from difflogic.system.errors import CircuitError, ConfigError

ABC_NAMES = ("berkeley-abc", "yosys-abc", "abc")
"""What distributions call the program."""

SECONDS = 10
"""Given to the longest of the program's own searches, besides loading and mapping."""
PATIENCE = 120
"""Seconds after which the program is stopped."""

# The search calls these aliases of the file abc.rc, which need not be installed.
_SCRIPT = f"""\
alias b balance
alias rs resub
alias rw rewrite
alias rwz rewrite -z
alias rf refactor
alias rfz refactor -z
alias compress2rs "b -l; rs -K 6 -l; rw -l; rs -K 6 -N 2 -l; rf -l; rs -K 8 -l; b -l; \
rs -K 8 -N 2 -l; rw -l; rs -K 10 -l; rwz -l; rs -K 10 -N 2 -l; b -l; rs -K 12 -l; rfz -l; \
rs -K 12 -N 2 -l; rwz -l; b -l"
read_blif before.blif
strash
dch
dc2
&get
&deepsyn -t -T {SECONDS}
&put
if -K 2 -a
write_blif after.blif
"""


def find_abc() -> str:
    """Return the path of Berkeley's ABC. Raises ConfigError if it is not installed."""
    for name in ABC_NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    raise ConfigError(
        f"ABC is not installed (looked for {', '.join(ABC_NAMES)}): install it, on Debian and "
        "Ubuntu as berkeley-abc, or leave out --compare"
    )


def simplify_with_abc(circuit: Circuit) -> Circuit:
    """Return what ABC makes of a circuit: two-input gates, folded and hashed as ours are.

    Raises ConfigError if the program is missing, CircuitError if it fails.
    """
    program = find_abc()
    with TemporaryDirectory(prefix="dct-abc-") as directory:
        place = Path(directory)
        (place / "before.blif").write_text(_to_blif(circuit))
        (place / "script").write_text(_SCRIPT)
        try:
            done = subprocess.run(
                [program, "-f", "script"],
                cwd=place,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS + PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CircuitError(f"{program} failed to run: {error}") from None
        result = place / "after.blif"
        if not result.exists():
            raise CircuitError(f"{program} failed: {done.stdout.strip()[-200:]}")
        found = _from_blif(result.read_text(), circuit)
    return fold(found)


def _to_blif(circuit: Circuit) -> str:
    lines = [".model before", ".inputs " + " ".join(f"r{row}" for row in range(circuit.inputs))]
    lines.append(".outputs " + " ".join(f"o{channel}" for channel in range(circuit.channels)))
    gates = zip(circuit.op.tolist(), circuit.a.tolist(), circuit.b.tolist(), strict=True)
    for gate, (op, a, b) in enumerate(gates):
        name = f"r{circuit.inputs + gate}"
        if op in (Op.FALSE, Op.TRUE):
            lines += [f".names {name}", *(["1"] if op else [])]
            continue
        lines.append(f".names r{a} r{b} {name}")
        lines += [f"{c >> 1}{c & 1} 1" for c in range(4) if op >> (3 - c) & 1]
    for channel, row in enumerate(circuit.outputs.tolist()):
        lines += [f".names r{row} o{channel}", "1 1"]
    return "\n".join([*lines, ".end", ""])


def _from_blif(text: str, circuit: Circuit) -> Circuit:
    """Return the circuit in a BLIF file of functions of at most two inputs, in any order.

    ABC may give inputs and outputs other names; it keeps the order of those.
    """
    lines = [line.partition("#")[0].split() for line in text.replace("\\\n", " ").splitlines()]
    lists = {line[0]: line[1:] for line in lines if line}
    rows = {name: row for row, name in enumerate(lists[".inputs"])}
    ops: list[int] = []
    reads: list[tuple[int, int]] = []
    waiting = deque(_functions(lines))
    blocked = 0
    while waiting:
        names, cover = waiting.popleft()
        *inputs, output = names
        if len(inputs) > 2 or blocked > len(waiting):
            raise CircuitError(f"ABC's circuit has a gate that does not fit: {' '.join(names)}")
        if any(name not in rows for name in inputs):
            waiting.append((names, cover))
            blocked += 1
            continue
        blocked = 0
        places = [rows[name] for name in inputs] or [0]
        reads.append((places[0], places[-1]))
        ops.append(_op(cover, len(inputs)))
        rows[output] = circuit.inputs + len(ops) - 1
    a, b = np.array(reads, np.int32).reshape(-1, 2).T
    outputs = [rows[name] for name in lists[".outputs"]]
    return Circuit(np.array(ops, np.uint8), a, b, np.array(outputs), circuit.labels)


def _functions(lines: list[list[str]]) -> list[tuple[list[str], list[list[str]]]]:
    """Return each function's names and the lines of its cover."""
    found: list[tuple[list[str], list[list[str]]]] = []
    for words in lines:
        if words[:1] == [".names"]:
            found.append((words[1:], []))
        elif words and not words[0].startswith("."):
            found[-1][1].append(words)
    return found


def _op(cover: list[list[str]], inputs: int) -> int:
    """Return the op of a cover: its lines are the cases of a 1, or all of them those of a 0."""
    table = 0
    for *pattern, _ in cover:
        for corner in range(4):
            bits = f"{corner >> 1}{corner & 1}"[:inputs]
            if all(p in ("-", bit) for p, bit in zip("".join(pattern), bits, strict=True)):
                table |= 8 >> corner
    return 15 ^ table if cover and cover[-1][-1] == "0" else table
