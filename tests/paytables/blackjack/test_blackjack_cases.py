"""Single cases of blackjack with given cards: what is offered, advised and refused."""

import json

import pytest
from rigs.blackjack import MONACO, MULTI, OPTIONS, QUEBEC, build_changed_game
from rigs.cards import remove_cards

from paytables import (
    Choice,
    ChoiceError,
    DefinitionError,
    Round,
    WagerError,
    build_game,
    load_game,
    play_with_choices,
)
from paytables.cards.card import Shoe, parse_cards


class Cards:
    """Draws that deal these cards of a full shoe in this order."""

    def __init__(self, game, cards):
        self.shoe = Shoe.from_decks(game.rules.definition.shoe.deck_count)
        self.cards = list(parse_cards(cards))

    def below(self, bound, purpose):
        card = 0 if purpose.startswith("burn") else self.cards.pop(0)
        assert bound == self.shoe.cards_left
        value = sum(self.shoe.counts[:card])
        remove_cards(self.shoe, card)
        return value


def play_cards(game, bets, cards, *answers):
    """Play one round with these cards and answers; check that all of them are used."""
    wager = game.build_wager(sum(bets.values()), bets=bets)
    draw = Cards(game, cards)
    outcome = play_with_choices(game.play(wager, draw), wager, map(Choice, answers))
    assert not draw.cards
    return outcome


def list_settlements(outcome):
    """Return the credits returned by spot and settlement name."""
    return [
        (settlement.spot, settlement.name, settlement.staked_credits, settlement.credits)
        for settlement in outcome.settlements
    ]


def test_four_hands_doubled_and_insured_against_a_blackjack_lose_the_first_bet_alone():
    game = load_game(OPTIONS)
    outcome = play_cards(
        game,
        {"main": 20, "twelve-sixteen": 10, "sevens": 1},
        "8s Ah 8d 8c 3h Th 8h 2d 9s Ts 5c 7c Kd",
        *("insurance", "split", "split", "double", "split", "double", "stand", "hit", "stand"),
    )
    assert list_settlements(outcome) == [
        ("twelve-sixteen", "aces-or-eights", 10, 30),
        ("sevens", "lost", 1, 0),
        ("insurance", "won", 10, 30),
        ("main", "lost", 20, 0),
        ("main", "push", 20, 20),
        ("main", "push", 40, 40),
        ("main", "push", 20, 20),
        ("main", "push", 20, 20),
    ]
    hands = {hand["id"]: hand["cards"] for hand in outcome.display["hands"]}
    assert hands == {
        "bank": ["Ah", "Kd"],
        "box-1": ["8s", "3h", "Th"],
        "box-1-3": ["8c", "2d", "9s"],
        "box-1-4": ["8h", "Ts"],
        "box-1-2": ["8d", "5c", "7c"],
    }


@pytest.mark.requirement("S-08:b")
def test_a_hand_is_split_four_times_and_no_more():
    """S. 26.1 (2): five hands, of which the second would again be a pair."""
    game = load_game(OPTIONS)
    play = play_until_decision(game, {"main": 10}, "8s 6h 8d 8c 8h 8s Ts 8d", *("split",) * 4, "stand")
    assert play.decision.options == ("stand", "hit", "double")
    cards = "8s 6h 8d 8c 8h 8s Ts Tc Td Th Ts Td 9c"
    outcome = play_cards(game, {"main": 10}, cards, *("split",) * 4, *("stand",) * 5)
    assert list_settlements(outcome) == [("main", "won", 10, 20)] * 5


@pytest.mark.requirement("S-08:b")
def test_aces_are_split_as_often_as_the_rule_for_aces_permits():
    """Tens may be split into five hands, aces into two: a third ace stays in its hand without a decision."""
    game = build_changed_game(MONACO, rules={"split": {"hands": 5, "ace_hands": 2}})
    outcome = play_cards(game, {"main": 20}, "As 6h Ad Ac Kc 5c 9s", "split")
    assert [(settlement.name, settlement.credits) for settlement in outcome.settlements] == [
        ("lost", 0),
        ("won", 40),
    ]


@pytest.mark.requirement("S-08:c")
def test_quarter_insurance_is_offered_only_if_permitted_and_a_whole_number():
    for name, stake, offered in ((MONACO, 4, True), (MONACO, 6, False), (QUEBEC, 4, False)):
        options = play_until_decision(load_game(name), {"main": stake}, "Ts Ah 9d").decision.options
        assert ("insurance_quarter" in options) is offered


def test_without_first_stake_protection_every_stake_loses_to_a_blackjack():
    answers = ("no_insurance", "split", "double", "stand")
    outcome = play_cards(load_game(MONACO), {"main": 20}, "8s Ah 8d 3h Th 7c Kd", *answers)
    assert [(settlement.staked_credits, settlement.credits) for settlement in outcome.settlements] == [
        (40, 0),
        (20, 0),
    ]


@pytest.mark.requirement("S-05", "S-06", "S-08:b", "S-08:c", "S-09")
@pytest.mark.parametrize(
    ("name", "cards", "answers", "settled"),
    [
        # Blackjack: paid at once if the dealer cannot have one, compared if the dealer can, pushed by the dealer's.
        (QUEBEC, "As 9h Kd", (), [("blackjack", 20, 50)]),
        (QUEBEC, "As Th Kd 9c", (), [("blackjack", 20, 50)]),
        (QUEBEC, "As Th Kd Ac", (), [("push", 20, 20)]),
        (QUEBEC, "As Ah Kd 9c", ("no_insurance",), [("blackjack", 20, 50)]),
        (QUEBEC, "As Ah Kd Tc", ("insurance",), [("won", 10, 30), ("push", 20, 20)]),
        (QUEBEC, "As Ah Kd 5c", ("insurance",), [("lost", 10, 0), ("blackjack", 20, 50)]),
        # At most half of the stake is insured, or a quarter if the table says so.
        (MONACO, "As Ah Kd Tc", ("insurance_quarter",), [("won", 5, 15), ("push", 20, 20)]),
        (MONACO, "Ts Ah 9d 8c", ("insurance_quarter", "stand"), [("lost", 5, 0), ("push", 20, 20)]),
        (MONACO, "As Th Kd", ("even_money",), [("even-money", 20, 40)]),
        (MONACO, "As Ah Kd", ("even_money",), [("even-money", 20, 40)]),
        (MONACO, "As Th Kd Ac", ("no_insurance",), [("push", 20, 20)]),
        # It beats 21 of more cards, and after a split it is 21.
        (QUEBEC, "9s Th 2d Tc Ac", ("hit",), [("lost", 20, 0)]),
        (MONACO, "As 6h Ad Tc Kc 5c 9s", ("split",), [("won", 20, 40), ("won", 20, 40)]),
        (MONACO, "As Th Ad Tc Kc Ac", ("split",), [("lost", 20, 0), ("lost", 20, 0)]),
        # A soft 17 is hit in Québec, and stood on if the table says so.
        (QUEBEC, "Ts 6h 9d Ac 3c", ("stand",), [("lost", 20, 0)]),
        (MONACO, "Ts 6h 9d Ac", ("stand",), [("won", 20, 40)]),
        # Over 21 loses at once: the dealer draws no card.
        (QUEBEC, "Ts 6h 6d Tc", ("hit",), [("lost", 20, 0)]),
        # Only a blackjack spares the additional stake of a busted double.
        (QUEBEC, "6s Th 5d Ac 9h", ("double",), [("lost", 40, 0)]),
        (OPTIONS, "Ts Th 6d Tc Ac", ("double",), [("lost", 20, 0), ("push", 20, 20)]),
        (OPTIONS, "Ts Th 6d Tc 9c", ("double",), [("lost", 20, 0), ("lost", 20, 0)]),
        (OPTIONS, "Ts 9h 6d Tc", ("double",), [("lost", 40, 0)]),
        (MONACO, "Ts Th 6d Tc", ("double",), [("lost", 40, 0)]),
        # Three sevens, and 6-7-8 of a suit, win at once, doubled too; not where the table does not say so.
        (OPTIONS, "7s Th 7d 7c", ("hit",), [("three-sevens", 20, 50)]),
        (OPTIONS, "7s Th 7d 7c", ("double",), [("three-sevens", 40, 100)]),
        (OPTIONS, "8s Ah 7s 6s", ("no_insurance", "hit"), [("6-7-8", 20, 60)]),
        (OPTIONS, "8s 9h 7s 6d 8c", ("hit",), [("won", 20, 40)]),
        (QUEBEC, "7s 9h 7d 7c 8c", ("hit",), [("won", 20, 40)]),
        # A hand of a split may be doubled if the table says so; 9 includes an ace counted as one.
        (QUEBEC, "As 6h 8d Tc Td 2c", ("double",), [("won", 40, 80)]),
        (MONACO, "Ts 6h Td As Ac 5c 9c", ("split", "stand", "stand"), [("won", 20, 40), ("won", 20, 40)]),
    ],
)
def test_a_round_with_given_cards_is_settled_as_the_rules_say(name, cards, answers, settled):
    outcome = play_cards(load_game(name), {"main": 20}, cards, *answers)
    assert [
        (settlement.name, settlement.staked_credits, settlement.credits) for settlement in outcome.settlements
    ] == settled


def play_until_decision(game, bets, cards, *answers):
    """Return the decision after these answers."""
    wager = game.build_wager(sum(bets.values()), bets=bets)
    play = Round(game.play(wager, Cards(game, cards)), wager)
    play.advance()
    for answer in answers:
        play.advance(Choice(answer))
    return play


@pytest.mark.requirement("S-08:a", "S-08:b")
@pytest.mark.parametrize(
    ("game", "cards", "answers", "options"),
    [
        (load_game(QUEBEC), "5s 9h 6d", (), {"stand", "hit", "double"}),
        (load_game(QUEBEC), "5s 9h 3d", (), {"stand", "hit"}),
        (load_game(QUEBEC), "As 9h 9d", (), {"stand", "hit", "double"}),
        (load_game(QUEBEC), "As 9h 7d", (), {"stand", "hit"}),
        (load_game(QUEBEC), "Ts 9h Kd", (), {"stand", "hit", "split"}),
        (load_game(QUEBEC), "8s 9h 8d 3c", ("split",), {"stand", "hit"}),
        (load_game(QUEBEC), "8s 9h 8d 8c", ("split",), {"stand", "hit"}),
        (load_game(QUEBEC), "As 9h 2d 8c", ("hit",), {"stand", "hit"}),
        (load_game(OPTIONS), "8s 9h 8d 8c", ("split",), {"stand", "hit", "double", "split"}),
        (load_game(OPTIONS), "Ts 9h Td As", ("split",), {"stand", "hit"}),
        (load_game(MONACO), "Ts 9h Td As", ("split",), {"stand", "hit", "double"}),
        (build_changed_game(MONACO, rules={"split": {"same": "rank"}}), "Ts 9h Kd", (), {"stand", "hit"}),
        (
            build_changed_game(MONACO, rules={"split": {"hands": 3, "ace_hands": 3}}),
            "As 9h Ad Ac",
            ("split",),
            {"stand", "split"},
        ),
        (
            build_changed_game(
                MONACO, rules={"split": {"aces_one_card": False}, "double": {"after_split": True}}
            ),
            "As 9h Ad 8c",
            ("split",),
            {"stand", "hit", "double"},
        ),
    ],
)
def test_a_hand_is_offered_the_options_that_the_rules_permit(game, cards, answers, options):
    play = play_until_decision(game, {"main": 20}, cards, *answers)
    assert set(play.decision.options) == options
    for option in options & {"double", "split"}:
        assert play.decision.get_added_bet(option).to_json() == {"spot": "main", "credits": 20}
    with pytest.raises(ChoiceError, match="not one of"):
        play.advance(Choice("surrender"))


def test_a_dealer_with_a_hole_card_settles_insurance_before_the_players_decide():
    game = build_changed_game(QUEBEC, rules={"second_card": "hole"})
    outcome = play_cards(game, {"main": 20}, "9s Ah 9d Kc", "insurance")
    assert list_settlements(outcome) == [("insurance", "won", 10, 30), ("main", "lost", 20, 0)]
    play = play_until_decision(game, {"main": 20}, "9s Ah 9d 8c", "insurance")
    assert [settlement.name for settlement in play.settlements] == ["lost"]
    shown = play.decision.prompt["hands"][0]
    assert shown == {"id": "bank", "cards": ["Ah", "??"]}
    assert "8c" not in json.dumps([play.decision.to_json(), *(cue.to_json() for cue in play.cues)])
    play.advance(Choice("stand"))
    assert play.outcome.display["hands"][0]["cards"] == ["Ah", "8c"]


@pytest.mark.requirement("S-08:c", "S-10")
def test_insurance_of_several_bets_is_half_of_each_and_is_decided_by_each_of_the_dealers_hands():
    bets = {"main": 20, "second": 10, "third": 4}
    outcome = play_cards(load_game(MULTI), bets, "Ts Ah 9d Kc 5c 3c 7h", "insurance", "stand")
    assert list_settlements(outcome) == [
        ("insurance", "won", 10, 30),
        ("main", "lost", 20, 0),
        ("insurance", "lost", 5, 0),
        ("second", "push", 10, 10),
        ("insurance", "lost", 2, 0),
        ("third", "won", 4, 8),
    ]
    assert outcome.display["result"] == "BJ-19-18"


@pytest.mark.requirement("S-10")
def test_two_bets_are_played_against_two_hands():
    outcome = play_cards(load_game(MULTI), {"main": 20, "second": 10}, "Ts 9h 9d Tc 9c", "stand")
    assert [hand["cards"][0] for hand in outcome.display["hands"][:2]] == ["9h", "9h"]
    assert [settlement.name for settlement in outcome.settlements] == ["push", "won"]


@pytest.mark.requirement("S-09")
def test_the_sevens_bonus_counts_the_first_three_cards_of_the_box_even_after_a_split():
    game = load_game(OPTIONS)
    split = play_cards(game, {"main": 2, "sevens": 1}, "7s 9h 7s 7s 2c 2c Tc", "split", "stand", "stand")
    assert ("sevens", "sevens-suited", 1, 5001) in list_settlements(split)
    stood = play_cards(game, {"main": 2, "sevens": 1}, "7s 9h 7d Tc", "stand")
    assert ("sevens", "sevens-two", 1, 51) in list_settlements(stood)
    suited = play_cards(game, {"main": 2, "sevens": 1}, "7s 9h 7s Tc", "stand")
    assert ("sevens", "sevens-two-suited", 1, 101) in list_settlements(suited)
    three = play_cards(game, {"main": 2, "sevens": 1}, "7s 9h 7s 7c", "hit")
    assert list_settlements(three) == [("main", "three-sevens", 2, 5), ("sevens", "sevens-three", 1, 501)]


@pytest.mark.requirement("S-09")
@pytest.mark.parametrize(
    ("name", "side", "cards", "row", "returned"),
    [
        (OPTIONS, "twelve-sixteen", "Ac 9h Ad", "aces-or-eights", 3),
        (OPTIONS, "twelve-sixteen", "8c 9h 8d", "aces-or-eights", 3),
        (OPTIONS, "twelve-sixteen", "5c 9h 6d", "lost", 0),
        (OPTIONS, "twelve-sixteen", "5c 9h 7d", "of-12-to-16", 2),
        (OPTIONS, "twelve-sixteen", "9c 5h 7d", "of-12-to-16", 2),
        (OPTIONS, "twelve-sixteen", "Tc 5h 7d", "lost", 0),
        (OPTIONS, "twelve-sixteen", "Ac 9h 2d", "of-12-to-16", 2),
        (OPTIONS, "twelve-sixteen", "Ac 9h 6d", "lost", 0),
        (OPTIONS, "over", "6c 9h 7d", "lost", 0),
        (OPTIONS, "over", "7c 9h 7d", "over-13", 2),
        (OPTIONS, "over", "Ac 9h 5d", "lost", 0),
        (OPTIONS, "under", "6c 9h 7d", "lost", 0),
        (OPTIONS, "under", "5c 9h 7d", "under-13", 2),
        (OPTIONS, "under", "Ac 9h 5d", "under-13", 2),
        (MONACO, "pairs", "8s 5h 8s", "perfect-pair", 26),
        (MONACO, "pairs", "8s 5h 8c", "coloured-pair", 13),
        (MONACO, "pairs", "8s 5h 8d", "mixed-pair", 7),
        (MONACO, "pairs", "8s 5h 9s", "lost", 0),
        (MONACO, "twenty-one-plus-three", "5s 6s 7s", "straight-flush", 10),
        (MONACO, "twenty-one-plus-three", "7s 7h 7d", "three-of-a-kind", 10),
        (MONACO, "twenty-one-plus-three", "As 2h 3d", "straight", 10),
        (MONACO, "twenty-one-plus-three", "Qs Kh Ad", "straight", 10),
        (MONACO, "twenty-one-plus-three", "Ks Ah 2d", "lost", 0),
        (MONACO, "twenty-one-plus-three", "2s 9s Ts", "flush", 10),
        (MONACO, "twenty-one-plus-three", "2s 9h Ts", "lost", 0),
    ],
)
def test_each_side_bet_wins_only_with_the_cards_that_its_rules_name(name, side, cards, row, returned):
    """The cards are the player's first card, the dealer's first and the player's second."""
    outcome = play_until_decision(load_game(name), {"main": 2, side: 1}, cards)
    assert [
        (settlement.name, settlement.credits) for settlement in outcome.settlements if settlement.spot == side
    ] == [(row, returned)]


def test_a_row_of_more_cards_than_were_dealt_does_not_pay():
    row = {
        "id": "suited",
        "name": {"en": "Suited", "fr": "Couleur"},
        "cards": 3,
        "suits": "same",
        "pays": "9:1",
    }
    side = {"id": "flush", "name": {"en": "Flush", "fr": "Couleur"}, "row": [row]}
    game = build_changed_game(QUEBEC, side=[side])
    stood = play_cards(game, {"main": 2, "flush": 1}, "Ts 9h Ks Tc", "stand")
    assert ("flush", "lost", 1, 0) in list_settlements(stood)
    hit = play_cards(game, {"main": 2, "flush": 1}, "Ts 9h 2s 7s Tc", "hit", "stand")
    assert ("flush", "suited", 1, 10) in list_settlements(hit)


@pytest.mark.requirement("S-03")
def test_one_deck_of_two_rounds_is_shuffled_after_the_second(seeded_draw):
    game = build_changed_game(QUEBEC, shoe={"decks": 1, "rounds": 2})
    assert "Decks: 1, shuffled after every second round." in game.help["en"]
    assert "Paquets de cartes : 1, mêlés tous les deux coups." in game.help["fr"]
    table, shuffled = None, []
    for seed in range(40):
        here = game.with_table_state(json.loads(json.dumps(table)))
        wager = here.build_wager(2)
        played_ = Round(here.play(wager, seeded_draw(seed)), wager)
        played_.advance()
        shuffled.append(bool([cue for cue in played_.cues if cue.kind == "shuffle"]))
        while played_.decision is not None:
            played_.advance(Choice(played_.decision.options[seed % 2]))
        table = played_.outcome.table_state
        assert (table is None) == bool(seed % 2)
    assert shuffled == [True, False] * 20


@pytest.mark.requirement("S-03")
def test_a_shoe_lasts_until_its_stop_card(seeded_draw):
    game, table, lefts = load_game(MONACO), None, []
    for seed in range(120):
        here = game.with_table_state(json.loads(json.dumps(table)))
        wager = here.build_wager(2)
        played_ = Round(here.play(wager, seeded_draw(seed)), wager)
        played_.advance()
        assert bool([cue for cue in played_.cues if cue.kind == "burn"]) == (table is None)
        while played_.decision is not None:
            played_.advance(Choice("stand" if "stand" in played_.decision.options else "no_insurance"))
        table = played_.outcome.table_state
        lefts += [] if table is None else [Shoe.from_json(table["shoe"]).cards_left]
    assert min(lefts) > 96
    assert len(lefts) < 120
    with pytest.raises(ValueError, match="shuffled before"):
        game.with_table_state({"shoe": {"As": 3}})
    with pytest.raises(ValueError, match="shuffled before"):
        load_game(QUEBEC).with_table_state({"shoe": {"As": 3}})


# ---------------------------------------------------------------------------------- refusals
@pytest.mark.requirement("S-10")
@pytest.mark.parametrize(
    ("name", "bets", "reason"),
    [
        (QUEBEC, {"main": 3}, "not a multiple of 2"),
        (QUEBEC, {"main": 502}, "2 to 500"),
        (QUEBEC, {"main": 2, "insurance": 1}, "the spot is closed"),
        (MONACO, {"pairs": 1}, "needs a bet on 'main'"),
        (OPTIONS, {"main": 2, "twelve-sixteen": 3}, "the bet on 'main' allows 2 at most"),
        (OPTIONS, {"main": 2, "sevens": 2}, "1 to 1"),
        (MULTI, {"main": 2}, "bets.main: needs a bet on 'second'"),
        (MULTI, {"main": 2, "third": 2}, "needs a bet on 'second'"),
        (MULTI, {"second": 2, "third": 2}, "needs a bet on 'main'"),
    ],
)
def test_a_wager_that_the_table_does_not_take_is_refused(name, bets, reason):
    with pytest.raises(WagerError, match=reason):
        load_game(name).build_wager(sum(bets.values()), bets=bets)


def test_a_wager_that_could_win_more_than_the_table_pays_is_refused():
    game = build_changed_game(QUEBEC, table={"most_win": 100})
    assert game.rules.find_highest_round_return(game.build_wager(12, bets={"main": 12})) == 96
    with pytest.raises(WagerError, match="return 112 credits to seat 0; the table allows 100 at most"):
        game.build_wager(14, bets={"main": 14})


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        (QUEBEC, lambda d: d.update(boxes=8), "less than or equal to 7"),
        (
            QUEBEC,
            lambda d: d.update(boxes=3, table={"seats": 3}),
            "3 boxes for each of 3 seats; a table has 7 boxes at most",
        ),
        (QUEBEC, lambda d: d.update(shoe={"decks": 9}), "less than or equal to 8"),
        (QUEBEC, lambda d: d.update(shoe={"decks": 1}), "may run out in a round: it must hold 446"),
        (MONACO, lambda d: d["shoe"].update(stop=52), "may run out in a round: it must hold 656"),
        (QUEBEC, lambda d: d["main"]["limits"].update(step=1), "multiple of 2"),
        (QUEBEC, lambda d: d.update(rules={"blackjack": "6:5"}), "multiple of 10"),
        (OPTIONS, lambda d: d["rules"].update(suited_678="7:4"), "multiple of 4"),
        (
            QUEBEC,
            lambda d: d.update(rules={"split": {"ace_hands": 3}}),
            "ace_hands: is 3; expected at most hands, 2",
        ),
        (QUEBEC, lambda d: d.update(rules={"split": {"hands": 6}}), "less than or equal to 5"),
        (QUEBEC, lambda d: d.update(rules={"double": {"totals": [1]}}), "greater than or equal to 2"),
        (QUEBEC, lambda d: d.update(rules={"soft_17": "maybe"}), "'hit' or 'stand'"),
        (QUEBEC, lambda d: d.update(rules={"surrender": True}), "unknown key"),
        (
            MULTI,
            lambda d: d["main"].update(least_hands=3, hands=2),
            "least_hands: is 3, but the dealer plays only 2",
        ),
        (
            MULTI,
            lambda d: d.update(rules={"second_card": "hole"}),
            'must not be "hole" if the dealer completes several hands',
        ),
        (MONACO, lambda d: d["side"][0].update(id="main"), "reserved for a stake of the game itself"),
        (MONACO, lambda d: d["side"][1].update(id="pairs"), "'pairs' is listed twice"),
        (MONACO, lambda d: d["side"][1]["row"][0].update(id="mixed-pair"), "'mixed-pair' is listed twice"),
        (OPTIONS, lambda d: d["side"][3]["row"].reverse(), "rows with more cards must come before"),
        (OPTIONS, lambda d: d["side"][3]["row"][0].update(ranks=["77"]), "'77' must be 3 ranks"),
        (OPTIONS, lambda d: d["side"][3]["row"][0].update(ranks=["7X7"]), "match pattern"),
        (OPTIONS, lambda d: d["side"][3]["row"][4].pop("ranks"), "must state a condition"),
        (
            OPTIONS,
            lambda d: d["side"][3]["row"][0].update(dealer=True, ranks=["7777"]),
            "must be at most 2 if the dealer",
        ),
        (OPTIONS, lambda d: d["side"][0]["row"][1].update(pays="3:2"), "multiple of 2"),
        (OPTIONS, lambda d: d["side"][0]["row"][1].update(pays="10%"), "no level has this spot"),
        (MONACO, lambda d: d["form"][0].update(bets={"pairs": 1}), "needs a bet on 'main'"),
        (MONACO, lambda d: d["proved"]["main"]["chart"].append("hard"), r"proved\.main\.chart\.\d+"),
    ],
)
def test_a_definition_that_cannot_be_played_is_refused(name, change, reason):
    data = json.loads(load_game(name).text)
    change(data)
    with pytest.raises(DefinitionError, match=reason):
        build_game(data, "test")


@pytest.mark.requirement("C-02", "C-12")
def test_the_help_states_the_chosen_rule_options_in_both_languages():
    for name in (QUEBEC, OPTIONS, MULTI, MONACO):
        game = load_game(name)
        assert "{" not in game.help["en"] + game.help["fr"]
        assert len(game.rules.definition.format_pay_table_rows()["en"]) == len(
            game.rules.definition.format_pay_table_rows()["fr"]
        )
    options, monaco = load_game(OPTIONS).help, load_game(MONACO).help
    assert "total 2 to 20, an ace as 1 or 11; also after a split" in options["en"]
    assert "Trois sept gagnent aussitôt" in options["fr"]
    assert "Le blackjack du croupier emporte tout" in monaco["fr"]
    assert "9 à 11" in load_game(QUEBEC).help["fr"]
    assert "a ten or a face card, a blackjack may take even money" in monaco["en"]


@pytest.mark.requirement("C-10:a")
@pytest.mark.parametrize(
    ("name", "cards", "answers", "advice"),
    [
        (QUEBEC, "Ts Th 6d", (), "hit"),
        (QUEBEC, "Ts 6h 6d", (), "stand"),
        (QUEBEC, "6s 6h 5d", (), "double"),
        (QUEBEC, "8s 6h 8d", (), "split"),
        (QUEBEC, "8s Ah 8d", (), "no_insurance"),
        (QUEBEC, "Ts 6h Td", (), "stand"),
        (QUEBEC, "8s 6h 8d 3c", ("split",), "hit"),
        (OPTIONS, "8s 6h 8d 3c", ("split",), "double"),
        (OPTIONS, "8s 6h 8d 8c", ("split",), "split"),
        (OPTIONS, "As 6h 7d", (), "double"),
        (MONACO, "8s 7h 8d 8c 8h", ("split", "split"), "hit"),  # no further split is open
        (MONACO, "8s Th 8d", (), "hit"),  # the additional stake is lost to the dealer's blackjack
        (OPTIONS, "8s Th 8d", (), "split"),
        (MONACO, "As Th Kd", (), "no_insurance"),
    ],
)
def test_the_best_option_is_advised(name, cards, answers, advice):
    play = play_until_decision(load_game(name), {"main": 20}, cards, *answers)
    assert play.decision.prompt["advice"] == advice


def test_a_strategy_for_other_rules_gives_no_advice():
    data = json.loads(load_game(QUEBEC).text)
    data["rules"] = {"split": {"same": "rank"}}
    play = play_until_decision(build_game(data, "test"), {"main": 20}, "Ts Th 6d")
    assert "advice" not in play.decision.prompt
