// Runs rules from examples in Node.js: reads {page, cases} on stdin and prints, for each case and engine,
// the symbols at the end, and whether the state rests. A case is an automaton from a report, the size
// and the symbols of a grid, and strokes of the brush [y, x, size, symbol] on it.
import { readFileSync } from "node:fs";

const { page, cases } = JSON.parse(readFileSync(0));
const load = (name) => import(`${page}/${name}`);
const { engines } = await load("compiled.js");
const { SymbolSimulation } = await load("encoding.js");

const results = cases.map(([automaton, size, symbols, strokes]) =>
  engines(automaton).found.map((engine) => {
    const simulation = new SymbolSimulation(automaton, engine);
    simulation.enter(...size, Uint8Array.from(symbols));
    simulation.run(3);
    for (const stroke of strokes) simulation.paint(...stroke);
    simulation.run(2);
    simulation.look(1);
    simulation.replaceCircuit(automaton.circuit, engine);
    simulation.run(1e9);
    return [engine.name, simulation.ended, [...simulation.decode()]];
  }),
);
console.log(JSON.stringify(results));
