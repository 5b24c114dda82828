"""Verilog-2001: a module of one cell, and modules of a whole grid of them.

The grid's size is a parameter of its module. Generate loops wire each cell to its neighbours; their
indices wrap around, and a zero boundary masks them. Each channel has its own wires: Icarus Verilog
11 simulates one wide vector seven times slower.

Source: IEEE Std 1364-2001.
"""

from __future__ import annotations

from string import Template

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.grid import OFFSETS
from difflogic.formats.common import (
    expressions,
    folded,
    head,
    identifier,
    row_names,
    used_interface,
    used_rows,
)

_ARRAY = """\
module ${name}_next #(
    parameter HEIGHT = $height,
    parameter WIDTH = $width
) (
    input wire [$channels * HEIGHT * WIDTH - 1:0] state,
    output wire [$channels * HEIGHT * WIDTH - 1:0] next
);
    // Each channel, row by row: its state, if it is read, and its next state.
$now
$nexts
    assign next = {
        $joined};

    genvar y, x;
    generate
        for (y = 0; y < HEIGHT; y = y + 1) begin : row
            for (x = 0; x < WIDTH; x = x + 1) begin : column
                localparam UP = (y + HEIGHT - 1) % HEIGHT;
                localparam DOWN = (y + 1) % HEIGHT;
                localparam LEFT = (x + WIDTH - 1) % WIDTH;
                localparam RIGHT = (x + 1) % WIDTH;
                ${name}_cell update (
$connections
                );
            end
        end
    endgenerate
endmodule

module ${name}_array #(
    parameter HEIGHT = $height,
    parameter WIDTH = $width
) (
    input wire clock,
    input wire reset,
    input wire enable,
    input wire [$channels * HEIGHT * WIDTH - 1:0] start,
$fire\
    output reg [$channels * HEIGHT * WIDTH - 1:0] state
);
    wire [$channels * HEIGHT * WIDTH - 1:0] next;
    ${name}_next #(.HEIGHT(HEIGHT), .WIDTH(WIDTH)) grid (.state(state), .next(next));

    always @(posedge clock)
        if (reset)
            state <= start;
        else if (enable)
            state <= $taken;
endmodule
"""

_ROWS = {-1: "UP", 0: "y", 1: "DOWN"}
_COLUMNS = {-1: "LEFT", 0: "x", 1: "RIGHT"}
_INSIDE = {"UP": "y > 0", "DOWN": "y < HEIGHT - 1", "LEFT": "x > 0", "RIGHT": "x < WIDTH - 1"}


def write_verilog(automaton: Automaton) -> str:
    """Return all modules. By default the grid is as large as in training."""
    name = identifier(automaton)
    asynchronous = automaton.fire_rate < 1
    comment = head(
        automaton,
        f"{name}_cell and {name}_next, the next state of HEIGHT x WIDTH cells, are combinational. "
        f"{name}_array is such a grid with its state: at a rising edge of clock it takes the state "
        "from start if reset is 1, else makes one step if enable is 1.",
        "Bit (c * HEIGHT + y) * WIDTH + x of start and state is the cell in row y and column x of "
        f"the channel listed at place c: {', '.join(map(str, automaton.circuit.labels))}.",
        *(
            [
                "Bit y * WIDTH + x of fire says whether that cell takes its new state in a step: "
                f"give it random bits that are 1 with probability {automaton.fire_rate:g}, "
                "new ones for each step."
            ]
            if asynchronous
            else []
        ),
    )
    lines = [f"// {line}" for line in comment]
    return "\n".join([*lines, "", write_cell(automaton), _array(automaton)])


def write_cell(automaton: Automaton) -> str:
    """Return the combinational module of one cell."""
    circuit = automaton.circuit
    interface = used_interface(circuit)
    ports = [f"input wire {name}" for name in interface.inputs]
    ports += [f"output wire next{label}" for label in interface.outputs]
    names = row_names(circuit)
    lines = [
        f"module {identifier(automaton)}_cell (",
        *(f"    {port}," for port in ports[:-1]),
        f"    {ports[-1]}",
        ");",
        *(
            f"    wire {name} = {text};"
            for name, text in expressions(circuit, names, "1'b0", "1'b1")
        ),
        *(
            f"    assign next{label} = {names[row]};"
            for label, row in zip(circuit.labels, circuit.outputs, strict=True)
        ),
        "endmodule",
    ]
    return "\n".join([*lines, ""])


def _array(automaton: Automaton) -> str:
    circuit = automaton.circuit
    read = sorted({row % circuit.channels for row in used_rows(circuit)})
    fire = f"{{{circuit.channels}{{fire}}}}"
    asynchronous = automaton.fire_rate < 1
    connections = [
        f".{circuit.input_name(row)}({_source(automaton, row)})" for row in used_rows(circuit)
    ]
    connections += [f".next{label}(next{label}[y * WIDTH + x])" for label in circuit.labels]
    return Template(_ARRAY).substitute(
        name=identifier(automaton),
        height=automaton.height,
        width=automaton.width,
        channels=circuit.channels,
        fire="    input wire [HEIGHT * WIDTH - 1:0] fire,\n" if asynchronous else "",
        taken=f"(next & {fire}) | (state & ~{fire})" if asynchronous else "next",
        now="\n".join(
            f"    wire [HEIGHT * WIDTH - 1:0] now{circuit.labels[channel]} = "
            f"state[{channel} * HEIGHT * WIDTH +: HEIGHT * WIDTH];"
            for channel in read
        ),
        nexts="\n".join(
            f"    wire [HEIGHT * WIDTH - 1:0] next{label};" for label in circuit.labels
        ),
        joined=("\n" + " " * 8).join(
            folded([f"next{label}," for label in reversed(circuit.labels)], 84)
        )[:-1],
        connections=",\n".join(" " * 20 + connection for connection in connections),
    )


def _source(automaton: Automaton, row: int) -> str:
    """Return the bit of the state that is the cell's input `row`, at (y, x)."""
    neighbor, channel = divmod(row, automaton.circuit.channels)
    dy, dx = OFFSETS[neighbor]
    y, x = _ROWS[dy], _COLUMNS[dx]
    bit = f"now{automaton.circuit.labels[channel]}[{y} * WIDTH + {x}]"
    inside = [_INSIDE[place] for place in (y, x) if place in _INSIDE]
    if automaton.boundary == "periodic" or not inside:
        return bit
    return f"{bit} & ({' && '.join(inside)})"
