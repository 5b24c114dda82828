"""The notebooks of docs/notebooks run from top to bottom, and are stored without outputs."""

import json
from importlib.util import find_spec

import nbclient
import nbformat
import pytest

from tests.paths import DOCS

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    book = nbformat.read(path, as_version=4)
    if "import torch" in path.read_text("utf-8") and find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    # Nothing depends on the user's directories and kernels, or on what other tests do there.
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    place = tmp_path / "empty"
    place.mkdir()
    resources = {"metadata": {"path": str(place)}}
    client = nbclient.NotebookClient(book, timeout=600, startup_timeout=600, resources=resources)
    client.execute()
    assert not [*place.iterdir()]
    shown = [out for cell in book.cells for out in cell.get("outputs", [])]
    assert len(json.dumps([out for out in shown if "iframe" not in str(out)])) < 60_000
