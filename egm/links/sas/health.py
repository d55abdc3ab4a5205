"""Health of the SAS lines as Prometheus metrics."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from egm.links.sas.line import SasLineHealth

#: The label names of these metrics.
_METRIC_LABEL_NAMES = ("line",)


def iter_line_metrics(line_name: str, health: SasLineHealth) -> Iterator[Metric]:
    """Yield the metric families of the health of one SAS line, such as counts of polls and reply times.

    The exporter merges the families of several lines.
    """
    for family_name, meaning, value in (
        ("egm_host_link_open", "1 while the port of a host's line is open.", int(health.is_port_open)),
        ("egm_host_link_up", "1 while a host polls.", int(health.is_host_polling)),
    ):
        yield _add_line_sample(
            GaugeMetricFamily(family_name, meaning, labels=_METRIC_LABEL_NAMES), line_name, value
        )
    for family_name, meaning, value in (
        ("egm_host_polls", "Polls to this machine.", health.poll_count),
        ("egm_host_busy_answers", "Polls answered busy.", health.busy_reply_count),
        (
            "egm_host_refused_polls",
            "Polls that could not be read or are not answered.",
            health.refused_poll_count,
        ),
        (
            "egm_host_broken_messages",
            "Messages with a wrong CRC, or broken off.",
            health.broken_message_count,
        ),
        ("egm_host_polls_elsewhere", "Polls to other machines on the line.", health.other_machine_poll_count),
    ):
        yield _add_line_sample(
            CounterMetricFamily(family_name, meaning, labels=_METRIC_LABEL_NAMES), line_name, value
        )
    reply_times = HistogramMetricFamily(
        "egm_host_answer_seconds", "From the last byte of a poll to the answer.", labels=_METRIC_LABEL_NAMES
    )
    cumulative_count, buckets = 0, []
    for limit_ms, count in health.reply_counts_by_limit_ms:
        cumulative_count += count
        buckets.append((str(limit_ms / 1000) if limit_ms else "+Inf", float(cumulative_count)))
    reply_times.add_metric((line_name,), buckets, health.total_reply_ns / 1e9)
    yield reply_times


def _add_line_sample(family: Metric, line_name: str, value: int) -> Metric:
    """Add ``value`` to the metric family as a sample of the named SAS line, and return the family."""
    family.add_sample(
        family.name + ("_total" if family.type == "counter" else ""), {"line": line_name}, value
    )
    return family
