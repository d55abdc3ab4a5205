"""A visit at tables on the real machine: chips laid on the screen are the bets that it journals and settles."""

import pytest
from test_visit import Visit

from egm.screen.picture import Picture
from egm.screen.view import Action, unfinished


def at(folder, theme, game):
    visit = Visit(folder, theme, games=(game,))
    return visit.do(visit.room.insert, 10000)


@pytest.mark.requirement("C-22")
def test_chips_on_a_roulette_are_staked_settled_and_laid_again(tmp_path, theme):
    visit = at(tmp_path, theme, "quebec-roulette-french")
    assert visit.press("clear") == ["bet"]
    assert not unfinished(visit.view)
    visit.press("play")
    assert visit.view.snapshot.state == "idle"
    red = next(spot.id for spot in visit.view.table.spots.values() if spot.id == "red")
    assert visit.press("spot", red) == ["bet"]
    assert visit.press("spot", "straight-7") == ["bet"]
    staked = visit.view.chips.credits
    assert visit.view.snapshot.bet_wager["bets"] == dict(visit.view.chips.bets)
    before = visit.view.snapshot.credit_cents
    visit.play_out()
    display, shown = visit.view.snapshot.last_display, visit.view.show
    covers = {spot: visit.view.table.spots[spot].covers for spot in visit.view.chips.bets}
    won = {spot for spot, pockets in covers.items() if display["pocket"] in pockets}
    told = {each["spot"] for each in shown.play.settlements if each["credits"]}
    assert told == won
    unit = visit.view.snapshot.denomination_cents
    after = visit.view.snapshot.credit_cents
    assert after == before - staked * unit + visit.view.snapshot.win_cents
    assert visit.view.snapshot.results == (display["result"],)
    laid = dict(visit.view.chips.bets)
    visit.press("clear")
    visit.press("repeat")
    assert dict(visit.view.chips.bets) == laid


def test_a_pass_line_stands_until_its_point_is_made_or_missed(tmp_path, theme):
    """PLAY goes on with what stands: no new chip is staked for it, and the bet comes back once."""
    visit = at(tmp_path, theme, "quebec-craps")
    visit.press("clear")
    assert visit.press("spot", "pass") == ["bet"]
    stake = visit.view.chips.credits
    rounds = 0
    while rounds < 40:
        before, stood = visit.view.snapshot.credit_cents, dict(visit.view.snapshot.standing)
        visit.play_out()
        rounds += 1
        unit = visit.view.snapshot.denomination_cents
        cost = 0 if stood else stake * unit
        assert visit.view.snapshot.credit_cents == before - cost + visit.view.snapshot.win_cents
        assert visit.view.chips.bets == {}
        if visit.view.snapshot.standing:
            assert visit.view.snapshot.standing == {"pass": stake}
            continue
        if rounds > 1:
            break
        visit.press("repeat")
    assert rounds > 1
    assert Action("spot", "pass") in {t.action for t in Picture(theme).touches(visit.view)}


@pytest.mark.parametrize(("game", "cards"), [("quebec-pai-gow-poker", 7), ("quebec-pai-gow", 4)])
def test_two_hands_are_set_by_touch_and_the_house_way_marks_its_own(tmp_path, theme, game, cards):
    """Touched cards make the low hand; what is no legal way is not sent; the bank lies face down until then."""
    visit = at(tmp_path, theme, game)
    assert visit.press("play") == ["play"]
    visit.wait(30)
    asked = visit.view.decision
    assert asked.kind == "set"
    bank = asked.display["hands"][0]["cards"]
    assert len(bank) == cards
    assert all(card[0] == "?" for card in bank)
    assert visit.view.held == asked.display["advice"]
    for place in range(cards):
        if visit.view.held >> place & 1:
            visit.press("hold", place)
    assert visit.view.held == 0
    assert visit.press("play") == []
    touches = {touch.action for touch in Picture(theme).touches(visit.view)}
    assert {Action("hold", place) for place in range(cards)} | {Action("choose", "surrender")} <= touches
    visit.press("set_as", asked.display["house"])
    assert visit.view.held == asked.display["house"]
    assert visit.press("play") == ["choose"]
    assert visit.view.decision is None
    last = visit.view.show.play.display["hands"]
    said = {hand["id"]: hand.get("says") for hand in last}
    assert said["player"] == asked.display["ways"][str(asked.display["house"])]
    assert "?" not in "".join(last[0]["cards"])
