"""Random sessions against a ten-line model of the money; both agree after every step.

Goal: whatever order bills, plays, tickets, hand-pays, repeats, refusals and restarts come in, the journal's
credit, meters and reservations are those of the model. Method: a hypothesis state machine on a real folder.
"""

import shutil
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from meters import (
    IdConflict,
    Journal,
    Overdrawn,
    Phase,
    Policy,
    Transaction,
    Transfer,
    UnknownTransfer,
    open_view,
)

KINDS = ("cashable", "restricted", "nonrestricted")
POLICY = Policy(checkpoint_every=9, segment_bytes=8192)


class Model:
    """The money, in ten lines."""

    def __init__(self):
        self.credit = Counter()
        self.pending = {}
        self.meters = Counter()

    def move(self, kind, cents, meter):
        self.credit[kind] += cents
        self.meters[meter] += abs(cents)

    def available(self, kind):
        return self.credit[kind] - sum(
            cents for k, cents, _ in self.pending.values() if k == kind and cents > 0
        )


class MoneyMachine(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp(prefix="egm-model-"))
        self.model = Model()
        self.number = 0
        self.done = []
        self.journal = self.open()

    def open(self):
        return Journal.open(self.folder, now=lambda: datetime(2026, 1, 1, tzinfo=UTC), policy=POLICY)

    def teardown(self):
        if hasattr(self, "journal"):
            self.journal.close()
            shutil.rmtree(self.folder)

    def append(self, *transfers, ref=None, phase=Phase.POST, **more):
        self.number += 1
        transaction = Transaction(
            id=f"t{self.number}",
            kind="model",
            transfers=tuple(Transfer(*t) for t in transfers),
            phase=phase,
            ref=ref,
            **more,
        )
        posted = self.journal.append(transaction)
        assert not posted.existed
        self.done.append(transaction)
        return transaction.id

    @rule(kind=st.sampled_from(KINDS), cents=st.integers(1, 10_000))
    def redeem(self, kind, cents):
        self.append((f"world:voucher_in:{kind}", f"credit:1:{kind}", cents))
        self.model.move(kind, cents, "money_in")

    @rule(kind=st.sampled_from(KINDS), bet=st.integers(1, 500), win=st.integers(0, 2000))
    def play(self, kind, bet, win):
        if bet > self.model.available(kind):
            with pytest.raises(Overdrawn):
                self.append((f"credit:1:{kind}", "house:wager", bet))
            return
        self.append((f"credit:1:{kind}", "house:wager", bet), counts={"games_played": 1})
        self.model.move(kind, -bet, "coin_in")
        self.model.meters["games_played"] += 1
        if win:
            self.append(("house:win", "credit:1:cashable", win))
            self.model.move("cashable", win, "coin_out")

    @rule(cents=st.integers(1, 3000))
    def ask_for_a_ticket(self, cents):
        flow = ("credit:1:cashable", "out:voucher:cashable", cents)
        if cents > self.model.available("cashable"):
            with pytest.raises(Overdrawn):
                self.append(flow, phase=Phase.RESERVE)
            return
        self.model.pending[self.append(flow, phase=Phase.RESERVE)] = ("cashable", cents, "ticket")

    @rule(cents=st.sampled_from((500, 1000, 2000)))
    def escrow_a_bill(self, cents):
        reserved = self.append(("world:bill", "credit:1:cashable", cents), phase=Phase.RESERVE)
        self.model.pending[reserved] = ("cashable", -cents, "bill")

    @precondition(lambda self: self.model.pending)
    @rule(data=st.data(), settles=st.booleans())
    def close_a_reservation(self, data, settles):
        ref = data.draw(st.sampled_from(sorted(self.model.pending)))
        kind, cents, what = self.model.pending.pop(ref)
        self.append(ref=ref, phase=Phase.SETTLE if settles else Phase.VOID)
        if settles:
            self.model.move(kind, -cents, {"ticket": "money_out", "bill": "money_in"}[what])
        with pytest.raises(UnknownTransfer):
            self.append(ref=ref, phase=Phase.SETTLE)

    @precondition(lambda self: self.done)
    @rule(data=st.data())
    def repeat(self, data):
        transaction = data.draw(st.sampled_from(self.done))
        assert self.journal.append(transaction).existed
        other = Transaction(id=transaction.id, kind="model", record="other")
        with pytest.raises(IdConflict):
            self.journal.append(other)

    @rule(clean=st.booleans())
    def restart(self, clean):
        if clean:
            self.journal.close()
        else:
            self.journal.abandon()
        self.journal = self.open()

    @rule()
    def check_before_play(self):
        self.journal.check()

    @invariant()
    def both_agree(self):
        if not hasattr(self, "journal"):
            return
        for kind in KINDS:
            assert self.journal.balance_cents(f"credit:1:{kind}") == self.model.credit[kind]
            assert self.journal.available_cents(f"credit:1:{kind}") == self.model.available(kind)
        values = self.journal.meters().values
        assert {name: values[name] for name in self.model.meters} == dict(self.model.meters)
        assert values["credits"] == self.model.credit.total()
        assert {r.id for r in self.journal.pending()} == set(self.model.pending)
        assert not any(name.startswith("memory.") for name in values)
        with open_view(self.folder) as beside:
            assert beside.meters().values == values


TestMoney = MoneyMachine.TestCase
TestMoney.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestMoney = pytest.mark.requirement("A-27", "F-01", "N-06", "A-01")(TestMoney)
