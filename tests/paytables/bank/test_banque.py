"""Banque à tout va: rounds settled independently from the order's text, what each seat sees, and exact figures."""

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from rigs.cards import remove_cards

from paytables import (
    Choice,
    Decision,
    DefinitionError,
    Settlement,
    WagerError,
    analyse,
    build_game,
    load_game,
)
from paytables.cards.card import Shoe, parse_cards
from paytables.contract import Cue

GAME = "monaco-banque-a-tout-va"
TABLEAUX = ("tableau-1", "tableau-2")
BACK = "??"
#: The banker's published table, written again: third cards against which the banker draws, "-" for none.
BANKER = {**dict.fromkeys(range(3), "-0123456789"), 3: "-012345679", 4: "-234567", 5: "-4567", 6: "67"}


def points(cards):
    worth = {"A": 1, "T": 0, "J": 0, "Q": 0, "K": 0}
    return sum(worth[card[0]] if card[0] in worth else int(card[0]) for card in cards) % 10


class Chosen:
    """Draws that deal these cards of a full shoe by hand: ``{"tableau-1": "5s Kd 2c"}``."""

    def __init__(self, random, shoe, **hands):
        self.random, self.shoe = random, Shoe(list(shoe.counts))
        self.wanted = {name.replace("_", "-"): list(parse_cards(cards)) for name, cards in hands.items()}
        self.purposes = []

    def below(self, bound, purpose):
        self.purposes.append(purpose)
        hand, _, _ = purpose.partition(" ")
        card = self.wanted[hand].pop(0) if self.wanted.get(hand) else None
        if card is None:
            return self.random.below(bound, purpose)
        value = sum(self.shoe.counts[:card])
        remove_cards(self.shoe, card)
        return value


def play(game, wager, draw, answer):
    """Return all steps of a round and its outcome."""
    steps, generator, choice = [], game.play(wager, draw), None
    while True:
        try:
            step = generator.send(choice)
        except StopIteration as end:
            return steps, end.value
        choice = Choice(answer(step)) if isinstance(step, Decision) else None
        steps.append(step)


def bet_seats(game, seats):
    return game.build_wager(sum(sum(bets.values()) for bets in seats.values()), seats=seats)


def collect_hands(steps):
    """Return the final cards of each hand, and the order in which cards were dealt."""
    hands, order = {}, []
    for step in steps:
        if isinstance(step, Cue) and step.kind == "deal":
            hands.setdefault(step.data["hand"], []).append(step.data["card"])
            order.append(step.data["hand"])
        elif isinstance(step, Cue) and step.kind == "flip":
            hands[step.data["hand"]][step.data["index"]] = step.data["card"]
    return hands, order


# ---------------------------------------------------------------------------------- settled again, from the text
def some_seats(game, draw):
    """Return random bets of one to five seats on any spots."""
    seats = {}
    for seat in range(8):
        if draw.below(3, "seat") == 0 or (seat == 7 and not seats):
            spots = [spot.id for spot in game.rules.list_spots() if draw.below(2, "spot")] or ["a-cheval"]
            seats[str(seat)] = {spot: 10 + 2 * draw.below(20, "bet") for spot in spots}
    return seats


def holder_by_the_text(tableau, seats):
    for spot in (tableau, "a-cheval"):
        for seat in sorted(map(int, seats)):
            if spot in seats[str(seat)]:
                return seat
    return None


def third_by_the_text(hand, holder, answers):
    """Return whether a tableau draws: never above five, always below five, by its holder's choice at five."""
    total = points(hand[:2])
    return total < 5 or (total == 5 and (holder is None or answers[holder] == "draw"))


def compute_due_by_the_text(spot, stake, compared):
    """Return what a bet pays: even money on one tableau; à cheval by the numbers of wins, ties and losses (12.9)."""
    if spot in TABLEAUX:
        return {1: 2 * stake, 0: stake, -1: 0}[compared[TABLEAUX.index(spot)]]
    won, lost = compared.count(1), compared.count(-1)
    gains = {(2, 0): stake, (1, 0): stake // 2, (0, 1): -stake // 2, (0, 2): -stake}
    return stake + gains.get((won, lost), 0)


def check_rounds(seeded_draw, count):
    """Play rounds from shoe to shoe; check that they are dealt, drawn and settled as article 12 says."""
    game, table, seen = load_game(GAME), None, Counter()
    for seed in range(count):
        here, draw = game.with_table_state(json.loads(json.dumps(table))), seeded_draw(seed)
        seats = some_seats(here, draw)
        answers = {seat: ("draw", "stand")[draw.below(2, "answer")] for seat in range(8)}
        askings = []

        def answer(decision, askings=askings, answers=answers):
            askings.append((decision.prompt["hand"], decision.seat))
            return answers[decision.seat]

        cards_left = 312 if table is None else Shoe.from_json(table["shoe"]).cards_left
        steps, outcome = play(here, bet_seats(here, seats), draw, answer)
        hands, order = collect_hands(steps)
        assert order[:6] == [*TABLEAUX, "bank"] * 2
        assert BACK not in {card for cards in hands.values() for card in cards}
        holders = {name: holder_by_the_text(name, seats) for name in TABLEAUX}
        assert askings == [
            (name, holders[name])
            for name in TABLEAUX
            if points(hands[name][:2]) == 5 and holders[name] is not None
        ]
        signs = ""
        for name in TABLEAUX:
            third = third_by_the_text(hands[name], holders[name], answers)
            assert len(hands[name]) == 2 + third
            signs += str(points(hands[name][2:])) if third else "-"
        banks = BANKER.get(points(hands["bank"][:2]), "")
        assert len(hands["bank"]) == 2 + any(sign in banks for sign in signs)
        third = [name for name in (*TABLEAUX, "bank") if len(hands[name]) == 3]
        assert order[6:] == third
        compared = [int(np.sign(points(hands[name]) - points(hands["bank"]))) for name in TABLEAUX]
        due = {
            (int(seat), spot): compute_due_by_the_text(spot, stake, compared)
            for seat, bets in seats.items()
            for spot, stake in bets.items()
        }
        settled = [step for step in steps if isinstance(step, Settlement)]
        assert {(settlement.seat, settlement.spot): settlement.credits for settlement in settled} == due
        assert [settlement.staked_credits for settlement in settled] == [
            seats[str(settlement.seat)][settlement.spot] for settlement in settled
        ]
        seen.update(settlement.name for settlement in settled)
        cards_left -= len(order)
        assert (outcome.table_state is None) == (cards_left < 9)
        assert outcome.display.get("last_of_shoe", False) == (9 <= cards_left <= 10)
        seen["last round"] += cards_left in {9, 10}
        table = outcome.table_state
    assert set(seen) == {"won", "half won", "push", "half", "lost", "last round"}


@pytest.mark.requirement("S-52", "P-01:b")
def test_rounds_are_dealt_drawn_and_settled_as_the_text_says(seeded_draw):
    check_rounds(seeded_draw, 700)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_a_hundred_thousand_rounds_are_settled_as_the_text_says(seeded_draw):
    check_rounds(seeded_draw, 100_000)


# ---------------------------------------------------------------------------------- holders of hands, and views
@pytest.mark.requirement("S-52")
def test_the_holder_of_a_tableau_is_asked_at_five_and_everyone_who_bets_on_it_is_bound(seeded_draw):
    game = load_game(GAME)
    seats = {"1": {"a-cheval": 10}, "2": {"tableau-2": 10}, "4": {"tableau-2": 20, "tableau-1": 10}}
    cards = {"tableau_1": "2s 3s 4s", "tableau_2": "4h Ad Tc", "bank": "Kd 7d"}
    askings = []

    def stand(decision):
        askings.append((decision.seat, decision.prompt["hand"], decision.options, decision.default_option))
        return "stand"

    deal = Chosen(seeded_draw(1), Shoe.from_decks(6), **cards)
    steps, outcome = play(game, bet_seats(game, seats), deal, stand)
    options = ("draw", "stand")
    assert askings == [(4, "tableau-1", options, "draw"), (2, "tableau-2", options, "draw")]
    assert outcome.display["result"] == "5-5-7"
    assert {step.name for step in steps if isinstance(step, Settlement)} == {"lost"}
    deal = Chosen(seeded_draw(1), Shoe.from_decks(6), **cards)
    steps, outcome = play(game, bet_seats(game, seats), deal, lambda decision: decision.default_option)
    assert outcome.display["result"] == "9-5-7"
    names = {(step.seat, step.spot): step.name for step in steps if isinstance(step, Settlement)}
    assert names[4, "tableau-1"] == "won"
    assert names[1, "a-cheval"] == "push"  # one tableau wins, the other loses
    assert names[2, "tableau-2"] == "lost"


@pytest.mark.requirement("S-52")
def test_nobody_is_asked_for_a_tableau_without_a_bet_and_it_draws_at_five(seeded_draw):
    game = load_game(GAME)
    deal = Chosen(seeded_draw(1), Shoe.from_decks(6), tableau_1="9s Ks", tableau_2="4h Ad 3c", bank="Kd 7d")
    steps, outcome = play(game, game.build_wager(10, bets={"tableau-1": 10}), deal, None)
    assert outcome.display["result"] == "9-8-7"
    assert not [step for step in steps if isinstance(step, Decision)]


@pytest.mark.requirement("S-52")
def test_a_third_card_is_dealt_against_an_eight_or_nine_of_the_banker(seeded_draw):
    game = load_game(GAME)
    deal = Chosen(
        seeded_draw(1), Shoe.from_decks(6), tableau_1="2s 2h 5c", tableau_2="Kh Kd 8c", bank="Kc 8d"
    )
    steps, outcome = play(game, game.build_wager(10, bets={"a-cheval": 10}), deal, None)
    assert outcome.display["result"] == "9-8-8"
    assert [step.credits for step in steps if isinstance(step, Settlement)] == [15]


def play_as_seen_by(game, wagers, viewer, deal):
    """Return what one seat sees until the round's end, if every decision has the first answer."""
    wager = game.rules.combine_seat_wagers(wagers[viewer], viewer, wagers)
    return play(game, wager, deal, lambda decision: decision.default_option)


@pytest.mark.requirement("S-52")
@pytest.mark.parametrize(("viewer", "own_hand"), [(0, "tableau-1"), (1, "tableau-2"), (2, None)])
def test_only_the_holder_of_a_tableau_sees_its_cards(seeded_draw, viewer, own_hand):
    game = load_game(GAME)
    wagers = dict(
        enumerate(
            game.build_wager(10, bets=bets)
            for bets in ({"tableau-1": 10}, {"tableau-2": 10}, {"a-cheval": 10})
        )
    )
    deal = Chosen(
        seeded_draw(3), Shoe.from_decks(6), tableau_1="2s 3h 4c", tableau_2="9h 6d 8c", bank="2c 3d Ks"
    )
    steps, outcome = play_as_seen_by(game, wagers, viewer, deal)
    cues = [step for step in steps if isinstance(step, Cue)]
    first = [(cue.data["hand"], cue.data["card"]) for cue in cues[1:7]]
    assert {hand for hand, card in first if card != BACK} == ({own_hand} if own_hand else set())
    prompts = [step.prompt for step in steps if isinstance(step, Decision)]
    assert [prompt["hand"] for prompt in prompts] == list(TABLEAUX)
    for prompt in prompts:
        hands = {hand["id"]: hand for hand in prompt["hands"]}
        for name in (*TABLEAUX, "bank"):
            assert (set(hands[name]["cards"]) == {BACK}) == (name != own_hand)
            assert ("says" in hands[name]) == (name == own_hand)
        assert ("advice" in prompt) == (prompt["hand"] == own_hand)
        assert "result" not in prompt
    kinds = [(cue.kind, cue.data["hand"]) for cue in cues[7:]]
    thirds = [("deal", "tableau-1"), ("deal", "tableau-2"), ("deal", "bank")]
    turned = [("flip", name) for name in TABLEAUX if name != own_hand for _ in range(2)]
    assert kinds == [("flip", "bank")] * 2 + thirds + turned
    assert [hand["cards"] for hand in outcome.display["hands"]] == [
        ["2c", "3d", "Ks"],
        ["2s", "3h", "4c"],
        ["9h", "6d", "8c"],
    ]


@pytest.mark.requirement("S-52")
def test_an_eight_or_nine_is_shown_at_once(seeded_draw):
    game = load_game(GAME)
    wagers = {
        0: game.build_wager(10, bets={"tableau-1": 10}),
        1: game.build_wager(10, bets={"tableau-2": 10}),
    }
    deal = Chosen(seeded_draw(3), Shoe.from_decks(6), tableau_1="2s 6h", tableau_2="9h 6d", bank="2c 4d")
    steps, _ = play_as_seen_by(game, wagers, 1, deal)
    decision_index = next(n for n, step in enumerate(steps) if isinstance(step, Decision))
    flips = [
        step.data["hand"] for step in steps[:decision_index] if isinstance(step, Cue) and step.kind == "flip"
    ]
    assert flips == ["tableau-1"] * 2
    hands = {hand["id"]: hand for hand in steps[decision_index].prompt["hands"]}
    assert (hands["tableau-1"]["says"], hands["bank"]["cards"]) == ("8", [BACK, BACK])


def test_one_player_sees_only_the_hands_that_they_hold(seeded_draw):
    game = load_game(GAME)
    deal = Chosen(
        seeded_draw(3), Shoe.from_decks(6), tableau_1="2s 3h 4c", tableau_2="9h 6d 8c", bank="2c 4d Ks"
    )
    steps, _ = play(game, game.build_wager(10, bets={"tableau-1": 10}), deal, lambda _: "stand")
    (decision,) = (step for step in steps if isinstance(step, Decision))
    assert [set(hand["cards"]) == {BACK} for hand in decision.prompt["hands"]] == [True, False, True]
    assert decision.prompt["advice"] == "draw"


# ---------------------------------------------------------------------------------- the shoe
def with_left(game, count):
    """Return the game with a shoe of which this many cards are left."""
    shoe = Shoe([0] * 53)
    for card in range(count):
        shoe.counts[card] += 1
    return game.with_table_state({"shoe": shoe.to_json()})


@pytest.mark.requirement("S-52", "S-03")
def test_a_round_is_dealt_only_from_a_shoe_of_nine_cards_or_more(seeded_draw):
    game, ends = load_game(GAME), Counter()
    with pytest.raises(ValueError, match="a shoe of 8 cards, but a shoe of that size is shuffled"):
        with_left(game, 8)
    for cards_left, seed in product(range(9, 24), range(20)):
        here = with_left(game, cards_left)
        steps, outcome = play(
            here, here.build_wager(10, bets={"a-cheval": 10}), seeded_draw(seed), lambda _: "draw"
        )
        assert not [step for step in steps if isinstance(step, Cue) and step.kind == "shuffle"]
        after = cards_left - sum(isinstance(step, Cue) and step.kind == "deal" for step in steps)
        assert after >= 0
        assert (outcome.table_state is not None) == (after >= 9)
        assert outcome.display.get("last_of_shoe", False) == (after in {9, 10})
        if cards_left <= 10:
            assert outcome.table_state is None  # the round was the last of its shoe
        ends[after] += 1
    assert {8, 9, 10, 11} <= set(ends)


# ---------------------------------------------------------------------------------- the definition
@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"shoe": {"decks": 6, "stop": 8}}, "shoe.stop"),
        ({"shoe": {"decks": 6, "stop": 10, "rounds": 2}}, "shoe.rounds"),
        ({"banker": {"draws": {"0": "x"}}}, "banker.draws"),
        ({"banker": {"draws": {"10": "-"}}}, "banker.draws"),
        ({"banker": {"draws": {}, "against": "one"}}, "banker.against"),
    ],
)
def test_a_definition_that_the_french_order_does_not_permit_is_refused(change, key):
    with pytest.raises(DefinitionError, match=key.replace(".", r"\.")):
        build_game(json.loads(load_game(GAME).text) | change, "test")


def test_a_bet_a_cheval_must_be_even_and_each_tableau_must_have_one_bet():
    data = json.loads(load_game(GAME).text)
    data["bet"][2]["limits"] = {"least": 5, "most": 500, "step": 5}
    with pytest.raises(DefinitionError, match="multiple of 2"):
        build_game(data, "test")
    data = json.loads(load_game(GAME).text)
    data["bet"][1]["on"] = "tableau-1"
    with pytest.raises(DefinitionError, match="only one bet may be on each tableau"):
        build_game(data, "test")
    with pytest.raises(WagerError, match="not a multiple of 2"):
        load_game(GAME).build_wager(11, bets={"a-cheval": 11})


@pytest.mark.requirement("C-12")
def test_the_help_states_the_bankers_table():
    lines = load_game(GAME).rules.definition.format_pay_table_rows()
    assert "Banker with 0-2: draws" in lines["en"]
    assert "Banker with 3: draws against no third card or a third card of 0-7, 9" in lines["en"]
    assert "Banquier à 6 : tire contre une troisième carte de 6, 7" in lines["fr"]
    assert "Banquier à 7-9 : reste" in lines["fr"]
    data = json.loads(load_game(GAME).text)
    data["banker"] = {"draws": {str(n): "-0123456789" for n in range(6)}, "against": "both"}
    lines = build_game(data, "test").rules.definition.format_pay_table_rows()["en"]
    assert lines[3:6] == [
        "Banker with 0-5: draws",
        "Banker with 6-9: stands",
        "The table must say so against both tableaux.",
    ]


# ---------------------------------------------------------------------------------- figures
PAIRS = list(combinations_with_replacement(range(10), 2))
OPTION_NAMES = tuple(product(("draw", "stand"), repeat=2))


def count_results(decks, against=any):
    """Return the chances of (own pair, other pair, own result, other result) by the answers, over deals of nine cards.

    The chances are floats, because 312 cards in nine places have more orders than 64 bits count; the sums are exact
    to twelve digits.
    """
    first, second, bank = (grid.ravel() for grid in np.meshgrid(*[np.arange(55)] * 3, indexing="ij"))
    counts_left = np.tile(np.array([16.0 * decks] + [4.0 * decks] * 9), (len(first), 1))
    weight, rows = np.ones(len(first)), np.arange(len(first))
    for pair in (first, second, bank):
        for pair_index in range(2):
            value = np.array(PAIRS)[pair, pair_index]
            weight *= counts_left[rows, value]
            counts_left[rows, value] -= 1
        weight *= np.array([1 + (a != b) for a, b in PAIRS])[pair]
    totals = np.array([sum(pair) % 10 for pair in PAIRS])
    first_totals, second_totals, banks = totals[first], totals[second], totals[bank]
    table = np.array([[sign in BANKER.get(n, "") for sign in "-0123456789"] for n in range(10)])
    found = {answers: np.zeros((55, 55, 3, 3)) for answers in OPTION_NAMES}
    orders = np.prod([52.0 * decks - n for n in range(9)])
    for thirds in product(range(10), repeat=2):
        ways, after = weight.copy(), counts_left.copy()
        for third in thirds:
            ways *= after[:, third]
            after[:, third] -= 1
        for answers in OPTION_NAMES:
            draws = [
                (total < 5) | ((total == 5) & (answer == "draw"))
                for total, answer in zip((first_totals, second_totals), answers, strict=True)
            ]
            calls = [
                table[banks, np.where(drawn, third + 1, 0)]
                for drawn, third in zip(draws, thirds, strict=True)
            ]
            bankers = calls[0] | calls[1] if against is any else calls[0] & calls[1]
            ends = [
                (total + drawn * third) % 10
                for total, drawn, third in zip((first_totals, second_totals), draws, thirds, strict=True)
            ]
            for third_points in range(10):
                last = (banks + bankers * third_points) % 10
                compared = [np.sign(end - last) + 1 for end in ends]
                np.add.at(found[answers], (first, second, *compared), ways * after[:, third_points] / orders)
    return found


@pytest.fixture(scope="module")
def counted():
    return count_results(6)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_the_figures_equal_a_new_count_of_every_deal_of_nine_cards(counted):
    rules = load_game(GAME).rules
    for answers, chances in counted.items():
        assert abs(chances.sum() - 1) < 1e-9
        both = chances.sum(axis=(0, 1))
        for spot in (*TABLEAUX, "a-cheval"):
            stated = Counter()
            for case in rules._iter_cases(rules.build_wager(10, bets={spot: 10}), answers):
                stated[case.settlements[0].credits] += case.weight
            recounted = Counter()
            for first, second in product(range(3), repeat=2):
                recounted[compute_due_by_the_text(spot, 10, [first - 1, second - 1])] += both[first, second]
            assert set(stated) == set(recounted)
            assert all(abs(float(stated[win]) - recounted[win]) < 1e-9 for win in stated)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_drawing_at_five_is_better_whatever_cards_either_tableau_holds(counted):
    """Compared by the two cards of both tableaux, which is more than the holder of one sees."""
    means = {
        answers: (chances.sum(axis=3) * np.array([-1, 0, 1])).sum(axis=2)
        for answers, chances in counted.items()
    }
    fives = [n for n, pair in enumerate(PAIRS) if sum(pair) % 10 == 5]
    for other in ("draw", "stand"):
        gain = means["draw", other][fives] - means["stand", other][fives]
        assert gain.min() > 0


@pytest.mark.requirement("S-52")
def test_every_bet_of_banque_has_the_published_return_and_the_known_worst_return():
    bets = {bet.bet: bet for bet in analyse(load_game(GAME)).bets}
    assert set(bets) == {*TABLEAUX, "a-cheval"}
    for name, bet in bets.items():
        assert isinstance(bet.rtp, Fraction)
        assert f"{float(bet.rtp) * 100:.4f}" == "99.5985"
        assert bet.simplest_rtp == bet.rtp
        assert bet.strategy == "draw at five"
        assert f"{float(bet.worst_rtp) * 100:.4f}" == ("99.2710" if name == "a-cheval" else "99.2107")
    assert bets["tableau-1"].distribution == bets["tableau-2"].distribution
    assert bets["a-cheval"].variance < bets["tableau-1"].variance


def test_a_banker_who_draws_like_the_tableaux_makes_a_game_with_return_one():
    """If the banker also draws on five or less, the banker wins as often as each tableau."""
    data = json.loads(load_game(GAME).text)
    data["banker"] = {"draws": {str(n): "-0123456789" for n in range(6)}}
    bets = analyse(build_game(data, "test")).bets
    assert [bet.rtp for bet in bets] == [1, 1, 1]


def test_advice_takes_the_stakes_of_both_tableaux_into_account():
    rules = load_game(GAME).rules
    assert rules.find_best_draw_choices({"tableau-1": 10, "tableau-2": 2000}, ["tableau-1"]) == (
        "stand",
        "draw",
    )
    assert rules.find_best_draw_choices({"tableau-1": 10, "tableau-2": 10}, TABLEAUX) == ("draw", "draw")
    game = load_game(GAME)
    figures = rules.analyse_wager(game.build_wager(2010, bets={"tableau-1": 10, "tableau-2": 2000}))
    assert figures.strategy == "stand on tableau 1 and draw on tableau 2 at five"
    assert figures.rtp > figures.simplest_rtp == analyse(game).bets[0].rtp
