"""Drops one guard at a time from what decides, and names those whose loss no test notices.

    python -m tests.mutations DIRECTORY [PART … | COUNT]

A guard is a conjunct or disjunct, a comparison, `any` or `all`, the condition of a comprehension,
or a refusal. A copy of the sources holds all mutants: where each begins, `_is` says whether it is
the one to try. The tests run once, to learn which of them reach which mutants, and how long they
take. Then a fork of the process runs these tests for each mutant, those of `make test` and the
quickest first, until one fails. DIRECTORY keeps what is known, so that a second call goes on. A
PART is the beginning of a mutant's name, such as proof/; COUNT mutants are drawn.
docs/notebook/mutations.md has the results.
"""

import ast
import builtins
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]

DECIDES = ("proof", "evaluation", "search", "examples", "identification", "run", "sweeps")
DECIDES += ("formats", "pictures", "library/proving.py", "library/simplifying.py")
DECIDES += ("library/conditions.py", "library/starts.py")
"""Parts of difflogic that say proved, exact or determined, or read what others wrote."""

TESTED_BY = [f"tests/difflogic/{part}" for part in (*DECIDES[:9], "library", "tasks", "experiment")]
TESTED_BY += ["tests/cli/commands"]

SECONDS = 60
"""Most seconds of tests for a mutant, and of the processor."""

REFUSING = ("require", "check", "refuse")
"""How names of functions begin that only refuse."""

OTHER = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}

HEAD = """
import builtins, os
if not hasattr(builtins, "_is"):
    builtins._is = int(os.environ.get("DCT_MUTANT", -1)).__eq__
"""


def weaker(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is left of an expression without one of its guards."""
    match node:
        case ast.BoolOp(op, values):
            for out in values:
                kept = [each for each in values if each is not out]
                yield kept[0] if len(kept) == 1 else ast.BoolOp(op, kept)
        case ast.BinOp(left, ast.BitAnd() | ast.BitOr(), right):
            yield from (left, right)
        case ast.Compare(left, [ast.Eq() | ast.Is() | ast.In()], _):
            yield ast.Compare(left, [ast.Eq()], [left])
        case ast.Compare(left, [ast.NotEq() | ast.IsNot() | ast.NotIn()], _):
            yield ast.Compare(left, [ast.NotEq()], [left])
        case ast.Compare(left, [op], [right]):
            yield ast.Compare(left, [OTHER[type(op)]()], [right])
        case ast.Compare(left, ops, rights):
            pairs = zip([left, *rights], ops, rights, strict=False)
            parts: list[ast.expr] = [ast.Compare(one, [op], [two]) for one, op, two in pairs]
            yield from weaker(ast.BoolOp(ast.And(), parts))
        case ast.Name("any" | "all" as name):
            yield ast.Name("all" if name == "any" else "any", ast.Load())
        case ast.Attribute(value, "any" | "all" as name):
            yield ast.Attribute(value, "all" if name == "any" else "any", ast.Load())


class Mutants(ast.NodeTransformer):
    """Puts all mutants into a module, and lists them as `file function: before → after`."""

    def __init__(self, file: str, found: list[str]) -> None:
        self._file = file
        self._found = found
        self._inside = list[str]()

    def visit(self, node: Any) -> Any:
        match node:
            case ast.JoinedStr() | ast.Assert() | ast.arguments():
                return node
            case ast.AnnAssign():
                node.value = node.value and self.visit(node.value)
                return node
            case ast.FunctionDef() | ast.ClassDef():
                self._inside.append(node.name)
                node.body = [self.visit(each) for each in node.body]
                self._inside.pop()
                return node
        before, node = deepcopy(node), self.generic_visit(node)
        match node:
            case ast.If(test, [ast.Raise() | ast.Return() | ast.Continue() | ast.Break(), *_]):
                node.test = self._or(before.test, test, ast.Constant(False))
            case ast.comprehension(ifs=tests):
                pairs = zip(before.ifs, tests, strict=True)
                node.ifs = [self._or(old, test, ast.Constant(True)) for old, test in pairs]
            case ast.Expr(ast.Call(ast.Name(name) | ast.Attribute(attr=name)) as call):
                if name.lstrip("_").startswith(REFUSING):
                    node.value = self._or(before.value, call, ast.Constant(None))
            case ast.expr():
                for other in weaker(before):
                    node = self._or(before, node, other)
        return node

    def _or(self, before: ast.expr, node: ast.expr, other: ast.expr) -> ast.expr:
        if not self._inside:
            return node
        asked = ast.Call(ast.Name("_is", ast.Load()), [ast.Constant(len(self._found))], [])
        old, new = (" ".join(ast.unparse(each).split()) for each in (before, other))
        name = f"{self._file} {'.'.join(self._inside)}: {old} → {new}"
        self._found.append(name + " again" * sum(each.startswith(name) for each in self._found))
        return ast.IfExp(asked, deepcopy(other), node)


def prepared(tree: Path) -> list[str]:
    """Make the copy of the sources, unless it is there; return its mutants."""
    kept = tree.with_suffix(".json")
    found = list[str]()
    if kept.is_file():
        return list(json.loads(kept.read_text()))
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True, timeout=60)
    for name in listed.splitlines():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    for path in (tree / "difflogic" / part for part in DECIDES):
        for each in [path] if path.is_file() else sorted(path.rglob("*.py")):
            file = each.relative_to(tree / "difflogic")
            module = ast.parse(each.read_text())
            if "kernels" in file.parts:  # compiled: cannot ask which mutant to try
                continue
            Mutants(file.as_posix(), found).visit(module)
            place = isinstance(module.body[0], ast.Expr) + 1  # after the docstring and __future__
            module.body[place:place] = ast.parse(HEAD).body
            each.write_text(ast.unparse(ast.fix_missing_locations(module)))
    kept.write_text(json.dumps(found))
    return found


def forked(run: Callable[[], None], seconds: int) -> bool:
    """Run in another process; return whether it was killed, since it took too long."""
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        signal.alarm(10 * seconds)
        try:
            run()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return os.WIFSIGNALED(status)


def costs_more(item: Any) -> bool:
    """Whether a test has a fixture that others share, which each fork makes again."""
    defined = item._fixtureinfo.name2fixturedefs.values()
    return any("tests" in each[-1].baseid and each[-1].scope != "function" for each in defined)


def is_late(item: Any) -> bool:
    """Whether a test is left to `make thorough`."""
    return bool(item.get_closest_marker("thorough") and not item.get_closest_marker("first"))


class Trying:
    """Runs the collected tests in forks, in place of pytest's own loop."""

    def __init__(self, into: Path, mutants: list[str], asked: list[str]) -> None:
        self._into = into
        self._mutants = mutants
        self._asked = asked
        self._failed = ""
        self._seconds = defaultdict[str, float](float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        self._failed = self._failed or (report.nodeid if report.failed else "")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        reached = self._into / "reached.json"
        results = self._into / "tried.jsonl"
        if not reached.is_file():
            forked(lambda: self._learn(session.items, reached), 10**5)
        tests, seconds = json.loads(reached.read_text())
        items = {each.nodeid: each for each in session.items if each.nodeid in seconds}
        late = {name for name in items if is_late(items[name])}

        def cost(name: str) -> tuple[bool, bool, float]:
            return name in late, costs_more(items[name]), seconds[name]

        order = sorted(items, key=cost)
        results.touch()
        known = [json.loads(line)["mutant"] for line in results.read_text().splitlines()]
        wanted = [each for each in self._mutants if each.startswith(tuple(self._asked or ("",)))]
        if self._asked and self._asked[0].isdigit():
            wanted = random.sample(self._mutants, int(self._asked[0]))
        first: dict[str, list[str]] = defaultdict(list)
        for number, mutant in enumerate(self._mutants):
            if mutant in known or mutant not in wanted:
                continue
            reaching = {*tests.get(str(number), ())}
            spent = 0.0
            chosen = list[pytest.Item]()
            mine = first[mutant.split(" ")[0]]
            quick = [name for name in mine if name not in late]
            for name in filter(reaching.__contains__, dict.fromkeys([*quick, *order])):
                spent += seconds[name]
                chosen += [items[name]] * (spent < SECONDS)
            noticed = self._try(number, chosen) if chosen else "no test reaches it"
            mine[:] = [noticed, *mine[:3]] if noticed in items else mine
            row = {"mutant": mutant, "noticed": noticed, "late": noticed in late}
            with results.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return True

    def _learn(self, items: list[pytest.Item], reached: Path) -> None:
        """Keep the tests that reach each mutant, and the seconds of each test."""
        found: dict[int, list[str]] = defaultdict(list)
        for item in items:
            seen = set[int]()
            builtins._is = seen.add  # type: ignore[attr-defined]
            self._failed = ""
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            for number in () if self._failed else seen:
                found[number].append(item.nodeid)
        reached.write_text(json.dumps([found, self._seconds]))

    def _try(self, number: int, items: list[pytest.Item]) -> str:
        """Return the test that notices a mutant; "" if none does."""
        noticed = self._into / "noticed"
        noticed.write_text("")

        def run() -> None:
            builtins._is = number.__eq__  # type: ignore[attr-defined]
            os.environ["DCT_MUTANT"] = str(number)
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._failed:
                    noticed.write_text(self._failed)
                    return

        return "it takes too long" if forked(run, SECONDS) else noticed.read_text()


if __name__ == "__main__":
    into = Path(sys.argv[1]).resolve()
    into.mkdir(exist_ok=True)
    mutants = prepared(into / "tree")
    os.chdir(into / "tree")
    sys.path.insert(0, str(into / "tree"))
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow and not exhaustive"]
    pytest.main([*options, *TESTED_BY], [Trying(into, mutants, sys.argv[2:])])
    rows = [json.loads(line) for line in (into / "tried.jsonl").read_text().splitlines()]
    open_ = [row for row in rows if row["noticed"] in ("", "no test reaches it")]
    print(*(f"{row['noticed'] or 'unnoticed'}: {row['mutant']}" for row in open_), sep="\n")
    late = sum(row["late"] for row in rows)
    print(
        f"{len(rows)} of {len(mutants)} mutants tried, {len(rows) - len(open_)} noticed, "
        f"{late} of them by `make thorough` alone"
    )
