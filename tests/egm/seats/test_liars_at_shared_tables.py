"""False entries in journals of rounds in which several positions play for each other's stakes are reported."""

import pytest
from test_cuts_between_players import begin, go_on_to_the_end, play
from test_void_rounds import BILL_CENTS, HOLDEM, ROUNDS, find_asked, go_on

from egm.kernel.events import EventType
from meters import open_view
from tools.audit.games import GameFiles
from tools.dev.liars import run_falsifications

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
def test_the_audit_names_every_lie_about_a_shared_round(seats, tmp_path, game, lies):
    rooms = seats(game, count=len(TABLES[game]))
    for rig in rooms:
        rig.insert(BILL_CENTS)
    for _ in range(2):
        play(rooms, TABLES[game])
    assert find_undetected_lies(rooms, tmp_path, lies) == []


@pytest.mark.slow
@pytest.mark.requirement("E-13", "S-32", "S-34")
def test_the_audit_names_every_lie_about_folds_side_pots_and_returned_stakes(seats, tmp_path):
    rooms = seats(HOLDEM, count=3)
    for rig in rooms:
        rig.insert(BILL_CENTS)
    begin(rooms, [{"stack": 200}, {"stack": 160}, {"stack": 300}])
    for option in ("call", "all-in", "all-in", "fold"):
        find_asked(rooms).engine.handle(EventType.CHOOSE, value=option)
        go_on(rooms)
    go_on_to_the_end(rooms)
    assert find_undetected_lies(rooms, tmp_path, 300) == []


def find_undetected_lies(rooms, folder, lies):
    """Cash out; return the lies about the journal that the audit does not report."""
    for rig in rooms:
        if rig.credit_cents:
            rig.cash_out_ticket()
    rooms[0].close()
    with open_view(folder) as view:
        bodies = [*view.iter_bodies()]
    return run_falsifications([bodies], GameFiles(), lies=lies, seed=6).undetected
