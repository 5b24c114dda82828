// A living run's news, from the server that made the page.

const ASK_MS = 500;
const SLOWEST_MS = 30000;
const PATIENCE = 4; // questions without an answer until the page says so
const MOST_MISSED = 20; // and until it asks no more, after some six minutes

/** Ask for what has changed and call `update` with it, or `lost` once nobody has answered for a while. */
export async function follow(update, lost) {
  for (let number = 0, missed = 0; missed < MOST_MISSED; ) {
    const answer = await fetch(`news?${number}`, { signal: AbortSignal.timeout(SLOWEST_MS) }).then((found) => found.json()).catch(() => null);
    missed = answer ? 0 : missed + 1;
    if (missed >= PATIENCE) number = 0; // to be told everything when somebody answers again
    if (missed === PATIENCE) lost();
    if (answer && answer.number !== number) {
      number = answer.number;
      update(answer);
    }
    await new Promise((later) => setTimeout(later, Math.min(SLOWEST_MS, ASK_MS * 2 ** Math.max(0, missed - PATIENCE))));
  }
}
