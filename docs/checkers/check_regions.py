from checking import *
import contextlib, io, os, runpy, tempfile

CHECKERS = {"dct-one-side": "check_one_side.py", "dct-certificate": "check.py",
            "dct-cases": "check_cases.py"}
known, reads = {}, [set(), set()]  # each AND, XOR and input has two literals: itself, and its inverse

def node(*key):  # the literal of something, the same for equal things
    if key not in known:
        known[key] = len(reads)
        read = {key} if key[0] == "input" else reads[key[1]] | reads[key[2]]
        reads.extend([read, read])
    return known[key]

def both(x, y):  # literal 0 is the bit 0, literal 1 the bit 1
    x, y = sorted((x, y))
    if x == 0 or x ^ y == 1:
        return 0
    return y if x in (1, y) else node("and", x, y)

def either(x, y):
    inverted, (x, y) = (x ^ y) & 1, sorted((x & ~1, y & ~1))
    return inverted if x == y else (y if x == 0 else node("xor", x, y)) ^ inverted

def gate(op, x, y):
    bits = [op >> 3 - case & 1 for case in range(4)]
    if sum(bits) in (0, 4):
        return bits[0]
    if sum(bits) == 2:
        return {3: x, 12: x ^ 1, 5: y, 10: y ^ 1}.get(op, either(x, y) ^ (op == 9))
    case = bits.index(sum(bits) == 1)  # the only one that differs from the others
    return both(x ^ 1 ^ case >> 1, y ^ 1 ^ case & 1) ^ (sum(bits) == 3)

def after(circuit, held=(), number=0):  # each channel's next literal, with a number in held channels
    rows = [number >> held.index(label) & 1 if place == 4 and label in held else
            node("input", place, label) for place in range(9) for label in circuit["channels"]]
    for op, a, b in wired(circuit)[1]:
        rows.append(gate(op, rows[a], rows[b]))
    return {label: rows[row] for label, row in zip(circuit["channels"], circuit["outputs"])}

def confirmed(part):  # what the checker of its format says of a part
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
        sys.argv[1:] = [os.path.join(folder, "proof.json")]
        with open(sys.argv[1], "w") as file:
            json.dump(part, file)
        runpy.run_path(os.path.join(os.path.dirname(__file__), CHECKERS[part["format"]]))
    require(said.getvalue().startswith("confirmed: "), "a proof of each part")
    return said.getvalue()

proof, asked, circuit, size, gates = opened("dct-regions", "stays")
visible, parts, given = circuit["visible"], proof["parts"], sys.argv[1:]
held = distinct(circuit["held"], 2**31, "held channels")
require(len(parts) == 2 ** len(held) and {*held} & {*circuit["channels"]} <= {*asked["held"]},
        "held channels stay, and there is a part for each number in them")
free, grids, steps, firings, own = after(circuit), [], [], 0, False
for number, part in enumerate(parts):
    alone, fixed, question = part["circuit"], after(circuit, held, number), part["question"]
    require(all(alone[key] == circuit[key] for key in
                ("visible", "boundary", "fire_rate", "start", "height", "width")) and
            not {*held} & {*alone["channels"]}, "a part is run as the whole, and holds nothing")
    for label, literal in after(alone).items():  # the part's channels, whatever is painted
        require(literal == (fixed if label in visible else free)[label], "a part is as it is alone")
        require(all(seen not in visible for _, _, seen in reads[literal]), "what is shown stays unread")
    said = confirmed(part)
    if part["format"] == "dct-one-side":
        firings = max(firings, int(question["step"].split()[0]))
        continue
    grids, steps = [*grids, [question["height"], question["width"]]], [*steps, question["step"]]
    if part["format"] == "dct-cases":
        own = True
        require("from its own start" in said and "at every later" in said, "it stays, from its start")
sides = grids[0] if grids else [None, None]
step = max([*steps, firings * (sum(sides) - 1)]) if grids else f"{firings} · (m + n - 1)"
starts = f"its own start, {circuit['start']}" if own else "every start"
require(all(grid == sides for grid in grids) and json.dumps([asked["height"], asked["width"]]) ==
        json.dumps(sides) and json.dumps(asked["step"]) == json.dumps(step), "the grid, and the step")
require(asked["starts"] == starts + ", for every value of the held channels", "the starts")
sys.argv[1:] = given
confirm(f"for every value of the held channels, from {starts}, each cell shows what its part alone "
        f"ends in, from {asked['unit']} {step} on", circuit, *(sides if grids else ("m", "n")))
