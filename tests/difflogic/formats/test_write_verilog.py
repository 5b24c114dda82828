"""Verilog, by Icarus Verilog and Yosys: cells in all cases, grids for twenty steps."""

from dataclasses import replace

from hypothesis import given, settings

from difflogic.formats.notation import identifier
from difflogic.formats.write_verilog import write_verilog
from tests.difflogic.formats import examples
from tests.difflogic.formats.tools import call, run_bench
from tests.marks import needs

STEPS = 20


def write(automata, folder):
    for number, automaton in enumerate(automata):
        (folder / f"{number}.v").write_text(write_verilog(replace(automaton, height=3, width=4)))
    return [f"{number}.v" for number in range(len(automata))]


def bench(number, automaton, height, width):
    """A test bench that loads a state, holds it, and makes all steps."""
    name = identifier(automaton)
    bits = automaton.circuit.channels * height * width
    fire = f".fire(fire{number}), " if automaton.fire_rate < 1 else ""
    return f"""
    reg clock{number}, reset{number}, enable{number};
    reg [{bits - 1}:0] start{number}, s{number} [0:0];
    reg [{height * width - 1}:0] fire{number}, f{number} [0:{STEPS - 1}];
    wire [{bits - 1}:0] state{number};
    {name}_array #(.HEIGHT({height}), .WIDTH({width})) grid{number} (.clock(clock{number}),
        .reset(reset{number}), .enable(enable{number}), .start(start{number}), {fire}
        .state(state{number}));
    initial begin
        #{number * 1000} $readmemb("s{number}.txt", s{number});
        $readmemb("f{number}.txt", f{number});
        clock{number} = 0; start{number} = s{number}[0]; reset{number} = 1; enable{number} = 1;
        fire{number} = 0;
        #1 clock{number} = 1; #1 clock{number} = 0; $display("%b", state{number});
        reset{number} = 0; enable{number} = 0; start{number} = ~start{number};
        #1 clock{number} = 1; #1 clock{number} = 0; $display("%b", state{number});
        enable{number} = 1;
        for (i = 0; i < {STEPS}; i = i + 1) begin
            fire{number} = f{number}[i];
            #1 clock{number} = 1; #1 clock{number} = 0; $display("%b", state{number});
        end
    end"""


def as_line(bits):
    """Bits as Verilog reads and prints them, highest first."""
    return "".join("01"[bit] for bit in bits.ravel()[::-1])


@needs("iverilog", "vvp")
@settings(max_examples=1)
@given(automata=examples.automata())
def test_grids_make_the_automatons_steps(tmp_path_factory, automata):
    automata, folder = [*examples.wicked(), *automata], tmp_path_factory.mktemp("grids")
    expected = []
    parts = []
    for number, rollout in enumerate(examples.rollouts(automata, STEPS)):
        automaton, start, fires, states = rollout
        (folder / f"s{number}.txt").write_text(as_line(start) + "\n")
        (folder / f"f{number}.txt").write_text("\n".join(map(as_line, fires)) + "\n")
        expected += [start, start, *states]
        parts.append(bench(number, automaton, *start.shape[1:]))
    (folder / "bench.v").write_text("module bench; integer i;" + "".join(parts) + "\nendmodule\n")
    sources = write(automata, folder)
    assert run_bench(sources, folder) == list(map(as_line, expected))


@needs("yosys")
def test_yosys_has_no_warnings(tmp_path):
    automata = [*examples.wicked(), examples.life()]
    lines = []
    for automaton, source in zip(automata, write(automata, tmp_path), strict=True):
        lines += ["design -reset", f"read_verilog {source}"]
        lines += [f"hierarchy -check -top {identifier(automaton)}_array", "proc", "check -assert"]
    (tmp_path / "check.ys").write_text("\n".join(lines))
    assert call("yosys", "-q", "-e", ".", "-s", "check.ys", cwd=tmp_path) == ""
