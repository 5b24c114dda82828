"""The fixed parts of the C header that `c.py` renders, as templates."""

from __future__ import annotations

HEADER = """\
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

ABOUT_FIRE = """ A cell takes its new state where its bit
   of `fire`, bit x % 64 of word y * row_words + x / 64, is 1: give it random bits that are 1 with
   probability $rate, new ones for each step."""

EXAMPLE = """\
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

CHANCE = """
    static int chance(double p) // 1 with probability p
    {
        static uint64_t seed = 1;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        return (double)(seed >> 40) < p * (1 << 24);
    }
"""

ADVANCE = """
            ${name}_step(state[step % 2], state[(step + 1) % 2], H, W);"""

FIRE_AND_ADVANCE = """ {
            uint64_t fire[H * ((W + 63) / 64)] = {0};
            for (y = 0; y < H; ++y)
                for (x = 0; x < W; ++x)
                    fire[y * ((W + 63) / 64) + x / 64] |= (uint64_t)chance($rate) << (x % 64);
            ${name}_step(state[step % 2], state[(step + 1) % 2], fire, H, W);
        }"""

STARTS = {
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
