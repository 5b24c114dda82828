"""Parts of libraries that no documentation promises: all are named here, with the reason.

A new version of a library that lacks one fails the test that looks for it, not a user's run.
"""

import ast
import importlib
from operator import attrgetter

from tests.test_layers import files

PRIVATE = {
    "joblib.externals.loky:get_reusable_executor": "joblib's processes end with a sweep",
    "joblib.externals.loky.backend:resource_tracker.ensure_running": "the same, of joblib",
    "multiprocessing.resource_tracker:ensure_running": "it starts before signals are blocked",
    "numba.core:cgutils": "fields of structures are read by their address",
    "numba.core:config._config_fname": "no file of the working directory may change code",
    "numba.core:types": "structures of kernels as types",
    "numba.core.codegen:JITCodeLibrary._optimize_functions": "code is optimised once, when linked",
    "numba.core.compiler:CompileResult._rebuild": "code of one version and processor is kept",
    "numba.core.compiler:CompileResult._reduce": "the same, written",
    "numba.core.compiler:CompilerBase": "parts of kernels skip passes",
    "numba.core.compiler:DefaultPassBuilder": "the same",
    "numba.core.compiler_machinery:PassManager": "the same",
    "numba.core.compiler_machinery:register_pass": "the same",
    "numba.core.registry:CPUDispatcher.enable_caching": "`_cache` is set instead, with our stamp",
    "numba.core.registry:cpu_target": "processor and features that code is compiled for",
    "numba.core.runtime.nrt:rtsys.initialize": "a tenth of numba's start suffices for kept code",
    "numba.core.typed_passes:NativeLowering": "parts of kernels have no wrappers",
    "numba.core.typing.templates:AttributeTemplate": "fields of structures have types",
}
"""Module, and name in it: why it is used."""

MODULES = "numba.core", "joblib.externals", "multiprocessing.resource_tracker"
"""Documented by nobody, though without an underscore."""
DOCUMENTED = {"_exit", "_replace", "_fields"}
"""Of `os` and named tuples."""
UNDERSCORED = {*("_config_fname", "_rebuild", "_reduce"), *("_cache", "_codegen", "_data_layout")}
"""Attributes in the table above, or of what it names."""


def test_private_parts_are_there():
    for place in PRIVATE:
        module, _, name = place.partition(":")
        found = importlib.import_module(module)
        assert not name or attrgetter(name)(found) is not None, place


def test_no_other_private_part_is_used():
    own = set()
    used = set()
    imported = set()
    for path in [*files("cli"), *files("difflogic")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    own.add(name)
                case ast.AnnAssign(target=ast.Name(id=name)):
                    own.add(name)
                case ast.Attribute(attr=name, value=value) if name[0] == "_" != name[:2][-1]:
                    mine = isinstance(value, ast.Name) and value.id in ("self", "cls")
                    (own if mine and isinstance(node.ctx, ast.Store) else used).add(name)
                case ast.ImportFrom(module=str(module), names=names):
                    imported |= {f"{module}:{each.name}" for each in names}
                case ast.Import(names=names):
                    imported |= {each.name for each in names}
    assert used - own - DOCUMENTED == UNDERSCORED - own
    known = {place.replace(":", ".", 1) for place in PRIVATE}
    for place in imported:
        if (place.startswith(("_", *MODULES)) and not place.startswith("__")) or "._" in place:
            name = place.replace(":", ".", 1)
            assert any(f"{each}.".startswith(f"{name}.") for each in known), place
