"""The craps table: bets between throws, bets that may be laid or taken down, the shooter, and refusals."""

import json

import pytest
from rigs.craps_text import MONACO, QUEBEC

from paytables import (
    Bet,
    DefinitionError,
    ReplayDrawSource,
    WagerError,
    build_game,
    load_game,
    play_with_choices,
)
from paytables.definition import parse, read_source


def table(point, *bets, instructed=(), shooter=0):
    """Return a table state as an outcome stores it; bets are (spot, credits) or (spot, credits, seat)."""
    return {
        "point": point,
        "shooter": shooter,
        "bets": [Bet(*bet).to_json() for bet in bets],
        "told": [list(instruction) for instruction in instructed],
    }


def throw(game, a, b, wager=None):
    """Return the outcome of one throw of these dice."""
    wager = game.build_wager(0) if wager is None else wager
    draw = ReplayDrawSource([(6, a - 1, "die 1"), (6, b - 1, "die 2")])
    outcome = play_with_choices(game.play(wager, draw), wager)
    draw.check_all_numbers_used()
    return outcome


def list_settlements(outcome):
    return [(settlement.spot, settlement.name, settlement.credits) for settlement in outcome.settlements]


def build_changed_game(house, change):
    """Return the game of a definition with a change."""
    data = parse(read_source(house))
    change(data)
    return build_game(data, "f.toml")


def bet_of(data, name):
    return next(bet for bet in data["bet"] if bet["id"] == name)


@pytest.mark.requirement("S-41", "S-43")
@pytest.mark.library_only("P-07")
def test_a_come_bet_moves_to_its_number_and_its_odds_are_off_on_the_come_out():
    game = load_game(QUEBEC)
    game_at_table = game.with_table_state(table(8, ("pass", 5)))
    outcome = throw(game_at_table, 2, 2, game_at_table.build_wager(10, bets={"come": 10}))
    assert outcome.table_state["bets"] == [{"spot": "come-4", "credits": 10}, {"spot": "pass", "credits": 5}]
    game_at_table = game.with_table_state(outcome.table_state)
    outcome = throw(game_at_table, 4, 4, game_at_table.build_wager(30, bets={"odds-come-4": 30}))
    assert list_settlements(outcome) == [("pass", "won", 10)]
    assert (outcome.display["point"], outcome.display["come_out"]) == (None, False)
    game_at_table = game.with_table_state(outcome.table_state)
    assert list_settlements(throw(game_at_table, 1, 3)) == [
        ("come-4", "won", 20),
        ("odds-come-4", "push", 30),
    ]
    assert list_settlements(throw(game_at_table, 3, 4)) == [
        ("come-4", "lost", 0),
        ("odds-come-4", "push", 30),
    ]
    wager = game_at_table.build_wager(0, bets={}, working={"odds-come-4": True})
    assert list_settlements(throw(game_at_table, 1, 3, wager)) == [
        ("come-4", "won", 20),
        ("odds-come-4", "won", 90),
    ]
    table_state = throw(game_at_table, 6, 6, wager).table_state
    assert table_state["told"] == [[0, "odds-come-4"]]
    assert list_settlements(throw(game.with_table_state(table_state), 1, 3))[1] == ("odds-come-4", "won", 90)
    back = game.with_table_state(table_state).build_wager(0, bets={}, working={"odds-come-4": False})
    assert list_settlements(throw(game.with_table_state(table_state), 1, 3, back))[1] == (
        "odds-come-4",
        "push",
        30,
    )


@pytest.mark.library_only("P-07")
def test_bets_that_are_off_are_not_decided_on_a_come_out():
    off = (("right-6", 6), ("buy-6", 21), ("hard-6", 1))
    quebec = load_game(QUEBEC).with_table_state(table(None, *off, ("lay-6", 25)))
    assert list_settlements(throw(quebec, 3, 3)) == [("lay-6", "lost", 0)]
    assert list_settlements(throw(quebec, 3, 4)) == [("lay-6", "won", 44)]
    on = quebec.build_wager(0, bets={}, working={"hard-6": True, "buy-6": True})
    assert list_settlements(throw(quebec, 3, 3, on)) == [
        ("buy-6", "won", 44),
        ("hard-6", "won", 10),
        ("lay-6", "lost", 0),
    ]
    monaco = load_game(MONACO).with_table_state(
        table(None, ("place-6", 6), ("buy-6", 21), ("hard-6", 1), ("big-6", 1))
    )
    assert list_settlements(throw(monaco, 3, 3)) == [
        ("big-6", "won", 2),
        ("buy-6", "won", 44),
        ("hard-6", "won", 10),
    ]


@pytest.mark.requirement("S-41", "S-44")
@pytest.mark.library_only("P-07")
def test_a_leaving_player_gets_back_only_bets_that_may_be_taken_down():
    bets = [
        ("pass", 5), ("odds-pass", 10), ("come-4", 3), ("odds-come-4", 9), ("dontcome-9", 4), ("odds-dontcome-9", 6),
        ("buy-5", 42), ("lay-10", 41), ("hard-8", 2), ("right-6", 12),
    ]  # fmt: skip
    given, state_left = load_game(QUEBEC).with_table_state(table(9, *bets)).rules.take_down_standing_bets()
    assert {(settlement.spot, settlement.credits, settlement.staked_credits) for settlement in given} == {
        ("odds-pass", 10, 10), ("odds-come-4", 9, 9), ("dontcome-9", 4, 4), ("odds-dontcome-9", 6, 6),
        ("buy-5", 40, 42), ("lay-10", 40, 41), ("hard-8", 2, 2), ("right-6", 12, 12),
    }  # fmt: skip
    assert {settlement.name for settlement in given} == {"taken down"}
    assert {settlement.spot: settlement.detail for settlement in given if settlement.detail} == {
        "buy-5": {"commission": 2},
        "lay-10": {"commission": 1},
    }
    assert state_left == table(9, ("come-4", 3), ("pass", 5))
    # any shooter may throw for the remaining bets without a stake
    assert list_settlements(throw(load_game(QUEBEC).with_table_state(state_left), 5, 2)) == [
        ("come-4", "lost", 0),
        ("pass", "lost", 0),
    ]
    given_again, still = load_game(QUEBEC).with_table_state(state_left).rules.take_down_standing_bets()
    assert (given_again, still) == ((), state_left)


@pytest.mark.requirement("S-41")
@pytest.mark.library_only("P-07")
def test_the_shooter_of_monaco_must_keep_the_minimum_bet_on_dont_pass():
    bets = (("dontpass", 7), ("odds-dontpass", 12))
    given, state_left = load_game(MONACO).with_table_state(table(4, *bets)).rules.take_down_standing_bets()
    assert [(settlement.spot, settlement.credits) for settlement in given] == [
        ("dontpass", 6),
        ("odds-dontpass", 12),
    ]
    assert state_left == table(4, ("dontpass", 1))
    given, state_left = load_game(QUEBEC).with_table_state(table(4, *bets)).rules.take_down_standing_bets()
    assert ([(settlement.spot, settlement.credits) for settlement in given], state_left) == (
        [("dontpass", 7), ("odds-dontpass", 12)],
        {"point": 4},  # others may throw for it still
    )


@pytest.mark.library_only("P-07")
def test_a_dont_come_bet_with_no_action_stays_in_the_come_box():
    game = load_game(MONACO)
    game_at_table = game.with_table_state(table(6, ("pass", 5)))
    outcome = throw(
        game_at_table, 6, 5, game_at_table.build_wager(4, bets={"dontcome": 4}, working={"dontcome": False})
    )
    assert (list_settlements(outcome), outcome.table_state) == (
        [],
        table(6, ("dontcome", 4), ("pass", 5), instructed=[(0, "dontcome")]),
    )
    game_at_table = game.with_table_state(outcome.table_state)
    with pytest.raises(WagerError, match=r"bets.dontcome: 4 credits stand there and may not be increased"):
        game_at_table.build_wager(1, bets={"dontcome": 1})
    plays = game_at_table.build_wager(0, bets={}, working={"dontcome": True})
    assert list_settlements(throw(game_at_table, 6, 5, plays)) == [("dontcome", "lost", 0)]
    assert throw(game_at_table, 6, 4, plays).table_state == table(6, ("dontcome-10", 4), ("pass", 5))
    assert list_settlements(throw(game_at_table, 6, 6, plays)) == [("dontcome", "push", 4)]
    # after the point is made, it is off during the come-out, whatever was requested
    come_out = game.with_table_state(throw(game_at_table, 3, 3).table_state)
    assert (
        throw(come_out, 2, 1, come_out.build_wager(0, bets={}, working={"dontcome": True})).settlements == ()
    )
    with pytest.raises(WagerError, match="'dontcome' is not a bet that a player can turn on or off"):
        load_game(QUEBEC).with_table_state(table(6, ("pass", 5))).build_wager(
            4, bets={"dontcome": 4}, working={"dontcome": False}
        )


@pytest.mark.library_only("P-07")
def test_the_pass_line_of_monaco_accepts_bets_after_the_point():
    game_at_table = load_game(MONACO).with_table_state(table(10, ("pass", 2)))
    assert list_settlements(
        throw(game_at_table, 4, 6, game_at_table.build_wager(20, bets={"pass": 8, "odds-pass": 12}))
    ) == [
        ("odds-pass", "won", 36),
        ("pass", "won", 20),
    ]
    with pytest.raises(WagerError, match=r"bets.pass: the spot is closed in the table's current state"):
        load_game(QUEBEC).with_table_state(table(10, ("pass", 2))).build_wager(8, bets={"pass": 8})


@pytest.mark.requirement("S-41", "S-43")
@pytest.mark.parametrize(
    ("house", "stands", "options", "reason"),
    [
        (
            QUEBEC,
            None,
            {"bets": {"field": 5}},
            "the shooter of a come-out must have a bet on pass or don't pass",
        ),
        (QUEBEC, None, {"bets": {"come": 5}}, r"bets.come: the spot is closed"),
        (QUEBEC, None, {"bets": {"pass": 5, "odds-pass": 5}}, r"bets.odds-pass: the spot is closed"),
        (
            QUEBEC,
            table(6, ("pass", 5)),
            {"bets": {"odds-pass": 30}},
            r"odds-pass: 30 credits staked; the bet on 'pass' allows 25 at most",
        ),
        (
            QUEBEC,
            table(6, ("pass", 5)),
            {"bets": {"odds-pass": 6}},
            r"odds-pass: 6 credits: not a multiple of 5",
        ),
        (
            QUEBEC,
            table(6, ("pass", 5)),
            {"bets": {"odds-come-4": 1}},
            r"odds-come-4: needs a bet on 'come-4'",
        ),
        (
            QUEBEC,
            table(6, ("pass", 5)),
            {"bets": {"pass": -1}},
            r"bets.pass: a bet there may not be taken down",
        ),
        (
            QUEBEC,
            table(6, ("come-4", 5)),
            {"bets": {"come-4": -5}},
            r"come-4: a bet there may not be taken down",
        ),
        (QUEBEC, table(6, ("dontpass", 5)), {"bets": {"dontpass": 5}}, r"dontpass: the spot is closed"),
        (QUEBEC, table(6, ("dontpass", 5)), {"bets": {"dontpass": -5}}, "all bets would be taken down"),
        (
            QUEBEC,
            table(6, ("dontpass", 5), ("odds-dontpass", 6)),
            {"bets": {"dontpass": -5}},
            r"odds-dontpass: needs a bet on 'dontpass'",
        ),
        (
            QUEBEC,
            table(6, ("dontpass", 5), ("odds-dontpass", 30)),
            {"bets": {"dontpass": -1}},
            r"odds-dontpass: 30 credits staked; the bet on 'dontpass' allows 24 at most",
        ),
        (
            MONACO,
            table(6, ("dontpass", 5)),
            {"bets": {"dontpass": -5, "field": 1}},
            "the shooter must leave 1 credit there",
        ),
        (MONACO, None, {"bets": {"pass": 5, "hop-1-1": 1}}, "there is no spot 'hop-1-1'"),
        (
            QUEBEC,
            None,
            {"bets": {"pass": 5, "buy-4": 20}},
            r"buy-4: would be 20 credits; 21 to 987 may be staked",
        ),
        (QUEBEC, None, {"bets": {"pass": 5, "right-6": 7}}, r"right-6: 7 credits: not a multiple of 6"),
        (
            QUEBEC,
            None,
            {"bets": {"pass": 5}, "working": {"hard-4": True}},
            r"working.hard-4: no bet stands there",
        ),
        (
            QUEBEC,
            None,
            {"bets": {"pass": 5}, "working": {"pass": True}},
            "'pass' is not a bet that a player can turn on or off",
        ),
        (
            QUEBEC,
            None,
            {"bets": {"pass": 5, "hard-4": 1}, "working": {"hard-4": 1}},
            "hard-4: must be true or false, not 1",
        ),
        (QUEBEC, None, {"bets": {"pass": 5}, "working": [1]}, "working: must map spots to true or false"),
        (QUEBEC, None, {"bets": {}}, "at least one bet must be staked, because no bet stands"),
        (QUEBEC, table(6, ("pass", 5)), {}, r"pass: the spot is closed"),
    ],
)
@pytest.mark.library_only("P-07")
def test_a_bet_that_the_table_does_not_accept_now_is_refused(house, stands, options, reason):
    game = load_game(house).with_table_state(stands)
    cost = sum(credits_ for credits_ in options.get("bets", {"": 25}).values() if credits_ > 0)
    with pytest.raises(WagerError, match=reason):
        game.build_wager(cost, **options)


@pytest.mark.library_only("P-07")
def test_the_preset_bet_is_the_first_that_the_table_accepts_now():
    game = load_game(QUEBEC)
    assert game.build_wager(1).options == {"bets": {"pass": 1}}
    assert game.with_table_state(table(6, ("pass", 1))).build_wager(1).options == {"bets": {"field": 1}}
    assert game.build_wager(5, form="dontpass-5").options == {"bets": {"dontpass": 5}}
    with pytest.raises(WagerError, match=r"no bet of 3 credits; the game offers \[1, 5, 25\]"):
        game.build_wager(3)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "must have point, shooter, bets"),
        (table(7, ("pass", 1)), "7 is not a point"),
        (table(6.0, ("pass", 1)), "6.0 is not a point"),
        (table(6, ("pass", 1), shooter=8), "the shooter's seat 8 does not exist"),
        ({"points": 6}, "must have point, shooter, bets"),
        ({"point": 7}, "7 is not a point"),
        (table(None, ("pass", 1)), "the bet on 'pass' cannot stand after a throw with point None"),
        (table(None, ("odds-pass", 1)), "the bet on 'odds-pass' cannot stand after a throw"),
        (table(6, ("field", 1)), "the bet on 'field' cannot stand after a throw"),
        (table(6, ("come", 1)), "the bet on 'come' cannot stand after a throw"),
        (table(6, ("dontcome", 1)), "the bet on 'dontcome' cannot stand after a throw"),
        (table(6, ("pass", 1), ("pass", 1)), "the table cannot be in this state after a throw"),
        (table(6, ("pass", 1), ("odds-pass", 1)), "not a multiple of 5"),
        (table(6, ("pass", 1), ("odds-pass", 10)), "outside the limits"),
        (table(6, ("odds-pass", 5)), "but none on 'pass'"),
        (table(6, ("odds-come-4", 1)), "but none on 'come-4'"),
        (table(6, ("right-6", 7)), "not a multiple of 6"),
        (table(6, ("pass", 1001)), "outside the limits"),
        (table(6, ("pass", 1), instructed=[(0, "pass")]), "the bet on 'pass' cannot stand after a throw"),
        (
            table(6, ("pass", 1), instructed=[(0, "hard-4")]),
            "the table cannot be in this state after a throw",
        ),
        (table(6, ("pass", 1), instructed=["x"]), "'told': "),
        (table(6, ("pass", 0)), "stored standing bet is on no spot or seat of this table, or has no stake"),
        (
            table(6, ("nowhere", 1)),
            "stored standing bet is on no spot or seat of this table, or has no stake",
        ),
    ],
)
@pytest.mark.library_only("P-07")
def test_a_table_state_that_no_throw_can_leave_is_refused(data, reason):
    with pytest.raises(ValueError, match=reason):
        load_game(QUEBEC).with_table_state(data)


@pytest.mark.requirement("S-41")
@pytest.mark.library_only("P-07")
def test_seats_share_the_dice_and_the_point_and_have_separate_settlements():
    game = build_changed_game(QUEBEC, lambda data: data.update(table={"seats": 3, "most_win": 500}))
    seats = {"0": {"pass": 5, "hard-6": 1}, "2": {"dontpass": 10, "hard-6": 2}}
    wager = game.build_wager(18, seats=seats, working={"2": {"hard-6": True}})
    assert type(wager).from_json(json.loads(json.dumps(wager.to_json()))) == wager
    outcome = throw(game, 3, 3, wager)
    assert [(s.seat, s.spot, s.name, s.credits) for s in outcome.settlements] == [(2, "hard-6", "won", 20)]
    assert outcome.table_state["bets"] == [
        {"spot": "hard-6", "credits": 1},
        {"spot": "pass", "credits": 5},
        {"spot": "dontpass", "credits": 10, "seat": 2},
    ]
    game_at_table = game.with_table_state(outcome.table_state)
    odds_wager = game_at_table.build_wager(16, seats={"0": {"odds-pass": 10}, "2": {"odds-dontpass": 6}})
    outcome = throw(game_at_table, 5, 2, odds_wager)
    assert [(s.seat, s.spot, s.credits) for s in outcome.settlements] == [
        (0, "hard-6", 0), (0, "odds-pass", 0), (0, "pass", 0), (2, "dontpass", 20), (2, "odds-dontpass", 11),
    ]  # fmt: skip
    # the dice go on after the seven, to the next seat that bets on the line
    assert outcome.table_state == {"shooter": 1}
    game_at_table = game.with_table_state(outcome.table_state)
    assert (
        throw(
            game_at_table, 2, 2, game_at_table.build_wager(10, seats={"0": {"pass": 5}, "2": {"pass": 5}})
        ).display["shooter"]
        == 2
    )
    assert (
        throw(game_at_table, 2, 2, game_at_table.build_wager(5, seats={"0": {"pass": 5}})).display["shooter"]
        == 0
    )
    with pytest.raises(
        WagerError, match="the round could return 510 credits to seat 1; the table allows 500 at most"
    ):
        game.build_wager(75, seats={"0": {"pass": 45}, "1": {"craps-12": 15, "field": 15}})
    with pytest.raises(WagerError, match="the shooter of a come-out"):
        game.build_wager(1, seats={"1": {"field": 1}})


@pytest.mark.library_only("P-07")
def test_only_the_shooter_of_monaco_must_keep_a_bet_on_dont_pass():
    game = build_changed_game(MONACO, lambda data: data.update(table={"seats": 2}))
    bets = (("dontpass", 5, 0), ("dontpass", 5, 1))
    given, state_left = game.with_table_state(table(6, *bets, shooter=1)).rules.take_down_standing_bets()
    assert [(settlement.seat, settlement.credits) for settlement in given] == [(0, 5), (1, 4)]
    assert state_left == table(6, ("dontpass", 1, 1), shooter=1)


@pytest.mark.parametrize(
    ("change", "key", "reason"),
    [
        (lambda d: bet_of(d, "odds-pass").pop("on"), r"bet.1", "odds must give `on`"),
        (lambda d: bet_of(d, "odds-pass")["pays"].pop("6"), r"bet.1", "a pay for every point"),
        (lambda d: bet_of(d, "odds-pass").update(on="field"), r"bet.1.on", "'field' is not a flat bet"),
        (
            lambda d: bet_of(d, "odds-come").update(on="pass"),
            "bet",
            "two bets of kind odds go with the same flat bet",
        ),
        (lambda d: bet_of(d, "field").update(id="horn"), "bet.19.id", "'horn' is listed twice"),
        (lambda d: bet_of(d, "come").update(kind="dontcome"), "bet", "two bets have the kind dontcome"),
        (
            lambda d: bet_of(d, "field")["pays"].update({"13": "1:1"}),
            r"bet.8",
            "'13' is not a key of a throw bet; expected 2, 3, .*",
        ),
        (
            lambda d: bet_of(d, "pass").update(pays={"4": "1:1"}),
            r"bet.0",
            "'4' is not a key of a pass bet; expected no keys",
        ),
        (lambda d: bet_of(d, "field").pop("pays"), r"bet.8", "a bet of kind throw must have pays"),
        (lambda d: bet_of(d, "field").update(off=True), r"bet.8", "off is only valid for odds and right"),
        (
            lambda d: bet_of(d, "field").update(least=2000),
            r"bet.8",
            "2,000 to 1,000 credits is not a valid range",
        ),
        (
            lambda d: bet_of(d, "hard").update(pays={"4": "7:400"}),
            "bet.12.most",
            "no bet within the limits of 'hard-4' is a multiple of 400",
        ),
        (lambda d: bet_of(d, "field").update(id="come-6"), "bet", "two spots have the id 'come-6'"),
        (lambda d: bet_of(d, "hard")["pays"].update({"4": "7 to 1"}), r"bet.12.pays.4", "is not valid odds"),
        (lambda d: d["form"][0].update(bets={"come": 1}), r"form.0", r"bets.come: the spot is closed"),
        (
            lambda d: d.update(bet=[bet_of(d, "field")]),
            "bet",
            "the shooter needs a bet of kind pass or dontpass",
        ),
    ],
)
@pytest.mark.library_only("P-07")
def test_an_invalid_craps_definition_is_refused(change, key, reason):
    with pytest.raises(DefinitionError, match=rf"f.toml: {key}.*: .*{reason}"):
        build_changed_game(QUEBEC, change)


@pytest.mark.requirement("C-02", "C-12", "C-22")
@pytest.mark.parametrize("house", [QUEBEC, MONACO])
@pytest.mark.library_only("P-07")
def test_the_help_states_every_pay_in_both_languages(house):
    game = load_game(house)
    definition = game.rules.definition
    for language, lines in definition.format_pay_table_rows().items():
        assert "\n\n".join(lines) in game.help[language]
        assert len(lines) == len(definition.bets)
    assert "Hard way : 8 fois la mise, mise comprise (4, 10) ; 10 fois" in load_game(MONACO).help["fr"]
    assert "Horn: 27 to 4 (2, 12); 3 to 1 (3, 11)" in load_game(QUEBEC).help["en"]


@pytest.mark.library_only("P-07")
def test_the_felt_shows_which_spots_are_open_and_which_have_won():
    game_at_table = load_game(QUEBEC).with_table_state(table(5, ("pass", 2)))
    shown = game_at_table.build_presentation()
    spots = {spot["id"]: spot for spot in shown["spots"]}
    assert (shown["felt"], shown["point"], shown["dice"]) == ("craps", 5, 2)
    assert (spots["pass"]["open"], spots["come"]["open"], spots["come-4"]["open"]) == (False, True, False)
    assert (spots["odds-pass"]["odds"], spots["odds-pass"]["step"], spots["odds-pass"]["needs"]) == (
        "3:2",
        2,
        "pass",
    )
    assert spots["pass"]["covers"] == ["5"]
    assert spots["horn"]["covers"] == ["2", "3", "11", "12"]
    assert spots["hop-2-3"]["covers"] == ["2-3"]
    assert spots["right-6"]["names"] == {"en": "Right bet 6", "fr": "Right bet 6"}
    assert load_game(QUEBEC).build_presentation()["point"] is None
