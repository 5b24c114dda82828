// Records the screen and encodes it as a GIF.

const MOST_FRAMES = 400;
const MOST_CELLS = 2 ** 16;
const SIDE = 320; // pixels of the longer side, about
const TABLE = 4096; // entries of a GIF's code table

export class Film {
  clear() {
    this.frames = [];
  }

  /** Add a frame of `pixels`, red in the lowest byte; drop the oldest if there are too many. */
  add(pixels, width, height) {
    if (this.width !== width || this.height !== height) this.clear();
    Object.assign(this, { width, height });
    if (pixels.length > MOST_CELLS) return;
    if (this.frames.length === MOST_FRAMES) this.frames.shift();
    this.frames.push(pixels.slice());
  }

  /** Return a GIF that repeats forever, with `hundredths` of a second per frame. */
  gif(hundredths) {
    const { width, height, frames } = this;
    const colors = new Map();
    for (const frame of frames) {
      for (const color of frame) if (colors.size < 256 && !colors.has(color)) colors.set(color, colors.size);
    }
    const bits = Math.max(2, Math.ceil(Math.log2(colors.size)));
    const scale = Math.max(1, Math.floor(SIDE / Math.max(width, height)));
    const short = (value) => [value & 255, value >> 8];
    const size = [...short(width * scale), ...short(height * scale)];
    const bytes = [...text("GIF89a"), ...size, 0xf0 | (bits - 1), 0, 0];
    const table = new Uint8Array(3 * 2 ** bits);
    for (const [color, at] of colors) table.set([color, color >> 8, color >> 16], 3 * at);
    bytes.push(...table, 0x21, 0xff, 11, ...text("NETSCAPE2.0"), 3, 1, 0, 0, 0);
    for (const frame of frames) {
      bytes.push(0x21, 0xf9, 4, 4, ...short(hundredths), 0, 0, 0x2c, 0, 0, 0, 0, ...size, 0, bits);
      const indices = new Uint8Array(width * height * scale * scale);
      for (let y = 0, at = 0; y < height * scale; y++) {
        const row = Math.floor(y / scale) * width;
        for (let x = 0; x < width * scale; x++) indices[at++] = colors.get(frame[row + Math.floor(x / scale)]) ?? 0;
      }
      const coded = compress(indices, bits);
      for (let from = 0; from < coded.length; from += 255) {
        const block = coded.slice(from, from + 255);
        bytes.push(block.length, ...block);
      }
      bytes.push(0);
    }
    return Uint8Array.from([...bytes, 0x3b]);
  }
}

function text(letters) {
  return Array.from(letters, (letter) => letter.charCodeAt(0));
}

/** GIF's LZW: codes grow from `bits` + 1 bits, and a full table is cleared. */
function compress(indices, bits) {
  const clear = 2 ** bits;
  const bytes = [];
  let held = 0, count = 0, width = bits + 1, next = clear + 2, codes = new Map();
  const put = (code) => {
    held |= code << count;
    for (count += width; count > 7; count -= 8, held >>>= 8) bytes.push(held & 255);
  };
  put(clear);
  let run = indices[0];
  for (let at = 1; at < indices.length; at++) {
    const key = run * 256 + indices[at];
    const known = codes.get(key);
    if (known !== undefined) {
      run = known;
      continue;
    }
    put(run);
    if (next === TABLE) {
      put(clear);
      [width, next, codes] = [bits + 1, clear + 2, new Map()];
    } else {
      if (next === 2 ** width) width++;
      codes.set(key, next++);
    }
    run = indices[at];
  }
  put(run);
  put(clear + 1);
  if (count) bytes.push(held & 255);
  return bytes;
}
