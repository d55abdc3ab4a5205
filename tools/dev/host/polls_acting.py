"""The polls that act on the machine: control, tickets, transfers, progressives (1.6, 1.10, 1.13 to 1.15)."""

from typing import Final

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
    four_byte_meters,
    lsb,
)

ASSET: Final = lsb("asset", 4)
_KEY: Final = Field("key", 20, Kind.RAW)
_AMOUNTS: Final = (bcd("cashable_cents", 5), bcd("restricted_cents", 5), bcd("nonrestricted_cents", 5))
_VALIDATION: Final = Field("validation", 8, Kind.DIGITS)
_TICKET_DATA: Final = Field("validation_data", 9, Kind.DIGITS)
_TEXTS: Final = Many("elements", (lsb("code", 1), Counted("text")))
_FLAG: Final = (lsb("flag", 1),)
_RECORD: Final = (
    lsb("type", 1),
    lsb("index", 1),
    DATE,
    TIME,
    _VALIDATION,
    bcd("amount_cents", 5),
    lsb("ticket_number", 2),
    bcd("system_id", 1),
    EXPIRATION,
    POOL,
)
_TRANSFER: Final = (
    lsb("transfer_code", 1),
    lsb("index", 1),
    lsb("type", 1),
    *_AMOUNTS,
    lsb("flags", 1),
    ASSET,
    _KEY,
    Counted("transaction"),
    EXPIRATION,
    POOL,
    Counted("receipt", Kind.RAW),
    bcd("lock_timeout", 2),
)
_TRANSFERRED: Final = (
    lsb("position", 1),
    lsb("status", 1),
    lsb("receipt_status", 1),
    lsb("type", 1),
    *_AMOUNTS,
    lsb("flags", 1),
    ASSET,
    Counted("transaction"),
    DATE,
    TIME,
    EXPIRATION,
    POOL,
    Counted("cumulative_cashable", Kind.BCD),
    Counted("cumulative_restricted", Kind.BCD),
    Counted("cumulative_nonrestricted", Kind.BCD),
)
_LOCK: Final = (
    ASSET,
    lsb("lock_status", 1),
    lsb("available", 1),
    lsb("host_cashout", 1),
    lsb("aft_status", 1),
    lsb("buffer_index_max", 1),
    *_AMOUNTS,
    bcd("limit_cents", 5),
    EXPIRATION,
    POOL,
)
_REGISTRATION: Final = (lsb("status", 1), ASSET, _KEY, lsb("pos_id", 4))
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
        (lsb("denominations", 4), lsb("action", 1)),
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
        (lsb("group", 1), lsb("level", 1), bcd("amount_cents", 5)),
        None,
        K,
        broadcast=True,
    ),
    Poll(
        0x86,
        "progressive amounts",
        S,
        (Sized((lsb("group", 1), Many("levels", (lsb("level", 1), bcd("amount_cents", 5))))),),
        None,
        K,
        broadcast=True,
    ),
    Poll(0x83, "cumulative progressive wins", M, (GAME,), (GAME, *four_byte_meters("value")), K),
    *(
        Poll(code, name, R, (), (lsb("group", 1), lsb("level", 1), bcd("amount_cents", 5)), K)
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
                    Many("wins", (lsb("level", 1), bcd("amount_cents", 5)), "count"),
                )
            ),
        ),
        K,
    ),
    Poll(0x8A, "legacy bonus", S, (*four_byte_meters("amount"), lsb("tax", 1)), None, K),
    Poll(
        0x8C,
        "tournament",
        M,
        (GAME, Field("time", 2, Kind.DIGITS), *four_byte_meters("credits"), lsb("pulses", 1)),
        None,
        K,
    ),
    Poll(0x94, "remote hand-pay reset", S, (), (lsb("code", 1),), B),
    Poll(
        0xA8,
        "jackpot reset method",
        S,
        (lsb("method", 1),),
        (lsb("code", 1),),
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
        (Field("validation", 4, Kind.DIGITS), bcd("amount_cents", 5)),
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
    Poll(0x4D, "enhanced validation information", S, (lsb("function", 1),), _RECORD, A),
    Poll(
        0x50,
        "validation meters",
        S,
        (lsb("type", 1),),
        (lsb("type", 1), bcd("count", 4), bcd("amount_cents", 5)),
        A,
    ),
    Poll(0x57, "pending cash-out", R, (), (lsb("type", 1), bcd("amount_cents", 5)), A),
    Poll(
        0x58,
        "validation number",
        S,
        (bcd("system_id", 1), _VALIDATION),
        (lsb("status", 1),),
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
                    lsb("status", 1),
                    bcd("amount_cents", 5),
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
                    lsb("code", 1),
                    bcd("amount_cents", 5),
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
                    lsb("status", 1),
                    bcd("amount_cents", 5),
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
                    lsb("mask", 2),
                    lsb("states", 2),
                    bcd("cashable_days", 2),
                    bcd("restricted_days", 2),
                )
            ),
        ),
        (
            Sized(
                (
                    ASSET,
                    lsb("status", 2),
                    bcd("cashable_days", 2),
                    bcd("restricted_days", 2),
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
                    lsb("expiration_days", 1),
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
        (Sized((lsb("code", 1), ASSET, _KEY, lsb("pos_id", 4))),),
        (Sized(_REGISTRATION),),
        A,
    ),
    Poll(
        0x74,
        "lock and status",
        S,
        (
            lsb("code", 1),
            lsb("condition", 1),
            bcd("timeout", 2),
        ),
        (Sized(_LOCK),),
        A,
    ),
    Poll(0x75, "receipt texts", S, (Sized((_TEXTS,)),), _FLAG, K, broadcast=True),
    Poll(0x76, "transfer ticket texts", S, (Sized((_TEXTS,)),), _FLAG, K),
)
