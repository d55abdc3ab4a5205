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
    GENERAL_KNOWLEDGE,
    MULTI_GAME,
    ONE_SOURCE,
    POOL_FIELD,
    READ,
    SET,
    TIME_FIELD,
    TWO_SOURCES,
    Poll,
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
    *(Poll(code, name, SET, (), None, TWO_SOURCES) for code, name in _NAME_BY_CONTROL_POLL.items()),
    Poll(
        0x08,
        "configure bill denominations",
        SET,
        (binary_field("denominations", 4), binary_field("action", 1)),
        None,
        TWO_SOURCES,
    ),
    Poll(0x09, "enable or disable a game", MULTI_GAME, (GAME_FIELD, *ENABLE_FIELDS), None, CONFLICT),
    Poll(0x0E, "real-time event reporting", SET, ENABLE_FIELDS, None, TWO_SOURCES),
    Poll(0x21, "ROM signature", SET, (binary_field("seed", 2),), (binary_field("signature", 2),), ONE_SOURCE),
    Poll(0x2E, "delay game", SET, (bcd_field("delay", 2),), None, ONE_SOURCE),
    Poll(
        0x7F, "receive date and time", SET, (DATE_FIELD, TIME_FIELD), None, TWO_SOURCES, can_be_broadcast=True
    ),
    Poll(
        0x80,
        "progressive amount",
        SET,
        (binary_field("group", 1), binary_field("level", 1), bcd_field("amount_cents", 5)),
        None,
        GENERAL_KNOWLEDGE,
        can_be_broadcast=True,
    ),
    Poll(
        0x86,
        "progressive amounts",
        SET,
        (
            LengthPrefixedGroup(
                (
                    binary_field("group", 1),
                    RepeatedGroup("levels", (binary_field("level", 1), bcd_field("amount_cents", 5))),
                )
            ),
        ),
        None,
        GENERAL_KNOWLEDGE,
        can_be_broadcast=True,
    ),
    Poll(
        0x83,
        "cumulative progressive wins",
        MULTI_GAME,
        (GAME_FIELD,),
        (GAME_FIELD, *four_byte_meters("value")),
        GENERAL_KNOWLEDGE,
    ),
    *(
        Poll(
            code,
            name,
            READ,
            (),
            (binary_field("group", 1), binary_field("level", 1), bcd_field("amount_cents", 5)),
            GENERAL_KNOWLEDGE,
        )
        for code, name in ((0x84, "progressive win"), (0x85, "SAS progressive win"))
    ),
    Poll(
        0x87,
        "SAS progressive wins",
        READ,
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
        GENERAL_KNOWLEDGE,
    ),
    Poll(
        0x8A,
        "legacy bonus",
        SET,
        (*four_byte_meters("amount"), binary_field("tax", 1)),
        None,
        GENERAL_KNOWLEDGE,
    ),
    Poll(
        0x8C,
        "tournament",
        MULTI_GAME,
        (
            GAME_FIELD,
            Field("time", 2, FieldKind.DIGITS),
            *four_byte_meters("credits"),
            binary_field("pulses", 1),
        ),
        None,
        GENERAL_KNOWLEDGE,
    ),
    Poll(0x94, "remote hand-pay reset", SET, (), (binary_field("code", 1),), ONE_SOURCE),
    Poll(
        0xA8,
        "jackpot reset method",
        SET,
        (binary_field("method", 1),),
        (binary_field("code", 1),),
        GENERAL_KNOWLEDGE,
    ),
    Poll(0xAA, "auto rebet", SET, ENABLE_FIELDS, None, ONE_SOURCE),
    Poll(
        0xB0,
        "for one denomination",
        SET,
        (LengthPrefixedGroup((DENOMINATION_FIELD, binary_field("poll", 1), RemainingBytesField("data"))),),
        (LengthPrefixedGroup((DENOMINATION_FIELD, binary_field("poll", 1), RemainingBytesField("data"))),),
        ONE_SOURCE,
    ),
)

#: Tickets (1.13).
TICKET_POLLS: Final = (
    Poll(
        0x3D,
        "cash-out ticket",
        READ,
        (),
        (Field("validation", 4, FieldKind.DIGITS), bcd_field("amount_cents", 5)),
        TWO_SOURCES,
    ),
    Poll(
        0x4C,
        "secure enhanced validation ID",
        SET,
        (binary_field("validation_id", 3), binary_field("sequence", 3)),
        (binary_field("validation_id", 3), binary_field("sequence", 3)),
        TWO_SOURCES,
    ),
    Poll(
        0x4D,
        "enhanced validation information",
        SET,
        (binary_field("function", 1),),
        _VALIDATION_RECORD_FIELDS,
        TWO_SOURCES,
    ),
    Poll(
        0x50,
        "validation meters",
        SET,
        (binary_field("type", 1),),
        (binary_field("type", 1), bcd_field("count", 4), bcd_field("amount_cents", 5)),
        TWO_SOURCES,
    ),
    Poll(
        0x57,
        "pending cash-out",
        READ,
        (),
        (binary_field("type", 1), bcd_field("amount_cents", 5)),
        TWO_SOURCES,
    ),
    Poll(
        0x58,
        "validation number",
        SET,
        (bcd_field("system_id", 1), _VALIDATION_NUMBER_FIELD),
        (binary_field("status", 1),),
        TWO_SOURCES,
    ),
    Poll(
        0x70,
        "ticket in escrow",
        READ,
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
        TWO_SOURCES,
    ),
    Poll(
        0x71,
        "redeem ticket",
        SET,
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
        SET,
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
        TWO_SOURCES,
        can_be_broadcast=True,
    ),
    Poll(
        0x7C,
        "extended ticket data",
        SET,
        (LengthPrefixedGroup((_TEXT_ELEMENTS_GROUP,)),),
        _FLAG_FIELDS,
        ONE_SOURCE,
        can_be_broadcast=True,
    ),
    Poll(
        0x7D,
        "ticket data",
        SET,
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
        ONE_SOURCE,
        can_be_broadcast=True,
    ),
)

#: Transfers (1.14).
TRANSFER_POLLS: Final = (
    Poll(
        0x72,
        "transfer",
        SET,
        (LengthPrefixedGroup(_TRANSFER_ORDER_FIELDS),),
        (LengthPrefixedGroup(_TRANSFER_RESULT_FIELDS),),
        TWO_SOURCES,
    ),
    Poll(
        0x73,
        "register",
        SET,
        (
            LengthPrefixedGroup(
                (binary_field("code", 1), ASSET_FIELD, _REGISTRATION_KEY_FIELD, binary_field("pos_id", 4))
            ),
        ),
        (LengthPrefixedGroup(_REGISTRATION_FIELDS),),
        TWO_SOURCES,
    ),
    Poll(
        0x74,
        "lock and status",
        SET,
        (
            binary_field("code", 1),
            binary_field("condition", 1),
            bcd_field("timeout", 2),
        ),
        (LengthPrefixedGroup(_LOCK_REPLY_FIELDS),),
        TWO_SOURCES,
    ),
    Poll(
        0x75,
        "receipt texts",
        SET,
        (LengthPrefixedGroup((_TEXT_ELEMENTS_GROUP,)),),
        _FLAG_FIELDS,
        GENERAL_KNOWLEDGE,
        can_be_broadcast=True,
    ),
    Poll(
        0x76,
        "transfer ticket texts",
        SET,
        (LengthPrefixedGroup((_TEXT_ELEMENTS_GROUP,)),),
        _FLAG_FIELDS,
        GENERAL_KNOWLEDGE,
    ),
)
