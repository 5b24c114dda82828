// A living run's news, from the server that made the page.

const ASK_MS = 500;

/** Ask for what has changed and call `update` with it; show `last().gone` while nobody answers. */
export async function follow(gone, update, last) {
  for (let number = 0; ; ) {
    const answer = await fetch(`news?${number}`).then((found) => found.json()).catch(() => null);
    gone.hidden = answer !== null;
    gone.textContent = last().gone;
    if (answer && answer.number !== number) {
      number = answer.number;
      update(answer);
    }
    await new Promise((later) => setTimeout(later, ASK_MS));
  }
}
