"""Check the exports of trained models in real tools, more thoroughly than the tests have time to.

    python -m tests.difflogic.formats.check_models RUN|MODEL …

Grids are compared with the unsimplified model in `HardSimulator`, not with the exported circuit.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from difflogic.circuit.circuit import LogicCircuit
from difflogic.engine.hard import HardSimulator
from difflogic.engine.layout import Grid
from difflogic.formats import FORMATS
from difflogic.formats.common import common_interface
from difflogic.formats.exporting import export
from difflogic.library.loading import load
from difflogic.model.model import Model
from difflogic.simplification import simplify
from difflogic.training.run_directory import saved_model
from tests.difflogic.formats import (
    test_c,
    test_digitaljs,
    test_gate_lists,
    test_golly,
    test_python,
    test_verilog,
)

CASES, MOST = 10**5, 16


def by_simulator(model):
    """Return a function like `examples.run`, by the model that was trained; dropped channels: 0."""

    def run(automaton, state, fires):
        labels = list(automaton.circuit.labels)
        grid = Grid(*state.shape[1:], automaton.boundary)
        simulator = HardSimulator(model.netlist, grid, 1)
        simulator.load(model.ops)
        whole = np.zeros((1, model.netlist.channels, *state.shape[1:]), np.uint8)
        whole[0, labels] = state
        states = []
        for fire in fires:
            masks = fire[None, None] if automaton.fire_rate < 1 else None
            whole = simulator.rollout(whole, 1, masks)
            states.append(whole[0, labels])
        return np.array(states)

    return run


def broken(automaton):
    """The same with the gate inverted that its first output is, or stands behind."""
    whole = automaton.circuit
    gate = int(whole.outputs[whole.outputs >= whole.inputs][0]) - whole.inputs
    op = whole.op.copy()
    op[gate] = 15 - op[gate]
    return automaton.with_circuit(LogicCircuit(op, whole.a, whole.b, whole.outputs, whole.labels))


def neighborhoods(circuit):
    """All cases of up to ten inputs that are read, else 100 random ones: (9·C, cases)."""
    read = circuit.read_inputs
    if len(read) > 10:
        return np.random.default_rng(0).integers(0, 2, (circuit.inputs, 100))
    bits = np.zeros((circuit.inputs, 2 ** len(read)), np.int64)
    bits[read] = np.arange(2 ** len(read)) >> np.arange(len(read))[:, None] & 1
    return bits


def checks(path, whole, small):
    """Yield what each check of one model is, and do it when asked for the next."""
    model = Model.load(saved_model(path))
    run, size = by_simulator(model), (max(small.height, 8), max(small.width, 9))

    def folder():
        return Path(tempfile.mkdtemp(dir=scratch))

    with tempfile.TemporaryDirectory() as scratch:

        def cells(automata):
            return lambda: f"{test_verilog.check_cells(automata, folder(), count=CASES, most=MOST)}"

        def cec(suffix):
            pairs = [(small, whole, common_interface(whole.circuit, small.circuit.labels))]
            pairs.append((broken(small), *pairs[0][1:]))
            return test_gate_lists.verdicts(pairs, suffix, folder())

        yield "iverilog, one cell: cases", cells([small])
        yield "iverilog, unsimplified cell: cases", cells([whole])
        yield (
            f"iverilog, {size} grid, 20 steps",
            lambda: test_verilog.check_arrays([small], [size], folder(), run),
        )
        for suffix in (".blif", ".aig"):
            yield f"abc cec {suffix}: simplified, broken", lambda suffix=suffix: cec(suffix)
        for suffix in (".blif", ".aag", ".aig"):
            yield (
                f"yosys, iverilog: {suffix}",
                lambda suffix=suffix: test_gate_lists.check_by_yosys([small], suffix, folder()),
            )
        for name, flags in test_c.COMPILERS.items():
            yield (
                f"C {name}: {size} grid, 1000 steps",
                lambda flags=flags: test_c.check([small], [size], folder(), flags, 1000, run),
            )
        yield (
            "C fast: 70x1300 grid, 20 steps",
            lambda: test_c.check(
                [small], [(70, 1300)], folder(), test_c.COMPILERS["fast"], 20, run
            ),
        )
        yield (
            f"NumPy: {size} grid, 100 steps",
            lambda: test_python.check([small], folder(), [size], 100, run),
        )
        bits = neighborhoods(small.circuit)
        yield (
            f"digitaljs: {bits.shape[1]} cases",
            lambda: test_digitaljs.check(small.circuit, bits),
        )
        if small.circuit.channels == 1:
            start = np.random.default_rng(0).integers(0, 2, (1, 150, 200))
            yield (
                "bgolly: 150x200 grid, 20 steps",
                lambda: test_golly.check(small, start, folder()),
            )


def main(paths):
    for path in paths:
        whole = load(path).automaton
        small = simplify(whole).automaton
        print(f"\n{whole.name}")
        for name, format in FORMATS.items():
            if name in ("json", "verilog", "blif", "aiger", "aiger-binary", "c", "python"):
                sizes = [len(export(automaton, format)) for automaton in (small, whole)]
                print(f"  {name}: {sizes[0]} bytes, unsimplified {sizes[1]}")
        for what, check in checks(path, whole, small):
            started = time.perf_counter()
            said = check()
            print(f"  {what}: {said or 'equal'}: {time.perf_counter() - started:.2f} s", flush=True)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
