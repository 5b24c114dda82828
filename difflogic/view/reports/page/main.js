// Puts the page together: the report's data, the simulation, and the controls.

import { Curve, drawBars, drawChart, short } from "./charts.js";
import { engines } from "./compiled.js";
import { Circuit, Drawing } from "./drawing.js";
import { describe, drawNeighbors, element } from "./details.js";
import { Film } from "./gif.js";
import { SYMBOL_BITS, SymbolSimulation } from "./encoding.js";
import { Examples } from "./examples.js";
import { decode } from "./grid.js";
import { Judge } from "./judge.js";
import { follow } from "./live.js";
import { Player } from "./player.js";
import { Pointer } from "./pointer.js";
import { Screen } from "./screen.js";
import { Simulation, openCircuit } from "./simulation.js";
import { Tiles, unpacked } from "./tiles.js";

const SIZES = [16, 32, 64, 128, 256, 512, 1024, 2048];
const FASTEST = 5; // as a power of ten, in steps per second
const CURVE_MS = 120;
const HOLD_MS = 900; // before a living run's automaton starts over
const SMALLEST_FIT = 0.6; // zoom for a wide circuit, which scrolls to stay legible
const BRUSHES = {
  part: "The cells show this part from their next step on: all parts grow everywhere. Damage does not change what is painted.",
  symbol: "The input gets this symbol, and the rule starts over.",
  erase: "All channels become 0: the damage of the published experiments.",
  noise: "All channels become random.",
  ones: "The channels that are shown become 1.",
  zeros: "The channels that are shown become 0.",
};

const find = (id) => document.getElementById(id);
const data = JSON.parse(find("data").textContent);
const { automaton, ops } = data;
const { encoding } = automaton;
const trained = { height: automaton.height, width: automaton.width };

let { found: available, error } = engines(automaton);
if (error) {
  find("trouble").textContent = `WebAssembly cannot be used here (${error.message}): the circuit is interpreted, which is slower.`;
  find("trouble").hidden = false;
}
const simulation = new (encoding ? SymbolSimulation : Simulation)(automaton, available[0]);
const whole = encoding ? SYMBOL_BITS : automaton.visible; // channels of simulation.picture
const judge = new Judge(data.target, whole);
const screen = new Screen(find("cells"), find("cursor"), find("brush-outline"));
screen.named = automaton.palette;
const curve = new Curve(find("curve"));
const film = new Film();
let shown = whole;
let drawing = null;
let curveDrawn = 0;
let waiting = false;
let filmed = null; // step and touches of the last frame
let touches = 0;
let held = 0; // the timer of a pause
let grown = data.target?.kind === "picture" && !data.page; // until somebody touches it

screen.fit(simulation.geometry);
const player = new Player(simulation, judge, changed);
const pointer = new Pointer(screen, { paint, look, key });
const examples = encoding ? new Examples(find, data, simulation, judge, { show: refit, look: () => changed("toggled") }) : null;

/** Record a change of the state now, and draw it with the next frame. */
function changed(kind) {
  if (kind === "reset") {
    curve.clear();
    film.clear();
  }
  if (kind === "touch") {
    touches++;
    curve.touch(simulation.step);
  }
  if (kind === "paused") {
    announce();
    if (data.page) held = setTimeout(startOver, HOLD_MS);
  }
  if (player.wrong !== null) curve.add(simulation.step, player.wrong);
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(draw);
}

function draw() {
  waiting = false;
  screen.draw(shownGrid(), shown, find("mark-wrong").checked && player.judged ? judge : null);
  if (filmed !== `${simulation.step} ${touches}`) {
    filmed = `${simulation.step} ${touches}`;
    film.add(screen.pixels, screen.canvas.width, screen.canvas.height);
  }
  find("save-gif").disabled = !film.frames.length;
  find("shown-step").textContent = [simulation.step.toLocaleString("en"), simulation.ended].filter(Boolean).join(", ");
  find("shown-rate").textContent = player.playing && player.rate ? short(player.rate) : "–";
  const wrong = find("shown-wrong");
  wrong.textContent = player.wrong === null ? "–" : player.wrong.toLocaleString("en");
  wrong.className = player.wrong === null ? "" : player.wrong ? "bad" : "good";
  if (data.first.numbers) read();
  find("play").textContent = player.playing || held ? "Pause" : "Play";
  find("play").setAttribute("aria-pressed", String(player.playing));
  const now = performance.now();
  if (!player.playing || now - curveDrawn > CURVE_MS) {
    curveDrawn = now;
    curve.draw();
    look(pointer.cell);
  }
}

function shownGrid() {
  return shown === whole ? simulation.picture : simulation.grid;
}

function announce() {
  const wrong = player.wrong === null ? "" : `, ${player.wrong} cells wrong`;
  find("announced").textContent = `Step ${simulation.step}${wrong}`;
}

function paint(y, x) {
  grown = false;
  const { value } = document.querySelector("[name=brush]:checked");
  const brush = value.startsWith("part ") ? Number(value.slice(5)) : value;
  player.touch(y, x, Number(find("brush-size").value), brush, shown);
  examples?.painted();
}

function startOver() {
  held = 0;
  renew();
  player.reset();
  player.play();
}

/** Take over what has changed in a living run. */
function update(news) {
  if (news.page && news.page !== data.page) location.reload();
  Object.assign(data, news);
  const rows = (all, row) => all.map((texts) => element(row[0], texts.map((text, place) => element(row[1 + place], text))));
  if (news.facts) find("facts").replaceChildren(...rows(news.facts, ["div", "dt", "dd"]));
  find("gone").hidden = true;
  const isLoop = player.pauseAt !== null && (player.playing || held); // goes to its end with one circuit
  if (!isLoop) renew();
  drawFigures();
}

/** Say that nobody answers, and that the state is not known any more. */
function lost() {
  find("gone").textContent = data.gone;
  find("gone").hidden = false;
  for (const { children: [name, told] } of find("facts").children) {
    if (name.textContent === "state" && told.textContent === "training") told.textContent = "not known: no answer";
  }
}

/** Go on with the newest circuit of a living run. */
function renew() {
  if (!data.circuit || automaton.circuit === data.circuit) return;
  automaton.circuit = data.circuit;
  available = engines(automaton).found;
  simulation.replaceCircuit(automaton.circuit, available[0]);
  player.msPerStep = 0;
  player.refresh("toggled");
}

/** Draw curves and bars, as wide as the page. */
function drawFigures() {
  for (const id of [...Object.keys(data.charts), ...Object.keys(data.histograms)]) find(id).parentElement.hidden = false;
  for (const [id, chart] of Object.entries(data.charts)) drawChart(find(id), chart);
  for (const [id, ops] of Object.entries(data.histograms)) {
    drawBars(find(id), ops.map(([sign, count]) => [sign, count]), undefined, (place) => ops[place][2], Math.log1p);
  }
  curve.draw();
}

/** Show the bits around a cell in the circuit. */
function look(cell) {
  const bits = cell ? simulation.neighborhood(...cell) : new Uint8Array(9 * automaton.circuit.channels);
  drawing?.show(bits);
  const grid = shownGrid(), { channels } = grid.geometry;
  const seen = cell ? simulation.neighborhood(...cell, grid) : new Uint8Array(9 * channels);
  if (data.page) return; // there is no drawing
  drawNeighbors(find("neighbors"), seen, channels, shown, screen);
  find("cell-head").textContent = cell ? `Row ${cell[0]}, column ${cell[1]}, and around it` : "No cell selected";
  if (drawing?.node != null) describeNode(drawing.node);
}

function describeNode(node) {
  const { circuit } = drawing;
  const logits = drawing.isTrained ? data.logitTable : null;
  const parts = describe(circuit, node, ops, logits);
  if (!drawing.isTrained && !data.simplified) parts.pop();
  find("gate").replaceChildren(...parts);
}

function toggle() {
  if (held) {
    clearTimeout(held);
    held = 0;
  } else if (player.playing) {
    player.pause();
    announce();
  } else {
    const over = player.pauseAt !== null && simulation.step >= player.pauseAt;
    if (over || simulation.ended || grown) player.reset();
    grown = false;
    player.play();
  }
  changed("toggled");
}

function step() {
  player.pause();
  player.advance(1);
  announce();
}

function reset() {
  player.reset();
  announce();
}

function key(name) {
  const action = { p: toggle, s: step, r: reset }[name];
  action?.();
  return Boolean(action);
}

/** Download the frames since the last reset. */
function saveGif() {
  const hundredths = Math.max(4, Math.min(50, Math.round(100 / player.stepsPerSecond)));
  const url = URL.createObjectURL(new Blob([film.gif(hundredths)], { type: "image/gif" }));
  const link = element("a", "", { href: url, download: `${document.title.split(" ")[0]}.gif` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function resize() {
  const [height, width] = find("size").value.split("x").map(Number);
  simulation.resize(height, width, find("edges").value === "periodic");
  refit();
}

/** Take over another grid. */
function refit() {
  const { height, width } = simulation.geometry;
  screen.fit(simulation.geometry);
  examples?.color(screen);
  examples?.listTurns();
  player.prepare();
  const [y, x] = pointer.cell ?? [height, width];
  pointer.look(y < height && x < width ? [y, x] : [height >> 1, width >> 1]);
  find("wrong-reading").hidden = find("curve-figure").hidden = !player.judged;
  find("wrong-choice").hidden = !player.judged;
}

function chooseEngine() {
  const old = simulation.engine;
  const next = available.find((engine) => engine.name === find("engine").value);
  if (next === old) return;
  simulation.replaceCircuit(automaton.circuit, next); // keeps the state
  player.msPerStep = 0;
  player.refresh("toggled");
}

function drawn(which) {
  const found = data.drawings[which];
  return found.tiled ? unpacked(found) : found;
}

function chooseDrawing() {
  const which = document.querySelector("[name=drawn]:checked").value;
  const circuit = new Circuit(drawn(which), automaton.circuit.labels, ops);
  const { tiled } = circuit.data;
  drawing = new (tiled ? Tiles : Drawing)(find("drawing"), circuit, describeNode);
  find("tiles-hint").hidden = !tiled;
  drawing.isTrained = which === data.trainedDrawing;
  find("zoom").value = Math.max(SMALLEST_FIT, Math.min(1, find("drawing").clientWidth / (drawing.width + 28)));
  drawing.zoom(Number(find("zoom").value));
  find("gate").replaceChildren(element("p", "Point at a gate to see what it does.", { class: "hint" }));
  look(pointer.cell);
}

function setSpeed() {
  const share = Number(find("speed").value);
  const exact = 10 ** (share * FASTEST);
  player.stepsPerSecond = share === 1 ? 1e9 : exact;
  const speed = exact < 10 ? exact.toFixed(1) : short(Number(exact.toPrecision(2)));
  find("speed-value").textContent = share === 1 ? "as fast as it goes" : `${speed} steps/s`;
}

function fillChoices() {
  const { height, width } = simulation.geometry;
  const four = [trained.height > 1 ? 4 * trained.height : 1, 4 * trained.width];
  const sizes = [[trained.height, trained.width], four, [height, width], ...SIZES.map((n) => [n, n])];
  for (const value of new Set(sizes.map(([h, w]) => `${h}x${w}`))) {
    const more = value === `${trained.height}x${trained.width}` ? ", as trained" : "";
    find("size").append(element("option", value.replace("x", " × ") + more, { value }));
  }
  find("size").value = `${height}x${width}`;
  find("start").lastElementChild.hidden = simulation.start !== "given";
  find("start").value = simulation.start;
  find("edges").value = automaton.boundary;
  find("fire").value = automaton.fireRate;
  find("engine").append(...available.map(({ name }) => element("option", name, { value: name })));
  const names = automaton.circuit.labels.map((name, place) => [
    encoding ? `channel ${name}: ${encoding.names[place]}` : `channel ${name}`, place,
  ]);
  const visible = automaton.visible.length > 1 ? "all visible channels" : "the visible channel";
  const all = encoding ? "symbols" : visible;
  find("channel").append(element("option", all, { value: "visible" }));
  find("channel").append(...names.map(([name, place]) => element("option", name, { value: place })));
}

/** Call `act` with each new value of a control, and `show` with its first value too. */
function bind(id, act, show = () => {}) {
  const input = find(id);
  const update = () => {
    show(input.value);
    act(input.value);
  };
  input.addEventListener(input.type === "range" ? "input" : "change", update);
  show(input.value);
}

function bindControls() {
  find("play").addEventListener("click", toggle);
  find("step").addEventListener("click", step);
  find("reset").addEventListener("click", reset);
  find("save-gif").addEventListener("click", saveGif);
  if (data.first.numbers) find("enter").addEventListener("click", () => { enter(); reset(); player.play(); });
  bind("speed", setSpeed);
  bind("size", resize);
  bind("edges", (value) => {
    simulation.setBoundary(value === "periodic");
    player.refresh("toggled");
  });
  bind("start", (value) => {
    simulation.start = value;
    reset();
  });
  bind("seed", (value) => {
    const number = Math.floor(Number(value));
    simulation.seed = Number.isFinite(number) ? Math.max(0, Math.min(999999999, number)) : 0;
    find("seed").value = simulation.seed;
    reset();
  });
  const fire = (value) => {
    find("fire-value").textContent = Number(value) === 1 ? "all" : Number(value).toFixed(2);
  };
  bind("fire", (value) => {
    simulation.fireRate = Number(value);
    player.refresh("toggled");
  }, fire);
  bind("engine", chooseEngine);
  bind("channel", (value) => {
    shown = value === "visible" ? whole : [Number(value)];
    changed("toggled");
  });
  bind("mark-wrong", () => changed("toggled"));
  bind("pause-at", () => {
    player.pauseAt = find("pause-at").checked ? automaton.steps : null;
  });
  bind("brush-size", (value) => {
    pointer.size = Number(value);
  }, (value) => {
    find("brush-value").textContent = value;
  });
  if (!data.page) bind("zoom", (value) => drawing.zoom(Number(value)));
  for (const radio of document.querySelectorAll("[name=drawn]")) {
    radio.addEventListener("change", chooseDrawing);
  }
  for (const radio of document.querySelectorAll("[name=brush]")) {
    radio.addEventListener("change", () => {
      find("brush-hint").textContent = hint(radio.value);
    });
  }
}

/** What a brush does. */
function hint(brush) {
  return BRUSHES[encoding ? "symbol" : `${brush}`.split(" ")[0]];
}

function readLogits() {
  if (!data.logits) return;
  const { step, bits, of, table } = data.logits;
  const rows = decode(of, Uint16Array);
  const { kinds, names } = drawn(data.trainedDrawing);
  const gates = Array.from(names).filter((_, node) => !"iov".includes(kinds[node]));
  data.logitTable = {
    step, table: decode(table, bits === 8 ? Int8Array : Int16Array),
    of: new Map(gates.map((gate, at) => [gate, rows[at]])),
  };
}

/** Begin with the task's settings and its example, if it has one, or with what is worth seeing. */
function openGrid() {
  const { height, width, given, numbers } = data.first;
  if (given) Object.assign(simulation, { start: "given", given });
  simulation.resize(height, width, automaton.boundary === "periodic");
  if (numbers) enter();
  else if (data.first.open) openCircuit(simulation);
}

/** Let the next start have the two numbers, the lowest bit on the right. */
function enter() {
  const { width } = simulation.geometry, { labels } = automaton.circuit;
  const bits = (number) => BigInt.asUintN(width, BigInt(number)).toString(2).padStart(width, "0");
  simulation.given = labels.map((label) => (label < 2 ? [bits(find(`number-${label}`).value || 0)] : []));
  simulation.start = "given";
}

/** Say what number the result's channel shows. */
function read() {
  const bits = simulation.bits(automaton.visible[0]).join("");
  find("read").textContent = `At step ${simulation.step} the result reads ${BigInt(`0b${bits}`)}.`;
}

function begin() {
  openGrid();
  fillChoices();
  readLogits();
  const { brush, size, marks } = data.first;
  find("brush-hint").textContent = hint(brush);
  document.querySelector(`[name=brush][value="${brush}"]`).checked = true;
  find("brush-size").value = pointer.size = size;
  find("mark-wrong").checked = marks;
  find("speed").value = Math.log10(data.first.speed) / FASTEST;
  const pauses = data.first.pauses || Boolean(data.page); // a living run's automaton starts over
  find("pause-at").checked = pauses;
  player.pauseAt = pauses ? automaton.steps : null;
  bindControls();
  setSpeed();
  if (examples) examples.choose();
  else resize();
  if (data.drawings?.after) chooseDrawing();
  drawFigures();
  addEventListener("resize", drawFigures);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    screen.readColors();
    examples?.color(screen);
    examples?.draw();
    drawing?.later?.();
    changed("toggled");
  });
  document.documentElement.classList.add("alive");
  if (data.first.numbers) player.advance(automaton.steps + simulation.geometry.width - trained.width);
  if (grown) player.advance(automaton.steps); // Play grows it again
  else if (!data.first.numbers && !matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
  if (data.page) follow(update, lost);
}

begin();

// For the browser's console: dct.player.advance(20), dct.simulation.bits(0).
window.dct = { player, simulation, paint, data, get drawing() { return drawing; } };
