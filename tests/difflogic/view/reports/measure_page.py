"""How fast the pages of `make gallery` run in Chromium: the table of docs/seeing.md.

python -m tests.difflogic.view.reports.measure_page [SECONDS]

Cells per second are printed twice: by the clock, and by the processor time of the pages' process,
which other work on the machine hardly affects. Linux only.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

from tests.difflogic.view.reports.browser import chromium
from tests.difflogic.view.reports.pages import EXPERIMENTS, GALLERY

SIDES = (256, 1024)
ROUNDS = 3

COUNT = """
window.frames_seen = 0;
(function seen() { window.frames_seen++; requestAnimationFrame(seen); })();
"""


def own_seconds(window):
    """Processor time of the processes that run pages, with all threads."""
    parents, ticks = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            command = (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended
        pid = int(stat.parent.name)
        parents[pid] = int(fields[1])
        if b"--type=renderer" in command:
            ticks[pid] = int(fields[11]) + int(fields[12])

    def is_ours(pid):
        return pid == driver or (pid in parents and is_ours(parents[pid]))

    driver = window.driver.service.process.pid
    return sum(ticks[pid] for pid in ticks if is_ours(pid)) / os.sysconf("SC_CLK_TCK")


def measure(window, side, seconds):
    """Frames per second at full speed, and cell updates per second of the clock and of own time."""
    window.set("#size", f"{side}x{side}")
    window.set("#speed", 1)
    window.js("document.querySelector('#pause-at').checked = false; dct.player.pauseAt = null")
    window.js("dct.player.play()")
    time.sleep(1)  # until the compiler has warmed up
    found = []
    for _ in range(ROUNDS):
        ask = "return [window.frames_seen, dct.simulation.step, performance.now()]"
        before, spent = window.js(ask), own_seconds(window)
        time.sleep(seconds)
        after, spent = window.js(ask), own_seconds(window) - spent
        frames, steps, passed = (b - a for a, b in zip(before, after, strict=True))
        cells = steps * side**2
        found.append((1000 * frames / passed, 1000 * cells / passed, cells / max(spent, 0.01)))
    window.js("dct.player.pause()")
    return [statistics.median(values) for values in zip(*found, strict=True)]


def main(seconds=2.0):
    """Print the table."""
    heads = [f"{side}²: frames/s | cells/s | of own time" for side in SIDES]
    print("| page | kB |", " | ".join(heads), "| 256², JavaScript: of own time |")
    print("|---" * (3 + 3 * len(SIDES)) + "|")
    with chromium() as window:
        for name in EXPERIMENTS:
            path = GALLERY / f"{name}.html"
            window.open(path)
            window.js(COUNT)
            cells = [f"{path.stat().st_size / 1000:.0f}"]
            for side in SIDES:
                frames, *rates = measure(window, side, seconds)
                cells += [f"{frames:.0f}", *(f"{rate / 1e6:.0f} M" for rate in rates)]
            window.set("#engine", "JavaScript")
            cells.append(f"{measure(window, SIDES[0], seconds)[2] / 1e6:.1f} M")
            print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
