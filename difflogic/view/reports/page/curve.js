// The number of wrong cells over the steps, as a line that grows.

const MOST_POINTS = 560;
const LEFT = 44, RIGHT = 550, TOP = 10, BOTTOM = 88;

export const SVG = "http://www.w3.org/2000/svg";

/** A new element of a drawing. */
export function svgElement(name, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

export class Curve {
  constructor(svg) {
    this.svg = svg;
    this.clear();
  }

  clear() {
    this.points = [];
    this.touches = [];
    this.stride = 1;
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
    const end = Math.max(first + 10, this.points.at(-1)?.[0] ?? 0);
    const most = Math.max(1, ...this.points.map(([, wrong]) => wrong));
    const x = (step) => (LEFT + ((step - first) / (end - first)) * (RIGHT - LEFT)).toFixed(1);
    const y = (wrong) => (BOTTOM - (wrong / most) * (BOTTOM - TOP)).toFixed(1);
    const line = this.points.map(([step, wrong]) => `${x(step)},${y(wrong)}`).join(" ");
    const parts = [
      svgElement("line", { class: "axis", x1: LEFT, x2: RIGHT, y1: BOTTOM, y2: BOTTOM }),
      svgElement("text", { class: "tick", x: LEFT - 6, y: TOP + 5, "text-anchor": "end" }, short(most)),
      svgElement("text", { class: "tick", x: LEFT - 6, y: BOTTOM, "text-anchor": "end" }, "0"),
      svgElement("text", { class: "tick", x: LEFT, y: 105 }, `step ${first}`),
      svgElement("text", { class: "tick", x: RIGHT, y: 105, "text-anchor": "end" }, `${end}`),
      ...this.touches.filter((step) => step >= first).map((step) =>
        svgElement("line", { class: "touch", x1: x(step), x2: x(step), y1: TOP, y2: BOTTOM }),
      ),
      svgElement("polyline", { class: "line", points: line }),
    ];
    this.svg.replaceChildren(...parts);
  }
}

/** A number with at most four signs: 12 thousand as 12k, 3 billion as 3G. */
export function short(value) {
  for (const [unit, sign] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= unit) return `${Number((value / unit).toPrecision(3))}${sign}`;
  }
  return `${Number(value.toPrecision(3))}`;
}
