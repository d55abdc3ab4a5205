"""Everything a position's screen process is sent before cards are turned is the same whatever the others hold.

The process has no other source: its only link is its own socket (:mod:`egm.screen`), and the machine's memory is
closed to it (``tests/egm/config/test_private_process.py``).
"""

import re

import pytest
from rigs.cards import dealing
from test_void_rounds import ROUNDS, stake, table_of

from egm.seats.answers import answer_overdue_turns, take_recorded_steps

#: The mark of a journal in ids, which differs from machine to machine.
MARK = re.compile(r"-[0-9a-f]{8}\b")
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


def collect_messages(rooms, game, decks, cards):
    """Deal a round of every position, up to its first decision; return what each screen was sent, as text."""
    stake(rooms, game, dealing(cards, decks))
    table_of(rooms).close(rooms[0].machine.games[game].digest)
    take_recorded_steps(table_of(rooms))
    answer_overdue_turns(table_of(rooms))
    return [[MARK.sub("-", message.model_dump_json()) for message in rig.hands.told] for rig in rooms]


@pytest.mark.requirement("S-33", "S-51", "B-01", "P-01")
@pytest.mark.parametrize("row", DEALS)
def test_what_a_screen_is_sent_does_not_depend_on_cards_that_its_position_may_not_see(seats, tmp_path, row):
    game, decks, first, second, blind = DEALS[row]
    sent = []
    for name, cards in (("first", first), ("second", second)):
        (tmp_path / name).mkdir()
        rooms = seats(game, count=len(ROUNDS[game]), folder=tmp_path / name)
        sent.append(collect_messages(rooms, game, decks, cards))
    differs = {number for number, (one, other) in enumerate(zip(*sent, strict=True), 1) if one != other}
    assert not differs & {*blind}
    assert differs, "the deals differ for whoever may see them"
