"""Words that claim a proof come from the module whose function proved it, and names exist."""

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

SOURCES = {
    r"no other rule": {"difflogic/identification/explanation.py"},
    r"\bfewest\b|\bneeds? fewer\b": {"difflogic/identification/explanation.py"},
    r"\bdetermined\b": {
        "difflogic/identification/explanation.py",
        "difflogic/identification/solver.py",  # counts them while it asks
    },
    r"(?<!not )proved for every (?!state)": {
        "difflogic/proof/convergence/methods.py",
        "difflogic/proof/convergence/every_size.py",
        "difflogic/proof/every_length.py",
        "difflogic/proof/local_rule.py",
    },
    r"proved at step": {"difflogic/proof/cases.py"},
    r"keep missing the target": {
        "difflogic/proof/convergence/methods.py",
        "difflogic/proof/convergence/every_size.py",
    },
    r"never reaches": {"difflogic/proof/answer.py"},
    r"to any length": {"difflogic/evaluation/padded.py"},
}
"""The modules and templates that say each word to users."""


def texts(path: Path) -> list[str]:
    """Return the text of a template, or the texts of a module that are no docstrings."""
    source = path.read_text()
    if path.suffix != ".py":
        return [re.sub(r"{#.*?#}", "", source, flags=re.DOTALL)]
    tree = ast.walk(ast.parse(source))
    nodes = [node for node in tree if isinstance(node, ast.Expr | ast.Constant)]
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
    ]


def test_words_of_proofs_have_one_source():
    said: dict[str, set[str]] = {word: set() for word in SOURCES}
    for path in [*Path("cli").rglob("*"), *Path("difflogic").rglob("*")]:
        if path.suffix in (".py", ".jinja", ".html", ".js"):
            found = "\n".join(texts(path))
            for word in SOURCES:
                if re.search(word, found, re.IGNORECASE):
                    said[word].add(path.as_posix())
    assert said == SOURCES


ELSEWHERE = {
    *("JaxRuntimeError", "NO_COLOR", "NUMBA_CPU_NAME", "NUMBA_DISABLE_JIT", "SCHEDULER"),
    *("libvulkan1", "nohup", "vmap", "write_NAME"),
}
"""Names of other programs, and what stands for a name."""


def parts(path: Path) -> tuple[str, str]:
    """Return what runs of a module, and its docstrings and comments."""
    runs = [path.stem, path.parent.name]
    said = []
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        alone = token.line[: token.start[1]].strip() == "" and token.string.endswith('"""')
        (said if alone or token.type == tokenize.COMMENT else runs).append(token.string)
    return " ".join(runs), "\n".join(said)


def test_names_in_docstrings_comments_and_pages_exist():
    modules = [path for root in ("cli", "difflogic") for path in Path(root).rglob("*.py")]
    others = [
        path for end in ("jinja", "html", "js") for path in Path("difflogic").rglob(f"*.{end}")
    ]
    others += [Path("Makefile"), *Path("tests").rglob("*.py")]
    runs, said = zip(*map(parts, modules), strict=True)
    known = {*re.findall(r"\w+", " ".join([*runs, *(path.read_text() for path in others)]))}
    pages = [path.read_text() for path in (*Path("docs").glob("*.md"), Path("CONTRIBUTING.md"))]
    found = re.findall(r"(?<!`)`([A-Za-z]\w{2,})(?:\(\))?`(?!`)", "\n".join([*said, *pages]))
    found += re.findall(r"(?<!`)`[A-Za-z]\w+(?:\.\w+)+`|\b[A-Z]{2,}(?:_[A-Z]+)+\b", "\n".join(said))
    words = {*re.findall(r"\w+", " ".join(found))}
    assert words <= known | ELSEWHERE | sys.stdlib_module_names
    rooms = re.findall(r"`([a-z_]+)\.([a-z_]+)[`.]", "\n".join(said))
    lost = {f"{a}.{b}" for a, b in rooms if Path("difflogic", a).is_dir()} - {
        f"{path.parent.name}.{path.stem}" for path in Path("difflogic").rglob("*")
    }
    assert not lost
