// An automaton on a grid: its state, its steps, and the brush.

import { Grid, Geometry } from "./grid.js";
import { childKey, fillBernoulli, streamKey, threshold, USE } from "./random_bits.js";

const LEAST_SIDE = 12; // below it, random cells soon come to rest
const OPEN_SIDE = 32;

/** Give an automaton about which only its circuit is known a start and a size that are worth seeing: it may wait for
 * inputs. Return whether it grows something that stays. */
export function openCircuit(simulation) {
  const { automaton, geometry } = simulation, { visible, steps } = automaton;
  const look = () => visible.map((channel) => simulation.bits(channel).join("")).join("");
  const after = (more) => {
    simulation.run(more);
    return look();
  };
  const first = look(), grown = after(steps), later = after(steps + 1);
  const idle = first === grown && first === later;
  if (idle) simulation.start = "random";
  const { height, width, periodic } = geometry;
  const small = simulation.start === "random" && Math.max(height, width) < LEAST_SIDE;
  simulation.resize(small && height > 1 ? OPEN_SIDE : height, small ? OPEN_SIDE : width, periodic);
  return grown === later && !idle && !small;
}

/** Rows of numbers, as many and as long as asked. */
function scaled(rows, height, width) {
  const pick = (list, length) => Array.from({ length }, (_, at) => list[Math.floor((at * list.length) / length)]);
  return pick(rows, height).map((row) => pick(row, width));
}

export class Simulation {
  /** `automaton` comes from the report; `engine` is a Compiled or an Interpreter. */
  constructor(automaton, engine) {
    this.automaton = automaton;
    this.engine = engine;
    this.seed = 0;
    this.fireRate = automaton.fireRate;
    this.start = automaton.start;
    this.given = []; // for the start "given"
    this.strokes = 0;
    this.regions = (automaton.painted ?? ["0"]).map((row) => Array.from(row, (digit) => parseInt(digit, 16)));
    this.resize(automaton.height, automaton.width, automaton.boundary === "periodic");
  }

  get grid() {
    return this.grids[0];
  }

  get geometry() {
    return this.grids[0].geometry;
  }

  resize(height, width, periodic) {
    const geometry = new Geometry(this.automaton.circuit.channels, height, width, periodic);
    this.regions = scaled(this.regions, height, width);
    const { memory, addresses } = this.engine.reserve(geometry, this.copies);
    const grids = addresses.map((address) => new Grid(geometry, memory, address));
    this.pairs = Array.from({ length: this.copies }, (_, copy) => grids.slice(2 * copy, 2 * copy + 2));
    this.grids = this.pairs[0];
    this.reset();
  }

  /** The number of runs of the circuit, each on a pair of grids. */
  get copies() {
    return 1;
  }

  /** The grid to draw as a whole, and to judge. */
  get picture() {
    return this.grid;
  }

  /** Change the boundary and keep the state. */
  setBoundary(periodic) {
    this.geometry.periodic = periodic;
    this.refreshAllEnds();
  }

  reset() {
    this.step = 0;
    for (const grid of this.grids) grid.clear();
    const { height, width } = this.geometry;
    if (this.start === "random") this.randomize();
    if (this.start === "center") {
      this.paint(height >> 1, width >> 1, 1, "ones", this.allChannels);
    }
    if (this.start === "given") this.load(this.given);
    else if (this.automaton.blocks) this.placeBlocks();
    if (this.automaton.parts.length) this.regions.forEach((row, y) => row.forEach((part, x) => this.show(part, y, x)));
    this.refreshAllEnds();
  }

  /** Tell each cell its place in its block of 2×2 cells. */
  placeBlocks() {
    const { height, width } = this.geometry, [row, column, top, left] = this.automaton.blocks;
    const [down, right] = [row, column].map((label) => this.automaton.circuit.labels.indexOf(label));
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        if (down >= 0) this.grid.setBit(down, y, x, (y + top) % 2);
        if (right >= 0) this.grid.setBit(right, y, x, (x + left) % 2);
      }
    }
  }

  /** Let a cell show a part from its next step on. */
  show(part, y, x) {
    const { held, circuit } = this.automaton;
    this.regions[y][x] = part;
    held.forEach((label, bit) => {
      const channel = circuit.labels.indexOf(label);
      if (channel >= 0) this.grid.setBit(channel, y, x, (part >> bit) & 1);
    });
  }

  /** Set cells from the upper left corner on, by a list of rows of 0 and 1 for each channel. */
  load(given) {
    const { height, width } = this.geometry;
    given.forEach((rows, channel) => rows.slice(0, height).forEach((row, y) => {
      for (let x = 0; x < Math.min(width, row.length); x++) this.grid.setBit(channel, y, x, row[x] === "1");
    }));
  }

  /** Continue from the same state with another circuit of the same number of channels. */
  replaceCircuit(circuit, engine) {
    const { height, width, periodic } = this.geometry;
    const states = this.pairs.map(([grid]) => grid.words.slice());
    const { step, ended } = this, shown = this.pairs.indexOf(this.grids);
    this.automaton = { ...this.automaton, circuit };
    this.engine = engine;
    this.resize(height, width, periodic);
    this.pairs.forEach(([grid], copy) => grid.words.set(states[copy]));
    this.grids = this.pairs[shown];
    Object.assign(this, { step, ended });
  }

  /** All but those that hold an input, or a cell's place. */
  get allChannels() {
    const { circuit, held, blocks } = this.automaton, kept = [...held, ...(blocks ?? []).slice(0, 2)];
    const places = circuit.labels.map((_, place) => place);
    return places.filter((place) => !kept.includes(circuit.labels[place]));
  }

  randomize() {
    const key = streamKey(this.seed, USE.START);
    const { height, words } = this.geometry;
    this.automaton.circuit.labels.forEach((label, channel) => {
      const own = childKey(key, label);
      for (let y = 0; y < height; y++) {
        const start = this.grid.start(y, channel);
        fillBernoulli(this.grid.words, start, words, childKey(own, y), threshold(0.5));
      }
    });
  }

  refreshAllEnds() {
    for (let y = 0; y < this.geometry.height; y++) this.grid.refreshEnds(y);
  }

  run(steps) {
    this.take(this.grids, steps);
    this.step += steps;
  }

  /** Take steps on a pair of grids; the first one is the present state. */
  take(grids, steps) {
    const fire =
      this.fireRate < 1
        ? { key: streamKey(this.seed, USE.FIRE), threshold: threshold(this.fireRate) }
        : null;
    const stayed = this.engine.take(grids, this.step, steps, fire);
    if (!stayed) grids.reverse();
  }

  /** Paint the square of `size` cells around (y, x): "ones" or "zeros" in `channels`, "noise" or "erase" in all; or show the part of this number. */
  paint(y, x, size, brush, channels) {
    const { height, width } = this.geometry;
    const top = y - (size >> 1), left = x - (size >> 1);
    const [firstRow, firstColumn] = [Math.max(0, top), Math.max(0, left)];
    const endRow = Math.min(height, top + size), endColumn = Math.min(width, left + size);
    const chosen = brush === "ones" || brush === "zeros" ? channels : this.allChannels;
    const noise = new Uint32Array(2 * Math.ceil((size * size * chosen.length) / 64));
    if (brush === "noise") {
      const key = childKey(streamKey(this.seed, USE.BRUSH), this.strokes++);
      fillBernoulli(noise, 0, noise.length / 2, key, threshold(0.5));
    }
    let drawn = 0;
    for (let row = firstRow; row < endRow; row++) {
      for (let column = firstColumn; column < endColumn; column++) {
        if (typeof brush === "number") this.show(brush, row, column);
        else for (const channel of chosen) {
          const random = (noise[drawn >>> 5] >>> (drawn & 31)) & 1;
          drawn += brush === "noise" ? 1 : 0;
          this.grid.setBit(channel, row, column, brush === "noise" ? random : brush === "ones");
        }
      }
      this.grid.refreshEnds(row);
    }
  }

  /** The bits of a cell and its neighbours, as its circuit reads them. */
  neighborhood(y, x, grid = this.grid) {
    const { height, width, periodic } = this.geometry;
    const { channels } = grid.geometry;
    const bits = new Uint8Array(9 * channels);
    for (let neighbor = 0; neighbor < 9; neighbor++) {
      let row = y + Math.floor(neighbor / 3) - 1;
      let column = x + (neighbor % 3) - 1;
      const outside = row < 0 || column < 0 || row >= height || column >= width;
      if (outside && !periodic) continue;
      row = (row + height) % height;
      column = (column + width) % width;
      for (let channel = 0; channel < channels; channel++) {
        bits[neighbor * channels + channel] = grid.bit(channel, row, column);
      }
    }
    return bits;
  }

  /** All cells of a channel, row by row, as 0 and 1. */
  bits(channel) {
    const { width, cells } = this.geometry;
    return Uint8Array.from({ length: cells }, (_, at) => this.grid.bit(channel, Math.floor(at / width), at % width));
  }
}
