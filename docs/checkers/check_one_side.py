from checking import *

BITS = {"0": (0,), "1": (1,), "?": (0, 1)}

def fired(own):  # a cell's signs after it fires, with the neighbours in `around`
    signs = list("".join(own if place == 4 else around.get(place, "?" * size) for place in range(9)))
    for op, a, b in gates:
        values = {op >> 3 - 2 * x - y & 1 for x in BITS[signs[a]] for y in BITS[signs[b]]}
        signs.append("?" if len(values) == 2 else str(values.pop()))
    return "".join(signs[row] for row in circuit["outputs"])

def settled():  # a cell's signs in the end, and after how many firings
    own, count, states = "?" * size, 0, {""}
    while (after := fired(own)) != own:
        own, count = after, count + 1
    for sign in own:  # if few are unknown, all states that a cell may have
        each = map(str, BITS[sign]) if own.count("?") <= 8 else sign
        states = {state + bit for bit in each for state in states}
    while (new := {*map(fired, states)}) != states and "?" not in "".join(new):
        states, count = new, count + 1
    return "".join(signs[0] if len({*signs}) == 1 else "?" for signs in zip(*states)), count

def cell(row, place):  # of a row that begins with some cells, and repeats others
    late = place - len(row[0])
    return "0" * size if place < 0 else row[0][place] if late < 0 else row[1][late % len(row[1])]

def common(a, b):  # the least multiple of both
    return next(n for n in range(a, a * b + 1, a) if n % b == 0)

proof, asked, circuit, size, gates = opened("dct-one-side", "stays")
require(circuit["boundary"] == "zero", "zeros beyond the edge")
down, across = numbers(proof["corner"], -1, 1, "the corner")
require(down and across, "the corner")
shown = [circuit["channels"].index(label) for label in circuit["visible"]]
sets, target = proof["sets"], proof["target"]
require(all(type(each) is str and len(each) == size and {*each} <= {*BITS} for each in sets),
        "a sign for each channel")
rows = [[[sets[n] for n in part and numbers(part, 0, len(sets) - 1, "a row")] for part in row]
        for row in proof["rows"]]
require(rows and all(len(row) == 2 and row[1] for row in rows), "each row repeats")
(start,) = numbers([proof["start"]], 0, len(rows) - 1, "where rows repeat")
known = {}
for above, row in zip([[[], ["0" * size]], *rows], [*rows, rows[start]]):
    again = common(len(above[1]), len(row[1]))
    for place in range(max(len(above[0]), len(row[0])) + again + 1):
        key = cell(above, place - 1), cell(above, place), cell(row, place - 1)
        if key not in known:
            around = dict(zip((4 + 3 * down + across, 4 + 3 * down, 4 + across), key))
            known[key] = settled()
        require(known[key][0] == cell(row, place), "what the cells of a row settle in")
count = max(count for _, count in known.values())
height, width = (len(target), len(target[0])) if target else (1, 1)
for y in range(start + common(len(rows) - start, height)):
    row = rows[y if y < len(rows) else start + (y - start) % (len(rows) - start)]
    for x in range(len(row[0]) + common(len(row[1]), width)):
        signs = "".join(cell(row, x)[place] for place in shown)
        wanted = {target[v][u] for v in (range(height) if down > 0 else [y % height])
                  for u in (range(width) if across > 0 else [x % width])} if target else {signs}
        require(wanted == {signs} and "?" not in signs, "the cells show the target")
step = f"{count} · (m + n - 1)"
require([asked[key] for key in ("starts", "height", "width", "step")] ==
        ["every start", None, None, step], "its question is about every start on every grid")
what = f"the target, {height}×{width} cells again and again," if target else "one picture"
confirm(f"every start shows {what} from {asked['unit']} {step} on, for all m and n",
        circuit, "m", "n")
