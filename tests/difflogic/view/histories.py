"""Epochs of made-up runs, for figures and pages."""

from difflogic.run.metrics import MetricsRow, Search


def rows(count, restarts=()):
    """Epochs 1 to `count`: every fifth searches, every tenth records it and the hard circuit."""
    return tuple(
        MetricsRow(
            n,
            200.0 / n,
            8.0 if n % 10 == 0 else None,
            0.5 if n % 10 == 0 else None,
            {"forward": 0.5, "backward": 1.5, "finish": float(n % 5 == 0)},
            1 - n / 5000,
            Search(4 * n, n, n, 9, False) if n % 10 == 0 else None,
            1 + sum(n > end for end in restarts),
        )
        for n in range(1, count + 1)
    )
