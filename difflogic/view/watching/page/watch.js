// Shows the server's events: growing curves, the running current circuit, and its gates.

import { drawBars, drawChart, short } from "../../reports/page/charts.js";
import { decode } from "../../reports/page/grid.js";
import { Interpreter } from "../../reports/page/interpreter.js";
import { Judge } from "../../reports/page/judge.js";
import { Player } from "../../reports/page/player.js";
import { Pointer } from "../../reports/page/pointer.js";
import { Screen } from "../../reports/page/screen.js";
import { Simulation } from "../../reports/page/simulation.js";
import { SoftRollout } from "./soft.js";

const HOLD_MS = 900;
const SOFT_MS = 12; // per frame for the soft rollout
const BRUSH = 3;
const READS = Array.from({ length: 16 }, (_, op) => [op >> 2 !== (op & 3), ((op >> 1) & 5) !== (op & 5)]);
const WORDS = { waiting: "waiting for the first epoch", running: "training", stopped: "stopped; it can be resumed", finished: "finished" };

const find = (id) => document.getElementById(id);
let run = null, netlist = null, rows = [], searches = [], starts = [], simulation = null, player = null, judge = null;
let soft = null, softQueued = false, held = 0, waiting = false;
let circuit = null, exactEpoch = null, state = null;
const screen = new Screen(find("cells"), find("cursor"), find("brush-outline"));
const pointer = new Pointer(screen, {
  paint: (y, x) => player?.touch(y, x, BRUSH, "erase", []),
  look: () => {},
  key: () => false,
});
pointer.size = BRUSH;

/** The hard circuit, without gates that no channel depends on. */
function hardCircuit(ops) {
  const inputs = 9 * netlist.channels;
  const op = Array.from(netlist.param, (param) => ops[param]);
  const needed = new Uint8Array(inputs + op.length);
  for (const row of netlist.outputs) needed[row] = 1;
  for (let gate = op.length - 1; gate >= 0; gate--) {
    if (!needed[inputs + gate]) continue;
    if (READS[op[gate]][0]) needed[netlist.a[gate]] = 1;
    if (READS[op[gate]][1]) needed[netlist.b[gate]] = 1;
  }
  const place = new Int32Array(inputs + op.length);
  const made = { channels: netlist.channels, labels: Array.from({ length: netlist.channels }, (_, c) => c), op: [], a: [], b: [], outputs: [] };
  for (let row = 0; row < place.length; row++) {
    if (row < inputs) place[row] = row;
    else if (needed[row]) {
      const gate = row - inputs;
      place[row] = inputs + made.op.length;
      made.op.push(op[gate]);
      made.a.push(READS[op[gate]][0] ? place[netlist.a[gate]] : 0);
      made.b.push(READS[op[gate]][1] ? place[netlist.b[gate]] : 0);
    }
  }
  made.outputs = Array.from(netlist.outputs, (row) => place[row]);
  return made;
}

function onRun(data) {
  run = data;
  netlist = simulation = player = soft = null;
  find("name").textContent = `${run.name}, seed ${run.seed}`;
  document.title = `${run.name} · dct watch`;
  const goal = run.goal && { kind: "picture", height: run.height, width: run.width, anywhere: false, rows: run.goal };
  screen.named = run.palette;
  judge = new Judge(run.target ?? goal, run.visible);
}

function onCircuit(data) {
  if (data.netlist) {
    const { channels, ...arrays } = data.netlist;
    netlist = { channels };
    for (const [name, text] of Object.entries(arrays)) netlist[name] = decode(text, Int32Array);
  }
  circuit = data;
  const ops = Array.from(data.ops, (sign) => parseInt(sign, 16));
  const hard = hardCircuit(ops);
  find("circuit-epoch").textContent = `after epoch ${data.epoch.toLocaleString("en")}`;
  if (simulation) {
    simulation.replaceCircuit(hard, new Interpreter(hard));
    player.msPerStep = 0;
    player.refresh("circuit");
  } else {
    begin(hard);
  }
  soft = new SoftRollout(run, netlist, decode(data.coefficients, Float32Array));
  scheduleSoft();
  drawGates(data);
}

function begin(hard) {
  const automaton = { ...run, circuit: hard, start: "given", startBits: run.start };
  simulation = new Simulation(automaton, new Interpreter(hard));
  screen.fit(simulation.geometry);
  for (const id of ["soft", "apart"]) Object.assign(find(id), { width: run.width, height: run.height });
  player = new Player(simulation, judge, changed);
  player.pauseAt = find("again").checked ? run.steps : null;
  player.prepare();
  setSpeed();
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
}

/** Take steps of the soft circuit between frames, so that the page stays responsive. */
function scheduleSoft() {
  if (softQueued) return;
  softQueued = true;
  setTimeout(() => {
    softQueued = false;
    const began = performance.now();
    while (soft && !soft.isDone && performance.now() - began < SOFT_MS) soft.step();
    if (soft && !soft.isDone) scheduleSoft();
    changed("soft");
  }, 0);
}

function changed(kind) {
  if (kind === "paused" && find("again").checked && !held) {
    held = setTimeout(() => {
      held = 0;
      player.reset();
      player.play();
    }, HOLD_MS);
  }
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(draw);
}

function draw() {
  waiting = false;
  if (!simulation) return;
  screen.draw(simulation.grid, run.visible, player.judged ? judge : null);
  find("shown-step").textContent = simulation.step;
  find("shown-wrong").textContent = player.wrong ?? "–";
  find("play").textContent = player.playing || held ? "Pause" : "Play";
  find("play").setAttribute("aria-pressed", String(player.playing));
  drawSoft();
}

/** Draw the soft state, and the cells in which it differs from the hard one. */
function drawSoft() {
  const state = soft?.shown[Math.min(simulation.step, soft.shown.length - 1)];
  if (!state || simulation.step >= soft.shown.length) {
    find("apart-count").textContent = soft?.isDone ? "after the last training step, only the hard circuit continues" : "computing …";
    return;
  }
  const { zero, one, wrong } = screen.colors;
  const [softImage, apartImage] = ["soft", "apart"].map(() => new ImageData(run.width, run.height));
  const hard = run.visible.map((channel) => simulation.bits(channel));
  let apart = 0;
  for (let cell = 0; cell < run.width * run.height; cell++) {
    const values = state.map((channel) => channel[cell]);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const color = values.length === 3 ? values.map((v) => 255 * v) : zero.map((z, part) => z + mean * (one[part] - z));
    softImage.data.set([...color, 255], 4 * cell);
    const differs = values.some((value, place) => (value >= 0.5 ? 1 : 0) !== hard[place][cell]);
    apart += differs ? 1 : 0;
    apartImage.data.set([...(differs ? wrong : zero), 255], 4 * cell);
  }
  find("soft").getContext("2d").putImageData(softImage, 0, 0);
  find("apart").getContext("2d").putImageData(apartImage, 0, 0);
  find("apart-count").textContent = `${apart} of ${run.width * run.height} cells, rounded`;
}

function onRows(data) {
  rows = data.begins ? data.rows : rows.concat(data.rows);
  searches = data.begins ? data.searches : searches.concat(data.searches);
  starts = data.begins ? data.starts : starts.concat(data.starts);
  const last = rows.at(-1);
  if (!last) return;
  const number = (value) => (value === null ? "–" : short(value));
  find("epoch").textContent = `${last[0].toLocaleString("en")}${run ? ` of ${run.epochs.toLocaleString("en")}` : ""}`;
  find("soft-loss").textContent = number(last[1]);
  find("hard-loss").textContent = number(rows.findLast((row) => row[2] !== null)?.[2] ?? null);
  find("decided-share").textContent = last[4] === null ? "–" : `${(100 * last[4]).toFixed(1)} %`;
  find("last-search").textContent = searchWords(searches.at(-1));
  find("attempt").textContent = number(last[5]);
  drawCurves();
}

/** Draw the curves, with decisions and searches only if the run has recorded them. */
function drawCurves() {
  const common = { x: "epoch", starts: starts.map(([epoch]) => epoch), end: Math.max(10, rows.at(-1)[0]) };
  const column = (place) => rows.filter((row) => row[place] !== null).map((row) => [row[0], row[place]]);
  drawChart(find("curves"), {
    ...common, lines: [["soft loss", column(1)], ["hard loss", column(2)]], events: searches.map(([epoch]) => epoch),
    marks: [[exactEpoch, "verified exact"], [run?.published, "published: learned"]], height: 260,
  });
  const decided = column(4);
  find("decided-figure").hidden = !decided.length;
  if (decided.length) drawChart(find("decided-curve"), { ...common, lines: [["decided", decided]], scale: "percent", width: 480, height: 170 });
  const known = searches.filter((search) => search[1] !== null);
  find("searches-figure").hidden = !known.length;
  const wrong = ["before", "after"].map((name, place) => [name, known.map((search) => [search[0], search[place + 1]])]);
  if (known.length) drawChart(find("searches-curve"), { ...common, lines: wrong, width: 480, height: 170 });
}

function searchWords(search) {
  if (!search) return "none yet";
  const [epoch, before, after, tried, exact] = search;
  if (before === null) return `after epoch ${epoch}`;
  const found = exact ? "exact" : `${before.toLocaleString("en")} → ${after.toLocaleString("en")} wrong`;
  return `${found}, ${tried.toLocaleString("en")} tried`;
}

function drawGates(data) {
  const percent = (share) => `${Math.round(100 * share)} %`;
  drawBars(find("decided"), run.layers.map((name, layer) => [name, data.decided[layer]]), percent);
  const passing = (op) => run.passing.includes(op);
  for (const [place, id] of ["perception", "update"].entries()) {
    drawBars(find(id), data.histogram[place].map((count, op) => [run.symbols[op], count]), undefined, passing, Math.log1p);
  }
}

function onState(data) {
  state = data;
  exactEpoch = data.exactEpoch;
  find("status").textContent = WORDS[data.status] ?? data.status;
  find("exact").textContent = data.exactEpoch === null ? "not yet" : `after epoch ${data.exactEpoch}`;
  drawBars(find("phases"), Object.entries(data.seconds), (seconds) => `${short(seconds)} s`);
  find("runs-section").hidden = !data.runs.length;
  find("runs").replaceChildren(...data.runs.map((each) => {
    const line = document.createElement("tr");
    const words = each.shown ? `${each.status}, shown above` : each.status;
    for (const text of [each.variant, each.seed, words, each.exactEpoch ?? "–"]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      line.append(cell);
    }
    return line;
  }));
  if (rows.length) drawCurves();
}

function setSpeed() {
  const steps = Number(find("speed").value);
  find("speed-value").textContent = `${steps} steps/s`;
  if (player) player.stepsPerSecond = steps;
}

function endHold() {
  clearTimeout(held);
  held = 0;
}

find("play").addEventListener("click", () => {
  if (!player) return;
  const busy = player.playing || held;
  endHold();
  if (busy) player.pause();
  else {
    if (player.pauseAt !== null && simulation.step >= player.pauseAt) player.reset();
    player.play();
  }
  changed("toggled");
});
find("reset").addEventListener("click", () => {
  endHold();
  player?.reset();
});
find("speed").addEventListener("input", setSpeed);
find("again").addEventListener("change", () => {
  if (player) player.pauseAt = find("again").checked ? run.steps : null;
});
setSpeed();

const events = new EventSource("events");
for (const [name, act] of Object.entries({ run: onRun, rows: onRows, circuit: onCircuit, state: onState })) {
  events.addEventListener(name, (event) => act(JSON.parse(event.data)));
}
events.addEventListener("open", () => {
  find("gone").hidden = true;
});
events.addEventListener("error", () => {
  find("gone").replaceChildren(...whatToDo());
  find("gone").hidden = false;
});

/** Say what has ended and how to get the page back. A link works as long as the process that printed it. */
function whatToDo() {
  const command = (text) => Object.assign(document.createElement("code"), { textContent: text });
  if (!state?.path) return ["The process that served this page is gone."];
  const watch = command(`dct watch ${state.path}`);
  if (!state.training) return [watch, " has ended, and with it this link. Start it again for a new one."];
  if (state.status === "finished") return ["The run is over, and with it this link. ", watch, " shows it again."];
  return [
    "The process that trained is gone, and with it this link. ", command(`dct train --resume ${state.path} --watch`),
    " goes on from the last checkpoint, and prints a new link; the page of ", watch, " outlives the process that trains.",
  ];
}

// For the browser's console.
window.dct = { get simulation() { return simulation; }, get player() { return player; }, get soft() { return soft; }, get rows() { return rows; }, get searches() { return searches; }, get starts() { return starts; } };
