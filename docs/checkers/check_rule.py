from checking import *
FULL = (1 << (1 << 18)) - 1  # one bit for each state of nine cells with two bits each
N, W, C, E, S = 1, 3, 4, 5, 7
def bit(place):  # 1 in all cases whose number has this bit
    half = 1 << place
    return FULL // ((1 << 2 * half) - 1) * (((1 << half) - 1) << half)
def within(inner, outer):  # the cases in which no cell has a bit of the inner ones alone
    found = FULL
    for one, other in zip(inner, outer):
        found &= FULL ^ one | other
    return found
def line(cells):  # the cases of a line of two cells or more
    beside = {W: FULL, C: FULL, E: FULL}
    return within(cells, map(beside.get, range(9), [0] * 9)) & cells[C] & (cells[W] | cells[E])
def moved(mine):  # to the left, unless one of the kind or the line's end is there
    return mine[C] & (mine[W] | FULL ^ (given[W] | shown[W])) | (FULL ^ mine[C]) & mine[E]
bits = given, shown = [[bit(2 * cell + channel) for cell in range(9)] for channel in (0, 1)]
SIDES = {"flood": "nm", "dead-ends": "nm", "sorting": (1, "n"), "voting": (1, "n")}
kind, circuit = sys.argv[1], load(sys.argv[2])
(_, gates), channels = wired(circuit), circuit["channels"]
require({*channels} == {0, 1} and 1 in circuit["visible"], "channel 1 is shown, and no memory")
require(circuit["boundary"] == "zero" and circuit["fire_rate"] == 1, "zeros beyond the edge")
rows = [bits[channel][cell] for cell in range(9) for channel in channels]
for op, a, b in gates:
    pairs = [(x, y) for x in (0, 1) for y in (0, 1) if op >> 3 - 2 * x - y & 1]
    rows.append(sum((rows[a] ^ FULL * (1 - x)) & (rows[b] ^ FULL * (1 - y)) for x, y in pairs))
if kind == "flood":
    legal, reached = within(shown, given), list(shown)
    near = [(m, n) for m in range(9) for n in (m - 3, m + 3, *[m - 1] * (m % 3 > 0),
                                               *[m + 1] * (m % 3 < 2)) if 0 <= n < 9]
    for _ in range(4):
        for m, n in near:
            reached[m] |= given[m] & reached[n]
    lit = given[C] & (shown[C] | shown[N] | shown[W] | shown[E] | shown[S])
    least, most = (given[C], lit), (given[C], reached[C])
elif kind == "sorting":
    legal = within(shown, given) & line(given)
    new = shown[C] & (shown[E] | FULL ^ given[E]) | (FULL ^ shown[C]) & shown[W]
    least = most = given[C], new
elif kind == "dead-ends":
    legal, pairs = within(given, shown), ((N, W), (N, E), (N, S), (W, E), (W, S), (E, S))
    kept = [shown[C] & shown[m] & shown[n] for m, n in pairs]
    least = most = given[C], FULL ^ within(kept, [0] * 6) | given[C]
elif kind == "voting":
    legal = line([yes | no for yes, no in zip(*bits)])
    yes, no = (moved([x & (FULL ^ y) for x, y in zip(*each)]) for each in (bits, bits[::-1]))
    least = most = yes | FULL ^ no, no | FULL ^ yes
else:
    require(False, "no such rule")
for channel, row in zip(channels, circuit["outputs"]):
    require(not legal & least[channel] & ~rows[row], f"channel {channel} must be 1 where it is 0")
    require(not legal & rows[row] & ~most[channel], f"channel {channel} must be 0 where it is 1")
confirm(f"{kind}: each step keeps the rule in all {legal.bit_count()} neighbourhoods that can occur"
        f"{', on 2 cells or more' * (SIDES[kind] != 'nm')}", circuit, *SIDES[kind])
