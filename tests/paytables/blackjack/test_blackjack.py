"""Blackjack as it is played, held against a settlement written from the texts for random rounds."""

import json
from collections import Counter

import pytest

from paytables import (
    Choice,
    ChoiceError,
    DefinitionError,
    RecordingDraw,
    ReplayDraw,
    Round,
    WagerError,
    drive,
    game_from,
    load_game,
)
from paytables.cards.card import RANKS, Shoe, cards_of

QUEBEC, OPTIONS = "quebec-blackjack", "quebec-blackjack-options"
MULTI, MONACO = "quebec-multi-action-blackjack", "monaco-blackjack"


def changed(name, **tables):
    data = json.loads(load_game(name).text)
    data.update(tables)
    del data["proved"]  # of other rules
    return game_from(data, "test")


HOLE = {"second_card": "hole", "even_money": "ace", "double": {"totals": [9, 10, 11], "after_split": True}}
#: What is played at random: the definition, and what the texts say of it (not read from the definition).
GAMES = {
    "quebec": (load_game(QUEBEC), {"h17", "obo"}, (9, 11), 2),
    "options": (load_game(OPTIONS), {"obo", "das", "at-once"}, (2, 20), 4),
    "multi": (load_game(MULTI), {"h17", "obo"}, (9, 11), 2),
    "monaco": (load_game(MONACO), {"das", "even-10"}, (2, 21), 3),
    "hole": (changed(QUEBEC, rules=HOLE), {"h17", "obo", "hole", "das", "even-1"}, (9, 11), 2),
    "boxes": (changed(OPTIONS, boxes=3), {"h17", "obo", "das", "at-once"} - {"h17"}, (2, 20), 4),
    "seats": (
        changed(MONACO, boxes=2, shoe={"decks": 8}, table={"seats": 3}),
        {"das", "even-10"},
        (2, 21),
        3,
    ),
}


# ---------------------------------------------------------------------------------- settled again, from the texts
def worth(card):
    return {"A": 1, "T": 10, "J": 10, "Q": 10, "K": 10}.get(card[0]) or int(card[0])


def total(hand):
    hard = sum(map(worth, hand))
    return hard + 10 if hard <= 11 and any(card[0] == "A" for card in hand) else hard


def is_soft(hand):
    return total(hand) != sum(map(worth, hand))


def is_natural(hand):
    return len(hand) == 2 and total(hand) == 21


class Referee:
    """Follows a round by its cues and answers, and says what every stake must bring back."""

    def __init__(self, wager, rules, doubled, most_hands):
        self.rules, self.doubled, self.most_hands = rules, doubled, most_hands
        self.hands, self.base, self.added, self.dealt = {}, {}, {}, {}
        self.banks, self.even, self.insured = {}, set(), set()
        self.split = set()

    def cue(self, cue):
        hand, card = cue.data.get("hand"), cue.data.get("card")
        if cue.kind == "split":
            self.split |= {hand, cue.data["to"]}
            self.hands[cue.data["to"]] = [self.hands[hand].pop()]
        elif cue.kind == "flip":
            self.banks[hand][cue.data["index"]] = card
        elif cue.kind == "deal" and hand.startswith("bank"):
            self.banks.setdefault(hand, []).append(card)
        elif cue.kind == "deal":
            self.hands.setdefault(hand, []).append(card)
            self.dealt.setdefault(hand[:5], []).append(card)

    def answer(self, asked, chosen):
        hand = asked.prompt["hand"]
        if asked.kind == "insurance":
            self._before(asked, hand)
            self.even |= {hand} if chosen == "even_money" else set()
            self.insured |= {hand} if chosen == "insurance" else set()
            return
        self._asked(set(asked.options), hand)
        if chosen == "double":
            self.added[hand] = self.added.get(hand, 0) + 1
        elif chosen == "split":
            box = hand[:5]
            others = [each for each in self.hands if each[:5] == box]
            self.added[f"{box}-{len(others) + 1}"] = 1

    def _before(self, asked, hand):
        up = self.banks["bank"][0]
        even = f"even-{worth(up)}" in self.rules or (worth(up) == 1 and "even-10" in self.rules)
        offered = {"insurance"} if up[0] == "A" else set()
        offered |= {"even_money"} if even and is_natural(self.hands[hand]) else set()
        assert set(asked.options) == {"no_insurance"} | offered

    def _asked(self, options, hand):
        """What the texts let this hand do."""
        cards, split = self.hands[hand], hand in self.split
        two, aces = len(cards) == 2, split and cards[0][0] == "A"
        low = sum(map(worth, cards))
        totals = {low, low + 10} if is_soft(cards) and total(cards) < 21 else {total(cards)}
        may = {"stand"} if aces else {"stand", "hit"}
        lowest, highest = self.doubled
        if two and not aces and (not split or "das" in self.rules):
            may |= {"double"} if any(lowest <= each <= highest for each in totals) else set()
        others = [each for each in self.hands if each[:5] == hand[:5]]
        most = 2 if cards[0][0] == "A" else self.most_hands
        if two and worth(cards[0]) == worth(cards[1]) and len(others) < most:
            may.add("split")
        assert options == may
        assert total(cards) < 21 or is_soft(cards)
        assert split or not is_natural(cards)

    def at_once(self, cards):
        ranks = sorted(card[0] for card in cards)
        if "at-once" not in self.rules or len(cards) != 3:
            return None
        if ranks == ["7", "7", "7"]:
            return 5, 2
        return (3, 1) if ranks == ["6", "7", "8"] and len({card[1] for card in cards}) == 1 else None

    def due(self, hand, first, bank):
        """What comes back of a hand against one of the dealer's, where the box first staked so much."""
        cards = self.hands[hand]
        base = first if hand[5:] == "" else 0
        added = first * self.added.get(hand, 0)
        if hand in self.even:
            return 2 * base
        if (odds := self.at_once(cards)) is not None:
            return (base + added) * odds[0] // odds[1]
        natural = is_natural(cards) and hand not in self.split
        if is_natural(bank):
            return base if natural else added if "obo" in self.rules else 0
        if natural:
            return base * 5 // 2
        won, bust = total(bank) > 21 or total(cards) > total(bank), total(cards) > 21
        return (base + added) * (0 if bust else 2 if won else total(cards) == total(bank))

    def hold_bank(self, name):
        """The dealer took as many cards as the texts say, and no more than bets needed."""
        cards, last = self.banks[name], list(self.banks)[-1]
        compared = [
            hand
            for hand, mine in self.hands.items()
            if hand not in self.even and self.at_once(mine) is None and total(mine) <= 21
            if not is_natural(mine) or hand in self.split
        ]
        if compared and not ("hole" in self.rules and is_natural(cards)):
            assert total(cards) >= 17
            assert not ("h17" in self.rules and total(cards) == 17 and is_soft(cards))
        for n in range(2, len(cards)):
            before = cards[:n]
            assert compared
            assert total(before) < 17 or ("h17" in self.rules and total(before) == 17 and is_soft(before))
        assert name <= last


SIDES = {
    "pairs": lambda cards, up: (
        0 if cards[0][0] != cards[1][0]
        else 26 if cards[0] == cards[1]
        else 13 if (cards[0][1] in "dh") == (cards[1][1] in "dh")
        else 7
    ),
    "twenty-one-plus-three": lambda cards, up: 10 * is_poker([*cards[:2], up]),
    "twelve-sixteen": lambda cards, up: (
        3 if [each[0] for each in cards[:2]] in (["A", "A"], ["8", "8"])
        else 2 * (12 <= total(cards[:2]) <= 16)
    ),
    "over": lambda cards, up: 2 * (sum(map(worth, cards[:2])) > 13),
    "under": lambda cards, up: 2 * (sum(map(worth, cards[:2])) < 13),
    "sevens": lambda cards, up: sevens(list(cards[:3])),
}  # fmt: skip


def is_poker(cards):
    places = sorted(RANKS.index(card[0]) for card in cards)
    runs = [[n, n + 1, n + 2] for n in range(11)] + [[0, 1, 12]]
    return len({card[1] for card in cards}) == 1 or len(set(places)) == 1 or places in runs


def sevens(cards):
    count = next((n for n, card in enumerate(cards) if card[0] != "7"), len(cards))
    suited = len({card[1] for card in cards[:count]}) == 1
    return {0: 0, 1: 4, 2: 101 if suited else 51, 3: 5001 if suited else 501}[count]


def hold(name, seeded_draw, count):
    """Play random rounds on random bets, answered at random, and hold each against the referee."""
    game, *text = GAMES[name]
    seen, table = Counter(), None
    for seed in range(count):
        here, draw = game.at(json.loads(json.dumps(table))), RecordingDraw(seeded_draw(f"{name} {seed}"))
        wager = some_bets(here, draw.source)
        referee, choices = Referee(wager, *text), []
        played = Round(here.play(wager, draw), wager)
        played.advance()
        while played.decision is not None:
            for cue in played.cues:
                referee.cue(cue)
            asked = played.decision
            options = [*asked.options, *(each for each in asked.options if each in {"split", "double"})]
            chosen = options[draw.source.below(len(options), "player")]
            referee.answer(asked, chosen)
            seen[chosen] += 1
            choices.append(Choice(chosen))
            played.advance(choices[-1])
        for cue in played.cues:
            referee.cue(cue)
        outcome, replayed = played.outcome, ReplayDraw(draw.records)
        assert drive(here.play(wager, replayed), wager, choices) == outcome
        replayed.finish()
        hold_round(here, wager, referee, played, seen)
        table = outcome.table
    return seen


def hold_round(game, wager, referee, played, seen):
    boxes = game.rules.definition.boxes
    due = Counter()
    for bank, (name, cards) in enumerate(referee.banks.items()):
        referee.hold_bank(name)
        spot_name = ("main", "second", "third")[bank]
        for hand in referee.hands:
            seat, box = divmod(int(hand[4]) - 1, boxes)
            end = "" if box == 0 else f"-{box + 1}"
            first = wager_of(wager, seat).get(spot_name + end, 0)
            seen["first bet lost alone"] += bool(first and referee.added and is_natural(cards))
            due[seat, "main" + end] += referee.due(hand, first, cards)
            if hand in referee.insured:
                due[seat, "insurance" + end] += first // 2 * 3 * is_natural(cards)
    for seat in {bet.seat for bet in wager.bets}:
        for spot, credits_ in wager_of(wager, seat).items():
            kind, _, box = spot.rpartition("-") if spot[-1].isdecimal() else (spot, "", "1")
            if kind in SIDES:
                cards = referee.dealt[f"box-{seat * boxes + int(box)}"]
                due[seat, spot] += credits_ * SIDES[kind](cards, referee.banks["bank"][0])
    found = Counter()
    for each in played.settlements:
        spot = each.spot.replace("second", "main").replace("third", "main")
        found[each.seat, spot] += each.credits
        seen[each.name] += 1
    assert +found == +due
    assert sum(each.staked for each in played.settlements) == played.staked_credits
    assert played.undecided() == ()
    assert played.outcome.win_credits <= len({bet.seat for bet in wager.bets}) * game.rules.most_of_round(
        wager
    )
    shown = {each["id"]: each["cards"] for each in played.outcome.display["hands"]}
    assert shown == referee.banks | referee.hands


def wager_of(wager, seat):
    return {bet.spot: bet.credits for bet in wager.bets if bet.seat == seat}


def some_bets(game, draw):
    """Bets of each seat that plays, on each of its boxes that is played, with and without side bets."""
    made, seats = game.rules.definition, {}
    for seat in range(made.table.seats):
        bets = {}
        for spot in game.rules.layout():
            if spot.open and (not bets or draw.below(2, "player") or spot.id == "second"):
                steps = (min(spot.most, 40) - spot.least) // spot.step
                bets[spot.id] = spot.least + spot.step * draw.below(steps + 1, "player")
        bets = {k: v for k, v in bets.items() if game.rules.cloth.by_id[k].needs in {None, *bets}}
        for spot in bets:
            if spot.startswith("twelve-sixteen"):
                bets[spot] = min(bets[spot], bets["main" + spot.removeprefix("twelve-sixteen")])
        if not seats or draw.below(2, "player"):
            seats[seat] = bets
    cost = sum(sum(bets.values()) for bets in seats.values())
    return game.wager(cost, **({"seats": seats} if made.table.seats > 1 else {"bets": seats[0]}))


@pytest.mark.parametrize(("name", "count"), [(name, 1_400 // len(GAMES)) for name in GAMES])
def test_a_round_is_settled_as_the_texts_say(name, count, seeded_draw):
    seen = hold(name, seeded_draw, count)
    names = ("won", "lost", "push", "blackjack", "double", "split", "insurance")
    assert min(seen[each] for each in names) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_a_hundred_thousand_rounds_are_settled_as_the_texts_say(name, seeded_draw):
    seen = hold(name, seeded_draw, 100_000 if name in {"quebec", "options", "multi", "monaco"} else 10_000)
    assert min(seen.values()) > 10


# ---------------------------------------------------------------------------------- named cases
class Cards:
    """Deals these cards of a fresh shoe, in this order."""

    def __init__(self, game, cards):
        self.shoe = Shoe.of(game.rules.definition.shoe.decks)
        self.cards = list(cards_of(cards))

    def below(self, bound, purpose):
        card = 0 if purpose.startswith("burn") else self.cards.pop(0)
        assert bound == self.shoe.left
        value = sum(self.shoe.counts[:card])
        self.shoe.take(card)
        return value


def played(game, bets, cards, *answers):
    """Play one round with these cards and answers; all cards and answers must be used."""
    wager = game.wager(sum(bets.values()), bets=bets)
    draw = Cards(game, cards)
    outcome = drive(game.play(wager, draw), wager, map(Choice, answers))
    assert not draw.cards
    return outcome


def came_back(outcome):
    """What came back, by spot and name."""
    return [(each.spot, each.name, each.staked, each.credits) for each in outcome.settlements]


def test_four_hands_doubled_and_insured_against_a_blackjack_lose_the_first_bet_alone():
    game = load_game(OPTIONS)
    outcome = played(
        game,
        {"main": 20, "twelve-sixteen": 10, "sevens": 1},
        "8s Ah 8d 8c 3h Th 8h 2d 9s Ts 5c 7c Kd",
        *("insurance", "split", "split", "double", "split", "double", "stand", "hit", "stand"),
    )
    assert came_back(outcome) == [
        ("twelve-sixteen", "aces-or-eights", 10, 30),
        ("sevens", "lost", 1, 0),
        ("insurance", "won", 10, 30),
        ("main", "lost", 20, 0),
        ("main", "push", 20, 20),
        ("main", "push", 40, 40),
        ("main", "push", 20, 20),
        ("main", "push", 20, 20),
    ]
    hands = {each["id"]: each["cards"] for each in outcome.display["hands"]}
    assert hands == {
        "bank": ["Ah", "Kd"],
        "box-1": ["8s", "3h", "Th"],
        "box-1-3": ["8c", "2d", "9s"],
        "box-1-4": ["8h", "Ts"],
        "box-1-2": ["8d", "5c", "7c"],
    }


def test_without_protection_all_is_lost_to_a_blackjack():
    answers = ("no_insurance", "split", "double", "stand")
    outcome = played(load_game(MONACO), {"main": 20}, "8s Ah 8d 3h Th 7c Kd", *answers)
    assert [(each.staked, each.credits) for each in outcome.settlements] == [(40, 0), (20, 0)]


@pytest.mark.parametrize(
    ("name", "cards", "answers", "settled"),
    [
        # Blackjack: paid at once where the dealer can have none, compared where he can, pushed by his.
        (QUEBEC, "As 9h Kd", (), [("blackjack", 20, 50)]),
        (QUEBEC, "As Th Kd 9c", (), [("blackjack", 20, 50)]),
        (QUEBEC, "As Th Kd Ac", (), [("push", 20, 20)]),
        (QUEBEC, "As Ah Kd 9c", ("no_insurance",), [("blackjack", 20, 50)]),
        (QUEBEC, "As Ah Kd Tc", ("insurance",), [("won", 10, 30), ("push", 20, 20)]),
        (QUEBEC, "As Ah Kd 5c", ("insurance",), [("lost", 10, 0), ("blackjack", 20, 50)]),
        (MONACO, "As Th Kd", ("even_money",), [("even-money", 20, 40)]),
        (MONACO, "As Ah Kd", ("even_money",), [("even-money", 20, 40)]),
        (MONACO, "As Th Kd Ac", ("no_insurance",), [("push", 20, 20)]),
        # It beats 21 of more cards, and after a split it is 21.
        (QUEBEC, "9s Th 2d Tc Ac", ("hit",), [("lost", 20, 0)]),
        (MONACO, "As 6h Ad Tc Kc 5c 9s", ("split",), [("won", 20, 40), ("won", 20, 40)]),
        (MONACO, "As Th Ad Tc Kc Ac", ("split",), [("lost", 20, 0), ("lost", 20, 0)]),
        # A soft 17 is hit in Québec, and stood on where the table says so.
        (QUEBEC, "Ts 6h 9d Ac 3c", ("stand",), [("lost", 20, 0)]),
        (MONACO, "Ts 6h 9d Ac", ("stand",), [("won", 20, 40)]),
        # Over 21 is lost at once: the dealer takes no card.
        (QUEBEC, "Ts 6h 6d Tc", ("hit",), [("lost", 20, 0)]),
        # What was doubled and busted is spared by a blackjack only.
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
        # A hand of a split may be doubled where the table says so; 9 is 9 with an ace counted as one, too.
        (QUEBEC, "As 6h 8d Tc Td 2c", ("double",), [("won", 40, 80)]),
        (MONACO, "Ts 6h Td As Ac 5c 9c", ("split", "stand", "stand"), [("won", 20, 40), ("won", 20, 40)]),
    ],
)
def test_a_case_of_the_texts(name, cards, answers, settled):
    outcome = played(load_game(name), {"main": 20}, cards, *answers)
    assert [(each.name, each.staked, each.credits) for each in outcome.settlements] == settled


def asked(game, bets, cards, *answers):
    """The question after these answers."""
    wager = game.wager(sum(bets.values()), bets=bets)
    play = Round(game.play(wager, Cards(game, cards)), wager)
    play.advance()
    for answer in answers:
        play.advance(Choice(answer))
    return play


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
        (changed(MONACO, rules={"split": {"same": "rank"}}), "Ts 9h Kd", (), {"stand", "hit"}),
        (
            changed(MONACO, rules={"split": {"hands": 3, "ace_hands": 3}}),
            "As 9h Ad Ac",
            ("split",),
            {"stand", "split"},
        ),
        (
            changed(MONACO, rules={"split": {"aces_one_card": False}, "double": {"after_split": True}}),
            "As 9h Ad 8c",
            ("split",),
            {"stand", "hit", "double"},
        ),
    ],
)
def test_a_hand_is_offered_what_the_texts_let_it_do(game, cards, answers, options):
    play = asked(game, {"main": 20}, cards, *answers)
    assert set(play.decision.options) == options
    for option in options & {"double", "split"}:
        assert play.decision.bet(option).to_json() == {"spot": "main", "credits": 20}
    with pytest.raises(ChoiceError, match="not one of"):
        play.advance(Choice("surrender"))


def test_a_dealer_who_looks_ends_the_round_with_a_blackjack_and_takes_insurance_at_once_without():
    game = changed(QUEBEC, rules={"second_card": "hole"})
    outcome = played(game, {"main": 20}, "9s Ah 9d Kc", "insurance")
    assert came_back(outcome) == [("insurance", "won", 10, 30), ("main", "lost", 20, 0)]
    play = asked(game, {"main": 20}, "9s Ah 9d 8c", "insurance")
    assert [each.name for each in play.settlements] == ["lost"]
    shown = play.decision.prompt["hands"][0]
    assert shown == {"id": "bank", "cards": ["Ah", "??"]}
    assert "8c" not in json.dumps([play.decision.to_json(), *(cue.to_json() for cue in play.cues)])
    play.advance(Choice("stand"))
    assert play.outcome.display["hands"][0]["cards"] == ["Ah", "8c"]


def test_insurance_of_several_bets_is_half_of_each_and_is_decided_by_each_of_the_dealers_hands():
    bets = {"main": 20, "second": 10, "third": 4}
    outcome = played(load_game(MULTI), bets, "Ts Ah 9d Kc 5c 3c 7h", "insurance", "stand")
    assert came_back(outcome) == [
        ("insurance", "won", 10, 30),
        ("main", "lost", 20, 0),
        ("insurance", "lost", 5, 0),
        ("second", "push", 10, 10),
        ("insurance", "lost", 2, 0),
        ("third", "won", 4, 8),
    ]
    assert outcome.display["result"] == "BJ-19-18"


def test_two_bets_are_played_against_two_hands():
    outcome = played(load_game(MULTI), {"main": 20, "second": 10}, "Ts 9h 9d Tc 9c", "stand")
    assert [each["cards"][0] for each in outcome.display["hands"][:2]] == ["9h", "9h"]
    assert [each.name for each in outcome.settlements] == ["push", "won"]


def test_sevens_count_the_first_three_cards_of_the_box_split_or_not():
    game = load_game(OPTIONS)
    split = played(game, {"main": 2, "sevens": 1}, "7s 9h 7s 7s 2c 2c Tc", "split", "stand", "stand")
    assert ("sevens", "sevens-suited", 1, 5001) in came_back(split)
    stood = played(game, {"main": 2, "sevens": 1}, "7s 9h 7d Tc", "stand")
    assert ("sevens", "sevens-two", 1, 51) in came_back(stood)


def test_a_row_of_more_cards_than_were_dealt_does_not_pay():
    row = {
        "id": "suited",
        "name": {"en": "Suited", "fr": "Couleur"},
        "cards": 3,
        "suits": "same",
        "pays": "9:1",
    }
    side = {"id": "flush", "name": {"en": "Flush", "fr": "Couleur"}, "row": [row]}
    game = changed(QUEBEC, side=[side])
    stood = played(game, {"main": 2, "flush": 1}, "Ts 9h Ks Tc", "stand")
    assert ("flush", "lost", 1, 0) in came_back(stood)
    hit = played(game, {"main": 2, "flush": 1}, "Ts 9h 2s 7s Tc", "hit", "stand")
    assert ("flush", "suited", 1, 10) in came_back(hit)


def test_a_shoe_lasts_until_its_stop_card(seeded_draw):
    game, table, lefts = load_game(MONACO), None, []
    for seed in range(120):
        here = game.at(json.loads(json.dumps(table)))
        wager = here.wager(2)
        played_ = Round(here.play(wager, seeded_draw(seed)), wager)
        played_.advance()
        assert bool([cue for cue in played_.cues if cue.kind == "burn"]) == (table is None)
        while played_.decision is not None:
            played_.advance(Choice("stand" if "stand" in played_.decision.options else "no_insurance"))
        table = played_.outcome.table
        lefts += [] if table is None else [Shoe.from_json(table["shoe"]).left]
    assert min(lefts) > 96
    assert len(lefts) < 120
    with pytest.raises(ValueError, match="shuffled before"):
        game.at({"shoe": {"As": 3}})
    with pytest.raises(ValueError, match="shuffled before"):
        load_game(QUEBEC).at({"shoe": {"As": 3}})


# ---------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("name", "bets", "why"),
    [
        (QUEBEC, {"main": 3}, "no multiple of 2"),
        (QUEBEC, {"main": 502}, "2 to 500"),
        (QUEBEC, {"main": 2, "insurance": 1}, "takes no bet"),
        (MONACO, {"pairs": 1}, "needs a bet on 'main'"),
        (OPTIONS, {"main": 2, "twelve-sixteen": 3}, "no more than the main bet, 2"),
        (OPTIONS, {"main": 2, "sevens": 2}, "1 to 1"),
        (MULTI, {"main": 2}, "bets.main: needs a bet on 'second'"),
        (MULTI, {"main": 2, "third": 2}, "needs a bet on 'second'"),
        (MULTI, {"second": 2, "third": 2}, "needs a bet on 'main'"),
    ],
)
def test_a_wager_that_the_table_does_not_take_is_refused(name, bets, why):
    with pytest.raises(WagerError, match=why):
        load_game(name).wager(sum(bets.values()), bets=bets)


def test_a_wager_that_could_win_more_than_the_table_pays_is_refused():
    game = changed(QUEBEC, table={"most_win": 100})
    assert game.rules.most_of_round(game.wager(12, bets={"main": 12})) == 96
    with pytest.raises(WagerError, match="112 credits; 100 at most"):
        game.wager(14, bets={"main": 14})


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        (QUEBEC, lambda d: d.update(boxes=8), "less than or equal to 7"),
        (
            QUEBEC,
            lambda d: d.update(boxes=3, table={"seats": 3}),
            "3 boxes for each of 3 seats; 7 in all at most",
        ),
        (QUEBEC, lambda d: d.update(shoe={"decks": 9}), "less than or equal to 8"),
        (QUEBEC, lambda d: d.update(shoe={"decks": 1}, boxes=7), "may run out in a round: it must hold 446"),
        (MONACO, lambda d: d["shoe"].update(stop=52), "may run out in a round: it must hold 116"),
        (QUEBEC, lambda d: d["main"]["limits"].update(step=1), "multiple of 2"),
        (QUEBEC, lambda d: d.update(rules={"blackjack": "6:5"}), "multiple of 10"),
        (OPTIONS, lambda d: d["rules"].update(suited_678="7:4"), "multiple of 4"),
        (QUEBEC, lambda d: d.update(rules={"split": {"ace_hands": 3}}), "3 hands of aces, of 2"),
        (QUEBEC, lambda d: d.update(rules={"split": {"hands": 6}}), "less than or equal to 5"),
        (QUEBEC, lambda d: d.update(rules={"double": {"totals": [1]}}), "greater than or equal to 2"),
        (QUEBEC, lambda d: d.update(rules={"soft_17": "maybe"}), "'hit' or 'stand'"),
        (QUEBEC, lambda d: d.update(rules={"surrender": True}), "unknown key"),
        (MULTI, lambda d: d["main"].update(least_hands=3, hands=2), "least_hands: 3, of 2"),
        (MULTI, lambda d: d.update(rules={"second_card": "hole"}), "no second one to hide"),
        (MONACO, lambda d: d["side"][0].update(id="main"), "a stake of the game itself"),
        (MONACO, lambda d: d["side"][1].update(id="pairs"), "'pairs' is there twice"),
        (MONACO, lambda d: d["side"][1]["row"][0].update(id="mixed-pair"), "'mixed-pair' is there twice"),
        (OPTIONS, lambda d: d["side"][3]["row"].reverse(), "rows of more cards stand before"),
        (OPTIONS, lambda d: d["side"][3]["row"][0].update(ranks=["77"]), "'77' are not 3 ranks"),
        (OPTIONS, lambda d: d["side"][3]["row"][0].update(ranks=["7X7"]), "match pattern"),
        (OPTIONS, lambda d: d["side"][3]["row"][4].pop("ranks"), "says of no card"),
        (
            OPTIONS,
            lambda d: d["side"][3]["row"][0].update(dealer=True, ranks=["7777"]),
            "two cards of the box",
        ),
        (OPTIONS, lambda d: d["side"][0]["row"][1].update(pays="3:2"), "multiple of 2"),
        (OPTIONS, lambda d: d["side"][0]["row"][1].update(pays="10%"), "no level has this spot"),
        (MONACO, lambda d: d["form"][0].update(bets={"pairs": 1}), "needs a bet on 'main'"),
        (MONACO, lambda d: d["proved"]["main"]["chart"].append("hard"), r"proved\.main\.chart\.\d+"),
    ],
)
def test_a_definition_that_cannot_be_played_is_refused(name, change, why):
    data = json.loads(load_game(name).text)
    change(data)
    with pytest.raises(DefinitionError, match=why):
        game_from(data, "test")


def test_the_rules_say_what_the_house_has_chosen_in_both_languages():
    for name in (QUEBEC, OPTIONS, MULTI, MONACO):
        game = load_game(name)
        assert "{" not in game.help["en"] + game.help["fr"]
        assert len(game.rules.definition.pay_lines()["en"]) == len(game.rules.definition.pay_lines()["fr"])
    options, monaco = load_game(OPTIONS).help, load_game(MONACO).help
    assert "total 2 to 20, an ace as 1 or 11; also after a split" in options["en"]
    assert "Trois sept gagnent aussitôt" in options["fr"]
    assert "Son blackjack emporte tout" in monaco["fr"]
    assert "9 à 11" in load_game(QUEBEC).help["fr"]
    assert "ten or face a blackjack may take even money" in monaco["en"]


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
        (MONACO, "8s Th 8d", (), "hit"),  # what is added is lost to his blackjack
        (OPTIONS, "8s Th 8d", (), "split"),
        (MONACO, "As Th Kd", (), "no_insurance"),
    ],
)
def test_the_best_answer_is_advised(name, cards, answers, advice):
    play = asked(load_game(name), {"main": 20}, cards, *answers)
    assert play.decision.prompt["advice"] == advice


def test_a_play_of_other_rules_advises_nothing():
    data = json.loads(load_game(QUEBEC).text)
    data["rules"] = {"split": {"same": "rank"}}
    play = asked(game_from(data, "test"), {"main": 20}, "Ts Th 6d")
    assert "advice" not in play.decision.prompt
