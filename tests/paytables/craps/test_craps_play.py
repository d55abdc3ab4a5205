"""Played craps against craps settled from the texts: every bet, every throw, every credit."""

import json
import random
from itertools import product

import pytest
from rigs.craps_text import (
    MONACO,
    OFF,
    QUEBEC,
    apply_changes,
    compute_take_down_return,
    kind_and_number,
    propose_changes,
    settle_throw,
)

from paytables import RecordingDrawSource, ReplayDrawSource, WagerError, load_game, play_with_choices

HOUSES = (QUEBEC, MONACO)


class Dice:
    """Draws from a seed, for reproducible tests."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def below(self, bound, purpose):
        return self.random.randrange(bound)


def choose_instructions(house, bets, instructed, chance):
    """Return the player's instructions about bets that are off, and in Monaco about a don't come bet."""
    instructions = {}
    for spot in bets:
        if (
            kind_and_number(spot)[0] in OFF[house] or (house == MONACO and spot == "dontcome")
        ) and chance.random() < 0.1:
            instructions[spot] = chance.random() < 0.5
            instructed = (
                (instructed | {spot}) if instructions[spot] == (spot != "dontcome") else instructed - {spot}
            )
    return instructions, instructed


def play_many(house, rounds, seed):
    """Play random bets for ``rounds`` throws, and compare every step with the text."""
    game, chance, dice = load_game(house), random.Random(seed), Dice(seed)
    spots = [spot.id for spot in game.rules.list_spots()]
    table, bets, point, instructed = None, {}, None, set()
    staked = returned = lost = played = refusal_count = bound = 0
    while played < rounds:
        now = game.with_table_state(table)
        change = propose_changes(house, spots, point, bets, chance)
        laid = apply_changes(house, point, bets, change)
        cost = sum(credits_ for credits_ in change.values() if credits_ > 0)
        if laid is None:
            with pytest.raises(WagerError):
                now.build_wager(cost, bets=change)
            refusal_count += 1
            continue
        instructions, instructed = choose_instructions(house, laid, instructed, chance)
        wager = now.build_wager(cost, bets=change, **({"working": instructions} if instructions else {}))
        most = now.rules.find_highest_round_return(wager)
        assert most <= bound or change
        bound = most
        draw = RecordingDrawSource(dice)
        outcome = play_with_choices(now.play(wager, draw), wager)
        a, b = (value + 1 for _, value, _ in draw.records)
        given, bets, after = settle_throw(house, laid, point, instructed, a, b)
        instructed = {spot for spot in instructed if spot in bets}
        assert sum(given.values()) <= bound
        taken = {spot: -credits_ for spot, credits_ in change.items() if credits_ < 0}
        seen = [
            (settlement.name == "taken down", settlement.spot, settlement.credits, settlement.staked_credits)
            for settlement in outcome.settlements
        ]
        expected = [
            (True, spot, compute_take_down_return(spot, credits_), credits_)
            for spot, credits_ in taken.items()
        ]
        expected += [(False, spot, credits_, laid[spot]) for spot, credits_ in given.items()]
        assert sorted(seen) == sorted(expected), (change, laid, point, (a, b))
        table = json.loads(json.dumps(outcome.to_json())).get("table")
        rules = game.with_table_state(table).rules
        assert {bet.spot: bet.credits for bet in rules.list_standing_bets()} == bets
        assert (rules.state.point, {spot for _, spot in rules.state.switched_bets}) == (after, instructed)
        point = after
        staked += cost
        returned += outcome.returned_credits
        lost += sum(
            settlement.staked_credits - settlement.credits
            for settlement in outcome.settlements
            if settlement.credits < settlement.staked_credits
        )
        returned -= sum(
            settlement.credits - settlement.staked_credits
            for settlement in outcome.settlements
            if settlement.credits > settlement.staked_credits
        )
        assert staked == returned + lost + sum(bets.values())
        if played % 50 == 0:
            replay = ReplayDrawSource(draw.records)
            assert (
                play_with_choices(now.play(type(wager).from_json(wager.to_json()), replay), wager) == outcome
            )
            replay.check_all_numbers_used()
        played += 1
    assert refusal_count < 2 * rounds


@pytest.mark.requirement("S-40", "S-41", "S-42", "S-43", "S-44", "P-01")
@pytest.mark.parametrize("house", HOUSES)
@pytest.mark.library_only("P-07")
def test_random_bets_and_throws_are_settled_as_the_text_says(house):
    play_many(house, 400, 18)


@pytest.mark.slow
@pytest.mark.parametrize("house", HOUSES)
@pytest.mark.library_only("P-07")
def test_a_hundred_thousand_throws_are_settled_as_the_text_says(house):
    play_many(house, 100_000, 181)


class Thrown:
    """Draws that throw these faces and store the bound of each draw."""

    def __init__(self, faces):
        self.faces, self.bounds = list(faces), []

    def below(self, bound, purpose):
        self.bounds.append(bound)
        return self.faces.pop(0) - 1


@pytest.mark.requirement("S-40")
@pytest.mark.parametrize(
    ("name", "bets", "dice"),
    [(QUEBEC, {"pass": 2}, 2), (MONACO, {"pass": 2}, 2), ("quebec-sic-bo", {"big": 5}, 3)],
)
def test_each_die_of_a_game_has_six_faces_and_its_own_draw(name, bets, dice):
    """Every possible throw comes from exactly one set of equally likely numbers below six."""
    game = load_game(name)
    wager, seen = game.build_wager(sum(bets.values()), bets=bets), set()
    for faces in product(range(1, 7), repeat=dice):
        draw = Thrown(faces)
        outcome = play_with_choices(game.play(wager, draw), wager)
        assert (draw.bounds, draw.faces) == ([6] * dice, [])
        assert sorted(outcome.display["dice"]) == sorted(faces)
        seen.add(faces)
    assert len(seen) == 6**dice
