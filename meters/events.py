"""Significant events: what each means for play, who may clear it, and its SAS exception code.

The table matches patterns against the entry's subject: its kind and, after a colon, what it concerns
(``door.opened:main``, ``fault.raised:printer.paper_out``). Effects and clearing follow Mississippi 8-2.8, New
York 5317.26, AGCO 6.1.1; SAS codes are those of general-poll exceptions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final

from meters.entry import StoredEntry


class Effect(StrEnum):
    """The effect of an event on the machine."""

    LOG = "log"
    STOP = "stop"
    """A tilt: no play until cleared."""
    HARD_STOP = "hard_stop"
    ACCEPTOR_OFF = "acceptor_off"
    PAYOUT_OFF = "payout_off"
    LAMP = "lamp"
    OUT_OF_SERVICE = "out_of_service"
    """No new game or payment method starts; what is owed is paid."""
    LOCK = "lock"
    """Play waits for a person, but nothing is wrong."""


class Clear(StrEnum):
    """How an event is cleared: by itself or by a person."""

    NOTHING = "nothing"
    """There is nothing to clear."""
    ITSELF = "itself"
    """Cleared when its cause ends."""
    ATTENDANT = "attendant"
    TECHNICIAN = "technician"
    RULING = "ruling"
    """Cleared when a person has decided the disputed amount."""
    MEMORY_CLEAR = "memory_clear"


@dataclass(frozen=True, slots=True)
class Significant:
    """One line of the table: entries whose subject matches ``pattern`` are this event; ``sas`` may be None."""

    pattern: str
    effect: Effect
    clear: Clear
    sas: int | None = None


_LOG, _STOP, _HARD, _OFF = Effect.LOG, Effect.STOP, Effect.HARD_STOP, Effect.ACCEPTOR_OFF
_PAY, _LAMP, _LOCK = Effect.PAYOUT_OFF, Effect.LAMP, Effect.LOCK
_OUT = Effect.OUT_OF_SERVICE
_NO, _SELF, _ATT = Clear.NOTHING, Clear.ITSELF, Clear.ATTENDANT
_TEC, _MEM, _RUL = Clear.TECHNICIAN, Clear.MEMORY_CLEAR, Clear.RULING

#: The first matching pattern decides; the last lines catch device reports under other names.
EVENTS: Final[tuple[Significant, ...]] = tuple(
    Significant(*line)
    for line in (
        ("power.up", _LOG, _SELF, 0x17),
        ("power.down", _LOG, _SELF, 0x18),
        ("door.opened:main", _STOP, _SELF, 0x11),
        ("door.closed:main", _LOG, _NO, 0x12),
        ("door.opened:drop", _LAMP, _SELF, 0x13),
        ("door.closed:drop", _LOG, _NO, 0x14),
        ("door.opened:logic", _HARD, _TEC, 0x15),
        ("door.closed:logic", _LOG, _NO, 0x16),
        ("door.opened:cash_box", _OFF, _SELF, 0x19),
        ("door.closed:cash_box", _LOG, _NO, 0x1A),
        ("door.opened:belly", _STOP, _SELF, 0x1D),
        ("door.closed:belly", _LOG, _NO, 0x1E),
        ("door.opened:*", _STOP, _SELF, 0x11),
        ("door.closed:*", _LOG, _NO, 0x12),
        ("door.opened_while_off:logic", _HARD, _TEC, 0x98),
        ("door.opened_while_off:main", _STOP, _SELF, 0x99),
        ("door.opened_while_off:cash_box", _OFF, _SELF, 0x9A),
        ("door.opened_while_off:drop", _LAMP, _SELF, 0x9B),
        ("door.opened_while_off:*", _STOP, _SELF, 0x99),
        ("fault.raised:logic_access", _HARD, _TEC, 0x15),
        ("fault.raised:unidentified_opening", _STOP, _ATT, None),
        ("fault.raised:coin_acceptor.coin_cheat", _STOP, _ATT, 0x2D),
        ("fault.raised:coin_acceptor.diverter", _STOP, _ATT, 0x25),
        ("fault.raised:coin_acceptor.sensor_stuck", _STOP, _ATT, 0x21),
        ("fault.raised:coin_acceptor.wrong_lane", _STOP, _ATT, 0x25),
        ("fault.raised:coin_acceptor.uninvited", _STOP, _ATT, 0x21),
        ("fault.raised:coin_acceptor.disputed", _STOP, _RUL, 0x21),
        ("fault.raised:coin_acceptor.jam", _STOP, _ATT, 0x21),
        ("fault.raised:coin_acceptor.wrong_values", _OFF, _SELF, 0x21),
        ("fault.raised:coin_acceptor.values_untold", _LOG, _SELF, None),
        ("fault.raised:coin_acceptor.*", _OFF, _SELF, 0x21),
        ("fault.raised:hopper.hopper_empty", _PAY, _SELF, 0x23),
        ("fault.raised:hopper.hopper_full", _LOG, _SELF, 0x80),
        ("fault.raised:hopper.hopper_runaway", _STOP, _ATT, 0x24),
        ("fault.raised:hopper.disputed", _STOP, _RUL, 0x22),
        ("fault.raised:hopper.jam", _STOP, _ATT, 0x22),
        ("fault.raised:hopper.*", _PAY, _SELF, 0x22),
        ("fault.raised:bill_acceptor.stacker_full", _OFF, _SELF, 0x27),
        ("fault.raised:bill_acceptor.stacker_near_full", _LOG, _SELF, 0x2E),
        ("fault.raised:bill_acceptor.stacker_removed", _OFF, _SELF, 0x1B),
        ("fault.cleared:bill_acceptor.stacker_removed", _LOG, _NO, 0x1C),
        ("fault.raised:bill_acceptor.*jam", _OFF, _SELF, 0x28),
        ("fault.raised:bill_acceptor.cheat", _STOP, _ATT, 0x2C),
        ("fault.raised:bill_acceptor.disputed", _STOP, _RUL, 0x2A),
        ("fault.raised:bill_acceptor.values_untold", _LOG, _SELF, None),
        ("fault.raised:bill_acceptor.*", _OFF, _SELF, 0x29),
        ("bill.rejected", _LOG, _NO, 0x2B),
        ("bill.in:100", _LOG, _NO, 0x47),
        ("bill.in:200", _LOG, _NO, 0x4D),
        ("bill.in:500", _LOG, _NO, 0x48),
        ("bill.in:1000", _LOG, _NO, 0x49),
        ("bill.in:2000", _LOG, _NO, 0x4A),
        ("bill.in:5000", _LOG, _NO, 0x4B),
        ("bill.in:10000", _LOG, _NO, 0x4C),
        ("bill.in:20000", _LOG, _NO, 0x50),
        ("bill.in:50000", _LOG, _NO, 0x4E),
        ("bill.in*", _LOG, _NO, 0x4F),
        ("event:memory.repaired", _LOG, _NO, 0x31),
        ("event:memory.completed", _LOG, _NO, 0x31),
        ("event:memory.archive_delayed", _LOG, _NO, None),
        ("event:memory.archive_damaged", _LOG, _NO, 0x31),
        ("event:memory.anchor_lost", _LOG, _NO, 0x31),
        ("event:memory.medium_replaced", _LOG, _NO, 0x31),
        ("event:memory.medium_missing", _LOG, _NO, 0x31),
        ("event:memory.full", _LOG, _NO),
        ("fault.raised:memory_missing", _OUT, _SELF),
        ("fault.raised:memory_replaced", _OUT, _TEC),
        ("fault.raised:memory_full", _OUT, _SELF),
        ("fault.raised:screen_missing", _OUT, _SELF, None),
        ("machine.genesis", _LOG, _NO, 0x7A),
        ("self_test.failed", _HARD, _TEC, 0x37),
        ("chance.failed", _HARD, _TEC, 0x20),
        ("fault.raised:software_differs", _HARD, _SELF, 0x37),
        ("fault.raised:software_check", _HARD, _TEC, 0x37),
        ("fault.raised:game_defective", _STOP, _TEC, 0x20),
        ("fault.raised:progressive_unproved", _STOP, _TEC, 0x20),
        ("progressive.held", _LOG, _NO, None),
        ("progressive.ruled", _LOG, _NO, None),
        ("game.differs", _LOG, _NO, None),
        ("fault.raised:staff_roster", _STOP, _TEC, 0x20),
        ("fault.raised:memory_damaged", _HARD, _MEM, None),
        ("fault.raised:memory_waits", _HARD, _SELF, None),
        ("fault.raised:first_memory_missing", _HARD, _SELF, None),
        ("fault.raised:cabinet_file_unusable", _HARD, _TEC, None),
        ("fault.raised:monitoring.*", _LOG, _SELF, None),
        ("fault.raised:cabinet_file", _LOG, _SELF, None),
        ("fault.raised:io_board.battery_low", _STOP, _ATT, 0x3B),
        ("options.changed", _LOG, _NO, 0x3C),
        ("fault.raised:cabinet_file_changed", _HARD, _SELF, None),
        ("cabinet.signed", _LOG, _NO, 0x3C),
        ("software.changed", _LOG, _NO, 0x8E),
        ("software.*", _LOG, _NO, None),
        ("voucher.out", _LOG, _NO, 0x3D),
        ("voucher.escrow", _LOG, _NO),
        ("voucher.in", _LOG, _NO),
        ("fault.raised:ticket_printer.communication", _PAY, _SELF, 0x60),
        ("fault.raised:ticket_printer.paper_out", _PAY, _SELF, 0x61),
        ("fault.raised:ticket_printer.paper_low", _LOG, _SELF, 0x74),
        ("fault.raised:ticket_printer.power", _PAY, _SELF, 0x75),
        ("fault.cleared:ticket_printer.power", _LOG, _NO, 0x76),
        ("fault.raised:ticket_printer.disputed", _STOP, _RUL, 0x60),
        ("fault.raised:ticket_printer.jam", _PAY, _SELF, 0x78),
        ("fault.raised:ticket_printer.*", _PAY, _SELF, 0x60),
        ("fault.raised:clock_doubted", _PAY, _SELF, None),
        ("fault.raised:ticket_ledger", _PAY, _SELF, None),
        ("fault.raised:meter_jump", _STOP, _TEC, 0x20),
        ("fault.raised:journal_short", _STOP, _SELF, 0x20),
        ("fault.raised:ticket_contradiction", _STOP, _TEC, 0x20),
        ("fault.raised:holder_gone", _STOP, _TEC, 0x20),
        ("fault.raised:io_board.*", _STOP, _SELF, 0x20),
        ("voucher.request", _LOG, _NO, 0x66),
        ("coins.request", _LOG, _NO, 0x66),
        ("handpay.pending*", _LOCK, _ATT, 0x51),
        ("handpay.paid*", _LOG, _NO, 0x52),
        ("handpay.returned*", _LOG, _NO, 0x52),
        ("merchandise.won*", _LOCK, _ATT),
        ("handpay.validated*", _LOG, _NO, 0x3E),
        ("progressive.link_lost*", _LOG, _SELF, 0x53),
        ("progressive.hit_broadcast", _LOG, _NO, 0x56),
        ("progressive.hit", _LOG, _NO, 0x54),
        ("aft.complete", _LOG, _NO),
        ("fault.raised:link.buffer_full", _STOP, _SELF, 0x70),
        ("service.call:on", _LAMP, _ATT, 0x71),
        ("service.call:off", _LOG, _NO, 0x72),
        ("service.answered", _LOG, _NO, 0x72),
        ("menu.entered:attendant", _LOG, _NO, 0x82),
        ("menu.left:attendant", _LOG, _NO, 0x83),
        ("menu.entered:operator", _LOG, _NO, 0x84),
        ("menu.left:operator", _LOG, _NO, 0x85),
        ("recall.shown", _LOG, _NO, 0x8A),
        ("game.void", _LOG, _NO, None),
        ("service.disabled", _STOP, _SELF, None),
        ("service.enabled", _LOG, _NO, None),
        ("tilt.cleared", _LOG, _NO, None),
        ("fault.settled", _LOG, _NO, None),
        ("hard_meters.exchanged", _LOG, _NO, None),
        ("sign_in.locked", _LOG, _SELF, None),
        ("sign_in.unlocked", _LOG, _NO, None),
        ("complement.paid", _LOG, _NO, None),
        ("orphan.*", _LOG, _NO, None),
        ("forfeit.*", _LOG, _NO, None),
        ("machine.checked", _LOG, _NO, None),
        ("dispute.decided", _LOG, _NO, None),
        ("disputed.*", _LOG, _NO, None),
        ("exclusion.noted", _LOG, _NO, None),
        ("incident.judged", _LOG, _NO, None),
        ("residual.removed", _LOG, _NO, None),
        ("protection.*", _LOG, _NO, None),
        ("clock.*", _LOG, _NO, None),
        ("tickets.*", _LOG, _NO, None),
        ("voucher.disputed", _LOG, _NO, None),
        ("ticket.disputed", _LOG, _NO, None),
        ("intervention.*", _LOG, _NO, None),
        ("base.*", _LOG, _NO, None),
        ("hopper.filled", _LOG, _NO, None),
        ("hopper.opening", _LOG, _NO, None),
        ("slip.*", _LOG, _NO, None),
        ("collection.*", _LOG, _NO, None),
        ("fault.raised:*", _STOP, _ATT, 0x20),
        ("fault.cleared:*", _LOG, _NO, None),
    )
)


def find_subject(entry: StoredEntry) -> str:
    """Return the subject of an entry: its kind, and the door, code, menu or denomination it concerns."""
    record: Mapping[str, object] = entry.record if isinstance(entry.record, Mapping) else {}
    for key in ("door", "code", "menu"):
        if isinstance(record.get(key), str):
            return f"{entry.kind}:{record[key]}"
    if isinstance(record.get("on"), bool):
        return f"{entry.kind}:{'on' if record['on'] else 'off'}"
    if entry.kind == "bill.in" and isinstance(record.get("amount_cents"), int):
        return f"{entry.kind}:{record['amount_cents']}"
    return entry.kind


def find_significant_event(entry: StoredEntry) -> Significant | None:
    """Return the significant event that an entry represents, or None."""
    return find_subject_significance(find_subject(entry))


def find_subject_significance(about: str) -> Significant | None:
    """Return the event of a subject, such as ``fault.raised:hopper.jam``, or None."""
    return next((line for line in EVENTS if fnmatchcase(about, line.pattern)), None)


def find_author(entry: StoredEntry) -> str:
    """Return the person that the entry names as its author, or an empty string."""
    record: Mapping[str, object] = entry.record if isinstance(entry.record, Mapping) else {}
    found = record.get("person") or record.get("key")
    return str(found) if found else ""
