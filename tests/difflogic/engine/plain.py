"""The kernels' sources as plain Python, with other primitives and, if wanted, changed places."""

import builtins
from pathlib import Path
from types import ModuleType

import difflogic.engine.kernels as kernels

MODULES = ("teams", "pipeline", "tiles", "training")
"""Each uses those before it."""


def kept(function):
    """What decorates a kernel here: nothing."""
    return function


def sources():
    """The text of each module, by name."""
    (place,) = kernels.__path__
    return {name: (Path(place) / f"{name}.py").read_text(encoding="utf-8") for name in MODULES}


def plain_kernels(given, texts=None, read=compile, added=()):
    """Run the modules' texts, by default those on disk; return what holds the modules.

    `given` are names of other modules of kernels, by module: those that will be called. `read`
    compiles a text, in which `added` are names, too.
    """
    made = {f"{kernels.__name__}.{name}": names for name, names in given.items()}
    made["difflogic.system.jit"] = dict.fromkeys(("kernel", "borrowing_kernel", "part"), kept)
    for name, names in made.items():
        made[name] = ModuleType(name)
        vars(made[name]).update(names, __getattr__=lambda name: None)

    def find(name, scope=None, local=None, wanted=(), level=0):
        if name == kernels.__name__ and wanted[0] in MODULES:  # from … import teams as t
            return made["package"]
        return made.get(name) or builtins.__import__(name, scope, local, wanted, level)

    made["package"] = ModuleType(kernels.__name__)
    for name, text in (texts or sources()).items():
        module = ModuleType(f"{kernels.__name__}.{name}")
        vars(module).update(added)
        vars(module)["__builtins__"] = vars(builtins) | {"__import__": find}
        exec(read(text, name, "exec"), vars(module))
        made[module.__name__] = module
        setattr(made["package"], name, module)
    return made["package"]
