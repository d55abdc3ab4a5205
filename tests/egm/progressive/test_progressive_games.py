"""Games that feed and win progressive levels: amounts are never rounded, locked at the draw, and paid with the game."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from click.testing import CliRunner
from rigs.forms import fill_in
from rigs.three_levels import (
    GAME,
    LINKED,
    LUCK,
    NO_LUCK,
    OWN,
    A,
    B,
    C,
    await_linked_award,
    make_levels_machine,
    write_profile,
)

from egm.app.features import STAFF_REGISTERS
from egm.app.view import build_snapshot
from egm.config.cabinet_file import GameTable
from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.money.keys import MoneyKey
from egm.people import Role
from egm.play.installed_games import admit_games
from egm.play.records.games import GameInProgress
from egm.profiles import load_profile
from egm.progressive.display import DisplayedAmount, LevelAmountSources, LevelStatus
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.progressive.pools import LevelConfigurationError, ProgressivePools
from egm.staff.registers import iter_register_lines
from egm.testing.machine import create_generator
from egm.testing.service_menu import STAFF_NUMBER_BY_ROLE, MenuUser
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.cli import main

TOP, LUCKY, MYSTERY = "three-levels.top.50", "three-levels.luck.50", "three-levels.mystery.50"
MISS = 49
"""A number of the mystery draw that does not hit."""


def level(rig, pool) -> Level:
    return Level.from_json(rig.journal.state(f"{ProgressiveKey.OWN_LEVEL}{pool}"))


def one_game(rig) -> None:
    rig.play()
    rig.report_shown()


@pytest.fixture
def rig(tmp_path):
    rooms = []

    def open_rig(*numbers, **options):
        rooms.append(make_levels_machine(tmp_path, *numbers, **options))
        return rooms[-1].boot().insert(10000)

    yield open_rig
    for rig in rooms:
        rig.close()


@pytest.mark.requirement("F-04", "I-01", "I-14")
def test_a_wager_contributes_exactly_to_each_of_its_levels_in_its_own_entry(rig):
    machine = rig(*(B, NO_LUCK, 2**30 % 7 + 20) * 3)
    for _ in range(3):
        one_game(machine)
    assert level(machine, TOP).current_amount == 1500 + Fraction(150, 70)
    assert level(machine, LUCKY).current_amount == 501
    assert level(machine, MYSTERY).current_amount == 500 + Fraction(150, 90)
    assert level(machine, "three-levels.top.100").current_amount == 3000  # another stake, another amount
    start = next(machine.journal.entries("game.start"))
    assert {t.target for t in start.transfers} == {"house:wager"}  # less than one cent
    last = next(machine.journal.entries("game.start", newest_first=True))
    assert sum(t.amount_cents for t in last.transfers if t.source.startswith("pool:")) == 2
    assert machine.journal.balance_cents(f"pool:{TOP}:current") == 1502
    assert machine.journal.meters().values["progressive.contributed"] == 4


@pytest.mark.requirement("I-09", "I-20", "D-09", "D-14", "F-04", "F-01")
def test_a_hit_is_locked_with_the_outcome_and_paid_with_the_game(rig):
    machine = rig(B, NO_LUCK, MISS, A, LUCK, MISS)
    one_game(machine)
    machine.play()
    top = 1500 + int(Fraction(100, 70))
    start = machine.records("game.start")[-1]
    assert [(h["pool"], h["amount_cents"]) for h in start["hits"]] == [(TOP, top), (LUCKY, 500)]
    assert level(machine, TOP).current_amount == 1500 + Fraction(100, 70) - 1
    shown = machine.hands.messages[-1]
    assert (shown.returned_credits, shown.paid_cents) == (20, 100 + top + 500)
    assert [(w.level, w.amount_cents) for w in shown.progressives] == [("top", top), ("luck", 500)]
    before = machine.credit_cents
    machine.report_shown()
    assert machine.credit_cents == before + 100 + top + 500
    meters = machine.journal.meters()
    assert meters.get_value("mach_progressive") == top + 500
    assert meters.get_value("coin_out") == 100 + 15  # the level is no coin-out
    assert meters.split_by("progressive.wins", "level") == {TOP: top, LUCKY: 500}
    assert meters.get_value("progressive.hits_paid") == 2
    hits = machine.records("progressive.hit")
    assert [(h["pool"], h["amount_cents"], h["way"]) for h in hits] == [
        (TOP, top, "credit"),
        (LUCKY, 500, "credit"),
    ]


@pytest.mark.requirement("A-08", "I-09")
def test_a_restart_between_hit_and_payment_pays_the_locked_amount(rig, tmp_path):
    machine = rig(A, NO_LUCK, MISS)
    machine.play()
    machine.close()
    restarted = make_levels_machine(tmp_path).boot()
    assert restarted.state is State.PLAYING
    assert restarted.hands.messages[-1].progressives[0].amount_cents == 1500
    before = restarted.credit_cents
    restarted.report_shown()
    assert restarted.credit_cents == before + 100 + 1500
    assert level(restarted, TOP).hit_count == 1
    restarted.close()


@pytest.mark.requirement("B-07", "I-04")
def test_a_mystery_is_drawn_in_the_games_own_step_and_recorded(rig):
    machine = rig(B, NO_LUCK, 0)
    machine.play()
    start = machine.records("game.start")[-1]
    ((bound, value, purpose),) = start["mystery"]
    assert (bound, value, purpose) == (90, 0, f"progressive.{MYSTERY}")
    assert [(h["level"], h["mystery"], h["amount_cents"]) for h in start["hits"]] == [("mystery", True, 500)]
    assert len(start["steps"][0]["draws"]) == 2  # the game's own


def test_a_mystery_must_be_hit_by_its_ceiling(rig):
    machine = rig(
        *(B, NO_LUCK, 89),
        *(n for balls_left in range(89, 1, -1) for n in (B, NO_LUCK, balls_left - 1)),
        B,
        NO_LUCK,
    )
    for _ in range(90):
        one_game(machine)
    assert level(machine, MYSTERY).hit_count == 1
    start = machine.records("game.start")[-1]
    assert start["mystery"] == []  # certain: no number was needed
    assert start["hits"][0]["amount_cents"] == 550


def test_a_level_won_after_a_choice_is_locked_in_the_step_that_decides_it(rig):
    machine = rig(C, MISS, 1, NO_LUCK)
    machine.play()
    assert machine.records("game.start")[-1]["hits"] == []
    machine.engine.handle(EventType.CHOOSE, value=1)
    (choice,) = machine.records("game.choice")
    assert [(h["pool"], h["amount_cents"]) for h in choice["hits"]] == [(TOP, 1500)]
    before = machine.credit_cents
    machine.report_shown()
    assert machine.credit_cents == before + 5 + 1500


@pytest.mark.requirement("F-05:b")
@pytest.mark.parametrize(("threshold", "state"), [(1600, State.HANDPAY), (1601, State.IDLE)])
def test_a_win_and_its_level_are_one_sum_against_the_threshold(tmp_path, threshold, state):
    path = write_profile(tmp_path, "large_win_cents = 120000", f"large_win_cents = {threshold}")
    machine = make_levels_machine(tmp_path / "state", A, NO_LUCK, MISS, profile=path).boot().insert(10000)
    one_game(machine)
    (hit,) = machine.records("progressive.hit")
    assert (hit["amount_cents"], machine.records("game.start")[0]["outcome"]["win_credits"] * 5) == (
        1500,
        100,
    )
    assert machine.state is state
    machine.close()


@pytest.mark.requirement("F-06:d")
@pytest.mark.parametrize(("tax_cents", "state"), [(1600, State.HANDPAY), (1601, State.IDLE)])
def test_a_win_and_its_level_are_one_sum_against_the_tax_limit(tmp_path, tax_cents, state):
    path = write_profile(tmp_path, "[by_hand]", f"[by_hand]\ntax_cents = {tax_cents}")
    machine = make_levels_machine(tmp_path / "state", A, NO_LUCK, MISS, profile=path).boot().insert(10000)
    one_game(machine)
    assert machine.state is state
    if state is State.HANDPAY:
        machine.engine.handle(EventType.KEY_TURNED, key="attendant")
        (paid,) = machine.records("handpay.paid")
        assert (paid["amount_cents"], paid["taxable"]) == (1600, True)
    machine.close()


@pytest.mark.requirement("F-05:b")
@pytest.mark.parametrize(("threshold", "state"), [(2100, State.HANDPAY), (2101, State.IDLE)])
def test_a_win_and_both_its_levels_are_one_sum_against_the_threshold(tmp_path, threshold, state):
    path = write_profile(tmp_path, "large_win_cents = 120000", f"large_win_cents = {threshold}")
    machine = make_levels_machine(tmp_path / "state", A, LUCK, MISS, profile=path).boot().insert(10000)
    one_game(machine)
    hits = {hit["pool"]: hit["amount_cents"] for hit in machine.records("progressive.hit")}
    assert (hits, machine.hands.messages[-1].returned_credits) == ({TOP: 1500, LUCKY: 500}, 20)
    assert machine.state is state
    machine.close()


@pytest.mark.requirement("F-05", "F-06:c", "D-01", "D-10", "I-09", "I-17")
def test_a_large_level_is_paid_by_hand_as_a_progressive(tmp_path):
    path = write_profile(tmp_path, "[tickets]", "[progressives]\nhand_cents = 1500\n[tickets]")
    machine = make_levels_machine(tmp_path / "state", A, NO_LUCK, MISS, profile=path).boot().insert(10000)
    before = machine.credit_cents
    one_game(machine)
    assert machine.state is State.HANDPAY
    assert machine.machine.memory.get(MoneyKey.HANDPAY)["kind"] == "progressive"
    manager = STAFF_NUMBER_BY_ROLE[Role.MANAGER]
    fill_in(machine, "handpay", method="cheque", person=manager, persons=(manager,))
    machine.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert machine.credit_cents == before - 50
    values = machine.journal.meters().values
    assert (values["att_progressive"], values["att_jackpot"], values["hand_paid"]) == (1500, 100, 1600)
    assert values["handpays.progressive"] == 1
    machine.journal.self_audit()
    hit, paid = iter_register_lines(STAFF_REGISTERS["progressives"], machine.journal.entries())
    assert (hit["machine"], hit["pool"], hit["amount_cents"], hit["way"]) == (
        "TEST-1", "three-levels.top.50", 1500, "hand",
    )  # fmt: skip
    assert (hit["level"], hit["time_utc"]) == ("top", machine.clock.now().isoformat())
    assert (paid["play_id"], paid["pool"], paid["slip"]) == (hit["play_id"], hit["pool"], 1)
    assert paid["persons"] == [manager, "attendant"]
    (slip,) = iter_register_lines(STAFF_REGISTERS["handpays"], machine.journal.entries())
    assert (slip["machine"], slip["slip"], slip["amount_cents"]) == ("TEST-1", 1, 1500 + 100)
    machine.close()


@pytest.mark.requirement("I-06")
def test_changed_terms_of_a_level_wait_until_it_is_won(rig, tmp_path):
    rig(B, NO_LUCK, MISS).close()
    other = (ProgressiveLevelTable(game="three-levels", level="top", ceiling_bases=2), *OWN[1:])
    machine = make_levels_machine(tmp_path, A, NO_LUCK, MISS, levels=other).boot()
    assert level(machine, TOP).terms.ceiling_cents is None
    assert level(machine, TOP).next_terms.ceiling_cents == 3000
    one_game(machine)
    assert level(machine, TOP).terms.ceiling_cents == 3000
    assert len(machine.records("progressive.changed")) == 4  # one a stake
    machine.close()


@pytest.mark.requirement("C-11", "I-02", "I-04", "I-05")
def test_the_snapshot_shows_the_levels_of_the_bet_in_force(rig):
    machine = rig(*(B, NO_LUCK, MISS) * 2)
    shown = build_snapshot(machine.engine).progressives
    assert [(v.level, v.amount_cents, v.status, v.mystery) for v in shown] == [
        ("top", 1500, "up", False),
        ("luck", 500, "up", False),
        ("mystery", 500, "up", True),
    ]
    for _ in range(2):
        one_game(machine)
    grown = build_snapshot(machine.engine).progressives
    assert [view.amount_cents for view in grown] == [level(machine, view.id).shown_cents for view in grown]
    assert grown[0].amount_cents > shown[0].amount_cents
    machine.engine.handle(EventType.SELECT_BET, value=20)
    assert build_snapshot(machine.engine).progressives[0].amount_cents == 3000


@pytest.mark.requirement("I-03")
def test_a_game_with_missing_levels_is_refused_or_limited_to_configured_stakes():
    profile = load_profile("generic")
    slot = (GameTable(game=str(GAME)),)
    none, refusals = admit_games(slot, profile, OWN[:2])
    assert not none
    assert "'mystery'" in refusals[0].reason
    only = tuple(
        ProgressiveLevelTable(
            game=s.game_id,
            level=s.level_name,
            kind=s.scope,
            stakes={"50": s.level_name.upper()} if s.level_id_by_stake else {},
        )
        for s in LINKED
    )
    admitted, _ = admit_games(slot, profile, only)
    resident = admitted["three-levels"]
    assert resident.denominations_cents == (5,)
    game = resident.game
    assert {p.id for p in resident.progressive_pools.list_played_pools(game, game.build_wager(10), 5)} == {
        "TOP",
        "LUCK",
        MYSTERY,
    }
    with pytest.raises(LevelConfigurationError, match="stake of 100"):
        resident.progressive_pools.list_played_pools(game, game.build_wager(20), 5)
    twice = tuple(resident.progressive_pools.pool_by_id.values())
    with pytest.raises(LevelConfigurationError, match="two levels"):
        ProgressivePools((*twice, replace(twice[0], game_id="other")))


@pytest.mark.requirement("I-03")
def test_a_level_with_wagers_of_several_prices_cannot_be_linked():
    slot = (GameTable(game="archipelago-keno"),)
    shared = ProgressiveLevelTable(
        game="archipelago-keno", level="lighthouse", kind=LevelScope.LINKED, stakes={"5": "SEA"}
    )
    own_level = ProgressiveLevelTable(game="archipelago-keno", level="buoy")
    _, refusals = admit_games(slot, load_profile("generic"), (shared, own_level))
    assert "takes one stake only" in refusals[0].reason


# ---------------------------------------------------------------------------------------------- a controller's
@pytest.mark.requirement("I-07")
@pytest.mark.parametrize("status", [LevelStatus.STALE, LevelStatus.DOWN])
def test_a_wager_for_a_level_without_its_controller_is_refused_before_anything_is_drawn(rig, status):
    machine = rig(B, NO_LUCK, MISS, levels=LINKED)
    machine.machine.component(LevelAmountSources).link.now = DisplayedAmount(1700, status)
    machine.play()
    assert (machine.state, machine.notice) == (State.IDLE, "refused.levels_are_up")
    assert machine.records("game.start") == []
    machine.machine.component(LevelAmountSources).link.now = DisplayedAmount(1700, LevelStatus.UP)
    machine.play()
    assert machine.state is State.PLAYING


@pytest.mark.requirement("I-09")
def test_a_linked_hit_waits_for_its_locked_amount_through_a_power_cut(tmp_path):
    machine = await_linked_award(tmp_path)
    (claim,) = machine.journal.states(ProgressiveKey.CLAIM)
    machine.close()
    restarted = make_levels_machine(tmp_path, levels=LINKED).boot()
    assert restarted.state is State.AWAITING_AWARD
    assert [n.code for n in build_snapshot(restarted.engine).notices] == ["award_awaited"]
    restarted.engine.handle(EventType.PLAY)
    assert restarted.notice == "refused.awaiting_award"
    before = restarted.credit_cents
    name = claim.removeprefix(ProgressiveKey.CLAIM)
    restarted.engine.handle(EventType.AWARD_LOCKED, claim=name, amount_cents=1712)
    assert restarted.state is State.IDLE
    assert restarted.credit_cents == before + 100 + 1712
    restarted.engine.handle(EventType.AWARD_LOCKED, claim=name, amount_cents=1712)
    assert restarted.credit_cents == before + 100 + 1712
    restarted.engine.handle(EventType.AWARD_LOCKED, claim=name, amount_cents=9999)
    assert restarted.records("progressive.award_differs")
    assert restarted.credit_cents == before + 100 + 1712
    stored_claim = restarted.journal.state(claim)
    assert (stored_claim["way"], stored_claim["amount_cents"]) == ("credit", 1712)
    restarted.engine.handle(EventType.PROGRESSIVE_CLAIM_CLOSED, claim=name)
    assert restarted.journal.states(ProgressiveKey.CLAIM) == {}
    assert restarted.journal.meters().get_value("mach_progressive") == 1712
    restarted.close()


@pytest.mark.requirement("I-04")
def test_an_award_that_comes_while_the_game_is_shown_ends_with_it(rig):
    machine = rig(A, NO_LUCK, MISS, levels=LINKED)
    machine.play()
    (claim,) = machine.journal.states(ProgressiveKey.CLAIM)
    message = machine.hands.messages[-1]
    assert message.progressives[0].amount_cents is None
    machine.engine.handle(
        EventType.AWARD_LOCKED, claim=claim.removeprefix(ProgressiveKey.CLAIM), amount_cents=1650
    )
    assert machine.state is State.PLAYING
    next_message = machine.hands.messages[-1]
    assert (next_message.play_id, next_message.progressives[0].amount_cents) == (message.play_id, 1650)
    machine.report_shown()
    assert machine.state is State.IDLE
    assert machine.credit_cents == 10000 - 50 + 100 + 1650


@pytest.mark.requirement("I-07", "F-05")
def test_without_an_answer_the_attendant_pays_what_was_shown_by_hand(tmp_path):
    machine = await_linked_award(tmp_path)
    machine.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert machine.state is State.HANDPAY
    assert machine.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"] == 1700 + 100
    assert machine.records("progressive.unanswered")[0]["amount_cents"] == 1700
    machine.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert machine.state is State.IDLE
    (stored_claim,) = machine.journal.states(ProgressiveKey.CLAIM).values()
    assert (stored_claim["way"], stored_claim["unanswered"]) == ("hand", True)
    machine.close()


@pytest.mark.requirement("J-16")
@pytest.mark.parametrize(
    ("role", "settles"),
    [(Role.SUPERVISOR, STAFF_NUMBER_BY_ROLE[Role.SUPERVISOR]), (Role.TECHNICIAN, "attendant")],
)
def test_an_award_without_an_answer_is_settled_by_who_signed_in_if_they_may(tmp_path, role, settles):
    """If the person who signed in may not pay by hand, only the key is recorded."""
    machine = await_linked_award(tmp_path)
    MenuUser(machine).sign_in(role)
    machine.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert machine.records("progressive.unanswered")[0]["person"] == settles
    machine.close()


def test_the_profile_may_stop_play_while_the_controller_is_away(tmp_path):
    path = write_profile(tmp_path, "[tickets]", '[progressives]\nunanswered = "wait"\n[tickets]')
    await_linked_award(tmp_path / "state").close()
    machine = make_levels_machine(tmp_path / "state", levels=LINKED, profile=path).boot()
    machine.engine.handle(EventType.KEY_TURNED, key="attendant")
    assert (machine.state, machine.notice) == (State.AWAITING_AWARD, "refused.attendant_may_settle")
    machine.close()


def test_contributions_to_a_controller_are_numbered_without_gaps(rig):
    machine = rig(*(B, NO_LUCK, MISS) * 3, levels=LINKED)
    for _ in range(3):
        one_game(machine)
    fed = [f for g in machine.records("game.start") for f in g["fed"] if f["pool"] == "TOP"]
    assert [(f["sequence"], f["amount"]) for f in fed] == [(n, "5/7") for n in (1, 2, 3)]
    assert machine.journal.state(f"{ProgressiveKey.LINK_PROGRESS}TOP")["sequence"] == 3


def test_levels_are_won_with_the_real_generator_as_well(rig):
    machine = rig()
    machine.machine.random_service = create_generator()
    for _ in range(40):
        machine.play()
        if machine.machine.component(GameInProgress).stepped_game.decision is not None:
            machine.engine.handle(EventType.CHOOSE, value=1)
        machine.report_shown()
        if machine.state is State.HANDPAY:
            machine.engine.handle(EventType.KEY_TURNED, key="attendant")
        if machine.credit_cents < 500:
            machine.insert(10000)
    machine.journal.self_audit()
    assert len(machine.records("game.start")) == 40


@pytest.mark.requirement("C-04", "I-05")
def test_level_needs_a_ceiling_within_the_prize_limit(tmp_path):
    path = write_profile(tmp_path, "[pay_out]", "win_limit_cents = 100000\n[pay_out]")
    path.write_text(path.read_text().replace('prizes_in_kind = "or_cash"', ""))
    slot = (GameTable(game=str(GAME), denominations_cents=(5,)),)
    capped = tuple(s.model_copy(update={"ceiling_in_bases": 3}) for s in OWN[:2])
    for levels, expected_reason in (
        (OWN, "level top has no ceiling"),
        ((capped[0].model_copy(update={"ceiling_in_bases": 99}), *OWN[1:]), "level top may show"),
        ((*capped, OWN[2]), None),
    ):
        admitted, refusals = admit_games(slot, load_profile(path), levels)
        assert (expected_reason is None) == bool(admitted), refusals
        assert expected_reason is None or expected_reason in refusals[0].reason


@pytest.mark.requirement("C-09", "C-05", "C-26")
@pytest.mark.parametrize(("counted", "admits"), [("nothing", False), ("reset", True), ("all", True)])
def test_the_minimum_return_counts_of_a_level_what_the_profile_counts(tmp_path, counted, admits):
    counting = f'[progressives]\ncounted = "{counted}"\n[returns]'
    path = write_profile(tmp_path, '[returns]\nreels = "0.75"', f'{counting}\nreels = "0.85"')
    admitted, refusals = admit_games((GameTable(game=str(GAME)),), load_profile(path), OWN)
    assert bool(admitted) is admits, refusals
    assert admits or "returns 80.0000 %" in refusals[0].reason
    for game in admitted.values():
        (bet,) = json.loads(CliRunner().invoke(main, ["par", str(GAME), "--json"]).output)["bets"]
        sheet = {"reset": "progressives_at_reset", "all": "progressives_and_increments"}[counted]
        assert game.lowest_return == Fraction(bet[f"return_with_{sheet}"]["exact"])


@pytest.mark.requirement("O-01", "I-14")
def test_two_positions_feed_the_same_level_and_each_wins_its_own(tmp_path):
    first = make_levels_machine(tmp_path, B, NO_LUCK, MISS, B, NO_LUCK, MISS, position=Position(1, 2)).boot()
    second = make_levels_machine(tmp_path, A, NO_LUCK, MISS, position=Position(2, 2), first_rig=first).boot()
    for rig in (first, second):
        rig.insert(2000)
    first.play()
    second.play()
    assert level(first, TOP).hit_count == 1
    first.report_shown()
    second.report_shown()
    first.play()
    first.report_shown()
    won = 1500 + 100 // 70
    assert second.credit_cents == 2000 - 50 + 100 + won
    assert first.credit_cents == 2000 - 2 * (50 - 15)
    assert level(first, TOP).contributed_amount == Fraction(150, 70)
    reading = first.journal.meters()
    assert reading.select(position=2).get_value("mach_progressive") == won
    assert reading.select(position=1).get_value("mach_progressive") == 0
    second.close()
    first.close()
    with open_view(tmp_path) as view:
        assert Auditor(GameFiles([GAME.parent])).audit_entries(view.iter_bodies()).findings == []
