"""Trente et quarante: exact chances against a plain recursion, and games against settlements from the text."""

import json
from fractions import Fraction
from functools import lru_cache

import pytest
from rigs.cards import remove_cards
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
    play_with_answers,
    play_with_choices,
)
from paytables.bank.row_chances import (
    compute_equal_row_probabilities,
    compute_equal_row_probabilities_for_counts,
)
from paytables.cards.card import Shoe, parse_cards

GAME = "monaco-trente-et-quarante"
CHANCES = ("inverse", "black", "red", "colour")


# ---------------------------------------------------------------------------------- counted
def compute_chances_by_dealing(counts):
    """Return the same two chances by dealing every card of both rows one after another."""

    @lru_cache(None)
    def row(counts_left, points):
        if points > 30:
            return {(points, counts_left): Fraction(1)}
        ends = {}
        for value, count in enumerate(counts_left, 1):
            if count:
                after = tuple(n - (v == value) for v, n in enumerate(counts_left, 1))
                for end, chance in row(after, points + value).items():
                    ends[end] = ends.get(end, 0) + chance * Fraction(count, sum(counts_left))
        return ends

    equal = refait = Fraction(0)
    for (points, counts_left), chance in row(counts, 0).items():
        same = sum(share for (other, _), share in row(counts_left, 0).items() if other == points)
        equal += chance * same
        refait += chance * same * (points == 31)
    return equal, refait


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 2, 1, 1, 2, 1, 5), (2, 0, 1, 0, 2, 0, 2, 0, 1, 5)])
def test_rows_are_counted_as_they_are_dealt(counts):
    assert compute_equal_row_probabilities_for_counts(
        dict(enumerate(counts, 1))
    ) == compute_chances_by_dealing(counts)


@pytest.mark.slow
@pytest.mark.parametrize("counts", [(1, 1, 1, 1, 1, 1, 1, 1, 1, 4), (3, 2, 1, 1, 1, 1, 1, 1, 1, 4)])
def test_longer_rows_are_counted_as_they_are_dealt(counts):
    assert compute_equal_row_probabilities_for_counts(
        dict(enumerate(counts, 1))
    ) == compute_chances_by_dealing(counts)


def compute_endless_chances():
    """Return the chances that a row of an endless shoe ends at 31 to 40."""
    share = {value: Fraction(4 if value == 10 else 1, 13) for value in range(1, 11)}
    comes = {0: Fraction(1)}
    for points in range(1, 41):
        before = ((points - value, chance) for value, chance in share.items())
        comes[points] = sum((comes[p] * chance for p, chance in before if 0 <= p <= 30), Fraction(0))
    return {points: comes[points] for points in range(31, 41)}


def test_six_decks_give_nearly_the_published_chances_of_an_infinite_deck():
    ends = compute_endless_chances()
    assert sum(ends.values()) == 1
    assert f"{float(ends[31] ** 2):.6f}" == "0.021922"
    assert f"{float(1 - ends[31] ** 2 / 2) * 100:.3f}" == "98.904"
    equal, refait = compute_equal_row_probabilities(6)
    assert abs(refait - ends[31] ** 2) < Fraction(1, 10_000)
    assert abs(equal - sum(chance**2 for chance in ends.values())) < Fraction(1, 1_000)


def test_a_refait_costs_half_its_chance_and_insurance_a_part_of_decided_coups():
    equal, refait = compute_equal_row_probabilities(6)
    figures = {bet.bet: bet for bet in analyse(load_game(GAME), AnalysisDepth.FULL).bets}
    assert set(figures) == {*CHANCES, *(f"{chance}-insured" for chance in CHANCES)}
    for chance in CHANCES:
        assert figures[chance].rtp == 1 - refait / 2
        insured = figures[f"{chance}-insured"]
        assert insured.rtp == 1 - (1 - equal + refait) / 101
        assert f"{float(1 - insured.rtp) * 100:.2f}" == "0.90"  # published
        assert insured.worst_rtp is None
    freed = Fraction(1 - equal) / 2 / (1 - equal + refait)
    second_refait = refait / (1 - equal + refait)
    later = freed * 20 + second_refait * Fraction(
        5
    )  # of 20 credits the second refait gives a quarter, and no eighth
    assert figures["red"].worst_rtp == 1 - refait + (refait * later) / 20


def test_several_chances_together_have_the_exact_joint_distribution():
    game = load_game(GAME)
    equal, refait = compute_equal_row_probabilities(6)
    wager = game.build_wager(221, bets={"red": 100, "red-insured": 1, "inverse": 80, "black": 40})
    law = game.rules.analyse_wager(wager).distribution
    chances = {win: Fraction(count, law.case_count) for win, count in law.case_count_by_win.items()}
    fourth = (1 - equal) / 4
    assert chances == {
        200 + 160: fourth,
        200: fourth,
        80 + 160: fourth,
        80: fourth,
        221: equal - refait,
        100 + 40 + 20: refait,
    }
    assert game.rules.find_highest_round_return(wager) == 360


# ---------------------------------------------------------------------------------- settled again, from the text
def worth(card):
    return {"A": 1, "T": 10, "J": 10, "Q": 10, "K": 10}.get(card[0]) or int(card[0])


def rows_by_the_text(cards):
    """Split the dealt cards into two rows; check that no card is left over."""
    rows = [[], []]
    for row in rows:
        while cards and sum(map(worth, row)) <= 30:
            row.append(cards.pop(0))
    assert not cards
    return rows


def won_by_the_text(rows):
    noir, rouge = (sum(map(worth, row)) for row in rows)
    if rouge <= 30:
        return "void", ()
    if noir == rouge:
        return ("refait" if noir == 31 else "equal"), ()
    row = "black" if noir < rouge else "red"
    first = "red" if rows[0][0][1] in "dh" else "black"
    return "decided", (row, "colour" if first == row else "inverse")


def settled_by_the_text(stakes, prison, result, won, answers):
    """Return what each spot pays and the stakes then in prison; ``prison`` is (spot, stake, refaits met)."""
    back, stays = [], []
    for spot, stake, met in prison:
        if result in {"void", "equal"}:
            stays.append((spot, stake, met))
        elif result == "decided":
            back.append((spot, stake // 2 ** (met - 1) if spot in won else 0))
        elif stake % 2 ** (met + 2) == 0 and answers.pop(0) == "prison":
            stays.append((spot, stake, met + 1))
        else:
            back.append((spot, stake // 2 ** (met + 1)))
    for spot, stake in stakes.items():
        insured = f"{spot}-insured" in stakes
        if result in {"void", "equal"} or (result == "refait" and insured):
            back.append((spot, stake))
        elif result == "decided":
            back.append((spot, 2 * stake if spot in won else 0))
        elif spot.endswith("-insured"):
            back.append((spot, 0))
        elif stake % 4 == 0 and answers.pop(0) == "prison":
            stays.append((spot, stake, 1))
        else:
            back.append((spot, stake // 2))
    return back, stays


def some_stakes(pick, prison):
    stakes = {spot: 20 + 4 * pick.below(20, "") for spot in CHANCES if not pick.below(2, "")}
    for spot in tuple(stakes):
        if not pick.below(3, ""):
            hundreds = 1 + pick.below(20, "")
            stakes |= {spot: 100 * hundreds, f"{spot}-insured": hundreds}
    return stakes or ({} if prison else {"red": 20})


def check_rounds(seeded_draw, count, refaits=False):
    """Play ``count`` rounds from shoe to shoe; with ``refaits``, three of every eight coups are refaits."""
    new_game, table, prison, seen = load_game(GAME), None, [], {}
    pick = seeded_draw("player")
    for seed in range(count):
        game = new_game.with_table_state(json.loads(json.dumps(table)))
        assert {(b.spot, b.credits) for b in game.rules.list_standing_bets()} == {
            (s, n) for s, n, _ in prison
        }
        draw = RecordingDrawSource(Stacked(game) if refaits and seed % 8 < 3 else seeded_draw(seed))
        stakes = some_stakes(pick, prison)
        wager = game.build_wager(sum(stakes.values()), bets=stakes)
        played, choices, cards = Round(game.play(wager, draw), wager), [], []
        played.advance()
        while True:
            cards += [cue.data["card"] for cue in played.cues if cue.kind == "deal"]
            if played.decision is None:
                break
            choices.append(("half", "prison", "prison")[pick.below(3, "")])
            played.advance(Choice(choices[-1]))
        replayed = ReplayDrawSource(draw.records)
        assert (
            play_with_choices(game.play(wager, replayed), wager, [Choice(choice) for choice in choices])
            == played.outcome
        )
        replayed.check_all_numbers_used()
        rows = rows_by_the_text(list(cards))
        result, won = won_by_the_text(rows)
        order = {spot.id: n for n, spot in enumerate(game.rules.list_spots())}
        lies = sorted(prison, key=lambda held_stake: (order[held_stake[0]], -held_stake[2]))
        laid = {spot: stakes[spot] for spot in order if spot in stakes}
        back, prison = settle_in_order(laid, lies, result, won, choices, order)
        assert sorted((s.spot, s.credits) for s in played.settlements) == sorted(back)
        held_stakes = [
            (h["spot"], h["credits"], h["count"]) for h in (played.outcome.table_state or {}).get("held", [])
        ]
        assert sorted(held_stakes) == sorted(prison)
        assert [hand["cards"] for hand in played.outcome.display["hands"]] == rows
        assert list_undecided_stakes(played) == tuple(
            b for b in list_undecided_stakes(played) if (b.spot in {s for s, _, _ in prison})
        )
        table = played.outcome.table_state
        seen[result] = seen.get(result, 0) + 1
        for held_stake in prison:
            seen[held_stake[2]] = seen.get(held_stake[2], 0) + 1
    return seen


def settle_in_order(laid, lies, result, won, choices, order):
    """Settle the spots in the order of the cloth, so that each answer belongs to the seat that gave it."""
    answers, back, stays = list(choices), [], []
    for spot in order:
        stakes = {name: laid[name] for name in (spot,) if name in laid}
        stakes |= {name: laid[name] for name in (f"{spot}-insured",) if stakes and name in laid}
        if spot.endswith("-insured"):
            continue
        spot_stakes = [held_stake for held_stake in lies if held_stake[0] == spot]
        some, held_stakes = settled_by_the_text(stakes, spot_stakes, result, won, answers)
        back, stays = back + some, stays + held_stakes
    assert not answers
    return back, stays


class Stacked:
    """Draws that deal the cards of a refait first, as far as the shoe still contains them."""

    def __init__(self, game):
        shoe = game.rules.table_state["shoe"] if game.rules.table_state else Shoe.from_decks(6).to_json()
        self.left = Shoe.from_json(shoe)
        self.cards = list(parse_cards("Ks Kh Kd Ac Qs Qh Qd Ah"))

    def below(self, bound, purpose):
        del purpose
        card = self.cards.pop(0) if self.cards else next(c for c, n in enumerate(self.left.counts) if n)
        if not self.left.counts[card]:
            card = next(c for c, n in enumerate(self.left.counts) if n)
        drawn_index = sum(self.left.counts[:card])
        assert bound == self.left.cards_left
        remove_cards(self.left, card)
        return drawn_index


@pytest.mark.requirement("S-50", "P-01:b")
def test_coups_are_settled_as_the_text_says(seeded_draw):
    seen = check_rounds(seeded_draw, 1600)
    assert min(seen[result] for result in ("void", "equal", "refait", "decided")) > 20


@pytest.mark.requirement("S-50")
def test_refaits_are_settled_as_the_text_says(seeded_draw):
    seen = check_rounds(seeded_draw, 400, refaits=True)
    assert seen[1] > 50
    assert seen[2] > 5


@pytest.mark.slow
def test_a_hundred_thousand_coups_are_settled_as_the_text_says(seeded_draw):
    assert check_rounds(seeded_draw, 80_000)["void"] > 1000
    assert check_rounds(seeded_draw, 20_000, refaits=True)[3] > 5


def test_the_stop_card_voids_a_coup_and_keeps_imprisoned_stakes():
    shoe = {"shoe": {"Kc": 6, "5d": 1}, "held": [{"spot": "red", "credits": 20, "count": 1}]}
    game = load_game(GAME).with_table_state(shoe)
    wager = game.build_wager(141, bets={"black": 40, "red": 100, "red-insured": 1})

    class First:
        def below(self, bound, purpose):
            return 0

    outcome = play_with_choices(game.play(wager, First()), wager)
    assert [(s.spot, s.name, s.credits) for s in outcome.settlements] == [
        ("black", "void", 40),
        ("red", "void", 100),
        ("red-insured", "void", 1),
    ]
    assert outcome.display["result"] == "void"
    assert outcome.push_credits == outcome.returned_credits == 141
    assert outcome.table_state == {"held": shoe["held"]}  # and no shoe: the next coup is dealt of a new one
    taken, state_left = game.rules.take_down_standing_bets()
    assert [(settlement.name, settlement.credits) for settlement in taken] == [("half", 10)]
    assert state_left == {"shoe": shoe["shoe"]}
    assert game.build_wager(0).credits == 0


@pytest.mark.parametrize(
    ("bets", "reason"),
    [
        ({"red": 22}, "22 credits: not a multiple of 4"),
        (
            {"red": 104, "red-insured": 1},
            "1 credit staked with 104 on 'red'; expected one for each 100 credits",
        ),
        ({"red": 200, "red-insured": 1}, "1 credit staked with 200 on 'red'"),
        ({"black": 100, "red-insured": 1}, "needs a bet on 'red'"),
        ({"red-insured": 1}, "needs a bet on 'red'"),
        ({"red": 2100}, "20 to 2,000"),
        ({}, "at least one bet must be staked"),
    ],
)
def test_a_wager_that_cannot_pay_whole_credits_or_breaks_a_limit_is_refused(bets, reason):
    with pytest.raises(WagerError, match=reason):
        load_game(GAME).build_wager(sum(bets.values()), bets=bets)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([], "that a round of this game can leave"),
        ({}, "that a round of this game can leave"),
        ({"cards": {}}, "that a round of this game can leave"),
        ({"shoe": {"As": 7}}, "6 decks|7 of As|shuffled before"),
        ({"shoe": {"As": 3}}, "shuffled before"),
        ({"held": []}, "in prison"),
        ({"held": {"spot": "red", "credits": 20, "count": 1}}, "in prison"),
        ({"held": [{"spot": "red", "credits": 20}]}, "has no count above 0"),
        ({"held": [{"spot": "red", "credits": 20, "count": 2}]}, "can be"),
        ({"held": [{"spot": "red", "credits": 22, "count": 1}]}, "can be"),
        ({"held": [{"spot": "red-insured", "credits": 1, "count": 1}]}, "standing bet"),
        ({"held": [{"spot": "red", "credits": 20, "count": 1}] * 2}, "listed twice"),
    ],
)
def test_a_table_state_that_no_coup_can_leave_is_refused(table, reason):
    with pytest.raises(ValueError, match=reason):
        load_game(GAME).with_table_state(table)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d["insurance"].update(percent=3), "not a whole number"),
        (lambda d: d["insurance"].update(least=150), "not a whole number"),
        (lambda d: d["bet"][0].update(limits={"least": 5, "most": 50, "step": 5}), "is not even"),
        (lambda d: d["bet"][0].update(on="red"), "listed twice"),
        (lambda d: d["bet"][0].update(on="green"), "'black', 'red', 'colour' or 'inverse'"),
        (lambda d: d["form"][1]["bets"].update({"red-insured": 2}), "one for each 100"),
        (lambda d: d["shoe"].update(stop=400), "behind the stop card"),
    ],
)
def test_a_definition_that_cannot_be_played_is_refused(change, reason):
    data = json.loads(load_game(GAME).text)
    change(data)
    with pytest.raises(DefinitionError, match=reason):
        build_game(data, "test")


def test_a_continuous_shuffler_has_no_stop_card_and_stores_no_shoe(seeded_draw):
    data = json.loads(load_game(GAME).text)
    del data["shoe"]["stop"]
    data["table"] = {"seats": 3, "betting_seconds": 20}
    game = build_game(data, "test")
    assert game.rules.betting_seconds == 20
    seats = {"0": {"red": 20}, "2": {"black": 100, "black-insured": 1}}
    wager = game.build_wager(121, seats=seats)
    for seed in range(60):
        outcome = play_with_answers(
            game.play(wager, seeded_draw(seed)), wager, lambda decision: Choice("half")
        )
        assert outcome.table_state is None
        assert {s.seat for s in outcome.settlements} == {0, 2}
        assert outcome.display["result"] != "void"


@pytest.mark.requirement("C-02", "C-12", "C-22")
def test_the_rules_read_by_the_player_name_every_pay():
    game = load_game(GAME)
    for code in ("en", "fr"):
        for odds in {spot.odds for spot in game.rules.list_spots()}:
            assert odds in game.help[code]
