"""Games whose seats share a round: each seat is settled as if it played alone with its cards.

A seat sees what a player at the table sees, and nothing else."""

from functools import cache, lru_cache
from random import Random

import pytest
from rigs.seated import BACKS, COMMON_HANDS, DEALT_FACE_DOWN, SEATED_GAMES

from paytables import Choice, Decision, Outcome, Settlement, Wager, load_game
from paytables.bank.super_pan import SuperPanRules
from paytables.cards import JOKER, Shoe
from paytables.poker.paigow import hands
from paytables.poker.paigow import rules as paigow
from paytables.poker.paigow.rules import PaiGowPokerRules
from paytables.poker.table.rules import PokerRules
from paytables.poker.two_hands import TwoHandsRules
from paytables.seating import format_hand_id

ROUNDS = 8
SEATS = 3


@cache
def list_cards(counts):
    return tuple(card for card in range(JOKER + 1) for _ in range(counts[card]))


def list_pieces(rules):
    """Return the cards or tiles of a new deal in the order in which the game's draws index them."""
    if isinstance(rules, TwoHandsRules):
        return range(len(rules.PIECE_NAMES))
    if isinstance(rules, SuperPanRules):
        counts = Shoe.from_decks(rules.definition.shoe.deck_count, excluded_ranks=(5, 6, 7, 8)).counts
    else:
        shoe = getattr(rules.definition, "shoe", None)
        counts = Shoe.from_decks(1 if shoe is None else shoe.deck_count).counts
    return list_cards(tuple(counts))


class Deal:
    """Random numbers of a round; records the card of each draw, and can be given the cards to deal."""

    def __init__(self, rules, random, wanted=(), avoided=()):
        self.left, self.random = [*list_pieces(rules)], random
        self.wanted = {purpose: list(cards) for purpose, cards in dict(wanted).items()}
        self.avoided = {card for cards in self.wanted.values() for card in cards} | set(avoided)
        self.dealt, self.numbers = [], []

    def below(self, bound, purpose):
        if bound != len(self.left):  # this draw is not for a card
            value = self.wanted[purpose].pop(0) if self.wanted.get(purpose) else self.random.randrange(bound)
            self.dealt.append((purpose, value))
        else:
            value = self.choose(purpose)
            self.dealt.append((purpose, self.left.pop(value)))
        self.numbers.append((bound, value, purpose))
        return value

    def choose(self, purpose):
        if self.wanted.get(purpose):
            return self.left.index(self.wanted[purpose].pop(0))
        for _ in range(8):  # with very many cards, a repeat is unlikely
            value = self.random.randrange(len(self.left))
            if self.left[value] not in self.avoided:
                return value
        allowed = [n for n, card in enumerate(self.left) if card not in self.avoided]
        return self.random.choice(allowed or range(len(self.left)))


def build_wagers(game, random, seats=SEATS):
    """Return a wager for each of several seats, each with a form of the game."""
    forms = game.rules.definition.preset_bets
    wagers = []
    for _ in range(seats):
        bets = dict(random.choice(forms).bets)
        wagers.append(game.build_wager(sum(bets.values()), bets=bets))
    return wagers


def play(game, wager, draw, answer):
    """Play a round; return its events (decisions and settlements) and its outcome."""
    events, generator, choice = [], game.play(wager, draw), None
    while True:
        try:
            event = generator.send(choice)
        except StopIteration as end:
            return events, end.value
        if isinstance(event, Decision):
            event = event.with_complete_prompt()
        choice = Choice(answer(event)) if isinstance(event, Decision) else None
        events.append(event)


def list_own(events, seat=None):
    return [
        (event.name, event.credits, event.spot, event.staked_credits, event.is_pay_table_prize)
        for event in events
        if isinstance(event, Settlement) and event.seat == (event.seat if seat is None else seat)
    ]


def rename_for_seat(dealt, seat, boxes):
    """Return the draws of one seat under the names they have when it plays alone."""
    cards_by_hand, purposes = {}, [purpose for purpose, _ in dealt]
    for purpose, card in dealt:
        if purpose.startswith(("burned", "war")):
            continue
        hand, _, suffix = purpose.partition(" ")
        if hand.startswith("box-"):
            number, _, split = hand.removeprefix("box-").partition("-")
            if not 0 <= (box := int(number) - 1 - seat * boxes) < boxes:
                continue
            hand = f"box-{box + 1}" + (f"-{split}" if split else "")
        elif hand.startswith("player"):
            if hand != format_hand_id(seat):
                continue
            hand = "player"
        elif hand == "seat":
            if int(suffix) != seat:
                continue
            suffix = "0"
        cards_by_hand.setdefault(f"{hand} {suffix}" if suffix else hand, []).append(card)
    name = f"war {format_hand_id(seat)}"
    if name in purposes:
        index = purposes.index(name)
        cards_by_hand |= {
            "war player": [dealt[index][1]],
            "war bank": [dealt[purposes.index("war bank", index)][1]],
        }
    return cards_by_hand


def combine(game, wagers, seat):
    return game.rules.combine_seat_wagers(wagers[seat], seat, dict(enumerate(wagers)))


def play_together(game, seed, count=SEATS):
    """Play a round of several seats; return the wagers, the deal, each seat's answers, the events and the outcome."""
    random = Random(seed)
    wagers = build_wagers(game, random, count)
    seats = {str(seat): dict(wager.options["bets"]) for seat, wager in enumerate(wagers)}
    together = Wager(sum(wager.credits for wager in wagers), {"seats": seats})
    deal, answers = Deal(game.rules, random), []

    def answer(decision):
        answers.append((decision.seat, random.choice(decision.options), decision.prompt.get("hand")))
        return answers[-1][1]

    return wagers, deal, answers, *play(game, together, deal, answer)


@pytest.mark.requirement("S-07", "S-20", "S-24", "S-52", "S-53")
@pytest.mark.parametrize("name", SEATED_GAMES)
def test_each_seat_is_settled_as_if_it_played_alone_with_its_cards(name):
    check_rounds(load_game(name), range(ROUNDS))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", SEATED_GAMES)
def test_a_hundred_thousand_hands_are_settled_as_if_played_alone(name, monkeypatch):
    """The whole table plays; advice is omitted for speed, and divisions of hands are cached."""
    monkeypatch.setattr(PokerRules, "build_advice", lambda *_: {})
    divide = lru_cache(maxsize=64)(hands.list_settings)
    for module in (hands, paigow):
        monkeypatch.setattr(module, "list_settings", lambda dealt: divide(tuple(dealt)))
    game = load_game(name)
    seats = game.rules.table_layout.table.seat_count
    check_rounds(game, range(10_000, 10_000 + -(-100_000 // seats)), seats)


def check_rounds(game, seeds, seats=SEATS):
    boxes = getattr(game.rules.definition, "box_count", 1)
    for seed in seeds:
        wagers, deal, answers, events, _ = play_together(game, seed, seats)
        for seat, wager in enumerate(wagers):
            own_answers = answers
            if (
                game.id in COMMON_HANDS
            ):  # a common hand may be answered by any seat; a hand without a bet has no answer
                hands = set(wager.options["bets"])
                hands = {"tableau-1", "tableau-2"} if "a-cheval" in hands else hands
                own_answers = [(seat, choice, hand) for _, choice, hand in answers if hand in hands]
                if any(choice == "stand" and hand not in hands for _, choice, hand in answers):
                    continue
            own_choices = iter([choice for chooser, choice, _ in own_answers if chooser == seat])
            expected = rename_for_seat(deal.dealt, seat, boxes)
            alone = Deal(game.rules, Random(seed), expected)
            apart, _ = play(game, wager, alone, lambda _, choices=own_choices: next(choices))
            assert list_own(apart) == list_own(events, seat), (seed, seat)
            assert list(own_choices) == []


@pytest.mark.requirement("B-01", "O-01")
@pytest.mark.parametrize("name", SEATED_GAMES)
def test_the_games_of_all_seats_are_one_round(name):
    """Each seat's game has the same draws and decisions, and its own money."""
    game = load_game(name)
    for seed in range(ROUNDS):
        wagers, deal, answers, events, outcome = play_together(game, seed)
        decisions = [
            (event.seat, event.kind, event.options) for event in events if isinstance(event, Decision)
        ]
        for seat in range(SEATS):
            given, replayed = iter(answers), Deal(game.rules, Random(seed))
            numbers = iter(deal.numbers)
            replayed.below = lambda bound, purpose, numbers=numbers: take(numbers, bound, purpose)
            wager = combine(game, wagers, seat)
            assert wager.credits == wagers[seat].credits
            view, end = play(game, wager, replayed, lambda _, given=given: next(given)[1])
            assert list(numbers) == []
            assert [(s.seat, s.kind, s.options) for s in view if isinstance(s, Decision)] == decisions
            assert [s.stakes for s in view if isinstance(s, Decision) and s.seat != seat and s.stakes] == []
            assert list_own(view) == list_own(events, seat)
            assert end.table_state == outcome.table_state


def take(numbers, bound, purpose):
    expected_bound, value, expected_purpose = next(numbers)
    assert (bound, purpose) == (expected_bound, expected_purpose)
    return value


def show(events, viewer):
    """Return the data of these events for a seat's screen, which excludes the options of other seats."""
    return [
        event.to_json() | ({"options": []} if isinstance(event, Decision) and event.seat != viewer else {})
        for event in events
    ]


def give_up(decision):
    """Return fold or surrender if offered, otherwise the answer that is used when a player does not answer."""
    return next(
        (option for option in decision.options if option in {"fold", "surrender"}), decision.default_option
    )


@pytest.mark.parametrize("name", [name for name in DEALT_FACE_DOWN if name not in COMMON_HANDS])
def test_a_seat_sees_nothing_of_another_seats_face_down_cards(name):
    """With other cards at the other seats, the data for this seat's screen is the same to the byte."""
    game = load_game(name)
    hidden = 0
    for seed in range(ROUNDS):
        random = Random(seed)
        wagers = build_wagers(game, random)
        viewer = seed % SEATS
        other = 0 if viewer else 1
        views, unseen = [], format_hand_id(other)
        first = Deal(game.rules, Random(seed))
        views.append(play(game, combine(game, wagers, viewer), first, give_up))
        dealt = dict(first.dealt)
        others = [purpose for purpose in dealt if purpose.split(" ")[0] == unseen]
        expected = {purpose: [card] for purpose, card in dealt.items() if purpose not in others}
        second = Deal(game.rules, Random(seed + 1), expected, dealt.values())
        views.append(play(game, combine(game, wagers, viewer), second, give_up))
        changed = dict(second.dealt)
        assert [purpose for purpose in dealt if dealt[purpose] != changed[purpose]] == others
        before, after = ([s for s in events if isinstance(s, Decision)] for events, _ in views)
        assert [event.prompt for event in before] == [event.prompt for event in after]
        answers = [give_up(event) for event in before if event.seat == other]
        if answers and answers[-1] in {"fold", "surrender"}:  # never shown to the others (s. 52)
            assert show(views[0][0], viewer) == show(views[1][0], viewer)
            assert views[0][1] == views[1][1]
        hidden += len(others)
        for event in before:
            hands = {hand["id"]: hand for hand in event.prompt["hands"]}
            assert set(hands[unseen]["cards"]) <= BACKS
            assert ("advice" in event.prompt or "ways" in event.prompt) <= (event.seat == viewer)
    assert hidden
    assert isinstance(views[0][1], Outcome)


@pytest.mark.parametrize("name", SEATED_GAMES)
def test_each_hand_names_its_seat_and_only_the_viewers_hands_are_marked_own(name):
    game = load_game(name)
    for seat in range(SEATS):
        wagers = build_wagers(game, Random(seat))
        _, outcome = play(game, combine(game, wagers, seat), Deal(game.rules, Random(seat)), give_up)
        hands = outcome.display["hands"]
        assert {hand["seat"] for hand in hands if hand.get("own")} <= {seat}
        named = {hand["id"] for hand in game.rules.build_presentation()["hands"]}
        assert {hand["id"] for hand in hands if "seat" in hand and hand["id"].count("-") < 2} <= named


def test_pai_gow_poker_has_four_remaining_cards_for_its_side_bet():
    """Six players and the bank leave four cards of 53 (s. 48), however many play."""
    rules = load_game("quebec-pai-gow-poker").rules
    assert isinstance(rules, PaiGowPokerRules)
    assert len(rules.PIECE_NAMES) - rules.PIECES_PER_HAND * (rules.definition.table.seat_count + 1) == 4
