"""After an authorised clear, no host identifier moves value again, and restricted credit keeps its terms."""

from pathlib import Path

import pytest
from test_clearing import SOLD, reopen_cleared

from egm.app.features import FEATURES
from egm.config.cabinet_file import TicketValidator
from egm.features.memory_clear.carrying import inspect_claims
from egm.host.transfer_interface import HostTransferInterface
from egm.kernel.credits import CreditKind
from egm.money.host_money import HostMoney, TransferOrder
from egm.money.keys import MoneyKey
from egm.money.records.host import TransferKind, TransferStatus
from egm.testing.clearing import build_clearance, build_paid_decision
from egm.testing.machine import MachineRig
from meters.clear import ClearRefused


def open_with_host(folder: Path) -> MachineRig:
    host = HostMoney(
        ticket_validator=TicketValidator.SYSTEM,
        can_transfer=True,
        can_award_bonuses=True,
        asset_number=7,
        is_online=True,
    )
    return MachineRig(folder, devices=SOLD, host=host)


def order(rig: MachineRig, identifier: str, kind=TransferKind.IN, **cents: int) -> TransferStatus:
    port = HostTransferInterface(rig.engine, rig.submit_event)
    amounts = {kind: cents.get(kind.value, 0) for kind in CreditKind}
    answer = port.execute_or_refuse_order(
        TransferOrder(identifier=identifier, kind=kind, cents_by_credit_kind=amounts), asset_number=7
    )
    if answer is TransferStatus.PENDING:
        answer = port.last_result.status
        port.acknowledge_result()
    return answer


@pytest.mark.requirement("A-05", "K-09")
def test_a_used_transfer_identifier_moves_no_value_after_any_number_of_clears(tmp_path):
    rig = open_with_host(tmp_path).boot()
    HostTransferInterface(rig.engine, rig.submit_event).register_machine(7, b"k" * 20, 1)
    assert order(rig, "T-1", cashable=5000) is TransferStatus.COMPLETED_IN_FULL
    assert order(rig, "B-1", TransferKind.BONUS, cashable=100) is TransferStatus.COMPLETED_IN_FULL
    for settled in (build_paid_decision(5100), None):
        decisions = {} if settled is None else {"credit_1_cashable": settled}
        rig = reopen_cleared(rig, tmp_path, make=lambda: open_with_host(tmp_path), **decisions)
        assert order(rig, "T-1", cashable=5000) is TransferStatus.NOT_UNIQUE
        assert order(rig, "B-1", TransferKind.BONUS, cashable=100) is TransferStatus.NOT_UNIQUE
        assert rig.credit_cents == 0
        assert HostTransferInterface(rig.engine, rig.submit_event).current_registration.is_registered
    assert order(rig, "T-2", cashable=700) is TransferStatus.COMPLETED_IN_FULL
    rig.close()


@pytest.mark.requirement("A-05", "K-09")
def test_without_proof_no_identifier_moves_value_before_the_host_registers(tmp_path):
    rig = open_with_host(tmp_path).boot()
    HostTransferInterface(rig.engine, rig.submit_event).register_machine(7, b"k" * 20, 1)
    assert order(rig, "T-1", cashable=5000) is TransferStatus.COMPLETED_IN_FULL
    rig.close()
    for medium in (tmp_path, tmp_path / "second"):
        (medium / "journal.head").unlink()  # the end of the journal is unknown
    rig = reopen_cleared(
        rig, tmp_path, make=lambda: open_with_host(tmp_path), credit_1_cashable=build_paid_decision(5000)
    )
    port = HostTransferInterface(rig.engine, rig.submit_event)
    assert not port.current_registration.is_registered
    assert order(rig, "T-2", cashable=700) is TransferStatus.NOT_REGISTERED
    port.register_machine(7, b"n" * 20, 1)
    assert order(rig, "T-1", cashable=5000) is TransferStatus.NOT_UNIQUE
    assert order(rig, "T-2", cashable=700) is TransferStatus.COMPLETED_IN_FULL
    rig.close()


@pytest.mark.requirement("A-05")
def test_nonrestricted_credit_is_money_beside_restricted_that_keeps_its_terms(tmp_path):
    rig = open_with_host(tmp_path).boot()
    assert order(rig, "T-1", restricted=900) is TransferStatus.COMPLETED_IN_FULL
    assert order(rig, "T-2", nonrestricted=700) is TransferStatus.COMPLETED_IN_FULL
    terms = rig.machine.memory.get(MoneyKey.RESTRICTED_CREDIT_TERMS)
    assert terms is not None
    rig.close()
    (finding,) = [
        proposal
        for proposal in inspect_claims(tmp_path, FEATURES).proposals
        if proposal.id == "credit:1:nonrestricted"
    ]
    assert "paid" in finding.possible_decisions
    assert finding.claim.details == {}
    rig = reopen_cleared(
        rig, tmp_path, make=lambda: open_with_host(tmp_path), credit_1_nonrestricted=build_paid_decision(700)
    )
    assert (rig.machine.read_credit_cents(CreditKind.RESTRICTED), rig.machine.cashable_cents) == (900, 0)
    assert rig.machine.memory.get(MoneyKey.RESTRICTED_CREDIT_TERMS) == terms
    rig.close()


@pytest.mark.requirement("A-05")
def test_restricted_credit_keeps_its_terms_and_is_never_paid_by_hand(tmp_path):
    rig = open_with_host(tmp_path).boot()
    assert order(rig, "T-1", restricted=900) is TransferStatus.COMPLETED_IN_FULL
    terms = rig.machine.memory.get(MoneyKey.RESTRICTED_CREDIT_TERMS)
    rig.close()
    with pytest.raises(ClearRefused, match="it can be carried, not 'paid'"):
        build_clearance(inspect_claims(tmp_path, FEATURES), credit_1_restricted=build_paid_decision(900))
    rig = reopen_cleared(rig, tmp_path, make=lambda: open_with_host(tmp_path))
    assert (rig.machine.read_credit_cents(CreditKind.RESTRICTED), rig.machine.cashable_cents) == (900, 0)
    assert rig.machine.memory.get(MoneyKey.RESTRICTED_CREDIT_TERMS) == terms
    rig.close()
