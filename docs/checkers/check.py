from checking import *

BITS = {"0": (0,), "1": (1,), "?": (0, 1)}

def step(seen):  # from the signs of nine neighbours' channels to the cell's own
    signs = list("".join(seen))
    for op, a, b in gates:
        values = {op >> 3 - 2 * x - y & 1 for x in BITS[signs[a]] for y in BITS[signs[b]]}
        signs.append("?" if len(values) == 2 else str(values.pop()))
    return "".join(signs[row] for row in circuit["outputs"])

def inside(signs, others):  # whether the others allow all that these signs do
    return all(other in ("?", sign) for sign, other in zip(signs, others, strict=True))

proof, asked, circuit, size, gates = opened("dct-certificate", "stays")
height, width = numbers([asked["height"], asked["width"]], 1, 65536, "the grid")
sets, torus = proof["sets"], circuit["boundary"] == "periodic"
require(all(type(each) is str and len(each) == size and {*each} <= {*BITS} for each in sets),
        "a sign for each channel")
states = [spread(line, height * width, len(sets) - 1) for line in proof["states"]]
target = [spread(line, height * width, 1) for line in proof["target"]]
require(asked["starts"] == "every start" and [len(states) - 1] ==
        numbers([asked["step"]], 0, 10**6, "the step"), "from every start, and the number of steps")
require(all(sets[cell] == "?" * size for cell in states[0]), "the first sets hold all states")
done = set()
for now, after in zip(states, states[1:] + states[-1:]):  # the last sets lead into themselves
    for cell, own in enumerate(after):
        places = [(cell // width + y, cell % width + x) for y in (-1, 0, 1) for x in (-1, 0, 1)]
        seen = tuple(now[y % height * width + x % width] if torus or 0 <= y < height and
                     0 <= x < width else None for y, x in places)
        if (seen, own) not in done:
            signs = ["0" * size if number is None else sets[number] for number in seen]
            require(inside(sets[own], sets[now[cell]]), "sets only shrink")
            require(inside(step(signs), sets[own]), "a step leads into the next sets")
            done.add((seen, own))
for label, bits in zip(circuit["visible"], target, strict=True):
    place = circuit["channels"].index(label)
    require(all(sets[number][place] == str(bit) for number, bit in zip(states[-1], bits)),
            "the last sets show the target")
confirm(f"every start shows the target in the proof from {asked['unit']} {asked['step']} on",
        circuit, height, width)
