"""What a designer would naturally write has the intended meaning, is refused, or causes a remark."""

import copy
from collections import Counter
from fractions import Fraction

import pytest
from click.testing import CliRunner

from egm.testing.machine import ScriptedStep
from paytables import (
    AnalysisDepth,
    Choice,
    DefinitionError,
    Round,
    analyse,
    build_game,
    list_non_table_games,
    list_remarks,
    load_game,
)

TEXT = {"en": "x", "fr": "x"}


def definition(*, symbols, **stage):
    stage = copy.deepcopy(stage)
    return {
        "game": {
            "id": "trap",
            "family": "reels",
            "version": "1.0.0",
            "date": "2026-11-22",
            "title": TEXT,
            "help": TEXT,
            "denominations_cents": [1],
        },
        "bets": {"mode": [{"id": "m", "cost": 1}]},
        "symbol": [{"id": name, "name": TEXT, **properties} for name, properties in symbols.items()],
        "stage": {"base": stage},
    }


def of(data):
    return build_game(copy.deepcopy(data), "trap.toml")


def rtp(data):
    return analyse(of(data), AnalysisDepth.RETURN).bets[0].rtp


def read_remarks(data):
    game = of(data)
    return [remark.text for remark in list_remarks(game, analyse(game, AnalysisDepth.RETURN))]


def surprises(data):
    return [text for text in read_remarks(data) if "in the long run" not in text]


# ------------------------------------------------------------------ weights are of the row the line reads
CHART = {
    "heights": [3],
    "strips": ["blank seven blank bar"],
    "weights": [[30, 1, 30, 3]],
    "pay": [{"of": "seven", "pays": {1: 20}}, {"of": "bar", "pays": {1: 5}}],
}
NAMES = {"seven": {}, "bar": {}, "blank": {}}


@pytest.mark.requirement("B-10")
def test_a_stop_weight_applies_to_the_row_of_the_only_line():
    """A table of 64 cases with the line in the middle: a seven in 1 case of 64, a bar in 3."""
    data = definition(symbols=NAMES, lines=[[1]], **CHART)
    assert rtp(data) == Fraction(1 * 20 + 3 * 5, 64)
    assert (
        "stop weights apply to the row of the only line; set `weights_row` to choose another row"
        in read_remarks(data)
    )
    top = definition(symbols=NAMES, lines=[[1]], weights_row=0, **CHART)
    assert rtp(top) == Fraction(30 * 20 + 30 * 5, 64) > 1
    assert any("the player wins in the long run" in text for text in read_remarks(top))
    low = definition(symbols=NAMES, lines=[[2]], **CHART)
    assert rtp(low) == rtp(data)
    several = definition(symbols=NAMES, lines=[[1], [2]], **CHART)
    assert any("to the top row of the window" in text for text in read_remarks(several))


@pytest.mark.requirement("B-10")
@pytest.mark.parametrize("is_spun_again", [False, True])
def test_each_stop_is_drawn_in_proportion_to_its_weight(is_spun_again):
    game = of(definition(symbols=NAMES, lines=[[1]], player_holds=is_spun_again, **CHART))
    wager, shown, won_credits = game.build_wager(1), Counter(), 0
    for number in range(64):
        played = Round(game.play(wager, ScriptedStep([0] * is_spun_again + [number])), wager)
        played.advance()
        if is_spun_again:
            played.advance(Choice(0))  # no reel is held
        shown[played.outcome.display["window"][0][1]] += 1
        won_credits += played.outcome.returned_credits
    assert shown == {"blank": 60, "seven": 1, "bar": 3}
    assert won_credits == 1 * 20 + 3 * 5


def test_a_line_over_some_reels_does_not_change_the_row_of_the_weights():
    two = CHART | {key: CHART[key] * 2 for key in ("heights", "strips", "weights")}
    data = definition(symbols=NAMES, lines=[[[1, 1]]], **two)
    assert rtp(data) == rtp(definition(symbols=NAMES, lines=[[[1, 1]]], weights_row=0, **two))
    assert (
        "stop weights apply to the top row of the window; set `weights_row` to choose another row"
        in read_remarks(data)
    )


def test_a_weights_row_outside_the_window_is_refused():
    data = definition(symbols=NAMES, lines=[[1]], weights_row=3, **CHART)
    with pytest.raises(DefinitionError, match="weights_row: the windows have no row 3"):
        of(data)


# ------------------------------------------------------------------ wilds alone
SCATTER = {"W": {"substitutes": ["*"], "not_for": ["star"]}, "star": {}, "blank": {}}
WILDS = {
    "heights": [1, 1, 1],
    "strips": ["seven W blank blank"] * 3,
    "lines": [[0, 0, 0]],
    "pay": [{"of": "seven", "pays": {3: 100}}, {"of": "W", "pays": {3: 1199}}],
}
TRIPLE = {"seven": {}, "W": {"substitutes": ["*"], "multiplier": 3}, "blank": {}}


@pytest.mark.requirement("R-10")
def test_the_pay_of_wilds_alone_is_stated_and_can_be_chosen():
    """27 x 100 exceeds 1,199: the highest prize counts, unless the wild's own prize must be won alone."""
    highest = definition(symbols=TRIPLE, **WILDS)
    assert "3 W on a line pay 2,700: as 3 seven x 27" in read_remarks(highest)
    assert "  3 W on a line pay 2,700: as 3 seven x 27" in of(highest).rules.explain_pays()
    for change in (
        {"wilds_alone": "own"},
        {"pay": [{**WILDS["pay"][0], "needs_own": True}, WILDS["pay"][1]]},
    ):
        own_pays = definition(symbols=TRIPLE, **{**WILDS, **change})
        assert rtp(highest) - rtp(own_pays) == Fraction(2700 - 1199, 64)
        assert "  3 W on a line pay 1,199" in of(own_pays).rules.explain_pays()
        assert not any("as 3 seven x 27" in text for text in read_remarks(own_pays))
        assert "  2 seven and 1 W on a line pay 300: as 3 seven x 3" in of(own_pays).rules.explain_pays()


MIXED = {
    "heights": [1, 1, 1],
    "strips": ["one two W blank"] * 3,
    "lines": [[0, 0, 0]],
    "pay": [{"of": "one", "pays": {3: 10}}, {"of": "any", "pays": {3: 2}, "id": "mix"}],
}
MIXING = {"one": {}, "two": {}, "W": {"substitutes": ["*"], "multiplier": 2}, "blank": {}}


@pytest.mark.requirement("R-10")
def test_the_rules_state_prizes_of_mixed_symbols_and_several_substitutes():
    data = definition(symbols=MIXING, **MIXED) | {"groups": {"any": ["one", "two"]}}
    rule_lines = of(data).rules.explain_pays()
    assert "  2 one and 1 W on a line pay 20: as 3 one x 2" in rule_lines
    assert "  2 W and 1 one on a line pay 40: as 3 one x 4" in rule_lines
    assert "  W multiplies a win it helps to make by 2; several multiply one another" in rule_lines
    assert "  3 two on a line pay 2: as 3 mix" in rule_lines
    best = {"of": "two", "pays": {3: 5}}
    mixed_game = of(
        definition(symbols=MIXING, **{**MIXED, "pay": [*MIXED["pay"], best]}) | {"groups": data["groups"]}
    )
    assert "  3 mixed of one and two on a line pay 2: as 3 mix" in mixed_game.rules.explain_pays()


@pytest.mark.requirement("R-10")
@pytest.mark.parametrize("name", [n for n in list_non_table_games() if load_game(n).family == "reels"])
def test_the_rules_of_a_game_state_every_prize_on_its_par_sheet(name):
    game = load_game(name)
    lines_by_stage: dict[str, list[str]] = {}
    for line in game.rules.explain_pays():
        if not line.startswith(" "):
            lines_by_stage.setdefault(line.partition(" ")[0], [])
        lines_by_stage[list(lines_by_stage)[-1]].append(line)
    like = {stage: words for stage, words in lines_by_stage.items() if "  pays as base does" in words}
    for bet in analyse(game, AnalysisDepth.PRIZES).bets:
        for prize in bet.prizes:
            words = lines_by_stage["base" if prize.stage_or_spot in like else prize.stage_or_spot]
            times = game.rules.definition.stages[prize.stage_or_spot]
            once = prize.credits // getattr(times, "multiplier", 1)
            pays = f"pay {once:,}" if prize.credits else " give "
            assert any(prize.name in word and pays in word for word in words), (bet.bet, prize)


@pytest.mark.requirement("B-12", "B-17")
def test_a_prize_of_a_symbol_on_no_strip_is_refused_though_wilds_could_make_it():
    data = definition(symbols={**TRIPLE, "bell": {}}, **WILDS)
    for prize in (
        {"of": "bell", "pays": {3: 4000}},
        {"pattern": "bell bell bell", "pay": 4000},
        {"of": "bell", "pays": {3: 4000}, "on": "ways"},
        {"of": "bell", "pays": {3: 4000}, "on": "scatter"},
    ):
        worse = copy.deepcopy(data)
        worse["stage"]["base"]["pay"] = [*WILDS["pay"], prize]
        with pytest.raises(DefinitionError, match="can only be won by substitutes alone"):
            of(worse)


WAYS = {
    "heights": [1] * 3,
    "strips": ["a b W b"] * 3,
    "pay": [{"on": "ways", "of": "a", "pays": {2: 3, 3: 10}}],
}


@pytest.mark.requirement("R-10")
def test_the_pay_of_wilds_alone_by_ways_is_stated_with_their_multipliers():
    wild = {"a": {}, "b": {}, "W": {"substitutes": ["*"], "multiplier": 3}}
    data = definition(symbols=wild, **WAYS)
    assert surprises(data) == ["3 W on reels in a row pay 270: as 3 a x 27"]
    assert (
        rtp(data) * 64 == 10 * (1 + 3) ** 3 + 3 * (1 + 3) ** 2 * 2
    )  # a way counts once a symbol, a W thrice
    short = definition(symbols=wild, **WAYS | {"strips": [*WAYS["strips"][:2], "a b b"]})
    assert surprises(short) == ["2 W on reels in a row pay 27: as 2 a x 9"]
    none = definition(symbols=wild, **WAYS | {"strips": ["a b b", *WAYS["strips"][1:]]})
    assert surprises(none) == []
    none["stage"]["base"]["pay"][0]["direction"] = "both"
    assert surprises(none) == ["2 W on reels in a row pay 27: as 2 a x 9"]


@pytest.mark.requirement("R-10")
def test_a_wild_that_counts_as_a_scatter_is_named_by_the_check():
    pay = [{"on": "scatter", "of": "star", "pays": {2: 8}}]
    reels = {"heights": [1, 1], "strips": ["W star blank blank"] * 2, "pay": pay}
    counts = definition(symbols={**SCATTER, "W": {"substitutes": ["*"]}}, **reels)
    assert rtp(counts) == 8 * Fraction(1, 4)
    assert surprises(counts) == ["W counts as star anywhere; to prevent this, list star in its `not_for`"]
    apart = definition(symbols=SCATTER, **reels)
    assert (rtp(apart), surprises(apart)) == (8 * Fraction(1, 16), [])


# ------------------------------------------------------------------ prizes others hide
@pytest.mark.requirement("B-17", "R-10")
def test_a_prize_that_no_result_wins_is_named_by_the_check():
    less = definition(symbols={**TRIPLE, "W": {"substitutes": ["*"]}}, **WILDS)
    less["stage"]["base"]["pay"][0] = {"of": "seven", "pays": {2: 100, 3: 50}}
    game = of(less)
    found = {remark.text for remark in list_remarks(game, analyse(game, AnalysisDepth.PRIZES))}
    assert "no result wins base 3 seven: others take its place" in found
    own_pay_game = of(definition(symbols=TRIPLE, wilds_alone="own", **WILDS))
    assert not any(
        "no result" in r.text for r in list_remarks(own_pay_game, analyse(own_pay_game, AnalysisDepth.PRIZES))
    )


def test_the_check_names_a_count_in_two_pay_table_rows():
    lines = definition(symbols=TRIPLE, **WILDS)
    lines["stage"]["base"]["pay"].append({"of": "seven", "pays": {2: 5, 3: 40}})
    assert "3 seven stands in pay.0 as well: only the higher of the two is paid" in read_remarks(lines)
    assert not any("2 seven stands" in text for text in read_remarks(lines))
    both = definition(symbols=NAMES, **CHART)
    both["stage"]["base"]["pay"] = [{"on": "scatter", "of": "seven", "pays": {1: n}} for n in (2, 5)]
    assert "1 seven stands in pay.0 as well: both are paid" in read_remarks(both)
    assert rtp(both) == 7 * Fraction(30 + 1 + 3, 64)


# ------------------------------------------------------------------ expansion and scatters
BOOK = {
    "heights": [3, 3],
    "strips": ["W star blank blank", "star blank blank blank"],
    "lines": [[1, 1]],
    "expand": ["W"],
    "pay": [{"on": "scatter", "of": "star", "pays": {2: 8}}, {"of": "W", "pays": {1: 1}}],
}


def test_scatters_are_counted_before_a_symbol_expands_over_them_unless_the_game_says_after():
    """Reel 1 shows the star at three of four stops, at two of them with the W; reel 2 at three of four."""
    before = definition(symbols=SCATTER, **BOOK)
    after = definition(symbols=SCATTER, scatters="after", **BOOK)
    wilds = Fraction(3, 4)
    assert rtp(before) == 8 * Fraction(3, 4) * Fraction(3, 4) + wilds
    assert rtp(after) == 8 * Fraction(1, 4) * Fraction(3, 4) + wilds
    assert any(
        "W may fill reel 1 over star: scatters are counted before" in text for text in read_remarks(before)
    )
    assert any(
        "W may fill reel 1 over star: scatters are counted after" in text for text in read_remarks(after)
    )
    assert any(
        "the multiplier x3 of W has no effect on scatters" in t
        for t in read_remarks(
            definition(symbols={**SCATTER, "W": {"substitutes": ["*"], "multiplier": 3}}, **BOOK)
        )
    )


def test_a_scatter_is_shown_where_it_was_counted():
    from paytables import ReplayDrawSource, play_through

    game = of(definition(symbols=SCATTER, **BOOK))
    draws = [(4, 0, "base.reel1"), (4, 0, "base.reel2")]
    outcome = play_through(game, game.build_wager(1), ReplayDrawSource(draws))
    assert outcome.returned_credits == 9
    scatter = next(win for win in outcome.display["wins"] if win["name"] == "2 star")
    assert scatter["positions"] == [[0, 1], [1, 0]]
    assert outcome.display["window"] == [["W", "star", "blank"], ["star", "blank", "blank"]]
    assert outcome.display["steps"][0]["evaluated"] == [["W"] * 3, ["star", "blank", "blank"]]


# ------------------------------------------------------------------ inherited pays, repeated lines
def test_inherited_pays_that_a_stage_cannot_win_are_left_out_and_named():
    data = definition(symbols=TRIPLE, **WILDS)
    data["stage"]["free"] = {"like": "base", "strips": ["seven blank"] * 3, "multiplier": 2}
    data["stage"]["base"]["pay"] = [
        *WILDS["pay"],
        {"of": "blank", "pays": {3: 0}, "gives": [{"stage": "free"}]},
    ]
    game = of(data)
    assert "3 W is inherited from base and cannot be won here; it is left out" in read_remarks(data)
    assert "has no name: players of every language read its id" in read_remarks(data)
    data["stage"]["free"]["name"] = TEXT
    assert not any("has no name" in text for text in read_remarks(data))
    free = game.rules.stages["m"].get_stage("free").reels
    assert [name for name, _ in free.pay_table_prizes] == ["3 seven", "3 blank"]
    data["stage"]["free"]["pay"] = [{"of": "W", "pays": {3: 1199}}]
    with pytest.raises(DefinitionError, match=r"stage.free.pay.0: 3 W can never be won"):
        of(data)


def test_repeated_lines_pay_twice_if_the_game_says_so():
    once = definition(symbols=TRIPLE, **WILDS)
    twice = definition(symbols=TRIPLE, **{**WILDS, "lines": [[0, 0, 0]] * 2, "repeat_lines": True})
    assert rtp(twice) == 2 * rtp(once)


# ------------------------------------------------------------------ the command
def test_game_check_states_what_a_game_pays_and_its_warnings(tmp_path):
    from tools.cli import main

    file = tmp_path / "traps.toml"
    result = CliRunner().invoke(main, ["game", "new", str(file)])
    assert result.exit_code == 0, result.output
    checked = CliRunner().invoke(main, ["game", "check", str(file)])
    assert checked.exit_code == 0, checked.output
    assert "on a line pay" in checked.output
    file.write_text(
        file.read_text("utf-8").replace("[stage.base]\n", "[stage.base]\nlinse = 1\n", 1), "utf-8"
    )
    wrong = CliRunner().invoke(main, ["game", "check", str(file)])
    assert wrong.exit_code == 1
    assert "did you mean `lines`?" in wrong.output
