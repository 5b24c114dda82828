// Runs a circuit as WebAssembly compiled by dct. difflogic/simulation/emission.py says what the code
// does, difflogic/simulation/run_function.py what its parameters are. One thread takes all tickets.

import { decode } from "./grid.js";
import { Interpreter } from "./interpreter.js";
import { digits } from "./random_bits.js";

const LINE_BYTES = 64;
const PAGE_BYTES = 65536;
const MAX_DEPTH = 8;
const RING_BYTES = 2 ** 20;
const ROWS_PER_STEP = 16;

export class Compiled {
  /** Throws WebAssembly's error if the browser cannot use the module. */
  constructor(circuit, code, fields, vectorWords) {
    this.name = "WebAssembly";
    this.fields = fields;
    this.vectorWords = vectorWords;
    this.memory = new WebAssembly.Memory({ initial: 1 });
    const table = new WebAssembly.Table({ initial: 1, element: "anyfunc" });
    const env = { __linear_memory: this.memory, __indirect_function_table: table };
    this.run = new WebAssembly.Instance(new WebAssembly.Module(code), { env }).exports.run;
  }

  /** Reserve memory for pairs of grids; return their buffer and addresses. */
  reserve(geometry, pairs) {
    const align = (bytes) => LINE_BYTES * Math.ceil(bytes / LINE_BYTES);
    const g = geometry;
    this.vectors = Math.ceil(g.words / this.vectorWords);
    this.ring = 8 * Math.ceil((this.vectors * this.vectorWords) / 8);
    const row = 8 * g.rowStride;
    const kept = 1 + Math.floor(RING_BYTES / (3 * row));
    this.depth = Math.max(1, Math.min(MAX_DEPTH, kept, Math.floor(g.height / ROWS_PER_STEP)));
    const parameters = LINE_BYTES;
    const done = parameters + align(8 * Object.keys(this.fields).length);
    const scratch = done + 2 * LINE_BYTES;
    const scratchBytes = align(8 * this.ring + (this.depth - 1) * 3 * row) + LINE_BYTES;
    const first = scratch + scratchBytes;
    const addresses = Array.from({ length: 2 * pairs }, (_, grid) => first + grid * align(g.bytes));
    this.places = { parameters, done, scratch };
    const pages = Math.ceil((addresses.at(-1) + g.bytes) / PAGE_BYTES);
    const present = this.memory.buffer.byteLength / PAGE_BYTES;
    if (pages > present) this.memory.grow(pages - present);
    // Remains of a grid of another size, between the rows of the scratch, would be read as cells.
    new Uint8Array(this.memory.buffer, parameters, first - parameters).fill(0);
    return { memory: this.memory.buffer, addresses };
  }

  /** Take `count` steps from `grids[0]`, which is at step `step`; return whether they end in it. */
  take(grids, step, count, fire) {
    let [source, target] = grids;
    for (let left = count; left > 0; ) {
      const depth = Math.min(this.depth, left);
      const blocks = Math.floor(left / depth);
      this.call(source, target, step + count - left, depth, blocks, fire);
      if (blocks % 2) [source, target] = [target, source];
      left -= depth * blocks;
    }
    return source === grids[0];
  }

  call(source, target, step, depth, blocks, fire) {
    const g = source.geometry;
    const { parameters, done, scratch } = this.places;
    const fullRows = g.width % (64 * this.vectorWords) === 0;
    const wide = ([low, high]) => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
    const values = {
      SOURCE: source.address, TARGET: target.address, TICKET: done + LINE_BYTES, DONE: done,
      TICKETS: blocks, BANDS: 1, DEPTH: depth, HEIGHT: g.height, ROW_STRIDE: g.rowStride,
      CHANNEL_STRIDE: g.stride, VECTORS: this.vectors, RING: this.ring,
      LAST_WORD: g.words - 1, LAST_MASK: (2n << BigInt(g.lastBit)) - 1n, LAST_BIT: g.lastBit,
      GHOST_WORD: Math.floor(g.width / 64), GHOST_BIT: g.width % 64, PERIODIC: g.periodic,
      ENDS: g.periodic || !fullRows, ASYNCHRONOUS: fire !== null,
      SEED: fire ? wide(fire.key) : 0, FIRST_STEP: step,
      THRESHOLD: fire ? wide(fire.threshold) : 0, DIGITS: fire ? digits(fire.threshold) : 0,
      YIELD: 0,
    };
    const words = new BigUint64Array(this.memory.buffer, parameters);
    for (const [name, place] of Object.entries(this.fields)) words[place] = BigInt(values[name] ?? 0); // no noise
    new Uint8Array(this.memory.buffer, done, 2 * LINE_BYTES).fill(0);
    this.run(parameters, scratch);
  }
}

/** The engines that this browser has for an automaton, fastest first, and why it cannot use WebAssembly. */
export function engines({ circuit, wasm }) {
  const found = [new Interpreter(circuit)];
  if (!wasm) return { found };
  try {
    found.unshift(new Compiled(circuit, decode(wasm.code, Uint8Array), wasm.fields, wasm.vectorWords));
  } catch (error) {
    return { found, error };
  }
  return { found };
}
