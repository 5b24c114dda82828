// A circuit as a picture, with bits that run from left to right and nodes to choose.

import { svgElement } from "./charts.js";
import { decode } from "./grid.js";
import { gateValue } from "./interpreter.js";

const NEIGHBORS = ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"];
const MARGIN = 6;
const GATE_HEIGHT = 26, NAMED_HEIGHT = 21;
const BUBBLE = 3.6;

/** A circuit's nodes and their values. `data` comes from `drawing` of difflogic/view/reports/circuits.py. */
export class Circuit {
  constructor(data, labels, ops) {
    Object.assign(this, { data, ops });
    this.size = data.kinds.length;
    this.values = new Uint8Array(this.size);
    this.place = new Map(labels.map((label, place) => [label, place]));
    this.readers = Array.from({ length: this.size }, () => []);
    for (let node = 0; node < this.size; node++) {
      for (const source of this.sources(node)) this.readers[source].push(node);
    }
  }

  isInput(node) {
    return this.data.kinds[node] === "i";
  }

  isOutput(node) {
    return "ov".includes(this.data.kinds[node]);
  }

  /** The number of a gate's op; NaN for inputs and outputs. */
  op(node) {
    return this.isOutput(node) ? NaN : parseInt(this.data.kinds[node], 16);
  }

  /** The nodes that a node reads. */
  sources(node) {
    const { a, b } = this.data;
    if (this.isInput(node)) return [];
    if (this.isOutput(node)) return [a[node]];
    const { reads } = this.ops[this.op(node)];
    return [a[node], b[node]].filter((_, input) => reads[input]);
  }

  name(node) {
    if (this.isInput(node)) return `${NEIGHBORS[this.data.a[node]]}${this.data.b[node]}`;
    if (this.isOutput(node)) return `n${this.data.b[node]}′`;
    return `gate ${this.data.names[node]}`;
  }

  /** Compute all nodes from the bits of nine cells. Channels that are not simulated are 0. */
  evaluate(bits) {
    const { a, b } = this.data;
    const { values } = this;
    for (let node = 0; node < this.size; node++) {
      if (this.isInput(node)) {
        const channel = this.place.get(b[node]);
        values[node] = channel === undefined ? 0 : bits[a[node] * this.place.size + channel];
      } else if (this.isOutput(node)) values[node] = values[a[node]];
      else values[node] = gateValue(this.op(node), values[a[node]], values[b[node]]);
    }
    return values;
  }
}

/** Shared by both views of a circuit: the chosen node, also by keyboard. */
export class CircuitView {
  /** Show a Circuit in `container`; `chosen(node)` is called when someone chooses a node. */
  constructor(container, circuit, chosen) {
    Object.assign(this, { container, circuit, chosen, node: null });
    container.onkeydown = (event) => this.key(event);
  }

  /** Arrow keys go along wires, and up and down in a column. */
  key(event) {
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const next = this.node === null ? 0 : this.beside(this.node, event.key);
    if (next === undefined) return;
    this.choose(next);
    this.reveal(next);
  }

  beside(node, key) {
    if (key === "ArrowLeft") return this.circuit.sources(node)[0];
    if (key === "ArrowRight") return this.circuit.readers[node][0];
    return this.inColumn(node, key === "ArrowUp" ? -1 : 1);
  }
}

export class Drawing extends CircuitView {
  constructor(container, circuit, chosen) {
    super(container, circuit, chosen);
    const { data } = circuit;
    this.width = data.width + 2 * MARGIN;
    this.height = data.height + 2 * MARGIN;
    this.svg = svgElement("svg", { viewBox: `${-MARGIN} ${-MARGIN} ${this.width} ${this.height}` });
    this.nets = new Map();
    for (const [source, coordinates] of nets(data)) {
      const net = svgElement("path", { class: "net", d: wirePath(coordinates) });
      this.nets.set(source, net);
      this.svg.append(net);
    }
    for (let at = 0; at < data.circles.length; at += 2) {
      this.svg.append(bubble(data.circles[at], data.circles[at + 1]));
    }
    this.boxes = Array.from({ length: this.circuit.size }, (_, node) => this.box(node));
    this.svg.append(...this.boxes);
    this.svg.addEventListener("pointerover", (event) => this.follow(event));
    this.svg.addEventListener("click", (event) => this.follow(event));
    this.container.replaceChildren(this.svg);
  }

  box(node) {
    const { data, ops } = this.circuit;
    const named = this.circuit.isInput(node) || this.circuit.isOutput(node);
    const op = named ? null : ops[this.circuit.op(node)];
    const [x, y, width] = [data.x[node], data.y[node], data.widths[node]];
    const height = named ? NAMED_HEIGHT : GATE_HEIGHT;
    const family = op ? op.family : this.circuit.isOutput(node) ? "next" : "input";
    const visible = data.kinds[node] === "v" ? " visible" : "";
    const group = svgElement("g", { class: `node ${family}${visible}`, "data-node": node });
    const label = named ? this.circuit.name(node) : op.sign;
    group.append(
      svgElement("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: named ? 4 : 10 }),
      svgElement("text", { x, y }, label),
    );
    if (op?.inverted) group.append(bubble(x + width / 2 + BUBBLE, y));
    return group;
  }

  zoom(scale) {
    this.svg.setAttribute("width", this.width * scale);
    this.svg.setAttribute("height", this.height * scale);
  }

  /** Show the values for the bits of nine cells. */
  show(bits) {
    const values = this.circuit.evaluate(bits);
    for (let node = 0; node < values.length; node++) {
      const on = values[node] === 1;
      this.boxes[node].classList.toggle("on", on);
      this.nets.get(node)?.classList.toggle("on", on);
    }
  }

  follow(event) {
    const box = event.target.closest?.("[data-node]");
    if (box) this.choose(Number(box.dataset.node));
  }

  choose(node) {
    for (const [around, is] of [[this.node, false], [node, true]]) {
      if (around === null) continue;
      this.boxes[around].classList.toggle("chosen", is);
      for (const source of [around, ...this.circuit.sources(around)]) {
        this.nets.get(source)?.classList.toggle("traced", is);
      }
    }
    this.node = node;
    this.chosen(node);
  }

  /** Scroll to a node. */
  reveal(node) {
    this.boxes[node].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** The next node above (-1) or below (1) in the column. */
  inColumn(node, sign) {
    const { x, y } = this.circuit.data;
    let best;
    for (let other = 0; other < this.circuit.size; other++) {
      const distance = sign * (y[other] - y[node]);
      if (x[other] !== x[node] || distance <= 0) continue;
      if (best === undefined || distance < sign * (y[best] - y[node])) best = other;
    }
    return best;
  }
}

/** Yield each net's source and coordinates. */
function* nets(data) {
  const numbers = decode(data.nets, data.netBits === 16 ? Uint16Array : Uint32Array);
  for (let at = 0; at < numbers.length; ) {
    const end = at + 2 + 4 * numbers[at + 1];
    yield [numbers[at], numbers.subarray(at + 2, end)];
    at = end;
  }
}

/** Pieces of wire, four coordinates each: straight, or an S between two heights. */
function wirePath(coordinates) {
  const parts = [];
  for (let at = 0; at < coordinates.length; at += 4) {
    const [x0, y0, x1, y1] = coordinates.slice(at, at + 4);
    const middle = (x0 + x1) / 2;
    parts.push(`M${x0} ${y0}` + (y0 === y1 ? `H${x1}` : `C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}`));
  }
  return parts.join("");
}

function bubble(x, y) {
  return svgElement("circle", { class: "bubble", cx: x, cy: y, r: BUBBLE });
}
