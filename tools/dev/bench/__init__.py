"""Measured figures, each beside a named baseline of the same run.

A module ``tools/dev/bench/bench_<area>.py`` defines ``figures()``, which yields :class:`Figure` objects.
Machines are noisy: what carries over is the ratio, never the time.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured figure.

    ``value`` and ``baseline`` share ``unit``; ``better`` says which way is good. The printed ratio is
    value / baseline. ``aim`` is the ratio (or, where ``baseline`` is None, the value) wished for, in words.
    """

    name: str
    value: float
    unit: str
    baseline_name: str = ""
    baseline: float | None = None
    better: str = "higher"
    aim: str = ""

    @property
    def ratio(self) -> float | None:
        """Value over baseline, or None where a figure stands alone."""
        return None if not self.baseline else self.value / self.baseline
