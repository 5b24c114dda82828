"""How fast the gallery's pages run in Chromium: the table of docs/seeing.md.

python -m tests.difflogic.reports.measure_page [SECONDS]
"""

from __future__ import annotations

import statistics
import sys
import time

from tests.difflogic.reports.browser import chromium
from tests.difflogic.reports.pages import EXPERIMENTS, GALLERY

SIDES = (256, 1024)
ROUNDS = 3

COUNT = """
window.frames_seen = 0;
(function seen() { window.frames_seen++; requestAnimationFrame(seen); })();
"""


def measure(window, side, seconds):
    """Frames per second, and cell updates per second, at full speed."""
    window.set("#size", f"{side}x{side}")
    window.set("#speed", 1)
    window.js("document.querySelector('#pause-at').checked = false; dct.player.pauseAt = null")
    window.js("dct.player.play()")
    time.sleep(1)  # until the compiler has seen what is hot
    found = []
    for _ in range(ROUNDS):
        ask = "return [window.frames_seen, dct.simulation.step, performance.now()]"
        before = window.js(ask)
        time.sleep(seconds)
        frames, steps, passed = (b - a for a, b in zip(before, window.js(ask), strict=True))
        found.append((1000 * frames / passed, 1000 * steps * side**2 / passed))
    window.js("dct.player.pause()")
    return [statistics.median(values) for values in zip(*found, strict=True)]


def main(seconds=2.0):
    """Print the table."""
    heads = [f"{side}²: frames/s | {side}²: cells/s" for side in SIDES]
    print("| page | kB |", " | ".join(heads), "| 256², JavaScript: cells/s |")
    print("|---" * (3 + 2 * len(SIDES)) + "|")
    with chromium() as window:
        for name in EXPERIMENTS:
            path = GALLERY / f"{name}.html"
            window.open(path)
            window.js(COUNT)
            cells = [f"{path.stat().st_size / 1000:.0f}"]
            for side in SIDES:
                frames, rate = measure(window, side, seconds)
                cells += [f"{frames:.0f}", f"{rate / 1e6:.0f} M"]
            window.set("#engine", "JavaScript")
            cells.append(f"{measure(window, SIDES[0], seconds)[1] / 1e6:.1f} M")
            print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
