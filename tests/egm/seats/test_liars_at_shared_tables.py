"""The liar's game on journals of rounds that several positions play for each other's stakes."""

import pytest
from test_cuts_between_players import play
from test_void_rounds import BILL_CENTS, ROUNDS

from meters import open_view
from tools.audit.games import Shelf
from tools.dev.liars import run_lies

TABLES = {
    **ROUNDS,
    "monaco-banque-a-tout-va": [{"a-cheval": 10}, {"tableau-1": 20}, {"tableau-1": 10, "tableau-2": 10}],
}


#: Tables whose game is of the same family as another one's.
SLOW = {"quebec-omaha-room", "quebec-seven-card-stud-room", "quebec-pai-gow-poker"}


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("lies", [20, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[pytest.mark.slow] * (game in SLOW)) for game in TABLES]
)
def test_no_lie_about_a_round_in_common_passes_unnamed(seats, tmp_path, game, lies):
    rooms = seats(game, count=len(TABLES[game]))
    for rig in rooms:
        rig.insert(BILL_CENTS)
    for _ in range(2):
        play(rooms, TABLES[game])
    for rig in rooms:
        rig.cash_out_ticket()
    rooms[0].close()
    with open_view(tmp_path) as view:
        bodies = [*view.iter_bodies()]
    assert run_lies([bodies], Shelf(), lies=lies, seed=6).undetected == []
