// Draws charts in Node.js: reads {page, calls} on stdin, each call a function's name and arguments,
// and prints the elements [name, attributes, text] of each drawing.
import { readFileSync } from "node:fs";

const { page, calls } = JSON.parse(readFileSync(0));
globalThis.document = {
  createElementNS: (_, name) => ({ name, attributes: {}, setAttribute(key, value) { this.attributes[key] = `${value}`; } }),
};
const charts = await import(`${page}/charts.js`);
const results = calls.map(([name, ...given]) => {
  const svg = { setAttribute() {}, replaceChildren(...parts) { this.parts = parts; } };
  if (name === "drawBars") charts.drawBars(svg, given[0], undefined, (place) => given[1].includes(place), Math.log1p);
  else charts[name](svg, ...given);
  return svg.parts.map((part) => [part.name, part.attributes, part.textContent]);
});
console.log(JSON.stringify(results));
