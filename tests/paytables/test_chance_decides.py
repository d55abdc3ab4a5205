"""Chance decides every path of a game, with the depicted odds, and the game shows only what was drawn."""

import itertools
from fractions import Fraction

import pytest
from paytables_trees import MoreDrawsError, PrefixDraw, definition
from rigs.library import REELS
from rigs.rounds import play_decisions

from paytables import (
    AnalysisDepth,
    Choice,
    RecordingDrawSource,
    ReplayDrawSource,
    analyse,
    build_game,
    list_non_table_games,
    load_game,
    play_through,
    play_with_choices,
)


class AskError(Exception):
    """Raised when the game asks the player and the path has no answer."""


def walk_path(game, wager, path):
    """Play along a path of draws and choices; return the win, or raise the next request."""
    draws = PrefixDraw([value for kind, value in path if kind == "draw"])
    choices = iter([value for kind, value in path if kind == "choice"])
    play = play_decisions(game, wager, draws)
    try:
        decision = next(play)
        while True:
            value = next(choices, None)
            if value is None:
                raise AskError(decision.options)
            decision = play.send(Choice(value))
    except StopIteration as end:
        return end.value.returned_credits


def best_and_worst(game, wager, path=(), *, chance=False):
    """Return the mean wins of the best and the worst decisions over the whole tree of draws and choices.

    ``chance``: whether the path already contains a draw with at least two results; every path must contain one.
    """
    try:
        win = walk_path(game, wager, path)
    except MoreDrawsError as request:
        (bound,) = request.args
        ways = [
            best_and_worst(game, wager, (*path, ("draw", value)), chance=chance or bound > 1)
            for value in range(bound)
        ]
        return tuple(sum(column, Fraction(0)) / bound for column in zip(*ways, strict=True))
    except AskError as error:
        (options,) = error.args
        ways = [best_and_worst(game, wager, (*path, ("choice", value)), chance=chance) for value in options]
        return max(best for best, _ in ways), min(worst for _, worst in ways)
    assert chance, f"a result without a draw: {path}"
    return Fraction(win), Fraction(win)


HELD = {
    "heights": [1, 1],
    "lines": [[0, 0]],
    "strips": ["a b b", "a b"],
    "pay": [{"pattern": "a a", "pay": 7}, {"pattern": "b b", "pay": 2}],
    "player_holds": True,
    "multiplier": 3,
}
SPUN = {
    "heights": [1],
    "lines": [[0]],
    "strips": ["a b s"],
    "pay": [
        {"of": "a", "pays": {1: 3}},
        {"on": "scatter", "of": "s", "pays": {1: 1}, "gives": [{"stage": "pick"}]},
    ],
}
PICK = {"kind": "pick", "items": [{"credits": 2, "count": 2}, {"credits": 9}, {"id": "end", "end": True}]}
GAMES = {
    "reels held": definition({"base": HELD}),
    "boxes opened": definition({"base": SPUN, "pick": PICK}),
    "doubled": definition(
        {"base": {**SPUN, "pay": SPUN["pay"][:1]}}, double_up={"most_rounds": 2, "most_credits": 12}
    ),
    "boxes, then doubled": definition(
        {"base": SPUN, "pick": {**PICK, "picks": 2}}, double_up={"most_rounds": 1, "most_credits": 20}
    ),
    "reels held in a feature": definition(
        {
            "base": {**SPUN, "pay": [SPUN["pay"][0], {**SPUN["pay"][1], "gives": [{"stage": "held"}]}]},
            "held": {**HELD, "strips": ["a b", "a b"], "multiplier": 2},
        }
    ),
}


@pytest.mark.requirement("B-01", "P-10")
@pytest.mark.parametrize("data", GAMES.values(), ids=GAMES)
def test_the_best_and_the_worst_way_to_decide_return_what_is_stated(data):
    game = build_game(data, "test")
    (bet,) = analyse(game, AnalysisDepth.RETURN).bets
    best, worst = best_and_worst(game, game.build_wager(1))
    assert (bet.rtp, bet.worst_rtp) == (best, worst)
    assert bet.strategy
    assert 0 <= worst <= best


@pytest.mark.requirement("B-01", "P-10")
def test_a_game_without_decisions_states_no_strategy():
    game = build_game(definition({"base": {**SPUN, "pay": SPUN["pay"][:1]}}), "test")
    (bet,) = analyse(game).bets
    assert (bet.strategy, bet.worst_rtp) == (None, None)
    assert best_and_worst(game, game.build_wager(1)) == (bet.rtp, bet.rtp)


WAYS = {
    "first": lambda options, _: options[0],
    "last": lambda options, _: options[-1],
    "by turns": lambda options, count: options[count % len(options)],
}


def play_whole_game(game, wager, chance, choose):
    """Play a whole game; return its record, its choices and its outcome."""
    draw = RecordingDrawSource(chance)
    choices = []
    play = play_decisions(game, wager, draw)
    try:
        decision = next(play)
        while True:
            choices.append(Choice(choose(decision.options, len(choices))))
            decision = play.send(choices[-1])
    except StopIteration as end:
        return draw.records, choices, end.value


def wagers(game):
    bets = analyse(game, AnalysisDepth.RETURN).bets
    return [game.build_wager(bet.cost_credits, **bet.options) for bet in bets if bet.options]


@pytest.mark.requirement("B-01", "P-10")
@pytest.mark.parametrize("name", list_non_table_games())
def test_every_sequence_of_choices_in_a_library_game_needs_a_draw(name, seeded_draw):
    """No choices determine the result: the win differs from game to game, whatever is chosen."""
    game = load_game(name)
    for wager, (way, choose) in itertools.product(wagers(game), WAYS.items()):
        wins = set()
        for n in range(400):
            records, _, outcome = play_whole_game(game, wager, seeded_draw(f"{name} {way} {n}"), choose)
            assert any(bound > 1 for bound, _, _ in records)
            wins.add(outcome.returned_credits)
            if n >= 20 and len(wins) > 1:
                break
        assert len(wins) > 1, (wager, way)


@pytest.mark.requirement("B-09")
def test_a_wheel_stops_by_one_draw_among_all_of_its_parts():
    game = load_game("river-wheel")
    parts = game.build_presentation()["parts"]
    wager = game.build_wager(6)
    stopped = []
    for part, symbol in enumerate(parts):
        draw = RecordingDrawSource(PrefixDraw([part, parts.index("star")]))
        first, *later_steps = play_through(game, wager, draw).display["steps"]
        stopped.append((first["part"], first["symbol"]))
        assert {bound for bound, _, _ in draw.records} == {len(parts)}
        assert bool(later_steps) == (symbol == "whirlpool")
    assert stopped == list(enumerate(parts))


@pytest.mark.requirement("B-09")
def test_a_feature_wheel_stops_by_one_draw_among_all_of_its_parts():
    game = load_game("orchard-picnic")
    stage = game.rules.stages["nine"].get_stage("wheel")
    count = len(game.build_presentation()["stages"]["wheel"]["parts"])
    runs = []
    for part in range(count):
        draw = RecordingDrawSource(PrefixDraw([part]))
        runs.append(stage.run(draw).display["part"])
        assert [bound for bound, _, _ in draw.records] == [count]
    assert runs == list(range(count))


@pytest.mark.requirement("B-09")
def test_the_colour_of_a_double_up_is_one_of_two_equally_likely():
    game = build_game(GAMES["doubled"], "test")
    shown = []
    for colour in (0, 1):
        record = [(3, 0, "base.reel1"), (2, colour, "double_up"), (2, 0, "double_up")]
        play = play_decisions(game, game.build_wager(1), ReplayDrawSource(record))
        next(play)
        try:
            decision = play.send(Choice("red"))
        except StopIteration as end:
            shown.append(end.value.display["double_up"][0]["shown"])
        else:
            shown.append(decision.prompt["rounds"][0]["shown"])
    assert shown == ["red", "black"]


@pytest.mark.requirement("B-17", "B-08")
@pytest.mark.parametrize("name", REELS)
def test_the_window_of_an_outcome_shows_the_strips_at_the_drawn_stops(name, seeded_draw):
    """No table after the draw could show more near misses than the draw gives."""
    game = load_game(name)
    strips = {stage: shown.get("strips") for stage, shown in game.build_presentation()["stages"].items()}
    steps_seen = 0
    for wager, n in itertools.product(wagers(game), range(40)):
        records, choices, outcome = play_whole_game(game, wager, seeded_draw(n), WAYS["by turns"])
        assert (
            play_with_choices(game.play(wager, ReplayDrawSource(records)), wager, choices).to_json()
            == outcome.to_json()
        )
        drawn = iter([(purpose, bound, value) for bound, value, purpose in records if ".reel" in purpose])
        for step in (s for s in outcome.display["steps"] if strips[s["stage"]]):
            stage_strips = strips[step["stage"]]
            stops = read_drawn_stops(drawn, step["stage"], stage_strips, range(len(stage_strips)))
            if "first_stops" in step:
                assert list(stops.values()) == step["first_stops"]
                stops |= read_drawn_stops(
                    drawn, step["stage"], stage_strips, [x for x in stops if not step["held"] >> x & 1]
                )
            assert list(stops.values()) == step["stops"]
            heights = game.build_presentation()["stages"][step["stage"]]["heights"]
            assert step["window"] == [
                [strip[(stops[x] + row) % len(strip)] for row in range(height)]
                for (x, strip), height in zip(enumerate(stage_strips), heights, strict=True)
            ]
            steps_seen += 1
        assert next(drawn, None) is None
    assert steps_seen >= 40


def read_drawn_stops(drawn, stage, strips, reels):
    """Return the stop of each reel that turns, from the next draws of the record."""
    stops = {}
    for x in reels:
        purpose, bound, value = next(drawn)
        assert (purpose, bound) == (f"{stage}.reel{x + 1}", len(strips[x]))
        stops[x] = value
    return stops
