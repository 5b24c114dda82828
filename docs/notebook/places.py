"""Tough places: each cell's column and row in bits, by majority of two neighbours and itself."""

import sys

import difflogic


def plus(bits):
    """Return a number plus one; the lowest bit comes first."""
    found, carry = [~bits[0]], bits[0]
    for bit in bits[1:]:
        found.append(bit ^ carry)
        carry = bit & carry
    return found


def minus(bits):
    """Return a number minus one."""
    return [~bit for bit in plus([~bit for bit in bits])]


def choose(one, these, those):
    """Return these bits where `one`, else those."""
    return [one & a | ~one & b for a, b in zip(these, those, strict=True)]


def rule(bits):
    """Return the rule of two flags (alive, valid), and the bits of columns and rows."""

    def place(cell):
        return cell[2 : 2 + bits], cell[2 + bits :]

    def tough(nw, n, ne, w, c, e, sw, s, se):
        (xn, yn), (xw, yw), (xe, ye), (xs, ys) = map(place, (n, w, e, s))
        (x_ne, y_ne), (x_sw, y_sw), (x, y) = map(place, (ne, sw, c))
        beyond, in_corner = (~(n[k] | w[k] | nw[k] | ne[k] | sw[k]) for k in (0, 1))
        inner = xw[0]
        for bit in xw[1:]:
            inner = inner | bit
        by_west = plus(xw) + yw
        by_southwest = choose(inner | ~w[1], plus(x_sw) + minus(y_sw), by_west)
        first = choose(n[1], xn + plus(yn), by_southwest)
        second = choose(w[1], by_west, minus(x_ne) + plus(y_ne))
        has_first, has_second = n[1] | sw[1], w[1] | ne[1]
        filled = choose(e[1], minus(xe) + ye, [s[1] & bit for bit in xs + minus(ys)])
        alone = choose(c[1], [bit & ~in_corner for bit in x + y], filled)
        third = choose(c[1], x + y, first)
        found = [
            has_first & a & (~has_second | b | t)
            | has_second & b & (~has_first | a | t)
            | ~has_first & ~has_second & d
            for a, b, t, d in zip(first, second, third, alone, strict=True)
        ]
        return 1, c[1] | has_first | has_second | e[1] | s[1] | c[0] & beyond, *found

    return tough


if __name__ == "__main__":
    count = int(sys.argv[1])
    side, channels = 2**count, 2 + 2 * count
    made = difflogic.rule(
        rule(count), channels, size=(side, side), steps=4 * side, visible=tuple(range(channels))
    )
    small = difflogic.simplify(made)
    print(made.circuit.gates, "gates, simplified", small.automaton.circuit.gates)
    small.save(f"places-{count}.json")
