// Several automata on one page: each grows, is damaged now and then, and heals.

import { engines } from "./compiled.js";
import { Screen } from "./screen.js";
import { Simulation } from "./simulation.js";

const STEPS_PER_SECOND = 12;
const REST = 1.5; // time between wounds, as a multiple of the steps of training

const data = JSON.parse(document.getElementById("data").textContent);

class Piece {
  constructor(automaton, figure) {
    Object.assign(this, { automaton, next: Math.ceil(REST * automaton.steps) });
    this.simulation = new Simulation(automaton, engines(automaton).found[0]);
    const canvas = figure.querySelector("canvas");
    this.screen = new Screen(canvas, null, null);
    this.screen.named = automaton.palette;
    this.screen.fit(this.simulation.geometry);
    canvas.addEventListener("click", (event) => {
      this.wound(...this.screen.cellAt(event));
      this.draw();
    });
    this.draw();
  }

  get side() {
    return Math.max(1, Math.min(this.automaton.height, this.automaton.width) >> 1);
  }

  wound(y, x) {
    this.simulation.paint(y, x, this.side, "erase", []);
    this.next = this.simulation.step + Math.ceil(REST * this.automaton.steps);
  }

  /** Take a step, or erase a random square when it is time. */
  advance() {
    const { height, width } = this.automaton;
    const inside = (length) => (this.side >> 1) + Math.floor(Math.random() * (length - this.side + 1));
    if (this.simulation.step >= this.next) this.wound(inside(height), inside(width));
    else this.simulation.run(1);
    this.draw();
  }

  draw() {
    this.screen.draw(this.simulation.grid, this.automaton.visible, null);
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
  for (const piece of pieces) {
    piece.simulation.reset();
    piece.wound(-piece.automaton.height, 0); // outside the grid: only postpones the next wound
    piece.draw();
  }
});
setInterval(() => {
  if (playing) for (const piece of pieces) piece.advance();
}, 1000 / STEPS_PER_SECOND);

window.dct = { pieces };
