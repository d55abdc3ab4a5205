"""Read one journal of a simulated machine and audit it independently.

An authorised clear starts a new journal, so a simulation has one history for each clear and one for the current
journal. Their sums are compared with the books (:mod:`tools.dev.simulation.oracle`).
"""

import shutil
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from meters import Journal, Phase, StoredEntry, export
from meters.machine_key import MachineKey
from meters.recall import read_details
from meters.storage import DiskStorage
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

#: File in the folder of a world: the export that was audited last.
EXPORT_FILE: Final = Path("export.jsonl")
_CARRIED_OVER_ACCOUNT: Final = "house:carried_over"
_LEVEL_ACCOUNT_PREFIX: Final = "house:progressive:"

MONEY_IN_ACCOUNTS: Final = ("world:bill", "world:coin", "world:voucher_in:cashable")
MONEY_OUT_ACCOUNTS: Final = (
    "out:voucher:cashable",
    "out:hopper",
    "out:handpay_cancelled_credit",
    "out:handpay_jackpot",
    "out:handpay_progressive",
    "out:handpay_bonus",
    "out:handpay_disputed",
)
#: Account -> which way the host's money went.
HOST_DIRECTION_BY_ACCOUNT: Final = {
    "world:aft_in:cashable": "in",
    "out:aft_out:cashable": "out",
    "house:bonus": "bonus",
}
WIN_ACCOUNTS: Final = ("house:win", "house:push", "house:attendant_jackpot")
RETURNED_CREDIT_ACCOUNTS: Final = (
    *(*WIN_ACCOUNTS, "house:double_up_win", "house:residual_win", "house:refund_defect", "house:disputed"),
)
#: Credit taken by the venue: stakes, residual credit, and credit that people ruled to be forfeit or unclaimed.
CREDIT_TAKEN_ACCOUNTS: Final = (
    "house:wager",
    "house:double_up_bet",
    "house:residual",
    "house:forfeit",
    "house:time_charge",
    "house:orphan",
    "house:expired",
)
#: Fields of which the last journal counts, instead of a sum over the journals.
_LAST_JOURNAL_FIELDS: Final = frozenset({"credit_cents", "owed_cents", "carried_cents", "is_audited"})
SUMMED_ACCOUNTS: Final = (
    *MONEY_IN_ACCOUNTS,
    *MONEY_OUT_ACCOUNTS,
    *HOST_DIRECTION_BY_ACCOUNT,
    *CREDIT_TAKEN_ACCOUNTS,
    *RETURNED_CREDIT_ACCOUNTS,
)
#: Key of :attr:`History.disputed_cents_by_device` for tickets that an acceptor may have taken.
DISPUTED_TICKET_KEY: Final = "ticket"


@dataclass(slots=True)
class History:
    """Sums of one journal, or of several journals added together; amounts are in minor units."""

    entries: int = 0
    games: int = 0
    balance: Counter[str] = field(default_factory=Counter)
    """The absolute value of each account's balance."""
    levels: Counter[str] = field(default_factory=Counter)
    """The progressive wins charged to each account."""
    bills: Counter[int] = field(default_factory=Counter)
    """The credit given for bills, by player position."""
    drop_cents: int = 0
    credit_cents: int = 0
    """The cashable credit on all player positions at the end."""
    owed_cents: int = 0
    """All credit of players at the end, including credit reserved for a payment."""
    carried_cents: int = 0
    """The credit that a memory clear carried over from the previous journal."""
    disputed_cents_by_device: Counter[str] = field(default_factory=Counter)
    """The most that can have been in question in disputed amounts, by device.

    These are amounts whose location was unknown and on which people ruled.
    """
    forfeited_cents_by_account: Counter[str] = field(default_factory=Counter)
    """The hand-pays that people ruled forfeit or unclaimed, by the account from which they were reserved."""
    orphan_cents: int = 0
    """The total amount of tickets that were found."""
    returned_cents: int = 0
    """The table bets that were returned to players at a cash-out."""
    ruled_cents: int = 0
    """The disputed amounts that people ruled to be paid by hand."""
    counts: list[tuple[str, int, int]] = field(default_factory=list)
    """The box, the counted amount and the metered amount of each count of a box, in minor units."""
    common_plays: list[tuple[str, str]] = field(default_factory=list)
    """The ids of the round and of the game, for each game that several positions played in one round."""
    findings: list[str] = field(default_factory=list)
    is_audited: bool = False

    def add(self, next_history: "History") -> None:
        """Add the sums of another journal of the same machine."""
        for name in self.__slots__:
            if name not in _LAST_JOURNAL_FIELDS:
                setattr(self, name, getattr(self, name) + getattr(next_history, name))
        for name in _LAST_JOURNAL_FIELDS:
            setattr(self, name, getattr(next_history, name))


def read_history(
    folder: Path, now: datetime, positions: int, games: Path, *, is_idle: bool, audit_from: int = 0
) -> History:
    """Open the journal of a stopped machine, audit it, and return its history.

    ``games`` is the folder of custom games, in which the export is left. ``is_idle``: the machine holds no money of a
    player, so no game may be open. A journal with fewer entries than ``audit_from`` is not audited, because an audit
    reads all entries and a long simulation reconciles very often.
    """
    history = History()
    with Journal.open(folder, now=lambda: now) as journal:
        journal.self_audit()
        history.entries = journal.sequence
        _read_journal(journal, history, positions)
        if history.entries >= audit_from:
            _audit_export(journal, folder, now, games, history, is_idle=is_idle)
            history.is_audited = True
    return history


def read_copy(folder: Path, now: datetime, positions: int, games: Path) -> History:
    """Read the journal of a state folder from a copy, so that opening it changes nothing."""
    scratch = games / "copy"
    shutil.copytree(folder, scratch, ignore=shutil.ignore_patterns("run", "cleared"))
    try:
        return read_history(scratch, now, positions, games, is_idle=False)
    finally:
        shutil.rmtree(scratch)


def _read_journal(journal: Journal, history: History, positions: int) -> None:
    meters_read = journal.meters()
    history.balance.update({account: abs(journal.balance_cents(account)) for account in SUMMED_ACCOUNTS})
    history.drop_cents = meters_read.values["coin_drop"]
    numbers = range(1, positions + 1)
    if positions > 1:
        for number in numbers:
            history.bills[number] = dict(meters_read.select(position=number).values).get("bill_in.value", 0)
    else:
        history.bills[1] = abs(journal.balance_cents("world:bill"))
    history.credit_cents = sum(journal.balance_cents(f"credit:{n}:cashable") for n in numbers)
    history.owed_cents = journal.credits_cents()
    history.carried_cents = -journal.balance_cents(_CARRIED_OVER_ACCOUNT)
    reserved: dict[str, StoredEntry] = {}
    names: set[str] = set()
    for entry in journal.entries():
        names.update(flow.source for flow in entry.transfers if flow.source.startswith(_LEVEL_ACCOUNT_PREFIX))
        if entry.transaction.phase is Phase.RESERVE:
            reserved[entry.id] = entry
        if entry.kind == "game.start" and (round_id := read_details(entry).get("round_id")):
            history.common_plays.append((str(round_id), str(read_details(entry)["play_id"])))
        _read_ruling(entry, history, reserved)
    history.levels.update({name: -journal.balance_cents(name) for name in sorted(names)})


def _read_ruling(entry: StoredEntry, history: History, reserved: dict[str, StoredEntry]) -> None:
    """Add what an entry records to the history: a ruling, a count, a found ticket, or returned bets."""
    match entry.kind:
        case "disputed.ruled":
            ruled = read_details(entry)
            if "number" not in ruled:  # a bill or coins whose location is unknown
                history.ruled_cents += int(ruled["amount_cents"])
                history.disputed_cents_by_device[str(ruled["device"])] += int(ruled["most_cents"])
            elif ruled["device"] == "bill_acceptor":  # a ticket that it may have taken
                history.ruled_cents += int(ruled["amount_cents"])
                history.disputed_cents_by_device[DISPUTED_TICKET_KEY] += int(ruled["most_cents"])
        case "forfeit.prize" | "handpay.unclaimed":
            # An unclaimed hand-pay was won nevertheless, and left the venue through the orphan register.
            for flow in reserved[entry.transaction.ref or ""].transfers:
                if flow.target.startswith("out:"):
                    source = flow.source if entry.kind == "forfeit.prize" else "house:orphan"
                    history.forfeited_cents_by_account[source] += flow.amount_cents
        case "orphan.ticket":
            history.orphan_cents += int(read_details(entry)["amount_cents"])
        case "table.returned":
            history.returned_cents += int(read_details(entry)["amount_cents"])
        case "collection.counted":
            counted = read_details(entry)
            counts = int(counted["counted_cents"]), int(counted["metered_cents"])
            history.counts.append((str(counted["box"]), *counts))


def _audit_export(
    journal: Journal, folder: Path, now: datetime, games: Path, history: History, *, is_idle: bool
) -> None:
    """Export the journal and audit it independently.

    The audit covers the chain, signatures, balances and meters, and replays every game.
    """
    key = MachineKey.load(DiskStorage(), folder)
    if key is None:
        history.findings.append("no machine key to sign an export")
        return
    with (games / EXPORT_FILE).open("wb") as file:
        export.write_export(journal, key, file, now)
    with (games / EXPORT_FILE).open("rb") as file:
        reader = export.ExportReader(file, "simulation")
        report = Auditor(GameFiles((games,))).audit_entries(
            reader.iter_bodies(), expected_head=(reader.header.sequence, reader.header.head_hash)
        )
    history.games = report.game_count
    history.findings += [f"audit: entry {each.sequence} {each.id}: {each.text}" for each in report.findings]
    if is_idle and report.open_game_count:
        history.findings.append(f"audit: {report.open_game_count} games were never closed")
