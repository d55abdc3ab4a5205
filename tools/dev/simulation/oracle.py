"""Oracle of a simulation: books of its own, from what lies in boxes, trays and pockets and on the screen.

Only two things of the journal go into them: what persons ruled (disputed amounts, hand-pays given up, tickets
found), and the bets of tables that were given back at a cash-out, which no screen shows for a table that is
not selected. When the machine rests, paid out and mended, its meters must be these books, its ticket ledger
the papers, and ``tools.audit`` must accept its export and play every game again.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Final

from egm.tickets.ledger_access import open_beside
from egm.tickets.model import TicketState
from meters import Journal, Phase, export, open_view
from meters.keys import MachineKey
from meters.recall import details
from meters.storage import DiskStorage
from tools.audit.games import Shelf
from tools.audit.verify import Auditor
from tools.dev.simulation.link import LINKED, STAKE_CENTS, FloorLink
from tools.dev.simulation.player import Player
from tools.dev.simulation.world import World

#: In the folder of a world: the export that was audited.
EXPORT: Final = Path("export.jsonl")
_AMOUNT: Final = re.compile(r"[$€]\s?([\d,]+)\.(\d\d)|([\d\s]+),(\d\d)\s?[$€]")


@dataclass(slots=True)
class Verdict:
    """What a comparison came to: sums in minor units by name, games replayed, and all that does not agree."""

    entries: int = 0
    games: int = 0
    cents: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def agree(self, what: str, machine_cents: int, books_cents: int, doubt_cents: int = 0) -> None:
        """Hold the machine against the books, but for what persons had to decide unseen."""
        self.cents[what] = machine_cents
        if abs(machine_cents - books_cents) > doubt_cents:
            self.wrong.append(f"{what}: the machine says {machine_cents}, the books {books_cents}")


@dataclass(slots=True)
class Books:
    """What came in and went out, as one could count it by hand."""

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
    """The amount on a ticket, read as a cashier does."""
    found = (figures for line in lines for figures in _AMOUNT.findall(line))
    amounts = {int(re.sub(r"\D", "", "".join(figures))) for figures in found}
    assert len(amounts) == 1, f"a ticket with the amounts {amounts}: {lines}"
    return amounts.pop()


def reckon(world: World, players: Mapping[int, Player], now: datetime) -> Verdict:
    """Hold machine, books, tickets and audit against each other, the machine being at rest and off."""
    verdict = Verdict()
    books = Books.of(world, players)
    with Journal.open(world.folder.root, now=lambda: now) as journal:
        journal.self_audit()
        verdict.entries = journal.sequence
        doubt = _in_doubt(journal)
        given_up = _given_up(journal)
        books.redeemed += sum(
            int(details(entry)["amount_cents"]) for entry in journal.entries("orphan.ticket")
        )
        taken_down = sum(int(details(entry)["amount_cents"]) for entry in journal.entries("table.returned"))
        read = journal.meters()
        by_position = {n: dict(read.where(position=n).values) for n in players}
        hosts = [account for account, _ in _HOSTS]
        balance = {account: abs(journal.balance_cents(account)) for account in (*_IN, *_OUT, *_HOUSE, *hosts)}
        drop = read.values["coin_drop"]
        names = {
            transfer.source
            for entry in journal.entries()
            for transfer in entry.transfers
            if transfer.source.startswith("house:progressive:")
        }
        levels = {name: -journal.balance_cents(name) for name in sorted(names)}
        credit = sum(journal.balance_cents(f"credit:{n}:cashable") for n in players)
    for position, cents in books.bills.items():
        seen = by_position[position].get("bill_in.value", 0) if len(players) > 1 else balance["world:bill"]
        verdict.agree(f"bills in at {position}", seen, cents, doubt["bill_acceptor"])
    verdict.agree("coins in", balance["world:coin"], books.coins, doubt["coin_acceptor"])
    verdict.agree("coins in the drop box", drop, books.dropped, doubt["coin_acceptor"])
    verdict.agree("tickets in", balance["world:voucher_in:cashable"], books.redeemed)
    verdict.agree("tickets out", balance["out:voucher:cashable"], sum(books.papers.values()))
    verdict.agree("coins out", balance["out:hopper"], books.tray, doubt["hopper"])
    by_hand = sum(balance[account] for account in _OUT if account.startswith("out:handpay"))
    books.by_hand -= given_up.total()
    verdict.agree("paid by hand", by_hand, books.by_hand)
    doubled = balance["house:double_up_win"] - balance["house:double_up_bet"]
    books.won -= given_up["house:attendant_jackpot"]
    verdict.agree("won", sum(balance[account] for account in _WON) + doubled, books.won + taken_down)
    linked = {name for name in levels if name.rpartition(":")[2] in LINKED}
    own = sum(cents for name, cents in levels.items() if name not in linked)
    forfeited = {name: given_up[name] for name in levels}
    verdict.agree(
        "own levels", own, books.own_levels - sum(forfeited[name] for name in levels.keys() - linked)
    )
    verdict.agree("credit left", credit, 0)
    came = sum(books.bills.values()) + books.coins + books.redeemed
    went = sum(books.papers.values()) + books.tray + books.by_hand
    if world.bank is not None:
        for account, way in _HOSTS:
            verdict.agree(f"host, {way}", balance[account], world.bank.moved(way))
        came += world.bank.moved("in") + world.bank.moved("bonus")
        went += world.bank.moved("out")
    staked = sum(balance[account] for account in _STAKED)
    verdict.agree(
        "kept by the house",
        staked - sum(balance[account] for account in _BACK) - sum(levels.values()),
        came - went,
        sum(doubt.values()),
    )
    if world.link is not None:
        verdict.agree("linked levels", sum(levels[name] for name in linked), world.link.paid_cents())
        _contributions(world.link, players, verdict)
    _tickets(world, books, verdict)
    _audit(world, now, verdict)
    for player in players.values():
        verdict.wrong += player.seen.wrong
    return verdict


_IN: Final = ("world:bill", "world:coin", "world:voucher_in:cashable")
_OUT: Final = (
    "out:voucher:cashable",
    "out:hopper",
    "out:handpay_cancelled_credit",
    "out:handpay_jackpot",
    "out:handpay_progressive",
    "out:handpay_bonus",
    "out:handpay_disputed",
)
_HOSTS: Final = (
    ("world:aft_in:cashable", "in"),
    ("out:aft_out:cashable", "out"),
    ("house:bonus", "bonus"),
)
_WON: Final = ("house:win", "house:push", "house:attendant_jackpot")
_BACK: Final = (*_WON, "house:double_up_win", "house:residual_win", "house:refund_defect", "house:disputed")
#: What the house takes of credit: stakes, rests, and what persons ruled to be the player's no more.
_STAKED: Final = (
    *(
        "house:wager",
        "house:double_up_bet",
        "house:residual",
        "house:forfeit",
        "house:orphan",
        "house:expired",
    ),
)
_HOUSE: Final = (*_STAKED, *_BACK)


def _contributions(link: FloorLink, players: Mapping[int, Player], verdict: Verdict) -> None:
    """What the controller counted is the share of every stake a screen has shown the end of."""
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
    """The ledger of whoever validates and the papers are the same, one by one."""
    if world.bank is not None:
        vouchers = world.bank.vouchers.items()
        ledger = {number: voucher.cents for number, voucher in vouchers if voucher.was_issued}
    else:
        with open_beside(world.folder.root) as store:
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


def _told_cents(journal: Journal, kind: str) -> int:
    return sum(int(details(entry)["amount_cents"]) for entry in journal.entries(kind))


def _in_doubt(journal: Journal) -> Counter[str]:
    """What was ruled on, by device: of a note, or of coins, nobody could tell where they are."""
    found: Counter[str] = Counter()
    for told in map(details, journal.entries("disputed.ruled")):
        if "number" not in told:
            found[str(told["device"])] += int(told["most_cents"])
    return found


def _given_up(journal: Journal) -> Counter[str]:
    """What persons ruled of hand-pays that nobody was paid, by the account it had been reserved from.

    What is an orphan was won all the same, and left the house by its register.
    """
    reserved = {entry.id: entry for entry in journal.entries() if entry.transaction.phase is Phase.RESERVE}
    found: Counter[str] = Counter()
    for kind in ("forfeit.prize", "handpay.unclaimed"):
        for ruled in journal.entries(kind):
            for flow in reserved[ruled.transaction.ref or ""].transfers:
                if flow.target.startswith("out:"):
                    found[flow.source if kind == "forfeit.prize" else "house:orphan"] += flow.amount_cents
    return found


def _audit(world: World, now: datetime, verdict: Verdict) -> None:
    """The independent audit of the export: chain, signatures, balances, meters, every game played again."""
    key = MachineKey.load(DiskStorage(), world.folder.root)
    if key is None:
        verdict.wrong.append("there is no machine key to sign an export with")
        return
    folder = world.folder.root.parent
    with open_view(world.folder.root) as view, (folder / EXPORT).open("wb") as file:
        export.write(view, key, file, now)
    with (folder / EXPORT).open("rb") as file:
        reader = export.ExportReader(file, "simulation")
        report = Auditor(Shelf((folder,))).run(
            reader.bodies(), head=(reader.header.sequence, reader.header.head_hash)
        )
    verdict.games = report.games
    verdict.wrong += [f"audit: entry {each.sequence} {each.id}: {each.why}" for each in report.findings]
    if report.games_open:
        verdict.wrong.append(f"audit: {report.games_open} games were never closed")
