// Encodes frames as a GIF: reads {page, frames, width, height, hundredths} on stdin, with colours as
// numbers and red in the lowest byte, and prints the file in base64.
import { readFileSync } from "node:fs";

const { page, frames, width, height, hundredths } = JSON.parse(readFileSync(0));
const { Film } = await import(`${page}/gif.js`);
const film = new Film();
for (const frame of frames) film.add(Uint32Array.from(frame), width, height);
console.log(JSON.stringify(Buffer.from(film.gif(hundredths)).toString("base64")));
