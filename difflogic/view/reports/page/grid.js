// The state of all cells as bits, laid out as in difflogic/simulation/bit_grid.py: rows of words of
// 64 cells, a guard of one cache line before each row, and a ghost bit beyond each end of a row for
// the boundary's cell. Words of 64 bits are pairs of 32, low and high.

const LINE = 8;
const WORD = 64;

/** Decode base64 into an array of type `Kind`, such as Uint16Array. */
export function decode(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer);
}

export class Geometry {
  constructor(channels, height, width, periodic) {
    Object.assign(this, { channels, height, width, periodic });
    this.words = Math.ceil(width / WORD);
    this.stride = LINE * (1 + Math.ceil(this.words / LINE));
    this.rowStride = channels * this.stride;
    this.bytes = 8 * ((height + 1) * this.rowStride + LINE);
    this.lastBit = (width - 1) % WORD;
  }

  get cells() {
    return this.height * this.width;
  }

  /** The row from which a neighbour at y ± 1 is read; beyond a zero boundary the row of zeros. */
  rowAt(y) {
    if (y >= 0 && y < this.height) return y;
    if (!this.periodic) return this.height;
    return y < 0 ? this.height - 1 : 0;
  }
}

/** A grid at byte `address` of a memory. */
export class Grid {
  constructor(geometry, memory, address) {
    this.geometry = geometry;
    this.address = address;
    this.words = new Uint32Array(memory, address, geometry.bytes / 4);
  }

  /** The index in `words` of the first word of a channel's row. */
  start(y, channel) {
    const g = this.geometry;
    return 2 * (y * g.rowStride + channel * g.stride + LINE);
  }

  bit(channel, y, x) {
    return (this.words[this.start(y, channel) + (x >>> 5)] >>> (x & 31)) & 1;
  }

  /** Set a cell. Call `refreshEnds` for its row before the next step. */
  setBit(channel, y, x, value) {
    const at = this.start(y, channel) + (x >>> 5);
    const mask = 1 << (x & 31);
    this.words[at] = value ? this.words[at] | mask : this.words[at] & ~mask;
  }

  /** Set the ghost bits of a row after its cells have changed. */
  refreshEnds(y) {
    for (let channel = 0; channel < this.geometry.channels; channel++) {
      this.refreshChannelEnds(this.start(y, channel));
    }
  }

  refreshChannelEnds(first) {
    const { words, geometry: g } = this;
    const last = first + 2 * (g.words - 1);
    const lastHalf = last + (g.lastBit >>> 5);
    words[lastHalf] &= -1 >>> (31 - (g.lastBit & 31));
    for (let at = lastHalf + 1; at < last + 4; at++) words[at] = 0;
    const left = g.periodic ? (words[lastHalf] >>> (g.lastBit & 31)) & 1 : 0;
    const right = g.periodic ? words[first] & 1 : 0;
    words[first - 1] = left << 31;
    words[first + (g.width >>> 5)] |= right << (g.width & 31);
  }

  /** Whether all cells equal those of a grid of the same size. */
  equals(other) {
    const { height, channels, words } = this.geometry;
    for (let y = 0; y < height; y++) {
      for (let channel = 0; channel < channels; channel++) {
        const start = this.start(y, channel);
        for (let at = start; at < start + 2 * words; at++) if (this.words[at] !== other.words[at]) return false;
      }
    }
    return true;
  }

  clear() {
    this.words.fill(0);
  }
}
