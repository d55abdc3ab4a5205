"""The polls that change the machine: control, tickets, transfers, progressives (1.6, 1.10, 1.13 to 1.15)."""

from typing import Final

from tools.dev.host.fields import (
    Field,
    FieldKind,
    LengthPrefixedField,
    LengthPrefixedGroup,
    RemainingBytesField,
    RepeatedGroup,
)
from tools.dev.host.poll import (
    CONFLICT,
    DATE_FIELD,
    DENOMINATION_FIELD,
    ENABLE_FIELDS,
    EXPIRATION_FIELD,
    GAME_FIELD,
    POOL_FIELD,
    TIME_FIELD,
    A,
    B,
    K,
    M,
    Poll,
    R,
    S,
    bcd_field,
    binary_field,
    four_byte_meters,
)

ASSET_FIELD: Final = binary_field("asset", 4)
_REGISTRATION_KEY_FIELD: Final = Field("key", 20, FieldKind.RAW)
_AMOUNT_FIELDS: Final = (
    bcd_field("cashable_cents", 5),
    bcd_field("restricted_cents", 5),
    bcd_field("nonrestricted_cents", 5),
)
_VALIDATION_NUMBER_FIELD: Final = Field("validation", 8, FieldKind.DIGITS)
_VALIDATION_DATA_FIELD: Final = Field("validation_data", 9, FieldKind.DIGITS)
_TEXT_ELEMENTS_GROUP: Final = RepeatedGroup(
    "elements", (binary_field("code", 1), LengthPrefixedField("text"))
)
_FLAG_FIELDS: Final = (binary_field("flag", 1),)
_VALIDATION_RECORD_FIELDS: Final = (
    binary_field("type", 1),
    binary_field("index", 1),
    DATE_FIELD,
    TIME_FIELD,
    _VALIDATION_NUMBER_FIELD,
    bcd_field("amount_cents", 5),
    binary_field("ticket_number", 2),
    bcd_field("system_id", 1),
    EXPIRATION_FIELD,
    POOL_FIELD,
)
_TRANSFER_ORDER_FIELDS: Final = (
    binary_field("transfer_code", 1),
    binary_field("index", 1),
    binary_field("type", 1),
    *_AMOUNT_FIELDS,
    binary_field("flags", 1),
    ASSET_FIELD,
    _REGISTRATION_KEY_FIELD,
    LengthPrefixedField("transaction"),
    EXPIRATION_FIELD,
    POOL_FIELD,
    LengthPrefixedField("receipt", FieldKind.RAW),
    bcd_field("lock_timeout", 2),
)
_TRANSFER_RESULT_FIELDS: Final = (
    binary_field("position", 1),
    binary_field("status", 1),
    binary_field("receipt_status", 1),
    binary_field("type", 1),
    *_AMOUNT_FIELDS,
    binary_field("flags", 1),
    ASSET_FIELD,
    LengthPrefixedField("transaction"),
    DATE_FIELD,
    TIME_FIELD,
    EXPIRATION_FIELD,
    POOL_FIELD,
    LengthPrefixedField("cumulative_cashable", FieldKind.BCD),
    LengthPrefixedField("cumulative_restricted", FieldKind.BCD),
    LengthPrefixedField("cumulative_nonrestricted", FieldKind.BCD),
)
_LOCK_REPLY_FIELDS: Final = (
    ASSET_FIELD,
    binary_field("lock_status", 1),
    binary_field("available", 1),
    binary_field("host_cashout", 1),
    binary_field("aft_status", 1),
    binary_field("buffer_index_max", 1),
    *_AMOUNT_FIELDS,
    bcd_field("limit_cents", 5),
    EXPIRATION_FIELD,
    POOL_FIELD,
)
_REGISTRATION_FIELDS: Final = (
    binary_field("status", 1),
    ASSET_FIELD,
    _REGISTRATION_KEY_FIELD,
    binary_field("pos_id", 4),
)
_NAME_BY_CONTROL_POLL: Final = {
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
#: Control (1.6).
CONTROL_POLLS: Final = (
    *(Poll(code, name, S, (), None, A) for code, name in _NAME_BY_CONTROL_POLL.items()),
    Poll(
        0x08,
        "configure bill denominations",
        S,
        (binary_field("denominations", 4), binary_field("action", 1)),
        None,
        A,
    ),
    Poll(0x09, "enable or disable a game", M, (GAME_FIELD, *ENABLE_FIELDS), None, CONFLICT),
    Poll(0x0E, "real-time event reporting", S, ENABLE_FIELDS, None, A),
    Poll(0x21, "ROM signature", S, (binary_field("seed", 2),), (binary_field("signature", 2),), B),
    Poll(0x2E, "delay game", S, (bcd_field("delay", 2),), None, B),
    Poll(0x7F, "receive date and time", S, (DATE_FIELD, TIME_FIELD), None, A, can_be_broadcast=True),
    Poll(
        0x80,
        "progressive amount",
        S,
        (binary_field("group", 1), binary_field("level", 1), bcd_field("amount_cents", 5)),
        None,
        K,
        can_be_broadcast=True,
    ),
    Poll(
        0x86,
        "progressive amounts",
        S,
        (
            LengthPrefixedGroup(
                (
                    binary_field("group", 1),
                    RepeatedGroup("levels", (binary_field("level", 1), bcd_field("amount_cents", 5))),
                )
            ),
        ),
        None,
        K,
        can_be_broadcast=True,
    ),
    Poll(0x83, "cumulative progressive wins", M, (GAME_FIELD,), (GAME_FIELD, *four_byte_meters("value")), K),
    *(
        Poll(
            code,
            name,
            R,
            (),
            (binary_field("group", 1), binary_field("level", 1), bcd_field("amount_cents", 5)),
            K,
        )
        for code, name in ((0x84, "progressive win"), (0x85, "SAS progressive win"))
    ),
    Poll(
        0x87,
        "SAS progressive wins",
        R,
        (),
        (
            LengthPrefixedGroup(
                (
                    binary_field("group", 1),
                    binary_field("count", 1),
                    RepeatedGroup("wins", (binary_field("level", 1), bcd_field("amount_cents", 5)), "count"),
                )
            ),
        ),
        K,
    ),
    Poll(0x8A, "legacy bonus", S, (*four_byte_meters("amount"), binary_field("tax", 1)), None, K),
    Poll(
        0x8C,
        "tournament",
        M,
        (
            GAME_FIELD,
            Field("time", 2, FieldKind.DIGITS),
            *four_byte_meters("credits"),
            binary_field("pulses", 1),
        ),
        None,
        K,
    ),
    Poll(0x94, "remote hand-pay reset", S, (), (binary_field("code", 1),), B),
    Poll(
        0xA8,
        "jackpot reset method",
        S,
        (binary_field("method", 1),),
        (binary_field("code", 1),),
        K,
    ),
    Poll(0xAA, "auto rebet", S, ENABLE_FIELDS, None, B),
    Poll(
        0xB0,
        "for one denomination",
        S,
        (LengthPrefixedGroup((DENOMINATION_FIELD, binary_field("poll", 1), RemainingBytesField("data"))),),
        (LengthPrefixedGroup((DENOMINATION_FIELD, binary_field("poll", 1), RemainingBytesField("data"))),),
        B,
    ),
)

#: Tickets (1.13).
TICKET_POLLS: Final = (
    Poll(
        0x3D,
        "cash-out ticket",
        R,
        (),
        (Field("validation", 4, FieldKind.DIGITS), bcd_field("amount_cents", 5)),
        A,
    ),
    Poll(
        0x4C,
        "secure enhanced validation ID",
        S,
        (binary_field("validation_id", 3), binary_field("sequence", 3)),
        (binary_field("validation_id", 3), binary_field("sequence", 3)),
        A,
    ),
    Poll(
        0x4D,
        "enhanced validation information",
        S,
        (binary_field("function", 1),),
        _VALIDATION_RECORD_FIELDS,
        A,
    ),
    Poll(
        0x50,
        "validation meters",
        S,
        (binary_field("type", 1),),
        (binary_field("type", 1), bcd_field("count", 4), bcd_field("amount_cents", 5)),
        A,
    ),
    Poll(0x57, "pending cash-out", R, (), (binary_field("type", 1), bcd_field("amount_cents", 5)), A),
    Poll(
        0x58,
        "validation number",
        S,
        (bcd_field("system_id", 1), _VALIDATION_NUMBER_FIELD),
        (binary_field("status", 1),),
        A,
    ),
    Poll(
        0x70,
        "ticket in escrow",
        R,
        (),
        (
            LengthPrefixedGroup(
                (
                    binary_field("status", 1),
                    bcd_field("amount_cents", 5),
                    binary_field("parsing", 1),
                    _VALIDATION_DATA_FIELD,
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
            LengthPrefixedGroup(
                (
                    binary_field("code", 1),
                    bcd_field("amount_cents", 5),
                    binary_field("parsing", 1),
                    _VALIDATION_DATA_FIELD,
                    EXPIRATION_FIELD,
                    POOL_FIELD,
                )
            ),
        ),
        (
            LengthPrefixedGroup(
                (
                    binary_field("status", 1),
                    bcd_field("amount_cents", 5),
                    binary_field("parsing", 1),
                    _VALIDATION_DATA_FIELD,
                )
            ),
        ),
        CONFLICT,
    ),
    Poll(
        0x7B,
        "extended validation status",
        S,
        (
            LengthPrefixedGroup(
                (
                    binary_field("mask", 2),
                    binary_field("states", 2),
                    bcd_field("cashable_days", 2),
                    bcd_field("restricted_days", 2),
                )
            ),
        ),
        (
            LengthPrefixedGroup(
                (
                    ASSET_FIELD,
                    binary_field("status", 2),
                    bcd_field("cashable_days", 2),
                    bcd_field("restricted_days", 2),
                )
            ),
        ),
        A,
        can_be_broadcast=True,
    ),
    Poll(
        0x7C,
        "extended ticket data",
        S,
        (LengthPrefixedGroup((_TEXT_ELEMENTS_GROUP,)),),
        _FLAG_FIELDS,
        B,
        can_be_broadcast=True,
    ),
    Poll(
        0x7D,
        "ticket data",
        S,
        (
            LengthPrefixedGroup(
                (
                    binary_field("host_id", 2),
                    binary_field("expiration_days", 1),
                    LengthPrefixedField("location"),
                    LengthPrefixedField("address1"),
                    LengthPrefixedField("address2"),
                )
            ),
        ),
        _FLAG_FIELDS,
        B,
        can_be_broadcast=True,
    ),
)

#: Transfers (1.14).
TRANSFER_POLLS: Final = (
    Poll(
        0x72,
        "transfer",
        S,
        (LengthPrefixedGroup(_TRANSFER_ORDER_FIELDS),),
        (LengthPrefixedGroup(_TRANSFER_RESULT_FIELDS),),
        A,
    ),
    Poll(
        0x73,
        "register",
        S,
        (
            LengthPrefixedGroup(
                (binary_field("code", 1), ASSET_FIELD, _REGISTRATION_KEY_FIELD, binary_field("pos_id", 4))
            ),
        ),
        (LengthPrefixedGroup(_REGISTRATION_FIELDS),),
        A,
    ),
    Poll(
        0x74,
        "lock and status",
        S,
        (
            binary_field("code", 1),
            binary_field("condition", 1),
            bcd_field("timeout", 2),
        ),
        (LengthPrefixedGroup(_LOCK_REPLY_FIELDS),),
        A,
    ),
    Poll(
        0x75,
        "receipt texts",
        S,
        (LengthPrefixedGroup((_TEXT_ELEMENTS_GROUP,)),),
        _FLAG_FIELDS,
        K,
        can_be_broadcast=True,
    ),
    Poll(0x76, "transfer ticket texts", S, (LengthPrefixedGroup((_TEXT_ELEMENTS_GROUP,)),), _FLAG_FIELDS, K),
)
