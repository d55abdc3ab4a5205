"""Played Keno: wagers, draws, wins and refusals; outcomes against an independent evaluator."""

import json
import random
from math import comb, prod

import keno_brute as brute
import pytest

from paytables import (
    DefinitionError,
    RecordingDrawSource,
    ReplayDrawSource,
    Wager,
    WagerError,
    build_game,
    load_game,
    play_through,
    play_with_choices,
)
from paytables.keno.draws import draw_numbers
from paytables.keno.limit import limit_prizes

TEXT = {"en": "text", "fr": "texte"}


class Chance:
    """Any reproducible draws, because the rules and not their randomness are tested."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def below(self, bound, purpose):
        return self.random.randrange(bound)


class Given:
    """Draws with given numbers."""

    def __init__(self, values):
        self.values = list(values)

    def below(self, bound, purpose):
        value = self.values.pop(0)
        assert 0 <= value < bound
        return value


def rules_data(**changes):
    return brute.definition(
        **{
            "field": {"numbers": 12, "drawn": 5, "columns": 4},
            "bonus": [
                {"kind": "ball", "id": "last", "name": TEXT, "ball": 5, "factor": 3},
                {"kind": "multiplier", "id": "boost", "name": TEXT, "weights": {"1": 3, "4": 1}, "fee": 1},
            ],
            "progressive": [
                {
                    "id": "p",
                    "name": TEXT,
                    "spots": 3,
                    "catch": 3,
                    "stake": 2,
                    "reset_credits": 9,
                    "increment": "1/9",
                }
            ],
            "limit": {"credits": 2000},
            "marks": {"stakes": [1, 2, 5], "selections": 6, "groups": 6, "draws": 3, "cost": 90},
            **changes,
        }
    )


@pytest.mark.requirement("B-09", "B-13", "M-19:a")
def test_every_order_of_every_set_of_balls_is_drawn_once():
    """Each sequence of draws gives another ordered selection, and all are reached; all are therefore equally likely."""
    seen = {}
    for a in range(6):
        for b in range(5):
            for c in range(4):
                balls = draw_numbers(Given([a, b, c]), range(1, 7), 3, "ball")
                assert len(set(balls)) == 3
                seen[balls] = seen.get(balls, 0) + 1
    assert len(seen) == prod((6, 5, 4))
    assert set(seen.values()) == {1}


@pytest.mark.requirement("B-09", "B-13", "M-17")
def test_a_draw_takes_twenty_of_eighty_and_records_each_ball():
    draw = RecordingDrawSource(Chance(1))
    game = load_game("aurora-keno")
    outcome = play_through(game, game.build_wager(1), draw)
    balls = outcome.display["draws"][0]["balls"]
    assert len(balls) == len(set(balls)) == 20
    assert set(balls) <= set(range(1, 81))
    bounds = [(bound, purpose) for bound, _, purpose in draw.records if purpose.startswith("ball")]
    assert bounds == [(80 - i, f"ball {i + 1}") for i in range(20)]
    assert prod(b for b, _ in bounds) == comb(80, 20) * prod(range(1, 21))


@pytest.mark.requirement("B-13", "M-18", "M-04")
@pytest.mark.parametrize("seed", range(40))
def test_a_game_is_reproduced_from_its_recorded_draws(seed):
    """A replayed game has the same outcome, and its wins equal those of the independent evaluator."""
    data = rules_data()
    game = build_game(data, "test.toml")
    shuffled = random.Random(seed)
    selections = [
        {"groups": [shuffled.sample(range(1, 13), 3)], "stakes": {"3": 5}},
        {"groups": [2, 1, 1], "stakes": {"2": 2, "3": 1, "4": 1}},
        {"groups": [[7], [8], [9], [10]], "stakes": {"2": 1, "3": 2}},
    ]
    draws = shuffled.randint(1, 3)
    bonuses = shuffled.choice([[], ["boost"]])
    cost = (5 + (2 * 2 + 2 * 1 + 1) + (6 + 4 * 2)) * (1 + len(bonuses)) * draws
    wager = game.build_wager(cost, selections=selections, draws=draws, bonuses=bonuses)
    record = RecordingDrawSource(Chance(seed))
    outcome = play_through(game, wager, record)

    restored_wager = Wager.from_json(json.loads(json.dumps(wager.to_json())))
    replay = ReplayDrawSource(json.loads(json.dumps(record.records)))
    assert play_with_choices(game.play(restored_wager, replay), restored_wager) == outcome
    replay.check_all_numbers_used()
    assert json.loads(json.dumps(outcome.to_json())) == outcome.to_json()

    played = outcome.display["selections"]
    assert [s["quick_pick"] for s in played] == [False, True, False]
    assert [len(g) for g in played[1]["groups"]] == [2, 1, 1]
    total, levels = 0, []
    for shown in outcome.display["draws"]:
        factor = prod(shown["multipliers"].values())
        won, hit = brute.one_draw(data, played, bonuses, shown["balls"], factor)
        assert shown["credits"] == won
        assert set(shown["progressives"]) == hit
        total += won
        levels += sorted(hit)
    assert len(outcome.display["draws"]) == draws
    assert outcome.returned_credits == total == sum(win.credits for win in outcome.settlements)
    assert list(outcome.progressives) == levels


@pytest.mark.requirement("M-18")
def test_numbers_of_a_quick_pick_are_drawn_from_the_whole_field():
    game = load_game("aurora-keno")
    wager = game.build_wager(1, selections=[{"groups": [2, 1], "stakes": {"3": 1}}])
    draw = Given([79, 3, 77, *[0] * 20])  # the numbers 80, 4 and 79, then the balls
    outcome = play_through(game, wager, draw)
    (picked,) = outcome.display["selections"]
    assert (picked["quick_pick"], picked["groups"]) == (True, [[4, 80], [79]])


@pytest.mark.requirement("M-17")
def test_hits_are_shown_in_the_order_of_the_draw():
    game = build_game(rules_data(), "test.toml")
    wager = game.build_wager(1, selections=[{"groups": [[2, 5, 9]], "stakes": {"3": 1}}])
    outcome = play_through(game, wager, Given([8, 4, 10 - 1, 0, 0]))  # balls 9, 5, 12, 1, 2
    shown = outcome.display["draws"][0]
    assert shown["balls"] == [9, 5, 12, 1, 2]
    (way,) = shown["ways"]
    assert way["hits"] == [9, 5, 2]
    assert (way["factor"], way["credits"]) == (3, 90)
    (win,) = outcome.settlements
    assert (win.name, win.credits, win.detail["hits"]) == ("3 of 3", 90, [9, 5, 2])
    assert outcome.progressives == ()  # its stake plays for none


@pytest.mark.requirement("C-04", "M-03", "M-04", "M-05")
def test_the_cost_of_a_ticket_is_the_stakes_of_its_ways_for_every_draw():
    game = build_game(rules_data(), "test.toml")
    kings = {"groups": [[1], [2], [3], [4]], "stakes": {"2": 1, "3": 2}}
    assert game.build_wager(comb(4, 2) + 2 * comb(4, 3), selections=[kings]).credits == 14
    assert game.build_wager(14 * 2 * 3, selections=[kings], draws=3, bonuses=["boost"]).credits == 84
    with pytest.raises(WagerError, match="costs 14 credits, not 13"):
        game.build_wager(13, selections=[kings])


@pytest.mark.requirement("C-04", "M-03", "M-05")
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"selections": []}, "1 to 6"),
        ({"selections": [{"groups": [[1]], "stakes": {"1": 1}}] * 7}, "1 to 6"),
        ({"selections": [{"groups": [[1, 1]], "stakes": {"2": 1}}]}, "marked twice"),
        ({"selections": [{"groups": [[1, 13]], "stakes": {"2": 1}}]}, "13 is not on the field"),
        ({"selections": [{"groups": [[0]], "stakes": {"1": 1}}]}, "0 is not on the field"),
        ({"selections": [{"groups": [["1"]], "stakes": {"1": 1}}]}, "not on the field"),
        (
            {"selections": [{"groups": [[1, 2, 3, 4, 5]], "stakes": {"5": 1}}]},
            "there is no pay table for 5 spots",
        ),
        (
            {"selections": [{"groups": [[1, 2]], "stakes": {"1": 1}}]},
            r"selection 1: no combination of its groups \(sizes: 2\) has 1 spot",
        ),
        (
            {"selections": [{"groups": [[1, 2], [3]], "stakes": {"2": 1}}]},
            "is part of none of the selection's ways",
        ),
        ({"selections": [{"groups": [[1]], "stakes": {"1": 3}}]}, "the stake is 3"),
        ({"selections": [{"groups": [[1]], "stakes": {"1": True}}]}, "stakes"),
        ({"selections": [{"groups": [[1]], "stakes": {}}]}, "stakes"),
        ({"selections": [{"groups": [[1], 2], "stakes": {"3": 1}}]}, "a quick pick must give a size"),
        ({"selections": [{"groups": [7, 6], "stakes": {"4": 1}}]}, "13 numbers on a field of 12"),
        ({"selections": [{"groups": [], "stakes": {"1": 1}}]}, "1 to 6"),
        ({"selections": [{"groups": [1] * 7, "stakes": {"1": 1}}]}, "1 to 6"),
        ({"selections": [{"groups": [1]}]}, "groups and stakes"),
        ({"selections": [{"groups": [1], "stakes": {"1": 1}}], "draws": 4}, "1 to 3"),
        ({"selections": [{"groups": [1], "stakes": {"1": 1}}], "draws": 0}, "1 to 3"),
        (
            {"selections": [{"groups": [1], "stakes": {"1": 1}}], "bonuses": ["last"]},
            "expected different ones",
        ),
        ({"selections": [{"groups": [1], "stakes": {"1": 1}}], "lines": 3}, "not lines"),
        ({"selections": [{"groups": [4], "stakes": {"4": 5}}] * 6, "bonuses": ["boost"]}, None),
        ({"selections": [{"groups": [1] * 6, "stakes": {"3": 5}}]}, "costs 100 credits a draw"),
        ({"form": "two"}, "form 'two'"),
        ({"form": "one", "draws": 2}, "or name a form"),
    ],
)
def test_a_keno_ticket_that_the_game_does_not_offer_is_refused(options, reason):
    game = build_game(rules_data(), "test.toml")
    if reason is None:
        assert game.build_wager(60, **options).credits == 60
        return
    with pytest.raises(WagerError, match=reason):
        game.build_wager(1, **options)


def test_a_bet_without_marks_is_the_first_preset_ticket_of_that_cost():
    game = load_game("aurora-keno")
    assert game.bet_options[:4] == (1, 2, 4, 5)
    assert game.build_wager(1).options["selections"] == [{"groups": [10], "stakes": {"10": 1}}]
    assert game.build_wager(4).options["bonuses"] == ["northern-lights"]
    assert game.build_wager(40, form="eight-four-draws").options["draws"] == 4
    for bet in game.bet_options:
        assert play_through(game, game.build_wager(bet), Chance(bet)).display["kind"] == "keno"
    with pytest.raises(WagerError, match="no ticket of 3 credits"):
        game.build_wager(3)


@pytest.mark.parametrize(
    ("changes", "key", "reason"),
    [
        (
            {"table": [{"spots": 3, "pays": {"4": 5}}]},
            "table.0.pays.4",
            "4 catches are not possible on 3 spots",
        ),
        (
            {"table": [{"spots": 12, "pays": {"5": 5}}]},
            "table.0.spots",
            "12 spots, but the field has only 12 numbers",
        ),
        (
            {"table": [{"spots": 13, "pays": {"5": 5}}]},
            "table.0.spots",
            "13 spots, but the field has only 12 numbers",
        ),
        ({"table": [{"spots": 6, "pays": {"6": 5}}]}, "table.0.pays.6", "6 spots catches 0 to 5, never 6"),
        ({"table": [{"spots": 9, "pays": {"1": 5}}]}, "table.0.pays.1", "9 spots catches 2 to 5, never 1"),
        ({"table": [{"spots": 3, "pays": {"3": 0}}]}, "table.0.pays", "every pay is zero"),
        ({"table": [{"spots": 3, "pays": {"3": 9}}] * 2}, "table.1.spots", "two tables"),
        ({"table": [{"spots": 3, "pays": {"3": -1}}]}, "table.0.pays.3", "greater than or equal to 0"),
        ({"table": [{"spots": 3, "pays": {"3": 1.5}}]}, "table.0.pays.3", "must be a whole number"),
        ({"field": {"numbers": 5, "drawn": 5}}, "field", "expected fewer than all"),
        (
            {"bonus": [{"kind": "ball", "id": "b", "name": TEXT, "ball": 6, "factor": 2}]},
            "bonus",
            "there is no ball 6",
        ),
        (
            {"bonus": [{"kind": "ball", "id": "b", "name": TEXT, "ball": 1, "factor": 2}] * 2},
            "bonus",
            "same id",
        ),
        (
            {"bonus": [{"kind": "ball", "id": i, "name": TEXT, "ball": 1, "factor": 2} for i in "ab"]},
            "bonus",
            "same ball",
        ),
        ({"form": [{"id": "f", "name": TEXT, "spots": 9}]}, "form.0.spots", "no table for 9 spots"),
        (
            {"form": [{"id": "f", "name": TEXT, "spots": 3, "selections": 9}]},
            "form.0.selections",
            "at most 6",
        ),
        ({"form": [{"id": "f", "name": TEXT, "spots": 3, "draws": 9}]}, "form.0.draws", "at most 3"),
        (
            {"form": [{"id": "f", "name": TEXT, "spots": 3, "bonuses": ["x"]}]},
            "form.0.bonuses",
            "no bonus 'x'",
        ),
        ({"form": [{"id": "f", "name": TEXT, "spots": 3}] * 2}, "form", "same id"),
        ({"limit": {"credits": 1799}}, "limit.credits", "is 1799; expected at least 1800"),
        ({"marks": {"stakes": [1, 2, 5]}}, "marks.cost", "because limit.credits limits the prizes"),
        ({"marks": {"stakes": [2, 1]}}, "marks", "ascending"),
        ({"colour": "red"}, "colour", "unknown key `colour`"),
    ],
)
def test_a_definition_that_cannot_be_played_is_refused_by_file_key_and_reason(changes, key, reason):
    with pytest.raises(DefinitionError) as raised:
        build_game(rules_data(**changes), "test.toml")
    assert raised.value.file == "test.toml"
    assert raised.value.key == key
    assert reason in raised.value.reason


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"spots": 6}, "progressive.0.spots"),
        ({"catch": 4}, "progressive.0.catch"),
        ({"stake": 6}, "progressive.0.stake"),
        ({"increment": "0.01"}, "progressive.0.increment"),
        ({"reset_credits": 0}, "progressive.0.reset_credits"),
    ],
)
def test_a_progressive_that_nothing_can_win_is_refused(change, key):
    level = rules_data()["progressive"][0] | change
    with pytest.raises(DefinitionError) as raised:
        build_game(rules_data(progressive=[level]), "test.toml")
    assert raised.value.key == key


@pytest.mark.library_only("M-07")
@pytest.mark.parametrize(
    ("prizes", "limit", "paid"),
    [
        ([5, 3], None, (5, 3)),
        ([5, 3], 8, (5, 3)),
        ([6, 3], 6, (4, 2)),
        ([1, 1, 1], 2, (1, 1, 0)),
        ([10, 5, 3], 7, (4, 2, 1)),
        ([0, 7], 3, (0, 3)),
        ([], 0, ()),
    ],
)
def test_a_limit_is_shared_in_proportion_to_the_credit(prizes, limit, paid):
    assert limit_prizes(prizes, limit) == paid


def test_a_negative_prize_is_refused_when_the_limit_is_applied():
    with pytest.raises(ValueError, match="not negative"):
        limit_prizes([3, -1], 2)


@pytest.mark.requirement("M-01", "M-17")
@pytest.mark.parametrize("name", ["aurora-keno", "archipelago-keno"])
def test_the_board_shows_every_prize_before_a_bet(name):
    shown = json.loads(json.dumps(load_game(name).build_presentation()))
    assert (shown["kind"], shown["numbers"], shown["drawn"], shown["columns"]) == ("keno", 80, 20, 10)
    tables = load_game(name).rules.keno_pays.pays_by_spot_count
    assert {int(s): {int(c): p for c, p in t.items()} for s, t in shown["tables"].items()} == tables
