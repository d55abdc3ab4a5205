"""Until cards are turned, the messages to a position's screen do not depend on the other positions' cards.

The screen process has no other source: its only link is its own socket (:mod:`egm.screen`), and it cannot read the
machine's memory (``tests/egm/config/test_private_process.py``).
"""

import re

import pytest
from rigs.cards import script_cards
from test_void_rounds import ROUNDS, find_asked, go_on, stake_everywhere, table_of

from egm.kernel.events import EventType
from egm.play.records.games import find_open_game
from egm.seats.decisions import apply_recorded_steps

#: The journal tag in ids, which differs from machine to machine.
TAG = re.compile(r"-[0-9a-f]{8}\b")
#: The game, two deals that differ in hidden cards only, and the positions that may not see the difference.
DEALS = {
    "hold'em, hole cards": ("quebec-texas-holdem-room", 1, "As 7h Kd Ah 2c Kh", "Qs 7h Kd 4d 2c Kh", (1, 3)),
    "hold'em, the button's": (
        "quebec-texas-holdem-room",
        1,
        "As 7h Kd Ah 2c Kh",
        "As 7h 9d Ah 2c 3s",
        (2, 3),
    ),
    "Omaha, hole cards": (
        "quebec-omaha-room",
        1,
        "As 7h Kd Ah 2c Kh 5s 6s 7s 8d 9d Td",
        "Qs 7h Kd 4d 2c Kh Jc 6s 7s 3h 9d Td",
        (1, 3),
    ),
    "stud, cards face down": (
        "quebec-seven-card-stud-room",
        1,
        "As 7h Kd Ah 2c Kh 5s 6s 7s",
        "Qs 7h Kd 4d 2c Kh 5s 6s 7s",
        (1, 3),
    ),
    "chemin de fer, the bank": ("monaco-chemin-de-fer", 6, "2s Ks 3h 6c", "2s 7d 3h 9s", (2, 3, 4)),
    "chemin de fer, both hands": ("monaco-chemin-de-fer", 6, "2s Ks 3h 6c", "Ad 7d 4c 9s", (3, 4)),
    "chemin de fer, the player": ("monaco-chemin-de-fer", 6, "2s Ks 3h 6c", "Ad Ks 4c 6c", (1, 3, 4)),
}

BOARD = "Ac 9s 8d 3h Qc"
#: Eleven answers end before the last answer of the last street, so that the showdown has not begun.
TO_THE_LAST_CHECK = ("pass",) * 11
#: As above, with the answers that are given after the deal.
LATER_DEALS = {
    "hold'em, hole cards to the river": (
        "quebec-texas-holdem-room",
        f"As 7h Kd Ah 2c Kh {BOARD}",
        f"Qs 7h Kd 4d 2c Kh {BOARD}",
        TO_THE_LAST_CHECK,
        (1, 3),
    ),
    "Omaha, hole cards to the river": (
        "quebec-omaha-room",
        f"As 7h Kd Ah 2c Kh 5s 6s 7s 8h 9d Td {BOARD}",
        f"Qs 7h Kd 4d 2c Kh Jc 6s 7s 3c 9d Td {BOARD}",
        TO_THE_LAST_CHECK,
        (1, 3),
    ),
    "hold'em, who wins because the others fold shows nothing": (
        "quebec-texas-holdem-room",
        f"As 7h Kd Ah 2c Kh {BOARD}",
        f"Qs 7h Kd 4d 2c Kh {BOARD}",
        ("raise", "call", "fold", "bet", "fold"),
        (1, 3),
    ),
    "hold'em, who has folded shows nothing at the showdown": (
        "quebec-texas-holdem-room",
        f"As 7h Kd Ah 2c Kh {BOARD}",
        f"Qs 7h Kd 4d 2c Kh {BOARD}",
        ("call", "call", "raise", "call", "fold", "bet", "call", *("check",) * 4),
        (1, 3),
    ),
}


def answer(rooms, option):
    """Answer at the position that must decide; ``pass`` is a check, or a call if a bet is open."""
    rig = find_asked(rooms)
    options = rig.hands.messages[-1].options
    chosen = (
        next(fallback for fallback in ("check", "call") if fallback in options)
        if option == "pass"
        else option
    )
    steps = len(find_open_game(rig.machine).steps)
    rig.engine.handle(EventType.CHOOSE, value=chosen)
    apply_recorded_steps(table_of(rooms))
    assert len(find_open_game(rig.machine).steps) == steps + 1, rig.notice


def deal(rooms, game, decks, cards):
    """Stake at every position, and deal these cards."""
    stake_everywhere(rooms, game, script_cards(cards, decks))
    table_of(rooms).close_betting(rooms[0].machine.games[game].digest)
    go_on(rooms)


def collect_messages(rooms, game, decks, cards, answers=()):
    """Deal a round to every position and give the answers; return the messages to each screen as text."""
    deal(rooms, game, decks, cards)
    for option in answers:
        answer(rooms, option)
    return [[TAG.sub("-", message.model_dump_json()) for message in rig.hands.messages] for rig in rooms]


@pytest.mark.requirement("S-33", "S-51", "B-01", "P-01")
@pytest.mark.parametrize("row", DEALS)
def test_what_a_screen_is_sent_does_not_depend_on_cards_that_its_position_may_not_see(seats, tmp_path, row):
    game, decks, first, second, blind = DEALS[row]
    sent = []
    for name, cards in (("first", first), ("second", second)):
        (tmp_path / name).mkdir()
        rooms = seats(game, count=len(ROUNDS[game]), folder=tmp_path / name)
        sent.append(collect_messages(rooms, game, decks, cards))
    differs = {
        number
        for number, (first_sent, second_sent) in enumerate(zip(*sent, strict=True), 1)
        if first_sent != second_sent
    }
    assert not differs & {*blind}
    assert differs, "the deals differ for whoever may see them"


@pytest.mark.requirement("S-33", "B-01", "P-01")
@pytest.mark.parametrize("row", LATER_DEALS)
def test_later_streets_and_a_game_without_showdown_turn_no_hidden_card(seats, tmp_path, row):
    game, first, second, answers, blind = LATER_DEALS[row]
    sent = []
    for name, cards in (("first", first), ("second", second)):
        (tmp_path / name).mkdir()
        rooms = seats(game, count=len(ROUNDS[game]), folder=tmp_path / name)
        sent.append(collect_messages(rooms, game, 1, cards, answers))
        is_decided = [find_open_game(rig.machine).outcome is not None for rig in rooms]
        assert is_decided == [answers is not TO_THE_LAST_CHECK] * len(rooms)
    differs = {
        number
        for number, (first_sent, second_sent) in enumerate(zip(*sent, strict=True), 1)
        if first_sent != second_sent
    }
    assert differs == {1, 2, 3} - {*blind}
