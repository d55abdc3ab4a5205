"""Long polls about games: the machine's games with their data, the selected game, its denominations."""

import unicodedata
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from egm.config.cabinet_file import TicketValidator
from egm.config.sas_line import SasPollGroup
from egm.links.sas.codec import (
    MalformedPollError,
    Reply,
    decode_bcd,
    encode_bcd,
    encode_binary,
    prepend_length,
)
from egm.links.sas.meters import compute_return_hundredths, read_meter
from egm.links.sas.poll import VARIABLE_REPLY_SIZE, PollImplementation
from egm.links.sas.readout import GameReadout, SasReadout
from egm.links.sas.tables.denominations import DENOMINATION_CENTS_BY_CODE
from egm.links.sas.wire import LongPoll

#: The game ID in SAS replies: two letters that identify the maker of the games.
_MANUFACTURER_GAME_ID: Final = b"OE"
#: The paytable ID that a machine reports if it has more than one paytable.
_SEVERAL_PAYTABLES_ID: Final = b"SEVERL"
#: Progressive group: none.
_NO_PROGRESSIVE_GROUP: Final = b"\0"
#: Game options: none.
_NO_GAME_OPTIONS: Final = b"\0\0"
#: Longest name of a game or paytable in a reply, in bytes.
_NAME_BYTES_MAX: Final = 20
#: The number of a game's only wager category.
_ONLY_WAGER_CATEGORY: Final = 1
#: BCD bytes of a coin-in meter.
_COIN_IN_SIZE_BYTES: Final = 4
#: Denomination in minor units -> its SAS code.
_DENOMINATION_CODE_BY_CENTS: Final[Mapping[Fraction | int, int]] = {
    cents: code for code, cents in DENOMINATION_CENTS_BY_CODE.items()
}


def find_denomination_code(cents: int) -> int:
    """Return the SAS code of a denomination, 0 if the table has none for it."""
    return _DENOMINATION_CODE_BY_CENTS.get(cents, 0)


def _encode_percent(hundredths: int) -> bytes:
    """Return a percentage, given in hundredths of a percent, as four ASCII digits; at most 99.99 %."""
    return f"{min(hundredths, 9999):04d}".encode("ascii")


def _encode_paytable_id(game: GameReadout) -> bytes:
    """Return the six characters that identify a game's paytable: the beginning of its definition's digest."""
    return game.digest[:6].upper().encode("ascii")


def _encode_identity(readout: SasReadout, game: GameReadout | None) -> bytes:
    """Return the 20 bytes that identify a game, or the machine, in the replies to polls 1F and 53."""
    games = readout.games if game is None else (game,)
    bet_max_credits = max((listed_game.bet_max_credits for listed_game in games), default=0)
    paytable_id = _encode_paytable_id(games[0]) if len(games) == 1 else _SEVERAL_PAYTABLES_ID
    return b"".join(
        (
            _MANUFACTURER_GAME_ID,
            b"000",
            bytes((find_denomination_code(readout.accounting_denomination_cents),)),
            bytes((min(bet_max_credits, 0xFF),)),
            _NO_PROGRESSIVE_GROUP,
            _NO_GAME_OPTIONS,
            paytable_id,
            _encode_percent(compute_return_hundredths(readout) if game is None else game.return_hundredths),
        )
    )


def answer_machine_identity(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 1F: game ID, accounting denomination, largest bet, paytable, base percentage."""
    return Reply(_encode_identity(readout, None))


def _find_requested_game(
    request: LongPoll, readout: SasReadout, game_number_bcd: bytes
) -> GameReadout | None:
    """Return the game with the SAS number in the request, or None if none exists."""
    return readout.find_game(decode_bcd(request, game_number_bcd))


def answer_game_configuration(request: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll 53: the identity of one game or, if the poll names game 0000, of the machine.

    The layout is that of poll 1F.
    """
    game = _find_requested_game(request, readout, request.data)
    if game is None and decode_bcd(request, request.data):
        return None
    return Reply(request.data + _encode_identity(readout, game))


def answer_games_implemented(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 51: the number of games."""
    return Reply(encode_bcd(len(readout.games), 2))


def answer_selected_game(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 55: the SAS number of the selected game."""
    return Reply(encode_bcd(readout.selected_game_number, 2))


def answer_enabled_games(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll 56: the numbers of the enabled games; in poll B0, only of games offered at its denomination."""
    only_denomination_cents = readout.play_meters_limited_to_denomination_cents
    game_numbers = [
        game.game_number
        for game in readout.games
        if game.is_enabled
        and (not only_denomination_cents or only_denomination_cents in game.denominations_cents)
    ]
    return Reply(
        prepend_length(
            bytes((len(game_numbers),)) + b"".join(encode_bcd(game_number, 2) for game_number in game_numbers)
        )
    )


def answer_player_denomination(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll B1: the player's current denomination."""
    return Reply(bytes((find_denomination_code(readout.player_denomination_cents),)))


def answer_player_denominations(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll B2: every denomination a player may choose."""
    offered_cents = {cents for game in readout.games if game.is_enabled for cents in game.denominations_cents}
    codes = bytes(find_denomination_code(cents) for cents in sorted(offered_cents))
    return Reply(prepend_length(bytes((len(codes),)) + codes))


def answer_token_denomination(_: LongPoll, readout: SasReadout) -> Reply:
    """Answer poll B3: the denomination code of the coin that the machine pays out; 0 if it pays none."""
    return Reply(bytes((find_denomination_code(readout.payout_coin_cents or 0),)))


def answer_wager_category(request: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll B4: return to player and coin-in of a game's wager category; each game has only one."""
    game_number_bcd, category_bcd = request.data[:2], request.data[2:]
    game = _find_requested_game(request, readout, game_number_bcd)
    if game is None or decode_bcd(request, category_bcd) != _ONLY_WAGER_CATEGORY:
        return None
    coin_in_bcd = encode_bcd(read_meter(0x00, readout, game.id) or 0, _COIN_IN_SIZE_BYTES)
    return Reply(
        prepend_length(
            game_number_bcd
            + category_bcd
            + _encode_percent(game.return_hundredths)
            + prepend_length(coin_in_bcd)
        )
    )


def _encode_ascii_name(name: str, game: GameReadout) -> bytes:
    """Return the name of a game or of its paytable in at most 20 ASCII bytes.

    A shortened name ends with the game's paytable ID, as in 1F and 53.
    """
    text = unicodedata.normalize("NFKD", name).encode("ascii", "ignore")
    if len(text) <= _NAME_BYTES_MAX:
        return text
    paytable_mark = b"#" + _encode_paytable_id(game)
    return text[: _NAME_BYTES_MAX - len(paytable_mark)] + paytable_mark


def answer_extended_information(request: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll B5: the largest bet and the names of a game and of its paytable."""
    game = _find_requested_game(request, readout, request.data)
    if game is None:
        return None
    names = (game.title, f"{game.id}@{game.version}")
    return Reply(
        prepend_length(
            b"".join(
                (
                    request.data,
                    encode_bcd(min(game.bet_max_credits, 9999), 2),
                    _NO_PROGRESSIVE_GROUP,
                    encode_binary(0, 4),
                    *(prepend_length(_encode_ascii_name(name, game)) for name in names),
                    encode_bcd(_ONLY_WAGER_CATEGORY, 2),
                )
            )
        )
    )


#: Way in which ticket numbers are made -> its code in the features of poll A0.
_VALIDATION_STYLE_CODE_BY_VALIDATOR: Final = {
    TicketValidator.STAND_ALONE: 0b00,
    TicketValidator.SYSTEM: 0b01,
    TicketValidator.SECURE_ENHANCED: 0b10,
}


def answer_features(request: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll A0: the SAS features of this machine that this host's polls support."""
    if decode_bcd(request, request.data) and _find_requested_game(request, readout, request.data) is None:
        return None
    permits_poll = readout.permitted_poll_codes.__contains__
    supports_host_tickets = readout.ticket_validator.is_host and permits_poll(0x71)
    # Bits 1 to 4: AFT bonuses, legacy bonuses, tournaments, validation extensions; bits 5 and 6: the validation style;
    # bit 7: ticket redemption.
    first_byte = (
        (readout.can_award_bonuses and permits_poll(0x72)) << 1
        | permits_poll(0x8A) << 2
        | permits_poll(0x8C) << 3
        | (readout.ticket_validator.is_host and permits_poll(0x7B)) << 4
        | (_VALIDATION_STYLE_CODE_BY_VALIDATOR[readout.ticket_validator] if permits_poll(0x4D) else 0) << 5
        | supports_host_tickets << 7
    )
    # Bits 3, 4, 6 and 7: extended meters, component authentication, AFT transfers, multi-denomination polls.
    second_byte = (
        1 << 2  # tickets are in total drop and in total cancelled credits
        | permits_poll(0x6F) << 3
        | permits_poll(0x6E) << 4
        | (readout.can_transfer and permits_poll(0x72)) << 6
        | permits_poll(0xB0) << 7
    )
    # Bit 0: polling every 40 ms; bit 1: several progressive wins in one reply.
    third_byte = 1 | permits_poll(0x87) << 1
    return Reply(request.data + bytes((first_byte, second_byte, third_byte)) + bytes(3))


#: Error codes of poll B0: no multi-denomination, malformed, poll not possible per denomination, no such
#: denomination.
_NOT_SUPPORTED_ERROR, _MALFORMED_POLL_ERROR, _NOT_LIMITABLE_ERROR, _UNKNOWN_DENOMINATION_ERROR = (
    0x01,
    0x02,
    0x03,
    0x05,
)


def answer_for_one_denomination(request: LongPoll, readout: SasReadout) -> Reply | None:
    """Answer poll B0: the reply to the poll that it contains, for one player denomination.

    The meters of play count that denomination only; denomination 00 is the machine as a whole. If the contained poll
    cannot be answered in this way, the reply has an error code.
    """
    from egm.links.sas.polls import IMPLEMENTED_POLLS  # noqa: PLC0415 (an import at the top would be circular)

    if len(request.data) < 3:
        raise MalformedPollError(request, "the base command is missing")
    denomination_code, base_code = request.data[1], request.data[2]

    def build_error_reply(error_code: int) -> Reply:
        """Return poll B0's reply with an error code in place of the contained poll's data."""
        return Reply(prepend_length(bytes((denomination_code, 0, error_code))))

    base_poll = IMPLEMENTED_POLLS.get(base_code) if base_code in readout.permitted_poll_codes else None
    if base_poll is None or base_poll.answer_function is None:
        return build_error_reply(_NOT_SUPPORTED_ERROR)
    if not base_poll.can_be_limited_to_denomination:
        return build_error_reply(_NOT_LIMITABLE_ERROR)
    cents = DENOMINATION_CENTS_BY_CODE.get(denomination_code, 0)
    if denomination_code and cents not in {
        offered for game in readout.games for offered in game.denominations_cents
    }:
        return build_error_reply(_UNKNOWN_DENOMINATION_ERROR)
    try:
        base_request = LongPoll(request.frame[:1] + request.data[2:] + b"\0\0")
        reply = base_poll.answer_function(
            base_request, readout.limit_to_denomination(int(cents)) if denomination_code else readout
        )
    except MalformedPollError:
        return build_error_reply(_MALFORMED_POLL_ERROR)
    if reply is None:
        return build_error_reply(_NOT_SUPPORTED_ERROR)
    return Reply(prepend_length(bytes((denomination_code, base_code)) + reply.data))


_MULTI_DENOMINATION_POLL_GROUP: Final = SasPollGroup.MULTI_DENOMINATION

POLL_IMPLEMENTATIONS: Final[Sequence[PollImplementation]] = (
    PollImplementation(code=0x1F, reply_size_bytes=24, answer_function=answer_machine_identity),
    PollImplementation(code=0x51, reply_size_bytes=6, answer_function=answer_games_implemented),
    PollImplementation(code=0x53, reply_size_bytes=26, answer_function=answer_game_configuration),
    PollImplementation(code=0x55, reply_size_bytes=6, answer_function=answer_selected_game),
    PollImplementation(
        code=0x56,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        answer_function=answer_enabled_games,
        can_be_limited_to_denomination=True,
    ),
    PollImplementation(code=0xA0, reply_size_bytes=12, answer_function=answer_features),
    PollImplementation(
        code=0xB0,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        answer_function=answer_for_one_denomination,
        group=_MULTI_DENOMINATION_POLL_GROUP,
    ),
    PollImplementation(
        code=0xB1,
        reply_size_bytes=5,
        answer_function=answer_player_denomination,
        group=_MULTI_DENOMINATION_POLL_GROUP,
    ),
    PollImplementation(
        code=0xB2,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        answer_function=answer_player_denominations,
        group=_MULTI_DENOMINATION_POLL_GROUP,
    ),
    PollImplementation(code=0xB3, reply_size_bytes=5, answer_function=answer_token_denomination),
    PollImplementation(
        code=0xB4, reply_size_bytes=VARIABLE_REPLY_SIZE, answer_function=answer_wager_category
    ),
    PollImplementation(
        code=0xB5,
        reply_size_bytes=VARIABLE_REPLY_SIZE,
        answer_function=answer_extended_information,
        can_be_limited_to_denomination=True,
    ),
)
