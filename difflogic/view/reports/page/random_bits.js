// Random bits, 64 at a time, as in difflogic/simulation/random_bits.py: a word is a hash of its key
// plus a counter (SplitMix64; Steele, Lea and Flood 2014). Numbers of 64 bits are pairs of 32, low
// and high, since BigInt is far too slow for a mask per step.

const GOLDEN = [0x7f4a7c15, 0x9e3779b9];
const FIRST_FACTOR = [0x1ce4e5b9, 0xbf58476d];
const SECOND_FACTOR = [0x133111eb, 0x94d049bb];

export const USE = { START: 0, FIRE: 1, BRUSH: 2 };

// The result of the last `multiply`, `add` or `mix`.
let low = 0;
let high = 0;

function multiply(aLow, aHigh, [bLow, bHigh]) {
  const a0 = aLow & 0xffff, a1 = aLow >>> 16;
  const b0 = bLow & 0xffff, b1 = bLow >>> 16;
  const middle = a1 * b0 + Math.floor((a0 * b0) / 65536);
  const carried = (middle % 65536) + a0 * b1;
  const upper = a1 * b1 + Math.floor(middle / 65536) + Math.floor(carried / 65536);
  low = Math.imul(aLow, bLow) >>> 0;
  high = (upper + Math.imul(aHigh, bLow) + Math.imul(aLow, bHigh)) >>> 0;
}

function add(aLow, aHigh, bLow, bHigh) {
  const sum = (aLow >>> 0) + (bLow >>> 0);
  low = sum >>> 0;
  high = (aHigh + bHigh + (sum > 0xffffffff ? 1 : 0)) >>> 0;
}

function foldRight(bits) {
  const shiftedLow = (low >>> bits) | (high << (32 - bits));
  high = (high ^ (high >>> bits)) >>> 0;
  low = (low ^ shiftedLow) >>> 0;
}

function mix() {
  foldRight(30);
  multiply(low, high, FIRST_FACTOR);
  foldRight(27);
  multiply(low, high, SECOND_FACTOR);
  foldRight(31);
}

/** The key [low, high] of stream `number` below the stream of `key`. */
export function childKey(key, number) {
  add(number >>> 0, Math.floor(number / 2 ** 32), 1, 0);
  multiply(low, high, GOLDEN);
  add(low, high, key[0], key[1]);
  mix();
  return [low, high];
}

/** The key of all random bits for one use. `seed` is a whole number from 0 to 2**53. */
export function streamKey(seed, use) {
  return childKey(childKey([0, 0], seed), use);
}

/** The binary digits of a probability as a fraction of 64 bits, [low, high]. */
export function threshold(probability) {
  const all = 2n ** 64n - 1n;
  const number = BigInt(Math.round(probability * 2 ** 64));
  const value = number > all ? all : number;
  return [Number(value & 0xffffffffn), Number(value >> 32n)];
}

/** The number of a threshold's digits up to its last 1. */
export function digits([thresholdLow, thresholdHigh]) {
  const lowest = (word) => 31 - Math.clz32(word & -word);
  if (thresholdLow) return 64 - lowest(thresholdLow);
  return thresholdHigh ? 32 - lowest(thresholdHigh) : 0;
}

/** Fill `words` pairs of `target`, from `first` on, with bits that are 1 with probability `limit`. */
export function fillBernoulli(target, first, words, key, limit) {
  const count = digits(limit);
  multiply(64, 0, GOLDEN);
  const stride = [low, high];
  let startLow = key[0], startHigh = key[1];
  for (let word = 0; word < words; word++) {
    let counterLow = startLow, counterHigh = startHigh;
    let resultLow = 0, resultHigh = 0, openLow = -1, openHigh = -1;
    for (let digit = 0; digit < count && (openLow | openHigh) !== 0; digit++) {
      low = counterLow;
      high = counterHigh;
      mix();
      const half = digit < 32 ? limit[1] : limit[0];
      const theirs = -((half >>> (31 - (digit & 31))) & 1);
      const differsLow = openLow & (low ^ theirs), differsHigh = openHigh & (high ^ theirs);
      resultLow |= differsLow & theirs;
      resultHigh |= differsHigh & theirs;
      openLow ^= differsLow;
      openHigh ^= differsHigh;
      add(counterLow, counterHigh, GOLDEN[0], GOLDEN[1]);
      counterLow = low;
      counterHigh = high;
    }
    target[first + 2 * word] = resultLow;
    target[first + 2 * word + 1] = resultHigh;
    add(startLow, startHigh, stride[0], stride[1]);
    startLow = low;
    startHigh = high;
  }
}
