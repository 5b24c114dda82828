from checking import *

def step(state):  # one row per channel, with a bit per cell and case; returns the rows after a step
    rows = [int("".join("1" if row[place] else "0" for place in seen), 2)
            for seen in places for row in ([*row, 0] for row in state)]
    for op, a, b in gates:
        pairs = [(x, y) for x in (0, 1) for y in (0, 1) if op >> 3 - 2 * x - y & 1]
        rows.append(sum((rows[a] ^ full * (1 - x)) & (rows[b] ^ full * (1 - y)) for x, y in pairs))
    return [[*map(int, f"{rows[row]:0{total}b}")] for row in circuit["outputs"]]

proof, asked, circuit, size, gates = opened("dct-cases", "shows")
require(circuit["fire_rate"] == 1, "all cells fire at each step")
height, width = numbers([asked["height"], asked["width"]], 1, 65536, "the grid")
(steps,) = numbers([asked["step"]], 1, 10**6, "the step")
cells, torus, channels = height * width, circuit["boundary"] == "periodic", circuit["channels"]
starts, targets = ([[spread(lines, cells, 1) for lines in case[end]] for case in proof["cases"]]
                   for end in (0, 1))
shown = [channels.index(label) for label in circuit["visible"]]
require(all(map(lambda start, target: len(start) == size and len(target) == len(shown),
                starts, targets)), "the channels of a start and of its target")
count, total, full = len(starts), cells * len(starts), (1 << cells * len(starts)) - 1
require(len({*map(str, starts)}) == count > 0, "no start appears twice")
places = [[first + (y + dy) % height * width + (x + dx) % width if torus or 0 <= y + dy < height and
           0 <= x + dx < width else -1 for first in range(0, total, cells)
           for y in range(height) for x in range(width)] for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
state = first = [sum(rows, []) for rows in zip(*starts)]
wanted = [sum(rows, []) for rows in zip(*targets)]
for _ in range(steps):
    state = step(state)
require([state[place] for place in shown] == wanted, "the last state shows the target")
middle = height // 2 * width + width // 2
one = {"zeros": [0] * cells, "center": [int(cell == middle) for cell in range(cells)]}
varied = [place for place in range(size) if 1 in first[place]]
labels = ", ".join(str(channels[place]) for place in varied)
if starts == [[one.get(circuit["start"])] * size]:
    what = f"its own start, {circuit['start']}"
elif varied and count == 2 ** (cells * len(varied)):
    what = f"all {count} starts of channel {labels}"
else:
    what = f"{count} listed start{'s' * (count > 1)}"
require(asked["starts"] == what, "the question is about " + what)
said = f"step {steps} shows the targets in the proof, from {what}"
if steps == 1 and varied == shown and len(shown) == 1:  # are they those of a rule like Life?
    board = first[shown[0]]
    found = {(own, sum(board[n] for n in seen if n >= 0) - own, new)
             for own, new, *seen in zip(board, wanted[0], *places)}
    if len({(own, around) for own, around, _ in found}) == len(found) == 18:
        said += ", those of the rule " + "/".join(name + "".join(
            str(around) for own, around, new in sorted(found) if (own, new) == (n, 1))
            for n, name in enumerate("BS"))
right, seen = [], []
while count == 1 and state not in seen and len(seen) < 1000:
    right, seen = [*right, [state[place] for place in shown] == wanted], [*seen, state]
    state = step(state)
if state in seen:
    said += f", and at {'every' if all(right) else 'not every'} later step"
confirm(said, circuit, height, width)
