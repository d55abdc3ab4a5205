"""Random sessions against a ten-line model of the money; both agree after every step.

Goal: for any order of bills, games, tickets, hand-pays, repeats, refusals and restarts, the journal's credit, meters
and reservations equal those of the model. The amount owed to players is the same, to the fraction of a cent, before
and after the loss of a copy, a clock jump and an authorised clear, even if both copies are damaged. Method: a
hypothesis state machine on a real folder.
"""

import shutil
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from egm.app.features import FEATURES
from egm.features.memory_clear.carrying import ClaimDecision, inspect_claims, prepare_clearance
from egm.progressive import posting
from egm.progressive.level import Level, LevelTerms
from meters import (
    AccountOverdrawn,
    Journal,
    JournalPolicy,
    Phase,
    Transaction,
    TransactionIdConflict,
    Transfer,
    UnknownReservation,
    open_view,
)
from meters.clear import clear_memory

KINDS = ("cashable", "restricted", "nonrestricted")
POLICY = JournalPolicy(entries_per_checkpoint=9, segment_size_bytes=8192)
TERMS = LevelTerms(
    base_cents=100, increment=Fraction(1, 7), hidden_increment=Fraction(1, 300), ceiling_cents=250
)
CARRY = ClaimDecision(decision="carried")


class Model:
    """A model of the money in ten lines."""

    def __init__(self):
        self.credit = Counter()
        self.pending = {}
        self.meters = Counter()
        self.level = Level.open(TERMS)
        self.mended = False

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
        self.jump = timedelta(0)
        self.journal = self.open()
        self.append(
            *(tuple(posting.build_opening_transfers("toy", self.model.level))[:1]),
            state={"level:toy": self.model.level.to_json()},
        )

    def now(self):
        return datetime(2026, 1, 1, tzinfo=UTC) + self.jump

    def open(self):
        return Journal.open(self.folder, now=self.now, policy=POLICY)

    def teardown(self):
        if hasattr(self, "journal"):
            self.journal.close()
            shutil.rmtree(self.folder)

    def append(self, *transfers, ref=None, phase=Phase.POST, **options):
        self.number += 1
        transaction = Transaction(
            id=f"t{self.number}",
            kind="model",
            transfers=tuple(t if isinstance(t, Transfer) else Transfer(*t) for t in transfers),
            phase=phase,
            ref=ref,
            **options,
        )
        posted = self.journal.append(transaction)
        assert not posted.already_existed
        self.done.append(transaction)
        return transaction.id

    @rule(kind=st.sampled_from(KINDS), cents=st.integers(1, 10_000))
    def redeem(self, kind, cents):
        self.append((f"world:voucher_in:{kind}", f"credit:1:{kind}", cents))
        self.model.move(kind, cents, "money_in")

    @rule(kind=st.sampled_from(KINDS), bet=st.integers(1, 500), win=st.integers(0, 2000))
    def play(self, kind, bet, win):
        if bet > self.model.available(kind):
            with pytest.raises(AccountOverdrawn):
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
            with pytest.raises(AccountOverdrawn):
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
        kind, cents, source = self.model.pending.pop(ref)
        self.append(ref=ref, phase=Phase.SETTLE if settles else Phase.VOID)
        if settles:
            self.model.move(kind, -cents, {"ticket": "money_out", "bill": "money_in"}[source])
        with pytest.raises(UnknownReservation):
            self.append(ref=ref, phase=Phase.SETTLE)

    @precondition(lambda self: self.done)
    @rule(data=st.data())
    def repeat(self, data):
        transaction = data.draw(st.sampled_from(self.done))
        assert self.journal.append(transaction).already_existed
        other = Transaction(id=transaction.id, kind="model", record="other")
        with pytest.raises(TransactionIdConflict):
            self.journal.append(other)

    @rule(clean=st.booleans())
    def restart(self, clean):
        if clean:
            self.journal.close()
        else:
            self.journal.close_without_checkpoint()
        self.journal = self.open()

    # ------------------------------------------------------------------ events that must not change the amount owed
    @rule(wager=st.integers(1, 999))
    def feed_the_level(self, wager):
        before, after = self.model.level, self.model.level.add_contribution(wager)
        self.append(
            *posting.build_change_transfers("toy", before, after), state={"level:toy": after.to_json()}
        )
        self.model.level = after

    @rule()
    def hit_the_level(self):
        won, after = self.model.level.pay_hit()
        flows = posting.build_change_transfers("toy", self.model.level, after)
        paid = Transfer("house:progressive:toy", "credit:1:cashable", won)
        self.append(*flows, paid, state={"level:toy": after.to_json()})
        self.model.level = after
        self.model.move("cashable", won, "mach_progressive")

    @rule(days=st.sampled_from((-20000, -1, 1, 400, 20000)))
    def the_clock_jumps(self, days):
        self.jump = timedelta(days=max(-20000, min(20000, days)))

    @rule(first=st.booleans())
    def a_copy_is_lost(self, first):
        self.journal.close()
        if first:
            for path in self.folder.glob("journal.sqlite*"):
                path.unlink()
        else:
            shutil.rmtree(self.folder / "second")
        self.model.mended = True
        self.journal = self.open()

    @rule(data=st.data(), damaged=st.booleans())
    def the_memory_is_cleared(self, data, damaged):
        self.journal.close()
        if damaged:
            self.damage(data)
        found = inspect_claims(self.folder, FEATURES)
        assert found.journal_inspection.is_complete
        assert {proposal.id: proposal.claim.amount for proposal in found.proposals} == self.claims()
        acts = dict.fromkeys((proposal.id for proposal in found.proposals), CARRY)
        paid = [
            proposal.id
            for proposal in found.proposals
            if proposal.id.startswith("credit:") and "paid" in proposal.possible_decisions
        ]
        assert not set(paid) ^ {
            name for name in acts if name.startswith("credit:") and not name.endswith(":restricted")
        }
        by_hand = {}
        for name in data.draw(st.lists(st.sampled_from(paid), unique=True)) if paid else ():
            by_hand[name] = int(self.claims()[name])
            acts[name] = ClaimDecision(decision="paid", paid_cents=by_hand[name], payer="A")
        authority = {"person": "A", "second_person": "B", "reason": "model"}
        clear_memory(
            self.folder,
            prepare_clearance(found, acts, **authority, challenge=found.journal_inspection.challenge),
            now=self.now,
        )
        self.model.meters = Counter()
        self.model.mended |= damaged
        for name, cents in by_hand.items():
            self.model.move(name.rpartition(":")[2], -cents, "att_cancel_credit")
            self.model.meters["money_out"] += cents
        self.done.clear()
        self.journal = self.open()

    def damage(self, data):
        """Change a byte of each copy; undo a change after which the two copies together are incomplete."""
        log = data.draw(st.sampled_from(sorted((self.folder / "second").glob("*.log"))))
        for path in (self.folder / "journal.sqlite", log):
            content = path.read_bytes()
            offset = data.draw(st.integers(0, len(content) - 1))
            path.write_bytes(content[:offset] + bytes([content[offset] ^ 1]) + content[offset + 1 :])
            if not inspect_claims(self.folder, FEATURES).journal_inspection.is_complete:
                path.write_bytes(content)

    def claims(self):
        """Return what the model owes, in the form of an inspection's claims."""
        reserved_cents = {
            f"reservation:{ref}": abs(cents) for ref, (_, cents, _) in self.model.pending.items()
        }
        free = {f"credit:1:{kind}": self.model.available(kind) for kind in KINDS}
        return (
            {name: cents for name, cents in free.items() if cents}
            | reserved_cents
            | {"level:toy": self.model.level.held_amount}
        )

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
        assert {r.id for r in self.journal.list_pending()} == set(self.model.pending)
        assert self.model.mended or not any(name.startswith("memory.") for name in values)
        stored_level = self.journal.state("level:toy")
        assert stored_level is None or Level.from_json(stored_level) == self.model.level
        with open_view(self.folder) as beside:
            assert beside.meters().values == values


def _model(examples):
    """Return a test of ``examples`` random sequences of operations on money."""

    class Case(MoneyMachine.TestCase):
        settings = settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )

    return Case


TestMoney = pytest.mark.requirement("A-27", "F-01", "N-06", "A-01")(_model(10))
TestMoneyAtLength = pytest.mark.slow(_model(100))
