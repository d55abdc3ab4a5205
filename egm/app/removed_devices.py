"""Devices and hosts that the cabinet file no longer names: their unfinished operations are passed to staff.

A driver completes its unfinished operations in the journal, and a host lifts the restrictions that it has
set. Once a device or host is removed from the cabinet file, nothing does this any more. Therefore each start
passes these operations to staff. A bill or ticket in transit and coins of a payout become disputed amounts,
for a ruling. If an absent host has disabled the machine or restricted a function (a game, bills or sounds), this
is lifted and replaced by a fault that a technician must clear. Faults that only an absent device could clear are
cleared.

A start is refused if the cabinet file omits a position that still has money, or changes the currency of the journal.
"""

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from typing import Final

from babel.numbers import format_currency

from egm.config.cabinet_file import POSITIONS_MAX, CabinetFile
from egm.devices.ledgers import EscrowPhase, PayoutRecord
from egm.errors import OperatorError
from egm.host.events import HostRestrictionChange
from egm.host.keys import HostKey
from egm.integrity.events import EnablingRequest
from egm.integrity.keys import IntegrityKey
from egm.integrity.lockups import list_disabling_sources
from egm.kernel.events import Event, EventType, FaultChange
from egm.kernel.keys import ClearAction, StorageKey, StorageKeys
from egm.kernel.machine import PositionMachine
from egm.kernel.positions import Position, is_position_fault
from egm.money.device_ledgers import DeviceLedgers
from egm.money.events import CoinsPaid
from egm.money.keys import MoneyKey
from egm.money.records.money import PaperRecord
from egm.play.keys import PlayKey, TableKey
from egm.play.records.game_record import TableRecord
from egm.play.records.tournament_round import TournamentRound
from egm.progressive.keys import ProgressiveKey
from egm.progressive.link_service import PROGRESSIVE_DISABLING_SOURCE
from egm.record_codec import from_json
from meters import JournalView
from meters.chart import CREDIT_KINDS
from meters.transaction import JSON

#: What a position may have open in addition to its credit and its tables, as text for people.
_OPEN_ITEM_TEXT_BY_KEY: Final[Mapping[StorageKey, str]] = {
    PlayKey.GAME: "a game that has not ended",
    PlayKey.TOURNAMENT_ROUND: "a round of a tournament that has not ended",
    MoneyKey.PAY_OUT: "a payout under way",
    MoneyKey.PRINT_JOB: "a ticket being printed",
    MoneyKey.HOPPER_PAYOUT: "coins being paid",
    MoneyKey.UNPOSTED_COINS: "coins paid and not yet taken off its credit",
    MoneyKey.DISPUTED_AMOUNT: "a disputed amount",
    MoneyKey.DISPUTED_AMOUNT_RULING: "a ruling that is not carried out",
    MoneyKey.HANDPAY: "a hand-pay",
    MoneyKey.UNCLAIMED_HANDPAY: "a hand-pay given up",
    MoneyKey.PAPER_BEING_STACKED: "a bill or ticket on its way in",
    MoneyKey.RESTRICTED_CREDIT_TERMS: "restricted credit",
    ProgressiveKey.GAME_AWAITING_AWARD: "a game that waits for a progressive award",
    ProgressiveKey.GAME_ENDED_UNDECIDED: "a game whose mystery prize is not decided",
}

#: The fault (under its stored code) that is raised if a host that is no longer configured had disabled the machine.
HOST_REMOVED_FAULT: Final = "holder_gone"
#: Prefix of the names under which SAS hosts disable the machine; staff disable it under other names.
_HOST_SOURCE_PREFIX: Final = "host:"
#: The device kinds whose faults end when the cabinet file no longer names such a device. The I/O board is
#: excluded: removing it must not clear what it had reported.
_DEVICE_KINDS_WHOSE_REMOVAL_CLEARS_FAULTS: Final = frozenset(
    {"bill_acceptor", "ticket_printer", "hopper", "coin_acceptor"}
)


def settle_removed_devices_and_hosts(
    machine: PositionMachine,
    ledgers: DeviceLedgers,
    submit_event: Callable[[Event], None],
    device_kinds: Collection[str],
    configured_host_sources: Collection[str] = (),
) -> None:
    """Settle the unfinished operations of devices and hosts that the cabinet file no longer names.

    A credited bill or ticket is confirmed. A bill or ticket in transit and unpaid coins become disputed
    amounts, on which staff decide. Calling it again changes nothing. ``submit_event`` submits an event;
    ``device_kinds`` are the device kinds of this position; ``configured_host_sources``: see
    :func:`list_host_disabling_sources`.
    """
    paper = machine.memory.read(PaperRecord, MoneyKey.PAPER_BEING_STACKED)
    ordered_payout = machine.memory.read(PayoutRecord, MoneyKey.HOPPER_PAYOUT)
    if paper is not None and "bill_acceptor" not in device_kinds:
        if paper.phase is EscrowPhase.CREDITED:
            ledgers.escrow_ledger.close_confirmed_paper()
        else:
            ledgers.escrow_ledger.close_lost_paper_as_disputed("the acceptor is gone")
    if ordered_payout is not None and "hopper" not in device_kinds:
        coins_paid = CoinsPaid(paid_coins=ordered_payout.paid_coins, doubt_reason="the hopper is gone")
        submit_event(Event(EventType.COINS_PAID, coins_paid))
    for code in list(machine.active_faults):
        device_kind = code.partition(".")[0]
        is_cleared_here = machine.position.number == 1 or is_position_fault(code)
        if (
            device_kind in _DEVICE_KINDS_WHOSE_REMOVAL_CLEARS_FAULTS
            and device_kind not in device_kinds
            and is_cleared_here
        ):
            submit_event(Event(EventType.FAULT_CLEARED, FaultChange(code=code)))
    if machine.position.number == 1:
        _lift_controls_of_removed_hosts(machine, submit_event, configured_host_sources)


def refuse_changed_currency(journal: JournalView, currency: str) -> None:
    """Raise :class:`OperatorError` if the jurisdiction's ``currency`` differs from the currency of the journal."""
    recorded_currency = journal.state(IntegrityKey.CURRENCY)
    if recorded_currency not in {None, currency}:
        raise OperatorError(
            f"machine.profile: the profile's currency is {currency}, but credit and meters of this machine are in "
            f"{recorded_currency}: restore the former profile, or use another state folder"
        )


def refuse_removed_positions_with_money(
    journal: JournalView, position_count: int, storage_keys: StorageKeys, currency: str
) -> None:
    """Raise :class:`OperatorError` if the cabinet file omits a position that still has credit or an open round.

    ``position_count`` is the number of positions in the cabinet file. ``currency`` is the jurisdiction's, ISO
    4217.
    """
    for number in range(position_count + 1, POSITIONS_MAX + 1):
        credit_cents = sum(
            journal.balance_cents(Position(number).name_credit_account(kind)) for kind in CREDIT_KINDS
        )
        state_by_name = journal.states(f"{number}/")
        open_items = [
            _describe_open_item(key, state, name, currency)
            for name, state in state_by_name.items()
            if (key := storage_keys.find_key(name)) is not None and _is_owed_or_open(key, state, name)
        ]
        if credit_cents or open_items:
            amounts = ", ".join(
                [
                    *([f"{_format_money(credit_cents, currency)} of credit"] if credit_cents else []),
                    *open_items,
                ]
            )
            raise OperatorError(
                f"machine.positions: is {position_count}, but position {number} still has {amounts}: "
                "restore the former number, and settle it first"
            )


def _is_owed_or_open(key: StorageKey, state: JSON, stored_name: str) -> bool:
    """Return whether a stored value of a player position is an amount owed to its player or an open round."""
    if key is PlayKey.TOURNAMENT_ROUND:
        return not from_json(TournamentRound, state, stored_name).ending
    return key.clear_action is ClearAction.OWED


def _describe_open_item(key: StorageKey, state: JSON, stored_name: str, currency: str) -> str:
    """Return as text what one stored value of a player position still owes, such as bets on a table."""
    if key is not TableKey.TABLE_STATE:
        return _OPEN_ITEM_TEXT_BY_KEY.get(key, str(key))
    table_record = from_json(TableRecord, state, stored_name)
    bets_text = (
        f"{_format_money(table_record.standing_bets_cents, currency)} of bets"
        if table_record.standing_stakes
        else "a seat"
    )
    return f"{bets_text} at the table of {table_record.game_reference.id}"


def _format_money(cents: int, currency: str) -> str:
    """Return an amount in minor units as text for people, such as ``CAD 12.50``."""
    return format_currency(Decimal(cents).scaleb(-2), currency, locale="en_CA")


def _lift_controls_of_removed_hosts(
    machine: PositionMachine, submit_event: Callable[[Event], None], configured_host_sources: Collection[str]
) -> None:
    """Lift the restrictions of hosts that the cabinet file no longer names, and raise a fault for staff."""
    for source in list_disabling_sources(machine):
        name = ":".join(source.split(":")[:2])  # without the suffix of one reason: host:NAME:REASON
        if (
            source.startswith((_HOST_SOURCE_PREFIX, PROGRESSIVE_DISABLING_SOURCE))
            and name not in configured_host_sources
        ):
            submit_event(Event(EventType.FAULT_RAISED, FaultChange(code=HOST_REMOVED_FAULT, detail=name)))
            submit_event(Event(EventType.MACHINE_ENABLED, EnablingRequest(source=source)))
    for key in machine.journal.states(HostKey.FUNCTION_RESTRICTION):
        restricted_function, _, name = key.removeprefix(HostKey.FUNCTION_RESTRICTION).partition(":")
        if name.startswith(_HOST_SOURCE_PREFIX) and name not in configured_host_sources:
            submit_event(Event(EventType.FAULT_RAISED, FaultChange(code=HOST_REMOVED_FAULT, detail=name)))
            submit_event(
                Event(
                    EventType.HOST_RESTRICTION_CHANGED,
                    HostRestrictionChange(source=name, name=restricted_function),
                )
            )


def list_host_disabling_sources(cabinet_file: CabinetFile) -> frozenset[str]:
    """Return the names under which hosts of a cabinet file may disable the machine."""
    sources = {f"{_HOST_SOURCE_PREFIX}{name}" for name in cabinet_file.sas}
    return frozenset(
        sources | ({PROGRESSIVE_DISABLING_SOURCE} if cabinet_file.progressive_link is not None else set())
    )
