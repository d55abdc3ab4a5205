"""The polls that read meters and machine information (protocol tables 1.6 and 1.7)."""

from typing import Final

from tools.dev.host import codes
from tools.dev.host.fields import (
    Field,
    FieldKind,
    LengthPrefixedField,
    LengthPrefixedGroup,
    RemainingBytesField,
    RepeatedGroup,
    ValueSizedByCode,
)
from tools.dev.host.poll import (
    DATE_FIELD,
    DENOMINATION_FIELD,
    GAME_FIELD,
    GENERAL_KNOWLEDGE,
    MULTI_GAME,
    ONE_SOURCE,
    READ,
    TIME_FIELD,
    TWO_SOURCES,
    Poll,
    bcd_field,
    binary_field,
    four_byte_meters,
)

_GAME_IDENTITY_FIELDS: Final = (
    Field("game_id", 2, FieldKind.TEXT),
    Field("additional_id", 3, FieldKind.TEXT),
    DENOMINATION_FIELD,
    binary_field("max_bet", 1),
    binary_field("progressive_group", 1),
    binary_field("game_options", 2),
    Field("paytable_id", 6, FieldKind.TEXT),
    Field("base_percent", 4, FieldKind.TEXT),
)
_HANDPAY_FIELDS: Final = (
    binary_field("progressive_group", 1),
    binary_field("level", 1),
    bcd_field("amount", 5),
    bcd_field("partial_pay", 2),
    binary_field("reset_id", 1),
    Field("unused", 10, FieldKind.RAW),
)
_ONE_BYTE_METER_CODE_FIELD: Final = binary_field("code", 1)
_TWO_BYTE_METER_CODE_FIELD: Final = binary_field("code", 2)
_METER_VALUES_GROUP: Final = RepeatedGroup(
    "meters", (_TWO_BYTE_METER_CODE_FIELD, LengthPrefixedField("value", FieldKind.BCD))
)
_METER_NAME_BY_POLL: Final = {
    0x10: "cancelled credits",
    0x11: "coin in",
    0x12: "coin out",
    0x13: "drop",
    0x14: "jackpot",
    0x15: "games played",
    0x16: "games won",
    0x17: "games lost",
    0x1A: "current credits",
    0x20: "value of bills",
    0x2A: "true coin in",
    0x2B: "true coin out",
    0x2C: "hopper level",
    0x46: "credits from bills",
    0x47: "credits from external coin acceptor",
    0x49: "bills in stacker",
    0x4A: "value of bills in stacker",
}


def create_single_value_polls() -> tuple[Poll, ...]:
    """Return the polls that differ only in the name of the value they return.

    These are single meters, bill counts, tournament meters and extended meters.
    """
    meters = (
        Poll(code, name, READ, (), (bcd_field("value", 4),), TWO_SOURCES)
        for code, name in _METER_NAME_BY_POLL.items()
    )
    bills = (
        Poll(
            code,
            f"bills of {codes.BILL_MAJOR_UNITS_BY_CODE[bill]} accepted",
            READ,
            (),
            (bcd_field("value", 4),),
            TWO_SOURCES,
        )
        for code, bill in codes.BILL_CODE_BY_POLL.items()
    )
    tournament = (
        Poll(
            code,
            f"tournament {name}",
            MULTI_GAME,
            (GAME_FIELD,),
            (GAME_FIELD, bcd_field("value", 4)),
            GENERAL_KNOWLEDGE,
        )
        for code, name in zip(range(0x95, 0x99), codes.TOURNAMENT_METER_NAMES, strict=True)
    )
    extended = (
        Poll(
            code,
            "extended meters",
            MULTI_GAME,
            (LengthPrefixedGroup((GAME_FIELD, RepeatedGroup("codes", (_TWO_BYTE_METER_CODE_FIELD,)))),),
            (LengthPrefixedGroup((GAME_FIELD, _METER_VALUES_GROUP)),),
            TWO_SOURCES,
        )
        for code in (0x6F, 0xAF)
    )
    return (*meters, *bills, *tournament, *extended)


#: Meters and machine information (1.6, 1.7).
READING_POLLS: Final = (
    Poll(
        0x0F,
        "six meters",
        READ,
        (),
        (
            *four_byte_meters("cancelled_credits", "coin_in", "coin_out", "drop", "jackpot"),
            *four_byte_meters("games_played"),
        ),
        TWO_SOURCES,
    ),
    Poll(
        0x18,
        "games since",
        READ,
        (),
        (bcd_field("since_power_up", 2), bcd_field("since_door_closed", 2)),
        TWO_SOURCES,
    ),
    Poll(
        0x19,
        "five meters",
        READ,
        (),
        (*four_byte_meters("coin_in", "coin_out", "drop", "jackpot"), *four_byte_meters("games_played")),
        TWO_SOURCES,
    ),
    Poll(0x1B, "hand-pay information", READ, (), _HANDPAY_FIELDS, TWO_SOURCES),
    Poll(
        0x1C,
        "eight meters",
        READ,
        (),
        (
            *four_byte_meters("coin_in", "coin_out", "drop", "jackpot"),
            *four_byte_meters("games_played", "games_won", "door_opened", "power_reset"),
        ),
        TWO_SOURCES,
    ),
    Poll(
        0x1E,
        "bill counts",
        READ,
        (),
        four_byte_meters("of_1", "of_5", "of_10", "of_20", "of_50", "of_100"),
        TWO_SOURCES,
    ),
    Poll(0x1F, "identity", READ, (), _GAME_IDENTITY_FIELDS, TWO_SOURCES),
    Poll(
        0x2D,
        "hand-paid cancelled credits",
        MULTI_GAME,
        (GAME_FIELD,),
        (GAME_FIELD, *four_byte_meters("value")),
        TWO_SOURCES,
    ),
    Poll(
        0x2F,
        "selected meters",
        MULTI_GAME,
        (LengthPrefixedGroup((GAME_FIELD, RepeatedGroup("codes", (_ONE_BYTE_METER_CODE_FIELD,)))),),
        (
            LengthPrefixedGroup(
                (
                    GAME_FIELD,
                    RepeatedGroup(
                        "meters",
                        (
                            _ONE_BYTE_METER_CODE_FIELD,
                            ValueSizedByCode("value", "code", codes.METER_SIZE_BYTES_BY_CODE),
                        ),
                    ),
                )
            ),
        ),
        TWO_SOURCES,
    ),
    Poll(
        0x48,
        "last bill",
        READ,
        (),
        (
            bcd_field("country", 1),
            bcd_field("bill", 1),
            bcd_field("count", 4),
        ),
        TWO_SOURCES,
    ),
    Poll(
        0x4F,
        "hopper status",
        READ,
        (),
        (
            LengthPrefixedGroup(
                (binary_field("status", 1), binary_field("percent_full", 1), bcd_field("level", 4))
            ),
        ),
        TWO_SOURCES,
    ),
    Poll(0x51, "games implemented", READ, (), (bcd_field("games", 2),), TWO_SOURCES),
    Poll(
        0x52,
        "game meters",
        MULTI_GAME,
        (GAME_FIELD,),
        (GAME_FIELD, *four_byte_meters("coin_in", "coin_out", "jackpot"), *four_byte_meters("games_played")),
        TWO_SOURCES,
    ),
    Poll(0x53, "game identity", MULTI_GAME, (GAME_FIELD,), (GAME_FIELD, *_GAME_IDENTITY_FIELDS), TWO_SOURCES),
    Poll(
        0x54,
        "version and serial",
        READ,
        (),
        (
            LengthPrefixedGroup(
                (Field("version", 3, FieldKind.TEXT), RemainingBytesField("serial", FieldKind.TEXT))
            ),
        ),
        TWO_SOURCES,
    ),
    Poll(0x55, "selected game", READ, (), (GAME_FIELD,), TWO_SOURCES),
    Poll(
        0x56,
        "enabled games",
        READ,
        (),
        (LengthPrefixedGroup((binary_field("count", 1), RepeatedGroup("games", (GAME_FIELD,), "count"))),),
        TWO_SOURCES,
    ),
    Poll(0x7E, "date and time", READ, (), (DATE_FIELD, TIME_FIELD), TWO_SOURCES),
    Poll(
        0x8E,
        "card hand",
        READ,
        (),
        (binary_field("hand", 1), Field("cards", 5, FieldKind.RAW)),
        GENERAL_KNOWLEDGE,
    ),
    Poll(0x8F, "physical reel stops", READ, (), (Field("stops", 9, FieldKind.RAW),), TWO_SOURCES),
    Poll(
        0x99,
        "tournament meters",
        MULTI_GAME,
        (GAME_FIELD,),
        (GAME_FIELD, *(bcd_field(name.replace(" ", "_"), 4) for name in codes.TOURNAMENT_METER_NAMES)),
        GENERAL_KNOWLEDGE,
    ),
    Poll(
        0x9A,
        "legacy bonus meters",
        MULTI_GAME,
        (GAME_FIELD,),
        (GAME_FIELD, *four_byte_meters("deductible", "nondeductible", "wager_match")),
        TWO_SOURCES,
    ),
    Poll(
        0xA0,
        "enabled features",
        MULTI_GAME,
        (GAME_FIELD,),
        (
            GAME_FIELD,
            binary_field("features1", 1),
            binary_field("features2", 1),
            binary_field("features3", 1),
            Field("reserved", 3, FieldKind.RAW),
        ),
        TWO_SOURCES,
    ),
    Poll(
        0xA4,
        "cash-out limit",
        MULTI_GAME,
        (GAME_FIELD,),
        (GAME_FIELD, bcd_field("limit", 2)),
        GENERAL_KNOWLEDGE,
    ),
    Poll(0xB1, "player denomination", READ, (), (DENOMINATION_FIELD,), ONE_SOURCE),
    Poll(
        0xB2,
        "player denominations",
        READ,
        (),
        (
            LengthPrefixedGroup(
                (binary_field("count", 1), RepeatedGroup("denominations", (DENOMINATION_FIELD,), "count"))
            ),
        ),
        ONE_SOURCE,
    ),
    Poll(0xB3, "token denomination", READ, (), (DENOMINATION_FIELD,), TWO_SOURCES),
    Poll(
        0xB4,
        "wager category",
        MULTI_GAME,
        (GAME_FIELD, bcd_field("category", 2)),
        (
            LengthPrefixedGroup(
                (
                    GAME_FIELD,
                    bcd_field("category", 2),
                    Field("payback", 4, FieldKind.TEXT),
                    LengthPrefixedField("coin_in", FieldKind.BCD),
                )
            ),
        ),
        TWO_SOURCES,
    ),
    Poll(
        0xB5,
        "extended game identity",
        MULTI_GAME,
        (GAME_FIELD,),
        (
            LengthPrefixedGroup(
                (
                    GAME_FIELD,
                    bcd_field("max_bet", 2),
                    binary_field("progressive_group", 1),
                    binary_field("levels", 4),
                    LengthPrefixedField("name"),
                    LengthPrefixedField("paytable_name"),
                    bcd_field("wager_categories", 2),
                )
            ),
        ),
        TWO_SOURCES,
    ),
)
