"""Venue limits on stakes: no key, chip or spot offers more, and the machine accepts no lower bet."""

import pytest
from test_visit import Visit

from egm.screen.layout import LANDSCAPE_LAYOUT
from egm.screen.scenes.chip_keys import lay_out_table_keys
from egm.screen.scenes.table_side_panels import format_spot_lines
from egm.screen.view import compute_bet_credits, has_unsent_bet, list_available_bets


def start_visit(folder, theme, game, least_cents=0, most_cents=10_000):
    """Start a visit at a game with this lowest and highest stake, with credit for more."""
    visit = Visit(folder, theme, games=(game,))
    profile = visit.room.machine.profile
    play = profile.play.model_copy(update={"bet_min_cents": least_cents, "bet_max_cents": most_cents})
    visit.room.machine.profile = profile.model_copy(update={"play": play})
    for _ in range(3):
        visit.do(visit.room.insert, 10_000)
    return visit


@pytest.mark.parametrize("game", ["jacks-or-better-9-6", "maple-classic", "aurora-keno"])
def test_max_bet_stakes_the_venues_maximum(tmp_path, theme, game):
    visit = start_visit(tmp_path, theme, game)
    unit_cents = visit.view.snapshot.denomination_cents
    few = sorted(visit.view.game.bet_options)[:2]
    visit = start_visit(
        tmp_path / "few", theme, game, least_cents=few[0] * unit_cents, most_cents=few[1] * unit_cents
    )
    assert max(visit.view.game.bet_options) > few[1]
    assert visit.press("bet_max") == ["bet"]
    assert visit.view.snapshot.bet_credits == few[1]
    visit.press("bet_more")
    assert visit.view.snapshot.bet_credits == few[1]
    assert max(list_available_bets(visit.view)) == few[1]


def test_marked_keno_cards_are_staked_up_to_the_venues_maximum(tmp_path, theme):
    """The limit applies to the price of two marked cards together."""
    visit = start_visit(tmp_path, theme, "aurora-keno", most_cents=10)
    for number in (1, 2, 3, "new_card", 4, 5, 6):
        visit.press(*(("new_card",) if number == "new_card" else ("mark", number)))
    assert visit.press("bet_max") == ["bet"]
    assert 0 < visit.view.snapshot.bet_credits * visit.view.snapshot.denomination_cents <= 10


def test_no_chip_raises_a_bet_above_the_venues_maximum(tmp_path, theme):
    visit = start_visit(tmp_path, theme, "monaco-roulette-european", most_cents=5_000)
    unit_cents, table = visit.view.snapshot.denomination_cents, visit.view.table
    most = 5_000 // unit_cents
    values = [
        action.value
        for _, action in lay_out_table_keys(visit.view, LANDSCAPE_LAYOUT)
        if action.name == "chip"
    ]
    assert max(table.chip_values) > most >= max(values)
    visit.press("clear")
    visit.press("chip", max(values))
    for spot in ("column-1", "column-2", "column-3", "column-1"):
        visit.press("spot", spot)
        assert not has_unsent_bet(visit.view)
    assert visit.view.snapshot.bet_credits == most
    visit.press("spot", "column-2")
    assert visit.view.chips.refusal_key in {"here", "most"}
    assert visit.context.format_money(5_000) in visit.bar
    visit.press("double")
    assert visit.view.snapshot.bet_credits == most
    lines = [words for words, _ in format_spot_lines(visit.context, table.spots["column-1"], unit_cents)]
    assert any(visit.context.format_money(5_000) in words for words in lines)


def test_doubling_above_the_venues_maximum_changes_no_bet(tmp_path, theme):
    """The bets that no longer fit below the maximum are not left out."""
    visit = start_visit(tmp_path, theme, "monaco-roulette-european", most_cents=5_000)
    spots, most = ("column-1", "column-2", "column-3"), 5_000 // visit.view.snapshot.denomination_cents
    visit.press("clear")
    visit.press("chip", visit.view.table.chip_values[1])
    while 6 * visit.view.chips.bets.get(spots[-1], 0) <= most:
        for spot in spots:
            visit.press("spot", spot)
    bets = dict(visit.view.chips.bets)
    assert set(bets) == set(spots)
    visit.press("double")
    assert (visit.view.chips.bets, visit.view.chips.refusal_key) == (bets, "here")


def test_chips_below_the_venues_minimum_are_no_bet_and_the_status_line_says_so(tmp_path, theme):
    visit = start_visit(tmp_path, theme, "monaco-roulette-european", least_cents=500)
    unit_cents = visit.view.snapshot.denomination_cents
    visit.press("clear")
    while compute_bet_credits(visit.view) + 1 < 500 // unit_cents:
        visit.press("spot", "straight-7")
        assert visit.view.snapshot.bet_credits == 0
        assert visit.context.format_money(500) in visit.bar
        assert visit.press("play") == []
    visit.press("spot", "straight-7")
    assert visit.view.snapshot.bet_credits * unit_cents == 500
    assert visit.press("play") == ["play"]
