// Runs the page's soft circuit in Node.js: reads {page, run, netlist, coefficients} on stdin and
// prints the visible channels after each step.
import { readFileSync } from "node:fs";

const { page, run, netlist, coefficients } = JSON.parse(readFileSync(0));
const { SoftRollout } = await import(`${page}/soft.js`);
const soft = new SoftRollout(run, netlist, Float32Array.from(coefficients));
while (!soft.isDone) soft.step();
console.log(JSON.stringify(soft.shown.map((state) => state.map((channel) => Array.from(channel)))));
