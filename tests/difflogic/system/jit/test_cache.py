"""Kernels keep their code on disk, notice edited sources, and cope without a usable cache."""

import ast
import logging
import re
from pathlib import Path

import numpy as np
import pytest

from difflogic.system.jit import cache, is_compiled
from difflogic.system.jit.decorator import make_kernel
from tests.cli.processes import run_python
from tests.marks import compiled


def total(values):
    found = 0.0
    for value in values:
        found += value
    return found


ONES = {"float32": np.ones(3, np.float32), "float64": np.ones(3)}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The directory of this test's own cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "_warned", [])
    return tmp_path / "dct-kernels"


def new_kernel(stamp="first"):
    return make_kernel(total, lambda: stamp)


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


@compiled
def test_code_is_kept_by_stamp_and_precision(place):
    kernel = new_kernel()
    assert not is_compiled(kernel)
    kernel(ONES["float64"])
    assert is_compiled(kernel, "float64")
    assert not is_compiled(kernel, "float32")
    again = new_kernel()
    assert again(ONES["float64"]) == 3
    assert hits(again) == 1
    other = new_kernel("second")
    assert not is_compiled(other)
    assert other(ONES["float32"]) == 3
    assert is_compiled(other, "float32")
    assert not hits(other)


@compiled
def test_damaged_code_is_compiled_again_with_one_warning(place, caplog):
    new_kernel()(ONES["float64"])
    (path,) = place.iterdir()
    path.write_bytes(path.read_bytes()[:-100] + b"\0" * 100)
    with caplog.at_level(logging.WARNING):
        again = new_kernel()
        assert again(ONES["float64"]) == 3
        assert again(ONES["float32"]) == 3
    assert not hits(again)
    (record,) = caplog.records
    assert "is damaged" in record.getMessage()
    assert "NUMBA_CACHE_DIR" in record.getMessage()
    # And the file is repaired.
    third = new_kernel()
    assert third(ONES["float64"]) == 3
    assert hits(third) == 1


@compiled
def test_code_that_this_numba_cannot_load_is_compiled_again(place, monkeypatch):
    kernel = new_kernel()
    kernel(ONES["float64"])
    monkeypatch.setattr("numba.core.compiler.CompileResult._rebuild", None)
    again = new_kernel()
    assert again(ONES["float64"]) == 3
    assert not hits(again)


@compiled
def test_an_unusable_cache_is_only_warned_of(place, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        kernel = new_kernel()
        assert kernel(ONES["float64"]) == 3
        assert kernel(ONES["float32"]) == 3
    (record,) = caplog.records
    assert "set NUMBA_CACHE_DIR" in record.getMessage()
    assert not is_compiled(kernel)


def output_of(folder: Path, *arguments: str) -> str:
    """Run Python in a process of its own, with a cache in `folder`; return its output."""
    own = {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    return str(run_python(*arguments, good=True, variables=own).stdout).strip()


TWO_KERNELS = """
import sys
import numpy as np
from difflogic.system.jit.decorator import make_kernel

def squares(count):
    found = np.empty(count)
    for index in range(count):
        found[index] = index * index
    return found

def total(count):
    return squares(count).sum()

squares = make_kernel(squares, lambda: "first")
values = squares(4).tolist()
ready = "numba.np.linalg" in sys.modules
total = make_kernel(total, lambda: "{stamp}")
print(sum(squares.stats.cache_hits.values()), ready, values, total(4), sep="; ")
"""


@pytest.mark.thorough
@compiled
def test_loading_prepares_no_compiler_and_new_kernels_call_loaded_ones(tmp_path):
    script = tmp_path / "kernels.py"
    found = []
    for stamp in ("one", "another"):
        script.write_text(TWO_KERNELS.format(stamp=stamp))
        found.append(output_of(tmp_path, str(script)))
    assert found == ["0; True; [0.0, 1.0, 4.0, 9.0]; 14.0", "1; False; [0.0, 1.0, 4.0, 9.0]; 14.0"]


DECORATOR = """
from pathlib import Path
from difflogic.system.jit.cache import stamp_of
from difflogic.system.jit.decorator import make_kernel
def kernel(function):
    return make_kernel(function, lambda: stamp_of([Path(__file__).parent]))
"""
CALLER = """
from decorator import kernel
from callee import answer
@kernel
def ask():
    return answer() + 1
"""
CALLEE = """
from decorator import kernel
@kernel
def answer():
    return {value}
"""
ASK = "import sys; sys.path.insert(0, sys.argv[1])\nfrom caller import ask\nprint(ask())"


@pytest.mark.thorough
@compiled
def test_an_edited_callee_in_another_file_is_noticed(tmp_path):
    (tmp_path / "decorator.py").write_text(DECORATOR)
    (tmp_path / "caller.py").write_text(CALLER)
    for value in (41, 1041):
        (tmp_path / "callee.py").write_text(CALLEE.format(value=value))
        assert output_of(tmp_path, "-c", ASK, str(tmp_path)) == str(value + 1)


def test_every_kernel_is_in_a_package_of_the_stamp():
    packages = tuple(f"{package}/" for package in cache.KERNEL_PACKAGES)
    for path in cache.SOURCES.rglob("*.py"):
        if re.search(r"^@\w*kernel$", path.read_text(), re.M):
            assert path.relative_to(cache.SOURCES).as_posix().startswith(packages), path


def test_kernels_import_nothing_outside_of_the_stamp():
    """Edits outside of these packages do not compile kernels again."""
    packages = cache.KERNEL_PACKAGES
    allowed = tuple("difflogic." + package.replace("/", ".") for package in packages)
    for package in packages[1:]:
        for path in (cache.SOURCES / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module.startswith("difflogic"):
                    assert node.module.startswith(allowed), f"{path} imports {node.module}"


def test_the_stamp_follows_names_and_contents(tmp_path):
    one = tmp_path / "package" / "one.py"
    one.parent.mkdir()
    one.write_text("x = 1")
    before = cache.stamp_of([tmp_path])
    assert cache.stamp_of([tmp_path]) == before
    one.write_text("x = 2")
    edited = cache.stamp_of([tmp_path])
    one.rename(one.with_name("two.py"))
    assert len({before, edited, cache.stamp_of([tmp_path])}) == 3
