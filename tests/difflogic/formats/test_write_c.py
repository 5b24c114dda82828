"""The C header, by compilers with all warnings and sanitizers, on grids of many widths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.formats.notation import identifier
from difflogic.formats.write_c import SHOWN_SIDE, SHOWN_STEPS, write_c
from tests.difflogic.circuit.circuits import circuit_of, step
from tests.difflogic.formats import examples
from tests.difflogic.formats.tools import call, needs

pytestmark = pytest.mark.thorough

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
SANITIZED = ("gcc", "-std=c99", "-O2", "-fsanitize=address,undefined", "-fno-sanitize-recover")
COMPILERS = {
    "sanitized": SANITIZED,
    "fast": ("gcc", "-std=c99", "-O3", "-march=native"),
    "c++": ("g++", "-std=c++11", "-x", "c++", "-O1"),
    "clang": ("clang", "-std=c99", "-O2"),
}

RUN = """
static void run{number}(void)
{{
    const size_t height = {height}, width = {width}, rows = {name}_row_words(width);
    const size_t words = {name}_words(height, width);
    uint64_t *now = (uint64_t *)malloc(8 * words), *next = (uint64_t *)malloc(8 * words);
    uint64_t *fire = (uint64_t *)malloc(8 * height * rows), *spare;
    FILE *in = fopen("{number}.in", "rb"), *out = fopen("{number}.out", "wb");
    int step;
    if (!now || !next || !fire || !in || !out || fread(now, 8, words, in) != words)
        exit(1);
    for (step = 0; step < {steps}; ++step) {{
        if (fread(fire, 8, height * rows, in) != height * rows)
            exit(2);
        {name}_step(now, next, {fire}height, width);
        if (fwrite(next, 8, words, out) != words)
            exit(3);
        spare = now, now = next, next = spare;
    }}
    fclose(in), fclose(out);
    free(now), free(next), free(fire);
}}
"""


def pack(rows, rng):
    """Rows of bits (…, width) as words (…, words) of 64, with random bits after the last."""
    width = rows.shape[-1]
    padded = rng.integers(0, 2, (*rows.shape[:-1], -(-width // 64) * 64), dtype=np.uint8)
    padded[..., :width] = rows
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8")


def check(automata, sizes, folder, compiler=SANITIZED, steps=6):
    """Compile all headers into one program, run it, and compare every step."""
    rng = np.random.default_rng(0)
    parts = ["#include <stdio.h>\n#include <stdlib.h>\n"]
    starts = []
    masks = []
    for number, (automaton, (height, width)) in enumerate(zip(automata, sizes, strict=True)):
        state = rng.integers(0, 2, (automaton.circuit.channels, height, width), dtype=np.uint8)
        fires = (rng.random((steps, height, width)) < automaton.fire_rate).astype(np.uint8)
        # Rows of the grid come first, then channels.
        words = [pack(state.swapaxes(0, 1), rng).ravel(), pack(fires, rng).ravel()]
        (folder / f"{number}.in").write_bytes(np.concatenate(words).tobytes())
        (folder / f"{number}.h").write_text(write_c(automaton))
        fire = "fire, " if automaton.fire_rate < 1 else ""
        names = {"number": number, "name": identifier(automaton), "steps": steps, "fire": fire}
        parts.append(f'#include "{number}.h"\n' + RUN.format(height=height, width=width, **names))
        starts.append(state)
        masks.append(fires)
    calls = "".join(f"    run{number}();\n" for number in range(len(parts) - 1))
    (folder / "main.c").write_text("".join(parts) + f"int main(void)\n{{\n{calls}}}\n")
    call(*compiler, *STRICT, "main.c", "-o", "main", cwd=folder)
    assert call("./main", cwd=folder) == ""
    for number, (automaton, state, fires) in enumerate(zip(automata, starts, masks, strict=True)):
        # Bits after the last cell are written as 0.
        right = pack(examples.run(automaton, state, fires).swapaxes(1, 2), ZEROS)
        assert (folder / f"{number}.out").read_bytes() == right.tobytes()


class ZEROS:
    """A generator of zeros."""

    @staticmethod
    def integers(low, high, shape, dtype):
        return np.zeros(shape, dtype)


SIZES = [(1, 1), (1, 64), (2, 63), (3, 65), (5, 2), (2, 129), (4, 7), (1, 200)]


@pytest.mark.once
@pytest.mark.parametrize(
    "compiler",
    [pytest.param(name, marks=needs(arguments[0])) for name, arguments in COMPILERS.items()],
)
@settings(max_examples=1)
@given(automata=examples.automata(count=4))
def test_automata_on_grids(compiler, tmp_path_factory, automata):
    automata = [*examples.wicked(), *automata]
    check(automata, SIZES * 2, tmp_path_factory.mktemp("grids"), COMPILERS[compiler])


class Chance:
    """The example's random bits."""

    seed = 1

    def __call__(self, probability):
        self.seed = (self.seed * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.seed >> 40) < probability * 2**24

    def bits(self, shape, probability):
        return np.array([self(probability) for _ in range(np.prod(shape))], np.uint8).reshape(shape)


def start_of(automaton, chance):
    shape = (automaton.circuit.channels, automaton.height, automaton.width)
    state = np.zeros(shape, np.uint8)
    if automaton.start == "center":
        state[:, automaton.height // 2, automaton.width // 2] = 1
    elif automaton.start == "random":
        state = chance.bits(shape, 0.5)
    return state


@pytest.mark.once
@needs("gcc")
@pytest.mark.parametrize("start", ["zeros", "center", "random"])
@pytest.mark.parametrize("fire_rate", [1.0, 0.6])
def test_the_example_runs_as_it_stands(start, fire_rate, tmp_path):
    """The second of the automaton's two channels is visible, or both."""
    visible = (4, 2) if start == "random" else (2,)
    gates = [(14, 9, 2), (6, 18, 16), (7, 19, 4)]
    made = examples.automaton(circuit_of(gates, [19, 20], (4, 2)), "my-ca", "periodic", fire_rate)
    automaton = replace(made, start=start, visible=visible, height=6, width=70)
    if small := (start, fire_rate) == ("random", 1.0):  # nothing is seen of so little
        automaton = replace(automaton, height=3, width=3, steps=1)
    text = write_c(automaton, "other.h")
    (tmp_path / "other.h").write_text(text)
    if small:
        automaton = replace(automaton, height=SHOWN_SIDE, width=SHOWN_SIDE, steps=SHOWN_STEPS)
    lines = text[text.index("Example:") : text.index(" */\n#ifndef")].splitlines()[1:]
    (tmp_path / "example.c").write_text("".join(f"{line[7:]}\n" for line in lines))
    call(*SANITIZED, *STRICT, "example.c", "-o", "example", cwd=tmp_path)
    printed = call("./example", cwd=tmp_path).splitlines()
    chance = Chance()
    state = start_of(automaton, chance)
    for _ in range(automaton.steps):
        fire = None if fire_rate == 1 else chance.bits((6, 70), fire_rate)
        state = step(automaton.circuit, state, automaton.boundary, fire)
    numbers, signs = (state[1], ".#") if len(visible) == 1 else (state[0] + 2 * state[1], "0123")
    assert printed == ["".join(signs[number] for number in row) for row in numbers]


@pytest.mark.parametrize("file", ["a*/b.h", 'a"b.h', "a\nb.h"])
def test_a_files_name_ends_no_comment(file):
    text = write_c(next(iter(examples.wicked())), file)
    assert file not in text
    assert write_c(next(iter(examples.wicked())), "my rule.h").count('#include "my rule.h"') == 1
