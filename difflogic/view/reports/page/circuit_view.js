// What the two ways to show a circuit have in common: a node that is chosen, also by the keyboard.

export class CircuitView {
  /** Show a Circuit in `container`; `chosen` is called with a node that is pointed at. */
  constructor(container, circuit, chosen) {
    Object.assign(this, { container, circuit, chosen, node: null });
    container.onkeydown = (event) => this.key(event);
  }

  /** Arrow keys go along the wires, and up and down within a column. */
  key(event) {
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const next = this.node === null ? 0 : this.beside(this.node, event.key);
    if (next === undefined) return;
    this.choose(next);
    this.reveal(next);
  }

  beside(node, key) {
    if (key === "ArrowLeft") return this.circuit.sources(node)[0];
    if (key === "ArrowRight") return this.circuit.readers[node][0];
    return this.inColumn(node, key === "ArrowUp" ? -1 : 1);
  }
}
