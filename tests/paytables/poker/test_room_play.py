"""Poker between players: games settled independently, betting in turn, side pots, the commission, the figures."""

import json
from collections import Counter
from fractions import Fraction

import pytest
from rigs.cards import remove_cards
from rigs.rounds import list_undecided_stakes

from paytables import (
    ALL_STAKED_OPTION,
    SEATS_DECISION_KIND,
    STAKES_RETURNED_OPTION,
    BeyondExactAnalysisError,
    Choice,
    Decision,
    DefinitionError,
    RecordingDrawSource,
    RefusedRoundError,
    Round,
    Settlement,
    analyse,
    build_game,
    load_game,
    play_with_choices,
)
from paytables.cards import Shoe, parse_cards
from paytables.contract import Cue
from paytables.poker.room.betting import BetSizes, Betting, Player
from paytables.poker.room.figures import HOLDEM_TIE_CHANCE
from paytables.poker.room.pots import CommissionRules, award_pots, build_pots
from tests.paytables.poker.room_by_the_text import Books, best

GAME, OMAHA, STUD = "quebec-texas-holdem-room", "quebec-omaha-room", "quebec-seven-card-stud-room"
BACK = "??"
BUTTON = {"en": "Button", "fr": "Rondelle"}


def build_changed_game(name=GAME, **tables):
    """Return a game with some tables of its definition replaced."""
    data = json.loads(load_game(name).text)
    for key, table in tables.items():
        data[key] = {**data[key], **table} if isinstance(table, dict) else table
    return build_game(data, "test")


#: Table stakes that last for a few bets.
SHORT = {"least": 11, "most": 480}
NO_LIMIT = load_game(GAME)
VARIANTS = {
    "no limit": lambda: NO_LIMIT,
    "Omaha": lambda: load_game(OMAHA),
    "stud": lambda: build_changed_game(STUD, stack={"limits": SHORT}),
    "pot limit": lambda: build_changed_game(limit={"kind": "pot"}),
    "fixed limit": lambda: build_changed_game(
        limit={"kind": "fixed", "bets": [8, 8, 16, 16], "raises": 4}, stack={"limits": SHORT}
    ),
    "spread limit and ante": lambda: build_changed_game(
        limit={"kind": "spread", "most": 40, "raises": 3}, forced={"ante": 3}, stack={"limits": SHORT}
    ),
    "dear commission": lambda: build_changed_game(commission={"percent": 7, "most": 5, "from_round": 1}),
}


def rules_of(game):
    data = game.rules.definition
    return {
        "small": data.forced_bets.small_blind, "big": data.forced_bets.big_blind, "ante": data.forced_bets.ante,
        "bring_in": data.forced_bets.bring_in, "raked_from": data.commission.first_round_number,
        "kind": data.bet_limit.kind, "bets": data.bet_limit.round_bet_sizes, "most": data.bet_limit.bet_max, "raises": data.bet_limit.raises_max,
        "percent": data.commission.percent, "cap": data.commission.commission_max_credits,
    }  # fmt: skip


def some_stacks(draw, table_seats, least):
    """Return random stacks of two seats or more, short and deep ones."""
    count = 2 + draw.below(table_seats - 1, "count")
    seats = list(range(table_seats))
    taken = sorted(seats.pop(draw.below(len(seats), "seat")) for _ in range(count))
    return {seat: least + draw.below((30, 200, 380)[draw.below(3, "depth")], "stack") for seat in taken}


def choose(draw, options):
    """Return a random option; folds and all-in bets are rare, so that games reach every betting round."""
    weights = {"fold": 2, "check": 8, "call": 9, "all-in": 1}
    lots = [name for name in options for _ in range(weights.get(name, 3))]
    return lots[draw.below(len(lots), "choice")]


def split_hands(display):
    """Return the cards of the board and the hands of the seats."""
    board, *hands = display["hands"]
    return board["cards"], hands


def go_to_street(books, display):
    """Advance the record to the betting round of the dealt cards; cards face up decide who acts first."""
    board, hands = split_hands(display)
    up = {seat: hand["cards"][2:6] for seat, hand in zip(sorted(books.left), hands, strict=True)}
    is_stud = books.rules["bring_in"] is not None
    dealt = max(len(hand["cards"]) for hand in hands)
    street = dealt - 3 if is_stud else {0: 0, 3: 1, 4: 2, 5: 3}[len(board)]
    if is_stud and not any(books.here.values()) and books.number == 0:
        books.bring_in(up)
    while books.number < street:
        assert books.whose() is None
        books.street(books.number + 1)
        if is_stud and books.number == street:
            books.highest_acts_first(up)


def check_game(game, draw, seen):
    """Play one game and compare each turn, each option and each return with the record from the texts."""
    table_seats = game.rules.definition.table.seat_count
    stacks = some_stacks(draw, table_seats, game.rules.table_layout.spots[0].bet_min)
    offered = draw.below(table_seats, "button")
    here = game.with_table_state({"button": offered})
    button = next(seat for n in range(table_seats) if (seat := (offered + n) % table_seats) in stacks)
    rules = rules_of(here)
    books, steps, choice = Books(rules, stacks, button), [], None
    wagers = {str(seat): {"stack": stack} for seat, stack in stacks.items()}
    play = here.play(here.build_wager(sum(stacks.values()), seats=wagers), draw)
    while True:
        try:
            step = play.send(choice)
        except StopIteration as end:
            outcome = end.value
            break
        choice = None
        steps.append(step)
        if isinstance(step, Decision):
            go_to_street(books, step.prompt)
            allowed = books.allowed(step.seat)
            assert step.seat == books.whose()
            assert step.options == tuple(sorted(allowed, key=lambda name: (name != "fold", allowed[name])))
            assert step.prompt["costs"] == {name: cost for name, cost in allowed.items() if cost}
            assert step.default_option == ("fold" if "fold" in allowed else "check")
            option = choose(draw, step.options)
            books.act(step.seat, option)
            seen[option] += 1
            choice = Choice(option)
    go_to_street(books, outcome.display)
    board, hands = split_hands(outcome.display)
    alive = books.alive()
    cards = dict(zip(sorted(stacks), (hand["cards"] for hand in hands), strict=True))
    uses = game.rules.definition.required_hole_card_count
    worths = {seat: best(cards[seat], board, uses) if len(alive) > 1 else 0 for seat in alive}
    back, stacks_after, paid, commission = books.settle(worths, books.number + 1)
    found = {seat: Counter() for seat in stacks}
    staked = Counter()
    for step in steps:
        if isinstance(step, Settlement):
            found[step.seat]["kept" if step.name == "not played" else "pots"] += step.credits
            found[step.seat]["commission"] += step.detail.get("commission", 0)
            staked[step.seat] += step.staked_credits
    assert {seat: share["pots"] for seat, share in found.items()} == back
    assert {seat: share["kept"] for seat, share in found.items()} == stacks_after
    assert staked == Counter(stacks)
    assert sum(share["commission"] for share in found.values()) == commission == outcome.display["commission"]
    assert commission <= min(rules["cap"], Fraction(rules["percent"], 100) * sum(paid.values()))
    assert (
        sum(back.values()) + commission == sum(paid.values()) == outcome.display["pot"]
    )  # the pots end at zero
    assert outcome.table_state == {"button": (button + 1) % table_seats}
    seen["showdowns"] += len(alive) > 1
    seen["side pots"] += len({paid[seat] for seat in alive}) > 1
    seen["split"] += len(alive) > 1 and list(worths.values()).count(max(worths.values())) > 1
    seen["odd credits"] += books.odd_credits
    seen["short raises"] += books.short_raises
    seen["commission"] += commission > 0
    seen["capped"] += commission == rules["cap"]
    seen["heads-up"] += len(stacks) == 2
    seen["full table"] += len(stacks) == table_seats


SEEN = {
    *("fold", "check", "call", "bet", "raise", "all-in", "short raises", "heads-up", "full table"),
    *("showdowns", "side pots", "split", "odd credits", "commission", "capped"),
}


#: Ties of separate hands of seven cards are too rare for a few games.
RARE_AT_STUD = {"split", "odd credits"}


def hold_games(game, seeded_draw, count):
    seen = Counter()
    for seed in range(count):
        check_game(game, seeded_draw(seed), seen)
    rare = RARE_AT_STUD if count < 1_000 and not game.rules.definition.board_card_count else set()
    assert {name for name in SEEN - rare if not seen[name]} == set()


@pytest.mark.requirement("S-32", "S-33", "S-34", "S-35")
@pytest.mark.parametrize("variant", VARIANTS)
def test_games_are_bet_and_settled_as_the_text_says(seeded_draw, variant):
    hold_games(VARIANTS[variant](), seeded_draw, 150)


@pytest.mark.slow
@pytest.mark.timeout(7_200)
@pytest.mark.requirement("S-32", "S-33", "S-34", "S-35")
def test_a_hundred_thousand_games_are_bet_and_settled_as_the_text_says(seeded_draw):
    hold_games(NO_LIMIT, seeded_draw, 100_000)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("variant", VARIANTS)
def test_ten_thousand_games_of_each_limit_are_bet_and_settled_as_the_text_says(seeded_draw, variant):
    hold_games(VARIANTS[variant](), seeded_draw, 10_000)


# ---------------------------------------------------------------------------------- betting
def betting(*stacks, kind="none", least=8, most=None, raises=None):
    """Return a betting round of players with these stacks, the first of whom acts first."""
    sizes = BetSizes(kind, least, most, raises)
    found = Betting([Player(seat, stack) for seat, stack in enumerate(stacks)], sizes)
    found.start_round(sizes, 0)
    return found


def act(found, *options):
    for option in options:
        found.apply_option(found.find_next_player(), option)
    player = found.find_next_player()
    return None if player is None else (player.seat, found.list_options(player))


@pytest.mark.requirement("S-33")
def test_a_raise_is_at_least_as_large_as_the_last_one_and_amounts_are_offered_once():
    found = betting(500, 500, 70, 500)
    assert act(found, "bet", "pot") == (2, {"fold": 0, "call": 24, "raise": 40, "half-pot": 52, "all-in": 70})
    assert act(found, "raise") == (
        3,
        {"fold": 0, "call": 40, "raise": 56, "half-pot": 96, "pot": 152, "all-in": 500},
    )
    found = betting(500, 100, 500)
    assert act(found, "bet", "all-in", "call") == (
        0,
        {"fold": 0, "call": 92, "raise": 184, "half-pot": 242, "pot": 392, "all-in": 492},
    )


@pytest.mark.requirement("S-33")
def test_short_all_in_reopens_raising_only_for_players_who_have_not_acted():
    found = betting(500, 12, 500)
    assert act(found, "bet", "all-in") == (
        2,
        {"fold": 0, "call": 12, "raise": 20, "half-pot": 28, "pot": 44, "all-in": 500},
    )
    assert act(found, "call") == (0, {"fold": 0, "call": 4})
    assert act(found, "call") is None
    found = betting(500, 16, 500)  # a full raise
    assert act(found, "bet", "all-in", "call")[1].keys() == {
        "fold",
        "call",
        "raise",
        "half-pot",
        "pot",
        "all-in",
    }


@pytest.mark.requirement("S-33")
def test_the_sizes_of_bets_are_those_of_the_limit():
    assert act(betting(500, 500)) == (0, {"check": 0, "bet": 8, "all-in": 500})
    found = betting(500, 500, 500, kind="pot")
    assert act(found, "bet") == (1, {"fold": 0, "call": 8, "raise": 16, "pot": 24})
    assert act(found, "pot") == (2, {"fold": 0, "call": 24, "raise": 40, "half-pot": 52, "pot": 80})
    found = betting(500, 500, kind="fixed", raises=2)
    assert act(found) == (0, {"check": 0, "bet": 8})
    assert act(found, "bet") == (1, {"fold": 0, "call": 8, "raise": 16})
    assert act(found, "raise") == (0, {"fold": 0, "call": 8})
    found = betting(500, 500, 20, kind="spread", most=30)
    assert act(found) == (0, {"check": 0, "bet": 8, "most": 30})
    assert act(found, "most") == (1, {"fold": 0, "call": 30, "raise": 60})
    assert act(found, "raise") == (2, {"fold": 0, "call": 20})


@pytest.mark.requirement("S-33")
def test_a_player_who_checked_may_call_raise_or_fold_in_the_same_betting_round():
    found = betting(500, 500, 500)
    assert act(found, "check", "check", "bet")[0] == 0
    assert {"fold", "call", "raise"} <= act(found)[1].keys()


@pytest.mark.requirement("S-32")
def test_a_player_who_is_all_in_is_not_asked_and_the_others_continue():
    found = betting(10, 500, 500)
    assert act(found, "all-in", "call")[0] == 2
    assert act(found, "call") is None
    found.start_round(found.bet_sizes, 0)
    assert act(found)[0] == 1
    assert act(found, "bet", "fold") is None
    assert found.return_uncalled_bet() == (1, 8)
    alone = betting(10, 500)
    assert act(alone, "all-in") == (1, {"fold": 0, "call": 10})  # no other seat could call a raise
    assert act(alone, "call") is None
    alone.start_round(alone.bet_sizes, 0)
    assert alone.find_next_player() is None


# ---------------------------------------------------------------------------------- pots
@pytest.mark.requirement("S-32")
def test_only_players_who_bet_for_a_side_pot_can_win_it():
    pots = build_pots({0: 50, 1: 100, 2: 200, 3: 200, 4: 30}, [0, 1, 2, 3])
    assert [(pot.credits, pot.seats) for pot in pots] == [
        (230, (0, 1, 2, 3)),
        (150, (1, 2, 3)),
        (200, (2, 3)),
    ]
    won = award_pots(pots, {0: 9, 1: 7, 2: 8, 3: 1}, [4, 0, 1, 2, 3])
    assert {seat: share.credits for seat, share in won.items()} == {0: 230, 2: 350}


@pytest.mark.requirement("S-34")
def test_odd_credits_go_to_the_first_winners_left_of_the_button():
    (pot,) = build_pots({0: 25, 1: 25, 2: 25, 3: 25}, [1, 2, 3])
    won = award_pots([pot], {1: 5, 2: 5, 3: 5}, [3, 0, 1, 2])
    assert {seat: share.credits for seat, share in won.items()} == {3: 34, 1: 33, 2: 33}


@pytest.mark.requirement("S-35")
def test_the_commission_is_a_share_of_each_pot_up_to_its_maximum():
    pots = CommissionRules(10, 20).deduct_commission(build_pots({0: 50, 1: 99, 2: 99}, [0, 1, 2]))
    assert [(pot.credits, pot.commission_credits) for pot in pots] == [(150, 15), (98, 5)]
    pots = CommissionRules(10, 50).deduct_commission(build_pots({0: 3, 1: 3, 2: 3}, [0, 1, 2]))
    assert [pot.commission_credits for pot in pots] == [0]


# ---------------------------------------------------------------------------------- a game
class Dealt:
    """Draws that deal these cards of a full pack."""

    def __init__(self, cards):
        self.shoe, self.cards = Shoe.from_decks(1), list(parse_cards(cards))

    def below(self, bound, purpose):
        assert bound == self.shoe.cards_left, purpose
        card = self.cards.pop(0)
        value = sum(self.shoe.counts[:card])
        remove_cards(self.shoe, card)
        return value


def combine(game, stacks, seat):
    wagers = {n: game.build_wager(stack, bets={"stack": stack}) for n, stack in stacks.items()}
    return game.rules.combine_seat_wagers(wagers[seat], seat, wagers)


def play(game, wager, cards, *options):
    """Play a game with these cards and answers, followed by checks; return its steps and its outcome."""
    answers, steps, choice = iter(options), [], None
    generator = game.play(wager, Dealt(cards))
    while True:
        try:
            step = generator.send(choice)
        except StopIteration as end:
            return steps, end.value
        choice = None
        if isinstance(step, Decision):
            choice = Choice(
                step.default_option
                if step.kind == SEATS_DECISION_KIND
                else next(answers, step.default_option)
            )
        steps.append(step)


#: Three seats, the button at seat 0: the hands of seats 2, 5 and 0, twice one card each, then the board.
THREE = {0: 400, 2: 400, 5: 160}
CARDS = "As 7h Kd Ah 2c Kh Ac 9s 8d 3h Qc"


@pytest.mark.requirement("S-34")
def test_the_last_bettor_shows_first_then_the_others_clockwise():
    game = NO_LIMIT.with_table_state({"button": 0})
    answers = ("call", "call", "check", "check", "check", "bet", "call", "call")
    steps, outcome = play(game, combine(game, THREE, 5), CARDS, *answers)
    shown = [step.data["hand"] for step in steps if isinstance(step, Cue) and step.kind == "flip"]
    assert shown == ["player", "player", "player-3", "player-3"]  # seat 0 bet last; its own are seen already
    assert [hand.get("says") for hand in outcome.display["hands"][1:]] == [
        {"en": "Pair", "fr": "Paire"},
        {"en": "Three of a kind", "fr": "Brelan"},
        {"en": "High card", "fr": "Carte la plus élevée"},
    ]
    assert outcome.table_state == {"button": 1}


@pytest.mark.requirement("S-34", "S-35")
def test_a_bet_that_nobody_calls_wins_the_pot_without_a_showdown():
    game = NO_LIMIT.with_table_state({"button": 0})
    steps, outcome = play(game, combine(game, THREE, 2), CARDS, "fold", "raise", "fold")
    assert [step for step in steps if isinstance(step, Cue) and step.kind == "flip"] == []
    assert [hand["cards"] for hand in outcome.display["hands"]] == [
        [],
        [BACK, BACK],
        ["As", "Ah"],
        [BACK, BACK],
    ]
    settled = [
        (step.name, step.credits, step.staked_credits) for step in steps if isinstance(step, Settlement)
    ]
    assert settled == [("not played", 392, 392), ("won", 16, 8)]
    assert outcome.display["commission"] == 0  # no card has been dealt for all
    assert outcome.display["pot"] == 16


@pytest.mark.requirement("S-33", "S-32")
def test_a_blind_bet_that_is_folded_stays_in_the_pot():
    game = NO_LIMIT.with_table_state({"button": 0})
    steps, _ = play(game, combine(game, THREE, 2), CARDS, "raise", "fold", "fold")
    settled = [
        (step.name, step.credits, step.staked_credits) for step in steps if isinstance(step, Settlement)
    ]
    assert settled == [("not played", 396, 396), ("folded", 0, 4)]


@pytest.mark.requirement("S-33", "B-01")
def test_no_prompt_and_no_cue_contains_the_hole_cards_of_another_seat():
    game = NO_LIMIT.with_table_state({"button": 0})
    hole_cards = {0: ["Kd", "Kh"], 2: ["As", "Ah"], 5: ["7h", "2c"]}
    for viewer, cards in hole_cards.items():
        steps, outcome = play(game, combine(game, THREE, viewer), CARDS, "call", "call")
        others = {card for seat, hand in hole_cards.items() if seat != viewer for card in hand}
        until = next(n for n, step in enumerate(steps) if isinstance(step, Cue) and step.kind == "flip")
        shown_json = json.dumps(
            [
                [step.prompt, list(step.options)] if isinstance(step, Decision) else step.to_json()
                for step in steps[:until]
            ]
        )
        assert [card for card in others if f'"{card}"' in shown_json] == []
        assert all(f'"{card}"' in shown_json for card in cards)
        assert {step.seat for step in steps if isinstance(step, Settlement)} == {viewer}
        assert {hand["id"]: hand.get("own") for hand in outcome.display["hands"]}[
            "player" if viewer == 0 else f"player-{viewer + 1}"
        ]


@pytest.mark.requirement("S-33")
def test_each_seat_sees_what_every_player_has_bet_has_left_and_receives():
    game, stacks = NO_LIMIT.with_table_state({"button": 3}), {1: 160, 7: 200}
    for viewer in stacks:
        steps, outcome = play(
            game, combine(game, stacks, viewer), "2c 3d 4h 5s 6c 7d 8h 9s Tc", "call", "check", "check"
        )
        decisions = [step for step in steps if isinstance(step, Decision) and step.kind == "betting"]
        for step in decisions:
            board, *hands = step.prompt["hands"]
            assert [hand["staked"] + hand["left"] for hand in hands] == [*stacks.values()]
            assert board["staked"] == sum(hand["staked"] for hand in hands)
        received = [hand.get("received", 0) for hand in outcome.display["hands"][1:]]
        paid = outcome.display["pot"] - outcome.display["commission"]
        assert sum(received) == paid
        assert all("left" not in hand for hand in outcome.display["hands"])


@pytest.mark.requirement("S-33")
def test_the_button_has_the_small_blind_of_two_players_and_acts_first_before_the_board():
    game = NO_LIMIT.with_table_state({"button": 3})
    stacks = {1: 160, 7: 160}  # the first seat that plays from seat 3 on is seat 7
    steps, outcome = play(
        game, combine(game, stacks, 1), "2c 3d 4h 5s 6c 7d 8h 9s Tc", "call", "check", "check"
    )
    _, *decisions = (step for step in steps if isinstance(step, Decision))
    assert [step.seat for step in decisions] == [7, 1, 1, 7, 1, 7, 1, 7]
    assert [step.prompt["staked"] for step in decisions[:2]] == [4, 8]
    assert outcome.table_state == {"button": 8}


@pytest.mark.requirement("S-32")
def test_all_table_stakes_are_returned_if_a_game_cannot_end():
    game = NO_LIMIT.with_table_state({"button": 0})
    wager = combine(game, THREE, 0)
    round_ = Round(game.play(wager, Dealt(CARDS)), wager)
    round_.advance()
    for option in (ALL_STAKED_OPTION, "raise", "call", "fold", "bet"):
        round_.advance(Choice(option))
    assert [(bet.seat, bet.credits) for bet in list_undecided_stakes(round_)] == [(0, 400)]


@pytest.mark.requirement("S-32")
def test_if_not_all_have_staked_all_table_stakes_are_returned_and_the_button_stays(seeded_draw):
    game, draw = NO_LIMIT.with_table_state({"button": 4}), RecordingDrawSource(seeded_draw(1))
    wager = combine(game, THREE, 5)
    outcome = play_with_choices(game.play(wager, draw), wager, [Choice(STAKES_RETURNED_OPTION)])
    assert [
        (settlement.name, settlement.credits, settlement.staked_credits) for settlement in outcome.settlements
    ] == [("not played", 160, 160)]
    assert (outcome.table_state, draw.records) == ({"button": 4}, [])


@pytest.mark.requirement("S-32")
def test_one_player_plays_no_game(seeded_draw):
    with pytest.raises(RefusedRoundError, match="by 2 seats or more; 1 have bets") as raised:
        next(NO_LIMIT.play(NO_LIMIT.build_wager(160, bets={"stack": 160}), seeded_draw(1)))
    assert (raised.value.notice, raised.value.values) == ("too_few_players", {"count": 2})


@pytest.mark.requirement("S-34")
def test_a_hand_of_omaha_has_exactly_two_of_the_hole_cards():
    rank = load_game(OMAHA).rules.compute_hand_strength
    board = parse_cards("2h 7h 9h Kh 3c")
    assert rank(parse_cards("Ah Ac As Kd"), board) < rank(
        parse_cards("Ah 4h 5c 6c"), board
    )  # one heart is no flush
    assert rank(parse_cards("As Ac Ad Ah"), board) == rank(
        parse_cards("As Ac 4d 5d"), board
    )  # a pair of aces


def play_stud(stacks, cards, *options, viewer=None):
    game = load_game(STUD).with_table_state({"button": 0})
    if viewer is None:
        seats = {str(seat): {"stack": stack} for seat, stack in stacks.items()}
        return play(game, game.build_wager(sum(stacks.values()), seats=seats), cards, *options)
    return play(game, combine(game, stacks, viewer), cards, *options)


#: Seats 2, 5 and 0: two cards each face down, one face up, three more face up, and the last one face down.
UP = "As 7h Kd Ah 2c Kh 4d 4c 9s 9h 5s 2d 9c 5d 3d Td 6s 8c Jc Js 7d"


@pytest.mark.requirement("S-33")
def test_the_lowest_card_face_up_is_forced_to_bet_and_the_highest_cards_act_first():
    stacks = {0: 240, 2: 240, 5: 240}
    steps, outcome = play_stud(stacks, UP, "call", "call")
    decisions = [step for step in steps if isinstance(step, Decision)]
    # The four of clubs is seat 5's: the seat after it acts first, and it may still raise. Then seats 2 and 0 have a
    # nine face up, and the four of seat 2 is above the two.
    assert [step.seat for step in decisions][:4] == [0, 2, 5, 2]
    assert decisions[0].prompt["costs"] == {"call": 6, "raise": 12}  # completes the bet to 12
    assert decisions[2].prompt["costs"] == {"raise": 6}
    assert [step.prompt["staked"] for step in decisions[:4]] == [4, 4, 10, 10]
    assert len([step for step in steps if isinstance(step, Cue) and step.kind == "deal"]) == 21
    assert outcome.display["pot"] == 30


@pytest.mark.requirement("S-33", "B-01")
def test_of_seven_cards_others_see_the_four_that_lie_face_up():
    stacks = {0: 240, 2: 240, 5: 240}
    steps, _ = play_stud(stacks, UP, "call", "call", viewer=5)
    _, *last = [step for step in steps if isinstance(step, Decision)][-1].prompt["hands"]
    assert [hand["cards"] for hand in last] == [
        [BACK, BACK, "9s", "2d", "3d", "8c", BACK],
        [BACK, BACK, "4d", "9h", "9c", "Td", BACK],
        ["7h", "2c", "4c", "5s", "5d", "6s", "Js"],
    ]


# ---------------------------------------------------------------------------------- the definition, the table
@pytest.mark.parametrize(
    "table", [{}, {"button": 9}, {"button": True}, {"button": 0, "shoe": {}}, {"seat": 1}, [0]]
)
def test_a_table_that_no_game_leaves_is_refused(table):
    with pytest.raises(ValueError, match="is not a table state that a game of this table can leave"):
        NO_LIMIT.with_table_state(table)


@pytest.mark.requirement("S-35")
@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ({"commission": {"percent": 11}}, "less than or equal to 10"),
        ({"commission": {"from_round": 5}}, "there are 4 betting rounds"),
        ({"table": {"seats": 1}}, "2 or more"),
        ({"deal": [{"hole": 2}, {"board": 2}]}, "make no hand of 5"),
        ({"deal": [{"hole": 6}, {"board": 3}]}, "need 57 cards of 52"),
        ({"deal": [{"board": 3}, {"hole": 2}]}, "the first step must deal a hole card to each player"),
        ({"forced": {"small": 9}}, "above the big blind"),
        ({"forced": {"ante": 153}}, "does not cover the forced bets of 161"),
        ({"forced": {"bring_in": 3}}, "`small` and `big`, or `bring_in`"),
        ({"deal": [{"hole": 2, "up": 1}, {"board": 3}]}, "face up go with a bring-in"),
        ({"limit": {"kind": "fixed"}}, "a fixed limit must have `bets`"),
        ({"limit": {"kind": "spread", "most": 7}}, "below the big blind"),
        ({"limit": {"kind": "fixed", "bets": [8, 16]}}, "expected one for each of the 4 betting rounds"),
        ({"uses": 3}, "uses"),
    ],
)
def test_a_definition_that_the_rules_do_not_allow_is_refused(tables, reason):
    with pytest.raises(DefinitionError, match=reason):
        build_changed_game(**tables)


# ---------------------------------------------------------------------------------- figures
@pytest.mark.requirement("S-35", "O-02")
def test_the_certified_figure_is_the_commission_and_the_return_that_of_two_who_check():
    (bet,) = analyse(NO_LIMIT).bets
    assert NO_LIMIT.rules.commission_rate == Fraction(1, 10)
    # Of 16 credits one is taken; of equal hands the button's has the smaller half of 15.
    win = (1 - HOLDEM_TIE_CHANCE) / 2
    assert bet.rtp == 1 + (win * 7 - HOLDEM_TIE_CHANCE - win * 8) / 160
    assert bet.options["others"] == {"1": {"stack": 160}}


def test_of_a_deal_that_is_not_counted_the_return_is_stated_where_equal_hands_share_equally():
    (bet,) = analyse(load_game(OMAHA)).bets
    assert bet.rtp == 1 - Fraction(2, 2) / 200  # of 20 credits two are taken, one from each
    assert (bet.variance, bet.distribution, bet.max_win_credits) == (None, None, 9 * 200)
    with pytest.raises(BeyondExactAnalysisError, match="how often two hands are equal"):
        analyse(build_changed_game(deal=[{"hole": 4}, {"board": 3}, {"board": 1}, {"board": 1}], uses=2))
