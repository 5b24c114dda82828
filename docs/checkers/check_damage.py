from check import *  # confirms starts, step and target first

def texts(orders, k):  # the sets at step k: each row of the board, and one beyond it, in each order
    bits = [[[x[c] if x[c] != "?" and t[c] <= k else end for x, t in zip(sets, arrivals)]
             for c in range(size)] for end in "01"] + [[["1"] * len(sets)]]
    return [[[["".join(bit[settled[y * board + x]] if y >= 0 <= x else "0" for x in order)
               for order in orders] for y in range(-1, board)] for bit in ends] for ends in bits]

def laid(rows, found):  # as numbers: least and greatest values of all channels, and which cells are
    return [[int("".join(text[y + 1][n] for n in range(len(text[0])) for y in rows), 2)
             for text in ends] for ends in found]

def step(state):  # the least and the greatest value of each channel, after each cell has fired
    rows = [[(values[c] >> n if n > 0 else values[c] << -n) & full for values in state]
            for n in (y * span + x for y in (1, 0, -1) for x in (1, 0, -1)) for c in range(size)]
    for op, a, b in gates:
        may = [0, 0]  # where it may be 0, and where 1
        for x, y in ((0, 0), (0, 1), (1, 0), (1, 1)):
            may[op >> 3 - 2 * x - y & 1] |= (rows[a][1] if x else full ^ rows[a][0]) & (
                rows[b][1] if y else full ^ rows[b][0])
        rows.append([full ^ may[0], may[1]])
    return [[rows[row][end] & free | old & ~free for row, old in
             zip(circuit["outputs"], state[end])] for end in (0, 1)]

def leaves(state, others, channels, chosen):  # whether it may be there what the others may not
    return any((others[0][c] & ~state[0][c] | state[1][c] & ~others[1][c]) & chosen
               for c in channels)

def lines(side):  # the board's rows, or columns, of a grid: those of a small one, some repeated
    base = side if side < first + period else first + (side - first) % period
    cut, own = (base + period) // 2 + 1, [*range(base * (base - 1) // 2, base * (base + 1) // 2)]
    return own[:cut] + [own[cut - period + n % period] for n in range(side - base)] + own[cut:]

def bound(*counts):
    require(all(0 < count < 1 << 29 for count in counts), "there are windows, and not too many")

damage = proof["damage"]
sets, arrivals, small = damage["sets"], damage["arrivals"], [-1]
side, margin, within, reach, rounds, first, period = (
    numbers([damage[key]], least, 64, key)[0] for key, least in (("side", 1), ("margin", 0),
    ("within", 0), ("reach", 0), ("rounds", 0), ("first", 1), ("period", 1)))
down, across = numbers(damage["delays"], -9999, 9999, "the delays")
require(damage["contents"] in ("zeros", "any") and circuit["boundary"] == "zero" and
        first > period + 3 and all(type(x) is str and len(x) == len(numbers(
            t, 1, 9999, "arrivals")) == size and {*x} <= {*BITS} for x, t in
            zip(sets, arrivals, strict=True)), "a square of zeros or of anything, and signs")
board, wires = sum(range(first + period)), 9 * size + len(gates)
bound((board + first + period) ** 2 * wires)
settled = spread(damage["settled"], board * board, len(sets) - 1)
for n in range(1, first + period):
    small += [*lines(n), -1]
    for row in lines(n)[(n + period) // 2:][:2] if n >= first else ():  # they repeat, some later
        for x in range(board):
            for delay, place, back in ((down, row * board + x, period * board),
                                       (across, x * board + row, period)):
                new, old = settled[place], settled[place - back]
                require(sets[new] == sets[old] and all(sign == "?" or late == soon + delay for
                        sign, late, soon in zip(sets[new], arrivals[new], arrivals[old])),
                        "rows and columns repeat")
shown = [*map(circuit["channels"].index, circuit["visible"])]
require(all(sets[n][c] != "?" for n in settled for c in shown), "a grid ends in one picture")
again = [n % period for each in range(first + period) for n in range(each)]
repeats = min(height, width) >= period and all(sets[n][c] == str(bits[y * width + x]) for n, (y, x)
    in zip(settled, [(y, x) for y in again for x in again]) for c, bits in zip(shown, target))
span, last = len(small), max(map(max, arrivals))
full, (*now, (free,)) = (1 << span * span) - 1, laid(small, texts([small], 0))
for k in range(1, last + 2):  # from every start on all small grids
    *after, _ = laid(small, texts([small], k))
    require(not leaves(step(now), after, range(size), full), "every start settles so")
    now = after
frame, orders = within + 2, set()
span = side + 2 * frame
for n in range(1, span + first + 3 * period):
    own = [-1] * frame + lines(n) + [-1] * (max(0, side - n) + frame)
    for at in range(len(own) - span + 1):
        if min(margin, frame) <= max(0, min(at, n - at - side)):
            orders.add(tuple(own[at:at + span]))
            bound(len(orders) << 16)
bound(len(orders) * span * (span + board) * wires, 8 * (len(orders) * span) ** 2)
away = [max(frame - min(y, x), max(y, x) - frame - side + 1, 0)
        for y in range(span) for x in range(span)]
full, found = (1 << len(orders) * span * span) - 1, texts(orders, last)
hurt, leak, far, near = (int("".join("01"[holds(n)] for n in away) * len(orders), 2) for holds in (
    lambda n: n == 0, lambda n: n > within, lambda n: n > reach, lambda n: n < frame))
for rows in orders:
    *calm, (inside,) = laid(rows, found)
    free, anything = near & inside, hurt & inside if damage["contents"] == "any" else 0
    require(not leaves(step(calm), calm, range(size), full), "settled states keep themselves")
    state = [[low & ~hurt for low in calm[0]], [high & ~hurt | anything for high in calm[1]]]
    more = None
    while more != state:  # all that is reached, whichever cells fire
        state, after = more or state, step(more or state)
        more = [[a & b for a, b in zip(*ends)] if end == 0 else [a | b for a, b in zip(*ends)]
                for end, ends in enumerate(zip(state, after))]
    require(not leaves(state, calm, range(size), leak) and not leaves(state, calm, shown, far),
            "damage stays local")
    for _ in range(rounds):
        state = step(state)
    require(not leaves(state, calm, shown, full), f"nothing is wrong after round {rounds}")
confirm(f"a wound of {side}×{side} cells, {damage['contents']}, {margin} or more from the edges, "
        f"makes no cell wrong that is more than {reach} away, and none after round {rounds}, "
        "whichever cells fire, for all m and n" +
        ", where what every start ends in is right" * (not repeats), circuit, "m", "n")
