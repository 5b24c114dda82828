// Which cells are wrong: compared with a picture, a checkerboard, or the rule of a game of life.

/** How many bits of a word are 1. */
export function popcount(word) {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export class Judge {
  /** `target` is the report's description; `channels` are the places of the visible channels. */
  constructor(target, channels) {
    this.target = target;
    this.channels = channels;
    /** Whether it has to see the state one step before. */
    this.needsStep = target?.kind === "life";
    this.geometry = null;
  }

  /** Get ready for a grid; returns whether there is a target for it. */
  prepare(geometry) {
    this.geometry = geometry;
    this.wrong = new Uint32Array(geometry.height * 2 * geometry.words);
    this.goal = null;
    if (!this.target) return false;
    if (this.needsStep) return true;
    if (this.target.kind === "picture") return this.preparePicture();
    const { square } = this.target;
    this.fill(this.channels.length, 0, 0, geometry.height, geometry.width, (_, y, x) =>
      (Math.floor(y / square) + Math.floor(x / square)) % 2,
    );
    return true;
  }

  /** The picture stands in the middle, as in training; one that leans on the edges has one size. */
  preparePicture() {
    const { height, width, rows, anywhere } = this.target;
    const g = this.geometry;
    const same = height === g.height && width === g.width;
    if (height > g.height || width > g.width || (!same && !anywhere)) return false;
    const top = (g.height >> 1) - (height >> 1), left = (g.width >> 1) - (width >> 1);
    this.fill(rows.length, top, left, height, width, (channel, y, x) =>
      Number(rows[channel][y * width + x]),
    );
    return true;
  }

  fill(channels, top, left, height, width, bit) {
    const rowWords = 2 * this.geometry.words;
    this.goal = Array.from({ length: channels }, () => new Uint32Array(this.wrong.length));
    this.goal.forEach((words, channel) => {
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) {
          const at = left + x;
          words[(top + y) * rowWords + (at >>> 5)] |= bit(channel, y, x) << (at & 31);
        }
      }
    });
  }

  /** Mark the wrong cells of `grid`, which follows `before`; returns how many there are. */
  count(grid, before) {
    const g = this.geometry;
    const rowWords = 2 * g.words;
    const past = g.width & 31;
    const lastWord = (g.width - 1) >>> 5;
    let total = 0;
    for (let y = 0; y < g.height; y++) {
      for (let word = 0; word < rowWords; word++) {
        const at = y * rowWords + word;
        let wrong = word > lastWord ? 0 : this.differing(grid, before, y, word, at);
        if (word === lastWord && past) wrong &= (1 << past) - 1;
        this.wrong[at] = wrong;
        total += popcount(wrong);
      }
    }
    return total;
  }

  differing(grid, before, y, word, at) {
    if (this.needsStep) {
      const now = grid.words[grid.start(y, this.channels[0]) + word];
      return now ^ lifeWord(before, this.channels[0], y, word, this.target);
    }
    let wrong = 0;
    this.channels.forEach((channel, place) => {
      wrong |= grid.words[grid.start(y, channel) + word] ^ this.goal[place][at];
    });
    return wrong;
  }

  isWrong(y, x) {
    return (this.wrong[y * 2 * this.geometry.words + (x >>> 5)] >>> (x & 31)) & 1;
  }
}

/** The next state of 32 cells by a rule of birth and survival, their neighbours added bit by bit. */
function lifeWord(grid, channel, y, word, { born, survive }) {
  const g = grid.geometry;
  let ones = 0, twos = 0, fours = 0, eights = 0;
  let alive = 0;
  for (let dy = -1; dy <= 1; dy++) {
    const at = grid.start(g.rowAt(y + dy), channel) + word;
    const here = grid.words[at];
    const left = (here << 1) | (grid.words[at - 1] >>> 31);
    const right = (here >>> 1) | (grid.words[at + 1] << 31);
    if (dy === 0) alive = here;
    for (const seen of dy === 0 ? [left, right] : [left, here, right]) {
      const carry = ones & seen;
      const carried = twos & carry;
      eights |= fours & carried;
      fours ^= carried;
      twos ^= carry;
      ones ^= seen;
    }
  }
  const counted = (number) =>
    (number & 1 ? ones : ~ones) & (number & 2 ? twos : ~twos) &
    (number & 4 ? fours : ~fours) & (number & 8 ? eights : ~eights);
  const any = (numbers) => numbers.reduce((found, number) => found | counted(number), 0);
  return (alive & any(survive)) | (~alive & any(born));
}
