// Draws cells, one pixel each, and finds the cell under a pointer.

const RGB_LEVELS = [16, 236];

export class Screen {
  constructor(canvas, cursor, outline) {
    Object.assign(this, { canvas, cursor, outline });
    this.context = canvas.getContext("2d", { alpha: false });
  }

  /** Take over the size of a grid and the colours of the page. */
  fit(geometry) {
    const { height, width } = geometry;
    Object.assign(this.canvas, { height, width });
    this.canvas.style.aspectRatio = `${width} / ${height}`;
    this.canvas.parentElement.style.setProperty("--ratio", width / height);
    this.image = this.context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.readColors();
  }

  readColors() {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => parseColor(style.getPropertyValue(name).trim());
    this.colors = { zero: color("--cell-0"), one: color("--cell-1"), wrong: color("--wrong") };
  }

  /** Draw `channels`, by place, with marks on cells that `judge` finds wrong. */
  draw(grid, channels, judge) {
    const palette = this.palette(channels.length);
    const { height, width } = grid.geometry;
    const rowWords = 2 * grid.geometry.words;
    for (let y = 0; y < height; y++) {
      const starts = channels.map((channel) => grid.start(y, channel));
      for (let x = 0; x < width; x += 32) {
        const wrong = judge ? judge.wrong[y * rowWords + (x >>> 5)] : 0;
        this.drawWord(grid.words, starts, x, Math.min(32, width - x), y * width + x, wrong, palette);
      }
    }
    this.context.putImageData(this.image, 0, 0);
  }

  /** Draw up to 32 cells, one word of each channel. */
  drawWord(words, starts, x, cells, pixel, wrong, palette) {
    const { pixels } = this;
    const half = palette.length / 2;
    const counted = this.counts(starts.length);
    const at = x >>> 5;
    if (starts.length === 1) {
      const word = words[starts[0] + at];
      for (let bit = 0; bit < cells; bit++) {
        pixels[pixel + bit] = palette[((word >>> bit) & 1) + ((wrong >>> bit) & 1) * half];
      }
      return;
    }
    for (let bit = 0; bit < cells; bit++) {
      let index = ((wrong >>> bit) & 1) * half;
      for (let place = 0; place < starts.length; place++) {
        const value = (words[starts[place] + at] >>> bit) & 1;
        index += counted ? value : value << place;
      }
      pixels[pixel + bit] = palette[index];
    }
  }

  /** Whether a colour stands for the number of ones among this many channels. */
  counts(channels) {
    return channels > 3 && !this.hasNamed(channels);
  }

  /** Whether the automaton has its own palette for this number of channels. */
  hasNamed(channels) {
    return this.named?.length === 2 ** channels;
  }

  /** A colour for each value of the channels, then for each value in a wrong cell. */
  palette(channels) {
    const { zero, one, wrong } = this.colors;
    const named = this.hasNamed(channels);
    const values = this.counts(channels) ? channels + 1 : 2 ** channels;
    const right = Array.from({ length: values }, (_, value) => {
      if (named) return this.named[value];
      if (channels === 3) return [0, 1, 2].map((bit) => RGB_LEVELS[(value >> bit) & 1]);
      return blend(zero, one, value / (values - 1));
    });
    const marked = right.map((color) => blend(color, wrong, 0.72));
    return Uint32Array.from([...right, ...marked], ([r, g, b]) =>
      (255 << 24) | (b << 16) | (g << 8) | r,
    );
  }

  /** The cell under a pointer: [y, x]. */
  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const place = (at, from, length, cells) =>
      Math.max(0, Math.min(cells - 1, Math.floor(((at - from) / length) * cells)));
    return [
      place(event.clientY, box.top, box.height, this.canvas.height),
      place(event.clientX, box.left, box.width, this.canvas.width),
    ];
  }

  /** Frame the cell in view; null hides the frame. */
  point(cell) {
    this.frame(this.cursor, cell, 1);
  }

  /** Outline the cells under the brush. */
  outlineBrush(cell, size) {
    this.frame(this.outline, cell && [cell[0] - (size >> 1), cell[1] - (size >> 1)], size);
  }

  frame(element, cell, size) {
    element.hidden = !cell;
    if (!cell) return;
    const share = (value, cells) => `${(100 * value) / cells}%`;
    const { height, width } = this.canvas;
    Object.assign(element.style, {
      top: share(cell[0], height), left: share(cell[1], width),
      height: share(size, height), width: share(size, width),
    });
  }
}

/** Parse a colour such as #1c3454. */
function parseColor(text) {
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

function blend(from, to, share) {
  return from.map((value, part) => Math.round(value + share * (to[part] - value)));
}
