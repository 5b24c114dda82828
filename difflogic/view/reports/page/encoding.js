// A rule from examples: grids of symbols as bits, and back, as in difflogic/examples/encoding.py. The
// circuit runs until nothing changes, as in difflogic/evaluation/settled.py.

import { Geometry, Grid } from "./grid.js";
import { Simulation } from "./simulation.js";

/** Bits of a symbol's number in a grid to draw or compare; the last one marks a clash. */
export const SYMBOL_BITS = [0, 1, 2, 3, 4];

/** Stands where a cell got two symbols. */
export const CLASH = 16;

/** Symbols, row by row, as a grid of `SYMBOL_BITS`. */
export function asGrid(height, width, symbols) {
  const geometry = new Geometry(SYMBOL_BITS.length, height, width, false);
  const grid = new Grid(geometry, new ArrayBuffer(geometry.bytes), 0);
  symbols.forEach((symbol, at) => {
    for (const bit of SYMBOL_BITS) grid.setBit(bit, Math.floor(at / width), at % width, (symbol >> bit) & 1);
  });
  return grid;
}

/** Read a pair such as "0110/0000>0000/0110": its size, and the symbols before and after. */
export function parsePair(text) {
  const [before, after] = text.split(">").map((grid) => grid.split("/"));
  const symbols = (rows) => Uint8Array.from(rows.join(""), (digit) => parseInt(digit, 16));
  return { height: before.length, width: before[0].length, before: symbols(before), after: symbols(after) };
}

/** Whether symbols that occur in one cell only stay, and have no run. */
function keepsSingles(features) {
  return features.some((name) => name.startsWith("single"));
}

/** Runs of one circuit on a grid of symbols: one, or one for each symbol. */
export class SymbolSimulation extends Simulation {
  get copies() {
    const { perSymbol, symbols } = this.automaton.encoding;
    return perSymbol ? symbols.length : 1;
  }

  /** Change the size; the symbols in the upper left stay, and the rest is background. */
  resize(height, width, periodic) {
    const old = this.kept ?? { height: 0, width: 0 };
    const input = Uint8Array.from({ length: height * width }, (_, at) => {
      const [y, x] = [Math.floor(at / width), at % width];
      const isOld = y < old.height && x < old.width;
      return isOld ? old.input[y * old.width + x] : this.automaton.encoding.background;
    });
    this.kept = { input, height, width };
    super.resize(height, width, periodic);
  }

  /** Take over a grid of symbols, row by row. */
  enter(height, width, symbols) {
    this.kept = { input: symbols.slice(), height, width };
    this.resize(height, width, this.geometry.periodic);
  }

  /** Draw symbol number `brush` on a square of the input. The rule starts over. */
  paint(y, x, size, brush) {
    const { height, width, input } = this.kept;
    const [top, left] = [y - (size >> 1), x - (size >> 1)];
    for (let row = Math.max(0, top); row < Math.min(height, top + size); row++) {
      input.fill(brush, row * width + Math.max(0, left), row * width + Math.min(width, left + size));
    }
    this.reset();
  }

  reset() {
    this.step = 0;
    const { height, width, input } = this.kept;
    const { perSymbol, background, features, outputs } = this.automaton.encoding;
    const singles = this.singles;
    const inRuns = (symbol) => symbol !== background && !(keepsSingles(features) && singles.has(symbol));
    this.turns = perSymbol ? [...new Set(input)].filter(inRuns).sort((a, b) => a - b) : [background];
    this.ended = this.turns.length ? "" : "at rest";
    const meanings = [...features, ...outputs];
    this.pairs.forEach(([grid, other], place) => {
      grid.clear();
      other.clear();
      if (place >= this.turns.length) return;
      this.automaton.circuit.labels.forEach((label, channel) => {
        const holds = this.feature(meanings[label], this.turns[place], singles);
        input.forEach((symbol, at) => grid.setBit(channel, Math.floor(at / width), at % width, holds(symbol, at)));
      });
      for (let y = 0; y < height; y++) grid.refreshEnds(y);
    });
    this.look(0);
  }

  /** Symbols that occur in one cell only. */
  get singles() {
    const times = new Map();
    for (const symbol of this.kept.input) times.set(symbol, (times.get(symbol) ?? 0) + 1);
    return new Set([...times.keys()].filter((symbol) => times.get(symbol) === 1));
  }

  /** How many cells each cell's block has: connected cells of one symbol; 0 on the background. */
  get blockSizes() {
    const { height, width, input } = this.kept;
    const sizes = new Uint32Array(input.length);
    input.forEach((symbol, first) => {
      if (sizes[first] || symbol === this.automaton.encoding.background) return;
      const block = new Set([first]);
      for (const at of block) { // goes on to those that are added meanwhile
        const [y, x] = [Math.floor(at / width), at % width];
        for (const [row, column] of [[y - 1, x], [y + 1, x], [y, x - 1], [y, x + 1]]) {
          const isInside = row >= 0 && row < height && column >= 0 && column < width;
          if (isInside && input[row * width + column] === symbol) block.add(row * width + column);
        }
      }
      for (const at of block) sizes[at] = block.size;
    });
    return sizes;
  }

  /** What a channel says at the start: a function of the cell's symbol and place. */
  feature(name, turn, singles) {
    const { background, symbols } = this.automaton.encoding;
    switch (name?.replace(/^(this|single)-(right|left)$/, "$1")) {
      case "odd": {
        const sizes = this.blockSizes;
        return (symbol, at) => sizes[at] % 2 === 1;
      }
      case "largest": {
        const sizes = this.blockSizes;
        const most = sizes.reduce((a, b) => Math.max(a, b), 1);
        return (symbol, at) => sizes[at] === most;
      }
      case "single-right-2": case "single-left-2":
      case undefined: return () => false; // memory
      case "inside": return () => true;
      case "filled": return (symbol) => symbol !== background;
      case "this": return (symbol) => symbol === turn;
      case "another": return (symbol) => symbol !== turn && symbol !== background;
      case "single": return (symbol) => symbol !== background && singles.has(symbol);
    }
    const asked = symbols.indexOf(name.slice(1));
    return (symbol) => symbol === asked;
  }

  /** Show the bits of one of the runs. */
  look(place) {
    this.grids = this.pairs[Math.min(place, Math.max(0, this.turns.length - 1))];
  }

  /** Take steps as long as something changes, at most as many as `dct apply` takes. */
  run(steps) {
    const pairs = this.pairs.slice(0, this.turns.length);
    for (let taken = 0; taken < steps && !this.ended; taken++) {
      for (const pair of pairs) this.take(pair, 1);
      this.step++;
      if (pairs.every(([now, before]) => now.equals(before))) this.ended = "at rest";
      else if (this.step >= this.mostSteps) this.ended = "cut off";
    }
  }

  get mostSteps() {
    const { steps, height, width, encoding } = this.automaton;
    const { kept } = this;
    const side = Math.max(kept.height, kept.width);
    const exact = steps * Math.max(1, side / Math.max(height, width));
    const half = exact % 1 === 0.5; // Python rounds it to an even number
    const least = half ? 2 * Math.round(exact / 2) : Math.round(exact);
    return encoding.longest * least + encoding.slowest * side;
  }

  /** The grid of symbols: the input, and what the outputs say after that. */
  get picture() {
    const { height, width, input } = this.kept;
    return asGrid(height, width, this.step || this.ended ? this.decode() : input);
  }

  decode() {
    const { input, width } = this.kept;
    const { encoding, visible } = this.automaton;
    const { perSymbol, background, features, outputs, symbols } = encoding;
    const found = new Uint8Array(input.length).fill(background);
    const taken = new Uint8Array(input.length);
    this.turns.forEach((turn, place) => outputs.forEach((output, number) => {
      const symbol = output === "this" ? turn : symbols.indexOf(output.slice(1));
      for (let at = 0; at < input.length; at++) {
        if (!this.pairs[place][0].bit(visible[number], Math.floor(at / width), at % width)) continue;
        found[at] = taken[at] ? CLASH : symbol;
        taken[at] = 1;
      }
    }));
    if (perSymbol && keepsSingles(features)) {
      const isSingle = this.feature("single", background, this.singles);
      input.forEach((symbol, at) => {
        if (isSingle(symbol)) found[at] = taken[at] ? CLASH : symbol;
      });
    }
    return found;
  }
}
