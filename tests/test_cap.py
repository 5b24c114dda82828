"""The caps on code in pyproject.toml, and forms that say several things at once.

Code is measured in tokens: names, numbers, strings and operators. Comments and docstrings are free,
and so is a line, so that nothing is gained by packing. Of templates, pages and shaders all lines
count that are not blank.
"""

import ast
import io
import tokenize
import tomllib

import pytest

from tests.paths import ROOT

PARTS = {"product": ("cli", "difflogic"), "tests": ("tests",), "templates": ("cli", "difflogic")}
TEMPLATES = {".css", ".html", ".jinja", ".js", ".wgsl"}
SLACK = 2_000
"""A cap is lowered with the code: it may be this much above, of lines a tenth."""

SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_tokens(source):
    """Return the number of tokens without comments and strings that stand alone."""
    alone = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                alone.update(range(node.lineno, node.end_lineno + 1))
    count = 0
    for each in whole_strings(tokenize.generate_tokens(io.StringIO(source).readline)):
        count += each.type not in SILENT and each.start[0] not in alone
    return count


def whole_strings(found):
    """Yield tokens, an f-string as one: from Python 3.12 on, its parts are tokens of their own."""
    depth = 0
    for each in found:
        name = tokenize.tok_name[each.type]
        depth -= name == "FSTRING_END"
        if not depth and name != "FSTRING_END":
            yield each
        depth += name == "FSTRING_START"


def filled_lines(source):
    """Return how many lines are not blank."""
    return sum(bool(line.strip()) for line in source.splitlines())


def names(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def is_packed(node):
    """Whether a tuple of values is assigned to other names: a swap is not."""
    match node:
        case ast.Assign(targets=[ast.Tuple() as target], value=ast.Tuple() as value):
            return not names(target) & names(value)
    return False


def is_spread(node):
    """Whether a call spreads a tuple that stands there, or a dict holds another."""
    match node:
        case ast.Call(args=args):
            spread = [each.value for each in args if isinstance(each, ast.Starred)]
            return any(isinstance(each, ast.Tuple) for each in spread)
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return any(key is None and isinstance(value, ast.Dict) for key, value in pairs)
    return False


def is_nested(node):
    """Whether a conditional expression holds another, or a comprehension has three `for`."""
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return any(isinstance(x, ast.IfExp) for y in (test, body, orelse) for x in ast.walk(y))
        case ast.ListComp(generators=loops) | ast.SetComp(generators=loops):
            return len(loops) > 2
        case ast.GeneratorExp(generators=loops) | ast.DictComp(generators=loops):
            return len(loops) > 2
    return False


def test_what_counts():
    assert filled_lines("{# why #}\n\n  \n<p>\n") == 2
    assert code_tokens('"""Doc.\n\nMore."""\n\n# why\nx = """a\n\nb"""  # three\n') == 3
    assert code_tokens('def f():\n    """Doc."""\n\n    return (\n        1,\n    )\n') == 10


@pytest.mark.parametrize("part", PARTS)
def test_code_stays_within_its_cap(part):
    cap = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["dct"]["cap"][part]
    suffixes = {".py"}
    count = code_tokens
    unit = "tokens"
    slack = SLACK
    if part == "templates":
        suffixes = TEMPLATES
        count = filled_lines
        unit = "lines"
        slack = SLACK // 10
    files = [path for folder in PARTS[part] for path in (ROOT / folder).rglob("*")]
    found = sum(count(path.read_text("utf-8")) for path in files if path.suffix in suffixes)
    where = f"the cap of {cap} on {part} in [tool.dct.cap] of pyproject.toml"
    assert found <= cap, (
        f"{found} {unit} are {found - cap} above {where}: remove as many, or raise the cap and say "
        "why in that commit"
    )
    assert found >= cap - slack, f"{found} {unit} are {cap - found} below {where}: lower it"


def first(source):
    """The first statement of a source, or the value of its expression."""
    (found,) = ast.parse(source).body
    return getattr(found, "value", found) if isinstance(found, ast.Expr) else found


def test_what_says_several_things_is_found():
    assert is_packed(first("a, self.b = 1, two"))
    assert not is_packed(first("a, b = b, a"))
    assert is_spread(first("f(a, *(b, c))"))
    assert is_spread(first("{**{1: 2}, 3: 4}"))
    assert is_nested(first("a if b else c if d else e"))
    assert not is_nested(first("[a if b else c, d if e else f]"))
    assert is_nested(first("{a for b in c for d in b for a in d}"))


@pytest.mark.parametrize("part", ["product", "tests"])
def test_one_statement_says_one_thing(part):
    for folder in PARTS[part]:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                assert not is_packed(node), f"{path}:{node.lineno} assigns a tuple to names"
                assert not is_spread(node), f"{path}:{node.lineno} spreads what stands there"
                nested = part == "product" and is_nested(node)
                assert not nested, f"{path}:{node.lineno} nests conditions or loops"
