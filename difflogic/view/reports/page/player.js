// Runs a simulation at the chosen speed, counts wrong cells, and reports changes.

const FRAME_MS = 14; // for steps, besides counting and drawing
const LONGEST_PAUSE = 0.1;
const RATE_MS = 500;

export class Player {
  /** `changed(kind)` is called after "steps", "touch", "reset" or "paused". */
  constructor(simulation, judge, changed) {
    Object.assign(this, { simulation, judge, changed });
    this.playing = false;
    this.stepsPerSecond = 8;
    this.pauseAt = null;
    this.credit = 0;
    this.msPerStep = 0;
    this.rate = null;
    this.wrong = null;
  }

  /** Prepare for a new grid. */
  prepare() {
    this.judged = this.judge.prepare(this.simulation.geometry);
    this.rate = null;
    this.msPerStep = 0;
    this.refresh("reset");
  }

  reset() {
    this.simulation.reset();
    this.refresh("reset");
  }

  refresh(kind) {
    this.count(false);
    this.changed(kind);
  }

  count(stepped) {
    const { judge, simulation } = this;
    if (!this.judged || (judge.needsStep && (!stepped || simulation.fireRate < 1))) {
      this.wrong = null;
      judge.wrong.fill(0);
      return;
    }
    this.wrong = judge.count(simulation.picture, simulation.grids[1]);
  }

  /** Take steps, the last one separately if it is compared with the state before it. */
  advance(steps) {
    const last = this.judge.needsStep && steps > 1 ? 1 : 0;
    const began = performance.now();
    if (steps - last) this.simulation.run(steps - last);
    if (last) this.simulation.run(last);
    const spent = Math.max(0.0005, (performance.now() - began) / steps);
    this.msPerStep = this.msPerStep ? 0.7 * this.msPerStep + 0.3 * spent : spent;
    this.count(true);
    this.changed("steps");
  }

  touch(y, x, size, brush, channels) {
    this.simulation.paint(y, x, size, brush, channels);
    this.refresh("touch");
  }

  play() {
    if (this.playing) return;
    this.playing = true;
    this.credit = 1;
    this.since = this.rateSince = performance.now();
    this.rateSteps = this.simulation.step;
    requestAnimationFrame((now) => this.frame(now));
  }

  pause() {
    this.playing = false;
  }

  frame(now) {
    if (!this.playing) return;
    const seconds = Math.max(0, Math.min(LONGEST_PAUSE, (now - this.since) / 1000));
    this.since = now;
    this.credit = Math.min(this.credit + seconds * this.stepsPerSecond, 1e6);
    let steps = Math.floor(this.credit);
    const affordable = this.msPerStep ? Math.floor(FRAME_MS / this.msPerStep) : 1;
    if (steps > affordable) {
      steps = Math.max(1, affordable);
      this.credit = steps;
    }
    const left = this.pauseAt === null ? Infinity : this.pauseAt - this.simulation.step;
    if (left > 0) steps = Math.min(steps, left);
    if (steps > 0) this.takeTimed(steps);
    if (this.simulation.ended || (steps > 0 && steps === left)) {
      this.pause();
      this.changed("paused");
      return;
    }
    requestAnimationFrame((next) => this.frame(next));
  }

  takeTimed(steps) {
    this.credit -= steps;
    this.advance(steps);
    const now = performance.now();
    if (now - this.rateSince < RATE_MS) return;
    const taken = this.simulation.step - this.rateSteps;
    this.rate = (1000 * taken * this.simulation.geometry.cells) / (now - this.rateSince);
    this.rateSince = now;
    this.rateSteps = this.simulation.step;
  }
}
