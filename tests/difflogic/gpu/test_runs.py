"""Whole runs on a GPU: up to an exact circuit, resumed on the processor and back, in sweeps."""

import pytest

from difflogic import check, load
from difflogic.library.training import train
from difflogic.run.run_directory import RunDirectory
from difflogic.run.summary import read_summary
from difflogic.sweeps.sweep import sweep
from difflogic.sweeps.sweep_options import SweepOptions
from difflogic.system.errors import ConfigError
from tests.difflogic.gpu.devices import here
from tests.difflogic.training.tiny import GROWING, growing

ON_GPU = "parallel.device=gpu"


@pytest.mark.thorough
def test_a_run_finds_an_exact_circuit(tmp_path):
    here()
    config = growing(ON_GPU, "training.seed=8", "finishing.candidates=8000")
    found = train(config, directory=tmp_path / "run")
    assert found.finished
    assert found.exact_epoch is not None
    assert check(load(found.path).require_model()).wrong_cells == 0


@pytest.mark.thorough
def test_runs_of_a_sweep_equal_runs_alone(tmp_path):
    here()
    unseeded = [each for each in GROWING if not each.startswith("training.seed")]
    given = [*unseeded, ON_GPU, "training.epochs=11"]
    found = sweep(
        "lizard",
        SweepOptions("0-2", overrides=given, recipe="reference", directory=tmp_path / "sweep"),
    )
    assert [row.status for row in found.rows] == ["not exact"] * 3
    for seed in (0, 2):
        config = growing(ON_GPU, "training.epochs=11", f"training.seed={seed}")
        alone = train(config, directory=tmp_path / f"seed{seed}")
        (path,) = (tmp_path / "sweep").glob(f"*/seed{seed}")
        together = read_summary(RunDirectory(path))
        assert together.files["model.npz"] == alone.summary.files["model.npz"]


@pytest.mark.parametrize(
    "given",
    [
        {"overrides": [ON_GPU], "scheduler": "127.0.0.1:9"},
        {"grid": ["parallel.device=cpu,gpu"], "jobs": 1},
    ],
)
def test_a_sweep_partly_on_a_gpu_is_refused(tmp_path, given):
    with pytest.raises(ConfigError, match="a GPU takes all runs of a sweep, on this machine"):
        sweep("checkerboard-small", SweepOptions("0-1", directory=tmp_path / "sweep", **given))
