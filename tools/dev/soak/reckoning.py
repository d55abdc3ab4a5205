"""The end of a soak: the journal, the boxes, the tickets in people's pockets and the audit, held together."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Final

from egm.tickets.ledger_access import open_beside
from egm.tickets.model import TicketState
from meters import Journal, export, open_view
from meters.keys import MachineKey
from meters.recall import details
from meters.storage import DiskStorage
from tools.audit.games import Shelf
from tools.audit.verify import Auditor
from tools.dev.soak.floor import Floor

#: Accounts that take value from the player's side to the house's or the world's, and the other way.
_IN: Final = ("world:bill", "world:coin", "world:voucher_in:cashable")
_OUT: Final = (
    "out:voucher:cashable",
    "out:hopper",
    "out:handpay_cancelled_credit",
    "out:handpay_jackpot",
    "out:handpay_disputed",
)


@dataclass(slots=True)
class Reckoning:
    """What came out: sums in minor units, the games replayed, and whatever does not agree."""

    entries: int = 0
    games_replayed: int = 0
    amounts_cents: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def agree(self, what: str, *, journal_cents: int, found_cents: int, doubt_cents: int = 0) -> None:
        """Two readings of one amount must be the same, but for what persons had to decide unseen."""
        self.amounts_cents[what] = journal_cents
        if abs(journal_cents - found_cents) > doubt_cents:
            self.wrong.append(f"{what}: {journal_cents} in the journal, {found_cents} found")


def reckon(floor: Floor, now: datetime) -> Reckoning:
    """Hold everything against everything else, the machine being off."""
    result = Reckoning()
    with Journal.open(floor.folder.root, now=lambda: now) as journal:
        journal.self_audit()
        balance = journal.balance_cents
        moved = {name: abs(balance(name)) for name in (*_IN, *_OUT)}
        credit_cents = balance("credit:1:cashable")
        wagers_cents = balance("house:wager") + balance("house:double_up_bet")
        wins_cents = -sum(
            balance(name)
            for name in ("house:win", "house:push", "house:double_up_win", "house:refund_defect")
        )
        wins_cents -= balance("house:attendant_jackpot") + balance("house:disputed")
        result.entries = journal.sequence
        doubt_cents = _in_doubt(journal)
    bills, coins = floor.say("bill"), floor.say("coin")
    result.agree(
        "bills in",
        journal_cents=moved["world:bill"],
        found_cents=bills["stacked_cents"],
        doubt_cents=doubt_cents["bill_acceptor"],
    )
    result.agree(
        "coins in",
        journal_cents=moved["world:coin"],
        found_cents=coins["hopper_cents"] + coins["drop_cents"],
        doubt_cents=doubt_cents["coin_acceptor"],
    )
    with open_beside(floor.folder.root) as store:
        tickets = [(record.ticket.amount_cents, record.state) for record in store.records()]
    redeemed = sum(cents for cents, state in tickets if state is TicketState.REDEEMED)
    outside = sum(cents for cents, state in tickets if state is TicketState.ISSUED)
    result.agree("tickets in", journal_cents=moved["world:voucher_in:cashable"], found_cents=redeemed)
    result.agree("tickets out", journal_cents=moved["out:voucher:cashable"], found_cents=redeemed + outside)
    result.agree(
        "coins out",
        journal_cents=moved["out:hopper"],
        found_cents=floor.say("hopper")["tray_coins"] * 100,
        doubt_cents=doubt_cents["hopper"],
    )
    by_hand = sum(cents for name, cents in moved.items() if name.startswith("out:handpay_"))
    result.amounts_cents |= {"paid by hand": by_hand, "wagers": wagers_cents, "wins": wins_cents}
    came, went = sum(moved[name] for name in _IN), sum(moved[name] for name in _OUT)
    result.amounts_cents |= {"tickets outstanding": outside, "credits left": credit_cents}
    result.agree(
        "in + wins - wagers = out + credits",
        journal_cents=came + wins_cents - wagers_cents,
        found_cents=went + credit_cents,
    )
    _audit(floor.folder.root, now, result)
    return result


def _in_doubt(journal: Journal) -> Counter[str]:
    """What was ruled on, by device: of a note, or of coins, nobody could tell where they are."""
    found: Counter[str] = Counter()
    for told in map(details, journal.entries("disputed.ruled")):
        if "number" not in told:
            found[str(told["device"])] += int(told["most_cents"])
    return found


def _audit(folder: Path, now: datetime, result: Reckoning) -> None:
    """The independent audit of the export: chain, signatures, balances, meters, every game played again."""
    key = MachineKey.load(DiskStorage(), folder)
    if key is None:
        result.wrong.append("there is no machine key to sign an export with")
        return
    paper = BytesIO()
    with open_view(folder) as view:
        export.write(view, key, paper, now)
    paper.seek(0)
    reader = export.ExportReader(paper, "soak")
    report = Auditor(Shelf(())).run(reader.bodies(), head=(reader.header.sequence, reader.header.head_hash))
    result.games_replayed = report.games
    result.wrong += [
        f"audit: entry {finding.sequence} {finding.id}: {finding.why}" for finding in report.findings
    ]
    if report.games_open:
        result.wrong.append(f"audit: {report.games_open} games were never closed")
