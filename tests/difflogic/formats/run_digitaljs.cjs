// Simulates a circuit in digitaljs, without a browser: reads {circuit, vectors} on stdin, each
// vector an object from input names to 0 or 1, and prints an object of the lamps for each.
const { HeadlessCircuit } = require("digitaljs");
const { Vector3vl } = require("3vl");
const { circuit, vectors } = JSON.parse(require("fs").readFileSync(0));
const simulated = new HeadlessCircuit(circuit);
const lamps = Object.keys(circuit.devices).filter((id) => circuit.devices[id].type === "Lamp");
const results = vectors.map((vector) => {
  for (const [name, bit] of Object.entries(vector))
    simulated.setInput(name, Vector3vl.fromArray([bit ? 1 : -1]));
  while (simulated.hasPendingEvents) simulated.updateGates();
  return Object.fromEntries(lamps.map((id) => [id, simulated.getOutput(id).toBin()]));
});
if (simulated.hasWarnings()) throw new Error("digitaljs warns of the circuit");
console.log(JSON.stringify(results));
