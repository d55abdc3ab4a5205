"""Baccarat, war and red dog: exact returns, and games compared with settlements written from the rule texts."""

import json
from fractions import Fraction

import pytest
from rigs.rounds import list_undecided_stakes

from paytables import (
    AnalysisDepth,
    Choice,
    DefinitionError,
    RecordingDrawSource,
    ReplayDrawSource,
    Round,
    WagerError,
    analyse,
    build_game,
    load_game,
    play_with_choices,
)
from paytables.cards.card import RANK_LETTERS, Shoe, parse_card

GAMES = (
    "quebec-baccarat",
    "monaco-punto-2000",
    "monaco-punto-banco",
    "quebec-red-dog",
    "quebec-super-pan-9",
    "quebec-war",
)


def with_decks(name, decks):
    data = json.loads(load_game(name).text)
    data["shoe"] = {"decks": decks}
    return build_game(data, "test")


def compute_returns(game):
    return {bet.bet: bet.rtp for bet in analyse(game).bets}


@pytest.mark.requirement("S-13", "S-14:a", "S-19", "S-20", "S-24")
@pytest.mark.parametrize(
    ("name", "decks", "bet", "percent"),
    [
        ("monaco-punto-banco", 6, "punto", "98.7626"),
        ("monaco-punto-banco", 6, "banco", "98.9442"),
        ("monaco-punto-banco", 6, "tie", "85.5618"),
        pytest.param("monaco-punto-banco", 8, "punto", "98.7649", marks=pytest.mark.slow),
        pytest.param("monaco-punto-banco", 8, "banco", "98.9421", marks=pytest.mark.slow),
        pytest.param("monaco-punto-banco", 8, "tie", "85.6404", marks=pytest.mark.slow),
        ("monaco-punto-banco", 6, "punto-pair", "88.7460"),
        pytest.param("monaco-punto-banco", 8, "banco-pair", "89.6386", marks=pytest.mark.slow),
        ("monaco-punto-banco", 6, "pairs", "88.7460"),
        ("monaco-punto-2000", 6, "banco", "98.5452"),
        ("monaco-punto-2000", 8, "banco", "98.5419"),
        ("quebec-war", 6, "main", "97.6699"),
        ("quebec-war", 8, "main", "97.6602"),
        ("quebec-war", 6, "tie", "81.3505"),
        ("quebec-war", 8, "tie", "82.1687"),
        ("quebec-red-dog", 1, "ante", "96.8446"),
        ("quebec-red-dog", 2, "ante", "96.9234"),
        ("quebec-red-dog", 4, "ante", "97.1162"),
        ("quebec-red-dog", 6, "ante", "97.2022"),
        ("quebec-red-dog", 8, "ante", "97.2491"),
    ],
)
def test_the_return_of_each_game_is_the_published_one(name, decks, bet, percent):
    found = compute_returns(with_decks(name, decks))[bet]
    assert isinstance(found, Fraction)
    assert f"{float(found) * 100:.4f}" == percent


@pytest.mark.requirement("S-14:b")
@pytest.mark.parametrize(
    ("decks", "player", "bank"),
    [(6, "97.4064", "91.1421"), pytest.param(8, "97.4177", "91.1527", marks=pytest.mark.slow)],
)
def test_the_dragon_bonus_returns_the_published_figure_and_less_if_only_three_cards_count(
    decks, player, bank
):
    """Art. 13.9: a win that is no natural has three cards; under other rules two cards count too."""
    for name in ("monaco-punto-banco", "monaco-punto-2000"):
        data = json.loads(with_decks(name, decks).text)
        lettered = compute_returns(build_game(data, "test"))
        for bet in data["bet"][-2:]:
            bet["three_cards_only"] = False
        usual = compute_returns(build_game(data, "test"))
        assert f"{float(usual['punto-dragon']) * 100:.4f}" == player
        assert f"{float(usual['banco-dragon']) * 100:.4f}" == bank
        assert f"{float(lettered['punto-dragon']) * 100:.1f}" == "76.1"
        assert f"{float(lettered['banco-dragon']) * 100:.1f}" == "66.8"


def test_surrendering_half_the_stake_in_war_lowers_the_return():
    for decks, percent in ((6, "96.3023"), (8, "96.2651")):
        (war, _) = analyse(with_decks("quebec-war", decks)).bets
        assert f"{float(war.worst_rtp) * 100:.4f}" == percent


def test_the_win_distribution_of_a_wager_has_the_wagers_return_as_mean():
    game = load_game("monaco-punto-banco")
    wager = game.build_wager(
        45, bets={"punto": 20, "tie": 5, "punto-pair": 5, "banco-pair": 5, "banco-dragon": 10}
    )
    found = game.rules.analyse_wager(wager)
    assert sum(found.distribution.case_count_by_win.values()) == found.distribution.case_count
    apart = {bet.bet: bet.rtp * bet.cost_credits for bet in analyse(game).bets}
    mean = apart["punto"] + apart["tie"] + apart["punto-pair"] + apart["banco-pair"]
    assert found.rtp * 45 == mean + 2 * apart["banco-dragon"]


def test_the_highest_return_of_a_round_includes_stakes_added_by_a_decision():
    war, dog = load_game("quebec-war"), load_game("quebec-red-dog")
    assert (
        war.rules.find_highest_round_return(war.build_wager(11, bets={"main": 10, "tie": 1})) == 11 + 20 + 20
    )
    assert dog.rules.find_highest_round_return(dog.build_wager(10, bets={"ante": 10})) == 120
    baccarat = load_game("monaco-punto-banco")
    assert (
        baccarat.rules.find_highest_round_return(baccarat.build_wager(25, bets={"banco": 20, "tie": 5}))
        == 20 + 45
    )


# ---------------------------------------------------------------------------------- settled again, from the text
def points(cards):
    worth = {"A": 1, "T": 0, "J": 0, "Q": 0, "K": 0}
    return sum(worth.get(card[0]) if card[0] in worth else int(card[0]) for card in cards) % 10


def baccarat_by_the_text(bet, credits_, player, bank, game):
    p, b = points(player), points(bank)
    natural = {"player": len(player) == 2 and p >= 8, "bank": len(bank) == 2 and b >= 8}
    won = "player" if p > b else "bank" if b > p else "tie"
    paid_percent = {"monaco-punto-banco": 95, "monaco-punto-2000": 50 if b == 6 else 100}.get(game, 100)
    commission = (credits_ + 19) // 20 if game == "quebec-baccarat" else 0
    player_bet = credits_ * {"player": 2, "tie": 1, "bank": 0}[won]
    bank_bet = (
        credits_ + credits_ * paid_percent // 100 - commission if won == "bank" else credits_ * (won == "tie")
    )
    if not bet.endswith(("pair", "pairs", "dragon")):
        due = {"tie": 9 * credits_ * (won == "tie"), "punto": player_bet, "player": player_bet}
        return due.get(bet, bank_bet)
    if bet == "pairs":  # à cheval: half of the bet is on each
        return 6 * credits_ * sum(cards[0][0] == cards[1][0] for cards in (player, bank))
    side, cards = ("player", player) if bet.startswith("punto") else ("bank", bank)
    if bet.endswith("pair"):
        return 12 * credits_ * (cards[0][0] == cards[1][0])
    if all(natural.values()) and won == "tie":
        return credits_
    margin = {9: 21, 8: 9, 7: 8, 6: 5, 5: 4, 4: 2}.get(abs(p - b), 0)
    three_cards = margin if len(cards) == 3 else 0
    return 0 if won != side else credits_ * (2 if natural[side] else three_cards)


def count_cards_by_the_text(player, bank):
    """Return whether player and bank hold as many cards as the table of art. 13.6 requires."""
    p, b = points(player[:2]), points(bank[:2])
    if max(p, b) >= 8:
        return (2, 2)
    if p >= 6:
        return (2, 3 if b <= 5 else 2)
    third = points(player[2:])
    draws = {3: "012345679", 4: "234567", 5: "4567", 6: "67", 7: ""}
    return (3, 3 if b <= 2 or str(third) in draws[b] else 2)


def rounds_of(name, seeded_draw, count, choose, build_wager_from_chips):
    """Yield consecutive rounds with their cards, bets and settlements; check that each record replays equally."""
    game, table = load_game(name), None
    for seed in range(count):
        here = game.with_table_state(json.loads(json.dumps(table)))
        draw = RecordingDrawSource(seeded_draw(seed))
        wager = build_wager_from_chips(here, draw.source)
        played, choices, cues = Round(here.play(wager, draw), wager), [], []
        played.advance()
        while True:
            cues += played.cues
            if played.decision is None:
                break
            choices.append(Choice(choose(played.decision, seed)))
            played.advance(choices[-1])
        outcome = played.outcome
        replayed = ReplayDrawSource(draw.records)
        assert play_with_choices(here.play(wager, replayed), wager, choices) == outcome
        replayed.check_all_numbers_used()
        assert list_undecided_stakes(played) == ()
        table = outcome.table_state
        yield here, wager, played, cues


def some_bets(game, draw):
    bets = {}
    for spot in (spot for spot in game.rules.list_spots() if spot.accepts_bets):
        if not bets or draw.below(2, "player"):
            steps = (min(spot.bet_max, 200) - spot.bet_min) // spot.bet_step
            bets[spot.id] = spot.bet_min + spot.bet_step * draw.below(steps + 1, "player")
    bets = {
        k: v for k, v in bets.items() if game.rules.table_layout.spot_by_id[k].required_spot in {None, *bets}
    }
    return game.build_wager(sum(bets.values()), bets=bets)


def hold_baccarat(name, seeded_draw, count):
    for _, wager, played, cues in rounds_of(name, seeded_draw, count, None, some_bets):
        dealt = [(c.data["hand"], c.data["card"]) for c in cues if c.kind == "deal"]
        player = [card for hand, card in dealt if hand == "player"]
        bank = [card for hand, card in dealt if hand == "bank"]
        assert [hand for hand, _ in dealt[:4]] == ["player", "bank"] * 2
        assert (len(player), len(bank)) == count_cards_by_the_text(player, bank)
        due = {
            bet.spot: baccarat_by_the_text(bet.spot, bet.credits, player, bank, name) for bet in wager.bets
        }
        assert {settlement.spot: settlement.credits for settlement in played.settlements} == due


@pytest.mark.requirement("S-12", "S-13", "S-14:a", "S-14:b", "S-14:c", "P-01:b")
@pytest.mark.parametrize("name", ["quebec-baccarat", "monaco-punto-2000", "monaco-punto-banco"])
def test_baccarat_is_settled_as_the_text_says(name, seeded_draw):
    hold_baccarat(name, seeded_draw, 700)


def value(card):
    return RANK_LETTERS.index(card[0])


def hold_war(seeded_draw, count):
    warred = 0
    for _, wager, played, cues in rounds_of(
        "quebec-war", seeded_draw, count, lambda decision, seed: decision.options[seed % 2], some_bets
    ):
        dealt = [(c.data["hand"], value(c.data["card"])) for c in cues if c.kind == "deal"]
        players, banks = dealt[0][1], dealt[1][1]
        due, main = {}, wager.options["bets"].get("main", 0)
        if "tie" in wager.options["bets"]:
            due["tie"] = wager.options["bets"]["tie"] * (11 if players == banks else 0)
        if main and players != banks:
            due["main"] = main * 2 if players > banks else 0
        elif main and len(dealt) == 2:
            due["main"] = main // 2
        elif main:
            warred += 1
            (_, players), (_, banks) = dealt[2:]
            due["main"] = 0 if players < banks else 2 * main
            due["war"] = 0 if players < banks else main if players > banks else 2 * main
        assert {settlement.spot: settlement.credits for settlement in played.settlements} == due
    assert warred


@pytest.mark.requirement("S-24", "P-01:b")
def test_war_is_settled_as_the_text_says(seeded_draw):
    hold_war(seeded_draw, 700)


def hold_red_dog(seeded_draw, count):
    for _, wager, played, cues in rounds_of(
        "quebec-red-dog", seeded_draw, count, lambda decision, seed: decision.options[seed % 2], some_bets
    ):
        cards = [value(c.data["card"]) for c in cues if c.kind == "deal"]
        low, high = sorted(cards[:2])
        ante = wager.options["bets"]["ante"]
        if high - low == 1:
            times, dealt = 1, 2
        elif high == low:
            times, dealt = (12 if cards[2] == low else 1), 3
        else:
            pays = {1: 6, 2: 5, 3: 3}.get(high - low - 1, 2)
            times, dealt = (pays if low < cards[2] < high else 0), 3
        assert len(cards) == dealt
        assert {settlement.credits for settlement in played.settlements} == {ante * times}
        assert sum(settlement.staked_credits for settlement in played.settlements) == played.staked_credits


@pytest.mark.requirement("S-20", "P-01:b")
def test_red_dog_is_settled_as_the_text_says(seeded_draw):
    hold_red_dog(seeded_draw, 700)


def hold_super_pan(seeded_draw, count):
    worth = {"A": 1, "J": 0, "Q": 0, "K": 0}
    for _, wager, played, cues in rounds_of(
        "quebec-super-pan-9", seeded_draw, count, lambda decision, seed: decision.options[seed % 2], some_bets
    ):
        player_cards = [c.data["card"] for c in cues if c.kind == "deal" and c.data["hand"] == "player"]
        banks = [c.data["card"] for c in cues if c.kind == "flip"]
        hidden = [c for c in cues if c.kind == "deal" and c.data["card"] == "??"]
        banks += [c.data["card"] for c in cues if c.kind == "deal" and c.data["hand"] == "bank"][3:]
        p, b = (
            sum(worth.get(c[0]) if c[0] in worth else int(c[0]) for c in h) % 10
            for h in (player_cards, banks)
        )
        first = sum(worth.get(c[0]) if c[0] in worth else int(c[0]) for c in banks[:3]) % 10
        assert (len(hidden), len(banks)) == (3, 4 if first <= 5 else 3)
        assert not {c[0] for c in (*player_cards, *banks)} & {"7", "8", "9", "T"}
        stake = wager.credits
        due = stake if p == b else 0 if p < b else 2 * stake - (stake + 19) // 20
        assert [settlement.credits for settlement in played.settlements] == [due]


@pytest.mark.requirement("S-19", "P-01:b")
def test_super_pan_is_settled_as_the_text_says(seeded_draw):
    hold_super_pan(seeded_draw, 700)


def test_a_player_who_draws_like_the_bank_wins_as_often_as_the_bank():
    bet, worst, bank = analyse(load_game("quebec-super-pan-9")).bets
    assert (bank.bet, bank.rtp) == ("bank", 1)
    assert bet.distribution.case_count_by_win[0] == bet.distribution.case_count_by_win[39]
    assert (
        bet.simplest_rtp
        == bet.rtp
        == 1 - Fraction(bet.distribution.case_count_by_win[39], bet.distribution.case_count) / 20
    )
    assert f"{float(bet.rtp) * 100:.4f}" == "97.7983"
    assert bet.worst_rtp < bet.rtp
    assert (
        worst.simplest_rtp
        == worst.rtp
        == 1 - 2 * Fraction(worst.distribution.case_count_by_win[40], worst.distribution.case_count) / 21
    )


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_a_hundred_thousand_rounds_are_settled_as_the_texts_say(seeded_draw):
    for name in ("quebec-baccarat", "monaco-punto-2000", "monaco-punto-banco"):
        hold_baccarat(name, seeded_draw, 100_000)
    hold_war(seeded_draw, 100_000)
    hold_red_dog(seeded_draw, 100_000)
    hold_super_pan(seeded_draw, 100_000)


@pytest.mark.requirement("S-03")
def test_a_shoe_lasts_until_its_stop_card_and_is_burned_when_new(seeded_draw):
    lefts, burned = [], 0
    for game, _, played, cues in rounds_of("quebec-baccarat", seeded_draw, 200, None, some_bets):
        fresh = game.rules.table_state is None
        assert fresh == bool([c for c in cues if c.kind == "shuffle"])
        burned += fresh
        if played.outcome.table_state is not None:
            lefts.append(Shoe.from_json(played.outcome.table_state["shoe"]).cards_left)
    assert burned >= 2
    assert min(lefts) > 16


class FirstCard:
    """Draws that deal one given card of a full shoe first, and then follow another source."""

    def __init__(self, source, card, decks):
        self.source, self.number, self.purposes = source, parse_card(card) * decks, []

    def below(self, bound, purpose):
        self.purposes.append(purpose)
        return self.number if purpose == "burn" else self.source.below(bound, purpose)


@pytest.mark.requirement("S-03")
@pytest.mark.parametrize(("card", "away"), [("Ah", 1), ("2c", 2), ("9s", 9), ("Td", 10), ("Kc", 10)])
def test_a_new_shoe_burns_as_many_cards_as_its_first_card_counts(card, away, seeded_draw):
    game = load_game("quebec-baccarat")
    bets = dict(game.rules.definition.preset_bets[0].bets)
    wager, draw = game.build_wager(sum(bets.values()), bets=bets), FirstCard(seeded_draw(card), card, 8)
    play_with_choices(game.play(wager, draw), wager)
    assert [purpose for purpose in draw.purposes if purpose.startswith("burn")] == [
        "burn",
        *(f"burn {n}" for n in range(1, away + 1)),
    ]


def test_a_super_pan_definition_whose_shoe_lasts_or_is_burned_is_refused():
    for shoe in ({"stop": 40}, {"burn": True}, {"decks": 1, "rounds": 2}):
        data = json.loads(load_game("quebec-super-pan-9").text)
        data |= {"shoe": shoe, "table": {"seats": 3}}
        with pytest.raises(DefinitionError, match="shuffled for every round"):
            build_game(data, "test")


@pytest.mark.requirement("S-03")
def test_a_single_deck_is_shuffled_after_every_second_round(seeded_draw):
    """Québec s. 8: with at most three players, a single deck is shuffled after every second round."""
    data = json.loads(load_game("quebec-red-dog").text)
    data |= {"shoe": {"decks": 1, "rounds": 2}, "table": {"seats": 3}}
    game, table, shuffled, lefts = build_game(data, "test"), None, [], []
    for seed in range(6):
        here = game.with_table_state(json.loads(json.dumps(table)))
        wager = here.build_wager(1)
        played = Round(here.play(wager, seeded_draw(seed)), wager)
        played.advance()
        shuffled.append(bool([cue for cue in played.cues if cue.kind == "shuffle"]))
        while played.decision is not None:
            played.advance(Choice("stand"))
        table = played.outcome.table_state
        lefts.append(table and sum(table["shoe"].values()))
    assert shuffled == [True, False] * 3
    assert all(49 <= count <= 50 for count in lefts[::2])
    assert lefts[1::2] == [None] * 3
    once = load_game("quebec-red-dog")
    with pytest.raises(ValueError, match="shuffled before"):
        once.with_table_state({"shoe": {"As": 1}})


@pytest.mark.parametrize(
    ("shoe", "seats", "reason"),
    [
        ({"decks": 2, "rounds": 2}, 1, "one deck"),
        ({"decks": 1, "rounds": 2, "stop": 20}, 1, "one deck"),
        ({"decks": 1, "rounds": 2}, 4, "3 players at most, not 4"),
        ({"decks": 1, "rounds": 3}, 1, "rounds"),
    ],
)
def test_a_single_deck_for_two_rounds_with_too_many_seats_is_refused(shoe, seats, reason):
    for name in ("quebec-red-dog", "quebec-blackjack"):
        data = json.loads(load_game(name).text)
        data.update(shoe=shoe, table={"seats": seats})
        with pytest.raises(DefinitionError, match=reason):
            build_game(data, "test")


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"shoe": {"As": 33, "2c": 8}}, "the shoe has 33 cards As"),
        ({"shoe": {"As": 3}}, "shuffled before"),
        ({"shoe": {"??": 3}}, "not a card"),
        ({"shoe": {"As": -1}}, "not a count"),
        ({"cards": {}}, "must list its cards"),
        ([], "must list its cards"),
    ],
)
def test_a_table_state_that_no_round_can_leave_is_refused(table, reason):
    with pytest.raises(ValueError, match=reason):
        load_game("quebec-baccarat").with_table_state(table)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d["bet"][0].update(pays_six="1:2"), "are only valid for a bet on the bank"),
        (lambda d: d["bet"][0].update(margins={"4": "1:1"}), "a dragon bonus must have margins from 1 to 9"),
        (lambda d: d["bet"][1].update(id="punto"), "listed twice"),
        (lambda d: d["bet"][1]["limits"].update(step=10), "does not pay whole credits"),
        (lambda d: d["shoe"].update(stop=400), "behind the stop card"),
        (lambda d: d["form"][0].update(bets={"punto": 5}), "20 to 2,000"),
    ],
)
def test_a_definition_that_cannot_be_played_is_refused(change, reason):
    data = json.loads(load_game("monaco-punto-banco").text)
    change(data)
    with pytest.raises(DefinitionError, match=reason):
        build_game(data, "test")


@pytest.mark.parametrize("spread", ["0", "12"])
def test_a_spread_that_two_cards_cannot_have_is_refused(spread):
    data = json.loads(load_game("quebec-red-dog").text)
    data["ante"]["spreads"][spread] = "9:1"
    with pytest.raises(DefinitionError, match="spreads"):
        build_game(data, "test")


def test_a_wager_the_table_does_not_take_is_refused():
    game = load_game("monaco-punto-banco")
    for bets, reason in (
        ({"punto": 7}, "20 to 2,000"),
        ({"punto": 30}, "not a multiple"),
        ({"nine": 5}, "no spot"),
    ):
        with pytest.raises(WagerError, match=reason):
            game.build_wager(sum(bets.values()), bets=bets)


@pytest.mark.requirement("C-02", "C-12", "C-22")
@pytest.mark.parametrize("name", GAMES)
def test_the_rules_read_by_the_player_name_every_pay(name):
    game = load_game(name)
    for code in ("en", "fr"):
        assert "{pays}" not in game.help[code]
        for odds in {spot.odds for spot in game.rules.list_spots()}:
            assert odds in game.help[code]


@pytest.mark.parametrize(
    ("name", "bet", "per"), [("quebec-super-pan-9", "stake", 20), ("quebec-baccarat", "bank", 20)]
)
def test_the_lowest_stated_return_includes_the_commission_on_a_part_of_its_unit(name, bet, per):
    """On 21 credits the commission is that of 40; no accepted stake may return less than the stated minimum."""
    game = load_game(name)
    figures = {bet.bet: bet for bet in analyse(game, AnalysisDepth.RETURN).bets}
    worst = figures[f"{bet} of {per + 1}"]
    assert worst.cost_credits == per + 1
    assert worst.rtp < figures[bet].rtp - Fraction(1, 100)
    for stake in (20, 21, 22, 39, 40, 41, 60, 61, 1000, 1001):
        wager = game.build_wager(stake, bets={bet: stake})
        assert game.rules.analyse_wager(wager).rtp >= worst.rtp


def test_a_stake_that_would_leave_half_a_credit_is_refused():
    """A surrender returns half of the stake, so that odd stakes are refused; a commission must be stated."""
    war = json.loads(load_game("quebec-war").text)
    war["main"]["limits"] = {"least": 1, "most": 1000, "step": 1}
    with pytest.raises(DefinitionError, match=r"main\.limits\.step.* 1 is not even"):
        build_game(war, "war.toml")
    tiles = json.loads(load_game("quebec-pai-gow").text)
    tiles["stake"] = {"least": 1, "most": 1000, "step": 1}
    game = build_game(tiles, "tiles.toml")
    stated = {bet.cost_credits: bet.rtp for bet in analyse(game, AnalysisDepth.RETURN).bets}
    worst = min(stated.values())
    for stake in (1, 2, 3, 10, 19, 20, 21, 1000):
        assert game.rules.analyse_wager(game.build_wager(stake, bets={"stake": stake})).rtp >= worst
