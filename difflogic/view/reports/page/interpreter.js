// Runs a circuit gate by gate, for browsers without WebAssembly or its vectors. The bits are the same.

import { childKey, fillBernoulli } from "./random_bits.js";

const BAND_WORDS = 4096; // per value: many rows at a time, so that calls cost little

export class Interpreter {
  constructor(circuit) {
    this.circuit = circuit;
    this.name = "JavaScript";
    const inputs = 9 * circuit.channels;
    const read = new Set(circuit.outputs.filter((row) => row < inputs));
    for (const wires of [circuit.a, circuit.b]) {
      for (const row of wires) if (row < inputs) read.add(row);
    }
    this.inputs = [...read].sort((a, b) => a - b);
  }

  /** Reserve memory for pairs of grids; return their buffer and addresses. */
  reserve(geometry, pairs) {
    this.mask = null;
    const addresses = Array.from({ length: 2 * pairs }, (_, grid) => grid * geometry.bytes);
    return { memory: new ArrayBuffer(2 * pairs * geometry.bytes), addresses };
  }

  /** Take `count` steps from `grids[0]`, which is at step `step`; return whether they end in it. */
  take(grids, step, count, fire) {
    let [source, target] = grids;
    for (let taken = 0; taken < count; taken++) {
      this.step(source, target, step + taken, fire);
      [source, target] = [target, source];
    }
    return source === grids[0];
  }

  step(source, target, step, fire) {
    const g = source.geometry;
    const rows = Math.min(g.height, Math.max(1, Math.floor(BAND_WORDS / (2 * g.words))));
    this.makeValues(rows * 2 * g.words);
    const stepKey = fire && childKey(fire.key, step);
    for (let y = 0; y < g.height; y += rows) {
      const end = Math.min(g.height, y + rows);
      this.evaluate(source, y, end);
      for (let row = y; row < end; row++) {
        if (fire) fillBernoulli(this.mask, 0, g.words, childKey(stepKey, row), fire.threshold);
        this.store(source, target, row, (row - y) * 2 * g.words, fire);
      }
    }
  }

  makeValues(length) {
    if (this.mask?.length === length) return;
    const inputs = 9 * this.circuit.channels;
    const read = new Set(this.inputs);
    this.mask = new Uint32Array(length);
    this.values = Array.from({ length: inputs + this.circuit.op.length }, (_, row) =>
      row >= inputs || read.has(row) ? new Uint32Array(length) : null,
    );
  }

  /** Compute all gates for rows of cells. */
  evaluate(source, first, end) {
    const { circuit, values } = this;
    const inputs = 9 * circuit.channels;
    for (const row of this.inputs) this.load(values[row], source, row, first, end);
    for (let gate = 0; gate < circuit.op.length; gate++) {
      const a = values[circuit.a[gate]], b = values[circuit.b[gate]];
      apply(circuit.op[gate], a, b, values[inputs + gate]);
    }
  }

  /** Write the next state of row y, which begins at `at` in the values, where cells fire. */
  store(source, target, y, at, fire) {
    const { geometry: g } = source;
    for (let channel = 0; channel < g.channels; channel++) {
      const result = this.values[this.circuit.outputs[channel]];
      const from = source.start(y, channel);
      const to = target.start(y, channel);
      for (let i = 0; i < 2 * g.words; i++) {
        const now = result[at + i];
        const old = source.words[from + i];
        target.words[to + i] = fire ? old ^ ((old ^ now) & this.mask[i]) : now;
      }
      target.refreshChannelEnds(to);
    }
  }

  /** Copy a neighbour's channel for rows of cells. The left neighbour is one bit lower. */
  load(value, source, row, first, end) {
    const g = source.geometry;
    const neighbor = Math.floor(row / g.channels);
    const column = neighbor % 3;
    const { words } = source;
    let out = 0;
    for (let y = first; y < end; y++) {
      const from = source.start(g.rowAt(y + Math.floor(neighbor / 3) - 1), row % g.channels);
      for (let at = from; at < from + 2 * g.words; at++) {
        if (column === 0) value[out++] = (words[at] << 1) | (words[at - 1] >>> 31);
        else if (column === 1) value[out++] = words[at];
        else value[out++] = (words[at] >>> 1) | (words[at + 1] << 31);
      }
    }
  }
}

/** Bit 3 - (2a + b) of an op's number is its value. Ops from 8 on are the inverse of op 15 - op. */
function apply(op, a, b, out) {
  const flip = op >= 8 ? -1 : 0;
  const { length } = out;
  switch (flip ? 15 - op : op) {
    case 0: out.fill(flip); break;
    case 1: for (let i = 0; i < length; i++) out[i] = (a[i] & b[i]) ^ flip; break;
    case 2: for (let i = 0; i < length; i++) out[i] = (a[i] & ~b[i]) ^ flip; break;
    case 3: for (let i = 0; i < length; i++) out[i] = a[i] ^ flip; break;
    case 4: for (let i = 0; i < length; i++) out[i] = (~a[i] & b[i]) ^ flip; break;
    case 5: for (let i = 0; i < length; i++) out[i] = b[i] ^ flip; break;
    case 6: for (let i = 0; i < length; i++) out[i] = a[i] ^ b[i] ^ flip; break;
    case 7: for (let i = 0; i < length; i++) out[i] = (a[i] | b[i]) ^ flip; break;
  }
}

/** The value of an op for two bits. */
export function gateValue(op, a, b) {
  return (op >> (3 - 2 * a - b)) & 1;
}
