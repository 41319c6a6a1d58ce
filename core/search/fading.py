"""How use and age count: the formulas behind the factors `utility` and `strength`."""

from math import exp, log

__all__ = ["kept_share", "utility"]


def kept_share(age_days: float, base_days: float, uses: int = 0) -> float:
    """exp(-age / S), S = base · (1 + ln(1 + uses)): what is left of a memory, in (0, 1].

    >>> round(kept_share(50, 200), 3), kept_share(0, 100)
    (0.779, 1.0)
    """
    return exp(-age_days / (base_days * (1 + log(1 + uses))))


def utility(uses: int, distinct_questions: int, distinct_weight: float = 0.1, full_at: float = 11.0) -> float:
    """min(1, ln(u + 1) / ln full_at) with u = ln(uses + 1) · (1 + distinct_weight · distinct questions), in [0, 1].

    >>> utility(0, 0), round(utility(10, 5), 3)
    (0.0, 0.636)
    """
    used = log(uses + 1) * (1 + distinct_weight * distinct_questions)
    return min(1.0, log(used + 1) / log(full_at))
