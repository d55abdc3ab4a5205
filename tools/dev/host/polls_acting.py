"""The polls that act on the machine: control, tickets, transfers, progressives (1.6, 1.10, 1.13 to 1.15)."""

from typing import Final

from tools.dev.host import codes
from tools.dev.host.fields import Counted, Field, Kind, Many, Rest, Sized
from tools.dev.host.poll import (
    DATE,
    DENOMINATION,
    EXPIRATION,
    GAME,
    ON,
    POOL,
    TIME,
    A,
    B,
    K,
    M,
    Poll,
    R,
    S,
    X,
    bcd,
    cents,
    coded,
    credit_meters,
    days,
    flags,
    lsb,
)

ASSET: Final = lsb("asset", 4)
_KEY: Final = Field("key", 20, Kind.RAW)
_AMOUNTS: Final = (cents("cashable_cents"), cents("restricted_cents"), cents("nonrestricted_cents"))
_VALIDATION: Final = Field("validation", 8, Kind.DIGITS)
_TICKET_DATA: Final = Field("validation_data", 9, Kind.DIGITS)
_TEXTS: Final = Many("elements", (Field("code", 1, Kind.BINARY), Counted("text")))
_FLAG: Final = (coded("flag", {0: "invalid", 1: "valid"}),)
_RECORD: Final = (
    coded("type", codes.VALIDATIONS),
    lsb("index", 1),
    DATE,
    TIME,
    _VALIDATION,
    cents("amount_cents"),
    lsb("ticket_number", 2),
    bcd("system_id", 1),
    EXPIRATION,
    POOL,
)
_TRANSFER: Final = (
    coded("transfer_code", codes.TRANSFER_CODES),
    lsb("index", 1),
    coded("type", codes.TRANSFER_TYPES),
    *_AMOUNTS,
    flags("flags", 1, codes.TRANSFER_FLAGS),
    ASSET,
    _KEY,
    Counted("transaction"),
    EXPIRATION,
    POOL,
    Counted("receipt", Kind.RAW),
    bcd("lock_timeout", 2, "hundredths of a second"),
)
_TRANSFERRED: Final = (
    lsb("position", 1),
    coded("status", codes.TRANSFER_STATUS),
    coded("receipt_status", codes.RECEIPT_STATUS),
    coded("type", codes.TRANSFER_TYPES),
    *_AMOUNTS,
    flags("flags", 1, codes.TRANSFER_FLAGS),
    ASSET,
    Counted("transaction"),
    DATE,
    TIME,
    EXPIRATION,
    POOL,
    Counted("cumulative_cashable", Kind.BCD, "cents"),
    Counted("cumulative_restricted", Kind.BCD, "cents"),
    Counted("cumulative_nonrestricted", Kind.BCD, "cents"),
)
_LOCK: Final = (
    ASSET,
    coded("lock_status", codes.LOCK_STATUS),
    flags("available", 1, codes.AVAILABLE_TRANSFERS),
    flags("host_cashout", 1, {0: "host controllable", 1: "enabled", 2: "hard mode"}),
    flags("aft_status", 1, codes.AFT_STATUS),
    lsb("buffer_index_max", 1),
    *_AMOUNTS,
    cents("limit_cents"),
    EXPIRATION,
    POOL,
)
_REGISTRATION: Final = (coded("status", codes.REGISTRATION_STATUS), ASSET, _KEY, lsb("pos_id", 4))
_CONTROL: Final = {
    0x01: "shutdown (lock out play)",
    0x02: "startup (enable play)",
    0x03: "sound off",
    0x04: "sound on",
    0x05: "reel and game sounds off",
    0x06: "enable bill acceptor",
    0x07: "disable bill acceptor",
    0x0A: "enter maintenance mode",
    0x0B: "exit maintenance mode",
}
#: Acting on the machine (1.6).
ACTING: Final = (
    *(Poll(code, name, S, (), None, A) for code, name in _CONTROL.items()),
    Poll(
        0x08,
        "configure bill denominations",
        S,
        (flags("denominations", 4, codes.BILLS), flags("action", 1, {0: "stay enabled after a bill"})),
        None,
        A,
    ),
    Poll(0x09, "enable or disable a game", M, (GAME, *ON), None, X),
    Poll(0x0E, "real-time event reporting", S, ON, None, A),
    Poll(0x21, "ROM signature", S, (lsb("seed", 2),), (lsb("signature", 2),), B),
    Poll(0x2E, "delay game", S, (bcd("delay", 2),), None, B),
    Poll(0x7F, "receive date and time", S, (DATE, TIME), None, A, broadcast=True),
    Poll(
        0x80,
        "progressive amount",
        S,
        (lsb("group", 1), lsb("level", 1), cents("amount_cents")),
        None,
        K,
        broadcast=True,
    ),
    Poll(
        0x86,
        "progressive amounts",
        S,
        (Sized((lsb("group", 1), Many("levels", (lsb("level", 1), cents("amount_cents"))))),),
        None,
        K,
        broadcast=True,
    ),
    Poll(0x83, "cumulative progressive wins", M, (GAME,), (GAME, *credit_meters("value")), K),
    *(
        Poll(code, name, R, (), (lsb("group", 1), lsb("level", 1), cents("amount_cents")), K)
        for code, name in ((0x84, "progressive win"), (0x85, "SAS progressive win"))
    ),
    Poll(
        0x87,
        "SAS progressive wins",
        R,
        (),
        (
            Sized(
                (
                    lsb("group", 1),
                    lsb("count", 1),
                    Many("wins", (lsb("level", 1), cents("amount_cents")), "count"),
                )
            ),
        ),
        K,
    ),
    Poll(0x8A, "legacy bonus", S, (*credit_meters("amount"), coded("tax", codes.TAX)), None, K),
    Poll(
        0x8C,
        "tournament",
        M,
        (GAME, Field("time", 2, Kind.DIGITS), *credit_meters("credits"), lsb("pulses", 1)),
        None,
        K,
    ),
    Poll(0x94, "remote hand-pay reset", S, (), (coded("code", codes.RESET),), B),
    Poll(
        0xA8,
        "jackpot reset method",
        S,
        (coded("method", {0: "standard", 1: "to credits"}),),
        (coded("code", codes.RESET_METHOD),),
        K,
    ),
    Poll(0xAA, "auto rebet", S, ON, None, B),
    Poll(
        0xB0,
        "for one denomination",
        S,
        (Sized((DENOMINATION, lsb("poll", 1), Rest("data"))),),
        (Sized((DENOMINATION, lsb("poll", 1), Rest("data"))),),
        B,
    ),
)

#: Tickets (1.13).
TICKETS: Final = (
    Poll(
        0x3D,
        "cash-out ticket",
        R,
        (),
        (Field("validation", 4, Kind.DIGITS), cents("amount_cents")),
        A,
    ),
    Poll(
        0x4C,
        "secure enhanced validation ID",
        S,
        (lsb("validation_id", 3), lsb("sequence", 3)),
        (lsb("validation_id", 3), lsb("sequence", 3)),
        A,
    ),
    Poll(0x4D, "enhanced validation information", S, (coded("function", codes.RECORDS),), _RECORD, A),
    Poll(
        0x50,
        "validation meters",
        S,
        (coded("type", codes.VALIDATIONS),),
        (coded("type", codes.VALIDATIONS), bcd("count", 4), cents("amount_cents")),
        A,
    ),
    Poll(0x57, "pending cash-out", R, (), (coded("type", codes.CASHOUTS), cents("amount_cents")), A),
    Poll(
        0x58,
        "validation number",
        S,
        (bcd("system_id", 1), _VALIDATION),
        (coded("status", codes.NUMBER_TAKEN),),
        A,
    ),
    Poll(
        0x70,
        "ticket in escrow",
        R,
        (),
        (
            Sized(
                (
                    coded("status", codes.ESCROW),
                    cents("amount_cents"),
                    lsb("parsing", 1),
                    _TICKET_DATA,
                )
            ),
        ),
        A,
    ),
    Poll(
        0x71,
        "redeem ticket",
        S,
        (
            Sized(
                (
                    coded("code", codes.REDEEM_CODES),
                    cents("amount_cents"),
                    lsb("parsing", 1),
                    _TICKET_DATA,
                    EXPIRATION,
                    POOL,
                )
            ),
        ),
        (
            Sized(
                (
                    coded("status", codes.REDEEM_STATUS),
                    cents("amount_cents"),
                    lsb("parsing", 1),
                    _TICKET_DATA,
                )
            ),
        ),
        X,
    ),
    Poll(
        0x7B,
        "extended validation status",
        S,
        (
            Sized(
                (
                    flags("mask", 2, codes.VALIDATION_BITS),
                    flags("states", 2, codes.VALIDATION_BITS),
                    days("cashable_days"),
                    days("restricted_days"),
                )
            ),
        ),
        (
            Sized(
                (
                    ASSET,
                    flags("status", 2, codes.VALIDATION_BITS),
                    days("cashable_days"),
                    days("restricted_days"),
                )
            ),
        ),
        A,
        broadcast=True,
    ),
    Poll(0x7C, "extended ticket data", S, (Sized((_TEXTS,)),), _FLAG, B, broadcast=True),
    Poll(
        0x7D,
        "ticket data",
        S,
        (
            Sized(
                (
                    lsb("host_id", 2),
                    lsb("expiration_days", 1, "days"),
                    Counted("location"),
                    Counted("address1"),
                    Counted("address2"),
                )
            ),
        ),
        _FLAG,
        B,
        broadcast=True,
    ),
)

#: Transfers (1.14).
TRANSFERS: Final = (
    Poll(0x72, "transfer", S, (Sized(_TRANSFER),), (Sized(_TRANSFERRED),), A),
    Poll(
        0x73,
        "register",
        S,
        (Sized((coded("code", codes.REGISTER_CODES), ASSET, _KEY, lsb("pos_id", 4))),),
        (Sized(_REGISTRATION),),
        A,
    ),
    Poll(
        0x74,
        "lock and status",
        S,
        (
            coded("code", codes.LOCK_CODES),
            flags("condition", 1, codes.AVAILABLE_TRANSFERS),
            bcd("timeout", 2, "hundredths of a second"),
        ),
        (Sized(_LOCK),),
        A,
    ),
    Poll(0x75, "receipt texts", S, (Sized((_TEXTS,)),), _FLAG, K, broadcast=True),
    Poll(0x76, "transfer ticket texts", S, (Sized((_TEXTS,)),), _FLAG, K),
)
