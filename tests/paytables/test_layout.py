"""Common parts of every table: printed odds, bet limits, settlements, figures by enumeration."""

from fractions import Fraction

import pytest

from paytables import AnalysisDepth, Bet, Settlement, Spot, Wager, WagerError
from paytables.definition import Text
from paytables.errors import DefinitionError
from paytables.layout import (
    BetLimits,
    Odds,
    PresetBet,
    TableLayout,
    TableLimits,
    WeightedResult,
    analyse_cases,
    bets_from_json,
    bets_to_json,
    check_credit_multiples,
    check_preset_bets,
    settle_bet,
    settle_push,
)

NAMES = {"en": "Spot", "fr": "WeightedResult"}


def spot(name: str, **properties: object) -> Spot:
    fields = {
        "group": name,
        "names": NAMES,
        "odds": "1:1",
        "bet_min": 2,
        "bet_max": 10,
        "bet_step": 2,
        **properties,
    }
    return Spot(id=name, **fields)  # type: ignore[arg-type]


def form(name: str, **bets: int) -> PresetBet:
    return PresetBet(id=name, name=Text(**NAMES), bets=bets)


SPOTS = (spot("line"), spot("odds", required_spot="line"), spot("shut", accepts_bets=False))
LAYOUT = TableLayout(SPOTS, TableLimits(seats=2, most=14, most_win=30), (form("even", line=2),))


@pytest.mark.parametrize(
    ("text", "net"),
    [("35:1", 35), ("3:2", Fraction(3, 2)), ("6.5:1", Fraction(13, 2)), ("x8", 7), ("x1", 0), ("0:1", 0)],
)
def test_odds_are_read_exactly_as_printed(text: str, net: Fraction) -> None:
    odds = Odds.parse(text)
    assert (odds.text, odds.net) == (text, net)


@pytest.mark.parametrize("text", ["", "35", "1:0", "x0.5", "-1:1", "1 to 1", "x", "٣:١", "1:1 "])
def test_invalid_odds_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not valid odds|less than the stake"):
        Odds.parse(text)


def test_a_fractional_pay_is_refused_or_rounded_as_the_text_says() -> None:
    odds = Odds.parse("3:2")
    assert odds.compute_total_return(4) == 10
    assert odds.compute_total_return(3, "down") == 7
    with pytest.raises(ValueError, match="a bet of 3 credits at 3:2 does not pay whole credits"):
        odds.compute_total_return(3)
    check_credit_multiples("bet.line", BetLimits(least=2, most=10, step=2), [odds], "f.toml")
    with pytest.raises(
        DefinitionError, match=r"bet.line.step: 1 does not pay whole credits: .* multiple of 6"
    ):
        check_credit_multiples("bet.line", BetLimits(), [odds, Odds.parse("2:3")], "f.toml")


@pytest.mark.parametrize("limits", [{"least": 5, "most": 4}, {"least": 3, "step": 2}, {"most": 9, "step": 2}])
def test_limits_that_no_bet_can_meet_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="no bet fits the limits of"):
        BetLimits(**limits)


@pytest.mark.parametrize(
    ("credits_", "options", "reason"),
    [
        (2, {"bets": {"nowhere": 2}}, "there is no spot 'nowhere'"),
        (2, {"bets": {"shut": 2}}, r"bets.shut: the spot is closed"),
        (2, {"bets": {"odds": 2}}, r"bets.odds: needs a bet on 'line'"),
        (3, {"bets": {"line": 3}}, r"bets.line: 3 credits: not a multiple of 2"),
        (12, {"bets": {"line": 12}}, r"bets.line: would be 12 credits; 2 to 10"),
        (2, {"bets": {"line": True}}, "True is not a number"),
        (2, {"bets": {"line": "2"}}, "'2' is not a number"),
        (0, {"bets": {"line": 0}}, "0 is not a number"),
        (0, {"bets": {}}, "at least one bet must be staked"),
        (0, {"bets": [1]}, "must map spots to credits"),
        (-2, {"bets": {"line": -2}}, r"2 credits cannot be taken down; the bet there is 0"),
        (16, {"bets": {"line": 8, "odds": 8}}, "16 credits on the table, which allows 14 at most"),
        (4, {"bets": {"line": 2}}, "the bets cost 2 credits, not 4"),
        (2, {"seats": {"2": {"line": 2}}}, "no seat '2'; there are 0, 1"),
        (2, {"seats": {}}, "must map the number of each playing seat"),
        (2, {"form": "odd"}, r"no bet of form 'odd' of 2 credits; the game offers \[2\]"),
        (4, {}, "no bet of 4 credits"),
        (0, {}, "no bet of 0 credits"),
        (2, {"marks": 3}, "not marks"),
        (2, {"bets": {"line": 2}, "form": "even"}, "not bets, form"),
    ],
)
def test_an_invalid_wager_is_refused_with_the_reason(
    credits_: int, options: dict[str, object], reason: str
) -> None:
    with pytest.raises(WagerError, match=reason):
        LAYOUT.build_wager(credits_, **options)


def test_a_wager_is_a_form_bets_or_bets_of_seats() -> None:
    assert LAYOUT.build_wager(2).bets == LAYOUT.build_wager(2, form="even").bets == (Bet("line", 2),)
    assert LAYOUT.build_wager(6, bets={"odds": 2, "line": 4}).bets == (Bet("line", 4), Bet("odds", 2))
    both = LAYOUT.build_wager(6, seats={0: {"line": 4}, "1": {"line": 2}})
    assert both.bets == (Bet("line", 4), Bet("line", 2, 1))
    assert LAYOUT.build_wager(both.credits, **both.options) == both


def test_standing_bets_can_be_raised_and_taken_down_within_the_rules() -> None:
    stood = (Bet("line", 4), Bet("odds", 4), Bet("line", 10, 1))
    layout = TableLayout(SPOTS, TableLimits(seats=2, most=14), (), stood, removable_spots={"line", "odds"})
    assert layout.build_wager(0) == Wager(0, {"bets": {}})
    assert layout.build_wager(2, bets={"odds": -4, "line": 2}).credits == 2
    for bets, reason in (
        ({"line": -4}, "bets.odds: needs a bet on 'line'"),
        ({"line": 8}, "12 credits; 2 to 10"),
        ({"odds": -6}, "6 credits cannot be taken down; the bet there is 4"),
        ({"line": 2, "odds": 6}, "16 credits on the table"),
    ):
        with pytest.raises(WagerError, match=reason):
            layout.build_wager(sum(n for n in bets.values() if n > 0), bets=bets)
    fixed = TableLayout(SPOTS, TableLimits(), (), stood)
    with pytest.raises(WagerError, match="may not be taken down"):
        fixed.build_wager(0, bets={"odds": -2})
    assert bets_from_json(bets_to_json(stood), layout.spot_by_id, 2) == stood


@pytest.mark.parametrize(
    "data",
    [{}, None, [3], [{"spot": "line"}], [{"spot": "no", "credits": 1}], [{"spot": "line", "credits": 0}]],
)
def test_stored_bets_that_cannot_stand_on_the_table_are_refused(data: object) -> None:
    with pytest.raises(ValueError, match="stand"):
        bets_from_json(data, LAYOUT.spot_by_id, 2)


def test_preset_bets_are_checked_against_the_games_layout() -> None:
    for forms, reason in (
        ((form("a", line=2), form("a", line=4)), "form.1.id: 'a' is listed twice"),
        ((form("a", odds=2),), "form.0: bets.odds: needs"),
    ):
        with pytest.raises(DefinitionError, match=reason):
            check_preset_bets(TableLayout(SPOTS, TableLimits(), forms), "f.toml")


def test_a_table_refuses_a_wager_that_could_win_more_than_it_pays() -> None:
    LAYOUT.check_highest_win({0: 30})
    with pytest.raises(WagerError, match="return 31 credits to seat 1; the table allows 30 at most"):
        LAYOUT.check_highest_win({0: 3, 1: 31})


def test_the_figures_of_a_wager_are_computed_from_its_cases() -> None:
    bet = Bet("line", 4)
    cases = [
        WeightedResult(3, [settle_bet(bet, Odds.parse("3:2"))]),
        WeightedResult(1, [settle_push(bet)]),
        WeightedResult(2, [settle_bet(bet, None)]),
    ]
    wager = Wager(4, {"bets": {"line": 4}})
    figures = analyse_cases("line", wager, cases)
    assert (
        figures.rtp
        == Fraction(3 * 10 + 4, 6 * 4)
        == analyse_cases("line", wager, cases, AnalysisDepth.RETURN).rtp
    )
    assert figures.distribution is not None
    assert dict(figures.distribution.case_count_by_win) == {0: 2, 4: 1, 10: 3}
    assert (
        figures.variance == figures.distribution.compute_variance() == Fraction(316, 6) - Fraction(34, 6) ** 2
    )
    assert [(p.name, p.credits, p.win_count) for p in figures.prizes] == [
        ("won", 10, 3),
        ("push", 4, 1),
    ]
    assert (figures.cycle, figures.max_win_credits, figures.hit_probability) == (6, 10, Fraction(1, 2))


def test_stakes_added_in_a_round_reduce_its_win() -> None:
    lost = [Settlement("lost", 0, staked_credits=2), Settlement("lost", 0, staked_credits=2)]
    cases = [
        WeightedResult(Fraction(1, 4), lost, added_credits=2),
        WeightedResult(Fraction(3, 4), [Settlement("won", 4, staked_credits=2)]),
    ]
    figures = analyse_cases("line", Wager(2, {}), cases)
    assert figures.rtp == Fraction(-2 + 3 * 4, 4) / 2
    assert figures.mean_staked_credits == Fraction(5, 2)
    assert figures.cycle is None
