"""How sure a share of exact runs is."""

from __future__ import annotations

import math
from statistics import NormalDist

CONFIDENCE = 0.95


def wilson_interval(
    successes: int, trials: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Return the Wilson score interval of a share, two numbers from 0 to 1.

    Unlike the textbook's interval it holds for few trials and for shares of 0 and 1: after 16 of
    16 it is 0.81 to 1. Without trials it is 0 to 1. Raises ValueError for impossible counts.
    Source: Wilson 1927; Brown, Cai and DasGupta 2001 recommend it for small samples.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    scale = 1 + z * z / trials
    center = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # At the ends, rounding would miss what the formula gives exactly.
    low = 0.0 if successes == 0 else center - half
    high = 1.0 if successes == trials else center + half
    return low, high
