// Which cells are wrong: compared with a picture, a checkerboard, or a rule of life.

/** The number of ones in a word. */
export function popcount(word) {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export class Judge {
  /** `target` comes from the report; `channels` are the places of the visible channels. */
  constructor(target, channels) {
    this.target = target;
    this.channels = channels;
    this.needsStep = target?.kind === "life"; // it compares with the state before
    this.geometry = null;
  }

  /** Prepare for a grid; return whether there is a target for it. */
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

  /** The picture is in the middle, as in training. One that depends on the edges has one size. */
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

  /** Mark the wrong cells of `grid`, which follows `before`; return their number. */
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
}

/** The next state of 32 cells by a rule of birth and survival. Neighbours are added bit by bit. */
function lifeWord(grid, channel, y, word, { born, survive, around = [0, 1, 2, 3, 5, 6, 7, 8] }) {
  const { words, geometry: g } = grid;
  const [above, here, below] = [g.rowAt(y - 1), y, g.rowAt(y + 1)].map((row) => grid.start(row, channel) + word);
  const alive = words[here];
  let ones = 0, twos = 0, fours = 0, eights = 0;
  const nine = [above, here, below].flatMap((row) => [westOf(words, row), words[row], eastOf(words, row)]);
  for (const number of around) {
    const cells = nine[number];
    const two = ones & cells, four = twos & two;
    ones ^= cells;
    twos ^= two;
    eights |= fours & four;
    fours ^= four;
  }
  let next = 0;
  for (let number = 0; number <= 8; number++) {
    const counted =
      (number & 1 ? ones : ~ones) & (number & 2 ? twos : ~twos) &
      (number & 4 ? fours : ~fours) & (number & 8 ? eights : ~eights);
    if (born.includes(number)) next |= ~alive & counted;
    if (survive.includes(number)) next |= alive & counted;
  }
  return next;
}

function westOf(words, at) {
  return (words[at] << 1) | (words[at - 1] >>> 31);
}

function eastOf(words, at) {
  return (words[at] >>> 1) | (words[at + 1] << 31);
}
