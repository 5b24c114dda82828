import json, sys

OPS = ("FALSE AND A_AND_NOT_B A NOT_A_AND_B B XOR OR "
       "NOR XNOR NOT_B A_OR_NOT_B NOT_A NOT_A_OR_B NAND TRUE").split()
KEYS = {"format", "version", "name", "boundary", "height", "width", "steps", "fire_rate", "start",
        "channels", "visible", "outputs", "gates"}
ASKED = {"claim", "starts", "height", "width", "boundary", "fire_rate", "visible", "held", "step",
         "damages", "schedule", "unit"}
sys.excepthook = lambda kind, error, trace: print(
    f"NOT CONFIRMED: {kind.__name__}: {error}", file=sys.stderr)

def require(holds, what):
    if not holds:
        sys.exit("NOT CONFIRMED: " + what)

def numbers(values, least, most, what):  # whole numbers: not true, not 1.0
    require(type(values) is list and values != [] and
            all(type(value) is int and least <= value <= most for value in values), what)
    return values

def distinct(values, most, what):
    require(len({*numbers(values, 0, most, what)}) == len(values), f"all {what} are different")
    return values

def spread(lines, cells, most):  # [count, value] for each stretch of equal cells
    require(all(len(numbers(line, 0, max(cells, most), "a stretch of cells")) == 2
                for line in lines), "a stretch of cells")
    require(sum(count for count, _ in lines) == cells, "the number of cells")
    return numbers([value for count, value in lines for _ in range(count)], 0, most, "the cells")

def load(path):
    def once(pairs):
        require(len(dict(pairs)) == len(pairs), "no key appears twice")
        return dict(pairs)
    return json.load(open(path), object_pairs_hook=once)

def wired(circuit):  # bounds a circuit file; returns the number of channels, and the gates
    require(KEYS <= {*circuit} <= KEYS | {"palette", "encoding", "held", "parts"} and
            circuit["format"] == "dct-circuit" and circuit["boundary"] in ("zero", "periodic") and
            type(circuit["fire_rate"]) in (int, float) and 0 < circuit["fire_rate"] <= 1 and
            circuit["start"] in ("random", "center", "zeros"), "the circuit file's keys")
    for key, most in (("version", 1), ("height", 65536), ("width", 65536), ("steps", 10**6)):
        numbers([circuit[key]], 1, most, key)
    channels, gates = distinct(circuit["channels"], 2**31, "channels"), []
    require({*distinct(circuit["visible"], 2**31, "visible channels")} <= {*channels}, "visible")
    for gate in circuit["gates"]:
        last = 9 * len(channels) + len(gates) - 1
        wires = numbers([gate["a"], gate["b"]], 0, last, "a gate's wires")
        gates.append((OPS.index(gate["op"]), *wires))
    numbers(circuit["outputs"], 0, 9 * len(channels) + len(gates) - 1, "the outputs")
    require(len(circuit["outputs"]) == len(channels), "an output for each channel")
    return len(channels), gates

def opened(kind, claim):  # compares a proof and its question with the circuit's file
    proof = load(sys.argv[1])
    circuit = load(sys.argv[2]) if len(sys.argv) > 2 else proof["circuit"]
    require(proof["circuit"] == circuit, "it is of another circuit")
    wired(proof["circuit"])
    (size, gates), asked, together = wired(circuit), proof["question"], circuit["fire_rate"] == 1
    numbers([proof["version"]], 2, 2, "the version")
    require(proof["format"] == kind and {*asked} == ASKED, "the format")
    known = {"claim": claim, "damages": 0, "unit": "step" if together else "round",
             "schedule": "all cells at each step" if together else "every fair schedule",
             "fire_rate": float(circuit["fire_rate"]),
             "held": [label for place, label in enumerate(circuit["channels"])
                      if circuit["outputs"][place] == 4 * size + place]}
    for key, value in (known | {key: circuit[key] for key in ("boundary", "visible")}).items():
        require(json.dumps(asked[key]) == json.dumps(value), f"the question has {key} {value}")
    return proof, asked, circuit, size, gates

def confirm(said, circuit, *sides):  # says what is confirmed, and where
    own = circuit["height"], circuit["width"]
    fits = all(type(side) is str or side == mine for side, mine in zip(sides, own))
    where = "{}×{} cells".format(*sides) + " (its own are {}×{})".format(*own) * (not fits)
    print(f"confirmed: {said}; {where}, {circuit['boundary']} boundary, "
          f"{'all cells at each step' if circuit['fire_rate'] == 1 else 'every fair schedule'}, "
          f"visible {', '.join(map(str, circuit['visible']))}"
          + "; no circuit file was compared" * (len(sys.argv) < 3))
