"""The audit follows each ticket by what the journal keeps of its number."""

import pytest

from egm.testing.machine import MachineRig
from meters import open_view
from meters.keys import MachineKey
from meters.storage import DiskStorage
from tools.audit.games import Shelf
from tools.audit.verify import Auditor
from tools.dev.lies import adopted, mark_of, rewrite_chain


@pytest.fixture
def room(tmp_path):
    return MachineRig(tmp_path, devices=("printer",)).boot()


def take(room, digits):
    room.offer_ticket(digits)
    room.ledger.credit_stacked_paper()
    room.ledger.vend_confirmed()


@pytest.mark.requirement("A-05")
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda first, second: second.update(commitment=first["commitment"]), "was already redeemed by"),
        (lambda _, second: second.update(commitment="0" * 32), ""),
        (lambda _, second: second.pop("commitment"), "record.commitment is missing"),
    ],
    ids=["twice", "of elsewhere", "unnamed"],
)
def test_a_journal_in_which_a_ticket_comes_in_twice_is_found(room, tmp_path, change, found):
    """Whoever has the machine's key lets a paper of 20 come in again, and all else fits."""
    number = room.insert(2000).cash_out_ticket()
    take(room, number)
    take(room, room.cash_out_ticket())
    room.close()
    (tmp_path / "liar").mkdir()
    key = MachineKey.create(DiskStorage(), tmp_path / "liar")
    with open_view(tmp_path) as view:
        bodies = list(view.iter_bodies())
    raws = adopted(bodies, key)
    change(*(raw["record"] for raw in raws if raw["kind"] == "voucher.in"))
    told = [
        finding.why for finding in Auditor(Shelf()).run(rewrite_chain(raws, key, mark_of(raws[0]))).findings
    ]
    assert [found in why for why in told] == ([True] if found else []), told


def test_a_ticket_comes_in_with_the_amount_it_went_out_with(room, tmp_path):
    one = room.insert(2000).cash_out_ticket()
    other = room.insert(1000).cash_out_ticket()
    take(room, other)
    take(room, one)
    room.close()
    (tmp_path / "liar").mkdir()
    key = MachineKey.create(DiskStorage(), tmp_path / "liar")
    with open_view(tmp_path) as view:
        raws = adopted(list(view.iter_bodies()), key)
    first, second = (raw["record"] for raw in raws if raw["kind"] == "voucher.in")
    first["commitment"], second["commitment"] = second["commitment"], first["commitment"]
    told = [
        finding.why for finding in Auditor(Shelf()).run(rewrite_chain(raws, key, mark_of(raws[0]))).findings
    ]
    assert told == [
        "record.amount_cents: the ticket was issued with 2000, found 1000",
        "record.amount_cents: the ticket was issued with 1000, found 2000",
    ]
