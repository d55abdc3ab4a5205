"""SAS exceptions from journal entries: which entries are reported to a host, and as which exception.

The declarations of the entries contain most exception codes; this module adds the others, and the data of
real-time event reporting (general knowledge: see ``SasPollGroup.REAL_TIME_EVENTS``).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from egm.integrity.entries import MACHINE_DISABLED, POWER_UP
from egm.kernel.entries import EntryDeclarations
from egm.links.sas.codec import encode_bcd
from egm.links.sas.exception_queue import ENDING_POLL_CODES_BY_EXCEPTION_CODE, SasException
from egm.links.sas.readout import SasReadout
from egm.links.sas.tables.denominations import (
    BILL_MAJOR_UNITS_BY_CODE,
    COUNTRY_CODE_BY_CURRENCY,
    UNKNOWN_COUNTRY_CODE,
)
from egm.links.sas.tables.exceptions import EXCEPTION_DEFINITION_BY_CODE
from egm.money.entries import BILL_IN, HANDPAY_PENDING
from egm.money.keys import MoneyKey
from egm.play.entries import GAME_END, GAME_START
from meters import Phase
from meters.entry import StoredEntry

#: Exception code: a bill was accepted.
BILL_ACCEPTED_EXCEPTION_CODE: Final = 0x4F
#: Exception codes: a game has started, a game has ended.
_GAME_STARTED_EXCEPTION_CODE, _GAME_ENDED_EXCEPTION_CODE = 0x7E, 0x7F
#: Exception code: a hand-pay is pending.
_HANDPAY_PENDING_EXCEPTION_CODE: Final = 0x51
#: Exception codes: a game was selected; the machine went out of service.
_GAME_SELECTED_EXCEPTION_CODE, _OUT_OF_SERVICE_EXCEPTION_CODE = 0x8C, 0x86
#: Exception codes: power was lost; power was applied.
_POWER_LOST_EXCEPTION_CODE, _POWER_APPLIED_EXCEPTION_CODE = 0x18, 0x17
#: Exception codes: the stacker was removed; its count was set to zero.
_STACKER_REMOVED_EXCEPTION_CODE, _STACKER_COUNT_RESET_EXCEPTION_CODE = 0x1B, 0x7B
#: Id of the journal entry of a machine's first power-up, before which no power was lost.
_FIRST_POWER_UP_ENTRY_ID: Final = "power-up-1"
#: SAS bill code of each bill, by its value in major units.
_BILL_CODE_BY_VALUE: Final[Mapping[int, int]] = {
    value: code for code, value in BILL_MAJOR_UNITS_BY_CODE.items()
}


#: Exception codes that this module raises, in addition to those in the declarations of the entries.
_UNDECLARED_EXCEPTION_CODES: Final = frozenset(
    {
        BILL_ACCEPTED_EXCEPTION_CODE,
        _GAME_STARTED_EXCEPTION_CODE,
        _GAME_ENDED_EXCEPTION_CODE,
        _GAME_SELECTED_EXCEPTION_CODE,
        _OUT_OF_SERVICE_EXCEPTION_CODE,
        _POWER_LOST_EXCEPTION_CODE,
        _STACKER_COUNT_RESET_EXCEPTION_CODE,
    }
)


def list_raised_exceptions(declarations: EntryDeclarations) -> frozenset[int]:
    """Return the codes of the SAS exceptions that journal entries can raise."""
    return _UNDECLARED_EXCEPTION_CODES | {
        significance.sas_exception_code
        for _, significance in declarations.iter_significant_kinds()
        if significance.sas_exception_code is not None
    }


def iter_exceptions(
    entry: StoredEntry,
    declarations: EntryDeclarations,
    readout: SasReadout,
    permitted_poll_codes: frozenset[int],
    previous_game_number: int,
) -> Iterator[SasException]:
    """Yield the SAS exceptions that a journal entry raises for a host.

    ``permitted_poll_codes`` are the command codes of the polls that the host may use; a priority exception that none of
    them can end is left out. ``previous_game_number`` is the SAS number of the game that was selected before the entry.
    """
    for code, data, event_code in _iter_exception_codes(entry, declarations, readout, previous_game_number):
        ending_polls = ENDING_POLL_CODES_BY_EXCEPTION_CODE.get(code)
        if code in EXCEPTION_DEFINITION_BY_CODE and (
            ending_polls is None or ending_polls & permitted_poll_codes
        ):
            yield SasException(code, data, event_code, entry.sequence)


def _iter_exception_codes(
    entry: StoredEntry, declarations: EntryDeclarations, readout: SasReadout, previous_game_number: int
) -> Iterator[tuple[int, bytes, int]]:
    """Yield the exceptions that a journal entry raises, each as (exception code, event data, event code).

    The event code is used in real-time event reporting; 0 means that it equals the exception code.
    """
    is_handpay_opened = entry.phase is Phase.RESERVE and isinstance(
        entry.state.get(MoneyKey.HANDPAY), Mapping
    )
    if is_handpay_opened and entry.kind != HANDPAY_PENDING.kind:
        # The hand-pay comes from a game, a host's bonus or a prize exchanged for money.
        yield _HANDPAY_PENDING_EXCEPTION_CODE, b"", 0
    record: Mapping[str, Any] = entry.record if isinstance(entry.record, Mapping) else {}
    match entry.kind:
        case GAME_START.kind:
            yield _GAME_STARTED_EXCEPTION_CODE, _encode_game_start(entry, readout), 0
        case GAME_END.kind:
            won_credits = readout.convert_to_credits(int(record.get("win_cents", 0)))
            yield _GAME_ENDED_EXCEPTION_CODE, encode_bcd(won_credits, 4), 0
        case "selection":
            game_number = _find_selected_game(entry, readout)
            if game_number not in {None, previous_game_number}:
                yield _GAME_SELECTED_EXCEPTION_CODE, encode_bcd(game_number or 0, 2), 0
        case POWER_UP.kind if entry.id != _FIRST_POWER_UP_ENTRY_ID:
            yield _POWER_LOST_EXCEPTION_CODE, b"", 0  # it could not be reported when it happened
            yield _POWER_APPLIED_EXCEPTION_CODE, b"", 0
        case MACHINE_DISABLED.kind if str(record.get("source", "")) == "operator":
            yield _OUT_OF_SERVICE_EXCEPTION_CODE, b"", 0
        case _:
            yield from _iter_declared_exceptions(entry, declarations, record, readout)


def _iter_declared_exceptions(
    entry: StoredEntry, declarations: EntryDeclarations, record: Mapping[str, Any], readout: SasReadout
) -> Iterator[tuple[int, bytes, int]]:
    """Yield the SAS exception that the declaration of an entry's kind states, with the data for the host.

    If the exception is "stacker removed", also yield the reset of the stacker's bill count. If the declaration states
    no exception, yield nothing.
    """
    significance = declarations.find_significance(entry)
    if significance is None or significance.sas_exception_code is None:
        return
    if entry.kind == BILL_IN.kind:
        yield (
            significance.sas_exception_code,
            _encode_bill(int(record.get("amount_cents", 0)), readout),
            BILL_ACCEPTED_EXCEPTION_CODE,
        )
    else:
        yield significance.sas_exception_code, b"", 0
    if significance.sas_exception_code == _STACKER_REMOVED_EXCEPTION_CODE:
        yield _STACKER_COUNT_RESET_EXCEPTION_CODE, b"", 0


def _encode_game_start(entry: StoredEntry, readout: SasReadout) -> bytes:
    """Return the data of a game start event: credits wagered, total coin-in, wager type, progressive group."""
    bet_cents = sum(transfer.amount_cents for transfer in entry.transfers if transfer.target == "house:wager")
    coin_in_credits = readout.convert_to_credits(readout.read_meters()["coin_in"])
    return encode_bcd(readout.convert_to_credits(bet_cents), 2) + encode_bcd(coin_in_credits, 4) + b"\0\0"


def _find_selected_game(entry: StoredEntry, readout: SasReadout) -> int | None:
    """Return the SAS number of the game that a game-selection entry selects; None if that game has no SAS number."""
    selection = entry.state.get("selection")
    if not isinstance(selection, Mapping):
        return None
    return next((game.game_number for game in readout.games if game.id == selection.get("game_id")), None)


def find_bill_codes(amount_cents: int, currency: str) -> tuple[int, int | None]:
    """Return the SAS country code and bill code of a bill; the bill code is None if the table has no such bill."""
    return COUNTRY_CODE_BY_CURRENCY.get(currency, UNKNOWN_COUNTRY_CODE), _BILL_CODE_BY_VALUE.get(
        amount_cents // 100
    )


def _encode_bill(amount_cents: int, readout: SasReadout) -> bytes:
    """Return the data of a bill event: country, bill code, and the count of such bills so far."""
    country_code, bill_code = find_bill_codes(amount_cents, readout.currency)
    return (
        encode_bcd(country_code, 1)
        + encode_bcd(bill_code or 0, 1)
        + encode_bcd(readout.count_bills(amount_cents), 4)
    )
