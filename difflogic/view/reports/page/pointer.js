// The brush and the cell in view, by mouse, touch and keyboard.

export class Pointer {
  /** `actions` are paint(y, x), look(cell or null), and key(name). */
  constructor(screen, actions) {
    Object.assign(this, { screen, actions });
    this.size = 5;
    this.cell = null;
    this.last = null;
    const { canvas } = screen;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", () => this.up());
    canvas.addEventListener("pointercancel", () => this.up());
    canvas.addEventListener("pointerleave", () => screen.outlineBrush(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  down(event) {
    if (event.button !== 0) return;
    this.screen.canvas.setPointerCapture(event.pointerId);
    this.last = null;
    this.strokeTo(this.screen.cellAt(event));
  }

  move(event) {
    const cell = this.screen.cellAt(event);
    this.look(cell);
    this.screen.outlineBrush(cell, this.size);
    if (event.buttons & 1 && this.last) this.strokeTo(cell);
  }

  up() {
    this.last = null;
  }

  /** Paint along the line from the last place, so that fast strokes have no gaps. */
  strokeTo(cell) {
    const from = this.last ?? cell;
    if (this.last && from[0] === cell[0] && from[1] === cell[1]) return;
    const distance = Math.max(Math.abs(cell[0] - from[0]), Math.abs(cell[1] - from[1]));
    const pace = Math.max(1, this.size >> 1);
    const dabs = Math.max(1, Math.ceil(distance / pace));
    for (let dab = this.last ? 1 : dabs; dab <= dabs; dab++) {
      const at = (axis) => Math.round(from[axis] + ((cell[axis] - from[axis]) * dab) / dabs);
      this.actions.paint(at(0), at(1));
    }
    this.last = cell;
    this.look(cell);
  }

  look(cell) {
    this.cell = cell;
    this.screen.point(cell);
    this.actions.look(cell);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { height, width } = this.screen.canvas;
    const [y, x] = this.cell ?? [height >> 1, width >> 1];
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (move) {
      const clamp = (value, end) => Math.max(0, Math.min(end - 1, value));
      this.look(this.cell ? [clamp(y + move[0], height), clamp(x + move[1], width)] : [y, x]);
      this.screen.outlineBrush(this.cell, this.size);
    } else if (event.key === " ") {
      this.look([y, x]);
      this.actions.paint(y, x);
    } else if (!this.actions.key(event.key.toLowerCase())) return;
    event.preventDefault();
  }
}
