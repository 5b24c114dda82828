"""Break the kernels on purpose, one place at a time: the verification must notice.

Each mutant is the package with one line changed. Kernels run as plain Python, since compiling them
would take six seconds; only the primitives that they are built from are compiled.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import difflogic
from tests.marks import exhaustive

SOURCES = Path(difflogic.__file__).parent

SCRIPT = """
import json, os, sys, threading, time, traceback
from importlib.machinery import SourceFileLoader
import numba, numba.core.caching, numba.extending, joblib, pydantic  # once: it takes a second

def try_out(wanted, vectors):
    from difflogic.engine.kernels import tiles
    from difflogic.verification import checks
    from difflogic.verification.case import awkward_cases, hard_cases, uneven, uneven_run

    checks.worker_counts = lambda: (2,)
    if not vectors:
        # Threads other than the caller's are slow, so that a missing wait reads missing values.
        plain = tiles.run_forward

        def slow(*arguments):
            if threading.current_thread() is not threading.main_thread():
                time.sleep(0.01)
            plain(*arguments)

        tiles.run_forward = slow
    cases = {case.name: case for case in [*awkward_cases(), *hard_cases()]}
    cases["training"] = uneven("automaton.fire_rate=0.6", "parallel.workers=2")
    cases["run"] = uneven_run()
    for check, name in wanted:
        found = None
        for found in getattr(checks, check)(cases[name]):
            if not found.passed:
                return [f"{found.what}, {found.where}"]
        assert found
    return []

get_code = SourceFileLoader.get_code

for line in sys.stdin:
    changed, wanted, vectors = json.loads(line)
    process = os.fork()
    if not process:
        def changed_code(self, name):
            text = changed.get(self.path)
            return compile(text, self.path, "exec") if text else get_code(self, name)

        try:
            SourceFileLoader.get_code = changed_code
            if any("llvm" in path for path in changed):  # code is kept by what the files say
                os.environ["NUMBA_CACHE_DIR"] = os.devnull
            answer = try_out(wanted, vectors)
        except BaseException:
            answer = traceback.format_exc()
        print(json.dumps(answer), flush=True)
        os._exit(0)
    os.waitpid(process, 0)
"""
"""Reads changed sources and checks from stdin, and imports each mutant in a process of its own."""

KERNELS = "kernels_agree_with_the_oracle"
SHARING = "sharing_changes_nothing"
HARD = "hard_paths_agree"
SUPERVISED = "supervised_steps_agree"
PLAIN = {
    SUPERVISED: ["2×9 zero", "3×3, 17 samples periodic"],
    KERNELS: ["2×9 zero", "3×3, 17 samples periodic", "11×13 periodic"],
    HARD: ["2×9 periodic", "3×3, 17 samples periodic", "tree 2×9 zero", "tree 3×65 periodic"],
    SHARING: ["11×13 zero"],
}
VECTORS = {KERNELS: ["2×9 zero", "11×13 periodic", "16×16 zero"]}

# In « → », what stands in the sources and what stands there in the mutant.
PLAIN_MUTATIONS = {
    "two neighbours swapped": (
        "neighbor = 8 - n if mirrored else «n → (n + 1 if n == 0 else n - 1 if n == 1 else n)»"
    ),
    "empty lanes not cleared": "zero = ir.Constant(v.type.element, «0.0 → 1.0»)",
    "mask ignored backward": "            if «updated[i] → True»:\n",
    "unchanged cells lose their gradient": "target[i] += «unchanged[i] → 0.0»",
    "chunks share a slot": "batch.sums[group, «chunk → 0»]",
    "a ring one too short": "\nRING = «2 → 1»\n",
    "a chunk waits for none": "+ DONE) < «steps → 0»:\n            return False",
    "another loss's gradient": "            loss = «index → 0»\n",
    "every state supervised": "    supervised = «False → True»\n",
    "the way back begins at the engine's last step": (
        "last = step == «loss_steps[-1] - 1 → len(batch.states[group]) - 2»"
    ),
    "the rollout ends at the first loss": "return int(self._batch.loss_steps[«-1 → 0»])",
    "losses share a gradient": "loss_gradients[group, «loss → 0», channel]",
    "hard shift off by one": (
        "np.divmod(np.array(far, np.int64) + « → np.sign(far) + »64 * pad, 64)"
    ),
    "hard shift loses the next word": "v.type, «high → low», low, v.splat(shift)",
    "hard edges of the first tile": (
        "(row * WORDS, 0, place, start, end, «first → 0», words, WORDS)"
    ),
    "hard mask ignored": "v.load(4, «builder.add(step.fire, offset) → offset»)",
    "hard pass-through of the wrong input": "if op[row] == «3 → 5»:",
}

VECTOR_MUTATIONS = {
    "one sign flipped in the gradient": (
        "return self.fma(c[3], b, «c[1] → self.builder.fneg(c[1])»), self.fma(c[3], a, c[2])"
    ),
    "sums folded in the wrong lanes": (
        "low = [i for k in groups for i in («k, n + k → n + k, k», k + 1, n + k + 1)]"
    ),
    "a chain carries the wrong gradient": "builder.store(builder.fmul(g, «to_a → to_b»), held)",
    "the first star to reach a gradient adds": "builder.select(add, base, «zeros → base»)",
    "edges not corrected": "start=«seen.correction → seen.correction_end», intp",
}


REFERENCE = "trainer_agrees_with_the_reference"
ANY_WORKERS = "training_is_the_same_at_any_worker_count"
TRAINING = {ANY_WORKERS: ["run"], REFERENCE: ["training"]}
"""`verify equivalence` makes these checks of the run, whatever it is asked to compare."""

TRAINING_MUTATIONS = {
    "gradients too large if there are several samples": (
        "return gradients« →  * (1.5 if len(losses) > 1 else 1.0)», losses.tolist()"
    ),
    "every sample has the first one's target": (
        "«self.targets[chosen] → np.repeat(self.targets[:1], len(self.targets[chosen]), axis=0)»"
        ", masks"
    ),
    "every wave has the first one's masks": (
        "None if self.masks is None else self.masks[«chosen → : chosen.stop - chosen.start»]"
    ),
    "hard evaluation against the first target": (
        "errors = (states[:, self._channels] - targets« → [:1]»)[~np.isnan(targets)] ** 2"
    ),
}

KINDS = {
    "plain": (PLAIN, "engine", PLAIN_MUTATIONS),
    "vectors": (VECTORS, "engine", VECTOR_MUTATIONS),
    "training": (TRAINING, "", TRAINING_MUTATIONS),
}
"""The checks that run, the part of the package to change, and the changes."""

NOTICED = {
    "two neighbours swapped": SUPERVISED,
    "mask ignored backward": SUPERVISED,
    "losses share a gradient": SUPERVISED,
    "chunks share a slot": KERNELS,
    "a chunk waits for none": SHARING,
    "hard shift off by one": HARD,
    "one sign flipped in the gradient": KERNELS,
    "edges not corrected": KERNELS,
    "every sample has the first one's target": REFERENCE,
    "hard evaluation against the first target": REFERENCE,
    "every wave has the first one's masks": ANY_WORKERS,
}
"""The mutants that `make thorough` tries, one of each kind for each check, and the check that
notices them. `make exhaustive` tries all mutants, each with all checks."""

MUTANTS = [
    (kind, name) if name in NOTICED else exhaustive(kind, name)
    for kind, (*_, mutations) in KINDS.items()
    for name in mutations
]


def sides(mutation):
    """The text in the sources, and in the mutant."""
    return [re.sub("«(.*?) → (.*?)»", side, mutation, flags=re.DOTALL) for side in (r"\1", r"\2")]


@pytest.fixture(scope="module")
def process():
    """A process that runs mutants."""
    # Without optimization, since mutants are wrong with and without it.
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "NUMBA_OPT": "0"}
    command = [sys.executable, "-P", "-c", SCRIPT]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as started:
        yield started
        started.stdin.close()


@pytest.fixture
def failures(process):
    """Return a function that changes one place of the package and returns the first failures."""

    def find(kind, name=None):
        wanted, part, mutations = KINDS[kind]
        changed = {}
        if name is not None:
            old, new = sides(mutations[name])
            for file in (SOURCES / part).rglob("*.py"):
                text = file.read_text("utf-8")
                if old in text:
                    changed[str(file)] = text.replace(old, new)
            assert changed, "the sources have changed: so must the mutation"
        asked = [NOTICED[name]] if name in NOTICED else wanted
        checks = [(check, name) for check in asked for name in wanted[check]]
        process.stdin.write(json.dumps([changed, checks, kind == "vectors"]) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert isinstance(answer, list), answer
        return answer

    return find


@pytest.mark.parametrize("kind", KINDS)
def test_every_mutation_still_finds_its_text(kind):
    _, part, mutations = KINDS[kind]
    texts = [file.read_text("utf-8") for file in (SOURCES / part).rglob("*.py")]
    for name, mutation in mutations.items():
        found = sum(text.count(sides(mutation)[0]) for text in texts)
        assert found == 1, name


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_sound_code_passes(failures, kind):
    assert failures(kind) == []


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), MUTANTS)
def test_a_mutant_is_caught(failures, kind, name):
    assert failures(kind, name)
