// The number of wrong cells over the steps, as a line that grows.

import { drawChart } from "./charts.js";

const MOST_POINTS = 560;

export class Curve {
  constructor(svg) {
    this.svg = svg;
    this.clear();
  }

  clear() {
    this.points = [];
    this.touches = [];
    this.draw();
  }

  /** Add what was counted after a step. */
  add(step, wrong) {
    const last = this.points.at(-1);
    if (last && step <= last[0]) last[1] = wrong;
    else this.points.push([step, wrong]);
    if (this.points.length > MOST_POINTS) {
      this.points = this.points.filter((_, index) => index % 2 === 0);
    }
  }

  /** Remember that the brush touched the grid after a step. */
  touch(step) {
    if (this.touches.at(-1) !== step) this.touches.push(step);
    if (this.touches.length > MOST_POINTS) this.touches.shift();
  }

  draw() {
    const first = this.points[0]?.[0] ?? 0;
    drawChart(this.svg, {
      x: "step", lines: [["", this.points]], scale: "linear", first, end: first + 10,
      starts: this.touches.filter((step) => step >= first), width: 560, height: 122,
    });
  }
}
