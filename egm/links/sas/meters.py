"""SAS meters computed from the machine's own meters: sums, bill counts, the return to player, the stacker's content.

Identities that always hold, by SAS meter code: 22 = 01 + 02, 23 = 02 + 03, 01 = 1C + 1D + 1E, 02 = 1F + 20 + 21.
Cancelled credits (04) are everything that left the credit meter other than by play, so that always::

    credits (0C) = (coins + bills + tickets + transfers in)
                   - wagered (00) + won to the credit meter (01) - cancelled (04)

In the names of the machine's meters, ``mach_`` is by the machine, ``att_`` by an attendant, and ``phys_`` real coins;
``coin_in`` and ``coin_out`` are wagers and wins, as is usual in the trade.
"""

from collections.abc import Callable, Mapping
from typing import Final

from egm.links.sas.definitions import SasMeterUnit
from egm.links.sas.readout import SasReadout
from egm.links.sas.tables.meters import BILL_METERS_BY_FIRST_CODE, METER_DEFINITION_BY_CODE

#: Machine meters of tickets in that count as cashable.
_TICKET_IN_VALUE_METERS: Final = ("ticket_in.cashable.value", "ticket_in.promo_cashable.value")
#: Machine meters of all tickets out.
_TICKET_OUT_VALUE_METERS: Final = ("ticket_out.cashable.value", "ticket_out.promo_restricted.value")
#: Machine meters of transfers from a host.
_AFT_IN_VALUE_METERS: Final = (
    "aft_in.cashable.value",
    "aft_in.promo_restricted.value",
    "aft_in.promo_cashable.value",
)
#: Machine meters of transfers to a host.
_AFT_OUT_VALUE_METERS: Final = (
    "aft_out.cashable.value",
    "aft_out.promo_restricted.value",
    "aft_out.promo_cashable.value",
)
#: Machine meters of wins paid by the machine to the credit meter.
_MACHINE_PAID_WIN_METERS: Final = ("coin_out", "mach_progressive", "mach_bonus", "residual_won")
#: Machine meters of wins paid by an attendant.
_ATTENDANT_PAID_WIN_METERS: Final = ("att_jackpot", "att_progressive", "att_bonus")
#: Machine meters of everything that left the credit meter other than by play.
_CANCELLED_CREDIT_METERS: Final = (
    "att_cancel_credit",
    "phys_coin_out",
    *_TICKET_OUT_VALUE_METERS,
    *_AFT_OUT_VALUE_METERS,
    *("residual_removed", "forfeit_tamper", "time_charges", "orphan", "expired"),
)

#: SAS meter code -> the machine meters that it sums, in minor units or occurrences.
_SUMMED_METERS_BY_CODE: Final[Mapping[int, tuple[str, ...]]] = {
    0x00: ("coin_in",),
    0x01: _MACHINE_PAID_WIN_METERS,
    0x02: _ATTENDANT_PAID_WIN_METERS,
    0x03: ("att_cancel_credit",),
    0x04: _CANCELLED_CREDIT_METERS,
    0x05: ("games_played",),
    # SAS only knows won and lost: a game that returned something counts as won
    0x06: ("games_won", "games_pushed"),
    0x07: ("games_lost",),
    0x08: ("phys_coin_in",),
    0x09: ("phys_coin_out",),
    0x0A: ("coin_drop",),
    0x0B: ("bill_in.value",),
    0x0C: ("credits",),
    0x0D: _TICKET_IN_VALUE_METERS,
    0x0E: ("ticket_out.cashable.value",),
    0x0F: ("ticket_in.promo_restricted.value",),
    0x10: ("ticket_out.promo_restricted.value",),
    0x11: ("ticket_in.cashable.count", "ticket_in.promo_cashable.count"),
    0x12: ("ticket_out.cashable.count",),
    0x13: ("ticket_in.promo_restricted.count",),
    0x14: ("ticket_out.promo_restricted.count",),
    0x15: (*_TICKET_IN_VALUE_METERS, "ticket_in.promo_restricted.value"),
    0x16: _TICKET_OUT_VALUE_METERS,
    0x17: _AFT_IN_VALUE_METERS,
    0x18: _AFT_OUT_VALUE_METERS,
    0x19: ("coin_in.restricted",),
    0x1A: ("coin_in.nonrestricted",),
    0x1B: ("credits.restricted",),
    0x1C: ("coin_out", "residual_won"),
    0x1D: ("mach_progressive",),
    0x1E: ("mach_bonus",),
    0x1F: ("att_jackpot",),
    0x20: ("att_progressive",),
    0x21: ("att_bonus",),
    0x22: (*_MACHINE_PAID_WIN_METERS, *_ATTENDANT_PAID_WIN_METERS),
    0x23: ("att_cancel_credit", *_ATTENDANT_PAID_WIN_METERS),
    0x24: ("drop_total",),
    0x25: ("games_played.since_power_up",),
    0x26: ("games_played.since_door_close",),
    0x28: _TICKET_IN_VALUE_METERS,
    0x29: ("ticket_in.cashable.value",),
    0x2A: ("ticket_in.promo_restricted.value",),
    0x2B: ("ticket_in.promo_cashable.value",),
    0x2C: ("ticket_out.cashable.value",),
    0x2D: ("ticket_out.promo_restricted.value",),
    0x2E: ("aft_in.cashable.value",),
    0x2F: ("aft_in.promo_restricted.value",),
    0x30: ("aft_in.promo_cashable.value",),
    0x32: ("aft_out.cashable.value",),
    0x33: ("aft_out.promo_restricted.value",),
    0x34: ("aft_out.promo_cashable.value",),
    0x35: ("ticket_in.cashable.count",),
    0x36: ("ticket_in.promo_restricted.count",),
    0x37: ("ticket_in.promo_cashable.count",),
    0x38: ("ticket_out.cashable.count",),
    0x39: ("ticket_out.promo_restricted.count",),
    0x58: ("bill_in.value",),
    0x80: ("ticket_in.cashable.value",),
    0x81: ("ticket_in.cashable.count",),
    0x82: ("ticket_in.promo_restricted.value",),
    0x83: ("ticket_in.promo_restricted.count",),
    0x84: ("ticket_in.promo_cashable.value",),
    0x85: ("ticket_in.promo_cashable.count",),
    0x86: ("ticket_out.cashable.value",),
    0x87: ("ticket_out.cashable.count",),
    0x88: ("ticket_out.promo_restricted.value",),
    0x89: ("ticket_out.promo_restricted.count",),
    0xA0: ("aft_in.cashable.value",),
    0xA1: ("aft_in.cashable.count",),
    0xA2: ("aft_in.promo_restricted.value",),
    0xA3: ("aft_in.promo_restricted.count",),
    0xA4: ("aft_in.promo_cashable.value",),
    0xA5: ("aft_in.promo_cashable.count",),
    0xAE: ("bonus_in.cashable.value",),
    0xAF: ("bonus_in.cashable.count",),
    0xB0: ("bonus_in.promo_cashable.value",),
    0xB1: ("bonus_in.promo_cashable.count",),
    0xB8: ("aft_out.cashable.value",),
    0xB9: ("aft_out.cashable.count",),
    0xBA: ("aft_out.promo_restricted.value",),
    0xBB: ("aft_out.promo_restricted.count",),
    0xBC: ("aft_out.promo_cashable.value",),
    0xBD: ("aft_out.promo_cashable.count",),
}

#: Destinations for which this machine has SAS meters that count bills. Every accepted bill goes to the stacker and
#: counts as "to the drop", so both meters of a denomination are equal.
_COUNTED_BILL_DESTINATIONS: Final = ("accepted", "to the drop")
#: SAS meter code -> the value of the bill that it counts, in minor units.
_BILL_CENTS_BY_METER_CODE: Final[Mapping[int, int]] = {
    code: bill_value * 100
    for first_code, (destination, bill_values) in BILL_METERS_BY_FIRST_CODE.items()
    if destination in _COUNTED_BILL_DESTINATIONS
    for code, bill_value in enumerate(bill_values, start=first_code)
}
#: SAS meter code of the theoretical return to player, which SAS calls "payback".
_RETURN_METER_CODE: Final = 0x7F
#: SAS meters of the stacker's content; they are not sums over the journal, because staff empty the stacker.
_STACKER_VALUE_BY_CODE: Final[Mapping[int, Callable[[SasReadout], int]]] = {
    0x3E: lambda readout: readout.stacker_bill_count,
    0x3F: lambda readout: readout.convert_to_credits(readout.stacker_cents),
}

#: Codes of the SAS meters that also exist for each game and denomination.
METER_CODES_AVAILABLE_PER_GAME: Final = frozenset(
    {0x00, 0x01, 0x02, 0x05, 0x06, 0x07, *range(0x19, 0x1B), *range(0x1C, 0x23), _RETURN_METER_CODE}
)

#: The codes of the SAS meters that this machine counts; for all others it lacks the device or the
#: kind of transfer that they count.
SUPPORTED_METER_CODES: Final = (
    frozenset(_SUMMED_METERS_BY_CODE)
    | frozenset(_BILL_CENTS_BY_METER_CODE)
    | frozenset(_STACKER_VALUE_BY_CODE)
    | {_RETURN_METER_CODE}
)


def read_meter(code: int, readout: SasReadout, game_id: str = "") -> int | None:
    """Return the value of the SAS meter with this code, in the meter's own unit.

    With a ``game_id``, it is the meter of that game, otherwise the meter of the whole machine. Return None if the
    machine does not support the meter, or if a game's meter is requested that exists only for the whole machine.
    """
    if code not in SUPPORTED_METER_CODES or (game_id and code not in METER_CODES_AVAILABLE_PER_GAME):
        return None
    if code == _RETURN_METER_CODE:
        return compute_return_hundredths(readout, game_id)
    if code in _STACKER_VALUE_BY_CODE:
        return _STACKER_VALUE_BY_CODE[code](readout)
    if code in _BILL_CENTS_BY_METER_CODE:
        return readout.count_bills(_BILL_CENTS_BY_METER_CODE[code])
    value_by_meter = readout.read_meters(game_id)
    total = sum(value_by_meter.get(name, 0) for name in _SUMMED_METERS_BY_CODE[code])
    if METER_DEFINITION_BY_CODE[code].unit is SasMeterUnit.CREDITS:
        return readout.convert_to_credits(total)
    return total


def compute_return_hundredths(readout: SasReadout, game_id: str = "") -> int:
    """Return the theoretical return to player (RTP) of one game or of the machine, in hundredths of a percent.

    The machine's return is the average of the returns of its games, weighted by the wagers on each. Until something is
    wagered, all games have the same weight.
    """
    games = [game for game in readout.games if game_id in {"", game.id}]
    wagered_cents_by_game = {game.id: readout.read_meters(game.id)["coin_in"] for game in games}
    total_wagered_cents = sum(wagered_cents_by_game.values())
    if total_wagered_cents == 0:
        return sum(game.return_hundredths for game in games) // max(1, len(games))
    return (
        sum(game.return_hundredths * wagered_cents_by_game[game.id] for game in games) // total_wagered_cents
    )
