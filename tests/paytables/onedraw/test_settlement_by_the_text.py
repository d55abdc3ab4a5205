"""Random bets on every table with one draw, settled by the product and independently as the texts say.

The settlements here are written from the by-law and the order, not from the code: they read a bet's name, decide
whether the result wins it, and know what is lost and what stands after a zero or a first hand.
"""

import json
import random
from collections import Counter
from collections.abc import Callable

import pytest

from paytables import (
    Choice,
    RecordingDrawSource,
    ReplayDrawSource,
    Round,
    Spot,
    WagerError,
    load_game,
    play_with_choices,
)

RED = {1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36}
SIMPLE = {
    "red": lambda n: n in RED,
    "black": lambda n: n not in RED,
    "even": lambda n: n % 2 == 0,
    "odd": lambda n: n % 2 == 1,
    "low": lambda n: n <= 18,
    "high": lambda n: n >= 19,
}
INSIDE = {"straight": 35, "split": 17, "street": 11, "corner": 8, "six": 5, "double": 1000, "triple": 10000}
#: Québec s. 95.24.
TOTALS = {4: 50, 5: 30, 6: 18, 7: 12, 8: 8, 9: 6, 10: 6, 11: 6, 12: 6, 13: 8, 14: 12, 15: 18, 16: 30, 17: 50}


def roulette(spot: str, drawn: str) -> tuple[int, int] | None:
    """Return the odds to one of a bet on a wheel of 36 numbers and zeros, or None if it loses."""
    kind, *parts = spot.split("-")
    n = 0 if drawn == "00" else int(drawn)
    if spot.startswith("first-"):
        four = "00" if spot == "first-five" else "0"
        return (6 if spot == "first-five" else 8, 1) if drawn in {four, "0", "1", "2", "3"} else None
    if kind == "six":
        return (5, 1) if drawn in parts[1:] else None
    if kind in INSIDE:
        return (INSIDE[kind], 1) if drawn in parts else None
    if not n:
        return None
    if kind in SIMPLE:
        return (1, 1) if SIMPLE[kind](n) else None
    here = (n - 1) // 12 + 1 if kind.startswith("dozen") else (n - 1) % 3 + 1
    odds = (1, 2) if kind.endswith("s") else (2, 1)
    return odds if here in map(int, parts) else None


def boule(spot: str, drawn: str) -> tuple[int, int] | None:
    n = int(drawn)
    if spot.startswith("straight-"):
        return (7, 1) if spot == f"straight-{n}" else None
    black = n in {1, 3, 6, 8}
    wins = {
        "red": not black,
        "black": black,
        "even": n % 2 == 0,
        "odd": n % 2 == 1,
        "low": n < 5,
        "high": n > 5,
    }
    return (1, 1) if n != 5 and wins[spot] else None


def big_wheel(spot: str, drawn: str) -> tuple[int, int] | None:
    return None if spot != drawn else (40, 1) if "joker" in spot else (int(spot), 1)


def fortune(spot: str, drawn: str) -> tuple[int, int] | None:
    odds = {"sun": 1, "moon": 2, "star": 4, "comet": 8, "north-star": 13}
    return (odds[spot], 1) if spot == drawn else None


def sic_bo(spot: str, drawn: str) -> tuple[int, int] | None:
    dice = [int(die) for die in drawn.split("-")]
    kind, *parts = spot.split("-")
    if spot == "any-triple":
        return (24, 1) if dice[0] == dice[1] == dice[2] else None
    if kind in {"small", "big"}:
        total = sum(dice) in (range(4, 11) if kind == "small" else range(11, 18))
        return (1, 1) if total and not dice[0] == dice[1] == dice[2] else None
    numbers = [int(n) for n in parts]
    on = sum(die == numbers[0] for die in dice)
    if kind == "duo":
        return (5, 1) if on and numbers[1] in dice else None
    if kind == "single":
        return (on, 1) if on else None
    if kind == "total":
        return (TOTALS[numbers[0]], 1) if sum(dice) == numbers[0] else None
    least, odds = {"triple": (3, 150), "double": (2, 8)}[kind]
    return (odds, 1) if on >= least else None


GAMES: dict[str, Callable[[str, str], tuple[int, int] | None]] = {
    "quebec-roulette-french": roulette,
    "quebec-roulette-english": roulette,
    "quebec-roulette-american": roulette,
    "quebec-roulette-double": roulette,
    "monaco-roulette-american": roulette,
    "monaco-roulette-european": roulette,
    "monaco-boule": boule,
    "monaco-big-wheel": big_wheel,
    "quebec-wheel-of-fortune": fortune,
    "quebec-sic-bo": sic_bo,
}


class Chance:
    """Draws from a seeded generator, because the game and not its randomness is tested."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def below(self, bound: int, purpose: str) -> int:
        del purpose
        return self.random.randrange(bound)


class Given:
    """Draws with numbers in a given order."""

    def __init__(self, *values: int) -> None:
        self.values = list(values)

    def below(self, bound: int, purpose: str) -> int:
        del bound, purpose
        return self.values.pop(0)


def lay_bets(pick: random.Random, spots: tuple[Spot, ...]) -> dict[str, int]:
    """Return random bets within the limits of their spots."""
    bets = {}
    for spot in pick.sample(spots, pick.randint(1, min(9, len(spots)))):
        steps = min(spot.bet_max, 40) - spot.bet_min
        bets[spot.id] = spot.bet_min + pick.randrange(steps // spot.bet_step + 1) * spot.bet_step
    return bets


def settle(
    pays: Callable[[str, str], tuple[int, int] | None],
    bets: list[tuple[str, int, int]],
    drawn: str,
    answers: list[str],
    *,
    zero_asks: bool,
) -> tuple[int, list[tuple[str, int, int]]]:
    """Return what ``(spot, stake, count)`` bets pay, and the bets that stand, as the texts say."""
    back, stands = 0, []
    for spot, stake, count in bets:
        odds = pays(spot, drawn)
        repeats = {"double": 2, "triple": 3}.get(spot.split("-")[0] if pays is roulette else "", 1)
        if repeats > 1 and odds and count + 1 < repeats:
            stands.append((spot, stake, count + 1))
        elif zero_asks and drawn == "0" and spot in SIMPLE:
            part = stake // 2 ** (count + 1)  # the half, the quarter, the eighth of the stake first laid
            may_stay = stake % 2 ** (count + 2) == 0  # while the next part is a whole number of credits
            if may_stay and answers.pop(0) == "prison":
                stands.append((spot, stake, count + 1))
            else:
                back += part
        elif zero_asks and spot in SIMPLE and count:
            back += (
                stake // 2 ** (count - 1) if odds else 0
            )  # freed, worth half as much for each zero but the first
        elif odds:
            back += stake + stake * odds[0] // odds[1]
    return back, stands


def rounds(name: str, count: int, seed: int) -> None:
    """Play and settle ``count`` rounds; the table state goes from one to the next through JSON."""
    game, pick, chance = load_game(name), random.Random(f"{name} {seed}"), Chance(seed)
    game_at_table, stood = game, []
    order = {spot.id: n for n, spot in enumerate(game.rules.list_spots())}
    for _ in range(count):
        bets = {} if stood and pick.random() < 0.3 else lay_bets(pick, game.rules.list_spots())
        cost = sum(bets.values())
        wager = game_at_table.build_wager(cost, bets=bets)
        draw = RecordingDrawSource(chance)
        played, answers = Round(game_at_table.play(wager, draw), wager), []
        played.advance()
        while played.decision is not None:
            assert set(played.decision.options) == {"half", "prison"}
            answers.append(pick.choice(["prison", "prison", "half"]))
            played.advance(Choice(answers[-1]))
        outcome = played.outcome
        assert outcome is not None
        choices = [Choice(answer) for answer in answers]
        replayed = play_with_choices(
            game_at_table.play(wager, ReplayDrawSource(json.loads(json.dumps(draw.records)))), wager, choices
        )
        assert replayed == outcome
        on = [*stood, *((spot, stake, 0) for spot, stake in bets.items())]
        on.sort(key=lambda bet: (order[bet[0]], -bet[2]))
        back, stood = settle(
            GAMES[name], on, outcome.display["result"], answers, zero_asks=name == "monaco-roulette-european"
        )
        assert outcome.returned_credits == back, (name, bets, outcome)
        assert not answers
        table = json.loads(json.dumps(outcome.table_state))
        held_bets = [] if table is None else table["held"]
        assert sorted((bet["spot"], bet["credits"], bet["count"]) for bet in held_bets) == sorted(stood)
        decided = sum(settlement.staked_credits for settlement in outcome.settlements) + sum(
            stake for _, stake, _ in stood
        )
        assert decided == sum(stake for _, stake, _ in on)
        game_at_table = game.with_table_state(table)
        assert sorted((bet.spot, bet.credits) for bet in game_at_table.rules.list_standing_bets()) == sorted(
            b[:2] for b in stood
        )


@pytest.mark.requirement(
    "P-07", "B-08", "S-36", "S-37", "S-38", "S-39", "S-40", "S-45", "S-48", "S-49", "P-01"
)
@pytest.mark.parametrize("name", GAMES)
def test_random_layouts_are_settled_as_the_text_says(name: str) -> None:
    rounds(name, 600, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_a_hundred_thousand_random_layouts_are_settled_as_the_text_says(name: str) -> None:
    rounds(name, 100_000, seed=2)


@pytest.mark.requirement("S-38", "S-39")
def test_repeats_and_every_level_of_prison_are_settled_as_the_text_says() -> None:
    """Random draws rarely reach these cases; here the numbers are given."""
    game = load_game("quebec-roulette-double")
    seventeen = game.rules.build_display_data()["wheel"].index("17")
    game_at_table, wager = game, game.build_wager(3, bets={"double-17": 2, "triple-17": 1})
    wins = []
    for _ in range(3):
        outcome = play_with_choices(game_at_table.play(wager, Given(seventeen)), wager)
        wins.append(outcome.returned_credits)
        game_at_table = game.with_table_state(outcome.table_state)
        if outcome.table_state is not None:
            wager = game_at_table.build_wager(0)
    assert wins == [0, 2 * 1001, 10_001]
    with pytest.raises(WagerError, match="at least one bet must be staked"):
        game_at_table.build_wager(0, bets={})

    game = load_game("monaco-roulette-european")
    game_at_table, wager, parts = game, game.build_wager(1024, bets={"red": 1024}), []
    while True:
        played = Round(game_at_table.play(wager, Given(0)), wager)
        played.advance()
        if played.decision is None:
            break
        parts.append(played.decision.prompt["credits"])
        assert (
            game_at_table.rules.take_down_standing_bets()[0] == ()
            if game_at_table is game
            else game_at_table.rules.take_down_standing_bets()[0][0].credits == 2 * parts[-1]
        )
        played.advance(Choice("prison"))
        game_at_table = game.with_table_state(played.outcome.table_state)  # type: ignore[union-attr]
        wager = game_at_table.build_wager(0)
    assert parts == [512, 256, 128, 64, 32, 16, 8, 4, 2]
    assert played.outcome is not None
    assert [(settlement.name, settlement.credits) for settlement in played.outcome.settlements] == [
        ("half", 1)
    ]
    assert played.outcome.table_state is None


@pytest.mark.requirement("S-38")
@pytest.mark.parametrize(("zeros", "returned"), [(0, 2048), (1, 1024), (2, 512), (3, 256), (4, 128)], ids=str)
def test_a_freed_stake_is_worth_half_as_much_for_each_zero_after_the_first(zeros: int, returned: int) -> None:
    """Monaco, art. 8.2: a stake in prison after one zero is freed whole; each further zero halves it."""
    game = load_game("monaco-roulette-european")
    red = game.rules.build_display_data()["wheel"].index("3")
    game_at_table, wager = game, game.build_wager(1024, bets={"red": 1024})
    for _ in range(zeros):
        outcome = play_with_choices(game_at_table.play(wager, Given(0)), wager, [Choice("prison")])
        assert outcome.returned_credits == 0
        game_at_table = game.with_table_state(outcome.table_state)
        wager = game_at_table.build_wager(0)
    assert play_with_choices(game_at_table.play(wager, Given(red)), wager).returned_credits == returned


NUMBERS = [str(n) for n in range(37)]
#: How many parts of each wheel have each number or sign, as the texts say.
WHEELS = {
    "quebec-roulette-french": Counter(NUMBERS),
    "quebec-roulette-english": Counter(NUMBERS),
    "quebec-roulette-american": Counter([*NUMBERS, "00"]),
    "quebec-roulette-double": Counter(NUMBERS),
    "monaco-roulette-american": Counter([*NUMBERS, "00"]),
    "monaco-roulette-european": Counter(NUMBERS),
    "monaco-boule": Counter(NUMBERS[1:10]),
    "monaco-big-wheel": Counter(
        {"1": 24, "2": 15, "5": 7, "10": 4, "20": 2, "joker-black": 1, "joker-yellow": 1}
    ),
    "quebec-wheel-of-fortune": Counter({"sun": 12, "moon": 8, "star": 5, "comet": 3, "north-star": 2}),
}


@pytest.mark.requirement("S-36", "S-48", "S-49", "B-09")
@pytest.mark.parametrize("name", WHEELS)
def test_one_number_is_drawn_and_each_part_of_the_wheel_is_as_likely_as_any_other(name: str) -> None:
    """One random number decides, among as many as there are parts, and each gives another part."""
    game, count = load_game(name), WHEELS[name].total()
    spot = game.rules.list_spots()[0]
    wager = game.build_wager(spot.bet_min, bets={spot.id: spot.bet_min})
    results = []
    for number in range(count):
        draw = RecordingDrawSource(Given(number))
        results.append(play_with_choices(game.play(wager, draw), wager).display["result"])
        assert [bound for bound, _, _ in draw.records] == [count]
    assert Counter(results) == WHEELS[name]


@pytest.mark.requirement("S-37")
@pytest.mark.parametrize("name", [name for name in GAMES if "roulette" in name])
def test_bets_are_settled_in_the_order_of_the_layout(name: str) -> None:
    game = load_game(name)
    spots = [spot for spot in game.rules.list_spots() if spot.group not in {"double", "triple"}]
    chosen = [spot for number, spot in enumerate(spots) if number % 20 == 0]
    bets = {spot.id: spot.bet_min for spot in reversed(chosen)}
    wager = game.build_wager(sum(bets.values()), bets=bets)
    part = next(n for n, result in enumerate(game.rules.build_display_data()["wheel"]) if result != "0")
    outcome = play_with_choices(game.play(wager, Given(part)), wager)
    assert [settlement.spot for settlement in outcome.settlements] == [spot.id for spot in chosen]
