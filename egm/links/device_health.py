"""Device health as Prometheus metrics: whether the devices reply, and how fast."""

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily

from egm.devices.driver import LineDriver
from egm.devices.interface import Device

#: The label names of these metrics.
_METRIC_LABEL_NAMES = ("device",)


def iter_device_metrics(devices: Iterable[Device]) -> Iterator[Metric]:
    """Yield the metric families of devices on serial lines: whether each replies, and its reply times."""
    replying_gauge = GaugeMetricFamily(
        "egm_device_up", "1 while a device replies.", labels=_METRIC_LABEL_NAMES
    )
    reply_times = SummaryMetricFamily(
        "egm_device_answer_seconds", "From a query of a device to its reply.", labels=_METRIC_LABEL_NAMES
    )
    missing_replies = CounterMetricFamily(
        "egm_device_unanswered_questions",
        "Queries of a device without a reply.",
        labels=_METRIC_LABEL_NAMES,
    )
    refused_counter = CounterMetricFamily(
        "egm_device_refused_messages",
        "Messages from a device that the codec refused.",
        labels=_METRIC_LABEL_NAMES,
    )
    for device in devices:
        if not isinstance(device, LineDriver):
            continue
        label_values, exchange_counts = (device.name,), device.exchange_counts
        replying_gauge.add_metric(label_values, int(device.is_replying))
        reply_times.add_metric(
            label_values,
            count_value=exchange_counts.answered_query_count,
            sum_value=exchange_counts.total_reply_seconds,
        )
        missing_replies.add_metric(label_values, exchange_counts.unanswered_query_count)
        refused_counter.add_metric(label_values, exchange_counts.invalid_message_count)
    yield from (replying_gauge, reply_times, missing_replies, refused_counter)
