// Beside the circuit: the nine cells in view, and the chosen node.

import { svgElement } from "./charts.js";
import { gateValue } from "./interpreter.js";

const CELL = 46;

/** An element with text or children. */
export function element(name, content = "", attributes = {}) {
  const made = document.createElement(name);
  made.append(...(Array.isArray(content) ? content : [content]));
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Draw a neighbourhood in the colours of a screen. */
export function drawNeighbors(svg, bits, channels, shown, screen) {
  const cells = [], palette = screen.palette(shown.length), counted = screen.counts(shown.length);
  for (let neighbor = 0; neighbor < 9; neighbor++) {
    let value = 0;
    shown.forEach((channel, place) => {
      const bit = bits[neighbor * channels + channel];
      value += counted ? bit : bit << place;
    });
    const color = palette[value];
    const fill = `rgb(${color & 255},${(color >> 8) & 255},${(color >> 16) & 255})`;
    const [x, y] = [6 + (neighbor % 3) * CELL, 6 + Math.floor(neighbor / 3) * CELL];
    const middle = neighbor === 4 ? "middle" : "";
    cells.push(svgElement("rect", { class: middle, x, y, width: CELL - 2, height: CELL - 2, rx: 4, fill }));
  }
  svg.replaceChildren(...cells);
}

/** Describe a node of a Circuit. `logits` are those of the trained circuit, or null. */
export function describe(circuit, node, ops, logits) {
  if (circuit.isInput(node)) {
    return [element("p", `${circuit.name(node)} is an input: a bit of one of the nine cells, now ${circuit.values[node]}.`)];
  }
  if (circuit.isOutput(node)) {
    const label = circuit.data.b[node];
    const [source] = circuit.sources(node);
    return [element("p", `${circuit.name(node)} is the next state of channel ${label}: ${circuit.name(source)}, now ${circuit.values[node]}.`)];
  }
  const number = circuit.op(node);
  const op = ops[number];
  const head = element("h3", `${circuit.name(node)}: ${op.symbol}`);
  const [a, b] = [circuit.data.a[node], circuit.data.b[node]];
  const reads = [["a", a], ["b", b]].filter((_, input) => op.reads[input]);
  const words = reads.map(([letter, source]) => `${letter} = ${circuit.name(source)} (${circuit.values[source]})`);
  const text = words.length ? `${words.join(", ")}; the result is ${circuit.values[node]}.` : `It reads nothing, and is ${circuit.values[node]}.`;
  return [head, element("p", text), truthTable(circuit, node, number), ...logitBars(circuit, node, ops, logits)];
}

function truthTable(circuit, node, op) {
  const now = [circuit.values[circuit.data.a[node]], circuit.values[circuit.data.b[node]]];
  const head = element("tr", ["a", "b", "result"].map((name) => element("th", name, { scope: "col" })));
  const rows = [[0, 0], [0, 1], [1, 0], [1, 1]].map(([a, b]) => {
    const cells = [a, b, gateValue(op, a, b)].map((bit) => element("td", `${bit}`));
    return element("tr", cells, a === now[0] && b === now[1] ? { class: "now" } : {});
  });
  return element("table", [head, ...rows], { class: "truth" });
}

function logitBars(circuit, node, ops, logits) {
  const row = logits?.of.get(circuit.data.names[node]);
  if (row === undefined) return [element("p", "Simplification made this gate, so it has no logits.", { class: "hint" })];
  const values = ops.map((_, op) => logits.table[row * 16 + op] * logits.step);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const best = values.indexOf(most);
  const parts = values.flatMap((value, op) => {
    const bar = element("i");
    bar.style.width = `${(100 * (value - least)) / (most - least || 1)}%`;
    return [element("span", ops[op].symbol, op === best ? { class: "best" } : {}), bar, element("span", value.toFixed(2))];
  });
  return [element("p", "Its logits; the largest won:", { class: "hint" }), element("div", parts, { class: "logits" })];
}
