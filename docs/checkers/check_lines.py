from checking import *

NAMES = {"0001/0111 0110/1001": "addition", "0010/1011 0110/1001": "subtraction",
         "01/10 01/10": "parity", "0100/1101 0100/1101": "comparison"}

def nexts(own, sight):  # all next states of a cell; a row has one bit per case of what is unknown
    rows = [0] * 9 * size
    for place, row in enumerate(free):  # the unknown: the left neighbour, and what the sight omits
        rows[row] = sum(1 << case for case in range(cases) if case >> place & 1)
    rows[4 * size:5 * size] = [full * (own >> channel & 1) for channel in range(size)]
    for place, channel in enumerate(seen):
        rows[5 * size + channel] = full * (sight >> place & 1)
    for op, a, b in gates:
        pairs = [(x, y) for x in (0, 1) for y in (0, 1) if op >> 3 - 2 * x - y & 1]
        rows.append(sum((rows[a] ^ full * (1 - x)) & (rows[b] ^ full * (1 - y)) for x, y in pairs))
    return {sum((rows[row] >> case & 1) << channel for channel, row in
                enumerate(circuit["outputs"])) for case in range(cases)}

proof, asked, circuit, size, gates = opened("dct-every-length", "computes")
require(circuit["boundary"] == "zero" and circuit["fire_rate"] == 1, "zeros beyond the edge")
require(len(circuit["visible"]) == 1, "one channel is shown")
(delay,) = numbers([proof["delay"]], 1, 10**6, "the delay")
step = f"n + {delay - 1}" if delay > 1 else "n"
require([asked[key] for key in ("starts", "height", "width", "step")] ==
        ["every input", 1, None, step], "its question is about every input of a line")
moves, prints = proof["machine"]["moves"], proof["machine"]["prints"]
inputs = len(moves[0]).bit_length() - 1
require(len(prints) == len(moves) and inputs > 0 and all(
    len(numbers(row, 0, most, "the machine")) == 1 << inputs for rows, most in
    ((moves, len(moves) - 1), (prints, 1)) for row in rows), "each state reads all numbers")
seen = distinct(proof["seen"], size - 1, "channels that are seen") if proof["seen"] != [] else []
free = [n * size + c for n in (3, 5) for c in range(size) if n == 3 or c not in seen]
cases, full = 1 << len(free), (1 << (1 << len(free))) - 1
shown = circuit["channels"].index(circuit["visible"][0])
letters = [{int(letter): to for letter, to in each.items()} for each in proof["histories"]]
first = {int(state): at for state, at in proof["first"].items()}
numbers([*first], 0, len(moves) - 1, "the states of the machine")
numbers([letter for each in letters for letter in each], 0, (2 << len(seen)) - 1, "the letters")
numbers([*first.values(), *(to for each in letters for to in each.values())], 0, len(letters) - 1,
        "the histories")
require(len(free) <= 16, "few channels")
at = first[0]
for time in range(delay + len(letters)):  # beyond the edge
    require(int(time >= delay - 1) in letters[at], "the history beyond the edge")
    at = letters[at][int(time >= delay - 1)]
waiting, known, done = [], {}, set()
for state, at in first.items():
    for number in range(1 << inputs):
        own = sum(1 << place for place, label in enumerate(circuit["channels"])
                  if label < inputs and number >> label & 1)
        require(moves[state][number] in first, "each state of the machine has histories")
        waiting.append((at, own, 0, prints[state][number], first[moves[state][number]]))
while waiting:
    node = at, own, mark, wanted, mine = waiting.pop()
    if node in done:
        continue
    done.add(node)
    require(not mark or own >> shown & 1 == wanted, "a marked cell is right")
    letter = mark + 2 * sum((own >> c & 1) << place for place, c in enumerate(seen))
    require(letter in letters[mine], "a cell's history is among its neighbour's")
    for sight, to in letters[at].items():
        if (own, sight >> 1) not in known:
            known[own, sight >> 1] = nexts(own, sight >> 1)
        waiting += [(to, new, sight & 1, wanted, letters[mine][letter])
                    for new in known[own, sight >> 1]]
table = " ".join("/".join("".join(map(str, row)) for row in rows) for rows in (moves, prints))
confirm(f"lines of n cells show what the machine {NAMES.get(table, table)} prints, from every "
        f"input, from step {step} on, for every n", circuit, 1, "n")
