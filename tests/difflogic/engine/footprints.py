"""What each part of a tile's workers reads and writes in each stage, and whether that is safe."""

from itertools import pairwise, permutations

from difflogic.engine.kernels import structures as k


def accesses(split, duty):
    """Yield what a duty reads and then writes, step by step: two sets of (array, row)."""
    kind, first, end = map(int, duty)
    channels = len(split.outputs)
    some = range(first, end)

    def rows(array, numbers, width=1):
        return {(array, int(row) + w) for row in numbers for w in range(width)}

    seen = [n * channels + c for n in range(9) for c in some]
    if kind == k.GATHER:
        yield rows("state", some), rows("values", seen)
    elif kind == k.EVALUATE:
        for gate in split.gates[first:end]:
            width = gate[k.WIDTH]
            yield (rows("values", gate[[k.A, k.B]], width), rows("values", [gate[k.OUT]], width))
    elif kind == k.UPDATE:
        yield rows("state", some) | rows("values", split.outputs[first:end]), rows("new", some)
    elif kind == k.RECEIVE:
        yield rows("upstream", seen), rows("gradients", seen)
        yield (
            rows("loss", some) | rows("gradients", seen),
            rows("gradients", split.grad_outputs[first:end]) | rows("kept", some),
        )
    elif kind == k.PASS_ON:
        for given, row in zip(split.grad_outputs, split.outputs, strict=True):
            if row in some:
                yield rows("gradients", [given]), rows("gradients", [row])
    elif kind == k.PULL:
        for row, at, count, filled in split.targets[first:end]:
            pulls = split.pulls[at : at + count]
            own = rows("gradients", [row])
            above, other = (pulls[:, field] for field in (k.PULL_GRAD, k.PULL_OTHER))
            yield (own if filled else set()) | rows("gradients", above) | rows("values", other), own
    elif kind == k.LEAVE:
        own = [row - 4 * channels for row in some if row // channels == 4]
        yield rows("gradients", some) | rows("kept", own), rows("downstream", some)
    elif kind == k.SUM:
        for gate in split.sums[first:end]:
            width = gate[k.WIDTH]
            total = rows("sums", [gate[k.PARAM]])
            read = rows("values", gate[[k.A, k.B]], width)
            yield read | rows("gradients", [gate[k.OUT]], width) | total, total


GIVEN = {"state", "loss", "upstream", "sums"}
"""What is there before a tile's step. The first part clears the sums before the first stage."""


def footprint(split, duties):
    """What duties read that they have not written themselves, and what they write."""
    reads = set()
    writes = set()
    for duty in duties:
        for needs, leaves in accesses(split, duty):
            reads |= needs - writes
            writes |= leaves
    return reads, writes


def stages(split, backward):
    """The duties of each stage and part of a step."""
    duties = split.backward if backward else split.forward
    bounds = split.backward_bounds if backward else split.forward_bounds
    return [[duties[i:j].tolist() for i, j in pairwise(row)] for row in bounds]


def faults(split, stages):
    """Say what is wrong: two parts at one row in a stage, or a row read before it is written."""
    found = []
    written = set()
    for number, stage in enumerate(stages):
        touched = [footprint(split, duties) for duties in stage]
        for (_, written_by_one), (reads, writes) in permutations(touched, 2):
            for row in written_by_one & (reads | writes):
                found.append(f"stage {number}: one part writes {row}, another one uses it")
        for reads, _ in touched:
            for row in reads - written:
                if row[0] not in GIVEN:
                    found.append(f"stage {number} reads {row} before it is there")
        written = written.union(*(writes for _, writes in touched))
    return found
