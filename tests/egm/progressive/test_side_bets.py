"""A side bet on a level is fed by its own stake, and pays all or a share of the level with the game."""

import json
from fractions import Fraction

import pytest
from rigs.cards import remove_cards
from rigs.jackpot import (
    BANK,
    FLUSH,
    FULL,
    GAME,
    OWN,
    PAIR,
    POOL,
    QUADS,
    ROYAL,
    STRAIGHT_FLUSH,
    audit_journal,
    choose_bets,
    decide,
    list_draws,
    make_jackpot_machine,
    play_game,
    read_level,
    start_game,
)
from rigs.three_levels import FixedDisplays
from rigs.voids import exclude_void_finding, void_as_earlier_version

import paytables
from egm.app.view import build_snapshot
from egm.config.cabinet_file import GameTable
from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.money.keys import MoneyKey
from egm.play.installed_games import admit_games
from egm.profiles import load_profile
from egm.progressive.display import LevelAmountSources
from egm.progressive.keys import ProgressiveKey
from egm.testing.clearing import clear_with_decisions
from egm.testing.machine import MachineRig, ScriptedGenerator
from meters.entry import encode_canonical_json
from paytables.cards import Shoe, parse_cards
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor


def views(rig):
    return build_snapshot(rig.engine).progressives


def worth(machine):
    """Return the player's credit plus the amount owed by hand."""
    owed = machine.machine.memory.get(MoneyKey.HANDPAY)
    return machine.credit_cents + (0 if owed is None else owed["amount_cents"])


@pytest.fixture
def rig(tmp_path):
    rooms = []

    def open_rig(*hands, **options):
        rooms.append(make_jackpot_machine(tmp_path, *hands, **options))
        rooms[-1].boot()
        while rooms[-1].credit_cents < 100_00:
            rooms[-1].insert(100_00)
        return rooms[-1]

    yield open_rig
    for rig in rooms:
        rig.close()


@pytest.mark.requirement("I-01", "I-09", "I-14", "I-18")
@pytest.mark.parametrize(
    ("hand", "paid_cents", "share"),
    [
        (ROYAL, 0, Fraction(1)),
        (STRAIGHT_FLUSH, 0, Fraction(1, 10)),
        (QUADS, 500_00, None),
        (FULL, 100_00, None),
        (FLUSH, 50_00, None),
        (PAIR, 0, None),
    ],
)
def test_each_hand_is_paid_as_the_by_law_says_whether_or_not_the_bank_opens(rig, hand, paid_cents, share):
    machine = rig(hand)
    before = machine.credit_cents
    start_game(machine)
    assert (
        read_level(machine).current_amount == 10_000_50
    )  # half of the side bet's dollar, nothing of the ante
    decide(machine)
    pot = 10_000_50
    won = 0 if share is None else int(pot * share)
    message = machine.hands.messages[-1]
    assert [(hit.level, hit.amount_cents) for hit in message.progressives] == (
        [("jackpot", won)] if won else []
    )
    machine.report_shown()
    # the bank does not qualify: the ante is paid even money and the raise is returned
    assert worth(machine) == before - 100 + 100 + paid_cents + won
    assert read_level(machine).paid_cents == won
    remaining_cents = pot - won
    assert read_level(machine).current_amount == max(remaining_cents, 10_000_00)
    assert audit_journal(machine) == []


@pytest.mark.requirement("I-01")
def test_folding_does_not_forfeit_the_side_bet(rig):
    machine = rig(FULL)
    before = machine.credit_cents
    play_game(machine, "fold")
    assert machine.credit_cents == before - 100 - 100 + 100_00


@pytest.mark.requirement("I-01", "I-14")
def test_only_the_side_bet_feeds_the_level(rig):
    machine = rig(PAIR, PAIR)
    play_game(machine, ante=20)
    assert read_level(machine).current_amount == 10_000_00
    play_game(machine, ante=20, progressive=1)
    assert read_level(machine).current_amount == 10_000_50
    start = machine.records("game.start")[-1]
    assert [(contribution["pool"], contribution["wager_cents"]) for contribution in start["fed"]] == [
        (POOL, 100)
    ]
    assert machine.journal.meters().values["progressive.contributed"] == 50
    assert audit_journal(machine) == []


@pytest.mark.requirement("I-02", "I-04", "I-18")
def test_the_jackpot_is_shown_whether_or_not_one_plays_for_it(rig):
    machine = rig()
    choose_bets(machine, ante=1)
    assert [(v.level, v.amount_cents, v.status) for v in views(machine)] == [("jackpot", 10_000_00, "up")]
    assert build_snapshot(machine.engine).closed_spots == ("raise",)


@pytest.mark.requirement("I-03", "I-18")
@pytest.mark.parametrize(("levels", "cents"), [((), 100), (OWN, 25), (OWN, 500)])
def test_without_its_level_or_prescribed_amount_the_side_bet_is_refused(rig, levels, cents):
    machine = rig(levels=levels, cents=cents)
    assert views(machine) == ()
    assert build_snapshot(machine.engine).closed_spots == ("raise", "progressive")
    choose_bets(machine, ante=1)
    chosen = machine.machine.selection
    choose_bets(machine, ante=1, progressive=1)
    assert (machine.notice, machine.machine.selection) == ("refused.bet_is_offered", chosen)
    play_game(machine, "fold", ante=1)
    assert "pools" not in machine.records("game.start")[-1]
    assert audit_journal(machine) == []


@pytest.mark.requirement("C-09")
@pytest.mark.parametrize(("levels", "percent"), [((), "94.77"), (OWN, "36.23")])
def test_the_return_stated_is_the_least_of_the_bets_that_are_offered(levels, percent):
    admitted, _ = admit_games((GameTable(game=GAME),), load_profile("generic"), levels)
    assert admitted[GAME].lowest_return_percent == percent


@pytest.mark.requirement("I-03", "I-18")
def test_the_side_bet_of_let_it_ride_costs_one_dollar(tmp_path):
    machine = MachineRig(tmp_path, games=("quebec-let-it-ride",)).boot().insert(100_00)
    three = {"bet-3": 1, "bet-1": 1, "bet-2": 1}
    for cents in (25, 100, 500):
        machine.engine.handle(EventType.SELECT_DENOMINATION, value=cents)
        machine.engine.handle(EventType.SELECT_BET, value=4, options={"bets": three | {"side": 1}})
        assert (machine.notice is None) == (cents == 100), cents
    machine.close()


@pytest.mark.requirement("I-06", "I-14")
def test_changed_terms_wait_until_the_whole_level_is_won(rig, tmp_path):
    rig(PAIR).close()
    other = (ProgressiveLevelTable(game=GAME, level="jackpot", ceiling_bases=3),)
    machine = make_jackpot_machine(tmp_path, STRAIGHT_FLUSH, ROYAL, levels=other).boot()
    play_game(machine)
    assert read_level(machine).terms.ceiling_cents is None
    play_game(machine)
    assert read_level(machine).terms.ceiling_cents == 30_000_00
    assert machine.machine.memory.get(MoneyKey.HANDPAY)["pool"] == POOL
    assert audit_journal(machine) == []
    machine.close()


@pytest.mark.requirement("I-09", "O-01")
def test_the_second_of_two_winning_positions_wins_a_share_of_the_reset_level(tmp_path):
    first = make_jackpot_machine(tmp_path, STRAIGHT_FLUSH, position=Position(1, 2)).boot()
    second = make_jackpot_machine(tmp_path, STRAIGHT_FLUSH, position=Position(2, 2), first_rig=first).boot()
    for rig in (first, second):
        rig.insert(100_00)
        start_game(rig)
    assert read_level(first).current_amount == 10_001_00
    decide(second)
    decide(first)
    won = [rig.hands.messages[-1].progressives[0].amount_cents for rig in (second, first)]
    assert won == [1000_10, 1000_00]  # ten per cent of 10,001.00, then of the base that is put up again
    for rig in (first, second):
        rig.report_shown()
        assert rig.state is State.IDLE
    assert (read_level(first).paid_cents, read_level(first).hit_count) == (sum(won), 2)
    assert audit_journal(first) == []
    second.close()
    first.close()


@pytest.mark.requirement("A-08", "I-09")
def test_a_restart_between_hit_and_payment_pays_what_was_locked(rig, tmp_path):
    machine = rig(STRAIGHT_FLUSH)
    start_game(machine)
    machine.close()
    machine = make_jackpot_machine(tmp_path).boot()  # between its stake and its hit: requested again
    machine.machine.random_service = ScriptedGenerator(*list_draws(STRAIGHT_FLUSH, BANK)[6:])
    decide(machine)
    machine.close()
    restarted = make_jackpot_machine(tmp_path).boot()
    assert restarted.hands.messages[-1].progressives[0].amount_cents == 1000_05
    restarted.report_shown()
    assert worth(restarted) == 100_00 - 100 + 100 + 1000_05
    assert read_level(restarted).hit_count == 1
    assert audit_journal(restarted) == []
    restarted.close()


@pytest.mark.requirement("I-13", "I-09")
def test_win_of_a_level_removed_from_the_cabinet_file_is_still_owed(rig, tmp_path):
    machine = rig(STRAIGHT_FLUSH)
    start_game(machine)
    machine.close()
    machine = make_jackpot_machine(tmp_path, levels=()).boot()
    machine.machine.random_service = ScriptedGenerator(*list_draws(STRAIGHT_FLUSH, BANK)[6:])
    decide(machine)
    machine.report_shown()
    assert worth(machine) == 100_00 - 100 + 100 + 1000_05
    assert read_level(machine).current_amount == 10_000_00
    assert audit_journal(machine) == []
    machine.close()


@pytest.mark.not_audited
@pytest.mark.requirement("G-02")
def test_a_void_game_gives_its_share_back_to_the_level(rig, tmp_path):
    machine = rig(STRAIGHT_FLUSH)
    start_game(machine)
    decide(machine)
    machine.close()
    machine = make_jackpot_machine(tmp_path).boot()
    void_as_earlier_version(machine)
    assert read_level(machine).current_amount == 10_000_00 + 1000_05
    assert (read_level(machine).paid_cents, read_level(machine).hit_count) == (0, 0)
    assert exclude_void_finding(audit_journal(machine)) == []
    machine.close()


@pytest.mark.requirement("A-05", "I-09")
def test_a_memory_clear_carries_over_a_won_share(rig, tmp_path):
    machine = rig(STRAIGHT_FLUSH)
    start_game(machine)
    decide(machine)
    machine.close()
    clear_with_decisions(tmp_path)
    machine = make_jackpot_machine(tmp_path).boot()
    assert machine.hands.messages[-1].progressives[0].amount_cents == 1000_05
    machine.report_shown()
    assert worth(machine) == 100_00 - 100 + 100 + 1000_05
    assert read_level(machine).current_amount == 10_000_00
    assert audit_journal(machine) == []
    machine.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda hit: hit.pop("share"), "record hits: expected"),
        (lambda hit: hit.update(share="1/5"), "record hits: expected"),
        (lambda hit: hit.update(amount_cents=1000_06), "amount_cents of level"),
    ],
)
@pytest.mark.requirement("I-14", "D-02")
def test_the_audit_names_another_share_than_the_hand_won(rig, change, reason):
    machine = rig(STRAIGHT_FLUSH)
    play_game(machine)
    bodies = list(machine.journal.iter_bodies())
    index = next(n for n, body in enumerate(bodies) if json.loads(body)["kind"] == "game.choice")
    raw = json.loads(bodies[index])
    change(raw["record"]["hits"][0])
    bodies[index] = encode_canonical_json(raw)
    assert any(reason in finding.text for finding in Auditor(GameFiles()).audit_entries(bodies).findings)


@pytest.mark.requirement("I-03")
def test_the_audit_names_a_side_bet_of_another_sum(rig):
    machine = rig(PAIR)
    play_game(machine, "fold")
    bodies = list(machine.journal.iter_bodies())
    index = next(n for n, body in enumerate(bodies) if json.loads(body)["kind"] == "game.start")
    raw = json.loads(bodies[index])
    raw["record"]["denomination_cents"] = 25
    bodies[index] = encode_canonical_json(raw)
    findings = Auditor(GameFiles()).audit_entries(bodies).findings
    assert any("a side bet does not have its fixed amount" in finding.text for finding in findings)


@pytest.mark.requirement("I-03", "I-09")
def test_a_level_won_in_part_cannot_be_broadcast():
    broadcast = ProgressiveLevelTable(
        game=GAME, level="jackpot", kind=LevelScope.LINKED, carrier="sas", stakes={"100": "1.1"}
    )
    admitted, refusals = admit_games((GameTable(game=GAME),), load_profile("generic"), (broadcast,))
    assert not admitted
    assert "is also won in part, which a broadcast cannot express" in refusals[0].reason


TABLE = "quebec-blackjack-progressive-2"
#: Two boxes of two red and two black aces, drawn to; the dealer has 19.
CARDS = "Ah As Kc Ad Ac Ah Ad As Ac 9c"


def two_boxes(folder, levels):
    """Return progressive blackjack on two boxes, both of which win the whole jackpot."""
    text = (paytables.definition.LIBRARY_FOLDER / "tables" / f"{TABLE}.toml").read_text()
    path = folder / f"{TABLE}.toml"
    path.write_text("boxes = 2\n" + text.replace("seats = 7\n", ""))  # one player's
    shoe, script = Shoe.from_decks(6), []
    for card in parse_cards(CARDS):
        script.append(sum(shoe.counts[:card]))
        remove_cards(shoe, card)
    return MachineRig(
        folder / "state",
        games=(str(path),),
        levels=levels,
        generator=ScriptedGenerator(*script),
        denominations_cents=(100,),
    )


def play_two_boxes(machine):
    bets = {"main": 2, "progressive": 1, "main-2": 2, "progressive-2": 1}
    machine.engine.handle(EventType.SELECT_BET, value=6, options={"bets": bets})
    machine.play()
    for answer in ("hit", "hit", "stand") * 2:
        decide(machine, answer)


@pytest.mark.requirement("I-01", "I-09", "I-14", "I-17")
def test_two_boxes_that_win_in_one_round_are_paid_one_after_the_other(tmp_path):
    machine = two_boxes(tmp_path, (ProgressiveLevelTable(game=TABLE, level="jackpot"),)).boot().insert(100_00)
    play_two_boxes(machine)
    message = machine.hands.messages[-1]
    assert [hit.amount_cents for hit in message.progressives] == [10_001_00, 10_000_00]
    pot = read_level(machine, f"{TABLE}.jackpot.100")
    assert (pot.contributed_amount, pot.paid_cents, pot.hit_count) == (100, 20_001_00, 2)
    assert (pot.current_amount, pot.seeded_cents) == (10_000_00, 30_000_00)
    machine.report_shown()
    assert worth(machine) == 100_00 - 600 + 20_001_00  # both hands lose to the dealer's 19
    assert [hit["amount_cents"] for hit in machine.records("progressive.hit")] == [10_001_00, 10_000_00]
    assert Auditor(GameFiles([tmp_path])).audit_entries(machine.journal.iter_bodies()).findings == []
    machine.close()


@pytest.mark.requirement("I-01", "I-03", "I-09")
def test_two_linked_hits_of_one_round_each_follow_their_own_contribution(tmp_path):
    linked = ProgressiveLevelTable(game=TABLE, level="jackpot", kind=LevelScope.LINKED, stakes={"100": "POT"})
    machine = two_boxes(tmp_path, (linked,))
    machine.machine.component(LevelAmountSources).link = FixedDisplays(10_000_00)
    machine.boot().insert(100_00)
    play_two_boxes(machine)
    fed = machine.records("game.start")[-1]["fed"]
    assert [(contribution["sequence"], contribution["wager_cents"], contribution["amount"]) for contribution in fed] == [
        (1, 100, "50"), (2, 100, "50"),
    ]  # fmt: skip
    claims = machine.journal.states(ProgressiveKey.CLAIM).values()
    assert sorted((claim["after"], claim["shown_cents"]) for claim in claims) == [
        (1, 10_000_00),
        (2, 10_000_00),
    ]
    assert Auditor(GameFiles([tmp_path])).audit_entries(machine.journal.iter_bodies()).findings == []
    machine.close()
