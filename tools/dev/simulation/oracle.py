"""Reconcile a simulated machine with independent books of its boxes, trays, tickets and screens.

Only two facts come from the journals: the rulings (disputed amounts, cancelled hand-pays, found tickets), and the
table bets returned at a cash-out, which no screen shows for a table that is not selected. When the machine is idle,
paid out and repaired, its meters must equal these books, its ticket ledger must equal the printed tickets, and
``tools.audit`` must accept the export of each of its journals and replay every game.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from typing import Final

from egm.tickets.ledger_access import open_machine_ledger
from egm.tickets.model import TicketState
from tools.dev.simulation.history import (
    CREDIT_TAKEN_ACCOUNTS,
    DISPUTED_TICKET_KEY,
    HOST_DIRECTION_BY_ACCOUNT,
    MONEY_OUT_ACCOUNTS,
    RETURNED_CREDIT_ACCOUNTS,
    WIN_ACCOUNTS,
    History,
    read_history,
)
from tools.dev.simulation.link import LINKED_LEVELS, STAKE_CENTS, FloorLink
from tools.dev.simulation.player import Player
from tools.dev.simulation.rounds import find_unbalanced_rounds
from tools.dev.simulation.world import SimulatedWorld

_PRINTED_AMOUNT_PATTERN: Final = re.compile(r"[$€]\s?([\d,]+)\.(\d\d)|([\d\s]+),(\d\d)\s?[$€]")


@dataclass(slots=True)
class ReconciliationResult:
    """Result of a reconciliation: sums in minor units by name, the number of games replayed, and every disagreement."""

    entries: int = 0
    games: int = 0
    audited_entries: int = 0
    """The number of entries of the current journal if it was audited, otherwise 0."""
    cents: dict[str, int] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    def compare(self, name: str, machine_cents: int, books_cents: int, disputed_cents: int = 0) -> None:
        """Record a disagreement if the two amounts differ by more than ``disputed_cents``."""
        self.cents[name] = machine_cents
        if abs(machine_cents - books_cents) > disputed_cents:
            self.findings.append(f"{name}: the machine says {machine_cents}, the books {books_cents}")


@dataclass(slots=True)
class CountedBooks:
    """The amounts that went into and out of the machine, as people could count them by hand."""

    bills_cents: dict[int, int] = field(default_factory=dict)
    """The value of the bills in the box, by player position."""
    coins_cents: int = 0
    dropped_cents: int = 0
    """The value of the coins in the drop box."""
    tickets: dict[str, int] = field(default_factory=dict)
    """The printed amount of every ticket with a complete bar code, by ticket number."""
    redeemed_cents: int = 0
    """The total printed amount of the tickets in the boxes."""
    tray_cents: int = 0
    hand_paid_cents: int = 0
    won_cents: int = 0
    """Wins shown on the screens, without progressive wins."""
    own_levels_cents: int = 0
    """The wins of the machine's own progressive levels, as shown on the screens."""

    @classmethod
    def count(cls, world: SimulatedWorld, players: Mapping[int, Player]) -> "CountedBooks":
        """Return the books: the counts of all devices, printed tickets and screens."""
        books = cls()
        for name in world.find_devices("ticket_printer").values():
            for ticket in world.describe_device(name)["printed"]:
                if ticket["barcode_complete"] and ticket["barcode"]:
                    books.tickets[ticket["barcode"]] = _read_printed_cents(ticket["lines"])
        for position, name in world.find_devices("bill_acceptor").items():
            description = world.describe_device(name)
            books.bills_cents[position] = description["stacked_cents"]
            books.redeemed_cents += sum(
                books.tickets[item] for item in description["stacked"] if isinstance(item, str)
            )
        for name in world.find_devices("coin_acceptor").values():
            description = world.describe_device(name)
            books.coins_cents += description["hopper_cents"] + description["drop_cents"]
            books.dropped_cents += description["drop_cents"]
        for name in world.find_devices("hopper").values():
            books.tray_cents += world.describe_device(name)["tray_coins"] * (
                world.profile.coins.hopper_coin_cents or 0
            )
        for player in players.values():
            books.hand_paid_cents += sum(payment.amount_cents for payment in player.observed.hand_payments)
            for play in player.observed.games.values():
                progressive_wins = {win.id: win.amount_cents or 0 for win in play.progressives}
                books.won_cents += play.paid_cents - sum(progressive_wins.values())
                books.own_levels_cents += sum(
                    cents for name, cents in progressive_wins.items() if name not in LINKED_LEVELS
                )
        return books


def _read_printed_cents(lines: list[str]) -> int:
    """Return the amount printed on a ticket in minor units, read from its lines as a cashier does."""
    digit_groups = (figures for line in lines for figures in _PRINTED_AMOUNT_PATTERN.findall(line))
    amounts = {int(re.sub(r"\D", "", "".join(figures))) for figures in digit_groups}
    assert len(amounts) == 1, f"a ticket with the amounts {amounts}: {lines}"
    return amounts.pop()


def reconcile(
    world: SimulatedWorld, players: Mapping[int, Player], now: datetime, *, audit_from: int = 0
) -> ReconciliationResult:
    """Compare the machine, which is idle and off, with the books, the tickets and the audit.

    The current journal is audited if it has at least ``audit_from`` entries.
    """
    verdict = ReconciliationResult()
    books = CountedBooks.count(world, players)
    paid_at_clears = world.clears.paid_by_hand_cents
    current = read_history(
        world.folder.root, now, len(players), world.folder.root.parent, is_idle=True, audit_from=audit_from
    )
    machine = History()
    for history in (*world.clears.histories, current):
        machine.add(history)
    verdict.entries, verdict.games = machine.entries, machine.games
    verdict.audited_entries = current.entries if current.is_audited else 0
    balance = machine.balance
    disputed_cents = machine.disputed_cents_by_device
    forfeited_cents_by_account = machine.forfeited_cents_by_account
    books.redeemed_cents += machine.orphan_cents
    for position, cents in books.bills_cents.items():
        verdict.compare(
            f"bills in at {position}", machine.bills[position], cents, disputed_cents["bill_acceptor"]
        )
    verdict.compare("coins in", balance["world:coin"], books.coins_cents, disputed_cents["coin_acceptor"])
    verdict.compare(
        "coins in the drop box", machine.drop_cents, books.dropped_cents, disputed_cents["coin_acceptor"]
    )
    verdict.compare(
        "tickets in",
        balance["world:voucher_in:cashable"],
        books.redeemed_cents,
        disputed_cents[DISPUTED_TICKET_KEY],
    )
    verdict.compare("tickets out", balance["out:voucher:cashable"], sum(books.tickets.values()))
    verdict.compare("coins out", balance["out:hopper"], books.tray_cents, disputed_cents["hopper"])
    hand_paid_cents = sum(
        balance[account] for account in MONEY_OUT_ACCOUNTS if account.startswith("out:handpay")
    )
    books.hand_paid_cents += paid_at_clears.total() - forfeited_cents_by_account.total() + machine.ruled_cents
    verdict.compare("paid by hand", hand_paid_cents, books.hand_paid_cents)
    double_up_cents = balance["house:double_up_win"] - balance["house:double_up_bet"]
    books.won_cents += (
        machine.returned_cents
        + paid_at_clears["table"]
        - forfeited_cents_by_account["house:attendant_jackpot"]
    )
    verdict.compare(
        "won", sum(balance[account] for account in WIN_ACCOUNTS) + double_up_cents, books.won_cents
    )
    linked_accounts = {name for name in machine.levels if name.rpartition(":")[2] in LINKED_LEVELS}
    own_levels_cents = sum(cents for name, cents in machine.levels.items() if name not in linked_accounts)
    given_up_own = sum(forfeited_cents_by_account[name] for name in machine.levels.keys() - linked_accounts)
    verdict.compare("own levels", own_levels_cents, books.own_levels_cents - given_up_own)
    verdict.compare("credit left", machine.credit_cents, 0)
    cents_in = sum(books.bills_cents.values()) + books.coins_cents + books.redeemed_cents
    cents_out = sum(books.tickets.values()) + books.tray_cents + books.hand_paid_cents
    if world.host is not None:
        for account, way in HOST_DIRECTION_BY_ACCOUNT.items():
            verdict.compare(f"host, {way}", balance[account], world.host.sum_moved_cents(way))
        cents_in += world.host.sum_moved_cents("in") + world.host.sum_moved_cents("bonus")
        cents_out += world.host.sum_moved_cents("out")
    net_win_cents = sum(balance[account] for account in CREDIT_TAKEN_ACCOUNTS) - sum(
        balance[account] for account in RETURNED_CREDIT_ACCOUNTS
    )
    verdict.compare(
        "net win of the venue",
        net_win_cents - machine.levels.total(),
        cents_in - cents_out,
        sum(disputed_cents.values()),
    )
    if world.link is not None:
        verdict.compare(
            "linked levels",
            sum(machine.levels[name] for name in linked_accounts),
            world.link.sum_paid_cents(),
        )
        _check_contributions(world.link, players, verdict)
    _check_tickets(world, books, verdict)
    _check_clears((*world.clears.histories, current), verdict)
    for box, counted_cents, metered_cents in machine.counts:
        device = {"bill_box": "bill_acceptor", "coin_box": "coin_acceptor"}[box]
        verdict.compare(f"counted of the {box}", metered_cents, counted_cents, disputed_cents[device])
    shown_plays = {name: play for player in players.values() for name, play in player.observed.games.items()}
    verdict.findings += find_unbalanced_rounds(machine.common_plays, shown_plays)
    verdict.findings += machine.findings
    for player in players.values():
        verdict.findings += player.observed.findings
    return verdict


def _check_clears(histories: Sequence[History], verdict: ReconciliationResult) -> None:
    """Check that each clear carried over as much credit as the previous journal owed."""
    for number, (before, after) in enumerate(pairwise(histories), 1):
        verdict.compare(f"carried over by clear {number}", after.carried_cents, before.owed_cents)


def _check_contributions(
    link: FloorLink, players: Mapping[int, Player], verdict: ReconciliationResult
) -> None:
    """Check the contributions that the controller counted.

    They must be the share of every stake whose game a screen has shown to its end.
    """
    stakes = sum(
        play.bet_credits * 5 == STAKE_CENTS and play.game_id == "three-levels"
        for player in players.values()
        for play in player.observed.games.values()
    )
    for level, share in (("TOP", Fraction(1, 70)), ("LUCKY", Fraction(1, 90) + Fraction(1, 1000))):
        if link.read_contributions(level) != stakes * STAKE_CENTS * share:
            verdict.findings.append(
                f"level {level}: {link.read_contributions(level)} contributed, of {stakes} stakes of {STAKE_CENTS}"
            )


def _check_tickets(world: SimulatedWorld, books: CountedBooks, verdict: ReconciliationResult) -> None:
    """Check that the ticket ledger of the validator and the printed tickets agree, ticket by ticket."""
    if world.host is not None:
        vouchers = world.host.tickets.items()
        ledger = {number: voucher.cents for number, voucher in vouchers if voucher.was_printed}
    else:
        with open_machine_ledger(world.folder.root) as store:
            ledger = {
                record.ticket.number: record.ticket.amount_cents
                for record in store.iter_records()
                if record.state in {TicketState.ISSUED, TicketState.REDEEMED}
            }
    for number in sorted(ledger.keys() ^ books.tickets.keys()):
        where = "in the ledger only" if number in ledger else "on paper only"
        verdict.findings.append(f"ticket {number}: {where}")
    verdict.findings += [
        f"ticket {number}: {books.tickets[number]} on paper, {ledger[number]} in the ledger"
        for number in sorted(ledger.keys() & books.tickets.keys())
        if ledger[number] != books.tickets[number]
    ]
