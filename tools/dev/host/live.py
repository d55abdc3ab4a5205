"""Terminal display of a host: link, machine, meters, received messages, tickets and transfers."""

from typing import Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table

from tools.cli.terminal import escape_markup
from tools.dev.host.conversation import Link
from tools.dev.host.host import Host
from tools.dev.host.poll import METER_NAMES

_HEARD: Final = 14
_ROWS: Final = 8
#: What the live picture asks for, again and again, in one poll: credits, play, bills, tickets, transfers.
METERS: Final = (0x0C, 0x1B, 0x00, 0x01, 0x05, 0x06, 0x0B, 0x15, 0x16, 0x17, 0x18)


def money(cents: int) -> str:
    """Cents as people write them."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def picture(host: Host, typed: str = "") -> RenderableType:
    """Everything at a glance; ``typed``: the command line being written."""
    upper = Table.grid(expand=True)
    upper.add_column(ratio=1)
    upper.add_column(ratio=1)
    upper.add_row(_line(host), _meters(host))
    upper.add_row(_tickets(host), _transfers(host))
    return Group(upper, _heard(host), f"> {typed}")


def _line(host: Host) -> Panel:
    count = host.conversation.count
    identity = host.known.identity
    table = Table.grid(padding=(0, 2))
    up = host.conversation.link is Link.UP
    table.add_row("link", f"[{'green' if up else 'red'}]{host.conversation.link}[/]")
    table.add_row("port", f"{host.line.port} ({host.line.wire}), address {host.conversation.address}")
    table.add_row(
        "machine",
        f"{escape_markup(host.known.serial or '-')}, SAS {escape_markup(host.known.version or '-')}",
    )
    table.add_row(
        "paytable", escape_markup(f"{identity.get('paytable_id', '-')} {identity.get('base_percent', '')}")
    )
    table.add_row("polls", f"{count.polls}, {count.silences} unanswered, {count.damaged} damaged")
    table.add_row("answer", f"{host.line.latency_seconds * 1000:.1f} ms, {count.late} over 20 ms")
    return Panel(table, title="line")


def _meters(host: Host) -> Panel:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    for code, value in host.known.meters.items():
        table.add_row(METER_NAMES.get(int(code), code), str(value))
    return Panel(table, title="meters, in credits")


def _tickets(host: Host) -> Panel:
    table = Table.grid(padding=(0, 2))
    for ticket in host.store.tickets()[-_ROWS:]:
        table.add_row(
            escape_markup(ticket.number), money(ticket.amount_cents), str(ticket.kind), str(ticket.state)
        )
    return Panel(table, title="tickets")


def _transfers(host: Host) -> Panel:
    table = Table.grid(padding=(0, 2))
    for transfer in host.store.transfers()[-_ROWS:]:
        way = "in" if transfer.to_machine else "out"
        status = "" if transfer.status is None else f"{transfer.status:02X}"
        table.add_row(
            escape_markup(transfer.id), way, money(transfer.amounts.total_cents), str(transfer.state), status
        )
    return Panel(table, title="transfers")


def _heard(host: Host) -> Panel:
    table = Table.grid(padding=(0, 2))
    for report in list(host.reports)[-_HEARD:]:
        table.add_row(f"{report.at:%H:%M:%S}", escape_markup(report.text))
    return Panel(table, title="heard")
