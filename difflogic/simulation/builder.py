"""Building blocks of the emitted code: words, vectors of words, loops, and the hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from difflogic.simulation.random_bits import FIRST_FACTOR, SECOND_FACTOR

I32 = ir.IntType(32)
I64 = ir.IntType(64)


class Builder:
    """An LLVM IR builder with a few helpers."""

    def __init__(self, function: ir.Function, words: int) -> None:
        self.ir = ir.IRBuilder(function.append_basic_block("entry"))
        self.function = function
        self.words = words
        self.vector = ir.VectorType(I64, words)

    def at(self, base: Any, offset: Any) -> Any:
        """Return the address of a word."""
        return self.ir.gep(base, [offset])

    def get(self, base: Any, offset: Any) -> Any:
        return self.ir.load(self.at(base, offset))

    def get_vector(self, base: Any, offset: Any) -> Any:
        pointer = self.ir.bitcast(self.at(base, offset), self.vector.as_pointer())
        value = self.ir.load(pointer)
        value.align = 8
        return value

    def put_vector(self, value: Any, base: Any, offset: Any) -> None:
        pointer = self.ir.bitcast(self.at(base, offset), self.vector.as_pointer())
        self.ir.store(value, pointer).align = 8

    def splat(self, scalar: Any) -> Any:
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.ir.insert_element(undefined, scalar, I32(0))
        zeros = ir.Constant(ir.VectorType(I32, self.words), [0] * self.words)
        return self.ir.shuffle_vector(first, undefined, zeros)

    def constant(self, value: int) -> Any:
        return ir.Constant(self.vector, [value] * self.words)

    def move_in(self, vector: Any, word: Any, shift: int) -> Any:
        """Shift a vector by one word and fill the free place with `word`.

        The free place is the first if `shift` is -1, and the last if it is 1.
        """
        undefined = ir.Constant(self.vector, ir.Undefined)
        n = self.words
        single = self.ir.insert_element(undefined, word, I32(0))
        places = [n, *range(n - 1)] if shift < 0 else [*range(1, n), n]
        return self.ir.shuffle_vector(vector, single, ir.Constant(ir.VectorType(I32, n), places))

    def intrinsic(self, name: str, result: Any, *arguments: Any) -> Any:
        module = self.function.module
        function = module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(result, [each.type for each in arguments])
            function = ir.Function(module, kind, name)
        return self.ir.call(function, arguments)

    def funnel(self, left: bool, high: Any, low: Any, bits: int) -> Any:
        """Shift the pair (high, low); return its upper word if `left`, else its lower one."""
        name = f"llvm.fsh{'l' if left else 'r'}.v{self.words}i64"
        return self.intrinsic(name, self.vector, high, low, self.constant(bits))

    @contextmanager
    def loop(self, start: Any, end: Any) -> Iterator[Any]:
        """Emit a loop over the numbers from `start` to below `end`."""
        before = self.ir.block
        head, body, after = (
            self.function.append_basic_block(name) for name in ("head", "body", "after")
        )
        self.ir.branch(head)
        self.ir.position_at_end(head)
        index = self.ir.phi(I64)
        index.add_incoming(start, before)
        self.ir.cbranch(self.ir.icmp_unsigned("<", index, end), body, after)
        self.ir.position_at_end(body)
        yield index
        index.add_incoming(self.ir.add(index, I64(1)), self.ir.block)
        self.ir.branch(head)
        self.ir.position_at_end(after)

    def repeat(
        self, starts: Sequence[Any], emit: Callable[[list[Any]], tuple[Sequence[Any], Any]]
    ) -> list[Any]:
        """Emit a loop that runs at least once; return its final values.

        `emit` gets the values of a round, at first `starts`. It returns the values of the next
        round, and a condition to go on. It must not create blocks.
        """
        before = self.ir.block
        body, after = (self.function.append_basic_block(name) for name in ("again", "enough"))
        self.ir.branch(body)
        self.ir.position_at_end(body)
        carried = [self.ir.phi(start.type) for start in starts]
        following, more = emit(carried)
        for phi, start, value in zip(carried, starts, following, strict=True):
            phi.add_incoming(start, before)
            phi.add_incoming(value, body)
        self.ir.cbranch(more, body, after)
        self.ir.position_at_end(after)
        return list(following)

    def mix(self, x: Any) -> Any:
        """Emit `random_bits.mix`, the hash, of a vector or of one word."""
        build = self.ir
        single = x.type is I64
        for shift, factor in ((30, FIRST_FACTOR), (27, SECOND_FACTOR), (31, None)):
            amount = I64(shift) if single else self.constant(shift)
            x = build.xor(x, build.lshr(x, amount))
            if factor is not None:
                x = build.mul(x, I64(factor) if single else self.constant(factor))
        return x
