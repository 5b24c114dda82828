// Curves over epochs, and bars, as SVG that the style sheet colours.

import { short, svgElement } from "../../reports/page/curve.js";

const CURVE_POINTS = 700;

/** Draw soft and hard loss over epochs, where learning started over, the searches below, and `marks` [epoch, words]. */
export function lossCurves(svg, rows, starts, searches, marks) {
  const [left, right, top, bottom] = [52, 700, 30, 220];
  const end = Math.max(10, rows.at(-1)[0]);
  const most = rows.reduce((m, row) => Math.max(m, row[1], row[2] ?? 0), 1);
  const x = (epoch) => (left + (epoch / end) * (right - left)).toFixed(1);
  const y = (loss) => (bottom - (Math.log1p(loss) / Math.log1p(most)) * (bottom - top)).toFixed(1);
  const parts = [];
  for (const tick of [0, 1, 10, 100, 1000, 10000].filter((value) => value <= most)) {
    parts.push(svgElement("line", { class: "axis", x1: left, x2: right, y1: y(tick), y2: y(tick) }));
    parts.push(svgElement("text", { class: "tick", x: left - 6, y: Number(y(tick)) + 4, "text-anchor": "end" }, `${tick}`));
  }
  parts.push(svgElement("text", { class: "tick", x: right, y: 252, "text-anchor": "end" }, `epoch ${end.toLocaleString("en")}`));
  ["soft", "hard"].forEach((name, place) => {
    const points = thinned(rows.filter((row) => row[place + 1] !== null)).map((row) => `${x(row[0])},${y(row[place + 1])}`).join(" ");
    parts.push(svgElement("polyline", { class: `s${place + 1}`, points }));
    parts.push(svgElement("polyline", { class: `s${place + 1}`, points: `${left + 110 * place},12 ${left + 22 + 110 * place},12` }));
    parts.push(svgElement("text", { x: left + 28 + 110 * place, y: 16 }, `${name} loss`));
  });
  parts.push(...starts.map(([epoch]) => start(x(epoch), top, bottom)));
  for (const [epoch] of searches) {
    parts.push(svgElement("line", { class: "event", x1: x(epoch), x2: x(epoch), y1: bottom + 4, y2: bottom + 12 }));
  }
  for (const [epoch, words] of marks) {
    if (epoch == null || epoch > end) continue;
    parts.push(svgElement("line", { class: "mark", x1: x(epoch), x2: x(epoch), y1: top, y2: bottom }));
    parts.push(svgElement("text", { class: "tick", x: Number(x(epoch)) - 5, y: bottom - 8, "text-anchor": "end" }, words));
  }
  svg.replaceChildren(...parts);
}

/** Draw the share of decided gates over epochs, of points [epoch, share]. */
export function decidedCurve(svg, points, starts, end) {
  const least = points.reduce((low, [, share]) => Math.min(low, share), 1);
  const low = Math.min(0.99, Math.floor(20 * least) / 20);
  const ticks = [low, (1 + low) / 2, 1].map((share) => [share, `${short(100 * share)} %`]);
  small(svg, [["decided", points]], ticks, (share) => (share - low) / (1 - low), starts, end);
}

/** Draw the wrong cells before and after each search over epochs. */
export function searchCurves(svg, searches, starts, end) {
  const most = searches.reduce((m, [, before, after]) => Math.max(m, before, after), 1);
  const ticks = [0, 1, 10, 100, 1000, 10000, 100000].filter((wrong) => wrong <= most);
  const curves = ["before", "after"].map((name, place) => [name, searches.map((each) => [each[0], each[place + 1]])]);
  small(svg, curves, ticks.map((wrong) => [wrong, `${wrong}`]), (wrong) => Math.log1p(wrong) / Math.log1p(most), starts, end);
}

/** Draw curves of [epoch, value] that share a scale: `place` tells a value's height, 0 to 1. */
function small(svg, curves, ticks, place, starts, last) {
  const [left, right, top, bottom] = [52, 470, 26, 140];
  const end = Math.max(10, last);
  const x = (epoch) => (left + (epoch / end) * (right - left)).toFixed(1);
  const y = (value) => (bottom - place(value) * (bottom - top)).toFixed(1);
  const parts = ticks.flatMap(([value, text]) => [
    svgElement("line", { class: "axis", x1: left, x2: right, y1: y(value), y2: y(value) }),
    svgElement("text", { class: "tick", x: left - 6, y: Number(y(value)) + 4, "text-anchor": "end" }, text),
  ]);
  parts.push(svgElement("text", { class: "tick", x: right, y: 160, "text-anchor": "end" }, `epoch ${end.toLocaleString("en")}`));
  parts.push(...starts.map(([epoch]) => start(x(epoch), top, bottom)));
  curves.forEach(([name, points], number) => {
    const shown = thinned(points).map(([epoch, value]) => `${x(epoch)},${y(value)}`).join(" ");
    parts.push(svgElement("polyline", { class: `s${number + 1}`, points: shown }));
    parts.push(svgElement("polyline", { class: `s${number + 1}`, points: `${left + 110 * number},10 ${left + 22 + 110 * number},10` }));
    parts.push(svgElement("text", { x: left + 28 + 110 * number, y: 14 }, name));
  });
  svg.replaceChildren(...parts);
}

function start(x, top, bottom) {
  return svgElement("line", { class: "start", x1: x, x2: x, y1: top, y2: bottom });
}

/** Leave some of many points out, and never the last. */
function thinned(points) {
  const stride = Math.ceil(points.length / CURVE_POINTS);
  return points.filter((_, index) => index % stride === 0 || index === points.length - 1);
}

/** Draw lying bars of [name, value], with what `say` makes of the value, on a scale of their own. */
export function bars(svg, entries, say, faint = () => false, scale = (value) => value) {
  const [width, left, row] = [420, 96, 20];
  const most = scale(Math.max(...entries.map(([, value]) => value), 1e-9));
  svg.setAttribute("viewBox", `0 0 ${width} ${row * entries.length + 2}`);
  svg.replaceChildren(...entries.flatMap(([name, value], index) => {
    const length = (scale(value) / most) * (width - left - 60);
    const y = row * index;
    return [
      svgElement("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, name),
      svgElement("rect", { class: faint(index) ? "bar passing" : "bar", x: left, y: y + 3, width: length.toFixed(1), height: 13, rx: 2 }),
      svgElement("text", { class: "tick", x: left + length + 6, y: y + 14 }, say(value)),
    ];
  }));
}
