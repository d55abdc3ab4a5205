"""A session with bills, plays, a feature with a choice, a pending ticket and a hand-pay; and its judge."""

import os
import random
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from powercut_disk import Disk, PowerCut
from powercut_storage import SimStorage

from meters import Journal, JournalPolicy, PeriodMark, Phase, Transaction, Transfer

CREDIT = "credit:1:cashable"
POLICY = JournalPolicy(entries_per_checkpoint=7, segment_size_bytes=2500)


def post(tx_id, kind, *transfers, **options):
    return Transaction(id=tx_id, kind=kind, transfers=tuple(Transfer(*t) for t in transfers), **options)


def play(n, bet, win, steps=0):
    """The entries of one game, with ``steps`` feature choices between its two ends."""
    yield post(
        f"g{n}",
        "game.start",
        (CREDIT, "house:wager", bet),
        dims={"game": "classic", "denomination_cents": 5},
        counts={"games_played": 1},
        state={"game.open": {"play_id": f"g{n}"}},
        record={"play_id": f"g{n}", "steps": [{"draws": [[64, n, "reel 1"], [64, 5, "reel 2"]]}]},
    )
    for step in range(steps):
        yield post(f"g{n}.step{step}", "game.step", state={"game.open": {"play_id": f"g{n}", "step": step}})
    won = [("house:win", CREDIT, win, {"game": "classic"})] if win else []
    yield post(f"g{n}.end", "game.end", *won, state={"game.open": None}, record={"win_cents": win})


SESSION = (
    Transaction(id="up1", kind="power.up", counts={"power_resets": 1}, marks=(PeriodMark.POWER_UP,)),
    post("b1.escrow", "bill.escrow", ("world:bill", CREDIT, 2000, {"bill_cents": 2000}), phase=Phase.RESERVE),
    Transaction(id="b1.stacked", kind="bill.in", phase=Phase.SETTLE, ref="b1.escrow"),
    *play(1, 25, 0),
    *play(2, 25, 150, steps=2),
    post("t1", "ticket.request", (CREDIT, "out:voucher:cashable", 600), phase=Phase.RESERVE),
    Transaction(id="t1.printed", kind="ticket.out", phase=Phase.SETTLE, ref="t1"),
    post("b2", "bill.escrow", ("world:bill", CREDIT, 500, {"bill_cents": 500}), phase=Phase.RESERVE),
    Transaction(id="b2.returned", kind="bill.returned", phase=Phase.VOID, ref="b2"),
    *play(3, 50, 0),
    post("t2", "ticket.request", (CREDIT, "out:voucher:cashable", 450), phase=Phase.RESERVE),
    post(
        "j1",
        "handpay.jackpot",
        ("house:attendant_jackpot", "out:handpay_jackpot", 120000),
        phase=Phase.RESERVE,
    ),
    Transaction(
        id="j1.paid", kind="handpay.paid", phase=Phase.SETTLE, ref="j1", record={"person": "A. Tremblay"}
    ),
    post("c1", "cashout.request", (CREDIT, "out:handpay_cancelled_credit", 1000), phase=Phase.RESERVE),
)


class Player:
    """Runs the session on a disk and stores what was acknowledged."""

    def __init__(self, folder, disk, start=datetime(2026, 3, 1, tzinfo=UTC), tick=timedelta(seconds=1)):
        self._folder, self._disk = folder, disk
        self._time, self._tick = start, tick
        self.acknowledged = []
        self.attempted = []
        self.journal = None

    def now(self):
        self._time += self._tick
        return self._time

    def open(self, *, alone=False):
        self._storage = SimStorage(self._disk)
        self.journal = Journal.open(
            self._folder / "one",
            second_folder=self._folder / "two",
            now=self.now,
            policy=POLICY,
            storage=self._storage,
            allow_missing_second=alone,
        )
        return self.journal

    def run(self, session=SESSION):
        """Play ``session`` from its start; return whether the power stayed on to the end."""
        try:
            self.open()
            for transaction in session:
                self.attempted.append(transaction)
                self.journal.append(transaction)
                self.acknowledged.append(transaction)
            self.journal.close()
        except PowerCut:
            self.leave()
            return False
        return True

    def leave(self):
        """End the process with its locks and connections."""
        leave(self._storage, self._folder / "one", self._folder / "two")


def leave(storage, *folders):
    """Release the connections and folder locks of a simulated process that has ended."""
    storage.leave()
    locks = {folder / "machine.lock" for folder in folders}
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if descriptor.readlink() in locks:
                os.close(int(descriptor.name))
    for lock in locks:
        lock.unlink(missing_ok=True)


def cut_once(folder, cut_at, survival, seed, again_at=None):
    """Run the session on a fresh disk with the power cut at operation ``cut_at``; judge what is found after.

    ``again_at`` cuts once more during recovery. Returns whether a cut happened.
    """
    disk = Disk()
    disk.cut_at = cut_at
    first = Player(folder, disk)
    if first.run():
        return False
    rng = random.Random(seed)
    rebooted_disk = disk.reboot(rng, survival)
    if again_at is not None:
        rebooted_disk.cut_at = again_at
        if not Player(folder, rebooted_disk).run(()):
            rebooted_disk = rebooted_disk.reboot(rng, survival)
        rebooted_disk.cut_at = None
    judge(folder, rebooted_disk, first)
    return True


def judge(folder, found, first, *, alone=False):
    """Check that nothing is lost or invented and that the session can continue to its exact end."""
    second = Player(folder, found)
    journal = second.open(alone=alone)
    stored = {e.id: e for e in journal.entries()}
    for transaction in first.acknowledged:
        assert transaction.id in stored, f"{transaction.id} was acknowledged and is lost"
    unasked_kinds = {"machine.genesis", "checkpoint", "event", "clock.changed"}
    extra = {e.id for e in stored.values() if e.kind not in unasked_kinds} - {
        t.id for t in first.acknowledged
    }
    under_way = {t.id for t in first.attempted[len(first.acknowledged) :]}
    assert extra <= under_way, f"{extra - under_way} were made up"
    check_money(journal, [t for t in SESSION if t.id in stored])
    for transaction in SESSION:
        journal.append(transaction)
    check_money(journal, SESSION)
    journal.self_audit()
    journal.close()


def check_money(journal, transactions):
    """Compare the balances with an independent sum of the transactions."""
    reserved = {t.id: t.transfers for t in transactions if t.phase is Phase.RESERVE}
    balance = reserved_cents = 0
    for t in transactions:
        moved = (
            t.transfers
            if t.phase is Phase.POST
            else reserved.get(t.ref, ())
            if t.phase is Phase.SETTLE
            else ()
        )
        balance += sum(
            (m.target == CREDIT) * m.amount_cents - (m.source == CREDIT) * m.amount_cents for m in moved
        )
        if t.phase in {Phase.SETTLE, Phase.VOID}:
            del reserved[t.ref]
    reserved_cents = sum(m.amount_cents for moves in reserved.values() for m in moves if m.source == CREDIT)
    assert journal.balance_cents(CREDIT) == balance
    assert journal.available_cents(CREDIT) == balance - reserved_cents
    assert sorted(r.id for r in journal.list_pending()) == sorted(reserved)
