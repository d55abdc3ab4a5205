"""Fault properties: what each fault does, who may clear it, and its SAS exception code."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from egm.kernel.significance import Clear, Effect, Significance, find_by_pattern

#: Who or what clears a fault, as the journal and the screen name it.
ClearedBy = Literal["self", "attendant", "technician", "ruling", "memory_clear"]

#: Who clears a significant event -> who clears the fault, as the journal stores it.
_CLEARED_BY_OF_CLEAR: Final[dict[Clear, ClearedBy]] = {
    Clear.NOTHING: "self",
    Clear.ITSELF: "self",
    Clear.ATTENDANT: "attendant",
    Clear.TECHNICIAN: "technician",
    Clear.RULING: "ruling",
    Clear.MEMORY_CLEAR: "memory_clear",
}


#: The faults by code; of several patterns that match a code, the first decides. The last ones catch device
#: reports under other names.
FAULTS: Final[Mapping[str, Significance]] = {
    "logic_access": Significance(Effect.HARD_STOP, Clear.TECHNICIAN, sas=0x15),
    "unidentified_opening": Significance(Effect.STOP, Clear.ATTENDANT),
    "coin_acceptor.coin_cheat": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x2D),
    "coin_acceptor.diverter": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x25),
    "coin_acceptor.sensor_stuck": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x21),
    "coin_acceptor.wrong_lane": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x25),
    "coin_acceptor.uninvited": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x21),
    "coin_acceptor.disputed": Significance(Effect.STOP, Clear.RULING, sas=0x21),
    "coin_acceptor.jam": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x21),
    "coin_acceptor.wrong_values": Significance(Effect.ACCEPTOR_OFF, Clear.ITSELF, sas=0x21),
    "coin_acceptor.values_untold": Significance(Effect.LOG, Clear.ITSELF),
    "coin_acceptor.*": Significance(Effect.ACCEPTOR_OFF, Clear.ITSELF, sas=0x21),
    "hopper.hopper_empty": Significance(Effect.PAYOUT_OFF, Clear.ITSELF, sas=0x23),
    "hopper.hopper_full": Significance(Effect.LOG, Clear.ITSELF, sas=0x80),
    "hopper.hopper_runaway": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x24),
    "hopper.disputed": Significance(Effect.STOP, Clear.RULING, sas=0x22),
    "hopper.jam": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x22),
    "hopper.*": Significance(Effect.PAYOUT_OFF, Clear.ITSELF, sas=0x22),
    "bill_acceptor.stacker_full": Significance(Effect.ACCEPTOR_OFF, Clear.ITSELF, sas=0x27),
    "bill_acceptor.stacker_near_full": Significance(Effect.LOG, Clear.ITSELF, sas=0x2E),
    "bill_acceptor.stacker_removed": Significance(Effect.ACCEPTOR_OFF, Clear.ITSELF, sas=0x1B),
    "bill_acceptor.*jam": Significance(Effect.ACCEPTOR_OFF, Clear.ITSELF, sas=0x28),
    "bill_acceptor.cheat": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x2C),
    "bill_acceptor.disputed": Significance(Effect.STOP, Clear.RULING, sas=0x2A),
    "bill_acceptor.values_untold": Significance(Effect.LOG, Clear.ITSELF),
    "bill_acceptor.*": Significance(Effect.ACCEPTOR_OFF, Clear.ITSELF, sas=0x29),
    "memory_missing": Significance(Effect.OUT_OF_SERVICE, Clear.ITSELF),
    "memory_replaced": Significance(Effect.OUT_OF_SERVICE, Clear.TECHNICIAN),
    "memory_full": Significance(Effect.OUT_OF_SERVICE, Clear.ITSELF),
    "screen_missing": Significance(Effect.OUT_OF_SERVICE, Clear.ITSELF),
    "software_differs": Significance(Effect.HARD_STOP, Clear.ITSELF, sas=0x37),
    "software_check": Significance(Effect.HARD_STOP, Clear.TECHNICIAN, sas=0x37),
    "game_defective": Significance(Effect.STOP, Clear.TECHNICIAN, sas=0x20),
    "progressive_unproved": Significance(Effect.STOP, Clear.TECHNICIAN, sas=0x20),
    "staff_roster": Significance(Effect.STOP, Clear.TECHNICIAN, sas=0x20),
    "memory_damaged": Significance(Effect.HARD_STOP, Clear.MEMORY_CLEAR),
    "memory_waits": Significance(Effect.HARD_STOP, Clear.ITSELF),
    "first_memory_missing": Significance(Effect.HARD_STOP, Clear.ITSELF),
    "cabinet_file_unusable": Significance(Effect.HARD_STOP, Clear.TECHNICIAN),
    "monitoring.*": Significance(Effect.LOG, Clear.ITSELF),
    "cabinet_file": Significance(Effect.LOG, Clear.ITSELF),
    "io_board.battery_low": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x3B),
    "cabinet_file_changed": Significance(Effect.HARD_STOP, Clear.ITSELF),
    "ticket_printer.communication": Significance(Effect.PAYOUT_OFF, Clear.ITSELF, sas=0x60),
    "ticket_printer.paper_out": Significance(Effect.PAYOUT_OFF, Clear.ITSELF, sas=0x61),
    "ticket_printer.paper_low": Significance(Effect.LOG, Clear.ITSELF, sas=0x74),
    "ticket_printer.power": Significance(Effect.PAYOUT_OFF, Clear.ITSELF, sas=0x75),
    "ticket_printer.disputed": Significance(Effect.STOP, Clear.RULING, sas=0x60),
    "ticket_printer.jam": Significance(Effect.PAYOUT_OFF, Clear.ITSELF, sas=0x78),
    "ticket_printer.*": Significance(Effect.PAYOUT_OFF, Clear.ITSELF, sas=0x60),
    "clock_doubted": Significance(Effect.PAYOUT_OFF, Clear.ITSELF),
    "ticket_ledger": Significance(Effect.PAYOUT_OFF, Clear.ITSELF),
    "meter_jump": Significance(Effect.STOP, Clear.TECHNICIAN, sas=0x20),
    "journal_short": Significance(Effect.STOP, Clear.ITSELF, sas=0x20),
    "ticket_contradiction": Significance(Effect.STOP, Clear.TECHNICIAN, sas=0x20),
    "holder_gone": Significance(Effect.STOP, Clear.TECHNICIAN, sas=0x20),
    "io_board.*": Significance(Effect.STOP, Clear.ITSELF, sas=0x20),
    "link.buffer_full": Significance(Effect.STOP, Clear.ITSELF, sas=0x70),
    "*": Significance(Effect.STOP, Clear.ATTENDANT, sas=0x20),
}

#: Warnings that are not shown while the more severe fault that they announce is active.
_SEVERE_FAULT_OF_WARNING: Final = {
    "ticket_printer.paper_low": "ticket_printer.paper_out",
    "bill_acceptor.stacker_near_full": "bill_acceptor.stacker_full",
}


@dataclass(frozen=True, slots=True)
class FaultDefinition:
    """The properties of a fault: its effects on the machine, and who clears it.

    ``stops_play``: play stops (a tilt). ``disables_device``: the faulty device is not used while the fault is
    active. ``puts_out_of_service``: the machine is out of service but still pays what it owes.
    """

    stops_play: bool
    """Whether play stops while the fault is active (a tilt)."""
    disables_device: bool
    puts_out_of_service: bool
    """Whether the machine is out of service while the fault is active; it still pays what it owes."""
    cleared_by: ClearedBy

    @property
    def is_shown_to_player(self) -> bool:
        """Return whether the fault is shown to the player, because it stops play or disables a device.

        Other faults appear on service pages only.
        """
        return self.stops_play or self.disables_device or self.puts_out_of_service


@cache
def get_fault(code: str) -> FaultDefinition:
    """Return the properties of a fault by its code, such as ``bill_acceptor.jam``.

    A code that the table does not name stops play, which is the safe choice (``*``).
    """
    event = find_by_pattern(FAULTS, code) or FAULTS["*"]
    return FaultDefinition(
        stops_play=event.effect in {Effect.STOP, Effect.HARD_STOP},
        disables_device=event.effect is not Effect.LOG,
        puts_out_of_service=event.effect is Effect.OUT_OF_SERVICE,
        cleared_by=_CLEARED_BY_OF_CLEAR[event.clear],
    )


def list_faults_to_show(codes: Collection[str]) -> list[str]:
    """Return the active fault codes without each warning whose more severe form is active too.

    For example, low paper is left out while the paper is out.
    """
    return [code for code in codes if _SEVERE_FAULT_OF_WARNING.get(code) not in codes]
