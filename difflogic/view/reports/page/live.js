// A living run's news, from the server that made the page.

/** Call `update` with what has changed, and show `last().gone` once nothing comes any more. */
export function follow(gone, update, last) {
  const events = new EventSource("events");
  events.addEventListener("message", (event) => update(JSON.parse(event.data)));
  events.addEventListener("open", () => {
    gone.hidden = true;
  });
  events.addEventListener("error", () => {
    gone.textContent = last().gone;
    gone.hidden = false;
  });
}
