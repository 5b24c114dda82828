"""How many examples a property test tries, and what many of them draw."""

from hypothesis import settings
from hypothesis import strategies as st

FEW = 25
"""Most of them in `make test`."""
MANY = 100
"""Those of `make thorough`, unless a test names another number."""

any_seed = st.integers(0, 2**32)
any_boundary = st.sampled_from(["zero", "periodic"])


def examples(number: int) -> settings:
    """Return settings of a property test with that many examples; in `make test` at most a few."""
    few = settings.default is not None and settings.default.max_examples == FEW
    return settings(max_examples=min(number, FEW) if few else number)
