"""Measure tickets: the cost of storing one step of a ticket, and of drawing its picture.

The baseline of a step is the bare writes that it needs.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from egm.clock import SystemClock
from egm.tickets.desk import TicketDesk, TicketIssuer, TicketRules, build_stand_alone_numbering
from egm.tickets.model import Ticket, Venue
from egm.tickets.numbers import is_stand_alone_number
from egm.tickets.render import draw_ticket
from egm.tickets.store import TicketStore
from egm.tickets.templates import load_template
from rng import KernelSource, Personalization, RandomService
from tools.dev.bench import BenchFigure, measure_median_milliseconds

_MEASUREMENTS: Final = 60
#: Synced writes of one durable step: a line of the log, a commit of SQLite.
_WRITES_PER_STEP: Final = 2


def measure_figures() -> Iterator[BenchFigure]:
    """Yield the figures of tickets."""
    with tempfile.TemporaryDirectory() as folder, TicketStore.open(Path(folder), key=bytes(32)) as store:
        desk = _create_desk(store)
        bare_ms = _measure_bare_write_ms(Path(folder))
        count = iter(range(10**9))

        def issue() -> None:
            ticket = desk.prepare_ticket(f"issue-{next(count)}", 1234, denomination_cents=1)
            assert isinstance(ticket, Ticket)
            desk.record_printed(ticket.number)

        yield _build_step_figure(
            "ticket reserved and issued, two durable steps",
            measure_median_milliseconds(issue, _MEASUREMENTS),
            2 * bare_ms,
        )
        numbers = iter([record.ticket.number for record in store.iter_records()])

        def redeem() -> None:
            number = next(numbers)
            desk.begin_redemption(number, number)
            desk.commit_redemption(number)

        yield _build_step_figure(
            "ticket locked and redeemed, two durable steps",
            measure_median_milliseconds(redeem, _MEASUREMENTS),
            2 * bare_ms,
        )
        ticket = next(store.iter_records()).ticket
    template = load_template(ticket.template)
    yield BenchFigure(
        "ticket drawn, 1248 x 520 dots",
        measure_median_milliseconds(lambda: draw_ticket(ticket, template, "en"), _MEASUREMENTS),
        "ms",
        better_if="lower",
        target="below 100: a printer takes longer",
    )


def _build_step_figure(name: str, value: float, baseline: float) -> BenchFigure:
    return BenchFigure(
        name, value, "ms", "as many bare synced writes", baseline, better_if="lower", target="below 3"
    )


def _create_desk(store: TicketStore) -> TicketDesk:
    who = Personalization(product="bench", version="1", machine_serial="B", instance=1, boot_counter=1)
    generator = RandomService.start(personalization=who, sources=[KernelSource()])

    def below(bound: int) -> int:
        with generator.step() as step:
            return step.below(bound)

    return TicketDesk(
        store,
        TicketIssuer(serial="B", operator_number="1", venue=Venue(site="bench")),
        TicketRules(currency="CAD", template="generic", limit_cents=10**6, valid_days=365),
        SystemClock(),
        create_number=build_stand_alone_numbering(below),
        is_ticket_number=is_stand_alone_number,
    )


def _measure_bare_write_ms(folder: Path) -> float:
    """Return the milliseconds to append and sync 600 bytes to each of two files, as one step of a ticket does."""
    with (folder / "bare").open("ab", buffering=0) as file:

        def write() -> None:
            for _ in range(_WRITES_PER_STEP):
                file.write(bytes(600))
                os.fdatasync(file.fileno())

        return measure_median_milliseconds(write, _MEASUREMENTS)
