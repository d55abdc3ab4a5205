"""A player as the bank (Québec ss. 53, 62, 116): to whom it is offered, what it covers, what it is paid."""

import json
from collections import Counter
from fractions import Fraction

import pytest

from paytables import (
    SEATS_DECISION_KIND,
    STAKES_RETURNED_OPTION,
    Choice,
    Decision,
    DefinitionError,
    Settlement,
    WagerError,
    analyse,
    build_game,
    load_game,
)
from paytables.contract import Bet, RecordingDrawSource
from tools.lab.simulation import judge_return, play_batch

GAMES = ["quebec-super-pan-9", "quebec-pai-gow", "quebec-pai-gow-poker"]
SUPER_PAN = "quebec-super-pan-9"
#: The bank's return from the chances of the stake in each game's own tests; the bank pays no commission.
RETURNS = dict(zip(GAMES, ("100.0000", "100.1408", "101.2715"), strict=True))


def play(game, wager, draw, answer=lambda decision: decision.default_option):
    steps, generator, choice = [], game.play(wager, draw), None
    while True:
        try:
            step = generator.send(choice)
        except StopIteration as end:
            return steps, end.value
        choice = Choice(answer(step)) if isinstance(step, Decision) else None
        steps.append(step)


def all_seats(game, seats):
    return game.build_wager(sum(sum(bets.values()) for bets in seats.values()), seats=seats)


def after(game, *, seat=0, took_part, last=None):
    last = {} if last is None else {"last": last}
    return game.with_table_state({"bank": {"seat": seat, "took_part": took_part, **last}})


def points(cards):
    worth = {"A": 1, "J": 0, "Q": 0, "K": 0}
    return sum(worth[card[0]] if card[0] in worth else int(card[0]) for card in cards) % 10


# ---------------------------------------------------------------------------------- settled again, from the text
class Croupier:
    """The record of held rounds from which the text decides who may be the bank."""

    def __init__(self, seats):
        self.rounds, self.offered_next, self.count = [], 0, seats

    def find_banker(self, seats):
        if not self.rounds:
            return None  # "the dealer must be the Bank for the first round"
        of_dealer = next(players for banker, players in reversed(self.rounds) if banker is None)
        for n in range(self.count):
            seat = (self.offered_next + n) % self.count
            chips = seats.get(str(seat), {}).get("bank", 0)
            wagers = sum(bets["stake"] for other, bets in seats.items() if int(other) != seat)
            if seat in of_dealer and seat != self.rounds[-1][0] and wagers and chips >= wagers:
                return seat
        return None

    def hold(self, seats):
        banker = self.find_banker(seats)
        self.rounds.append((banker, {int(seat) for seat in seats}))
        if banker is not None:
            self.offered_next = (banker + 1) % self.count
        return banker


def find_result(name, hands, seat, settled):
    """1 if a seat's hand beats the bank's, 0 for a push, -1 if it loses."""
    if name != SUPER_PAN:  # their hands are compared again in the tests of each game
        (settlement,) = (
            settlement for settlement in settled if (settlement.seat, settlement.spot) == (seat, "stake")
        )
        return {"won": 1, "push": 0}.get(settlement.name, -1)
    own_points, bank = points(hands["player" if not seat else f"player-{seat + 1}"]), points(hands["bank"])
    return (own_points > bank) - (own_points < bank)


def settle_by_the_text(name, seats, banker, hands, settled):
    """Return what each bet pays; a winning wager pays 5 %, of the next higher multiple of ten dollars."""
    due = {(int(seat), spot): 0 for seat, bets in seats.items() for spot in bets}
    for seat, bets in seats.items():
        if int(seat) == banker:
            due[banker, "stake"] = bets["stake"]
            due[banker, "bank"] += bets["bank"]
            continue
        if "bank" in bets:
            due[int(seat), "bank"] = bets["bank"]
        stake, result = bets["stake"], find_result(name, hands, int(seat), settled)
        tens = -(-stake * 50 // 1000)  # fifty cents a credit
        due[int(seat), "stake"] = stake * (1 + result) - (tens if result == 1 else 0)
        if banker is not None:
            due[banker, "bank"] -= stake * result
    return due


def some_seats(game, draw):
    seats, limits = {}, game.rules.list_spots()[0]
    is_open = game.rules.list_spots()[1].accepts_bets
    for seat in range(game.rules.table_layout.table.seat_count):
        if draw.below(2, "seat"):
            bets = {"stake": limits.bet_step * (-(-limits.bet_min // limits.bet_step) + draw.below(5, "bet"))}
            if is_open and draw.below(2, "offers"):
                bets["bank"] = (20, 60, 400)[draw.below(3, "bank")]
            seats[str(seat)] = bets
    return seats or {"0": {"stake": limits.bet_min}, "2": {"stake": limits.bet_min}}


def hold_rounds(name, seeded_draw, count):
    game, seen = load_game(name), Counter()
    table, croupier = None, Croupier(game.rules.table_layout.table.seat_count)
    for seed in range(count):
        if seed % 50 == 0:
            table, croupier = None, Croupier(game.rules.table_layout.table.seat_count)
        draw, game_at_table = seeded_draw(seed), game.with_table_state(json.loads(json.dumps(table)))
        seats = some_seats(game_at_table, draw)
        if len(seats) == 1:
            seats = {str(seat): {"stake": 20} for seat in range(3)}
        banker = croupier.hold(seats)
        steps, outcome = play(
            game_at_table,
            all_seats(game_at_table, seats),
            draw,
            lambda decision, n=seed: decision.options[n % len(decision.options)],
        )
        settled = [step for step in steps if isinstance(step, Settlement)]
        hands = {hand["id"]: hand["cards"] for hand in outcome.display["hands"]}
        found = Counter()
        staked = Counter()
        for settlement in settled:
            found[settlement.seat, settlement.spot] += settlement.credits
            staked[settlement.seat, settlement.spot] += settlement.staked_credits
        due = settle_by_the_text(name, seats, banker, hands, settled)
        assert {where: found[where] for where in staked} == due
        assert staked == {(int(s), spot): n for s, bets in seats.items() for spot, n in bets.items()}
        asked_seats = [step.seat for step in steps if isinstance(step, Decision)]
        assert asked_seats == [int(seat) for seat in sorted(seats) if int(seat) != banker]
        first_dealt = next(n for n, step in enumerate(steps) if getattr(step, "kind", "") == "deal")
        for n, step in enumerate(steps):
            if isinstance(step, Settlement):
                assert (step.name == "not covered") == (n < first_dealt)
        seen["banker", banker is not None] += 1
        seen.update(step.name for step in settled if step.spot == "bank")
        table = outcome.table_state
    assert {("banker", True), ("banker", False), "won", "lost", "push", "not covered"} <= set(seen)


@pytest.mark.requirement("S-18", "P-01:b")
@pytest.mark.parametrize("name", GAMES)
def test_rounds_with_players_as_the_bank_are_settled_as_the_text_says(name, seeded_draw):
    hold_rounds(name, seeded_draw, 300)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("name", GAMES)
def test_a_hundred_thousand_rounds_with_players_as_the_bank(name, seeded_draw):
    hold_rounds(name, seeded_draw, 100_000)


# ---------------------------------------------------------------------------------- the offer
@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_the_machine_is_the_bank_in_the_first_round_and_if_no_player_can_be(name, seeded_draw):
    game = load_game(name)
    assert [spot.id for spot in game.rules.list_spots() if not spot.accepts_bets] == ["bank"]
    with pytest.raises(WagerError, match="bank: the spot is closed"):
        game.build_wager(40, bets={"stake": 20, "bank": 20})
    seats = {"0": {"stake": 20}, "1": {"stake": 20}, "2": {"stake": 40}}
    _, outcome = play(game, all_seats(game, seats), seeded_draw(1))
    assert outcome.table_state == {"bank": {"seat": 0, "took_part": [0, 1, 2]}}
    game_at_table = game.with_table_state(outcome.table_state)
    assert game_at_table.rules.build_current_view() == {"bank": 0}
    assert all(spot.accepts_bets for spot in game_at_table.rules.list_spots())
    bets = [Bet("stake", 20, 0), Bet("stake", 20, 1), Bet("stake", 40, 2), Bet("bank", 40, 1)]
    assert game_at_table.rules.arrange_bank(bets).bank_seat is None  # twenty less than the others have staked
    assert {
        (settlement.name, settlement.seat, settlement.credits)
        for settlement in game_at_table.rules.arrange_bank(bets).returned_settlements
    } == {("not covered", 1, 40)}


@pytest.mark.requirement("S-18")
def test_the_bank_is_offered_in_turn_and_never_twice_running():
    game = load_game(SUPER_PAN)
    offers = [Bet(spot, n, seat) for seat in (0, 1, 2) for spot, n in (("stake", 20), ("bank", 100))]
    banked = after(game, took_part=[0, 1, 2]).rules.arrange_bank(offers)
    assert banked.bank_seat == 0
    assert {bet.seat for bet in banked.played_bets} == {1, 2}
    assert {
        (settlement.seat, settlement.spot, settlement.credits) for settlement in banked.returned_settlements
    } == {
        (0, "stake", 20),
        (0, "bank", 60),
        (1, "bank", 100),
        (2, "bank", 100),
    }
    next_rules = after(game, seat=1, took_part=[0, 1, 2], last=0).rules
    assert next_rules.arrange_bank(offers).bank_seat == 1
    assert next_rules.build_current_view() == {"bank": 1}
    assert (
        next_rules.arrange_bank(
            [bet for bet in offers if (bet.spot, bet.seat) not in {("bank", 1), ("bank", 2)}]
        ).bank_seat
        is None
    )
    assert (
        after(game, took_part=[2]).rules.arrange_bank(offers).bank_seat == 2
    )  # the others had no part in the round
    assert (
        after(game, took_part=[0]).rules.arrange_bank(offers[:2]).bank_seat is None
    )  # no other seat stakes against it


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_a_player_alone_is_never_offered_the_bank(name, seeded_draw):
    game = load_game(name)
    _, outcome = play(game, game.build_wager(20, bets={"stake": 20}), seeded_draw(1))
    assert outcome.table_state is None


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_the_bank_wins_what_the_stake_loses_without_commission(name):
    bets = {bet.bet: bet for bet in analyse(load_game(name)).bets}
    bank, stake = bets["bank"], bets["stake"]
    won = stake.distribution.case_count_by_win[39]
    assert bank.rtp == 1 + (1 - stake.rtp) - Fraction(won, 20 * stake.distribution.case_count)
    assert bank.required_bets == {"stake": 20}
    assert f"{float(bank.rtp) * 100:.4f}" == RETURNS[name]


@pytest.mark.parametrize("name", GAMES)
def test_a_simulated_bank_agrees_with_its_exact_return(name, seeded_draw):
    """The other seats follow their advice; against seats that never answer, a bank would win more."""
    game = load_game(name)
    bank = {bet.bet: bet for bet in analyse(game).bets}["bank"]
    tally = play_batch(
        game,
        bank.cost_credits,
        bank.options,
        1_000,
        seeded_draw(20261127),
        table_state=bank.table,
        additional_bets=bank.required_bets,
    )
    assert abs(judge_return(tally, bank.cost_credits, bank.rtp, bank.variance).z_score) < 3.3
    assert set(tally.game_count_by_win) == {0, 20, 40}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({}, "that a round"),
        ({"shoe": {}}, "that a round"),
        ({"bank": {"seat": 0}}, "that a round"),
        ({"bank": {"seat": 0, "took_part": []}}, "that a round"),
        ({"bank": {"seat": 9, "took_part": [0]}}, "does not name seats of this table"),
        ({"bank": {"seat": 0, "took_part": [True]}}, "does not name seats of this table"),
        ({"bank": {"seat": 0, "took_part": [1, 0]}}, "out of order"),
        ({"bank": {"seat": 0, "took_part": [0], "last": None}}, "does not name seats of this table"),
        ({"bank": {"seat": 0, "took_part": [0], "last": 0}}, "that a round"),
        ({"bank": {"seat": 2, "took_part": [0], "last": 1}}, "that a round"),
    ],
)
def test_a_bank_turn_that_no_round_can_leave_is_refused(name, table, reason):
    with pytest.raises(ValueError, match=reason):
        load_game(name).with_table_state(table)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"table": {"seats": 1}}, "a table of one seat"),
        ({"game": {"denominations_cents": [50, 100]}}, "only one is allowed if a player may be the bank"),
        ({"player_bank": {"limits": {"least": 10, "most": 100, "step": 10}}}, "must fit stakes from 20"),
    ],
)
def test_a_definition_with_a_player_bank_that_nobody_can_hold_is_refused(name, change, reason):
    data = json.loads(load_game(name).text)
    for key, value in change.items():
        data[key] = {**data[key], **value}
    with pytest.raises(DefinitionError, match=reason):
        build_game(data, "test")


@pytest.mark.parametrize("name", GAMES)
def test_without_a_bank_in_its_definition_the_machine_is_the_bank(name, seeded_draw):
    data = json.loads(load_game(name).text)
    del data["player_bank"]
    game = build_game(data, "test")
    seats = {"0": {"stake": 20}, "1": {"stake": 20}}
    assert play(game, all_seats(game, seats), seeded_draw(1))[1].table_state is None
    assert not game.rules.has_fixed_seats
    assert not game.rules.shared_state_fields - {"shoe"}
    with pytest.raises(ValueError, match="that a round"):
        game.with_table_state({"bank": {"seat": 0, "took_part": [0]}})


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_if_not_all_have_staked_every_stake_is_returned_and_the_bank_stays(seeded_draw, name):
    """After a power loss between two stakes, the bank would otherwise pay or win a missing stake."""
    here = after(load_game(name), took_part=[0, 1, 2])
    bets = {0: {"stake": 20, "bank": 60}, 1: {"stake": 20}, 2: {"stake": 20}}
    wagers = {seat: here.build_wager(sum(laid.values()), bets=laid) for seat, laid in bets.items()}
    draw = RecordingDrawSource(seeded_draw(1))
    for seat, wager in wagers.items():
        combined = here.rules.combine_seat_wagers(wager, seat, wagers)
        steps, outcome = play(here, combined, draw, lambda _: STAKES_RETURNED_OPTION)
        back = {
            (step.seat, step.spot, step.name, step.credits) for step in steps if isinstance(step, Settlement)
        }
        assert back == {(seat, spot, "not covered", credits_) for spot, credits_ in bets[seat].items()}
        assert (outcome.table_state["bank"]["took_part"], draw.records) == ([0, 1, 2], [])


@pytest.mark.requirement("S-18")
@pytest.mark.parametrize("name", GAMES)
def test_only_a_round_with_a_player_as_bank_waits_for_every_stake(seeded_draw, name):
    game = load_game(name)
    wagers = {seat: game.build_wager(20, bets={"stake": 20}) for seat in (0, 1)}
    steps, _ = play(game, game.rules.combine_seat_wagers(wagers[0], 0, wagers), seeded_draw(1))
    assert SEATS_DECISION_KIND not in {step.kind for step in steps if isinstance(step, Decision)}
