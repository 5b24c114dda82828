"""The C header, by compilers with all warnings and sanitizers, on grids of many widths."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.formats.notation import identifier
from difflogic.formats.write_c import EXAMPLE_SIDE, EXAMPLE_STEPS, write_c
from tests.difflogic.circuit.circuits import step
from tests.difflogic.formats import examples
from tests.difflogic.formats.tools import call
from tests.marks import needs

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


def pack(rows, rng=None):
    """Rows of bits (…, width) as words (…, words) of 64, zeros or random bits after them."""
    width = rows.shape[-1]
    padded = np.zeros((*rows.shape[:-1], -(-width // 64) * 64), np.uint8)
    if rng:
        padded += rng.integers(0, 2, padded.shape, np.uint8)
    padded[..., :width] = rows
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8")


SIZES = [(1, 1), (1, 64), (2, 63), (3, 65), (5, 2), (2, 129), (4, 7), (1, 200)]


@pytest.mark.once
@pytest.mark.parametrize(
    "compiler",
    [pytest.param(name, marks=needs(arguments[0])) for name, arguments in COMPILERS.items()],
)
@settings(max_examples=1)
@given(automata=examples.automata(count=4))
def test_automata_on_grids(compiler, tmp_path_factory, automata):
    """All headers in one program, which runs once; every step is compared."""
    folder = tmp_path_factory.mktemp("grids")
    rng = np.random.default_rng(0)
    parts = ["#include <stdio.h>\n#include <stdlib.h>\n"]
    calls = []
    expected = []
    automata = [*examples.wicked(), *automata]
    for number, rollout in enumerate(examples.rollouts(automata, 6, SIZES * 2)):
        automaton, start, fires, states = rollout
        # Rows of the grid come first, then channels.
        words = [pack(start.swapaxes(0, 1), rng).ravel(), pack(fires, rng).ravel()]
        (folder / f"{number}.in").write_bytes(np.concatenate(words).tobytes())
        (folder / f"{number}.h").write_text(write_c(automaton))
        steps, height, width = fires.shape
        fire = "fire, " if automaton.fire_rate < 1 else ""
        names = {"number": number, "name": identifier(automaton), "steps": steps, "fire": fire}
        parts.append(f'#include "{number}.h"\n' + RUN.format(height=height, width=width, **names))
        calls.append(f"    run{number}();\n")
        # Bits after the last cell are written as 0.
        expected.append(pack(states.swapaxes(1, 2)).tobytes())
    main = f"int main(void)\n{{\n{''.join(calls)}}}\n"
    (folder / "main.c").write_text("".join(parts) + main)
    call(*COMPILERS[compiler], *STRICT, "main.c", "-o", "main", cwd=folder)
    assert call("./main", cwd=folder) == ""
    for number, right in enumerate(expected):
        assert (folder / f"{number}.out").read_bytes() == right


def chances():
    """The example's random numbers, in [0, 1)."""
    seed = 1
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (seed >> 40) / 2**24


def drawn(chances, shape, probability):
    """Bits in the order in which the example draws them."""
    bits = [next(chances) < probability for _ in range(np.prod(shape))]
    return np.array(bits, np.uint8).reshape(shape)


@pytest.mark.once
@needs("gcc")
@pytest.mark.parametrize("start", ["zeros", "center", "random"])
@pytest.mark.parametrize("fire_rate", [1.0, 0.6])
def test_the_example_runs_as_it_stands(start, fire_rate, tmp_path):
    """The second of the automaton's two channels is visible, or both."""
    visible = (4, 2) if start == "random" else (2,)
    made = examples.three_gates([19, 20], (4, 2), "my-ca", "periodic", fire_rate)
    automaton = replace(made, start=start, visible=visible, height=6, width=70)
    if small := (start, fire_rate) == ("random", 1.0):  # nothing is seen of so little
        automaton = replace(automaton, height=3, width=3, steps=1)
    text = write_c(automaton, "other.h")
    (tmp_path / "other.h").write_text(text)
    if small:
        automaton = replace(automaton, height=EXAMPLE_SIDE, width=EXAMPLE_SIDE, steps=EXAMPLE_STEPS)
    lines = text[text.index("Example:") : text.index(" */\n#ifndef")].splitlines()[1:]
    (tmp_path / "example.c").write_text("".join(f"{line[7:]}\n" for line in lines))
    call(*SANITIZED, *STRICT, "example.c", "-o", "example", cwd=tmp_path)
    printed = call("./example", cwd=tmp_path).splitlines()
    chance = chances()
    size = automaton.height, automaton.width
    state = np.zeros((2, *size), np.uint8)
    if start == "center":
        state[:, size[0] // 2, size[1] // 2] = 1
    elif start == "random":
        state = drawn(chance, state.shape, 0.5)
    for _ in range(automaton.steps):
        fire = None if fire_rate == 1 else drawn(chance, size, fire_rate)
        state = step(automaton.circuit, state, automaton.boundary, fire)
    numbers, signs = (state[1], ".#") if len(visible) == 1 else (state[0] + 2 * state[1], "0123")
    assert printed == ["".join(signs[number] for number in row) for row in numbers]


@pytest.mark.parametrize("file", ["a*/b.h", 'a"b.h', "a\nb.h"])
def test_a_files_name_ends_no_comment(file):
    text = write_c(next(iter(examples.wicked())), file)
    assert file not in text
    assert write_c(next(iter(examples.wicked())), "my rule.h").count('#include "my rule.h"') == 1
