"""A C99 header without dependencies: the circuit over words of 64 cells, and a step of a grid.

A plain loop computes the words inside a row, and compilers vectorise it. A row's first and last
word, with the boundary and the odd bits, take a slower path. Nothing is allocated, and a state
needs no halo.

Source: ISO/IEC 9899:1999; also valid C++11, with a macro for `restrict`.
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

_HEADER = """\
/*
$head
 *
$example
 */
#ifndef DCT_${NAME}_H
#define DCT_${NAME}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define ${name}_RESTRICT __restrict
#else
#define ${name}_RESTRICT restrict
#endif

enum { ${name}_CHANNELS = $channels };

/* Words that one row of cells takes in each channel. */
static inline size_t ${name}_row_words(size_t width)
{
    return width / 64 + (width % 64 != 0);
}

/* Words of a state. Bit x % 64 of word (y * CHANNELS + c) * row_words + x / 64 is the cell in row
   y and column x of the channel at place c. Bits beyond the last cell of a row mean nothing. */
static inline size_t ${name}_words(size_t height, size_t width)
{
    return height * ${name}_CHANNELS * ${name}_row_words(width);
}

static inline int ${name}_get(
    const uint64_t *state, size_t width, size_t c, size_t y, size_t x)
{
    const size_t word = (y * ${name}_CHANNELS + c) * ${name}_row_words(width) + x / 64;
    return (int)((state[word] >> (x % 64)) & 1);
}

static inline void ${name}_set(
    uint64_t *state, size_t width, size_t c, size_t y, size_t x, int bit)
{
    const size_t word = (y * ${name}_CHANNELS + c) * ${name}_row_words(width) + x / 64;
    state[word] &= ~((uint64_t)1 << (x % 64));
    state[word] |= (uint64_t)(bit != 0) << (x % 64);
}

/* The next state of 64 cells; bit i of each word belongs to cell i. */
static inline void ${name}_cells(
    $parameters)
{
$gates
}

/* Word w of a row, and the same cells' western and eastern neighbours. The row's last word is
   number `last` and holds `cells` cells. */
static inline uint64_t ${name}_own(
    const uint64_t *row, size_t w, size_t last, unsigned cells)
{
    return w < last ? row[w] : row[w] & (~(uint64_t)0 >> (64 - cells));
}

static inline uint64_t ${name}_west(
    const uint64_t *row, size_t w, size_t last, unsigned cells)
{
    const uint64_t before = w > 0 ? row[w - 1] >> 63 : $before;
    return (${name}_own(row, w, last, cells) << 1) | before;
}

static inline uint64_t ${name}_east(
    const uint64_t *row, size_t w, size_t last, unsigned cells)
{
    const uint64_t after = w < last ? row[w + 1] << 63 : $after;
    return (${name}_own(row, w, last, cells) >> 1) | after;
}

/* One row; `up`, `row` and `down` are where it and its neighbours begin. */
static inline void ${name}_row(
    const uint64_t *${name}_RESTRICT now, uint64_t *${name}_RESTRICT next,
    $row_parameters)
{
    const size_t last = ${name}_row_words(width) - 1;
    const size_t words = last + 1;
    const unsigned cells = (unsigned)(width - 64 * last);
$pointers
    size_t w = 0;
    for (;;) {
        const uint64_t valid = w < last ? ~(uint64_t)0 : ~(uint64_t)0 >> (64 - cells);
        uint64_t $results;
        ${name}_cells(
            $edge_arguments);
$edge_stores
        if (w == last)
            break;
        w = last;
    }
    for (w = 1; w < last; ++w) {
        uint64_t $results;
        ${name}_cells(
            $arguments);
$stores
    }
}

/* One step, from `now` to `next`, which must not overlap.$about_fire */
static inline void ${name}_step(
    const uint64_t *${name}_RESTRICT now, uint64_t *${name}_RESTRICT next,
    ${step_parameters}size_t height, size_t width)
{
    const size_t words = ${name}_row_words(width);
    const size_t all = ${name}_CHANNELS * words;
    size_t y;
    for (y = 0; words > 0 && y < height; ++y) {
        const size_t up = (y > 0 ? y - 1 : height - 1) * all;
        const size_t down = (y + 1 < height ? y + 1 : 0) * all;
        ${name}_row(
            now, next, $row_arguments);
    }
}

#endif
"""

_ABOUT_FIRE = """ A cell takes its new state where its bit
   of `fire`, bit x % 64 of word y * row_words + x / 64, is 1: give it random bits that are 1 with
   probability $rate, new ones for each step."""

_EXAMPLE = """\
Example:

    #include <stdio.h>
    #include "$name.h"
$chance
    int main(void)
    {
        enum { H = $height, W = $width, STEPS = $steps };
        static uint64_t state[2][${name}_CHANNELS * H * ((W + 63) / 64)];
        size_t ${counters}y, x, step;$start
        for (step = 0; step < STEPS; ++step)$advance
        for (y = 0; y < H; ++y, putchar('\\n'))
            for (x = 0; x < W; ++x)
                putchar(${name}_get(state[STEPS % 2], W, $visible, y, x) ? '#' : '.');
        return 0;
    }"""

_CHANCE = """
    static int chance(double p) // 1 with probability p
    {
        static uint64_t seed = 1;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        return (double)(seed >> 40) < p * (1 << 24);
    }
"""

_ADVANCE = """
            ${name}_step(state[step % 2], state[(step + 1) % 2], H, W);"""

_FIRE_AND_ADVANCE = """ {
            uint64_t fire[H * ((W + 63) / 64)] = {0};
            for (y = 0; y < H; ++y)
                for (x = 0; x < W; ++x)
                    fire[y * ((W + 63) / 64) + x / 64] |= (uint64_t)chance($rate) << (x % 64);
            ${name}_step(state[step % 2], state[(step + 1) % 2], fire, H, W);
        }"""

_STARTS = {
    "zeros": "",
    "center": """
        for (c = 0; c < ${name}_CHANNELS; ++c)
            ${name}_set(state[0], W, c, H / 2, W / 2, 1);""",
    "random": """
        for (c = 0; c < ${name}_CHANNELS; ++c)
            for (y = 0; y < H; ++y)
                for (x = 0; x < W; ++x)
                    ${name}_set(state[0], W, c, y, x, chance(0.5));""",
}

_SHIFTS = {
    -1: ("west", "({words}[w] << 1) | ({words}[w - 1] >> 63)"),
    0: ("own", "{words}[w]"),
    1: ("east", "({words}[w] >> 1) | ({words}[w + 1] << 63)"),
}
"""For each column offset: the function for words at a row's ends, the expression within a row."""

_ROWS = {-1: ("up", "above"), 0: ("row", ""), 1: ("down", "below")}
"""For each row offset: where that row begins, and the mask that is 0 beyond the edge."""


def write_c(automaton: Automaton) -> str:
    name = identifier(automaton)
    asynchronous = automaton.fire_rate < 1
    periodic = automaton.boundary == "periodic"
    comment = head(
        automaton,
        f"{name}_step makes a step of a grid of any size, {name}_cells the next state of any 64 "
        "cells. It is fastest with -O3 -march=native.",
    )
    parameters = [f"size_t {place}" for place in ("width", "up", "row", "down")]
    arguments = ["width", "up", "y * all", "down"]
    if asynchronous:
        parameters.append("const uint64_t *fire")
        arguments.append("fire + y * words")
    if not periodic:
        parameters += ["uint64_t above", "uint64_t below"]
        arguments += ["y > 0 ? ~(uint64_t)0 : 0", "y + 1 < height ? ~(uint64_t)0 : 0"]
    about_fire = Template(_ABOUT_FIRE).substitute(rate=f"{automaton.fire_rate:g}")
    return Template(_HEADER).substitute(
        name=name,
        NAME=name.upper(),
        channels=automaton.circuit.channels,
        head="\n".join(f" * {line}" for line in comment),
        example="\n".join(f" * {line}".rstrip() for line in _example(automaton).split("\n")),
        before="(row[last] >> (cells - 1)) & 1" if periodic else "0",
        after="(row[0] & 1) << (cells - 1)" if periodic else "0",
        about_fire=about_fire if asynchronous else "",
        step_parameters="const uint64_t *fire, " if asynchronous else "",
        row_parameters=_listed(parameters, 4),
        row_arguments=_listed(arguments, 12),
        **_cells(automaton),
        **_row(automaton),
    )


def _cells(automaton: Automaton) -> dict[str, str]:
    """Return the parts of the function for 64 cells."""
    circuit = automaton.circuit
    names = row_names(circuit)
    interface = used_interface(circuit)
    unread = set(range(circuit.inputs, circuit.rows)) - set(circuit.outputs.tolist())
    unread -= {row for gate in range(circuit.gates) for row in circuit.reads(gate)}
    gates = expressions(circuit, names, "0", "~(uint64_t)0")
    outputs = zip(circuit.labels, circuit.outputs, strict=True)
    lines = [
        *(f"    const uint64_t {name} = {text};" for name, text in gates),
        *(f"    (void){names[row]};" for row in sorted(unread)),
        *(f"    *next{label} = {names[row]};" for label, row in outputs),
    ]
    parameters = [f"uint64_t {name}" for name in interface.inputs]
    parameters += [f"uint64_t *next{label}" for label in interface.outputs]
    return {"parameters": _listed(parameters, 4), "gates": "\n".join(lines)}


def _row(automaton: Automaton) -> dict[str, str]:
    """Return the parts of the function for a row."""
    circuit, name = automaton.circuit, identifier(automaton)
    asynchronous = automaton.fire_rate < 1
    edge, inner = [], []
    rows: dict[str, str] = {}
    masks = set() if automaton.boundary == "periodic" else {"above", "below"}
    unused = masks | {"now", "up", "down"}
    for row in used_rows(circuit):
        neighbor, channel = divmod(row, circuit.channels)
        dy, dx = OFFSETS[neighbor]
        begin, mask = _ROWS[dy]
        words = f"{begin}{circuit.labels[channel]}"
        rows[words] = f"now + {begin} + {channel} * words"
        unused -= {"now", begin, mask}
        masked = f" & {mask}" if mask in masks else ""
        edge.append(f"{name}_{_SHIFTS[dx][0]}({words}, w, last, cells){masked}")
        shifted = _SHIFTS[dx][1].format(words=words)
        inner.append(f"({shifted}){masked}" if masked else shifted)
    taken = "to{label}"
    if asynchronous:
        taken = "(to{label} & fire[w]) | (row{label}[w] & ~fire[w])"
        rows |= {
            f"row{label}": f"now + row + {channel} * words"
            for channel, label in enumerate(circuit.labels)
        }
        unused.discard("now")
    pointers = [
        *(f"const uint64_t *const {words} = {place};" for words, place in rows.items()),
        *(
            f"uint64_t *const next{label} = next + row + {channel} * words;"
            for channel, label in enumerate(circuit.labels)
        ),
        *(f"(void){parameter};" for parameter in sorted(unused)),
    ]
    results = [f"&to{label}" for label in circuit.labels]
    stores = [(f"next{label}[w]", taken.format(label=label)) for label in circuit.labels]
    return {
        "pointers": "\n".join(f"    {pointer}" for pointer in pointers),
        "results": _listed([f"to{label}" for label in circuit.labels], 12),
        "edge_arguments": _listed(edge + results, 12),
        "arguments": _listed(inner + results, 12),
        "edge_stores": "\n".join(f"{' ' * 8}{to} = ({text}) & valid;" for to, text in stores),
        "stores": "\n".join(f"{' ' * 8}{to} = {text};" for to, text in stores),
    }


def _listed(items: list[str], indent: int) -> str:
    lines = folded([f"{item}," for item in items], 84)
    return f"\n{' ' * indent}".join(lines)[:-1]


def _example(automaton: Automaton) -> str:
    """Return a program that runs the automaton as in training and prints the last state."""
    asynchronous = automaton.fire_rate < 1
    needs_chance = asynchronous or automaton.start == "random"
    text = _EXAMPLE.replace("$chance", _CHANCE if needs_chance else "")
    text = text.replace("$start", _STARTS[automaton.start])
    text = text.replace("$advance", _FIRE_AND_ADVANCE if asynchronous else _ADVANCE)
    return Template(text).substitute(
        name=identifier(automaton),
        height=automaton.height,
        width=automaton.width,
        steps=automaton.steps,
        visible=automaton.visible_rows[0],
        rate=f"{automaton.fire_rate:g}",
        counters="" if automaton.start == "zeros" else "c, ",
    )
