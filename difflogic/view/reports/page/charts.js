// Charts as SVG: curves over a common x axis, and horizontal bars. The style sheet colours them.

const SVG = "http://www.w3.org/2000/svg";

export function svgElement(name, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

/** A short form of a number: 12 thousand is 12k, 3 billion is 3G. */
export function short(value) {
  for (const [unit, sign] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= unit) return `${Number((value / unit).toPrecision(3))}${sign}`;
  }
  return `${Number(value.toPrecision(3))}`;
}

const comma = (value) => value.toLocaleString("en");

/** Scales of the y axis, by the least and greatest value: ticks [value, text], and the place of a value from 0 to 1. */
const SCALES = {
  linear: (least, most) => {
    const top = Math.max(1, most);
    return { ticks: [[0, "0"], [top, short(top)]], place: (value) => value / top };
  },
  // log(1 + value), a logarithm with a zero.
  logarithmic: (least, most) => {
    const top = Math.max(1, most);
    const powers = Array.from({ length: 9 }, (_, power) => 10 ** power).filter((value) => value <= top);
    if (top > 1000) powers.shift(); // 1 would be too close to 0
    return { ticks: [0, ...powers].map((value) => [value, comma(value)]), place: (value) => Math.log1p(Math.max(value, 0)) / Math.log1p(top) };
  },
  // Shares from 0 up to the greatest.
  share: (least, most) => {
    const top = Math.max(0.01, most);
    return { ticks: roundSteps(0, 100 * top).map((value) => [value / 100, `${value} %`]), place: (value) => value / top };
  },
  // Shares from 0 to 1. The scale begins just below the least.
  percent: (least) => {
    const step = [20, 10, 5, 2, 1].find((size) => 100 * (1 - least) > 2 * size) ?? 0.5;
    const low = Math.min(Math.max(0, Math.floor((100 * least) / step) * step), 100 - step);
    const ticks = Array.from({ length: Math.round((100 - low) / step) + 1 }, (_, place) => low + step * place);
    return { ticks: ticks.map((value) => [value / 100, `${value} %`]), place: (value) => (100 * value - low) / (100 - low) };
  },
};

/**
 * Draw lines [name, points [x, y]]. A line without a name gets no key.
 *
 * `marks` are places on the x axis with words; null, or beyond the end, they are left out. `starts` are vertical lines,
 * `events` small marks on the axis.
 */
export function drawChart(svg, { x: xName, lines, scale = "logarithmic", marks = [], starts = [], events = [], first = 0, end = 0, width = 720, height = 280 }) {
  width = svg.clientWidth || width;
  const [left, right, top, foot] = [52, width - 20, lines[0][0] ? 26 : 10, height - 34];
  let [last, least, most] = [Math.max(end, first + 1), Infinity, -Infinity];
  for (const [, points] of lines) {
    for (const [at, value] of points) [last, least, most] = [Math.max(last, at), Math.min(least, value), Math.max(most, value)];
  }
  const { ticks, place } = SCALES[scale](least, most);
  const x = (at) => (left + ((at - first) / (last - first)) * (right - left)).toFixed(1);
  const y = (value) => (foot - place(value) * (foot - top)).toFixed(1);
  const upright = (kind, at, from, to) => svgElement("line", { class: kind, x1: x(at), x2: x(at), y1: from, y2: to });
  const text = (kind, at, height, anchor, words) => svgElement("text", { class: kind, x: at, y: height, "text-anchor": anchor }, words);
  const parts = ticks.flatMap(([value, words]) => [
    svgElement("line", { class: "axis", x1: left, x2: right, y1: y(value), y2: y(value) }),
    text("tick", left - 6, Number(y(value)) + 4, "end", words),
  ]);
  parts.push(...roundSteps(first, last).map((at) => text("tick", x(at), foot + 17, "middle", comma(at))));
  parts.push(text("tick", right, height - 3, "end", xName));
  parts.push(...starts.map((at) => upright("start", at, top, foot)), ...events.map((at) => upright("event", at, foot - 4, foot + 4)));
  lines.forEach(([name, points], number) => {
    const kind = `s${number + 1}`;
    parts.push(svgElement("polyline", { class: kind, points: points.map(([at, value]) => `${x(at)},${y(value)}`).join(" ") }));
    // A line of one point would be invisible.
    if (points.length === 1) parts.push(svgElement("circle", { class: kind, cx: x(points[0][0]), cy: y(points[0][1]), r: 2.5 }));
    if (!name) return;
    const key = left + Math.min(150, (right - left) / lines.length) * number;
    parts.push(svgElement("polyline", { class: kind, points: `${key},10 ${key + 22},10` }), text("", key + 28, 14, "start", name));
  });
  for (const [at, words] of marks) {
    if (at == null || at > last) continue;
    const [shift, anchor] = at > 0.75 * last ? [-5, "end"] : [5, "start"];
    parts.push(upright("mark", at, top, foot), text("", Number(x(at)) + shift, foot - 8, anchor, words));
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(...parts);
}

/** At most nine round numbers from `first` to `last`. */
function roundSteps(first, last) {
  let step = 1;
  for (let place = 0; (last - first) / step > 8; place++) step *= [2, 2.5, 2][place % 3];
  const found = [];
  for (let at = Math.ceil(first / step) * step; at <= last; at += step) found.push(at);
  return found;
}

/** Draw a horizontal bar for each [name, value]. `format` turns a value into text, `scale` into a length. */
export function drawBars(svg, entries, format = comma, faint = () => false, scale = (value) => value) {
  const [width, left, row] = [420, 96, 20];
  const most = scale(Math.max(...entries.map(([, value]) => value), 1e-9));
  svg.setAttribute("viewBox", `0 0 ${width} ${row * entries.length + 2}`);
  svg.replaceChildren(...entries.flatMap(([name, value], index) => {
    const length = (scale(value) / most) * (width - left - 60);
    const y = row * index;
    return [
      svgElement("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, name),
      svgElement("rect", { class: faint(index) ? "bar passing" : "bar", x: left, y: y + 3, width: length.toFixed(1), height: 13, rx: 2 }),
      svgElement("text", { class: "tick", x: left + length + 6, y: y + 14 }, format(value)),
    ];
  }));
}

const CURVE_POINTS = 560;

/** The number of wrong cells over the steps, as a growing curve. */
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

  add(step, wrong) {
    const last = this.points.at(-1);
    if (last && step <= last[0]) last[1] = wrong;
    else this.points.push([step, wrong]);
    if (this.points.length > CURVE_POINTS) {
      this.points = this.points.filter((_, index) => index % 2 === 0);
    }
  }

  /** Remember a touch of the brush after a step. */
  touch(step) {
    if (this.touches.at(-1) !== step) this.touches.push(step);
    if (this.touches.length > CURVE_POINTS) this.touches.shift();
  }

  draw() {
    const first = this.points[0]?.[0] ?? 0;
    drawChart(this.svg, {
      x: "step", lines: [["", this.points]], scale: "linear", first, end: first + 10,
      starts: this.touches.filter((step) => step >= first), width: 560, height: 122,
    });
  }
}
