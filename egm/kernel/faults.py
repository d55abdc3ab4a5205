"""Fault properties: what each fault does, who may clear it, and its SAS exception code."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from egm.kernel.significance import ClearCondition, EventEffect, Significance, find_significance_by_pattern

#: Who or what clears a fault, as the journal and the screen name it.
ClearedBy = Literal["self", "attendant", "technician", "ruling", "memory_clear"]

#: The value of ``cleared_by`` in the journal for each clear condition.
_CLEARED_BY_FOR_CONDITION: Final[dict[ClearCondition, ClearedBy]] = {
    ClearCondition.NOTHING: "self",
    ClearCondition.ITSELF: "self",
    ClearCondition.ATTENDANT: "attendant",
    ClearCondition.TECHNICIAN: "technician",
    ClearCondition.RULING: "ruling",
    ClearCondition.MEMORY_CLEAR: "memory_clear",
}


#: The faults by code; the first row that matches a code decides. A row such as ``hopper.*`` is for those faults of the
#: hopper that have no row, and ``*`` for all other faults. The service manual (``en_manual.toml``) explains each fault
#: and its remedy.
SIGNIFICANCE_BY_FAULT: Final[Mapping[str, Significance]] = {
    "logic_access": Significance(EventEffect.HARD_STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x15),
    "unidentified_opening": Significance(EventEffect.STOP, ClearCondition.ATTENDANT),
    "coin_acceptor.coin_cheat": Significance(
        EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x2D
    ),
    "coin_acceptor.diverter": Significance(
        EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x25
    ),
    "coin_acceptor.sensor_stuck": Significance(
        EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x21
    ),
    "coin_acceptor.wrong_lane": Significance(
        EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x25
    ),
    "coin_acceptor.uninvited": Significance(
        EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x21
    ),
    "coin_acceptor.disputed": Significance(EventEffect.STOP, ClearCondition.RULING, sas_exception_code=0x21),
    "coin_acceptor.jam": Significance(EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x21),
    "coin_acceptor.wrong_values": Significance(
        EventEffect.ACCEPTOR_OFF, ClearCondition.ITSELF, sas_exception_code=0x21
    ),
    "coin_acceptor.values_untold": Significance(EventEffect.LOG, ClearCondition.ITSELF),
    "coin_acceptor.*": Significance(EventEffect.ACCEPTOR_OFF, ClearCondition.ITSELF, sas_exception_code=0x21),
    "hopper.hopper_empty": Significance(
        EventEffect.PAYOUT_OFF, ClearCondition.ITSELF, sas_exception_code=0x23
    ),
    "hopper.hopper_full": Significance(EventEffect.LOG, ClearCondition.ITSELF, sas_exception_code=0x80),
    "hopper.hopper_runaway": Significance(
        EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x24
    ),
    "hopper.disputed": Significance(EventEffect.STOP, ClearCondition.RULING, sas_exception_code=0x22),
    "hopper.jam": Significance(EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x22),
    "hopper.*": Significance(EventEffect.PAYOUT_OFF, ClearCondition.ITSELF, sas_exception_code=0x22),
    "bill_acceptor.stacker_full": Significance(
        EventEffect.ACCEPTOR_OFF, ClearCondition.ITSELF, sas_exception_code=0x27
    ),
    "bill_acceptor.stacker_near_full": Significance(
        EventEffect.LOG, ClearCondition.ITSELF, sas_exception_code=0x2E
    ),
    "bill_acceptor.stacker_removed": Significance(
        EventEffect.ACCEPTOR_OFF, ClearCondition.ITSELF, sas_exception_code=0x1B
    ),
    "bill_acceptor.*jam": Significance(
        EventEffect.ACCEPTOR_OFF, ClearCondition.ITSELF, sas_exception_code=0x28
    ),
    "bill_acceptor.cheat": Significance(EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x2C),
    "bill_acceptor.disputed": Significance(EventEffect.STOP, ClearCondition.RULING, sas_exception_code=0x2A),
    "bill_acceptor.values_untold": Significance(EventEffect.LOG, ClearCondition.ITSELF),
    "bill_acceptor.*": Significance(EventEffect.ACCEPTOR_OFF, ClearCondition.ITSELF, sas_exception_code=0x29),
    "memory_missing": Significance(EventEffect.OUT_OF_SERVICE, ClearCondition.ITSELF),
    "memory_replaced": Significance(EventEffect.OUT_OF_SERVICE, ClearCondition.TECHNICIAN),
    "memory_full": Significance(EventEffect.OUT_OF_SERVICE, ClearCondition.ITSELF),
    "screen_missing": Significance(EventEffect.OUT_OF_SERVICE, ClearCondition.ITSELF),
    "software_differs": Significance(EventEffect.HARD_STOP, ClearCondition.ITSELF, sas_exception_code=0x37),
    "software_check": Significance(EventEffect.HARD_STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x37),
    "game_defective": Significance(EventEffect.STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x20),
    "progressive_unproved": Significance(
        EventEffect.STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x20
    ),
    "staff_roster": Significance(EventEffect.STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x20),
    "memory_damaged": Significance(EventEffect.HARD_STOP, ClearCondition.MEMORY_CLEAR),
    "memory_waits": Significance(EventEffect.HARD_STOP, ClearCondition.ITSELF),
    "first_memory_missing": Significance(EventEffect.HARD_STOP, ClearCondition.ITSELF),
    "cabinet_file_unusable": Significance(EventEffect.HARD_STOP, ClearCondition.TECHNICIAN),
    "monitoring.*": Significance(EventEffect.LOG, ClearCondition.ITSELF),
    "cabinet_file": Significance(EventEffect.LOG, ClearCondition.ITSELF),
    "io_board.battery_low": Significance(EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x3B),
    "cabinet_file_changed": Significance(EventEffect.HARD_STOP, ClearCondition.ITSELF),
    "ticket_printer.communication": Significance(
        EventEffect.PAYOUT_OFF, ClearCondition.ITSELF, sas_exception_code=0x60
    ),
    "ticket_printer.paper_out": Significance(
        EventEffect.PAYOUT_OFF, ClearCondition.ITSELF, sas_exception_code=0x61
    ),
    "ticket_printer.paper_low": Significance(EventEffect.LOG, ClearCondition.ITSELF, sas_exception_code=0x74),
    "ticket_printer.power": Significance(
        EventEffect.PAYOUT_OFF, ClearCondition.ITSELF, sas_exception_code=0x75
    ),
    "ticket_printer.disputed": Significance(EventEffect.STOP, ClearCondition.RULING, sas_exception_code=0x60),
    "ticket_printer.jam": Significance(
        EventEffect.PAYOUT_OFF, ClearCondition.ITSELF, sas_exception_code=0x78
    ),
    "ticket_printer.*": Significance(EventEffect.PAYOUT_OFF, ClearCondition.ITSELF, sas_exception_code=0x60),
    "clock_doubted": Significance(EventEffect.PAYOUT_OFF, ClearCondition.ITSELF),
    "ticket_ledger": Significance(EventEffect.PAYOUT_OFF, ClearCondition.ITSELF),
    "meter_jump": Significance(EventEffect.STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x20),
    "journal_short": Significance(EventEffect.STOP, ClearCondition.ITSELF, sas_exception_code=0x20),
    "ticket_contradiction": Significance(
        EventEffect.STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x20
    ),
    "holder_gone": Significance(EventEffect.STOP, ClearCondition.TECHNICIAN, sas_exception_code=0x20),
    "io_board.*": Significance(EventEffect.STOP, ClearCondition.ITSELF, sas_exception_code=0x20),
    "link.buffer_full": Significance(EventEffect.STOP, ClearCondition.ITSELF, sas_exception_code=0x70),
    "*": Significance(EventEffect.STOP, ClearCondition.ATTENDANT, sas_exception_code=0x20),
}

#: For each warning, the more severe fault that is shown instead of it.
_SEVERE_FAULT_BY_WARNING: Final = {
    "ticket_printer.paper_low": "ticket_printer.paper_out",
    "bill_acceptor.stacker_near_full": "bill_acceptor.stacker_full",
}


@dataclass(frozen=True, slots=True)
class FaultDefinition:
    """The properties of a fault: its effects on the machine, and who clears it."""

    stops_play: bool
    """Whether play stops while the fault is active (a tilt)."""
    has_effect: bool
    """Whether the fault does more than appear in the log: it disables its device, payouts or all play."""
    puts_out_of_service: bool
    """Whether the machine is out of service while the fault is active; it still pays what it owes."""
    cleared_by: ClearedBy

    @property
    def is_shown_to_player(self) -> bool:
        """Return whether the player sees the fault: true for every fault that does more than appear in the log."""
        return self.has_effect


@cache
def get_fault_definition(code: str) -> FaultDefinition:
    """Return the properties of a fault by its code, such as ``bill_acceptor.jam``.

    A code that the table does not list gets the properties of ``*``, which stop play.
    """
    significance = find_significance_by_pattern(SIGNIFICANCE_BY_FAULT, code) or SIGNIFICANCE_BY_FAULT["*"]
    return FaultDefinition(
        stops_play=significance.effect in {EventEffect.STOP, EventEffect.HARD_STOP},
        has_effect=significance.effect is not EventEffect.LOG,
        puts_out_of_service=significance.effect is EventEffect.OUT_OF_SERVICE,
        cleared_by=_CLEARED_BY_FOR_CONDITION[significance.cleared_by],
    )


def list_faults_to_show(codes: Collection[str]) -> list[str]:
    """Return the fault codes in ``codes`` without warnings that a more severe fault in ``codes`` makes superfluous.

    For example, ``ticket_printer.paper_low`` is left out while the printer has no paper.
    """
    return [code for code in codes if _SEVERE_FAULT_BY_WARNING.get(code) not in codes]
