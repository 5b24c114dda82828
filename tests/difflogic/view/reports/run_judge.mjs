// Counts cells that are wrong by a rule of life: reads {page, target, periodic, height, width, states}
// on stdin, with two states as text, and prints the number.
import { readFileSync } from "node:fs";

const { page, target, periodic, height, width, states } = JSON.parse(readFileSync(0));
const { Geometry, Grid } = await import(`${page}/grid.js`);
const { Judge } = await import(`${page}/judge.js`);
const geometry = new Geometry(1, height, width, periodic);
const [before, after] = states.map((text) => {
  const grid = new Grid(geometry, new ArrayBuffer(geometry.bytes), 0);
  for (let at = 0; at < text.length; at++) grid.setBit(0, Math.floor(at / width), at % width, text[at] === "1");
  for (let y = 0; y < height; y++) grid.refreshEnds(y);
  return grid;
});
const judge = new Judge(target, [0]);
judge.prepare(geometry);
console.log(judge.count(after, before));
