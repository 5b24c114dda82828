// The examples of a rule that was learned from them: choose one, see what it should become, or paint
// a grid of your own.

import { element } from "./details.js";
import { SYMBOL_BITS, asGrid, parsePair } from "./encoding.js";
import { Screen } from "./screen.js";

const OWN = "own";
const LONGEST_SIDE = 128; // in each direction, of an own grid

export class Examples {
  /** `show()` is called after another grid was chosen, `look()` after another run was. */
  constructor(find, { examples, automaton }, simulation, judge, { show, look }) {
    Object.assign(this, { find, examples, simulation, judge, show });
    this.encoding = automaton.encoding;
    this.before = new Screen(find("input-cells"), null, null);
    this.after = new Screen(find("output-cells"), null, null);
    for (const part of new Set(examples.map((each) => each.part))) {
      const options = examples.flatMap((each, index) => (each.part !== part ? [] : [
        element("option", `${part} ${each.number}${each.right === null ? "" : each.right ? ": right" : ": wrong"}`, { value: index }),
      ]));
      find("example").append(element("optgroup", options, { label: part }));
    }
    find("example").append(element("option", "your own grid", { value: OWN }));
    find("example").addEventListener("change", () => this.choose());
    for (const [id, by] of [["previous", -1], ["next", 1]]) find(id).addEventListener("click", () => this.go(by));
    for (const id of ["rows", "columns"]) find(id).addEventListener("change", () => this.resize());
    find("turn").addEventListener("change", () => {
      simulation.look(Number(find("turn").value));
      look();
    });
    this.turn = find("turn").parentElement;
    this.turn.hidden = !this.encoding.perSymbol;
  }

  get chosen() {
    return this.examples[this.find("example").value] ?? null;
  }

  go(by) {
    const select = this.find("example");
    select.selectedIndex = (select.selectedIndex + by + select.length) % select.length;
    this.choose();
  }

  /** Show the chosen example, or go on with the present grid as an own one. */
  choose() {
    const { chosen, judge, simulation, find } = this;
    judge.target = null;
    if (chosen) {
      const { height, width, before, after } = parsePair(chosen.pair);
      simulation.enter(height, width, before);
      judge.target = { kind: "picture", height, width, rows: SYMBOL_BITS.map((bit) => Array.from(after, (symbol) => (symbol >> bit) & 1)) };
      this.draw();
    } else simulation.reset();
    for (const id of ["given", "expected"]) find(id).hidden = !chosen;
    const { part, number, right } = chosen ?? {};
    find("verdict").textContent = chosen
      ? `${part[0].toUpperCase()}${part.slice(1)}, ${number} of ${this.examples.filter((each) => each.part === part).length}${right === null ? "" : `: the rule is ${right ? "right" : "wrong"}`}.`
      : "Nobody said what your own grid should become.";
    find("verdict").classList.toggle("bad", right === false);
    find("rows").value = simulation.geometry.height;
    find("columns").value = simulation.geometry.width;
    this.show();
  }

  /** Draw the example's two grids. */
  draw() {
    if (!this.chosen) return;
    const { height, width, before, after } = parsePair(this.chosen.pair);
    for (const [screen, symbols] of [[this.before, before], [this.after, after]]) {
      const grid = asGrid(height, width, symbols);
      screen.fit(grid.geometry);
      this.color(screen);
      screen.draw(grid, SYMBOL_BITS, null);
    }
  }

  /** After a stroke of the brush, or another size, the grid is the user's own. */
  painted() {
    this.listTurns();
    if (!this.chosen) return;
    this.find("example").value = OWN;
    this.choose();
  }

  resize() {
    const [height, width] = ["rows", "columns"].map((id) => {
      const value = Math.floor(Number(this.find(id).value));
      return Math.max(1, Math.min(LONGEST_SIDE, value || 1));
    });
    this.simulation.resize(height, width, this.simulation.geometry.periodic);
    this.find("example").value = OWN;
    this.choose();
  }

  /** List the symbols of the present grid, each of which has a run of its own. */
  listTurns() {
    const { symbols } = this.encoding;
    const options = this.simulation.turns.map((turn, place) => element("option", symbols[turn], { value: place }));
    this.find("turn").replaceChildren(...options);
  }

  /** Give a screen the symbols' colours: the background is that of the page's cells. */
  color(screen) {
    const { colors, background } = this.encoding;
    const { zero, one } = screen.colors;
    screen.named = Array.from({ length: 2 ** SYMBOL_BITS.length }, (_, symbol) =>
      symbol === background ? zero : colors[symbol] ?? one, // two symbols at once
    );
    for (const radio of document.querySelectorAll("[name=brush]")) {
      radio.nextElementSibling.style.setProperty("--swatch", `rgb(${screen.named[radio.value]})`);
    }
  }
}
