// A circuit of thousands of nodes as tiles on a canvas, layer by layer from left to right. Only the
// chosen node's wires are drawn: all of them would be a grey surface.

import { CircuitView } from "./drawing.js";
import { decode } from "./grid.js";

const PITCH = 9, TILE = 7; // pixels at zoom 1
const ROWS = 64; // per column; a layer may take several columns
const LAYER_GAP = 14, EDGE = 8;
const LEGIBLE = 13; // pixels of a tile that is large enough for a sign
const OFF = 0.28; // opacity of nodes that are 0

/** Decode a packed circuit. */
export function unpacked(data) {
  const [a, b] = [data.a, data.b].map((text) => decode(text, Uint16Array));
  return { ...data, a, b, names: decode(data.names, data.nameBits === 16 ? Uint16Array : Uint32Array) };
}

export class Tiles extends CircuitView {
  constructor(container, circuit, chosen) {
    super(container, circuit, chosen);
    Object.assign(this, { scale: 1, waiting: false });
    this.arrange();
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${circuit.size} inputs, gates and next states in layers`);
    this.canvas.addEventListener("pointermove", (event) => this.follow(event));
    this.canvas.addEventListener("pointerdown", (event) => this.follow(event));
    container.replaceChildren(this.canvas);
  }

  /** Put each node into the layer after those of its inputs, near to them. */
  arrange() {
    const { circuit } = this;
    const { size } = circuit;
    const level = new Int32Array(size), rank = new Float64Array(size);
    for (let node = 0; node < size; node++) {
      for (const source of circuit.sources(node)) level[node] = Math.max(level[node], level[source] + 1);
    }
    const last = level.reduce((most, each) => Math.max(most, each), 0);
    const layers = Array.from({ length: last + 1 }, () => []);
    for (let node = 0; node < size; node++) layers[circuit.isOutput(node) ? last : level[node]].push(node);
    [this.x, this.y] = [new Float64Array(size), new Float64Array(size)];
    let column = 0;
    layers.forEach((layer, number) => {
      for (const node of layer) {
        const sources = circuit.sources(node);
        rank[node] = sources.length ? sources.reduce((sum, source) => sum + rank[source], 0) / sources.length : node / size;
      }
      layer.sort((one, other) => rank[one] - rank[other] || one - other);
      layer.forEach((node, place) => {
        rank[node] = (place + 0.5) / layer.length;
        const [x, y] = [column + Math.floor(place / ROWS), place % ROWS];
        this.x[node] = EDGE + x * PITCH + number * LAYER_GAP;
        this.y[node] = EDGE + y * PITCH;
      });
      column += Math.ceil(layer.length / ROWS);
    });
    this.width = EDGE + column * PITCH + last * LAYER_GAP + EDGE;
    this.height = 2 * EDGE + Math.min(ROWS, Math.max(...layers.map((layer) => layer.length))) * PITCH;
  }

  zoom(scale) {
    this.scale = scale;
    const density = scale * (window.devicePixelRatio || 1);
    Object.assign(this.canvas, { width: Math.ceil(this.width * density), height: Math.ceil(this.height * density) });
    Object.assign(this.canvas.style, { width: `${this.width * scale}px`, height: `${this.height * scale}px` });
    this.draw();
  }

  /** Show the values for the bits of nine cells. */
  show(bits) {
    this.circuit.evaluate(bits);
    this.later();
  }

  /** Draw once, with the next frame. */
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw() {
    const { circuit, canvas } = this;
    const styles = getComputedStyle(this.container);
    const color = (name) => styles.getPropertyValue(name).trim();
    const colors = { and: color("--series-1"), or: color("--series-2"), xor: color("--series-3"), next: color("--next") };
    const [other, ink, focus] = ["--soft", "--ink", "--focus"].map(color);
    const pen = canvas.getContext("2d");
    const density = canvas.width / this.width;
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    for (let node = 0; node < circuit.size; node++) {
      pen.globalAlpha = circuit.values[node] ? 1 : OFF;
      pen.fillStyle = colors[this.family(node)] ?? other;
      pen.fillRect(this.x[node], this.y[node], TILE, TILE);
    }
    pen.globalAlpha = 1;
    if (TILE * this.scale >= LEGIBLE) this.write(pen, ink, color("--surface"));
    if (this.node !== null) this.trace(pen, focus);
  }

  family(node) {
    const { circuit } = this;
    if (circuit.isOutput(node)) return "next";
    return circuit.isInput(node) ? "input" : circuit.ops[circuit.op(node)].family;
  }

  write(pen, off, on) {
    const { circuit } = this;
    Object.assign(pen, { font: `${TILE - 1.5}px system-ui, sans-serif`, textAlign: "center", textBaseline: "middle" });
    for (let node = 0; node < circuit.size; node++) {
      if (circuit.isInput(node) || circuit.isOutput(node)) continue;
      pen.fillStyle = circuit.values[node] ? on : off;
      pen.fillText(circuit.ops[circuit.op(node)].sign, this.x[node] + TILE / 2, this.y[node] + TILE / 2);
    }
  }

  /** Frame all nodes that the chosen one depends on, and draw its own wires. */
  trace(pen, color) {
    const { circuit, node } = this;
    Object.assign(pen, { strokeStyle: color, lineWidth: 1.2 });
    for (const each of this.cone(node)) pen.strokeRect(this.x[each], this.y[each], TILE, TILE);
    pen.lineWidth = 1.4;
    pen.beginPath();
    for (const [from, to] of [
      ...circuit.sources(node).map((source) => [source, node]),
      ...circuit.readers[node].map((reader) => [node, reader]),
    ]) {
      pen.moveTo(this.x[from] + TILE, this.y[from] + TILE / 2);
      pen.lineTo(this.x[to], this.y[to] + TILE / 2);
    }
    pen.stroke();
    pen.lineWidth = 2.4;
    pen.strokeRect(this.x[node] - 1, this.y[node] - 1, TILE + 2, TILE + 2);
  }

  /** All nodes that a node depends on. */
  cone(node) {
    const seen = new Set(this.circuit.sources(node));
    for (const each of seen) for (const source of this.circuit.sources(each)) seen.add(source);
    return seen;
  }

  follow(event) {
    const [x, y] = [event.offsetX / this.scale, event.offsetY / this.scale];
    const node = this.nearest(x - TILE / 2, y - TILE / 2, PITCH);
    if (node !== undefined && node !== this.node) this.choose(node);
  }

  /** The node nearest to a place, less than `most` away. */
  nearest(x, y, most) {
    let best, least = most;
    for (let node = 0; node < this.circuit.size; node++) {
      const distance = Math.hypot(this.x[node] - x, this.y[node] - y);
      if (distance < least) [best, least] = [node, distance];
    }
    return best;
  }

  choose(node) {
    this.node = node;
    this.later();
    this.chosen(node);
  }

  /** Scroll to a node. */
  reveal(node) {
    const { container, scale } = this;
    container.scrollTo({ left: this.x[node] * scale - container.clientWidth / 2, top: this.y[node] * scale - container.clientHeight / 2 });
  }

  /** The next node above (-1) or below (1) in the column. */
  inColumn(node, sign) {
    return this.nearest(this.x[node], this.y[node] + sign * PITCH, PITCH / 2);
  }
}
