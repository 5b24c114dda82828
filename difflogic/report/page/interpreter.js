// Runs a circuit gate by gate, for browsers without WebAssembly or its vectors. The bits are those
// of the compiled circuit.

import { childKey, fillBernoulli } from "./random_bits.js";

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

  /** Memory for two grids of a geometry; returns their buffer and addresses. */
  reserve(geometry) {
    this.values = null;
    return { memory: new ArrayBuffer(2 * geometry.bytes), addresses: [0, geometry.bytes] };
  }

  /** Take `count` steps from `grids[0]`, after `step` of them; returns whether they end there. */
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
    const { circuit } = this;
    const length = 2 * g.words;
    const inputs = 9 * circuit.channels;
    this.values ??= Array.from({ length: inputs + circuit.op.length }, (_, row) =>
      row >= inputs || this.inputs.includes(row) ? new Uint32Array(length) : null,
    );
    const { values } = this;
    const mask = new Uint32Array(length);
    const stepKey = fire && childKey(fire.key, step);
    for (let y = 0; y < g.height; y++) {
      for (const row of this.inputs) this.load(values[row], source, row, y);
      for (let gate = 0; gate < circuit.op.length; gate++) {
        const [a, b] = [values[circuit.a[gate]], values[circuit.b[gate]]];
        apply(circuit.op[gate], a, b, values[inputs + gate]);
      }
      if (fire) fillBernoulli(mask, 0, g.words, childKey(stepKey, y), fire.threshold);
      for (let channel = 0; channel < g.channels; channel++) {
        const result = values[circuit.outputs[channel]];
        const from = source.start(y, channel);
        const to = target.start(y, channel);
        for (let i = 0; i < length; i++) {
          const old = source.words[from + i];
          target.words[to + i] = fire ? old ^ ((old ^ result[i]) & mask[i]) : result[i];
        }
        target.refreshChannelEnds(to);
      }
    }
  }

  /** Copy a neighbour's channel, for all cells of row y: the one to the left is one bit lower. */
  load(value, source, row, y) {
    const g = source.geometry;
    const neighbor = Math.floor(row / g.channels);
    const from = source.start(g.rowAt(y + Math.floor(neighbor / 3) - 1), row % g.channels);
    const column = neighbor % 3;
    const { words } = source;
    for (let i = 0; i < value.length; i++) {
      const at = from + i;
      if (column === 0) value[i] = (words[at] << 1) | (words[at - 1] >>> 31);
      else if (column === 1) value[i] = words[at];
      else value[i] = (words[at] >>> 1) | (words[at + 1] << 31);
    }
  }
}

/** Bit 3 - (2a + b) of an op's number is its value: ops from 8 on invert the one at 15 - op. */
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

/** What an op makes of two bits. */
export function gateValue(op, a, b) {
  return (op >> (3 - 2 * a - b)) & 1;
}
