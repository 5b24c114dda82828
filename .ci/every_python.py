"""Installs the wheel for every Python that is found, and runs what users run first.

    python .ci/every_python.py [PYTHON …]

Each gets an empty environment and an empty working directory, outside the clone. Each learns the
same bits: the digests of tests/digests.json, after three epochs. The newest runs everything once
more where nothing is as usual: docstrings stripped, Python's own encoding is cp1252, a dumb and
narrow terminal, no home, and warnings of our own modules are errors. If `make test` takes an older
one, the newest also runs the tests in the clone that Python itself may fail. Needs what pip needs.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MINORS = range(11, 15)
"""Of Python 3: those that the pages promise."""
AT_ONCE = 2
"""Lists of commands that run at once."""
SECONDS = 600
"""After which a command has failed."""
ODD = {
    "PYTHONOPTIMIZE": "2",
    "PYTHONIOENCODING": "cp1252",
    "PYTHONUTF8": "0",
    "PYTHONWARNDEFAULTENCODING": "1",
    "TERM": "dumb",
    "COLUMNS": "40",
}
STRICT = 'import warnings\nwarnings.filterwarnings("error", module=r"(cli|difflogic)(\\.|$)")\n'
CHECK = (
    "import sys, venv, ensurepip\n"
    "print(f'{sys.implementation.name}{sys.version_info.major} {sys.version_info.minor}')"
)
DIGESTS = ROOT / "tests" / "digests.py"
ASKED, SUFFIX = "3:float32", " float32 3"
"""Epochs and precision of the digests that are compared, and how these end in the file."""
TOOLS = ["pytest", "hypothesis", "psutil"]
"""What tests/conftest.py imports."""
TESTS = [
    *("tests/test_cap.py", "tests/test_layers.py", "tests/test_private.py", "tests/test_words.py"),
    *("tests/cli/test_calling.py", "tests/cli/test_failures.py", "tests/cli/test_options.py"),
    *("tests/difflogic/system/test_declaration.py", "tests/difflogic/system/test_files.py"),
    "tests/difflogic/config/test_loading.py",
]
"""Quick ones about what differs between versions of Python: tokens, messages, types, files."""
SHORT = ["train-checkerboard", "--small", "--epochs", "5"]
BENCH = ["bench", "--small", "--compare", "sequential", "--repeat", "2"]


def interpreters() -> dict[int, str]:
    """Return an interpreter for each minor version of Python 3: this one, or of PATH or pyenv."""
    names = ["python3", "python", *(f"python3.{minor}" for minor in MINORS)]
    found = [sys.executable, *filter(None, map(shutil.which, names))]
    root = os.environ.get("PYENV_ROOT", "")
    if not root and shutil.which("pyenv"):
        root = output_of("pyenv", "root").strip()
    versions = Path(root or Path.home() / ".pyenv") / "versions"
    found += map(str, sorted(versions.glob("3.*/bin/python")))
    return chosen(found)


def output_of(*command: str) -> str:
    """Run a command, and return what it prints; show that, and exit, if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def chosen(paths: list[str]) -> dict[int, str]:
    """Return the first of the interpreters that runs for each minor version."""
    known: dict[int, str] = {}
    for path in paths:  # a version manager's shim may not run
        done = subprocess.run([path, "-c", CHECK], capture_output=True, text=True)
        kind, minor = (done.stdout if done.returncode == 0 else "none 0").split()
        if kind == "cpython3" and int(minor) in MINORS:
            known.setdefault(int(minor), path)
    return known


def installed(python: str, wheel: Path, folder: Path) -> Path:
    """Install the wheel into an empty environment in `folder`; return its `dct`."""
    made = folder / ("Scripts" if os.name == "nt" else "bin")
    output_of(python, "-m", "venv", "--without-pip", str(folder))
    output_of(*installing(made / "python"), str(wheel))
    return made / "dct"


def installing(python: Path) -> list[str]:
    """Return the command that installs packages for `python`, without their names."""
    # Compiling every module of every dependency takes longer than all that is imported here.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-compile"]
    return [*pip, "--quiet", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt")]


class Round:
    """Commands in a working directory: how many passed, and what those said that failed."""

    def __init__(self, name: str, dct: Path, work: Path, odd: bool = False) -> None:
        self.name, self.passed, self._dct, self._odd = name, 0, str(dct), odd
        self.failures: list[str] = []
        self.work = work
        self.work.mkdir()
        self._variables = {"NUMBA_CACHE_DIR": str(work.parent / "cache")}
        if odd:
            self._variables |= ODD | {"PYTHONPATH": str(work.parent)}
            (work.parent / "sitecustomize.py").write_text(STRICT, encoding="utf-8")

    @property
    def _environment(self) -> dict[str, str]:
        # Nothing of the clone, and no settings of whoever runs this.
        foreign = "PYTHON", "NUMBA", "DCT"
        kept = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
        if self._odd:
            kept.pop("HOME", None)
        return kept | self._variables

    def check(
        self, words: list[str], says: str = "", code: int = 0, stop_at: str | None = None
    ) -> None:
        """Run `dct`; stop it by Ctrl-C after the line with `stop_at`."""
        process = subprocess.Popen(
            [self._dct, *words],
            cwd=self.work,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        err = b""
        try:
            if stop_at is not None:
                while stop_at.encode() not in err and (line := process.stderr.readline()):
                    err += line
                process.send_signal(signal.SIGINT)
            out, rest = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            out, rest = process.communicate()
        err += rest
        shown = (out + err).decode(errors="backslashreplace")
        told = says in shown and "Traceback" not in shown and shown.encode() == out + err
        if process.returncode != code or not told:
            shown = shown[-1500:]
            self.failures.append(f"dct {' '.join(words)}: exit code {process.returncode}\n{shown}")
        else:
            self.passed += 1

    def same_bits(self) -> None:
        """Compare digests of experiments of each kind with those that are kept."""
        command = [str(Path(self._dct).with_name("python")), "-P", str(DIGESTS), ASKED]
        options = {"cwd": self.work, "env": self._environment, "timeout": SECONDS}
        done = subprocess.run(command, capture_output=True, text=True, **options)
        every = json.loads(DIGESTS.with_suffix(".json").read_text(encoding="utf-8"))
        kept = {name: digest for name, digest in every.items() if name.endswith(SUFFIX)}
        found = json.loads(done.stdout) if done.returncode == 0 else {}
        wrong = [name for name in kept if kept[name] != found.get(name)]
        if not wrong:
            self.passed += 1
        else:
            self.failures.append(f"digests: other bits in {wrong}\n{done.stderr[-1500:]}")

    def tests(self) -> None:
        """Run the quick tests in the clone; they are skipped, by name, without their packages."""
        python = Path(self._dct).with_name("python")
        options = {"env": self._environment, "timeout": SECONDS, "capture_output": True}
        pip = subprocess.run([*installing(python), *TOOLS], text=True, **options)
        if pip.returncode:
            print(f"{self.name}: skipped, since pip cannot install {', '.join(TOOLS)}")
            return
        command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
        done = subprocess.run(
            [*command, "-m", "not (slow or thorough or exhaustive)"], cwd=ROOT, text=True, **options
        )
        if done.returncode == 0:
            self.passed += 1
        else:
            self.failures.append(f"tests in the clone\n{done.stdout[-3000:]}{done.stderr[-1500:]}")

    def everything(self) -> None:
        """Run what users run first."""
        self.check(SHORT, says="after epoch 5")
        self.check(BENCH, says="sequential")
        self.check(["config", "list"], says="checkerboard-small")
        self.check(["runs"], says="checkerboard-small")
        self.check(["inspect", "last"], says="fan-out")
        self.check(["simulate", "last", "--size", "32x32", "--steps", "5"], says="sha256")
        self.check(["export", "last", "-o", "last.v"], says="gates")
        self.check(["identify", *self._film()], says="B3/S23")
        self.check(["report", "last", "-o", "report.html"], says="report.html")
        self.check(["train-checkerboard", "--epochs", "0"], says="epochs", code=2)
        if os.name == "posix":  # Windows sends Ctrl-C to whole consoles
            endless = ["train-checkerboard", "--small", "--set", "automaton.fire_rate=0.01"]
            self.check(endless, says="resume", code=130, stop_at="epoch ")

    def _film(self) -> list[str]:
        """Write three frames of the Game of Life, as Golly's patterns; return their names."""
        side, names = 40, []
        cells = set(random.Random(0).sample(range(side * side), side * side // 3))
        for name in ("0.rle", "1.rle", "2.rle"):
            rows = [["bo"[y * side + x in cells] for x in range(side)] for y in range(side)]
            text = "$".join("".join(row) for row in rows)
            (self.work / name).write_text(f"x = {side}, y = {side}\n{text}!\n", encoding="utf-8")
            names.append(name)
            cells = {cell for cell in range(side * side) if _lives(cell, cells, side)}
        return [*names, "--boundary", "periodic", "--symmetry", "outer-totalistic"]


def _lives(cell: int, cells: set[int], side: int) -> bool:
    y, x = divmod(cell, side)
    near = [(y + i) % side * side + (x + j) % side for i in (-1, 0, 1) for j in (-1, 0, 1)]
    alive = sum(each in cells for each in near)
    return alive == 3 or (alive == 4 and cell in cells)


def run(commands: Callable[[Round], None], each: Round) -> Round:
    """Run the commands, and print what came of them."""
    began = time.monotonic()
    commands(each)
    counts = f"{each.passed} passed, {len(each.failures)} failed"
    print("\n".join([f"{each.name}: {counts} in {time.monotonic() - began:.0f} s", *each.failures]))
    return each


def main(given: list[str]) -> int:
    """Try every interpreter; return the exit code."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in background jobs, and inherited
        signal.signal(signal.SIGINT, signal.default_int_handler)
    found = chosen(given) if given else interpreters()
    for minor in MINORS:
        if minor not in found:
            print(f"Python 3.{minor}: not found here")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"
        output_of(*build, "--no-deps", "-w", str(folder), str(ROOT))
        (wheel,) = folder.glob("*.whl")

        rounds: list[Future[Round]] = []

        with ThreadPoolExecutor(AT_ONCE) as pool:

            def attempt(minor: int) -> Round:
                name, home = f"Python 3.{minor}", folder / str(minor)
                dct = installed(found[minor], wheel, home / "env")
                done = run(Round.everything, Round(name, dct, home / "usual"))
                alike = Round(f"{name}, bits", dct, home / "bits")
                rounds.append(pool.submit(run, Round.same_bits, alike))
                if minor == max(found):  # by whichever worker is free first
                    odd = Round(f"{name}, all that is odd", dct, home / "odd", odd=True)
                    rounds.append(pool.submit(run, Round.everything, odd))
                    if minor > sys.version_info.minor:  # make test takes the one that runs this
                        checks = Round(f"{name}, tests", dct, home / "tests")
                        rounds.append(pool.submit(run, Round.tests, checks))
                return done

            for minor in sorted(found, reverse=True):
                rounds.append(pool.submit(attempt, minor))
            done = [each.result() for each in rounds]  # those added meanwhile, too
            passed = sum(each.passed for each in done)
            failed = sum(len(each.failures) for each in done)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or not found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
