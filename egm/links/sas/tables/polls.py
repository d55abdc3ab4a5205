"""Every long poll of SAS 6.02 that this project knows, by command byte.

Sources: a published list of polls with their types, and independent implementations that agree where they
overlap. Layouts of the 6.03 additions (59, 5A to 5F, 77, 7A, B6, B7) were not found; the electronic transfers
that AFT replaced (1D, 27, 28, 62 to 6B) are left out.
"""

from collections.abc import Mapping
from typing import Final

from egm.links.sas.definitions import PollType, SasPollDefinition, TableConfidence

_READ, _SET, _GAME, _SET_OR_BROADCAST = PollType.READ, PollType.SET, PollType.GAME, PollType.SET_OR_BROADCAST
_TWO_SOURCES, _ONE_SOURCE = TableConfidence.TWO_SOURCES, TableConfidence.ONE_SOURCE
_GENERAL, _CONFLICT = TableConfidence.GENERAL_KNOWLEDGE, TableConfidence.CONFLICT

#: Every long poll in the order of the command bytes.
_POLL_ROWS: Final[tuple[SasPollDefinition, ...]] = (
    SasPollDefinition(0x01, "shut down (lock out play)", _SET, _TWO_SOURCES),
    SasPollDefinition(0x02, "start up (enable play)", _SET, _TWO_SOURCES),
    SasPollDefinition(0x03, "sound off", _SET, _TWO_SOURCES),
    SasPollDefinition(0x04, "sound on", _SET, _TWO_SOURCES),
    SasPollDefinition(0x05, "reel spin or game play sounds off", _SET, _TWO_SOURCES),
    SasPollDefinition(0x06, "enable bill acceptor", _SET, _TWO_SOURCES),
    SasPollDefinition(0x07, "disable bill acceptor", _SET, _TWO_SOURCES),
    SasPollDefinition(0x08, "configure bill denominations", _SET, _TWO_SOURCES),
    SasPollDefinition(
        0x09,
        "enable or disable a game",
        _GAME,
        _CONFLICT,
        "flag 01 is assumed to mean enable; not supported after B0, because a game is enabled as a whole",
    ),
    SasPollDefinition(0x0A, "enter maintenance mode", _SET, _TWO_SOURCES),
    SasPollDefinition(0x0B, "exit maintenance mode", _SET, _TWO_SOURCES),
    SasPollDefinition(0x0E, "enable or disable real-time event reporting", _SET, _TWO_SOURCES),
    SasPollDefinition(0x0F, "send meters 10 to 15", _READ, _TWO_SOURCES),
    SasPollDefinition(0x10, "send total cancelled credits", _READ, _TWO_SOURCES),
    SasPollDefinition(0x11, "send total coin-in", _READ, _TWO_SOURCES),
    SasPollDefinition(0x12, "send total coin-out", _READ, _TWO_SOURCES),
    SasPollDefinition(0x13, "send total drop", _READ, _TWO_SOURCES),
    SasPollDefinition(0x14, "send total jackpot", _READ, _TWO_SOURCES),
    SasPollDefinition(0x15, "send games played", _READ, _TWO_SOURCES),
    SasPollDefinition(0x16, "send games won", _READ, _TWO_SOURCES),
    SasPollDefinition(0x17, "send games lost", _READ, _TWO_SOURCES),
    SasPollDefinition(0x18, "send games since power-up and since door closure", _READ, _TWO_SOURCES),
    SasPollDefinition(0x19, "send meters 11 to 15", _READ, _TWO_SOURCES),
    SasPollDefinition(0x1A, "send current credits", _READ, _TWO_SOURCES),
    SasPollDefinition(
        0x1B, "send hand-pay information", _READ, _TWO_SOURCES, "level codes rest on general knowledge"
    ),
    SasPollDefinition(0x1C, "send gaming machine meters", _READ, _TWO_SOURCES),
    SasPollDefinition(0x1E, "send bill meters, $1 to $100", _READ, _TWO_SOURCES),
    SasPollDefinition(0x1F, "send machine ID and information", _READ, _TWO_SOURCES),
    SasPollDefinition(0x20, "send dollar value of bills", _READ, _TWO_SOURCES),
    SasPollDefinition(
        0x21, "send ROM signature", _SET, _ONE_SOURCE, "whether the poll itself is acknowledged is not known"
    ),
    SasPollDefinition(0x2A, "send true coin-in", _READ, _TWO_SOURCES),
    SasPollDefinition(0x2B, "send true coin-out", _READ, _TWO_SOURCES),
    SasPollDefinition(0x2C, "send hopper level", _READ, _TWO_SOURCES),
    SasPollDefinition(0x2D, "send hand-paid cancelled credits of a game", _GAME, _TWO_SOURCES),
    SasPollDefinition(0x2E, "delay game", _SET, _ONE_SOURCE, "the unit is taken as 100 ms"),
    SasPollDefinition(
        0x2F,
        "send selected meters of a game",
        _GAME,
        _TWO_SOURCES,
        "our decision: no reply if one of the ten codes is reserved, because it could not say which is missing; 6F can",
    ),
    SasPollDefinition(0x31, "send count of $1 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x32, "send count of $2 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x33, "send count of $5 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x34, "send count of $10 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x35, "send count of $20 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x36, "send count of $50 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x37, "send count of $100 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x38, "send count of $500 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x39, "send count of $1,000 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x3A, "send count of $200 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x3B, "send count of $25 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x3C, "send count of $2,000 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x3D, "send cash-out ticket information", _READ, _TWO_SOURCES),
    SasPollDefinition(0x3E, "send count of $2,500 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x3F, "send count of $5,000 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x40, "send count of $10,000 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x41, "send count of $20,000 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x42, "send count of $25,000 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x43, "send count of $50,000 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x44, "send count of $100,000 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x45, "send count of $250 bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x46, "send credits from bills", _READ, _TWO_SOURCES),
    SasPollDefinition(0x47, "send credits from an external coin acceptor", _READ, _TWO_SOURCES),
    SasPollDefinition(0x48, "send last accepted bill", _READ, _TWO_SOURCES),
    SasPollDefinition(0x49, "send number of bills in the stacker", _READ, _TWO_SOURCES),
    SasPollDefinition(0x4A, "send credit value of bills in the stacker", _READ, _TWO_SOURCES),
    SasPollDefinition(0x4C, "set secure enhanced validation ID", _SET, _TWO_SOURCES),
    SasPollDefinition(
        0x4D,
        "send enhanced validation information",
        _SET,
        _TWO_SOURCES,
        "our decision: date and time are the machine's, as on the ticket and in the journal, not those of 7F",
    ),
    SasPollDefinition(0x4F, "send hopper status", _READ, _TWO_SOURCES),
    SasPollDefinition(0x50, "send validation meters", _SET, _TWO_SOURCES),
    SasPollDefinition(0x51, "send number of games implemented", _READ, _TWO_SOURCES),
    SasPollDefinition(0x52, "send meters of a game", _GAME, _TWO_SOURCES),
    SasPollDefinition(
        0x53,
        "send configuration of a game",
        _GAME,
        _TWO_SOURCES,
        "our decision: the largest bet is in credits of the game, next to the accounting denomination",
    ),
    SasPollDefinition(0x54, "send SAS version and machine serial number", _READ, _TWO_SOURCES),
    SasPollDefinition(0x55, "send selected game number", _READ, _TWO_SOURCES),
    SasPollDefinition(0x56, "send enabled game numbers", _READ, _TWO_SOURCES),
    SasPollDefinition(0x57, "send pending cash-out information", _READ, _TWO_SOURCES),
    SasPollDefinition(0x58, "receive validation number", _SET, _TWO_SOURCES),
    SasPollDefinition(0x59, "send enabled currency codes", _READ, _ONE_SOURCE, "SAS 6.03; layout not found"),
    SasPollDefinition(0x5A, "send supported bills", _SET, _ONE_SOURCE, "SAS 6.03; layout not found"),
    SasPollDefinition(0x5B, "send bill meters", _SET, _ONE_SOURCE, "SAS 6.03; layout not found"),
    SasPollDefinition(0x5C, "foreign bill reporting mode", _SET, _ONE_SOURCE, "SAS 6.03; layout not found"),
    SasPollDefinition(
        0x5D, "send non-SAS progressive win data", _READ, _ONE_SOURCE, "SAS 6.03; layout not found"
    ),
    SasPollDefinition(
        0x5E, "send configured progressive controllers", _READ, _ONE_SOURCE, "SAS 6.03; layout not found"
    ),
    SasPollDefinition(
        0x5F, "send progressive broadcast values", _SET, _ONE_SOURCE, "SAS 6.03; layout not found"
    ),
    SasPollDefinition(
        0x6E, "send authentication information", _SET, _ONE_SOURCE, "the layout of the reply was not found"
    ),
    SasPollDefinition(0x6F, "send extended meters of a game", _GAME, _TWO_SOURCES),
    SasPollDefinition(0x70, "send ticket validation data", _READ, _TWO_SOURCES),
    SasPollDefinition(0x71, "redeem ticket", _SET, _CONFLICT, "lengths 01, 10 and 16 hex are accepted"),
    SasPollDefinition(
        0x72,
        "AFT transfer funds",
        _SET,
        _TWO_SOURCES,
        "a lock timeout after the receipt data is disputed; our decision: a bonus paid by hand (type 11) counts"
        " as hand-paid bonus, not in AE, AF or the cumulative meters, which count additions to the credits",
    ),
    SasPollDefinition(0x73, "AFT register gaming machine", _SET, _TWO_SOURCES),
    SasPollDefinition(
        0x74,
        "AFT lock and status request",
        _SET,
        _TWO_SOURCES,
        "our decision: a lock ends at its timeout, not when the link is lost, because the host may come back",
    ),
    SasPollDefinition(0x75, "set AFT receipt data", _SET_OR_BROADCAST, _ONE_SOURCE),
    SasPollDefinition(0x76, "set custom AFT ticket data", _SET, _ONE_SOURCE),
    SasPollDefinition(
        0x77, "send progressive accounting data", _READ, _ONE_SOURCE, "SAS 6.03; layout not found"
    ),
    SasPollDefinition(
        0x7A, "extended progressive broadcast", _SET_OR_BROADCAST, _ONE_SOURCE, "SAS 6.03; layout not found"
    ),
    SasPollDefinition(
        0x7B,
        "extended validation status",
        _SET_OR_BROADCAST,
        _TWO_SOURCES,
        "bit meanings rest on general knowledge",
    ),
    SasPollDefinition(0x7C, "set extended ticket data", _SET_OR_BROADCAST, _ONE_SOURCE),
    SasPollDefinition(0x7D, "set ticket data", _SET_OR_BROADCAST, _ONE_SOURCE),
    SasPollDefinition(
        0x7E,
        "send date and time",
        _READ,
        _TWO_SOURCES,
        "the host's time if it has sent one, and never earlier than it",
    ),
    SasPollDefinition(
        0x7F,
        "receive date and time",
        _SET_OR_BROADCAST,
        _TWO_SOURCES,
        "years 1970 to 2999 are accepted, so that 7E always has a reply",
    ),
    SasPollDefinition(0x80, "receive progressive amount", _SET_OR_BROADCAST, _GENERAL),
    SasPollDefinition(0x83, "send cumulative progressive wins", _GAME, _GENERAL),
    SasPollDefinition(0x84, "send progressive win amount", _READ, _GENERAL),
    SasPollDefinition(0x85, "send SAS progressive win amount", _READ, _GENERAL),
    SasPollDefinition(
        0x86,
        "receive several progressive levels",
        _SET_OR_BROADCAST,
        _GENERAL,
        "whether a length is present is not known",
    ),
    SasPollDefinition(
        0x87, "send several SAS progressive win amounts", _READ, _GENERAL, "the layout is uncertain"
    ),
    SasPollDefinition(
        0x8A,
        "initiate a legacy bonus pay",
        _SET,
        _GENERAL,
        "it has no transfer number, so a lost reply could lead to a double payment",
    ),
    SasPollDefinition(0x8B, "initiate multiplied jackpot mode", _SET, _GENERAL, "obsolete; layout not found"),
    SasPollDefinition(0x8C, "enter or exit tournament mode", _GAME, _GENERAL),
    SasPollDefinition(0x8E, "send card information", _READ, _GENERAL),
    SasPollDefinition(0x8F, "send physical reel stop information", _READ, _TWO_SOURCES),
    SasPollDefinition(0x90, "send legacy bonus win amount", _READ, _GENERAL),
    SasPollDefinition(0x94, "remote hand-pay reset", _SET, _ONE_SOURCE, "codes rest on general knowledge"),
    SasPollDefinition(0x95, "send tournament games played", _GAME, _GENERAL),
    SasPollDefinition(0x96, "send tournament games won", _GAME, _GENERAL),
    SasPollDefinition(0x97, "send tournament credits wagered", _GAME, _GENERAL),
    SasPollDefinition(0x98, "send tournament credits won", _GAME, _GENERAL),
    SasPollDefinition(0x99, "send tournament meters 95 to 98", _GAME, _GENERAL),
    SasPollDefinition(0x9A, "send legacy bonus meters", _GAME, _TWO_SOURCES),
    SasPollDefinition(0xA0, "send enabled features", _GAME, _TWO_SOURCES),
    SasPollDefinition(0xA4, "send cash-out limit", _GAME, _GENERAL),
    SasPollDefinition(0xA8, "enable jackpot hand-pay reset method", _SET, _GENERAL),
    SasPollDefinition(0xAA, "enable or disable auto rebet", _SET, _ONE_SOURCE),
    SasPollDefinition(0xAF, "send extended meters of a game, alternate", _GAME, _TWO_SOURCES),
    SasPollDefinition(0xB0, "multi-denomination preamble", _SET, _ONE_SOURCE),
    SasPollDefinition(0xB1, "send current player denomination", _READ, _ONE_SOURCE),
    SasPollDefinition(0xB2, "send enabled player denominations", _READ, _ONE_SOURCE),
    SasPollDefinition(0xB3, "send token denomination", _READ, _TWO_SOURCES),
    SasPollDefinition(0xB4, "send wager category information", _GAME, _TWO_SOURCES),
    SasPollDefinition(0xB5, "send extended game information", _GAME, _TWO_SOURCES),
    SasPollDefinition(0xB6, "meter collect status", _SET, _ONE_SOURCE, "SAS 6.03; layout not found"),
    SasPollDefinition(0xB7, "set machine numbers", _SET, _ONE_SOURCE, "SAS 6.03; layout not found"),
)

#: Every long poll, by command byte.
POLL_BY_CODE: Final[Mapping[int, SasPollDefinition]] = {row.code: row for row in _POLL_ROWS}

#: The smallest set of polls a regulator publishes for machines on its network (Montana, video gambling).
REGULATOR_MINIMUM_POLL_CODES: Final = frozenset(
    bytes.fromhex(
        "0F 10 11 12 13 15 16 17 18 19 1A 1E 1F 20 31 32 33 34 35 36 37 3D 46 48 51 54 55 56 7E"
        "21 2F 4C 4D 50 52 53 6F 7B 7F A0"
    )
)
