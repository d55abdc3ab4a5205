"""Oracle of a simulation: independent books of what is in boxes, trays and pockets and on the screen.

Only two facts come from the journals: what people ruled (disputed amounts, cancelled hand-pays, found
tickets), and the table bets returned at a cash-out, which no screen shows for a table that is not selected.
When the machine is idle, paid out and repaired, its meters must equal these books and its ticket ledger the
printed tickets, and ``tools.audit`` must accept the export of each of its journals and replay every game.
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
    GIVEN_BACK,
    HOST,
    MONEY_OUT,
    TAKEN,
    TICKET,
    WON,
    History,
    read_history,
)
from tools.dev.simulation.link import LINKED, STAKE_CENTS, FloorLink
from tools.dev.simulation.player import Player
from tools.dev.simulation.world import World

_AMOUNT: Final = re.compile(r"[$€]\s?([\d,]+)\.(\d\d)|([\d\s]+),(\d\d)\s?[$€]")


@dataclass(slots=True)
class Verdict:
    """Result of a comparison: sums in minor units by name, games replayed, and every disagreement."""

    entries: int = 0
    games: int = 0
    audited: int = 0
    """Entries of the journal in use, if the audit has read them."""
    cents: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def agree(self, what: str, machine_cents: int, books_cents: int, doubt_cents: int = 0) -> None:
        """Hold the machine against the books, but for what persons had to decide unseen."""
        self.cents[what] = machine_cents
        if abs(machine_cents - books_cents) > doubt_cents:
            self.wrong.append(f"{what}: the machine says {machine_cents}, the books {books_cents}")


@dataclass(slots=True)
class Books:
    """Amounts in and out, as a person could count them by hand."""

    bills: dict[int, int] = field(default_factory=dict)
    """By position."""
    coins: int = 0
    dropped: int = 0
    """Of the coins, those in the drop box."""
    papers: dict[str, int] = field(default_factory=dict)
    """Every ticket whose bar code came out whole: its number and the amount on it."""
    redeemed: int = 0
    """What is printed on the tickets that lie in the boxes."""
    tray: int = 0
    by_hand: int = 0
    won: int = 0
    """What the screens said was won, of progressive levels apart."""
    own_levels: int = 0
    """What they said was won of levels the machine keeps itself."""

    @classmethod
    def of(cls, world: World, players: Mapping[int, Player]) -> "Books":
        """Count everything."""
        books = cls()
        for name in world.of_kind("ticket_printer").values():
            for paper in world.say(name)["printed"]:
                if paper["barcode_complete"] and paper["barcode"]:
                    books.papers[paper["barcode"]] = _printed_cents(paper["lines"])
        for position, name in world.of_kind("bill_acceptor").items():
            said = world.say(name)
            books.bills[position] = said["stacked_cents"]
            books.redeemed += sum(books.papers[each] for each in said["stacked"] if isinstance(each, str))
        for name in world.of_kind("coin_acceptor").values():
            said = world.say(name)
            books.coins += said["hopper_cents"] + said["drop_cents"]
            books.dropped += said["drop_cents"]
        for name in world.of_kind("hopper").values():
            books.tray += world.say(name)["tray_coins"] * (world.profile.coins.hopper_cents or 0)
        for player in players.values():
            books.by_hand += sum(paid.amount_cents for paid in player.seen.by_hand)
            for play in player.seen.games.values():
                levels = {win.id: win.amount_cents or 0 for win in play.progressives}
                books.won += play.win_cents - sum(levels.values())
                books.own_levels += sum(cents for name, cents in levels.items() if name not in LINKED)
        return books


def _printed_cents(lines: list[str]) -> int:
    """Return the amount on a ticket, read as a cashier does."""
    found = (figures for line in lines for figures in _AMOUNT.findall(line))
    amounts = {int(re.sub(r"\D", "", "".join(figures))) for figures in found}
    assert len(amounts) == 1, f"a ticket with the amounts {amounts}: {lines}"
    return amounts.pop()


def reckon(world: World, players: Mapping[int, Player], now: datetime, *, audit_from: int = 0) -> Verdict:
    """Hold machine, books, tickets and audit against each other, the machine being at rest and off.

    The journal in use is audited if it has ``audit_from`` entries.
    """
    verdict = Verdict()
    books = Books.of(world, players)
    paid = world.clears.paid
    now_says = read_history(
        world.folder.root, now, len(players), world.folder.root.parent, at_rest=True, audit_from=audit_from
    )
    machine = History()
    for history in (*world.clears.histories, now_says):
        machine.add(history)
    verdict.entries, verdict.games = machine.entries, machine.games
    verdict.audited = now_says.entries if now_says.is_audited else 0
    balance, doubt, given_up = machine.balance, machine.in_doubt, machine.given_up
    books.redeemed += machine.orphan_cents
    for position, cents in books.bills.items():
        verdict.agree(f"bills in at {position}", machine.bills[position], cents, doubt["bill_acceptor"])
    verdict.agree("coins in", balance["world:coin"], books.coins, doubt["coin_acceptor"])
    verdict.agree("coins in the drop box", machine.drop_cents, books.dropped, doubt["coin_acceptor"])
    verdict.agree("tickets in", balance["world:voucher_in:cashable"], books.redeemed, doubt[TICKET])
    verdict.agree("tickets out", balance["out:voucher:cashable"], sum(books.papers.values()))
    verdict.agree("coins out", balance["out:hopper"], books.tray, doubt["hopper"])
    by_hand = sum(balance[account] for account in MONEY_OUT if account.startswith("out:handpay"))
    books.by_hand += paid.total() - given_up.total() + machine.ruled_cents
    verdict.agree("paid by hand", by_hand, books.by_hand)
    doubled = balance["house:double_up_win"] - balance["house:double_up_bet"]
    books.won += machine.returned_cents + paid["table"] - given_up["house:attendant_jackpot"]
    verdict.agree("won", sum(balance[account] for account in WON) + doubled, books.won)
    linked = {name for name in machine.levels if name.rpartition(":")[2] in LINKED}
    own = sum(cents for name, cents in machine.levels.items() if name not in linked)
    given_up_own = sum(given_up[name] for name in machine.levels.keys() - linked)
    verdict.agree("own levels", own, books.own_levels - given_up_own)
    verdict.agree("credit left", machine.credit_cents, 0)
    came = sum(books.bills.values()) + books.coins + books.redeemed
    went = sum(books.papers.values()) + books.tray + books.by_hand
    if world.bank is not None:
        for account, way in HOST.items():
            verdict.agree(f"host, {way}", balance[account], world.bank.moved(way))
        came += world.bank.moved("in") + world.bank.moved("bonus")
        went += world.bank.moved("out")
    kept = sum(balance[account] for account in TAKEN) - sum(balance[account] for account in GIVEN_BACK)
    verdict.agree("kept by the house", kept - machine.levels.total(), came - went, sum(doubt.values()))
    if world.link is not None:
        verdict.agree("linked levels", sum(machine.levels[name] for name in linked), world.link.paid_cents())
        _contributions(world.link, players, verdict)
    _tickets(world, books, verdict)
    _clears((*world.clears.histories, now_says), verdict)
    for box, counted_cents, metered_cents in machine.counts:
        device = {"bill_box": "bill_acceptor", "coin_box": "coin_acceptor"}[box]
        verdict.agree(f"counted of the {box}", metered_cents, counted_cents, doubt[device])
    verdict.wrong += machine.wrong
    for player in players.values():
        verdict.wrong += player.seen.wrong
    return verdict


def _clears(histories: Sequence[History], verdict: Verdict) -> None:
    """Each journal that a clear began was given the credit that the one before it owed."""
    for number, (before, after) in enumerate(pairwise(histories), 1):
        verdict.agree(f"carried over by clear {number}", after.carried_cents, before.owed_cents)


def _contributions(link: FloorLink, players: Mapping[int, Player], verdict: Verdict) -> None:
    """Check that the controller counted the share of every stake whose game a screen has shown to its end."""
    stakes = sum(
        play.bet_credits * 5 == STAKE_CENTS and play.game_id == "three-levels"
        for player in players.values()
        for play in player.seen.games.values()
    )
    for level, share in (("TOP", Fraction(1, 70)), ("LUCKY", Fraction(1, 90) + Fraction(1, 1000))):
        if link.contributed(level) != stakes * STAKE_CENTS * share:
            verdict.wrong.append(
                f"level {level}: {link.contributed(level)} contributed, of {stakes} stakes of {STAKE_CENTS}"
            )


def _tickets(world: World, books: Books, verdict: Verdict) -> None:
    """Check that the validator's ledger and the printed tickets agree, one by one."""
    if world.bank is not None:
        vouchers = world.bank.vouchers.items()
        ledger = {number: voucher.cents for number, voucher in vouchers if voucher.was_issued}
    else:
        with open_machine_ledger(world.folder.root) as store:
            ledger = {
                record.ticket.number: record.ticket.amount_cents
                for record in store.records()
                if record.state in {TicketState.ISSUED, TicketState.REDEEMED}
            }
    for number in sorted(ledger.keys() ^ books.papers.keys()):
        where = "in the ledger only" if number in ledger else "on paper only"
        verdict.wrong.append(f"ticket {number}: {where}")
    verdict.wrong += [
        f"ticket {number}: {books.papers[number]} on paper, {ledger[number]} in the ledger"
        for number in sorted(ledger.keys() & books.papers.keys())
        if ledger[number] != books.papers[number]
    ]
