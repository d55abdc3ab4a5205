"""Every library game for one player can be played in a tournament and passes the audit."""

import pytest
from rigs.tournament import Hall, describe_machine, read_purse

from egm.features.tournament.rules import parse_rules
from egm.kernel.events import EventType, State
from egm.play.game_messages import find_pending_decision
from egm.play.records.games import find_open_game
from egm.testing.machine import ScriptedGenerator
from paytables import list_shipped_games, load_game
from paytables.required_bets import find_smallest_bets_with

GAMES = 4
#: One of each way to bet and to answer; the others are played in the slow tier.
QUICK = {
    "northern-ways",
    "aurora-keno",
    "river-wheel",
    "jacks-or-better-9-6",
    "quebec-blackjack",
    "quebec-roulette-french",
    "monaco-craps",
    "monaco-trente-et-quarante",
    "quebec-let-it-ride",
    "quebec-pai-gow-poker",
    "orchard-picnic",
}
#: Rules whose fee is taken from the side bet of Let It Ride.
SIDE_BET_FEE = (("fee_cents = 5000", "fee_cents = 30"), ("amount_cents = 1000", "amount_cents = 1"))
PLAYABLE = [name for name in list_shipped_games() if load_game(name).rules.seats_min == 1]


def is_for_points(game):
    """Return whether a game pays only credits: no level on its ordinary bet, and no prize in kind."""
    return not game.list_prizes_in_kind() and all(level.spots for level in game.list_every_level())


def lay_bets(game):
    """Return the smallest bet on the first open spot and the bets that it needs; nothing without spots."""
    spots = {spot.id: spot for spot in game.rules.list_spots()}
    for spot in spots.values():
        if spot.accepts_bets and not spot.added_bet_multiples:
            bets = find_smallest_bets_with(spots, spot, spot.bet_min)
            if all(spots[name].accepts_bets for name in bets):
                return bets
    return {}


@pytest.mark.requirement("L-01")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in PLAYABLE],
)
def test_a_game_is_played_with_points_or_refused_and_its_journal_is_right(tmp_path, name):
    game = load_game(name)
    bets = lay_bets(game)
    bet = sum(bets.values()) or game.bet_options[0]
    denomination_cents = game.denominations_cents[0]
    fee = SIDE_BET_FEE if "let-it-ride" in name else ()
    rules = describe_machine(
        ("games = 100", f"games = {GAMES}"),
        ("points = 300", f"points = {bet * 60}"),
        ("points = 500", f"points = {bet * 60}"),
        *fee,
        game=name,
        denomination_cents=denomination_cents,
        bet=bet,
    )
    hall = Hall(tmp_path, rules, games=(name,))
    if not is_for_points(game):
        fault = "rules_are_lawful" if game.list_prizes_in_kind() else "rules_describe_the_machine"
        assert hall.fill("tournament_rules") == f"refused.{fault}"
        hall.room.close()
        return
    hall.enter()
    rig, fee_cents = hall.room, parse_rules(rules).entries.fee_cents
    assert hall.sell(1, "P-1", fee_cents=fee_cents) is None
    hall.open_play()
    for _ in range(GAMES):
        if bets:
            laid = lay_exactly(game.with_table_state(read_purse(rig).get("table")), bet)
            rig.engine.handle(EventType.SELECT_BET, value=bet, options={"bets": laid})
        rig.play()
        assert rig.state is State.PLAYING, rig.notice
        while find_open_game(rig.machine).outcome is None:
            question = find_pending_decision(rig.machine)
            free = [option for option in question.options if not question.get_added_credits(option)]
            rig.engine.handle(EventType.CHOOSE, value=(free or list(question.options))[0])
        rig.report_shown()
    assert (read_purse(rig)["games"], read_purse(rig)["ending"]) == (GAMES, "complete")
    values = rig.journal.meters().values
    assert (values["coin_in"], values["coin_out"], values["games_played"]) == (0, 0, 0)
    assert values["tournament_games"] == GAMES
    assert hall.audit() == []


@pytest.mark.requirement("L-01")
def test_a_spot_that_the_table_has_closed_takes_no_points(tmp_path):
    """At craps, the pass line is closed while there is a point, as in a game for credits."""
    game, least = load_game("quebec-craps"), 5
    rules = describe_machine(
        ("games = 100", "games = 2"), game=game.id, denomination_cents=game.denominations_cents[0], bet=least
    )
    hall = Hall(
        tmp_path, rules, games=(game.id,), generator=ScriptedGenerator(0, 2)
    ).enter()  # the dice show one and three
    assert hall.sell(1, "P-1") is None
    rig = hall.open_play().room
    rig.engine.handle(EventType.SELECT_BET, value=least, options={"bets": {"pass": least}})
    rig.play()
    rig.report_shown()
    assert read_purse(rig)["games"] == 1
    rig.engine.handle(EventType.SELECT_BET, value=least, options={"bets": {"pass": least}})
    assert rig.notice == "refused.bet_is_within_the_tournaments"
    rig.engine.handle(EventType.SELECT_BET, value=least, options={"bets": {"field": least}})
    assert rig.machine.selection.options == {"bets": {"field": least}}
    rig.close()


def lay_exactly(game, credits_):
    """Return bets of exactly ``credits_`` on a table in its present state, in which the first spot may be closed."""
    spots = {spot.id: spot for spot in game.rules.list_spots()}
    for spot in spots.values():
        for least in range(spot.bet_min, min(spot.bet_max, credits_) + 1, spot.bet_step):
            bets = find_smallest_bets_with(spots, spot, least)
            if (
                spot.accepts_bets
                and sum(bets.values()) == credits_
                and all(spots[name].accepts_bets for name in bets)
            ):
                return bets
    raise AssertionError(f"no spot takes {credits_} credits")
