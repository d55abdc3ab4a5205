"""Played poker against the bank, compared with settlements written from the text of the by-law."""

import itertools
import json
from fractions import Fraction

import pytest
from rigs.rounds import list_undecided_stakes

import paytables
from paytables import (
    Bet,
    Choice,
    RecordingDrawSource,
    ReplayDrawSource,
    Round,
    Wager,
    WagerError,
    load_game,
    play_through,
)
from tests.paytables.poker import hands_brute as brute

GAMES = paytables.definition.LIBRARY_FOLDER / "tables"


def load(name):
    return load_game(GAMES / f"{name}.toml")


def three(cards):
    return brute.judge(cards, brute.THREE)


def name_of(rank, order):
    return order[rank[0]]


def net(rank, order, pays, none=-1):
    """Return the net odds that a table pays for a hand, or ``none`` if the table has no such hand."""
    return pays.get(name_of(rank, order), none)


def over(own_rank, other_rank):
    return (own_rank > other_rank) - (own_rank < other_rank)


PAIR_PLUS = {"sf": 40, "trips": 30, "straight": 6, "flush": 4, "pair": 1}


def three_card(stake, answers, player, board, bank):
    del board
    own_rank, theirs = three(player), three(bank or player)
    opens = theirs[0] > 0 or theirs[1] >= brute.ORDER.index("Q")
    bonus = {"sf": 5, "trips": 4, "straight": 1}.get(name_of(own_rank, brute.THREE), 0)
    back = {"pair-plus": 1 + net(own_rank, brute.THREE, PAIR_PLUS)}
    if answers == ["fold"]:
        return back | {"ante": 0}
    result = over(own_rank, theirs)
    return back | {
        "ante": (2 if not opens else 1 + result) + bonus,
        "play": 1 if not opens else 1 + result,
    }


def ride(stake, answers, player, board, bank):
    del bank
    rank = brute.judge([*player, *board])
    pays = {
        "royal": 1000,
        "sf": 200,
        "quads": 50,
        "full": 11,
        "flush": 8,
        "straight": 5,
        "trips": 3,
        "two-pair": 2,
    }
    won = net(rank, brute.FIVE, pays)
    if name_of(rank, brute.FIVE) == "pair" and rank[1] >= brute.ORDER.index("T"):
        won = 1
    side = {"royal": 20000, "sf": 2000, "quads": 200, "full": 100, "flush": 50, "straight": 25}
    return {
        "bet-1": 1 if answers[0] == "withdraw" else 1 + won,
        "bet-2": 1 if answers[1] == "withdraw" else 1 + won,
        "bet-3": 1 + won,
        "side": side.get(name_of(rank, brute.FIVE), 0),
    }


def caribbean(stake, answers, player, board, bank):
    del board
    own_rank = brute.judge(player)
    side = {"progressive": {"quads": 500, "full": 100, "flush": 50}.get(name_of(own_rank, brute.FIVE), 0)}
    if answers == ["fold"]:
        return side | {"ante": 0}
    theirs = brute.judge(bank)
    if theirs[0] == 0 and theirs[1:3] < (12, 11):
        return side | {"ante": 2, "raise": 1}
    pays = {
        "royal": 100,
        "sf": 50,
        "quads": 20,
        "full": 7,
        "flush": 5,
        "straight": 4,
        "trips": 3,
        "two-pair": 2,
    }
    result = over(own_rank, theirs)
    raised = 1 + net(own_rank, brute.FIVE, pays, 1) if result > 0 else 1 + result
    return side | {"ante": 1 + result, "raise": raised}


def tens(rank):
    return name_of(rank, brute.FIVE) == "two-pair" and rank[1] >= brute.ORDER.index("T")


def three_five_seven(stake, answers, player, board, bank):
    del bank
    five, seven = brute.judge([*player, *board[:2]]), brute.best([*player, *board])
    pays = {
        "royal": 500,
        "sf": 100,
        "quads": 40,
        "full": 12,
        "flush": 9,
        "straight": 6,
        "trips": 4,
        "two-pair": 3,
    }
    on_five = net(five, brute.FIVE, pays)
    if name_of(five, brute.FIVE) == "pair" and made_of(five) >= brute.ORDER.index("6"):
        on_five = 1
    pays = {"royal": 100, "sf": 20, "quads": 7, "full": 5, "flush": 4, "straight": 3, "trips": 2}
    on_seven = 1 if tens(seven) else net(seven, brute.FIVE, pays)
    return {
        "three": 1 + net(three(player), brute.THREE, PAIR_PLUS | {"trips": 25}),
        "five": 1 + on_five,
        "seven": Fraction(1, 2) if answers == ["withdraw"] else 1 + on_seven,
    }


def made_of(rank):
    return rank[1]


def boston(stake, answers, player, board, bank):
    del board
    back = {"bonus": 1 + net(three(player[:3]), brute.THREE, PAIR_PLUS)}
    if answers == ["fold"]:
        return back | {"ante": 0, "first": 0}
    own_rank, theirs = brute.judge(player), brute.judge(bank)
    pays = {"royal": 1000, "sf": 200, "quads": 100, "full": 25, "flush": 15, "straight": 8, "trips": 5}
    ante = 2 if tens(own_rank) else net(own_rank, brute.FIVE, pays)
    if ante < 0:
        ante = 0 if own_rank >= theirs else -1
    result = over(own_rank, theirs)
    return back | {"ante": 1 + ante, "first": 1 + result, "second": 1 + result}


def four_card(stake, answers, player, board, bank):
    del board
    own_rank, theirs = (brute.best(cards, 4, brute.FOUR) for cards in (player, bank or player))
    up = {"quads": 50, "sf": 30, "trips": 7, "flush": 5, "straight": 4, "two-pair": 2}
    aces = name_of(own_rank, brute.FOUR) == "pair" and own_rank[1] == 12
    back = {"aces-up": 2 if aces else 1 + net(own_rank, brute.FOUR, up)}
    if answers == ["fold"]:
        return back | {"ante": 0}
    bonus = {"quads": 25, "sf": 20, "trips": 2}.get(name_of(own_rank, brute.FOUR), 0)
    result = 2 if own_rank >= theirs else 0
    return back | {"ante": result + bonus, "raise": result}


def crazy_four(stake, answers, player, board, bank):
    del board
    own_rank, theirs = (brute.best(cards, 4, brute.FOUR) for cards in (player, bank or player))
    name = name_of(own_rank, brute.FOUR)
    up = {"quads": 50, "sf": 30, "trips": 7, "flush": 4, "straight": 3, "two-pair": 2}
    queens = name == "pair" and own_rank[1] >= brute.ORDER.index("Q")
    back = {"queens-up": 2 if queens else 1 + net(own_rank, brute.FOUR, up)}
    if answers == ["fold"]:
        return back | {"ante": 0, "super-bonus": 0}
    opens = theirs[0] > 0 or theirs[1] >= brute.ORDER.index("K")
    result = over(own_rank, theirs)
    table = {"quads": 200 if own_rank[1] == 12 else 30, "sf": 15, "trips": 2, "flush": 3, "straight": 1}
    bonus = table.get(name, -1 if opens and result < 0 else 0)
    if not opens:
        return back | {"ante": 1, "play": 2, "super-bonus": 1 + bonus}
    return back | {"ante": 1 + result, "play": 1 + result, "super-bonus": 1 + bonus}


def french(stake, answers, player, board, bank):
    own_rank = brute.best([*player, *board])
    pays = {"royal": 50, "sf": 40, "quads": 20, "full": 7, "flush": 6, "straight": 5, "trips": 3}
    back = {"bonus": 1 + net(own_rank, brute.FIVE, pays)}
    if "fold" in answers:
        return back | {"ante": 0, "super-ante": 0}
    theirs = brute.best([*bank, *board])
    if theirs[0] == 0:
        return back | {"ante": 2, "super-ante": 1, "early": 1, "late": 1}
    result = over(own_rank, theirs)
    pays = {"royal": 500, "sf": 50, "quads": 10, "full": 3, "flush": Fraction(3, 2), "straight": 1}
    extra = net(own_rank, brute.FIVE, pays, 0) if result > 0 else result
    return back | {"ante": 1 + result, "super-ante": 1 + extra, "early": 1 + result, "late": 1 + result}


SETTLED = {
    "quebec-three-card-poker": three_card,
    "quebec-let-it-ride": ride,
    "quebec-caribbean-stud": caribbean,
    "quebec-poker-3-5-7": three_five_seven,
    "quebec-boston-poker": boston,
    "quebec-four-card-poker": four_card,
    "quebec-crazy-four-poker": crazy_four,
    "france-casino-holdem": french,
}
#: Game -> answer -> the bet that it raises, and by how many antes; written from the texts.
RAISES = {
    "quebec-three-card-poker": {"play": ("play", 1)},
    "quebec-caribbean-stud": {"raise": ("raise", 2)},
    "quebec-boston-poker": {"raise": ("second", 2)},
    "quebec-four-card-poker": {f"raise-{times}": ("raise", times) for times in (1, 2, 3)},
    "quebec-crazy-four-poker": {f"play-{times}": ("play", times) for times in (1, 2, 3)},
    "france-casino-holdem": {
        **{f"raise-{times}": ("early", times) for times in (2, 3, 4)},
        "bet": ("late", Fraction(1, 2)),
    },
}


def compute_raises(name, bets, answers):
    """Return what the answers add to the bets of a round, by spot."""
    added = {}
    for spot, times in (RAISES[name][answer] for answer in answers if answer in RAISES.get(name, {})):
        added[spot] = added.get(spot, 0) + times * bets["ante"]
    return added


def cards_shown(outcome):
    return {hand["id"]: hand["cards"] for hand in outcome.display["hands"]}


def play_round(game, wager, draw, answers):
    """Play one round with random answers, which are appended to ``answers``; return the round."""
    round_ = Round(game.play(wager, draw), wager)
    round_.advance()
    while round_.decision is not None:
        options = round_.decision.options
        answers.append(options[draw.below(len(options), "the player")])
        round_.advance(Choice(answers[-1]))
    return round_


class Apart:
    """Draws for the player's answers that are separate from the game's; only the game's are recorded."""

    def __init__(self, source):
        self.source, self.recorded = source, RecordingDrawSource(source)

    def below(self, bound, purpose):
        return (self.source if purpose == "the player" else self.recorded).below(bound, purpose)


@pytest.mark.requirement("S-21", "S-22", "S-23", "S-25", "S-26", "S-27", "S-28", "S-53", "S-54", "P-01:b")
@pytest.mark.parametrize("count", [24, pytest.param(90, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SETTLED)
def test_every_bet_is_settled_as_the_text_says(name, count, seeded_draw):
    game = load(name)
    for n in range(count):
        forms = game.rules.definition.preset_bets
        form = forms[n % len(forms)]
        most = game.rules.table_layout.spot_by_id
        bets = {spot: min(credits_ * (1 + n % 3), most[spot].bet_max) for spot, credits_ in form.bets.items()}
        wager = game.build_wager(sum(bets.values()), bets=bets)
        draw, answers = Apart(seeded_draw(f"{name} {n}")), []
        outcome = play_round(game, wager, draw, answers)
        shown = cards_shown(outcome.outcome)
        bank = [] if "??" in shown.get("bank", []) else shown.get("bank", [])
        expected = SETTLED[name](bets, answers, shown["player"], shown.get("board", []), bank)
        staked, back = {}, {}
        for bet in outcome.staked_bets:
            staked[bet.spot] = staked.get(bet.spot, 0) + bet.credits
        assert staked == {spot: bet for spot, bet in bets.items() if bet} | compute_raises(
            name, bets, answers
        )
        for settlement in outcome.settlements:
            back[settlement.spot] = back.get(settlement.spot, 0) + settlement.credits
        assert back == {spot: expected[spot] * credits_ for spot, credits_ in staked.items()}, (
            answers,
            shown,
        )
        assert list_undecided_stakes(outcome) == ()
        replay_draw = ReplayDrawSource(json.loads(json.dumps(draw.recorded.records)))
        replayed = play_through(
            game, Wager.from_json(wager.to_json()), replay_draw, [Choice(a) for a in answers]
        )
        replay_draw.check_all_numbers_used()
        assert replayed == outcome.outcome
        assert paytables.Outcome.from_json(json.loads(json.dumps(replayed.to_json()))) == replayed


@pytest.mark.parametrize("name", SETTLED)
def test_no_card_is_drawn_before_it_is_shown(name, seeded_draw):
    """A card that the player must not know has not been drawn at the decision, so that it cannot leak."""
    game, draw = load(name), RecordingDrawSource(seeded_draw(name))
    form = game.rules.definition.preset_bets[1 if name == "quebec-poker-3-5-7" else 0]
    wager = game.build_wager(sum(form.bets.values()), bets=dict(form.bets))
    round_ = Round(game.play(wager, draw), wager)
    round_.advance()
    shown = [card for hand in round_.decision.prompt["hands"] for card in hand["cards"]]
    assert len(draw.records) == len([card for card in shown if card != "??"])
    assert len(set(shown) - {"??"}) == len(draw.records)


def test_a_raise_is_a_separate_stake_and_undecided_bets_are_returned():
    game = load("quebec-caribbean-stud")
    wager = game.build_wager(3, bets={"ante": 3})
    round_ = Round(game.play(wager, Given("2c 4d 6h 8s Tc Ah")), wager)
    round_.advance()
    assert round_.decision.get_added_credits("raise") == 6
    assert round_.decision.get_added_bet("raise") == Bet("raise", 6)
    assert round_.decision.limit_to_credits(5).options == ("fold",)
    assert list_undecided_stakes(round_) == (Bet("ante", 3),)
    round_.advance(Choice("fold"))
    assert [(s.name, s.spot, s.staked_credits, s.credits) for s in round_.settlements] == [
        ("folded", "ante", 3, 0)
    ]


class Given:
    """Draws that deal given cards of what is left of the deck."""

    def __init__(self, cards):
        self.cards, self.left = [brute.DECK.index(card) for card in cards.split()], list(range(52))

    def below(self, bound, purpose):
        del purpose
        assert bound == len(self.left)
        drawn_index = self.left.index(self.cards.pop(0))
        self.left.pop(drawn_index)
        return drawn_index


#: Cards of the player for every line of the pay tables; a game deals the player as many of them as it gives.
PLAYER_HANDS = (
    "As Ks Qs Js Ts",
    "9h 8h 7h 6h 5h",
    "As Ad Ah Ac 3d",
    "7s 7d 7h 7c 2d",
    "9s 9d 9h 4c 4d",
    "Ac Jc 9c 6c 3c",
    "9s 8d 7h 6c 5s",
    "8s 8d 8h Kc 3d",
    "Js Jd 4h 4c 9s",
    "9s 9d 4h 4c 2s",
    *(f"{rank}s {rank}d 9h 7c 3s" for rank in "AKQJT652"),
    "Ad Kh Qc Js 9d",
    "Ks Jd 8h 6c 3s",
    "5s 4d 3h 2c 7s",
)
#: The cards dealt after those of the player, without those that the player has: a weak bank, and a strong one.
NEXT_CARDS = ("2c 4d 6h Tc Qd 8c 3h 5d 7s Jc 9c Kd", "Ah Kc Ac Kh Ad Kd Qh Qd Jh Th 2h 2d")


@pytest.mark.requirement("S-22", "S-23", "S-25", "S-26", "S-27", "S-28")
@pytest.mark.parametrize(
    "name", [name for name in SETTLED if name not in {"quebec-let-it-ride", "france-casino-holdem"}]
)
def test_every_pay_table_row_is_paid_after_every_decision(name):
    """Rare hands, such as a straight flush, against a weak and a strong bank."""
    game = load(name)
    bets = max((form.bets for form in game.rules.definition.preset_bets), key=len)
    wager = game.build_wager(sum(bets.values()), bets=dict(bets))
    answers_offered = range(len(game.rules.definition.steps[1].options))
    every_hand = itertools.product(PLAYER_HANDS, NEXT_CARDS[:1], answers_offered[:1])
    every_answer = itertools.product(PLAYER_HANDS[::5], NEXT_CARDS, answers_offered)
    for own_cards, following, preferred in itertools.chain(every_hand, every_answer):
        dealt = " ".join(dict.fromkeys(f"{own_cards} {following}".split()))
        found, answers = Round(game.play(wager, Given(dealt)), wager), []
        found.advance()
        while found.decision is not None:
            options = found.decision.options
            answers.append(options[min(preferred, len(options) - 1)])
            found.advance(Choice(answers[-1]))
        shown = cards_shown(found.outcome)
        bank = [] if "??" in shown.get("bank", []) else shown.get("bank", [])
        expected = SETTLED[name](bets, answers, shown["player"], shown.get("board", []), bank)
        back = dict.fromkeys((bet.spot for bet in found.staked_bets), 0)
        staked = dict(back)
        for bet in found.staked_bets:
            staked[bet.spot] += bet.credits
        for settlement in found.settlements:
            back[settlement.spot] += settlement.credits
        assert back == {spot: expected[spot] * staked[spot] for spot in staked}, (answers, shown)


@pytest.mark.requirement("S-28")
def test_more_than_the_ante_may_be_played_with_a_pair_of_aces_only():
    """By-law, s. 67.81; ace-two-three-four is a straight, and better than the pair."""
    game = load("quebec-crazy-four-poker")
    wager = game.build_wager(2, bets={"ante": 1, "super-bonus": 1})
    for cards, may_play_3 in {
        "As Ad 5h 7c 9s": True,
        "Ks Kd Qh 7c 9s": False,
        "As 2d 3h 4c 9s": True,
        "As Kd Qh Jc 9s": True,
        "As Kd Qh Tc 9s": False,
        "2s 2d 3h 3c 9s": True,
    }.items():
        round_ = Round(game.play(wager, Given(cards)), wager)
        round_.advance()
        assert ("play-3" in round_.decision.options) == may_play_3, cards


@pytest.mark.requirement("S-22", "S-23", "S-28", "S-54")
@pytest.mark.parametrize(
    ("name", "answer", "player", "lowest", "below", "spot"),
    [
        ("quebec-three-card-poker", "play", "As Ad Ah", "Qs 3d 2h", "Js Td 8h", "play"),
        ("quebec-caribbean-stud", "raise", "5s 5d 6h 8c 7s", "As Kd 4h 3c 2s", "As Qd Jh Tc 9s", "raise"),
        ("quebec-crazy-four-poker", "play-1", "As Ad Ah 6c 7s", "Ks 6d 4h 3c 2s", "Qs Jd Th 8c 7d", "ante"),
        ("france-casino-holdem", "raise-3", "As Ad 3h 5c 7s 9d Jh", "2s 2d", "Ks Qd", "early"),
    ],
)
def test_the_bank_opens_with_the_lowest_hand_of_its_text_and_with_none_below(
    name, answer, player, lowest, below, spot
):
    """With five cards, the lowest king at Crazy Four Poker has a six, because five-four-three-two is a straight."""
    game = load(name)
    bets = game.rules.definition.preset_bets[0].bets
    wager = game.build_wager(sum(bets.values()), bets=dict(bets))
    for bank, is_open in ((lowest, True), (below, False)):
        round_ = Round(game.play(wager, Given(f"{player} {bank}")), wager)
        round_.advance()
        round_.advance(Choice(answer))
        (settled,) = (
            settlement
            for settlement in round_.settlements
            if settlement.spot == spot and settlement.staked_credits
        )
        assert (settled.credits > settled.staked_credits) == is_open, bank


@pytest.mark.requirement("S-22", "S-23", "S-27", "S-28", "S-54")
@pytest.mark.parametrize(
    ("name", "answer", "player", "bank", "spots", "times"),
    [
        ("quebec-three-card-poker", "play", "As Kd 9h", "Ac Kh 9s", ["ante", "play"], 1),
        ("quebec-caribbean-stud", "raise", "As Kd Qh Jc 9s", "Ac Kh Qs Jd 9d", ["ante", "raise"], 1),
        ("quebec-four-card-poker", "raise-1", "As Kd 9h 7c 2s", "Ac Kh 9s 7d 3c 2d", ["ante", "raise"], 2),
        ("quebec-crazy-four-poker", "play-1", "As Kd 9h 7c 2s", "Ac Kh 9s 7d 2d", ["ante", "play"], 1),
        ("france-casino-holdem", "raise-3", "2s 3d Ah Ac Kc Qs Jd", "2h 3c", ["ante", "early"], 1),
    ],
)
def test_equal_hands_are_settled_as_the_text_says(name, answer, player, bank, spots, times):
    """Equal hands win at Four Card Poker; at the other tables, bets are returned."""
    game = load(name)
    bets = game.rules.definition.preset_bets[0].bets
    wager = game.build_wager(sum(bets.values()), bets=dict(bets))
    round_ = Round(game.play(wager, Given(f"{player} {bank}")), wager)
    round_.advance()
    round_.advance(Choice(answer))
    settled = {settlement.spot: settlement for settlement in round_.settlements}
    assert [settled[spot].credits for spot in spots] == [
        times * settled[spot].staked_credits for spot in spots
    ]


@pytest.mark.requirement("S-53")
@pytest.mark.parametrize(
    ("answers", "kinds_asked", "raised"),
    [
        (["raise-4"], ["before-flop"], {"early": 8}),
        (["raise-3"], ["before-flop"], {"early": 6}),
        (["check", "raise-2"], ["before-flop", "flop"], {"early": 4}),
        (["check", "check", "bet", "bet"], ["before-flop", "flop", "turn", "river"], {"late": 2}),
        (["check", "check", "bet", "check"], ["before-flop", "flop", "turn", "river"], {"late": 1}),
        (["check", "check", "fold"], ["before-flop", "flop", "turn"], {}),
    ],
)
def test_the_french_holdem_is_raised_once_street_by_street(answers, kinds_asked, raised):
    game = load("france-casino-holdem")
    wager = game.build_wager(4, bets={"ante": 2, "super-ante": 2})
    found, kinds = Round(game.play(wager, Given("As Ad 3h 5c 7s 9d Jh 2s 2d")), wager), []
    found.advance()
    for answer in answers:
        kinds.append(found.decision.kind)
        found.advance(Choice(answer))
    assert (kinds, found.decision) == (kinds_asked, None)
    settled = {
        settlement.spot: (settlement.staked_credits, settlement.credits) for settlement in found.settlements
    }
    assert {spot: settled[spot] for spot in ("early", "late") if spot in settled} == {
        spot: (credits_, 2 * credits_) for spot, credits_ in raised.items()
    }


@pytest.mark.requirement("S-30")
@pytest.mark.parametrize(
    ("name", "bets", "expected_text"),
    [
        (
            "quebec-crazy-four-poker",
            {"ante": 2, "super-bonus": 1},
            "super-bonus: 1 credit staked; expected 1 times the bet on 'ante', which is 2",
        ),
        ("quebec-boston-poker", {"ante": 2}, "first: 0 credits staked; expected 2 times"),
        ("quebec-three-card-poker", {"play": 1}, "play"),
        ("quebec-let-it-ride", {"side": 1}, "side: needs a bet on 'bet-3'"),
        ("quebec-caribbean-stud", {"progressive": 1}, "progressive: needs a bet on 'ante'"),
        (
            "quebec-caribbean-stud",
            {"ante": 1, "progressive": 2},
            "progressive: would be 2 credits; 1 to 1 may be",
        ),
        ("france-casino-holdem", {"ante": 1, "super-ante": 1}, "ante"),
    ],
)
def test_bets_that_do_not_go_together_are_refused(name, bets, expected_text):
    game = load(name)
    with pytest.raises(WagerError, match=expected_text):
        game.build_wager(sum(bets.values()), bets=bets)


def test_several_seats_play_against_one_bank(seeded_draw):
    game = load_game("quebec-three-card-poker")
    for n in range(30):
        seats = {"0": {"ante": 1}, "3": {"ante": 2, "pair-plus": 1}, "6": {"pair-plus": 5}}
        wager = game.build_wager(9, seats=seats)
        answers = []
        outcome = play_round(game, wager, seeded_draw(f"seats {n}"), answers)
        assert len(answers) == 2
        shown = cards_shown(outcome.outcome)
        bank = [] if "??" in shown["bank"] else shown["bank"]
        dealt = [card for hand in shown.values() for card in hand if card != "??"]
        assert len(dealt) == len(set(dealt))
        for seat, own_answers in ((0, answers[:1]), (3, answers[1:]), (6, ["fold"])):
            hand = shown["player" if seat == 0 else f"player-{seat + 1}"]
            expected = three_card({}, own_answers, hand, [], bank or hand)
            back = {}
            for settlement in outcome.settlements:
                if settlement.seat == seat:
                    back[settlement.spot] = back.get(settlement.spot, 0) + settlement.credits
            staked = {bet.spot: bet.credits for bet in outcome.staked_bets if bet.seat == seat}
            assert back == {spot: expected[spot] * credits_ for spot, credits_ in staked.items()}


@pytest.mark.parametrize(
    ("name", "old", "new", "expected_text"),
    [
        ("quebec-caribbean-stud", 'spot = "raise"', 'spot = "rais"', "there is no spot 'rais'"),
        (
            "quebec-caribbean-stud",
            'opens = "As Kd 4h 3c 2s"',
            'opens = "As Kd 4h 3c 1s"',
            "'1s' is not a card",
        ),
        (
            "france-casino-holdem",
            "limits = { least = 2, most = 400, step = 2 }",
            "limits = { least = 1 }",
            "must be a multiple of 2",
        ),
        ("quebec-let-it-ride", 'pays = "5:1"', 'pays = "5-1"', "'5-1' is not valid odds"),
        ("quebec-caribbean-stud", 'opens = "As Kd 4h 3c 2s"', 'opens = "As Kd 4h 3c"', "5 different cards"),
        (
            "quebec-caribbean-stud",
            'opens = "As Kd 4h 3c 2s"',
            'opens = "As As As 3c 2s"',
            "5 different cards",
        ),
        ("quebec-caribbean-stud", 'opens = "As Kd 4h 3c 2s"', 'opens = "As Kd 4h 3c 2s 2s"', "twice"),
        ("quebec-caribbean-stud", "bank = 5", "bank = 60", "95 cards are dealt, but the deck has 52"),
        ("quebec-caribbean-stud", "bank = 5", "bank = 4", "make no hand of 5"),
        ("quebec-caribbean-stud", "player = 5", "player = 4", "make no hand of 5"),
        ("quebec-poker-3-5-7", "player = 3", "player = 2", "cards"),
        (
            "quebec-boston-poker",
            'of = "ante"\ntimes = "2"',
            'of = "ante"\ntimes = "3/2"',
            "first: 3/2 times 'ante': must be a whole number of times",
        ),
        (
            "quebec-let-it-ride",
            "bet-2 = 1 }",
            "bet-2 = 2 }",
            r"form\.0: bets\.bet-2: 2 credits staked; expected 1 times",
        ),
    ],
)
def test_a_bad_definition_is_refused_by_key(name, old, new, expected_text, tmp_path):
    text = (GAMES / f"{name}.toml").read_text()
    assert old in text
    (tmp_path / "bad.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(paytables.DefinitionError, match=expected_text):
        load_game(tmp_path / "bad.toml")


@pytest.mark.requirement("C-10:a")
@pytest.mark.parametrize(
    ("name", "cards", "advice"),
    [
        ("quebec-three-card-poker", "Qs 6d 4h", "play"),
        ("quebec-three-card-poker", "Qs 6d 3h", "fold"),
        ("quebec-crazy-four-poker", "Ks Qd 8h 4c 3s", "play-1"),
        ("quebec-crazy-four-poker", "Ks Qd 8h 3c 2s", "fold"),
        ("quebec-crazy-four-poker", "As Ad 7h 6c 5s", "play-3"),
        ("quebec-boston-poker", "2s 3d 5h", "raise"),
        ("quebec-let-it-ride", "Ts Td 2h", "ride"),
        ("quebec-let-it-ride", "9s 8s 7s", "ride"),
        ("quebec-let-it-ride", "9s 9d 2h", "withdraw"),
        ("quebec-let-it-ride", "As Ks 2s", "withdraw"),
        ("quebec-caribbean-stud", "2s 2d 5h 7c 9s Ah", "raise"),
        ("quebec-caribbean-stud", "As Qd Jh 9c 7s 2h", "fold"),
        ("quebec-caribbean-stud", "As Kd Qh 8c 3s 8d", "raise"),
        ("quebec-caribbean-stud", "As Kd 7h 5c 3s 2d", "fold"),
    ],
)
def test_the_best_option_is_advised(name, cards, advice):
    """Published decisions: queen-six-four, those of Let It Ride, and ace-king against a matching bank card.

    Source: wizardofodds.com. In Caribbean Stud the last card is the bank's.
    """
    game = load(name)
    form = game.rules.definition.preset_bets[0]
    wager = game.build_wager(sum(form.bets.values()), bets=dict(form.bets))
    round_ = Round(game.play(wager, Given(cards)), wager)
    round_.advance()
    assert round_.decision.prompt["advice"] == advice


@pytest.mark.requirement("C-10:a")
@pytest.mark.parametrize(
    ("name", "cards", "answers", "advice"),
    [
        ("quebec-four-card-poker", "Ts Td Qh Jc 9s 2h", [], "raise-3"),
        ("quebec-four-card-poker", "3s 3d Qh Jc 9s 2h", [], "raise-1"),
        ("quebec-four-card-poker", "2s 2d 4h 7c 9s Kh", [], "fold"),
        ("quebec-four-card-poker", "7s 5d 3h 2c 9s Kh", [], "fold"),
        ("quebec-poker-3-5-7", "2s 2d 7h", [], "stay"),
        ("quebec-poker-3-5-7", "2s 7d Jh", [], "stay"),
        ("quebec-poker-3-5-7", "2s 3d 9h", [], "withdraw"),  # one of four: 2-3-7, 2-3-8, 2-3-9, 2-4-9
        ("france-casino-holdem", "As Ad", [], "raise-4"),
        ("france-casino-holdem", "2s 3d", [], "check"),
        ("france-casino-holdem", "9s 9d 9h 4c Ks", ["check"], "raise-2"),
        ("france-casino-holdem", "2s 3d Ah Qc Ks", ["check"], "check"),
        ("france-casino-holdem", "2s 3d Ah Qc Ks 7d", ["check", "check"], "bet"),
        ("france-casino-holdem", "2h 5s 6d 9h Ts 9d", ["check", "check"], "fold"),
        ("france-casino-holdem", "As 3d Ah Qc Ks 7d", ["check", "check"], "bet"),
        ("france-casino-holdem", "As 3d Ah Qc Ks 7d 8c", ["check", "check", "bet"], "bet"),
        ("france-casino-holdem", "2s 3d Ah Qc Ks 7d 8c", ["check", "check", "bet"], "check"),
    ],
)
def test_the_best_option_is_advised_if_the_proof_stores_it(name, cards, answers, advice):
    game = load(name)
    form = game.rules.definition.preset_bets[-1 if "3-5-7" in name else 0]
    wager = game.build_wager(sum(form.bets.values()), bets=dict(form.bets))
    round_ = Round(game.play(wager, Given(cards)), wager)
    round_.advance()
    for answer in answers:
        round_.advance(Choice(answer))
    assert round_.decision.prompt["advice"] == advice


@pytest.mark.requirement("C-02", "C-12", "C-22")
def test_the_help_states_the_pays_in_both_languages():
    help_texts = load("quebec-crazy-four-poker").help
    assert "Super bonus: four aces 200:1; four of a kind 30:1" in help_texts["en"]
    assert "Paire de dames ou plus : carré 50:1" in help_texts["fr"]
    assert "{pays}" not in help_texts["en"] + help_texts["fr"]
