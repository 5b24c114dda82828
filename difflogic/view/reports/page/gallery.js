// Several automata on one page: each grows, is damaged now and then, and heals.

import { engines } from "./compiled.js";
import { Screen } from "./screen.js";
import { Simulation, openCircuit } from "./simulation.js";

const STEPS_PER_SECOND = 12;
const REST = 1.5; // time between wounds, as a multiple of the steps of training
const HELD = 18; // frames for which a picture that does not stay is shown
const LEAST_END = 120; // steps after which random cells are drawn again

const data = JSON.parse(document.getElementById("data").textContent);

class Piece {
  constructor(automaton, figure) {
    this.simulation = new Simulation(automaton, engines(automaton).found[0]);
    this.stays = openCircuit(this.simulation);
    this.rest = Math.ceil(REST * automaton.steps);
    const { start } = this.simulation;
    this.end = this.stays ? Infinity : start === "random" ? Math.max(LEAST_END, 4 * automaton.steps) : automaton.steps;
    const canvas = figure.querySelector("canvas");
    this.screen = new Screen(canvas, null, null);
    this.screen.named = automaton.palette;
    this.screen.fit(this.simulation.geometry);
    const at = (cell) => {
      this.wound(...cell);
      this.draw();
    };
    canvas.addEventListener("click", (event) => at(this.screen.cellAt(event)));
    canvas.addEventListener("keydown", (event) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      at(this.inside());
    });
    this.reset();
  }

  get side() {
    const { height, width } = this.simulation.geometry;
    return Math.max(1, Math.min(height, width) >> 1);
  }

  /** The middle of a random square that fits. */
  inside() {
    const { height, width } = this.simulation.geometry;
    return [height, width].map((length) => (this.side >> 1) + Math.floor(Math.random() * (length - this.side + 1)));
  }

  wound(y, x) {
    this.simulation.paint(y, x, this.side, "erase", []);
    this.next = this.simulation.step + this.rest;
  }

  /** Take a step, or erase a random square when it is time. What does not stay is held for a moment, and starts over. */
  advance() {
    const { step } = this.simulation;
    if (step >= this.end && this.held++ < HELD) return;
    if (step >= this.end) this.reset(1);
    else if (this.stays && step >= this.next) this.wound(...this.inside());
    else this.simulation.run(1);
    this.draw();
  }

  reset(further = 0) {
    this.simulation.seed += further;
    this.simulation.reset();
    this.held = 0;
    this.next = this.rest;
    this.draw();
  }

  draw() {
    this.screen.draw(this.simulation.grid, this.simulation.automaton.visible, null);
  }
}

const figures = document.querySelectorAll(".gallery figure");
const pieces = data.map((automaton, at) => new Piece(automaton, figures[at]));
let playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
const play = document.getElementById("play");
play.textContent = playing ? "Pause" : "Play";
play.addEventListener("click", () => {
  playing = !playing;
  play.textContent = playing ? "Pause" : "Play";
});
document.getElementById("reset").addEventListener("click", () => {
  for (const piece of pieces) piece.reset();
});
setInterval(() => {
  if (playing) for (const piece of pieces) piece.advance();
}, 1000 / STEPS_PER_SECOND);

document.documentElement.classList.add("alive");
window.dct = { pieces };
