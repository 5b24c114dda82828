"""Makes episodes like CellARC's (arXiv 2511.07908) by its generator, and rates predictions.

    pip install cellarc
    python docs/notebook/episodes.py make 7100 episodes
    python docs/notebook/episodes.py rate episodes/interpolation.jsonl episodes/extrapolation.jsonl

`make` needs cellarc, but not JAX: rules are run by NumPy. It draws a pool, keeps what CellARC's
pipeline keeps, weights numbers of states, families and steps as published, and takes two sets:
`extrapolation`, whose queries' neighbourhoods the pairs show least, and `interpolation`, at random.
`rate` needs dct, and reads the published JSON lines, too; `leave-out` also rates without a family.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

EPISODES, POOL = 300, 16_000
PUBLISHED: dict[str, dict[Any, int]] = {
    "alphabet_size": {2: 14334, 3: 17548, 4: 28317, 5: 25094, 6: 17707},
    "steps": {1: 97808, 2: 5125, 3: 67},
    "family": {
        "linear_mod_k": 793,
        "outer_inner_totalistic": 19382,
        "outer_totalistic": 19326,
        "random": 28109,
        "threshold": 10164,
        "totalistic": 25226,
    },
}
"""Episodes of each kind in the published set of 103 000."""
LINES, GAPS = ("line-1", "line-2", "line-3"), (1, 2, 3)
NAMES = {
    "random": ("none",),
    "totalistic": ("totalistic",),
    "outer_totalistic": ("outer-sum", "outer-totalistic"),
    "outer_inner_totalistic": ("outer-sum", "outer-totalistic"),
    "threshold": ("threshold",),
    "linear_mod_k": ("linear",),
}
"""What dct calls the generator's families."""


class Runner:
    """Runs a rule on a ring, as cellarc's runner does with JAX."""

    def __init__(self, *, alphabet_size: int, radius: int, table: Any, rng_seed: int = 0) -> None:
        self.states, self.radius = alphabet_size, radius
        self.table = np.array(table.values_view())

    def evolve(self, start: Any, *, timesteps: int, return_history: bool = False) -> Any:
        rows = [np.array(start)]
        for _ in range(timesteps - 1):
            ring = np.pad(rows[-1], self.radius, "wrap")
            places = self.states ** np.arange(2 * self.radius + 1)[::-1]
            around = np.lib.stride_tricks.sliding_window_view(ring, len(places))
            rows.append(self.table[around @ places].astype(np.int64))
        return np.stack(rows) if return_history else rows[-1]


def sampler() -> Any:
    """Return cellarc's function that draws an episode."""
    module: Any = ModuleType("cellarc.generation.cax_runner")
    module.AutomatonRunner, module.random_state = Runner, None

    def evolve_rule_table(table: Any, start: Any, *, timesteps: int, **settings: Any) -> Any:
        history = settings.pop("return_history", False)
        return Runner(table=table, **settings).evolve(
            start, timesteps=timesteps, return_history=history
        )

    module.evolve_rule_table = evolve_rule_table
    sys.modules[module.__name__] = module
    from cellarc.generation.sampling import sample_task

    return sample_task


def keeps(episode: dict[str, Any]) -> bool:
    """Whether CellARC's pipeline keeps an episode."""
    pairs = [(each["input"], each["output"]) for each in episode["train"]]
    length = sum(len(row) for pair in pairs for row in pair) + 2 * len(episode["query"])
    known = [episode["query"], *(after for _, after in pairs)]
    return (
        length <= 256
        and episode["solution"] not in known
        and all(before != after for before, after in pairs)
        and len({str(pair) for pair in pairs}) == len(pairs)
    )


def windows(row: list[int], width: int, wrap: bool) -> list[tuple[int, ...]]:
    half = width // 2
    places = range(len(row)) if wrap else range(half, len(row) - half)
    return [tuple(row[(x + d) % len(row)] for d in range(-half, half + 1)) for x in places]


def covered(episode: dict[str, Any]) -> float:
    """Return the share of the query's neighbourhoods, which wrap, that the pairs show."""
    width = episode["meta"]["window"]
    seen = {each for p in episode["train"] for each in windows(p["input"], width, False)}
    return float(np.mean([each in seen for each in windows(episode["query"], width, True)]))


def weights(pool: list[dict[str, Any]]) -> np.ndarray:
    """Return weights that give the pool the published numbers of each kind."""
    found = np.ones(len(pool))
    kinds = {key: np.array([str(e["meta"][key]) for e in pool]) for key in PUBLISHED}
    for _ in range(50):
        for key, counts in PUBLISHED.items():
            for value, count in counts.items():
                here = kinds[key] == str(value)
                found[here] *= count / max(found[here].sum(), 1e-9)
    return found / found.sum()


def make(seed: int, folder: Path) -> None:
    sample_task, rng = sampler(), random.Random(seed)
    mix = dict.fromkeys(PUBLISHED["family"], 1.0)
    pool, known = [], set()
    while len(pool) < POOL:
        episode = sample_task(
            rng,
            max_steps=4,
            train_examples=5,
            target_avg_train_len=64,
            family_mix=mix,
            coverage_fraction=rng.uniform(0.05, 0.95 if rng.random() < 0.9 else 0.25),
            coverage_mode=rng.choice(["chunked", "uniform"]),
            construction=rng.choice(["cycle", "unrolled", "hybrid"]),
            unroll_tau_max=16,
            annotate_morphology=False,
            compute_complexity=False,
            include_rule_table=False,
        )
        mark = episode["meta"]["fingerprint"]
        if keeps(episode) and mark not in known:
            known.add(mark)
            pool.append(episode)
    draw = np.random.default_rng(seed)
    kept = draw.choice(len(pool), len(pool), p=weights(pool))
    kept = np.unique(kept)
    order = sorted(kept, key=lambda i: (covered(pool[i]), pool[i]["meta"]["fingerprint"]))
    some = draw.permutation(order[EPISODES:])[:EPISODES]
    folder.mkdir(parents=True, exist_ok=True)
    for name, chosen in (("interpolation", some), ("extrapolation", order[:EPISODES])):
        lines = [json.dumps(pool[i]) + "\n" for i in chosen]
        (folder / f"{name}.jsonl").write_text("".join(lines))
        metas = [pool[i]["meta"] for i in chosen]
        print(name, len(order), *(Counter(m[k] for m in metas) for k in PUBLISHED))
        print(
            f"  coverage {np.mean([m['coverage']['fraction'] for m in metas]):.3f},",
            f"lambda {np.mean([m['lambda'] for m in metas]):.3f},",
            f"cells {np.mean([len(pool[i]['query']) for i in chosen]):.2f}",
        )


def de_bruijn(episode: dict[str, Any]) -> np.ndarray:
    """Return what a table of the pairs' neighbourhoods predicts, given their width; else random."""
    meta, rng = episode["meta"], np.random.default_rng(0)
    table = {}
    for pair in episode["train"]:
        around = windows(pair["input"], meta["window"], False)
        half = meta["window"] // 2
        table |= dict(zip(around, pair["output"][half:-half], strict=True))
    asked = windows(episode["query"], meta["window"], True)
    guess = {each: rng.integers(meta["alphabet_size"]) for each in sorted(set(asked))}
    return np.array([table.get(each, guess[each]) for each in asked])


def rate(path: Path, without: list[str]) -> dict[str, Any]:
    """Predict all episodes of a file, print how often that is right, and return it."""
    from difflogic.identification import Space
    from difflogic.identification import likely as odds_of
    from difflogic.identification.families import families
    from difflogic.system.errors import ConfigError

    odds_of.families = lambda *kind: [each for each in families(*kind) if each.name not in without]

    right, whole, baseline, seconds, named, sure = [], [], [], [], [], []
    for line in path.read_text().splitlines():
        episode = json.loads(line)
        began = time.process_time()
        pairs = [
            (np.array([each["input"]]), np.array([each["output"]])) for each in episode["train"]
        ]
        query, solution = np.array([episode["query"]]), np.array(episode["solution"])
        states = 1 + max(int(each.max()) for pair in pairs for each in (*pair, query))
        best = None
        try:
            spaces = [Space(line, "none", max(2, states)) for line in LINES]
            likely = odds_of.weigh(pairs, spaces, GAPS)
            odds, best = likely.predict(query)[:, 0], likely.hypotheses[0].family
        except ConfigError:  # without the family, nothing explains the pairs
            after = np.concatenate([each[0] for _, each in pairs])
            odds = np.bincount(after, minlength=states)[:, None] / len(after) + 0 * query
        seconds.append(time.process_time() - began)
        hits = odds.argmax(axis=0) == solution
        right.append(hits.mean())
        whole.append(hits.all())
        baseline.append((de_bruijn(episode) == solution).mean())
        sure += zip(odds.max(axis=0), hits, strict=True)
        named.append(best in NAMES.get(episode["meta"].get("family"), ()))
    print(
        f"{path.stem}{' without ' + ', '.join(without) if without else ''}: "
        f"cells right {np.mean(right):.3f} (table of neighbourhoods {np.mean(baseline):.3f}), "
        f"rows right {np.mean(whole):.3f}, family named {np.mean(named):.3f}, "
        f"seconds: median {np.median(seconds):.3f}, mean {np.mean(seconds):.3f}, "
        f"most {max(seconds):.2f}"
    )
    return {"sure": np.array(sure), "right": right, "named": named, "seconds": seconds}


def calibration(sure: np.ndarray) -> None:
    """Print how many of the cells predicted with some probability are right."""
    for low in np.arange(0.9, 0.05, -0.1):
        here = (sure[:, 0] >= low - 1e-9) & (sure[:, 0] < low + 0.1 + (low > 0.85))
        if here.any():
            print(
                f"  predicted with {low:.0%} to {low + 0.1:.0%}: {here.sum()} cells, "
                f"mean {sure[here, 0].mean():.3f}, right {sure[here, 1].mean():.3f}"
            )


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        for name in sys.argv[2:]:
            calibration(rate(Path(name), [])["sure"])
            if sys.argv[1] == "leave-out":
                for family in ("none", "totalistic", "outer-sum", "threshold", "linear"):
                    rate(Path(name), [family])
