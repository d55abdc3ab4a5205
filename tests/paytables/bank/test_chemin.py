"""Chemin de fer: the rotating bank, its cover, rounds settled independently from the order, and exact figures."""

import json
from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from rigs.cards import remove_cards

from paytables import (
    ALL_STAKED_OPTION,
    SEATS_DECISION_KIND,
    STAKES_RETURNED_OPTION,
    Choice,
    Decision,
    DefinitionError,
    RecordingDrawSource,
    Settlement,
    WagerError,
    analyse,
    build_game,
    load_game,
)
from paytables.bank.chemin import BankHoldingTurn
from paytables.cards.card import Shoe, parse_cards
from paytables.contract import Bet, Cue

GAME = "monaco-chemin-de-fer"
SEATS, BACK, MOST = 8, "??", 2000
#: The bank's draws (art. 13.6), written again: third cards of the player, "-" if the player stood.
BANK = {**dict.fromkeys(range(3), "-0123456789"), 3: "-012345679", 4: "-234567", 5: "-4567", 6: "67"}


def points(cards):
    worth = {"A": 1, "T": 0, "J": 0, "Q": 0, "K": 0}
    return sum(worth[card[0]] if card[0] in worth else int(card[0]) for card in cards) % 10


def combine(game, seats, seat):
    wagers = {int(n): game.build_wager(sum(bets.values()), bets=bets) for n, bets in seats.items()}
    return game.rules.combine_seat_wagers(wagers[seat], seat, wagers)


def all_seats(game, seats):
    return game.build_wager(sum(sum(bets.values()) for bets in seats.values()), seats=seats)


def play(game, wager, draw, answer=lambda decision: decision.default_option):
    steps, generator, choice = [], game.play(wager, draw), None
    while True:
        try:
            step = generator.send(choice)
        except StopIteration as end:
            return steps, end.value
        choice = Choice(answer(step)) if isinstance(step, Decision) else None
        steps.append(step)


class Dealt:
    """Draws that deal these cards of a full shoe, by hand."""

    def __init__(self, random, **hands):
        self.random, self.shoe = random, Shoe.from_decks(6)
        self.wanted = {name: list(parse_cards(cards)) for name, cards in hands.items()}

    def below(self, bound, purpose):
        hand = purpose.partition(" ")[0]
        if not self.wanted.get(hand):
            return self.random.below(bound, purpose)
        card = self.wanted[hand].pop(0)
        value = sum(self.shoe.counts[:card])
        remove_cards(self.shoe, card)
        return value


BANK_WINS = {"bank": "9s Kd", "player": "7d Kh"}
BANK_LOSES = {"bank": "7s Kd", "player": "9d Kh"}
TIE = {"bank": "7s Kd", "player": "7d Kh"}


def collect_settlements(steps):
    """Return the credits returned to each seat by spot and settlement name."""
    found = {}
    for step in steps:
        if isinstance(step, Settlement):
            found.setdefault((step.seat, step.spot), []).append(
                (step.name, step.credits, step.staked_credits)
            )
    return found


# ---------------------------------------------------------------------------------- settled again, from the text
def covered_by_the_text(seats, turn):
    """Return the bank's seat, the played part of each bet and the hand's holder; None if no round is possible."""
    if len(seats) < 4:
        return None
    for n in range(SEATS):
        banker = (turn.seat + n) % SEATS
        offer = seats.get(str(banker), {}).get("bank", 0)
        if offer and (n or offer >= turn.bank_min):
            break
    else:
        return None
    cover_left = offer if n or not turn.bank_min else turn.bank_min
    order = [(banker + n) % SEATS for n in range(1, SEATS)]
    first = [turn.banco_priority_seat] if turn.banco_priority_seat is not None and banker == turn.seat else []
    caller = next((s for s in first + order if seats.get(str(s), {}).get("banco", 0) * 2 >= cover_left), None)
    parts = {}
    for seat, spot in ([(caller, "banco")] if caller is not None else []) + [(s, "stake") for s in order]:
        part = min(cover_left, seats.get(str(seat), {}).get(spot, 0))
        if part:
            parts[seat, spot] = part
            cover_left -= part
    if not parts:
        return None
    largest = max(parts.values())
    holder = (
        next((s for (s, _), part in parts.items() if part == largest), None) if caller is None else caller
    )
    return banker, parts, holder, caller


def compute_due_by_the_text(seats, banker, parts, result):
    """Return what each bet pays: the part not played, and the part won, tied or lost, less 5 %."""
    banco, due = sum(parts.values()), {}
    for seat, bets in seats.items():
        for spot, credits_ in bets.items():
            played = banco if (int(seat), spot) == (banker, "bank") else parts.get((int(seat), spot), 0)
            wins = -result if spot == "bank" else result
            back = {1: 2 * played, 0: played, -1: 0}[wins]
            levy = played * 5 // 100 if spot == "bank" and wins == 1 else 0
            due[int(seat), spot] = credits_ - played + back - levy
    return due


def turn_by_the_text(banker, parts, caller, result):
    banco = sum(parts.values())
    if result == 1:
        return BankHoldingTurn((banker + 1) % SEATS)
    least = banco if result == 0 else 2 * banco - banco * 5 // 100
    return BankHoldingTurn(banker, min(MOST, max(20, least)), caller if result else None)


def some_seats(draw, turn):
    seats = {}
    for seat in range(SEATS):
        if draw.below(4, "seat"):
            bets = {"stake": 5 + draw.below(80, "bet")} if draw.below(2, "spot") else {}
            if draw.below(4, "spot") == 0:
                bets["banco"] = 20 + draw.below(100, "bet")
            if draw.below(2, "spot") or not bets:
                least = turn.bank_min if seat == turn.seat and draw.below(4, "double") else 20
                bets["bank"] = max(20, least) if draw.below(2, "more") else min(MOST, 20 + least)
            seats[str(seat)] = bets
    return seats or {"0": {"bank": 20}}


def hold_rounds(seeded_draw, count):
    game, table, seen, turn = load_game(GAME), None, Counter(), BankHoldingTurn()
    for seed in range(count):
        draw, here = seeded_draw(seed), game.with_table_state(json.loads(json.dumps(table)))
        seats = some_seats(draw, turn)
        known = covered_by_the_text(seats, turn)
        if known is None:
            with pytest.raises(WagerError, match="bets: "):
                play(here, all_seats(here, seats), draw)
            seen["refused"] += 1
            continue
        banker, parts, holder, caller = known
        answer, asked_seats = ("draw", "stand")[draw.below(2, "answer")], []
        steps, outcome = play(
            here, all_seats(here, seats), draw, lambda step, a=answer, b=asked_seats: b.append(step.seat) or a
        )
        hands = {hand["id"]: hand["cards"] for hand in outcome.display["hands"]}
        p, b = points(hands["player"][:2]), points(hands["bank"][:2])
        natural = max(p, b) >= 8
        assert asked_seats == ([holder] if p == 5 and not natural else [])
        third = not natural and (p < 5 or (p == 5 and answer == "draw"))
        assert len(hands["player"]) == 2 + third
        sign = str(points(hands["player"][2:])) if third else "-"
        assert len(hands["bank"]) == 2 + (not natural and sign in BANK.get(b, ""))
        result = (points(hands["player"]) > points(hands["bank"])) - (
            points(hands["player"]) < points(hands["bank"])
        )
        found = {
            where: sum(credits_ for _, credits_, _ in settlements)
            for where, settlements in collect_settlements(steps).items()
        }
        assert found == compute_due_by_the_text(seats, banker, parts, result)
        staked = {
            where: sum(settlement[2] for settlement in list_)
            for where, list_ in collect_settlements(steps).items()
        }
        assert staked == {(int(s), spot): n for s, bets in seats.items() for spot, n in bets.items()}
        turn = turn_by_the_text(banker, parts, caller, result)
        table = outcome.table_state
        assert BankHoldingTurn.from_json(table["bank"], SEATS, MOST) == turn
        if "shoe" in table:
            assert Shoe.from_json(table["shoe"]).cards_left > 7
        seen.update({("caller", caller is not None), ("result", result), ("shoe", "shoe" in table)})
        seen["not covered"] += sum(
            settlements[0][0] == "not covered" for settlements in collect_settlements(steps).values()
        )
        seen["follows"] += turn.banco_priority_seat is not None
    assert set(seen) == {
        "refused", "not covered", "follows", *(("caller", case) for case in (True, False)),
        *(("result", value) for value in (-1, 0, 1)), *(("shoe", value) for value in (True, False)),
    }  # fmt: skip


@pytest.mark.requirement("S-51", "P-01:b")
def test_rounds_are_covered_drawn_and_settled_as_the_text_says(seeded_draw):
    hold_rounds(seeded_draw, 600)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_a_hundred_thousand_rounds_are_settled_as_the_text_says(seeded_draw):
    hold_rounds(seeded_draw, 100_000)


# ---------------------------------------------------------------------------------- the bank
THREE = {"1": {"stake": 10}, "2": {"stake": 10}, "3": {"stake": 10}}


@pytest.mark.requirement("S-51")
def test_fewer_than_four_seats_cannot_play_a_round(seeded_draw):
    game = load_game(GAME)
    seats = {"0": {"bank": 20}, "1": {"stake": 10}, "2": {"stake": 10}}
    with pytest.raises(WagerError, match="by 4 seats or more; 3 have bets"):
        play(game, all_seats(game, seats), seeded_draw(1))
    with pytest.raises(WagerError, match="by 4 seats or more; 1 have bets"):
        play(game, game.build_wager(20, bets={"bank": 20}), seeded_draw(1))
    with pytest.raises(WagerError, match="by 4 seats or more; 3 have bets"):
        combine(game, seats, 0)
    assert game.rules.seats_min == 4


@pytest.mark.parametrize(
    ("seats", "reason"),
    [
        ({"0": {"stake": 10}, **THREE}, "no seat holds the bank"),
        ({str(n): {"bank": 20} for n in range(4)}, "nobody bets against the bank"),
    ],
)
def test_a_round_needs_a_bank_and_a_bet_against_it(seeded_draw, seats, reason):
    game = load_game(GAME)
    with pytest.raises(WagerError, match=reason):
        play(game, all_seats(game, seats), seeded_draw(1))
    with pytest.raises(WagerError, match=reason):
        combine(game, seats, 1)


@pytest.mark.requirement("S-51")
def test_a_winning_bank_doubles_less_the_levy_or_passes_and_a_losing_bank_moves_on(seeded_draw):
    game = load_game(GAME)
    seats = {"0": {"bank": 40}, "1": {"stake": 30}, "2": {"stake": 30}, "3": {"bank": 50}}
    steps, outcome = play(game, all_seats(game, seats), Dealt(seeded_draw(1), **BANK_WINS))
    assert collect_settlements(steps) == {
        (0, "bank"): [("won", 78, 40)],
        (1, "stake"): [("lost", 0, 30)],
        (2, "stake"): [("not covered", 20, 20), ("lost", 0, 10)],
        (3, "bank"): [("not covered", 50, 50)],
    }
    assert outcome.table_state["bank"] == {"seat": 0, "least": 78}
    next_game = game.with_table_state({"bank": outcome.table_state["bank"]})
    assert next_game.rules.build_current_view() == {"bank": 0, "banco": 78}
    for offered, banker, banco in ((100, 0, 78), (78, 0, 78), (77, 3, 50)):
        coup = next_game.rules.arrange_bank_and_hands(
            [Bet("bank", offered, 0), Bet("stake", 100, 1), Bet("stake", 5, 2), Bet("bank", 50, 3)]
        )
        assert (coup.bank_seat, coup.covered_credits) == (banker, banco)
    _, outcome = play(game, all_seats(game, seats), Dealt(seeded_draw(1), **BANK_LOSES))
    assert outcome.table_state["bank"] == {"seat": 1}
    _, outcome = play(game, all_seats(game, seats), Dealt(seeded_draw(1), **TIE))
    assert outcome.table_state["bank"] == {"seat": 0, "least": 40}
    high = {"0": {"bank": 1500}, "1": {"stake": 1500}, "2": {"stake": 5}, "3": {"stake": 5}}
    _, outcome = play(game, all_seats(game, high), Dealt(seeded_draw(1), **BANK_WINS))
    assert outcome.table_state["bank"] == {"seat": 0, "least": MOST}


@pytest.mark.requirement("S-51")
def test_a_banco_of_half_the_bank_comes_first_and_its_loser_has_priority_for_the_next(seeded_draw):
    game = load_game(GAME)
    seats = {
        "0": {"bank": 100},
        "1": {"stake": 90},
        "2": {"banco": 49},
        "3": {"banco": 60},
        "4": {"banco": 100},
    }
    steps, outcome = play(game, all_seats(game, seats), Dealt(seeded_draw(1), **BANK_WINS))
    found = collect_settlements(steps)
    assert found[2, "banco"] == [("not covered", 49, 49)]  # less than half
    assert found[3, "banco"] == [("lost", 0, 60)]
    assert found[4, "banco"] == [("not covered", 100, 100)]
    assert found[1, "stake"] == [("not covered", 50, 50), ("lost", 0, 40)]
    assert outcome.table_state["bank"] == {"seat": 0, "least": 195, "follower": 3}
    next_game = game.with_table_state({"bank": outcome.table_state["bank"]})
    bets = [Bet("bank", 195, 0), Bet("banco", 195, 1), Bet("banco", 195, 3), Bet("stake", 5, 2)]
    assert next_game.rules.arrange_bank_and_hands(bets).banco_caller_seat == 3
    bets[0] = Bet("bank", 195, 4)  # another bank: nothing is followed
    assert next_game.rules.arrange_bank_and_hands(bets).banco_caller_seat == 1


@pytest.mark.requirement("S-51")
def test_only_the_player_with_the_banco_or_the_highest_stake_sees_the_players_hand(seeded_draw):
    game = load_game(GAME)
    seats = {"0": {"bank": 100}, "1": {"stake": 20}, "2": {"stake": 50}, "5": {"stake": 30}}
    cards = {"player": "2s 3h 4d", "bank": "Ks 6c"}
    for viewer in map(int, seats):
        steps, outcome = play(game, combine(game, seats, viewer), Dealt(seeded_draw(1), **cards))
        started, decision = (step for step in steps if isinstance(step, Decision))
        assert (started.kind, started.options[0]) == (SEATS_DECISION_KIND, ALL_STAKED_OPTION)
        assert (decision.seat, decision.options, decision.default_option) == (2, ("draw", "stand"), "draw")
        assert ("advice" in decision.prompt) == (viewer == 2)
        own_hand = {0: "bank", 2: "player"}.get(viewer)
        for hand in decision.prompt["hands"]:
            assert (set(hand["cards"]) == {BACK}) == (hand["id"] != own_hand)
            assert hand["seat"] == {"bank": 0, "player": 2}[hand["id"]]
        assert {step.seat for step in steps if isinstance(step, Settlement)} == {viewer}
        flips = Counter(step.data["hand"] for step in steps if isinstance(step, Cue) and step.kind == "flip")
        assert flips == {name: 2 for name in ("bank", "player") if name != own_hand}
        assert [hand["cards"] for hand in outcome.display["hands"]] == [["Ks", "6c"], ["2s", "3h", "4d"]]
        assert outcome.display["result"] == "player"


@pytest.mark.requirement("S-51")
def test_if_not_all_have_staked_every_stake_is_returned_and_the_bank_stays(seeded_draw):
    game = load_game(GAME)
    seats = {"0": {"bank": 100, "stake": 5}, "1": {"stake": 20}, "2": {"stake": 50}, "5": {"stake": 30}}
    turn = {"bank": {"seat": 0, "least": 78, "follower": 1}}
    here = game.with_table_state(turn)
    draw = RecordingDrawSource(seeded_draw(1))
    steps, outcome = play(here, combine(here, seats, 0), draw, lambda _: STAKES_RETURNED_OPTION)
    assert collect_settlements(steps) == {
        (0, "bank"): [("not covered", 100, 100)],
        (0, "stake"): [("not covered", 5, 5)],
    }
    assert (outcome.table_state, draw.records) == (turn, [])


# ---------------------------------------------------------------------------------- the definition, the table
@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({}, "that a round"),
        ({"bank": {"seat": 8}}, "does not name seats of this table"),
        ({"bank": {"seat": True}}, "does not name seats of this table"),
        ({"bank": {"seat": None}}, "does not name seats of this table"),
        ({"bank": {"seat": 0, "least": 2001}}, "that a round"),
        ({"bank": {"seat": 0, "follower": 1}}, "that a round"),
        ({"bank": {"seat": 1, "least": 20, "follower": 1}}, "priority"),
        ({"bank": {"seat": 0, "more": 1}}, "that a round"),
        ({"point": 4}, "that a round"),
        ({"shoe": {"As": 7}}, "shuffled"),
    ],
)
def test_a_table_state_that_no_round_can_leave_is_refused(table, reason):
    with pytest.raises(ValueError, match=reason):
        load_game(GAME).with_table_state(table)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("table", {"seats": 3}, "4 or more"),
        ("shoe", {"decks": 6, "stop": 8}, "stop"),
        ("stake", {"id": "stakes", "name": {"en": "a", "fr": "b"}, "pays": "1:1"}, "its id must be"),
        ("banco", {"id": "banco", "name": {"en": "a", "fr": "b"}, "pays": "2:1"}, "even money"),
    ],
)
def test_a_definition_that_the_french_order_does_not_permit_is_refused(key, value, reason):
    with pytest.raises(DefinitionError, match=reason):
        build_game(json.loads(load_game(GAME).text) | {key: value}, "test")


def test_chemin_de_fer_with_several_denominations_is_refused():
    data = json.loads(load_game(GAME).text)
    data["game"]["denominations_cents"] = [25, 100]
    with pytest.raises(
        DefinitionError, match="only one is allowed, because the players' credits cover each other"
    ):
        build_game(data, "test")


# ---------------------------------------------------------------------------------- figures
@pytest.mark.requirement("S-51")
def test_chemin_de_fer_returns_equal_those_of_baccarat_hands_with_a_choice_at_five():
    bank, banco, stake = analyse(load_game(GAME)).bets
    assert f"{float(stake.rtp) * 100:.4f}" == "98.7626"  # the published return of the player's hand
    assert f"{float(stake.worst_rtp) * 100:.4f}" == "98.4758"
    assert (banco.rtp, banco.worst_rtp, banco.strategy) == (stake.rtp, stake.worst_rtp, "draw at five")
    assert f"{float(bank.rtp) * 100:.4f}" == "98.9442"
    won, lost = (
        Fraction(bank.distribution.case_count_by_win[win], bank.distribution.case_count) for win in (39, 0)
    )
    assert stake.rtp == 1 + lost - won
    assert (bank.rtp, bank.strategy) == (1 - lost + won * Fraction(19, 20), None)


def test_the_wager_options_stated_with_the_figures_play_a_covered_round(seeded_draw):
    game = load_game(GAME)
    for bet in analyse(game).bets:
        here = game.with_table_state(bet.table)
        steps, _ = play(here, here.build_wager(bet.cost_credits, **bet.options), seeded_draw(2))
        assert {step.name for step in steps if isinstance(step, Settlement)} <= {"won", "push", "lost"}
    rules = game.rules
    assert (
        rules.find_highest_round_return(game.build_wager(60, bets={"bank": 40, "stake": 20})) == 40 + 38 + 20
    )


@pytest.mark.requirement("S-51")
def test_no_round_returns_more_than_the_highest_return(seeded_draw):
    """A seat with a banco and a stake may win both, or win the stake while its banco is returned."""
    game = load_game(GAME)
    rng = Random(5)
    highest = []
    for _ in range(300):
        own_bets = {"banco": rng.choice((20, 60)), "stake": rng.choice((6, 40, 500))}
        bank_credits = rng.choice((20, 39, 40, 110, 1000))
        others = {"0": {"bank": bank_credits}, "2": {"stake": 6}, "3": {"stake": 6}}
        wager = game.build_wager(sum(own_bets.values()), bets=own_bets, seat=1, others=others)
        steps, _ = play(game, wager, seeded_draw(rng.randrange(2**30)))
        back = sum(step.credits for step in steps if isinstance(step, Settlement) and step.seat == 1)
        most = game.rules.find_highest_round_return(game.build_wager(sum(own_bets.values()), bets=own_bets))
        assert back <= most
        highest.append(back == most)
    assert any(highest)
