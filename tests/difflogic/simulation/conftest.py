import pytest


@pytest.fixture(autouse=True, scope="session")
def circuit_cache(tmp_path_factory):
    """Keep compiled circuits out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(tmp_path_factory.mktemp("circuits")))
        yield
