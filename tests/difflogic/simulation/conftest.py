import pytest


@pytest.fixture(scope="session")
def circuits(tmp_path_factory):
    return tmp_path_factory.mktemp("circuits")


@pytest.fixture(autouse=True)
def circuit_cache(circuits, monkeypatch):
    """Keep compiled circuits out of the user's cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(circuits))
