// Runs the page's engines in Node.js: reads {page, cases} on stdin and prints, for each case and
// engine, the bits of all channels as text. A case is an automaton from a report, with a size, a
// seed, steps and strokes of the brush.
import { readFileSync } from "node:fs";

const { page, cases } = JSON.parse(readFileSync(0));
const load = (name) => import(`${page}/${name}`);
const { Compiled } = await load("compiled.js");
const { Interpreter } = await load("interpreter.js");
const { Simulation } = await load("simulation.js");

function run(engine, { automaton, height, width, periodic, seed, steps, strokes }) {
  const simulation = new Simulation(automaton, engine);
  simulation.seed = seed;
  simulation.resize(height, width, periodic);
  for (const [at, y, x, size] of strokes) {
    simulation.run(at - simulation.step);
    simulation.paint(y, x, size, "erase", []);
  }
  simulation.run(steps - simulation.step);
  return automaton.circuit.labels.map((_, channel) => simulation.bits(channel).join("")).join("");
}

const results = cases.map((each) => {
  const { circuit, wasm } = each.automaton;
  const code = Buffer.from(wasm.code, "base64");
  const engines = [
    new Compiled(circuit, code, wasm.fields, wasm.vectorWords),
    new Interpreter(circuit),
  ];
  return engines.map((engine) => run(engine, each));
});
console.log(JSON.stringify(results));
