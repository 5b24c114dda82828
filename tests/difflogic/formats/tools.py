"""External tools for exported files. Tests are skipped if a tool is missing."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from tests.difflogic.formats.examples import cases

resource = pytest.importorskip("resource")

CPU_SECONDS = 300
ABC = shutil.which("berkeley-abc") or shutil.which("abc") or "berkeley-abc"


def needs(*names):
    """Skip a test unless all of these programs are installed."""
    missing = [name for name in names if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


def call(*arguments, cwd, text=True, **options):
    """Run a program that must succeed; return its output on both streams.

    It has a limit on processor time: a machine that is slow, or does much else, fails no test.
    """
    done = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        text=text,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **options,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def run_bench(sources, folder):
    """Return the words that bench.v prints. Icarus Verilog must not warn about the sources."""
    options = "-g2001 -Wall -Wno-timescale -o bench.vvp -s bench bench.v"
    log = call("iverilog", *options.split(), *sources, cwd=folder)
    assert [line for line in log.splitlines() if not line.startswith("bench.v:")] == []
    return call("vvp", "-n", "bench.vvp", cwd=folder).split()


def simulate(modules, inputs, outputs, vectors, sources, folder):
    """Run combinational Verilog modules in Icarus Verilog; return their outputs (outputs, cases).

    Each module has a name, names of its inputs and outputs, and vectors (inputs, cases).
    """
    parts = []
    for n, (name, ins, outs, bits) in enumerate(
        zip(modules, inputs, outputs, vectors, strict=True)
    ):
        count = bits.shape[1]
        width = max(len(ins), 1)
        rows = bits.T[:, ::-1] if len(ins) else np.zeros((count, 1), bool)
        lines = ["".join("01"[bit] for bit in row) for row in rows.astype(int)]
        (folder / f"v{n}.txt").write_text("\n".join(lines) + "\n")
        ports = [f".{port}(x{n}[{i}])" for i, port in enumerate(ins)]
        ports += [f".{port}(y{n}[{i}])" for i, port in enumerate(outs)]
        parts.append(f"""
    reg [{width - 1}:0] x{n}, v{n} [0:{count - 1}];
    wire [{len(outs) - 1}:0] y{n};
    {name} m{n} ({", ".join(ports)});
    initial begin
        #{n * 10**6} $readmemb("v{n}.txt", v{n});
        for (i = 0; i < {count}; i = i + 1) begin x{n} = v{n}[i]; #1; $display("%b", y{n}); end
    end""")
    (folder / "bench.v").write_text("module bench; integer i;" + "".join(parts) + "\nendmodule\n")
    lines = iter(run_bench(sources, folder))
    return [
        np.array([[int(bit) for bit in next(lines)[::-1]] for _ in range(bits.shape[1])]).T
        for bits in vectors
    ]


def compare_cells(automata, interfaces, modules, sources, folder):
    """Compare modules of one cell with the circuits' plain interpreter, on `cases`."""
    vectors = []
    expected = []
    for automaton, interface in zip(automata, interfaces, strict=True):
        circuit = automaton.circuit
        names = [circuit.input_name(row) for row in range(circuit.inputs)]
        bits = cases(automaton, 2000)
        vectors.append(bits[[names.index(name) for name in interface.inputs]])
        expected.append(circuit.next_state(bits))
    found = simulate(
        modules,
        [interface.inputs for interface in interfaces],
        [[f"next{label}" for label in interface.outputs] for interface in interfaces],
        vectors,
        sources,
        folder,
    )
    for right, seen in zip(expected, found, strict=True):
        np.testing.assert_array_equal(seen, right)
