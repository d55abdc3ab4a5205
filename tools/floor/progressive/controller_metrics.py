"""The controller's metrics for Prometheus: its levels, its signs, and the time of its last update."""

import time
from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from egm.progressive.messages import LevelValue
from tools.floor.progressive.signs import SignRecord

#: The possible states of a sign.
_SIGN_STATUSES: Final = ("lit", "dark", "silent")


class ControllerMetrics:
    """The latest metrics of a progressive controller, as a prometheus-client collector.

    The exporter's thread reads them while :meth:`replace_metrics` replaces all of them together.
    """

    def __init__(self) -> None:
        self._metrics: tuple[Metric, ...] = ()

    def replace_metrics(
        self, values: Iterable[LevelValue], signs: Iterable[SignRecord], held_count: int
    ) -> None:
        """Replace the level amounts, the states of the signs, and the number of open rulings by new ones.

        ``held_count`` is the number of claims and payments that wait for a ruling.
        """
        level = GaugeMetricFamily(
            "egm_progressive_level_cents", "What a level shows, minor units.", labels=["level"]
        )
        falls = GaugeMetricFamily(
            "egm_progressive_level_falls", "Wins, ceilings and corrections of a level.", labels=["level"]
        )
        for value in values:
            level.add_metric([value.level_id], value.amount_cents)
            falls.add_metric([value.level_id], value.fall_count)
        status = GaugeMetricFamily(
            "egm_progressive_sign", "1 for the sign's present status, else 0.", labels=["sign", "status"]
        )
        for sign in signs:
            for status_name in _SIGN_STATUSES:
                status.add_metric([sign.id, status_name], status_name == sign.status)
        alive_gauge = GaugeMetricFamily(
            "egm_progressive_alive_timestamp_seconds",
            "When the levels were last published.",
            value=time.time(),
        )
        held_metric = GaugeMetricFamily(
            "egm_progressive_held",
            "Claims and payments that wait for two people to rule.",
            value=held_count,
        )
        self._metrics = (level, falls, status, alive_gauge, held_metric)

    def collect(self) -> Iterator[Metric]:
        """Yield the latest metrics."""
        yield from self._metrics
