"""Compile the kernels that most tests call, once, while `make test` runs mypy on another core.

Otherwise each of pytest's workers compiles the same kernels at the same time.
"""

from difflogic.experiment.searching import Trainer
from difflogic.simplification import EFFORTS, simplify
from difflogic.system.jit import JIT, keeps_code
from tests.difflogic.circuit.circuits import automaton, deep_circuit
from tests.difflogic.training.tiny import growing

SEARCHING = "finishing.candidates=6000", "finishing.rectify=25"


def compile_kernels() -> None:
    for precision in ("float32", "float64"):
        with Trainer(growing(f"training.precision={precision}", *SEARCHING)) as trainer:
            trainer.warm_up()
    simplify(automaton(deep_circuit(1000)), EFFORTS["normal"])


if __name__ == "__main__" and JIT and keeps_code():
    compile_kernels()
