// The soft circuit on real numbers: each gate is the mixture c0 + c1·a + c2·b + c3·a·b of the 16 ops.
// It has the same start as the hard circuit, and the same cells fire.

import { childKey, fillBernoulli, streamKey, threshold, USE } from "../../reports/page/random_bits.js";

export class SoftRollout {
  /** `netlist` has a, b, param, outputs and channels; `coefficients` has four numbers per parameter. */
  constructor(run, netlist, coefficients) {
    Object.assign(this, { run, netlist, coefficients });
    this.cells = run.height * run.width;
    this.inputs = 9 * netlist.channels;
    this.values = new Float32Array((this.inputs + netlist.a.length) * this.cells);
    this.state = Float32Array.from(run.start.join(""), Number);
    this.shown = [this.visible()];
  }

  get isDone() {
    return this.shown.length > this.run.steps;
  }

  /** Take one step; `shown[n]` are the visible channels after n steps. */
  step() {
    const { values, cells, netlist, coefficients } = this;
    this.perceive();
    for (let gate = 0; gate < netlist.a.length; gate++) {
      const a = netlist.a[gate] * cells, b = netlist.b[gate] * cells;
      const out = (this.inputs + gate) * cells, at = 4 * netlist.param[gate];
      const c0 = coefficients[at], c1 = coefficients[at + 1];
      const c2 = coefficients[at + 2], c3 = coefficients[at + 3];
      for (let cell = 0; cell < cells; cell++) {
        const x = values[a + cell], y = values[b + cell];
        values[out + cell] = c0 + c1 * x + c2 * y + c3 * x * y;
      }
    }
    const fires = this.fires(this.shown.length - 1);
    netlist.outputs.forEach((row, channel) => {
      for (let cell = 0; cell < cells; cell++) {
        if (fires && !fires(cell)) continue;
        this.state[channel * cells + cell] = values[row * cells + cell];
      }
    });
    this.shown.push(this.visible());
  }

  perceive() {
    const { height, width, boundary } = this.run;
    const { channels } = this.netlist;
    for (let neighbor = 0; neighbor < 9; neighbor++) {
      const dy = Math.floor(neighbor / 3) - 1, dx = (neighbor % 3) - 1;
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
          const inside = y + dy >= 0 && y + dy < height && x + dx >= 0 && x + dx < width;
          const seen = ((y + dy + height) % height) * width + ((x + dx + width) % width);
          for (let channel = 0; channel < channels; channel++) {
            const value = inside || boundary === "periodic" ? this.state[channel * this.cells + seen] : 0;
            this.values[(neighbor * channels + channel) * this.cells + y * width + x] = value;
          }
        }
      }
    }
  }

  /** A function that tells whether a cell fires in a step, as in the hard circuit; null if all do. */
  fires(step) {
    const { fireRate, height, width } = this.run;
    if (fireRate === 1) return null;
    const words = Math.ceil(width / 64);
    const key = childKey(streamKey(0, USE.FIRE), step);
    const masks = Array.from({ length: height }, (_, y) => {
      const mask = new Uint32Array(2 * words);
      fillBernoulli(mask, 0, words, childKey(key, y), threshold(fireRate));
      return mask;
    });
    return (cell) => {
      const x = cell % width;
      return (masks[Math.floor(cell / width)][x >>> 5] >>> (x & 31)) & 1;
    };
  }

  visible() {
    return this.run.visible.map((channel) =>
      this.state.slice(channel * this.cells, (channel + 1) * this.cells),
    );
  }
}
