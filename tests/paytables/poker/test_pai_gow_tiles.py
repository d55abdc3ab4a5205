"""Pai gow with tiles: the twenty combinations, the ranking of hands, and rounds settled from the by-law's text."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

import paytables
from paytables import (
    AnalysisDepth,
    Choice,
    RecordingDrawSource,
    ReplayDrawSource,
    Round,
    analyse,
    load_game,
    play_through,
)
from paytables.errors import AnalysisError
from paytables.game import build_game_from_json
from paytables.poker.tiles.tiles import (
    ALL_TILES,
    compute_strength,
    count_points,
    find_combination_rank,
    is_worthless_hand,
    list_settings,
)

FILE = Path(paytables.__file__).parent / "library" / "tables" / "quebec-pai-gow.toml"

#: Section 101, from the highest, as pips; where a tile may be one of several, all of them.
TEXT = [
    ("2-4", "1-2"),
    *((name, name) for name in ("6-6", "1-1", "4-4", "1-3", "5-5", "3-3", "2-2", "5-6", "4-6", "1-6", "1-5")),
    ("3-6", "4-5"),
    ("3-5", "2-6"),
    ("3-4", "2-5"),
    ("1-4", "2-3"),
    ("6-6", "4-5 3-6"),
    ("1-1", "4-5 3-6"),
    ("6-6", "2-6 3-5 4-4"),
    ("1-1", "2-6 3-5 4-4"),
]
#: Section 105, from the highest.
SINGLE = [
    "6-6",
    "1-1",
    "4-4",
    "1-3",
    "5-5",
    "3-3",
    "2-2",
    "5-6",
    "4-6",
    "1-6",
    "1-5",
    "3-6/4-5",
    "2-6/3-5",
    "2-5/3-4",
    "2-4",
    "1-4/2-3",
    "1-2",
]


def find_pair_rank(pair):
    """Return the place of two tiles in the text, or 21 if they are no combination."""
    for n, (first, second) in enumerate(TEXT, 1):
        for a, b in (pair, pair[::-1]):
            if a == first and b in second.split():
                return n
    return 21


def worth(pair):
    """Rank two tiles by ss. 101-105, greater for better: combination or points, then the higher tile."""
    sums = {0}
    for tile in pair:
        pips = sum(map(int, tile.split("-")))
        sums = {s + p for s in sums for p in ({3, 6} if tile in {"1-2", "2-4"} else {pips})}
    high = max(-next(n for n, names in enumerate(SINGLE) if tile in names.split("/")) for tile in pair)
    return (-find_pair_rank(pair), max(s % 10 for s in sums) if find_pair_rank(pair) == 21 else 0, high)


@pytest.mark.requirement("S-46")
def test_there_are_32_tiles_of_which_eleven_occur_twice():
    assert len(ALL_TILES) == 32
    assert sorted(set(ALL_TILES)) == sorted(tile for names in SINGLE for tile in names.split("/"))
    assert sum(ALL_TILES.count(tile) == 2 for tile in set(ALL_TILES)) == 11


@pytest.mark.requirement("S-46")
def test_two_tiles_are_ranked_in_the_order_of_the_text():
    """All 496 pairs are compared with all others, and judged from the text."""
    pairs = list(combinations(range(32), 2))
    judged = {pair: worth([ALL_TILES[tile] for tile in pair]) for pair in pairs}
    for pair in pairs:
        assert (find_combination_rank(pair) or 21) == find_pair_rank([ALL_TILES[tile] for tile in pair])
    for first, second in combinations(pairs, 2):
        found = compute_strength(*first) - compute_strength(*second)
        assert (found > 0) - (found < 0) == (judged[first] > judged[second]) - (
            judged[first] < judged[second]
        )


@pytest.mark.requirement("S-46")
def test_the_two_of_the_supreme_pair_count_three_or_six():
    index_by_name = {name: n for n, name in enumerate(ALL_TILES)}
    assert count_points((index_by_name["1-2"], index_by_name["6-6"])) == 8  # 6 + 12
    assert count_points((index_by_name["2-4"], index_by_name["6-6"])) == 8
    assert count_points((index_by_name["1-2"], index_by_name["5-6"])) == 7  # 6 + 11, not 3 + 11
    assert count_points((index_by_name["2-4"], index_by_name["3-3"])) == 9  # 3 + 6


@pytest.mark.requirement("S-47")
def test_the_high_hand_is_equal_or_better():
    for tiles in combinations(range(0, 32, 3), 4):
        ways = list_settings(tiles)
        assert 1 <= len(ways) <= 3
        assert all(low <= high for low, high, _ in ways)
        assert all(mask.bit_count() == 2 for *_, mask in ways)


@pytest.mark.requirement("S-47")
def test_a_low_hand_without_value_beats_no_other_low_hand():
    """Of two such hands, the one with the higher tile is stronger, but does not win."""
    rules = load_game(FILE).rules
    worthless = sorted(
        {
            strength
            for pair in combinations(range(32), 2)
            if is_worthless_hand(strength := compute_strength(*pair))
        }
    )
    assert len(worthless) > 1
    assert not rules.is_low_hand_better(worthless[-1], worthless[0])
    one_point = next(
        strength for pair in combinations(range(32), 2) if (strength := compute_strength(*pair)) // 32 == 1
    )
    assert rules.is_low_hand_better(one_point, worthless[-1])


@pytest.mark.parametrize(
    ("hand", "english", "french"),
    [(("4-6", "5-5"), "0 points", "0 point"), (("5-6", "4-6"), "1 point", "1 point")],
)
def test_points_of_a_hand_are_counted_in_both_languages(hand, english, french):
    low, high = (
        compute_strength(*(ALL_TILES.index(name) for name in pair)) for pair in (hand, ("1-2", "6-6"))
    )
    setting_texts = load_game("quebec-pai-gow").rules.describe_setting((low, high, 0))
    assert (setting_texts["en"].split(" / ")[0], setting_texts["fr"].split(" / ")[0]) == (english, french)


def compute_return(player, bank, stake):
    """Return what a stake pays (ss. 108-111); hands are pairs of tiles as (low, high)."""
    low = worth(player[0]) > worth(bank[0]) and worth(player[0])[:2] != (-21, 0)
    better = low + (worth(player[1]) > worth(bank[1]))
    return (0, stake, 2 * stake - stake // 20)[better]


@pytest.mark.requirement("S-47", "P-01:b")
def test_rounds_are_settled_as_the_text_says(seeded_draw):
    game = load_game(FILE)
    for n in range(300):
        stake = 20 * (1 + n % 4)
        wager = game.build_wager(stake, bets={"stake": stake})
        record, player = RecordingDrawSource(seeded_draw(f"tiles {n}")), seeded_draw(f"player {n}")
        round_ = Round(game.play(wager, record), wager)
        round_.advance()
        options = round_.decision.options[:-1]  # the last gives the stake up
        assert len(record.records) == 4  # the bank has not drawn yet
        answer = Choice(options[player.below(len(options), "set")])
        round_.advance(answer)
        hands = {
            hand["id"]: (hand["cards"][:2], hand["cards"][2:]) for hand in round_.outcome.display["hands"]
        }
        assert round_.outcome.returned_credits == compute_return(hands["player"], hands["bank"], stake)
        replay_draw = ReplayDrawSource(record.records)
        assert play_through(game, wager, replay_draw, [answer]) == round_.outcome
        replay_draw.check_all_numbers_used()


def test_the_best_setting_is_advised_and_agrees_with_the_figures(seeded_draw):
    """3,000 hands set by the advice, within four standard errors of the exact return."""
    game, draw = load_game(FILE), seeded_draw("advice")
    figures, bank = analyse(game, AnalysisDepth.PRIZES).bets
    assert bank.bet == "bank"
    wager = game.build_wager(20, bets={"stake": 20})
    won = sum(
        paytables.play_with_answers(
            game.play(wager, draw), wager, lambda decision: Choice(decision.prompt["advice"])
        ).returned_credits
        for _ in range(3000)
    )
    assert abs(won / 3000 - float(figures.mean_credits)) < 4 * (float(figures.variance) / 3000) ** 0.5


def test_seats_have_their_own_tiles_and_one_bank(seeded_draw):
    game = load_game(FILE)
    wager = game.build_wager(140, seats={str(seat): {"stake": 20} for seat in range(7)})
    round_ = Round(game.play(wager, seeded_draw("seven")), wager)
    round_.advance()
    while round_.decision is not None:
        round_.advance(Choice(round_.decision.prompt["house"]))
    hands = {hand["id"]: hand["cards"] for hand in round_.outcome.display["hands"]}
    assert sorted(tile for cards in hands.values() for tile in cards) == sorted(ALL_TILES)
    for settlement in round_.settlements:
        own_tiles = hands["player" if settlement.seat == 0 else f"player-{settlement.seat + 1}"]
        assert settlement.credits == compute_return(
            (own_tiles[:2], own_tiles[2:]), (hands["bank"][:2], hands["bank"][2:]), 20
        )


@pytest.mark.slow
def test_the_stored_figures_equal_newly_computed_figures():
    """35,960 hands against 20,475 of the bank's each, in seconds."""
    game = load_game(FILE)
    game.rules.verify()
    found, _ = analyse(game, AnalysisDepth.FULL).bets  # the other one is a player's bank
    proof = game.rules.definition.proved
    assert found.rtp - 1 == Fraction(19, 20) * Fraction(proof.win) - Fraction(proof.lose)
    assert found.worst_rtp < found.simplest_rtp < found.rtp < 1
    other = build_game_from_json(game.text.replace(proof.worst_mean, "1/2"), "other.toml")
    with pytest.raises(
        AnalysisError, match="quebec-pai-gow: proved: the stored figures differ from newly computed ones"
    ):
        other.rules.verify()


@pytest.mark.slow
def test_each_setting_of_one_hand_wins_and_loses_as_counted_from_the_text():
    """Each setting of one hand is counted from the text against all 20,475 hands of the bank."""
    game = load_game(FILE)
    counts = game.rules.definition.house_way
    index_by_name = {name: n for n, name in enumerate(ALL_TILES)}
    own_tiles = (index_by_name["6-6"], index_by_name["3-6"], index_by_name["1-2"], index_by_name["5-5"])

    def halves(tiles, mask):
        names = [ALL_TILES[tile] for tile in tiles]
        low = [name for n, name in enumerate(names) if mask >> n & 1]
        return low, [name for n, name in enumerate(names) if not mask >> n & 1]

    def level(pair):
        return 30 - find_pair_rank(pair) if find_pair_rank(pair) < 21 else worth(pair)[1]

    banks = []
    for tiles in combinations([tile for tile in range(32) if tile not in own_tiles], 4):
        ways = [halves(tiles, 1 << a | 1 << b) for a, b in combinations(range(4), 2)]
        ways = [(low, high) for low, high in ways if worth(low) <= worth(high)]
        most = max(
            counts.low_hand_worths[level(low)] + counts.high_hand_worths[level(high)] for low, high in ways
        )
        best = [
            way
            for way in ways
            if counts.low_hand_worths[level(way[0])] + counts.high_hand_worths[level(way[1])] == most
        ]
        banks.append(max(best, key=lambda way: (worth(way[0]), worth(way[1]))))
    for _, _, mask in list_settings(own_tiles):
        own_halves = halves(own_tiles, mask)
        results = [compute_return(own_halves, bank, 20) for bank in banks]
        assert len(results) == 20475
        found = sum(result - 20 for result in results)
        expected = _kernel_value(game, own_tiles, mask)
        assert found == expected


def _kernel_value(game, own_tiles, mask):
    """Return the same value from the product's own count."""
    from paytables.poker.tiles.solve import count_bank_hands

    hands, ways, found = count_bank_hands(game.rules.definition)
    n = hands.index(tuple(sorted(own_tiles)))
    turned = sum(1 << sorted(own_tiles).index(own_tiles[k]) for k in range(4) if mask >> k & 1)
    way = next(k for k, setting in enumerate(ways[n]) if setting[2] == turned)
    won, lost = found[n, way].tolist()
    return won * 19 - lost * 20
