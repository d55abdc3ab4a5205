"""The Keno office: tickets recorded before their draw, draws held for all of them, and claims paid once.

Clauses are of the Québec By-law respecting casino games (S-13.1 r.3). Each action is one entry of a journal
(:mod:`meters`) with two copies, a chain of hashes and a signature. So damage is detected, and after a power
loss an action is either recorded completely or not at all. Amounts of tickets are credits; the journal's
accounts are in minor units.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Self

from egm.errors import OperatorError
from egm.record_codec import from_json, stored_as, to_json
from meters import Journal, Transaction, Transfer
from paytables import Game, RecordingDrawSource
from paytables.contract import DrawSource, Json
from paytables.keno import claims
from paytables.keno.claims import (
    ClaimPayment,
    KenoTicketRecord,
    KenoTicketRefusal,
    KenoTicketState,
    PresentedTicket,
    TicketRefusedError,
)
from paytables.keno.draws import DrawnBalls, evaluate_ticket
from paytables.keno.limit import limit_prizes
from paytables.keno.printed_ticket import (
    Acknowledgement,
    is_same_control_number,
    is_well_formed_control_number,
    issue_ticket,
)
from paytables.keno.rules import find_keno_rules
from paytables.keno.tables import build_bonuses_in_force
from paytables.keno.ticket import exclude_unplayed_levels
from tools.floor.keno.entries import (
    KIND_BY_RECORD_CLASS,
    DrawFailed,
    DrawHeld,
    OfficeOpened,
    SalesClosed,
    TicketCancelled,
    TicketClaimed,
    TicketExpired,
    TicketPaid,
    TicketSold,
)

#: The form of a currency code (ISO 4217).
_CURRENCY_CODE_PATTERN: Final = re.compile("[A-Z]{3}")
#: The purpose that is stated to derive the secret of the control numbers.
_CONTROL_NUMBER_PURPOSE: Final = b"keno control number"
#: Accounts: money taken and paid at the desk; stakes of future draws; prizes and stakes owed; the venue's income.
DESK_ACCOUNT: Final = "keno:desk"
STAKED_ACCOUNT: Final = "keno:staked"
OWED_ACCOUNT: Final = "keno:owed"
HOUSE_ACCOUNT: Final = "keno:house"
#: Keys of the journal's state: the office, its counters, and its tickets by number.
_OFFICE_STATE_KEY: Final = "keno:office"
_COUNTERS_STATE_KEY: Final = "keno:counters"
TICKET_KEY_PREFIX: Final = "keno:ticket:"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeCounters:
    """The office's counters, as stored in its journal."""

    next_draw_number: int = field(default=1, metadata=stored_as("next_draw"))
    is_closed: bool = False
    """Whether the sales for the next draw are closed."""
    last_ticket_number: int = field(default=0, metadata=stored_as("last_ticket"))


@dataclass(frozen=True, slots=True)
class DrawResult:
    """A Keno draw that was held."""

    number: int
    drawn_balls: DrawnBalls
    prize_credits_by_ticket: Mapping[int, int]
    """The prize of each winning ticket, by ticket number."""


@dataclass(frozen=True, slots=True)
class OfficeTotals:
    """The totals of a Keno office since it was opened, as the command prints them; amounts are in minor units."""

    tickets: int
    """The number of tickets sold."""
    draws: int
    """The number of draws held or failed."""
    desk_cents: int
    """The money taken at the desk, less the money paid there."""
    staked_cents: int
    """The stakes that players have paid for draws not held yet."""
    owed_cents: int
    """The prizes, and stakes to be returned, that have not been paid out."""
    house_cents: int
    """The amount that the venue keeps."""


class KenoOffice:
    """A Keno office with one game and its journal; ``now`` returns the local time with its time zone."""

    def __init__(self, journal: Journal, game: Game, now: Callable[[], datetime]) -> None:
        """Continue the office that was opened in the journal.

        Raises OperatorError if it was opened for another game or version.
        """
        self.journal = journal
        self.game, self.rules = game, find_keno_rules(game)
        self._now = now
        self.opening_record = read_opened_office(journal)
        if self.opening_record.digest != game.digest:
            raise OperatorError(
                f"{journal.medium_folders[0]}: this office was opened for {self.opening_record.game_id} "
                f"{self.opening_record.version} with digest {self.opening_record.digest[:16]}, not for {game.id} "
                f"{game.version} with digest {game.digest[:16]}"
            )

    @classmethod
    def create(
        cls,
        journal: Journal,
        game: Game,
        now: Callable[[], datetime],
        *,
        source: str,
        casino: str,
        claim_place: str,
        unit_cents: int,
        currency: str = "CAD",
    ) -> Self:
        """Open a new office in an empty journal.

        ``source`` is the library id or file from which the game is loaded; ``unit_cents`` is the value of a
        credit. Raises OperatorError if the journal has an office already, if ``currency`` is not three
        capital letters, or if the game has no terms for tickets, has progressive levels, or does not offer
        this value of a credit.
        """
        definition = find_keno_rules(game).definition
        if journal.state(_OFFICE_STATE_KEY) is not None:
            raise OperatorError(f"{journal.medium_folders[0]}: there is a Keno office here already")
        if not _CURRENCY_CODE_PATTERN.fullmatch(currency):
            raise OperatorError(f"currency: expected three capital letters, such as CAD, not {currency!r}")
        if definition.terms is None:
            raise OperatorError(
                f"{game.id}: its definition has no [terms]: a ticket would have no claim period"
            )
        if definition.progressive_levels:
            raise OperatorError(
                f"{game.id}: it has progressive levels, and a Keno office has no controller of them"
            )
        if unit_cents not in game.denominations_cents:
            raise OperatorError(
                f"{game.id}: no credit of {unit_cents}: it offers {list(game.denominations_cents)}"
            )
        office_opened = OfficeOpened(
            source=source,
            game_id=game.id,
            version=game.version,
            digest=game.digest,
            casino=casino,
            claim_place=claim_place,
            unit_cents=unit_cents,
            currency=currency,
        )
        state = {_OFFICE_STATE_KEY: to_json(office_opened), _COUNTERS_STATE_KEY: to_json(OfficeCounters())}
        journal.append(
            Transaction(
                id="keno-office",
                kind=KIND_BY_RECORD_CLASS[OfficeOpened],
                record=to_json(office_opened),
                state=state,
            )
        )
        return cls(journal, game, now)

    # ------------------------------------------------------------------ tickets
    def sell(
        self, request: Mapping[str, Json], draw_source: DrawSource, *, station: str, is_paid: bool = True
    ) -> KenoTicketRecord:
        """Record the selections of a slip as a ticket, and return the ticket to print (ss. 80 to 82).

        ``draw_source`` chooses the numbers of quick picks. A ticket takes part in the next draws. Raises WagerError
        naming the invalid field of the request, and OperatorError after sales of a draw were closed until it
        is held.
        """
        counters = self._read_counters()
        self._require_open_sales(counters)
        ticket = self.rules.draw_quick_picks(self.rules.build_ticket(request), draw_source)
        number, first_draw, recorded_at = (
            counters.last_ticket_number + 1,
            counters.next_draw_number,
            self._now(),
        )
        acknowledgement = Acknowledgement(
            ticket_number=number,
            draw_numbers=tuple(range(first_draw, first_draw + ticket.draw_count)),
            recorded_at=recorded_at,
        )
        printed_ticket = issue_ticket(
            self.rules.definition,
            ticket,
            acknowledgement,
            key=self.journal.derive_key(_CONTROL_NUMBER_PURPOSE),
            casino=self.opening_record.casino,
            station=station,
            claim_place=self.opening_record.claim_place,
        )
        record = KenoTicketRecord(printed_ticket)
        sold_ticket = claims.record_ticket_payment(record) if is_paid else record
        self._write(
            f"keno-ticket-{number}.sold",
            TicketSold(recorded_at=recorded_at.isoformat(), number=number, station=station),
            {number: sold_ticket},
            self._build_transfers(
                (DESK_ACCOUNT, STAKED_ACCOUNT, printed_ticket.cost_credits if is_paid else 0)
            ),
            replace(counters, last_ticket_number=number),
        )
        return sold_ticket

    def pay(self, ticket_number: int) -> KenoTicketRecord:
        """Record that the player has paid the price of a ticket, which must be before its first draw (s. 83)."""
        record = claims.record_ticket_payment(self.find_ticket(ticket_number))
        transfers = self._build_transfers((DESK_ACCOUNT, STAKED_ACCOUNT, record.printed_ticket.cost_credits))
        self._write(
            f"keno-ticket-{ticket_number}.paid",
            TicketPaid(number=ticket_number),
            {ticket_number: record},
            transfers,
        )
        return record

    def cancel(self, ticket_number: int) -> int:
        """Cancel a ticket before its first draw; return the credits to give back."""
        record, refund_credits = claims.cancel_ticket(self.find_ticket(ticket_number))
        transfers = self._build_transfers((STAKED_ACCOUNT, DESK_ACCOUNT, refund_credits))
        self._write(
            f"keno-ticket-{ticket_number}.cancelled",
            TicketCancelled(number=ticket_number),
            {ticket_number: record},
            transfers,
        )
        return refund_credits

    def find_ticket(self, ticket_number: int) -> KenoTicketRecord:
        """Return the central record of a ticket.

        Raises TicketRefusedError if no such ticket was recorded, or if its record was removed (:meth:`expire_ticket`).
        """
        stored_ticket: Json = self.journal.state(f"{TICKET_KEY_PREFIX}{ticket_number}")
        if stored_ticket is None:
            raise TicketRefusedError(
                KenoTicketRefusal.NOT_PROVEN,
                f"no ticket {ticket_number} is recorded here, or its claim period is over",
            )
        return KenoTicketRecord.from_json(stored_ticket)

    def list_tickets(self) -> dict[int, KenoTicketRecord]:
        """Return the central records of the tickets that :meth:`expire` has not removed, by ascending ticket number."""
        stored_tickets: Mapping[str, Json] = self.journal.states(TICKET_KEY_PREFIX)
        data_by_number = {
            int(key.removeprefix(TICKET_KEY_PREFIX)): data for key, data in stored_tickets.items()
        }
        return {
            number: KenoTicketRecord.from_json(data_by_number[number]) for number in sorted(data_by_number)
        }

    # ------------------------------------------------------------------ draws
    def close_sales(self) -> int:
        """Close the sales for the next draw, and return its number.

        Tickets for this draw whose price is not paid become void (s. 83).
        """
        counters = self._read_counters()
        self._require_open_sales(counters)
        draw_number = counters.next_draw_number
        tickets = {
            ticket_number: claims.record_draw_closing(record, draw_number)
            for ticket_number, record in self.list_tickets().items()
            if draw_number in record.printed_ticket.draw_numbers and record.state is not KenoTicketState.VOID
        }
        void_numbers = tuple(
            ticket_number for ticket_number, record in tickets.items() if record.state is KenoTicketState.VOID
        )
        self._write(
            f"keno-draw-{draw_number}.closed",
            SalesClosed(draw=draw_number, tickets=(*tickets,), void_tickets=void_numbers),
            tickets,
            counters=replace(counters, is_closed=True),
        )
        return draw_number

    def conduct_draw(self, draw_source: DrawSource) -> DrawResult:
        """Draw the numbers of the draw whose sales are closed, and settle its tickets.

        If the prizes exceed the draw's limit, they are reduced so that all tickets share the limit. Raises
        OperatorError if the sales of no draw are closed.
        """
        draw_number, tickets = self._list_tickets_of_draw()
        definition = self.rules.definition
        recording_source = RecordingDrawSource(draw_source)
        all_bonuses = build_bonuses_in_force(definition, [bonus.id for bonus in definition.bonuses])
        drawn_balls = self.rules.draw_balls(recording_source, all_bonuses)
        prize_credits_by_ticket = self._compute_prizes(tickets, drawn_balls)
        drawn_at = self._now()
        won_credits_by_ticket = {
            ticket_number: credits_ for ticket_number, credits_ in prize_credits_by_ticket.items() if credits_
        }
        settled_tickets = {
            ticket_number: claims.settle_ticket_draw(
                record, draw_number, prize_credits_by_ticket[ticket_number], drawn_at.date()
            )
            for ticket_number, record in tickets.items()
        }
        self._write(
            f"keno-draw-{draw_number}.held",
            DrawHeld(
                recorded_at=drawn_at.isoformat(),
                draw=draw_number,
                balls=drawn_balls.balls,
                factors=drawn_balls.factor_by_bonus_id,
                draws=tuple(recording_source.records),
                prizes={
                    str(ticket_number): credits_ for ticket_number, credits_ in won_credits_by_ticket.items()
                },
            ),
            settled_tickets,
            self._build_transfers(
                (
                    STAKED_ACCOUNT,
                    HOUSE_ACCOUNT,
                    sum(record.printed_ticket.cost_per_draw_credits for record in tickets.values()),
                ),
                (HOUSE_ACCOUNT, OWED_ACCOUNT, sum(prize_credits_by_ticket.values())),
            ),
            self._build_next_draw_counters(),
        )
        return DrawResult(draw_number, drawn_balls, won_credits_by_ticket)

    def fail_draw(self, reason: str) -> int:
        """Record that the draw whose sales are closed cannot be held; return its number.

        Its stakes are then owed to the holders of the tickets. Raises OperatorError if the sales of no draw are closed.
        """
        draw_number, tickets = self._list_tickets_of_draw()
        failed_at = self._now()
        failed_tickets = {
            ticket_number: claims.record_draw_fault(record, draw_number, failed_at.date())
            for ticket_number, record in tickets.items()
        }
        staked_credits = sum(record.printed_ticket.cost_per_draw_credits for record in tickets.values())
        self._write(
            f"keno-draw-{draw_number}.failed",
            DrawFailed(recorded_at=failed_at.isoformat(), draw=draw_number, reason=reason),
            failed_tickets,
            self._build_transfers((STAKED_ACCOUNT, OWED_ACCOUNT, staked_credits)),
            self._build_next_draw_counters(),
        )
        return draw_number

    # ------------------------------------------------------------------ claims
    def claim(self, presented_ticket: PresentedTicket, *, claim_place: str) -> ClaimPayment:
        """Pay the holder of a ticket everything that its draws have won and that is not paid yet (s. 86).

        The control number identifies the ticket. Raises TicketRefusedError with the first reason for a refusal.
        """
        given_control_number = presented_ticket.control_number or ""
        tickets = self.list_tickets().values() if is_well_formed_control_number(given_control_number) else ()
        claimed_ticket = next(
            (
                record
                for record in tickets
                if is_same_control_number(record.printed_ticket.control_number, given_control_number)
            ),
            None,
        )
        if claimed_ticket is None:
            raise TicketRefusedError(
                KenoTicketRefusal.NOT_PROVEN,
                f"no ticket recorded here has this control number (condition of the paper:"
                f" {presented_ticket.condition})",
            )
        claimed_at = self._now()
        record, payment = claims.claim_ticket(
            claimed_ticket, presented_ticket, claim_place=claim_place, claimed_at=claimed_at
        )
        number = record.printed_ticket.ticket_number
        self._write(
            f"keno-ticket-{number}.claimed-{payment.draws[0]}",
            TicketClaimed(
                recorded_at=claimed_at.isoformat(),
                number=number,
                draws=payment.draws,
                claim_place=claim_place,
                condition=presented_ticket.condition.value,
                differing_values=payment.differing_values,
            ),
            {number: record},
            self._build_transfers((OWED_ACCOUNT, DESK_ACCOUNT, payment.credits)),
        )
        return payment

    def expire(self) -> dict[int, int]:
        """Remove the records of tickets that are void or cancelled, or whose claim period is over.

        Return, by ticket number, the credits that were not claimed.
        """
        unclaimed_credits_by_ticket: dict[int, int] = {}
        for number in self.list_tickets():
            with suppress(TicketRefusedError):  # its claim period is not over yet
                unclaimed_credits_by_ticket[number] = self.expire_ticket(number)
        return unclaimed_credits_by_ticket

    def expire_ticket(self, ticket_number: int) -> int:
        """Remove the record of a ticket that is void or cancelled, or whose claim period is over.

        Return the credits that were not claimed.

        Raises TicketRefusedError for any other ticket.
        """
        record, expired_at = self.find_ticket(ticket_number), self._now()
        credits_ = (
            0 if record.state is KenoTicketState.VOID else claims.expire_ticket(record, expired_at.date())[1]
        )
        self._write(
            f"keno-ticket-{ticket_number}.expired",
            TicketExpired(
                recorded_at=expired_at.isoformat(), number=ticket_number, unclaimed_credits=credits_
            ),
            {ticket_number: None},
            self._build_transfers((OWED_ACCOUNT, HOUSE_ACCOUNT, credits_)),
        )
        return credits_

    def compute_totals(self) -> OfficeTotals:
        """Return the office's totals. Raises OperatorError if its accounts differ from its tickets."""
        tickets, unit_cents = self.list_tickets().values(), self.opening_record.unit_cents
        staked_credits = sum(
            record.printed_ticket.cost_per_draw_credits
            * (len(record.printed_ticket.draw_numbers) - len(record.decided_draws))
            for record in tickets
            if record.state in {KenoTicketState.SOLD, KenoTicketState.IN_PLAY}
        )
        owed_credits = sum(record.unpaid_credits for record in tickets)
        for account, credits_ in ((STAKED_ACCOUNT, staked_credits), (OWED_ACCOUNT, owed_credits)):
            balance_cents = self.journal.balance_cents(account)
            if balance_cents != credits_ * unit_cents:
                raise OperatorError(
                    f"account {account} has {balance_cents} cents, "
                    f"but the tickets add up to {credits_ * unit_cents} cents"
                )
        counters = self._read_counters()
        return OfficeTotals(
            tickets=counters.last_ticket_number,
            draws=counters.next_draw_number - 1,
            desk_cents=-self.journal.balance_cents(DESK_ACCOUNT),
            staked_cents=staked_credits * unit_cents,
            owed_cents=owed_credits * unit_cents,
            house_cents=self.journal.balance_cents(HOUSE_ACCOUNT),
        )

    # ------------------------------------------------------------------ writing
    def _read_counters(self) -> OfficeCounters:
        """Return the office's counters from the journal: next draw, last ticket, whether sales are closed."""
        return from_json(OfficeCounters, self.journal.state(_COUNTERS_STATE_KEY), _COUNTERS_STATE_KEY)

    def _require_open_sales(self, counters: OfficeCounters) -> None:
        """Raise OperatorError if the sales of a draw are closed and the draw has not been held or declared failed."""
        if counters.is_closed:
            raise OperatorError(
                f"draw {counters.next_draw_number} is closed: hold it, or record that it failed"
            )

    def _list_tickets_of_draw(self) -> tuple[int, dict[int, KenoTicketRecord]]:
        """Return the number of the draw whose sales are closed, and its tickets.

        Raises OperatorError if the sales of no draw are closed.
        """
        counters = self._read_counters()
        draw_number = counters.next_draw_number
        if not counters.is_closed:
            raise OperatorError(
                f"sales for draw {draw_number} have not ended: close them first, with `egm keno-office close`"
            )
        tickets = self.list_tickets().items()
        return draw_number, {
            ticket_number: record
            for ticket_number, record in tickets
            if draw_number in record.closed_draws and record.state is KenoTicketState.IN_PLAY
        }

    def _build_next_draw_counters(self) -> OfficeCounters:
        """Return the office's counters for the time after this draw: the next draw's number, its sales open.

        They are not stored here.
        """
        counters = self._read_counters()
        return replace(counters, next_draw_number=counters.next_draw_number + 1, is_closed=False)

    def _compute_prizes(
        self, tickets: Mapping[int, KenoTicketRecord], drawn_balls: DrawnBalls
    ) -> dict[int, int]:
        """Return the prize of each ticket in a draw, in credits.

        If the prizes exceed the draw's limit, they are reduced so that all tickets share the limit.
        """
        owner_ticket_numbers: list[int] = []
        prize_credits: list[int] = []
        for number, record in tickets.items():
            ticket = self.rules.build_ticket(record.printed_ticket.wager_options)
            paid_ways = evaluate_ticket(
                exclude_unplayed_levels(self.rules.keno_pays, ticket), ticket, drawn_balls
            )
            owner_ticket_numbers += [number] * len(paid_ways)
            prize_credits += [way.credits for way in paid_ways]
        prize_credits_by_ticket = dict.fromkeys(tickets, 0)
        for number, paid_credits in zip(
            owner_ticket_numbers,
            limit_prizes(prize_credits, self.rules.definition.prize_limit_credits),
            strict=True,
        ):
            prize_credits_by_ticket[number] += paid_credits
        return prize_credits_by_ticket

    def _build_transfers(self, *movements: tuple[str, str, int]) -> tuple[Transfer, ...]:
        """Return the transfers for movements of credits (source, target, credits); those of 0 credits are left out."""
        unit_cents = self.opening_record.unit_cents
        return tuple(
            Transfer(source, target, credits_ * unit_cents)
            for source, target, credits_ in movements
            if credits_
        )

    def _write(
        self,
        entry_id: str,
        record: object,
        tickets: Mapping[int, KenoTicketRecord | None],
        transfers: tuple[Transfer, ...] = (),
        counters: OfficeCounters | None = None,
    ) -> None:
        """Append one entry to the journal, with the changed records of tickets.

        ``tickets`` maps ticket numbers to records; None removes a ticket's record.
        """
        state: dict[str, Json] = {
            f"{TICKET_KEY_PREFIX}{ticket_number}": None if ticket_record is None else ticket_record.to_json()
            for ticket_number, ticket_record in tickets.items()
        }
        if counters is not None:
            state[_COUNTERS_STATE_KEY] = to_json(counters)
        self.journal.append(
            Transaction(
                id=entry_id,
                kind=KIND_BY_RECORD_CLASS[type(record)],
                transfers=transfers,
                record=to_json(record),
                state=state,
            )
        )


def check_journal_is_empty_or_own(journal: Journal) -> None:
    """Raise OperatorError if a journal has entries but no Keno office, because it then belongs to another program."""
    if journal.sequence > journal.genesis.sequence and journal.state(_OFFICE_STATE_KEY) is None:
        raise OperatorError(
            f"{journal.medium_folders[0]}: there is another journal here; give an empty folder"
        )


def read_opened_office(journal: Journal) -> OfficeOpened:
    """Return the record with which a journal's office was opened. Raises OperatorError if no office was opened."""
    office_state = journal.state(_OFFICE_STATE_KEY)
    if office_state is None:
        raise OperatorError(
            f"{journal.medium_folders[0]}: no Keno office was opened here: open one with `egm keno-office open`"
        )
    return from_json(OfficeOpened, office_state, _OFFICE_STATE_KEY)


def open_journal(folder: Path, now: Callable[[], datetime], second_folder: Path | None = None) -> Journal:
    """Open and return the journal of a Keno office; only one process at a time can have it open.

    ``now`` returns the time for entries; ``second_folder`` is the folder of the second copy.
    """
    return Journal.open(folder, now=now, second_folder=second_folder, machine_id="keno-office")
