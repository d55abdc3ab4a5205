"""If a device or host is removed from the cabinet file, nothing stays open that nobody can complete."""

import asyncio

import pytest
from rigs.lies import audit_findings, read_signed_entries

from egm.app.features import FEATURES
from egm.app.process import MachineProcess
from egm.app.removed_devices import refuse_changed_currency, refuse_removed_positions_with_money
from egm.config.cabinet_file import HostTable, MetricsTable, StateFolder, TicketValidator, load_cabinet
from egm.devices.interface import PrintState
from egm.devices.ledgers import PayoutRecord
from egm.errors import OperatorError
from egm.host.ticket_interface import HostTicketInterface
from egm.integrity.lockups import list_disabling_sources
from egm.kernel.events import EventType, State
from egm.kernel.keys import ClearAction, KernelKey, KeyOwner
from egm.kernel.positions import Position
from egm.money.disputed_amounts import read_disputed_amounts_by_id
from egm.money.host_money import HostMoney
from egm.money.host_restrictions import is_game_allowed
from egm.money.keys import MoneyKey
from egm.money.ticket_terms import HostTicketTerms, find_ticket_terms
from egm.people import Role
from egm.play.keys import TableKey
from egm.play.records.game_record import GameReference, TableRecord
from egm.record_codec import to_json
from egm.testing.machine import MachineRig, StoppedClock
from egm.testing.service_menu import MenuUser
from egm.tickets.model import TicketState
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


def reopen(rig, tmp_path, **changed):
    rig.close()
    return MachineRig(tmp_path, **changed).boot()


def rule(rig, amount_cents):
    [disputed] = read_disputed_amounts_by_id(rig.machine)
    menu = MenuUser(rig).sign_in(Role.SUPERVISOR).touch("disputed").touch(f"disputed:{disputed}")
    menu.fill_open_form(str(amount_cents), "looked at the recording")
    menu.home().touch("leave")


@pytest.mark.requirement("G-02", "F-13")
def test_a_bill_ordered_into_a_removed_acceptor_is_disputed(tmp_path):
    rig = MachineRig(tmp_path).boot()
    rig.offer(2000)
    without = reopen(rig, tmp_path, acceptor=False)
    assert (without.state, list(without.journal.list_pending())) == (State.TILT, [])
    assert without.machine.memory.get(MoneyKey.PAPER_BEING_STACKED) is None
    rule(without, 2000)
    assert (without.state, without.journal.balance_cents("out:handpay_disputed")) == (State.IDLE, 2000)
    assert reopen(without, tmp_path, acceptor=False).state is State.IDLE


@pytest.mark.requirement("H-08")
def test_a_ticket_ordered_into_a_removed_acceptor_stays_locked_for_a_ruling(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot().insert(2000)
    number = rig.cash_out_ticket()
    rig.offer_ticket(number)
    without = reopen(rig, tmp_path, devices=("printer",), acceptor=False)
    assert without.ticket_store.require_ticket(number).state is TicketState.PENDING
    rule(without, 0)
    assert without.ticket_store.require_ticket(number).state is TicketState.ISSUED


def test_a_credited_bill_of_a_removed_acceptor_is_closed(tmp_path):
    rig = MachineRig(tmp_path).boot()
    rig.offer(2000)
    rig.escrow_ledger.credit_stacked_paper()
    without = reopen(rig, tmp_path, acceptor=False)
    assert (without.state, without.credit_cents) == (State.IDLE, 2000)
    assert without.machine.memory.get(MoneyKey.PAPER_BEING_STACKED) is None


@pytest.mark.requirement("F-13")
def test_coins_of_a_removed_hopper_are_disputed(tmp_path):
    rig = MachineRig(tmp_path, devices=("hopper",)).boot().insert(2000)
    rig.engine.handle(EventType.CASH_OUT)
    [(payout_id, coins)] = rig.hands.payouts
    rig.device_ledgers.payout_ledger.open_payout(
        PayoutRecord(
            payout_id=payout_id,
            ordered_coins=coins,
            order_counter_before=0,
            lifetime_paid_before=0,
            serial="07",
        )
    )
    rig.device_ledgers.payout_ledger.record_coins_paid(payout_id, coins - 5)
    without = reopen(rig, tmp_path)
    [disputed] = read_disputed_amounts_by_id(without.machine).values()
    assert disputed.reserved_cents == 5 * rig.profile.coins.hopper_coin_cents
    assert without.state is State.TILT


def test_the_lock_of_a_removed_host_is_cleared_by_a_technician(tmp_path):
    rig = MachineRig(tmp_path).boot()
    for source in ("host:main", "host:main:silent", "progressive"):
        rig.engine.handle(EventType.MACHINE_DISABLED, source=source, reason="host")
    same = reopen(rig, tmp_path)
    assert (same.state, len(list_disabling_sources(same.machine))) == (State.OUT_OF_SERVICE, 3)
    without = reopen(same, tmp_path, disabling_sources=("host:other",))
    assert (without.state, list_disabling_sources(without.machine)) == (State.TILT, {})
    without.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert without.state is State.TILT
    menu = MenuUser(without).sign_in(Role.TECHNICIAN).touch("form:settle_faults")
    menu.fill_open_form("the line was taken out")
    menu.home().touch("leave")
    assert (without.state, without.machine.active_faults) == (State.IDLE, {})
    assert without.records("fault.settled")[-1]["person"]


def test_staff_can_release_their_own_lock(tmp_path):
    rig = MachineRig(tmp_path).boot()
    rig.engine.handle(EventType.MACHINE_DISABLED, source="operator", reason="cleaning")
    assert reopen(rig, tmp_path, disabling_sources=()).state is State.OUT_OF_SERVICE


def test_a_fault_of_a_removed_device_ends(tmp_path):
    rig = MachineRig(tmp_path, devices=("printer",)).boot()
    for code in ("bill_acceptor.failure", "io_board.failure", "ticket_printer.paper_out"):
        rig.engine.handle(EventType.FAULT_RAISED, code=code)
    without = reopen(rig, tmp_path, acceptor=False, devices=("printer",))
    assert set(without.machine.active_faults) == {"io_board.failure", "ticket_printer.paper_out"}


def test_a_position_with_money_cannot_be_removed(tmp_path):
    first = MachineRig(tmp_path, position=Position(1, 2)).boot()
    second = MachineRig(tmp_path, position=Position(2, 2), first_rig=first).boot()
    refuse_removed_positions_with_money(first.journal, 1, FEATURES.storage_keys, "CAD")
    second.insert(2000)
    with pytest.raises(
        OperatorError,
        match=r"position 2 still has \$20\.00 of credit: restore the former number, and settle it first$",
    ):
        refuse_removed_positions_with_money(first.journal, 1, FEATURES.storage_keys, "CAD")
    refuse_removed_positions_with_money(first.journal, 2, FEATURES.storage_keys, "CAD")


def test_at_its_start_the_machine_finds_devices_that_were_removed(tmp_path, monkeypatch):
    rig = MachineRig(tmp_path).boot()
    rig.offer(2000)
    rig.engine.handle(EventType.MACHINE_DISABLED, source="host:main", reason="host")
    rig.close()
    state = StateFolder(tmp_path)
    state.create_private_folders()
    bare = load_cabinet().model_copy(
        update={"devices": {}, "sas": {}, "host": HostTable(), "metrics": MetricsTable(port=0)}
    )
    monkeypatch.setattr(
        MachineProcess, "_run_until_stopped", lambda _: asyncio.sleep(0)
    )  # it starts, but cannot be used any more
    asyncio.run(MachineProcess(state, bare, StoppedClock()).run())
    with open_view(tmp_path) as view:
        assert [entry.kind for entry in view.entries(("bill.not_stacked", "service.enabled"))] == [
            "bill.not_stacked",
            "service.enabled",
        ]
        assert set(view.states(KernelKey.FAULT)) >= {
            f"{KernelKey.FAULT}bill_acceptor.disputed",
            f"{KernelKey.FAULT}holder_gone",
        }


@pytest.mark.requirement("K-03")
def test_credit_withheld_by_a_host_is_returned_once_the_host_is_not_configured(tmp_path):
    """Regression: its games, bills and tickets stayed disabled; neither staff nor a clear could enable them."""
    by_host = HostMoney(ticket_validator=TicketValidator.SYSTEM, money_line_name="main", is_online=True)
    rig = MachineRig(tmp_path, devices=("printer",), host=by_host).boot()
    for name in ("game.maple-classic", "bill_acceptor"):
        rig.engine.handle(EventType.HOST_RESTRICTION_CHANGED, source="host:main", name=name, value=False)
    HostTicketInterface(rig.engine, rig.submit_event).store_ticket_terms(
        {"redemption": False, "location": "elsewhere"}
    )
    withheld = reopen(rig, tmp_path, devices=("printer",), host=by_host)
    assert not is_game_allowed(withheld.machine, "maple-classic")
    assert "holder_gone" not in withheld.machine.active_faults
    rig = reopen(withheld, tmp_path, devices=("printer",), disabling_sources=())
    assert is_game_allowed(rig.machine, "maple-classic")
    assert find_ticket_terms(rig.machine) == HostTicketTerms()
    assert rig.machine.active_faults["holder_gone"]["detail"] == "host:main"
    menu = MenuUser(rig).sign_in(Role.TECHNICIAN).touch("form:settle_faults")
    menu.fill_open_form("it stands alone now").home().touch("leave")
    rig = reopen(rig, tmp_path, devices=("printer",), disabling_sources=())
    assert rig.machine.active_faults == {}
    rig.insert(500).offer_ticket(rig.cash_out_ticket())
    assert rig.escrow_ledger.find_open() is not None
    assert Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []
    rig.close()


class Left:
    """A journal view of a position without credit, with these stored values."""

    def __init__(self, states):
        self._states = states

    def balance_cents(self, _):
        return 0

    def states(self, prefix):
        return {name: state for name, state in self._states.items() if name.startswith(prefix)}


@pytest.mark.parametrize(
    ("staked", "stake_text"),
    [((("pass", 500), ("odds", 2475)), r"\$29\.75 of bets"), ((), "a seat")],
)
def test_bets_of_a_removed_position_are_reported_as_money_at_their_game(staked, stake_text):
    named = GameReference(id="maple-craps", version="1.0.0", digest="f4" * 32)
    table = TableRecord(
        game_reference=named, denomination_cents=25, table_state={"point": 6}, standing_stakes=staked
    )
    left_values = Left({f"2/{TableKey.TABLE_STATE}{named.digest}": to_json(table)})
    with pytest.raises(
        OperatorError,
        match=rf"position 2 still has {stake_text} at the table of maple-craps: restore the former number, and settle it first$",
    ):
        refuse_removed_positions_with_money(left_values, 1, FEATURES.storage_keys, "CAD")


def test_everything_that_a_player_may_be_owed_is_named_in_words():
    """The text for each account contains no storage key."""
    for key in FEATURES.storage_keys:
        if (
            key.clear_action is not ClearAction.OWED
            or key.owner is not KeyOwner.POSITION
            or key is TableKey.TABLE_STATE
        ):
            continue
        with pytest.raises(
            OperatorError,
            match=r"position 2 still has (a|coins|restricted) [a-z -]+: restore the former number, and settle it first$",
        ):
            refuse_removed_positions_with_money(
                Left({f"2/{key}x" if key.endswith(":") else f"2/{key}": {}}), 1, FEATURES.storage_keys, "CAD"
            )


@pytest.mark.requirement("A-02")
def test_a_printed_ticket_of_any_position_is_closed_at_a_start_without_a_ledger(tmp_path, monkeypatch):
    first = MachineRig(tmp_path, position=Position(1, 2), devices=("printer",)).boot()
    second = MachineRig(tmp_path, position=Position(2, 2), first_rig=first, devices=("printer",)).boot()
    second.insert(10_000)
    second.engine.handle(EventType.CASH_OUT)
    for state in (PrintState.PRINTING, PrintState.BARCODE_DONE):
        second.report_print_state(state)
    first.close()
    for path in (*tmp_path.glob("tickets.*"), *(tmp_path / "second").glob("tickets.*")):
        path.unlink()
    folder = StateFolder(tmp_path)
    folder.create_private_folders()
    cabinet = load_cabinet()
    bare = cabinet.model_copy(
        update={"devices": {}, "machine": cabinet.machine.model_copy(update={"position_count": 2})}
    )
    monkeypatch.setattr(
        MachineProcess, "_run_until_stopped", lambda _: asyncio.sleep(0)
    )  # it starts, but cannot be used any more
    asyncio.run(MachineProcess(folder, bare, StoppedClock()).run())
    with open_view(tmp_path) as view:
        assert "2/print" not in view.states("2/print")
        [taken] = view.entries(("ticket.taken",))
        assert taken.transaction.dims["position"] == 2
        assert Auditor(GameFiles()).audit_entries(view.iter_bodies()).findings == []


@pytest.mark.requirement("D-01")
def test_the_currency_of_a_journal_cannot_be_changed(tmp_path):
    """Regression: 20 dollars of credit became 20 euros when the cabinet file named another profile."""
    rig = MachineRig(tmp_path, profile="generic").boot().insert(2000)
    refuse_changed_currency(rig.journal, "USD")
    with pytest.raises(
        OperatorError,
        match=r"^machine\.profile: the profile's currency is EUR, but credit and meters of this machine are in USD: ",
    ):
        refuse_changed_currency(rig.journal, "EUR")
    rig.close()
    entries = read_signed_entries(MachineRig(tmp_path, profile="generic").boot())
    first, second = (entry for entry in entries if entry["kind"] == "power.up")
    assert first["state"]["currency"] == "USD"
    assert "currency" not in second["state"]
    for changed in ("EUR", None):
        second["state"]["currency"] = changed
        assert "state.currency" in audit_findings(entries)[entries.index(second) + 1]
