"""The exact figures of tables with one draw: known returns as fractions, distributions from every result."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from paytables import AnalysisDepth, Bet, Game, WagerError, analyse, build_game, list_table_games, load_game
from paytables.definition import parse, read_source
from paytables.errors import DefinitionError
from paytables.game import list_remarks
from paytables.onedraw.figures import compute_rtp_with_unlimited_prison
from paytables.onedraw.table import OneDrawTable
from paytables.source import parse_toml


def build_changed_game(name: str, **tables_: Any) -> Game:
    """Return a shipped table with some tables of its definition replaced."""
    data = parse(read_source(name))
    return build_game(data | tables_, "changed.toml")


def compute_returns(game: Game) -> dict[str, Fraction]:
    return {bet.bet: bet.rtp for bet in analyse(game, AnalysisDepth.RETURN).bets}


ROULETTE = ("column", "dozen", "even-chance", "straight", "split", "street", "corner", "six-line")
SIC_BO = {
    "triple": Fraction(151, 216),
    "double": Fraction(2, 3),
    "any-triple": Fraction(25, 36),
    "duo": Fraction(5, 6),
    "small": Fraction(35, 36),
    "big": Fraction(35, 36),
    "single": Fraction(199, 216),
    "total-4-17": Fraction(17, 24),
    "total-5-16": Fraction(31, 36),
    "total-6-15": Fraction(95, 108),
    "total-7-14": Fraction(65, 72),
    "total-8-13": Fraction(7, 8),
    "total-9-12": Fraction(175, 216),
    "total-10-11": Fraction(7, 8),
}
KNOWN: dict[str, Mapping[str, Fraction]] = {
    "quebec-roulette-french": dict.fromkeys((*ROULETTE, "first-four"), Fraction(36, 37)),
    "quebec-roulette-english": dict.fromkeys((*ROULETTE, "first-four"), Fraction(36, 37)),
    "quebec-roulette-american": dict.fromkeys(ROULETTE, Fraction(18, 19)) | {"first-five": Fraction(35, 38)},
    "quebec-roulette-double": dict.fromkeys((*ROULETTE, "first-four"), Fraction(36, 37))
    | {"double": Fraction(1001, 1369), "triple": Fraction(10001, 50653)},
    "monaco-roulette-american": dict.fromkeys(ROULETTE, Fraction(18, 19)) | {"first-five": Fraction(35, 38)},
    "monaco-roulette-european": dict.fromkeys((*ROULETTE, "columns", "dozens"), Fraction(36, 37))
    | {"even-chance": Fraction(73, 74)},
    "monaco-boule": {"straight": Fraction(8, 9), "even-chance": Fraction(8, 9)},
    "monaco-big-wheel": {
        "1": Fraction(8, 9),
        "2": Fraction(5, 6),
        "5": Fraction(7, 9),
        "10": Fraction(22, 27),
        "20": Fraction(7, 9),
        "joker-black": Fraction(41, 54),
        "joker-yellow": Fraction(41, 54),
    },
    "quebec-sic-bo": SIC_BO,
}


@pytest.mark.requirement("P-07", "C-05", "S-36", "S-37", "S-45", "S-48", "S-49")
@pytest.mark.parametrize("name", KNOWN)
def test_every_bet_has_the_known_return(name: str) -> None:
    found = compute_returns(load_game(name))
    assert {bet: found[bet] for bet in KNOWN[name]} == KNOWN[name]
    assert all(rules.spot.group in found for rules in one_draw(load_game(name)).spot_rules)


def one_draw(game: Game) -> OneDrawTable:
    assert isinstance(game.rules, OneDrawTable)
    return game.rules


@pytest.mark.requirement("S-39")
def test_a_double_pays_more_without_a_triple_and_outside_bets_need_their_option() -> None:
    for name, numbers in (("quebec-roulette-french", 37), ("quebec-roulette-american", 38)):
        assert "double" not in compute_returns(load_game(name))
        alone = compute_returns(build_changed_game(name, option={"double": True}))
        assert alone["double"] == Fraction(1201, numbers**2)
        assert not {"column", "dozen", "even-chance", "triple"} & set(alone)
        both = compute_returns(
            build_changed_game(name, option={"double": True, "triple": True, "outside": True})
        )
        assert both["double"] == Fraction(1001, numbers**2)
        assert both["triple"] == Fraction(10001, numbers**3)
        assert {"column", "dozen", "even-chance"} <= set(both)


def test_a_double_of_exactly_two_dice_returns_less() -> None:
    assert compute_returns(build_changed_game("quebec-sic-bo", option={"double_on_triple": False}))[
        "double"
    ] == Fraction(5, 8)


def test_prison_figures_equal_the_markov_chain_to_the_last_level() -> None:
    """A stake in prison of value v returns p(v) = 18/37 v + 1/37 (v/4 at the last, else p(v/2))."""
    table = one_draw(load_game("monaco-roulette-european"))
    assert compute_rtp_with_unlimited_prison(table, "red") == Fraction(72, 73)
    for stake in (8, 40, 64, 1024):
        levels = (stake & -stake).bit_length() - 2  # how often a zero leaves a part that can be halved again
        value = Fraction(stake, 2 ** (levels + 1))
        prison_value = Fraction(value)  # the part that is taken at the last
        for level in range(levels - 1, -1, -1):
            prison_value = Fraction(18, 37) * Fraction(stake, 2**level) + Fraction(1, 37) * prison_value
        worst = (Fraction(18, 37) * 2 * stake + Fraction(1, 37) * prison_value) / stake
        bet = table.analyse_wager(table.build_wager(stake, bets={"red": stake}))
        assert (bet.rtp, bet.worst_rtp, bet.simplest_rtp) == (Fraction(73, 74), worst, Fraction(73, 74))
        assert Fraction(72, 73) < worst < Fraction(73, 74)
        assert bet.distribution is not None
        assert (
            bet.distribution.case_count_by_win == {0: 36, stake // 2: 2, 2 * stake: 36}
            or bet.distribution.case_count == 37
        )


def test_bets_placed_together_have_the_distribution_of_all_result_sequences() -> None:
    table = one_draw(load_game("quebec-roulette-double"))
    bets = {"double-7": 2, "triple-7": 1, "red": 5, "straight-7": 1}
    law: dict[int, int] = {}
    for first, second, third in product(range(37), repeat=3):  # 7 is red
        win = 10 * (first in {1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36})
        win += 36 * (first == 7) + 2002 * (first == second == 7) + 10001 * (first == second == third == 7)
        law[win] = law.get(win, 0) + 1
    found = table.analyse_wager(table.build_wager(9, bets=bets))
    assert found.distribution is not None
    assert {
        win: Fraction(n, found.distribution.case_count)
        for win, n in found.distribution.case_count_by_win.items()
    } == {win: Fraction(n, 37**3) for win, n in law.items()}
    assert found.max_win_credits == 36 + 10 + 2002 + 10001
    assert found.cycle == 37
    assert found.rtp == sum(prize.rtp for prize in found.prizes)


@pytest.mark.requirement("S-40")
def test_bets_on_dice_have_the_distribution_over_every_throw() -> None:
    table = one_draw(load_game("quebec-sic-bo"))
    law: dict[int, int] = {}
    for dice in product(range(1, 7), repeat=3):
        triple = len(set(dice)) == 1
        win = 10 * (sum(dice) > 10 and not triple) + 25 * 2 * triple + 9 * (dice.count(6) > 1)
        win += (0, 2, 3, 4)[dice.count(5)] + 6 * (2 in dice and 3 in dice) + 7 * (sum(dice) == 9)
        law[win] = law.get(win, 0) + 1
    bets = {"big": 5, "any-triple": 2, "double-6": 1, "single-5": 1, "duo-2-3": 1, "total-9": 1}
    found = table.analyse_wager(table.build_wager(11, bets=bets))
    assert found.distribution is not None
    assert (found.distribution.case_count, found.distribution.case_count_by_win) == (
        216,
        law,
    ) or found.distribution == replace(found.distribution, case_count=216, case_count_by_win=law)
    assert found.variance == found.distribution.compute_variance()


def test_a_table_refuses_bets_that_could_win_more_than_it_pays() -> None:
    game = build_changed_game("quebec-roulette-double", table={"seats": 2, "most_win": 400})
    assert game.build_wager(11, bets={"straight-7": 11}).credits == 11
    with pytest.raises(WagerError, match="return 406 credits to seat 0; the table allows 400 at most"):
        game.build_wager(16, bets={"straight-7": 11, "red": 5})
    with pytest.raises(WagerError, match="return 432 credits to seat 1"):
        game.build_wager(13, seats={"0": {"straight-7": 1}, "1": {"straight-7": 12}})


def test_the_part_of_a_stake_that_a_zero_returns_counts_towards_the_win_limit() -> None:
    game = build_changed_game("monaco-roulette-european", table={"most_win": 400})
    assert game.build_wager(208, bets={"straight-0": 8, "red": 200}).credits == 208
    with pytest.raises(WagerError, match="return 424 credits to seat 0; the table allows 400 at most"):
        game.build_wager(209, bets={"straight-0": 9, "red": 200})


def test_seats_share_one_spin_and_have_separate_settlements() -> None:
    game = load_game("monaco-roulette-european")

    class Seven:
        def below(self, bound: int, purpose: str) -> int:
            del bound, purpose
            return game.rules.build_presentation()["wheel"].index("7")

    wager = game.build_wager(
        26, seats={"0": {"red": 8, "straight-7": 1}, "5": {"black": 16, "straight-7": 1}}
    )
    play, steps = game.play(wager, Seven()), []
    while True:
        try:
            steps.append(next(play))
        except StopIteration:
            break
    settled = [(step.seat, step.spot, step.credits) for step in steps[1:]]  # type: ignore[union-attr]
    assert settled == [(0, "red", 16), (0, "straight-7", 36), (5, "black", 0), (5, "straight-7", 36)]
    with pytest.raises(WagerError, match="no seat '8'"):
        game.build_wager(1, seats={"8": {"straight-7": 1}})
    assert game.rules.betting_seconds == 30
    assert build_changed_game("monaco-boule", table={"seats": 1}).rules.betting_seconds is None


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"held": []},
        {"held": [{"spot": "red", "credits": 8}]},
        {"held": [{"spot": "red", "credits": 8, "count": True}]},
        {"held": [{"spot": "red", "credits": 8, "count": 0}]},
        {
            "held": [{"spot": "red", "credits": 8, "count": 3}]
        },  # its next part would not be a whole number of credits
        {"held": [{"spot": "red", "credits": 6, "count": 1}]},
        {"held": [{"spot": "red", "credits": 8, "count": 10**15}]},
        {"held": [{"spot": "red", "credits": 4000, "count": 1}]},
        {"held": [{"spot": "dozen-1", "credits": 8, "count": 1}]},
        {"held": [{"spot": "mauve", "credits": 8, "count": 1}]},
        {"held": [{"spot": "red", "credits": 8, "count": 1, "seat": 8}]},
        {"held": [{"spot": "red", "credits": 8, "count": 1}] * 2},
        {"held": [{"spot": "red", "credits": 8, "count": 1}], "point": 4},
        [1],
    ],
)
def test_a_table_state_that_no_round_can_leave_is_refused(table: object) -> None:
    with pytest.raises(ValueError, match=r"can be|standing|listed twice|can leave"):
        load_game("monaco-roulette-european").with_table_state(table)


def test_standing_bets_on_repeats_of_two_numbers_are_refused() -> None:
    game = load_game("quebec-roulette-double")
    held_bets = [{"spot": f"triple-{n}", "credits": 1, "count": 1} for n in (4, 5)]
    with pytest.raises(ValueError, match="different results"):
        game.with_table_state({"held": held_bets})
    with pytest.raises(ValueError, match="is not a stake that can be in prison at this table"):
        game.with_table_state({"held": [{"spot": "double-4", "credits": 1, "count": 2}]})
    game_at_table = game.with_table_state({"held": held_bets[:1]})
    assert game_at_table.rules.list_standing_bets() == (Bet("triple-4", 1),)
    assert game_at_table.rules.take_down_standing_bets() == ((), {"held": held_bets[:1]})
    assert game.with_table_state(None) is game


ZERO = {"id": "even-chance", "pays": "1:1", "least": 2, "most": 10, "step": 2, "on_zero": "half"}
RED = {"id": "red", "name": {"en": "Red", "fr": "Rouge"}, "bets": {"red": 2}}
OUTSIDE = ZERO | {"outside": True}
TRIPLE = {"id": "triple", "pays": "10000:1", "most": 5, "option": "triple", "spins": 3}
CYLINDER = parse(read_source("quebec-roulette-french"))["cylinder"]


@pytest.mark.parametrize(
    ("tables_", "key", "reason"),
    [
        ({"bet": [ZERO | {"step": 1}]}, "bet.0.step", "is not even"),
        ({"bet": [ZERO | {"spins": 2}]}, "bet.0.on_zero", "for a bet on several spins in a row"),
        ({"bet": [ZERO | {"option": "double"}]}, "bet.0.spins", "1 spins in a row are not a valid double"),
        ({"bet": [ZERO, ZERO]}, "bet.1.id", "twice"),
        ({"bet": [ZERO | {"id": "mine"}]}, "bet.0", "list its `places`"),
        ({"bet": [ZERO | {"places": {"red": "0-1"}}]}, "bet.0", "covers a zero"),
        ({"bet": [ZERO | {"places": {"red": "40"}}]}, "bet.0", "expected different pockets of the wheel"),
        ({"bet": [ZERO | {"on_zero": "lost", "spins": 2}]}, "bet.0", "must cover a single one"),
        ({"bet": [ZERO | {"pays": "3:4"}]}, "bet.0.step", "multiple of 4"),
        ({"bet": [ZERO | {"pays": "even"}]}, "bet.0.pays", "is not valid odds"),
        ({"bet": [ZERO | {"id": "straight"}]}, "bet.0", "'straight-0' covers a zero"),
        (
            {"bet": [TRIPLE, OUTSIDE], "option": {"triple": True}, "form": [RED]},
            "form",
            "every form contains a bet that",
        ),
        ({"form": [RED]}, "form.0", "5 to 2,000"),
        ({"cylinder": CYLINDER | {"zeros": ""}}, "cylinder", "exactly one of red, black, yellow and zero"),
        ({"cylinder": CYLINDER | {"zeros": "0 00"}}, "cylinder", "is not a pocket"),
        ({"cylinder": CYLINDER | {"pockets": CYLINDER["pockets"] + " 0"}}, "cylinder", "listed twice"),
        ({"cylinder": CYLINDER | {"revolutions": 6}}, "cylinder", "at least 7"),
        ({"table": {"seats": 10}}, "table.seats", "less than or equal to 9"),
    ],
)
def test_a_roulette_that_cannot_be_played_is_refused_by_key(tables_: Any, key: str, reason: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        build_changed_game("quebec-roulette-french", **tables_)
    assert raised.value.key == key
    assert reason in raised.value.reason


@pytest.mark.parametrize(
    ("bet", "key", "reason"),
    [
        ({"kind": "single", "pays": "1:1"}, "bet.0", "a single must have three pays"),
        ({"kind": "total", "pays": "6:1"}, "bet.0", "a bet on totals must have them"),
        ({"kind": "small", "pays": "1:2"}, "bet.0.step", "multiple of 2"),
        (
            {"kind": "small", "pays": "1:1", "least": 9, "most": 1},
            "bet.0",
            "no bet fits the limits of 9 to 1 credit",
        ),
        ({"kind": "total", "pays": "6:1", "totals": [9, 9]}, "bet", "two spots have the id 'total-9'"),
        ({"kind": "total", "pays": "6:1", "totals": [3]}, "bet.0.totals.0", "greater than or equal to 4"),
    ],
)
def test_a_sic_bo_that_cannot_be_played_is_refused_by_key(bet: dict[str, Any], key: str, reason: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        build_changed_game("quebec-sic-bo", bet=[{"id": "one", "least": 1, "most": 9} | bet])
    assert raised.value.key == key
    assert reason in raised.value.reason


@pytest.mark.parametrize(
    ("change", "key"),
    [({"layout": {"stakes": [1, 5]}}, "layout.stakes"), ({"again": 1}, "symbol.sky.again")],
)
def test_a_wheel_with_a_table_needs_limits_and_cannot_spin_again(change: dict[str, Any], key: str) -> None:
    data = parse(read_source("quebec-wheel-of-fortune"))
    if "again" in change:
        names = {"en": "Sky", "fr": "Ciel"}
        change = {
            "symbol": [*data["symbol"], {"id": "sky", "name": names} | change],
            "wheel": data["wheel"] | {"parts": data["wheel"]["parts"] + " sky"},
        }
    with pytest.raises(DefinitionError) as raised:
        build_game(data | change, "changed.toml")
    assert raised.value.key == key


@pytest.mark.requirement("C-02", "C-12", "C-22")
def test_the_rules_of_a_table_state_its_pays_in_both_languages() -> None:
    for name in list_table_games():
        game = load_game(name)
        assert "{pays}" not in "".join(game.help.values())
    words = load_game("monaco-roulette-european").help
    assert "Two dozens: 1 to 2\n" in words["en"]
    assert "À cheval sur deux douzaines : 1 à 2\n" in words["fr"]
    assert "Simple : 1 dé, à l'égalité ; 2 dés, 2 à 1 ; 3 dés, 3 à 1" in load_game("quebec-sic-bo").help["fr"]


@pytest.mark.requirement("S-37", "S-45", "P-01:a")
def test_the_felt_has_every_betting_spot() -> None:
    spots = load_game("quebec-roulette-french").rules.list_spots()
    counts: dict[str, int] = {}
    for spot in spots:
        counts[spot.group] = counts.get(spot.group, 0) + 1
    inside = {
        "straight": 37,
        "split": 57 + 3,
        "street": 12 + 2,
        "corner": 22,
        "six-line": 11,
        "first-four": 1,
    }
    assert counts == inside | {"column": 3, "dozen": 3, "even-chance": 6}
    for spot in spots:
        numbers = sorted(map(int, spot.covered_results))
        if spot.group == "split":
            a, b = numbers
            assert b - a == 3 or (b - a == 1 and a % 3) or a == 0
        if spot.group == "corner":
            a = numbers[0]
            assert numbers == [a, a + 1, a + 3, a + 4]
            assert a % 3
    shown = load_game("quebec-roulette-french").build_presentation()
    assert shown["neighbours"]["0"] == ["3", "26", "0", "32", "15"]
    wheel, colours = shown["wheel"], shown["colours"]
    assert all(
        colours[a] != colours[b]
        for a, b in zip(wheel, [*wheel[1:], wheel[0]], strict=True)
        if "0" not in {a, b}
    )
    american = load_game("monaco-roulette-american").build_presentation()["wheel"]
    assert (american.index("00") - american.index("0")) == 19


def test_a_bet_with_a_return_of_100_percent_is_remarked_on() -> None:
    """36:1 on one of 37 pockets returns 100 %, so that the house has no advantage."""
    text = read_source("quebec-roulette-french").data.decode()
    assert '"35:1"' in text
    game = build_game(parse_toml(text.replace('"35:1"', '"36:1"', 1)), "even.toml")
    remarks = [remark.text for remark in list_remarks(game, analyse(game, AnalysisDepth.RETURN))]
    assert any("returns 100 %" in words for words in remarks), remarks
    assert not any(
        "100 %" in remark.text for remark in list_remarks(load_game("quebec-roulette-french"), None)
    )
