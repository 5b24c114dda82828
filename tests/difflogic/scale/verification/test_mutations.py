"""Break the kernels on purpose, one place at a time: the verification must notice.

Each mutant is the package with one line changed. It runs without the compiler, which would take six
seconds. Only mutants of the vector code compile, and only the functions that emit vectors.
"""

import compileall
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

import difflogic

SOURCES = Path(difflogic.__file__).parent


def runs_mutants(test):
    """Mark a test that runs mutants."""
    return pytest.mark.slow(pytest.mark.skipif(os.name != "posix", reason="forks")(test))


SCRIPT = """
import json, os, sys, threading, time, traceback
import numba, numba.core.caching, numba.extending, joblib, pydantic  # once: it takes a second

def compiled(primitive):
    def vectors(arrays, lanes):
        primitive(arrays, lanes)

    def moves(arrays, places, lanes):
        primitive(arrays, places, lanes)

    quick = {2: numba.njit(vectors), 3: numba.njit(moves)}

    def call(arrays, *numbers):
        *places, lanes = numbers
        places = [tuple(map(int, place)) for place in places]
        quick[1 + len(numbers)](arrays, *places, int(lanes))

    return call

def try_out(wanted, vectors):
    from difflogic.engine.kernels import tiles
    from difflogic.engine.kernels.llvm import moves, vectors as emitted
    from difflogic.scale.verification import checks
    from difflogic.scale.verification.cases import awkward_cases, hard_cases, uneven, uneven_run

    checks.worker_counts = lambda: (2,)
    if vectors:
        numba.config.DISABLE_JIT = 0
        kinds, ways = ("gates", "runs", "stars"), ("forward", "backward")
        gates = [f"{kind}_{way}" for kind in kinds for way in ways]
        for module, names in ((emitted, gates), (moves, ("rows_seen", "rows_left", "rows_added"))):
            for name in names:
                assert hasattr(tiles, name)
                setattr(tiles, name, compiled(getattr(module, name)))
    else:
        # Threads other than the caller's are slow, so that a missing wait reads missing values.
        plain = tiles.update

        def slow(*arguments):
            if threading.current_thread() is not threading.main_thread():
                time.sleep(0.01)
            plain(*arguments)

        tiles.update = slow
    cases = {case.name: case for case in [*awkward_cases(), *hard_cases()]}
    cases["training"] = uneven("automaton.fire_rate=0.6", "parallel.workers=2")
    cases["run"] = uneven_run()
    for check, name in wanted:
        found = list(getattr(checks, check)(cases[name]))
        assert found
        failed = [f"{f.what}, {f.where}" for f in found if not f.passed]
        if failed:
            return failed
    return []

for line in sys.stdin:
    directory, wanted, vectors = json.loads(line)
    process = os.fork()
    if not process:
        try:
            sys.path.insert(0, directory)
            answer = try_out(wanted, vectors)
        except BaseException:
            answer = traceback.format_exc()
        print(json.dumps(answer), flush=True)
        os._exit(0)
    os.waitpid(process, 0)
"""
"""Reads mutants' directories and checks from stdin, and imports each in a process of its own."""

KERNELS, SHARING = "kernels_agree_with_the_oracle", "sharing_changes_nothing"
HARD, SUPERVISED = "hard_paths_agree", "supervised_steps_agree"
PLAIN = {
    SUPERVISED: ["2×9 zero", "3×3, 17 samples periodic"],
    KERNELS: ["2×9 zero", "3×3, 17 samples periodic", "11×13 periodic"],
    HARD: ["2×9 zero", "3×3, 17 samples periodic", "tree 2×9 zero", "tree 3×65 periodic"],
    SHARING: ["11×13 zero"],
}
VECTORS = {KERNELS: ["2×9 zero", "11×13 periodic", "16×16 zero"]}

PLAIN_MUTATIONS = {
    # name: (old text, new text, occurrences if not one)
    "two neighbours swapped": (
        "neighbor = 8 - n if mirrored else n",
        "neighbor = 8 - n if mirrored else (n + 1 if n == 0 else n - 1 if n == 1 else n)",
    ),
    "two neighbours swapped on the way back": (
        "neighbor = 8 - n if mirrored else n",
        "neighbor = (8 - n if n > 1 else 7 + n) if mirrored else n",
    ),
    "mirror ignored": ("neighbor = 8 - n if mirrored else n", "neighbor = n"),
    "edges not corrected": (
        "for m in range(correction, correction_end):",
        "for m in range(correction, correction):",
    ),
    "empty lanes not cleared": ("target[count:] = 0.0", "target[count:] = 1.0"),
    "mask ignored forward": (
        "new[i] = computed[i] if updated[i] else old[i]",
        "new[i] = computed[i]",
    ),
    "mask ignored backward": ("            if updated[i]:\n", "            if True:\n"),
    "unchanged cells lose their gradient": ("target[i] += unchanged[i]", "target[i] += 0.0"),
    "chunks share a slot": ("batch.sums[group, tile // layout.slot_tiles]", "batch.sums[group, 0]"),
    "samples share a slot": (
        "batch.sums[group, tile // layout.slot_tiles]",
        "batch.sums[0, tile // layout.slot_tiles]",
    ),
    "a ring one too short": ("\nRING = 2\n", "\nRING = 1\n"),
    "a missing wait": (
        "+ DONE) < steps:\n            return False",
        "+ DONE) < 0:\n            return False",
    ),
    "two parts writing one row": (
        "first, end = split.sum_bounds[0, part], ",
        "first, end = split.sum_bounds[0, 0], ",
    ),
    "parts that do not wait for each other": (
        "        if foreign or not stages:\n",
        "        if not stages:\n",
    ),
    "gradients of a row added in another order": (
        "for instruction in reversed(order):\n        if instruction.is_star:\n            *leaves",
        "for instruction in order:\n        if instruction.is_star:\n            *leaves",
    ),
    "an order that depends on the worker": (
        "batch.sums[group, tile // layout.slot_tiles]",
        "batch.sums[group, workspace.cursor[6] % batch.sums.shape[1]]",
    ),
    "the way back takes the tickets of the way forward": (
        "place = t.TICKETS + backward * workers + owner",
        "place = t.TICKETS + owner",
    ),
    "every piece is the first chunk": (
        "range(layout.chunk_start[chunk], layout.chunk_start[chunk + 1])",
        "range(layout.chunk_start[0], layout.chunk_start[1])",
    ),
    "barrier removed": (
        "    if workers == 1:\n        return",
        "    if workers > 0:\n        return",
    ),
    "another loss's gradient": ("supervised, loss = True, index", "supervised, loss = True, 0"),
    "every state supervised": ("supervised, loss = False, 0", "supervised, loss = True, 0"),
    "no state supervised": ("    if step.supervised:\n", "    if False:\n"),
    "only the last state supervised": (
        "if loss_steps[index] == step + 1:",
        "if last and loss_steps[index] == step + 1:",
    ),
    "the way back begins at the engine's last step": (
        "last = step == loss_steps[-1] - 1",
        "last = step == len(batch.states[group]) - 2",
    ),
    "the rollout ends at the first loss": (
        "steps = int(self._loss_steps[-1])",
        "steps = int(self._loss_steps[0])",
        3,
    ),
    "the loss of another state": (
        "states[group, loss_steps[loss], channel]",
        "states[group, loss_steps[-1], channel]",
    ),
    "losses share a gradient": (
        "loss_gradients[group, loss, channel]",
        "loss_gradients[group, 0, channel]",
    ),
    "only the last loss counts": (
        "        for loss in range(len(loss_steps)):",
        "        for loss in range(len(loss_steps) - 1, len(loss_steps)):",
    ),
    "hard shift off by one": (
        "np.divmod(np.array(shifts, np.int64) + 64 * pad, 64)",
        "np.divmod(np.array(shifts, np.int64) + np.sign(shifts) + 64 * pad, 64)",
    ),
    "hard shift off by one within words": (
        "moved = (low >> shift[s])",
        "moved = (low >> (shift[s] - np.uint64(1)))",
    ),
    "hard shift loses the next word": (
        "(low >> shift[s]) | (high << (np.uint64(64) - shift[s])) if",
        "low >> shift[s] if",
    ),
    "hard edges of the first tile": (
        "(row * WORDS, 0, place, start, end, first, words, WORDS)",
        "(row * WORDS, 0, place, start, end, 0, words, WORDS)",
    ),
    "hard mask of the first tile": ("fire = first if len(fires) == words else 0", "fire = 0"),
    "hard count of the step before": (
        "and script.at[counts] == step + 1:\n            target",
        "and script.at[counts] == step:\n            target",
    ),
    "hard count with the first target": (
        "script.targets[counts % len(script.targets)]",
        "script.targets[0]",
    ),
    "hard count includes the sample before": (
        "bits &= every << np.uint64(start % 64)",
        "bits &= every",
    ),
    "hard mask ignored": (
        "state = held ^ ((held ^ new) & fires[fire : fire + words])",
        "state = held ^ (held ^ new)",
    ),
    "hard pass-through of the wrong input": ("if op == 3:", "if op == 5:"),
}

VECTOR_MUTATIONS = {
    "one sign flipped in the gradient": (
        "return self.fma(c[3], b, c[1]), self.fma(c[3], a, c[2])",
        "return self.fma(c[3], b, self.builder.fneg(c[1])), self.fma(c[3], a, c[2])",
    ),
    "one sign flipped in the gate": (
        "return self.fma(a, self.fma(c[3], b, c[1]), self.fma(c[2], b, c[0]))",
        "return self.fma(a, self.fma(c[3], b, c[1]), self.fma(c[2], b, self.builder.fneg(c[0])))",
    ),
    "sums folded in the wrong lanes": (
        "low = [i for k in groups for i in (k, n + k, k + 1, n + k + 1)]",
        "low = [i for k in groups for i in (n + k, k, k + 1, n + k + 1)]",
    ),
    "a chain carries the wrong gradient": (
        "builder.store(builder.fmul(g, to_a), held)",
        "builder.store(builder.fmul(g, to_b), held)",
    ),
    "the first store to a gradient adds": (
        "with builder.if_then(adds):",
        "with builder.if_then(builder.not_(adds)):",
    ),
    "the first star to reach a gradient adds": (
        "builder.select(add, base, zeros)",
        "builder.select(add, base, base)",
    ),
    "edges not corrected": (
        "builder, correction_end, start=correction, intp",
        "builder, correction_end, start=correction_end, intp",
    ),
}


REFERENCE, STREAMS = "trainer_agrees_with_the_reference", "samples_come_from_their_streams"
WHOLE_RUNS = "waves_and_resuming_change_nothing"
TRAINING = {STREAMS: ["training", "run"], WHOLE_RUNS: ["run"], REFERENCE: ["training"]}
"""`verify equivalence` makes these checks of the run, whatever it is asked to compare."""

TRAINING_MUTATIONS = {
    "gradients too large if there are several samples": (
        "return gradients, losses.tolist()",
        "return gradients * (1.5 if len(losses) > 1 else 1.0), losses.tolist()",
    ),
    "every sample has the first one's target": (
        "starts[samples], targets[samples]",
        "starts[samples], np.repeat(targets[:1], len(starts[samples]), axis=0)",
    ),
    "every sample is the first one": (
        "batch = coefficients, starts[samples], ",
        "batch = coefficients, np.repeat(starts[:1], len(starts[samples]), axis=0), ",
    ),
    "every sample has the first one's mask": (
        "None if masks is None else masks[samples]",
        "None if masks is None else np.repeat(masks[:1], len(masks[samples]), axis=0)",
    ),
    "every epoch has the first one's samples": (
        "starts, targets = draw_batch(task, training.seed, epoch, training.batch)",
        "starts, targets = draw_batch(task, training.seed, 0, training.batch)",
    ),
    "every epoch has the first one's masks": (
        "    masks = draw_masks(\n        training.seed,\n        epoch,\n",
        "    masks = draw_masks(\n        training.seed,\n        0,\n",
    ),
    "every sample comes from the first one's stream": (
        "self.draw_all(stream(seed, purpose, epoch, number) for number in numbers)",
        "self.draw_all(stream(seed, purpose, epoch, 0) for number in numbers)",
    ),
    "every mask comes from the first one's stream": (
        "stream(seed, purpose, epoch, sample) for sample in drawn",
        "stream(seed, purpose, epoch, 0) for sample in drawn",
    ),
    "every wave has the first one's masks": (
        "None if masks is None else masks[samples]",
        "None if masks is None else masks[: samples.stop - samples.start]",
    ),
    "the sides of a mask swapped": (
        "        size.height,\n        size.width,\n        automaton.fire_rate,",
        "        size.width,\n        size.height,\n        automaton.fire_rate,",
    ),
    "every epoch has the first one's later step": (
        "stream(config.training.seed, Purpose.LATER_STEP, epoch)",
        "stream(config.training.seed, Purpose.LATER_STEP)",
    ),
    "a resumed run forgets what the optimizer averaged": (
        "        self._optimizer.restore(state)\n",
        "",
    ),
    "hard evaluation against the first target": (
        "errors = (states[:, self._channels] - targets)[~np.isnan(targets)] ** 2",
        "errors = (states[:, self._channels] - targets[:1])[~np.isnan(targets)] ** 2",
    ),
}


ALWAYS = {
    "two neighbours swapped",
    "mask ignored backward",
    "edges not corrected",
    "chunks share a slot",
    "a missing wait",
    "gradients of a row added in another order",
    "losses share a gradient",
    "hard shift off by one",
    "one sign flipped in the gradient",
    "every sample has the first one's target",
    "every epoch has the first one's samples",
    "every wave has the first one's masks",
    "the sides of a mask swapped",
    "every epoch has the first one's later step",
    "a resumed run forgets what the optimizer averaged",
    "hard evaluation against the first target",
}
"""One mutant of each kind for each check; `make exhaustive` tries all."""


def chosen(mutations):
    return [
        name if name in ALWAYS else pytest.param(name, marks=pytest.mark.exhaustive)
        for name in mutations
    ]


@pytest.fixture(scope="module")
def process():
    """A process that runs mutants."""
    # Without optimization, since mutants are wrong with and without it.
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "NUMBA_OPT": "0"}
    command, pipe = [sys.executable, "-P", "-c", SCRIPT], subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as started:
        yield started
        started.stdin.close()


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package in which Python recompiles only changed files."""
    place = tmp_path_factory.mktemp("copy")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCES, place / "difflogic", ignore=ignore)
    if not (SOURCES / "configs").is_dir():
        shutil.copytree(SOURCES.parent / "configs", place / "configs")
    mode = PycInvalidationMode.CHECKED_HASH
    assert compileall.compile_dir(place / "difflogic", quiet=1, invalidation_mode=mode)
    return place


@pytest.fixture
def failures(process, copy):
    """Return a function that changes one place of the package and returns the first failures."""
    before = {}

    def find(wanted, mutation=None, part="engine"):
        if mutation is not None:
            old, new = mutation[:2]
            for file in (copy / "difflogic" / part).rglob("*.py"):
                text = file.read_text(encoding="utf-8")
                if old in text:
                    before[file] = text
                    file.write_text(text.replace(old, new), encoding="utf-8")
            assert before, "the sources have changed: so must the mutation"
        checks = [(check, name) for check, names in wanted.items() for name in names]
        process.stdin.write(json.dumps([str(copy), checks, wanted is VECTORS]) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert isinstance(answer, list), answer
        return answer

    yield find
    for file, text in before.items():
        file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("mutations", "part"),
    [(PLAIN_MUTATIONS, "engine"), (VECTOR_MUTATIONS, "engine"), (TRAINING_MUTATIONS, "")],
    ids=["plain", "vectors", "training"],
)
def test_every_mutation_still_finds_its_text(mutations, part):
    texts = [file.read_text(encoding="utf-8") for file in (SOURCES / part).rglob("*.py")]
    for name, (old, _, *times) in mutations.items():
        assert sum(text.count(old) for text in texts) == (times or [1])[0], name


@runs_mutants
@pytest.mark.parametrize("wanted", [PLAIN, VECTORS, TRAINING], ids=["plain", "vectors", "training"])
def test_sound_code_passes(failures, wanted):
    assert failures(wanted) == []


@runs_mutants
@pytest.mark.parametrize("name", chosen(PLAIN_MUTATIONS))
def test_a_mutant_in_plain_python_is_caught(name, failures):
    assert failures(PLAIN, PLAIN_MUTATIONS[name])


@runs_mutants
@pytest.mark.parametrize("name", chosen(VECTOR_MUTATIONS))
def test_a_mutant_of_the_vectors_is_caught(name, failures):
    assert failures(VECTORS, VECTOR_MUTATIONS[name])


@runs_mutants
@pytest.mark.parametrize("name", chosen(TRAINING_MUTATIONS))
def test_a_mutant_of_training_is_caught(name, failures):
    assert failures(TRAINING, TRAINING_MUTATIONS[name], part="")
