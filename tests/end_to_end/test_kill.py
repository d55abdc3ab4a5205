"""The machine is killed at random instants of real sessions; nothing acknowledged is lost, and nothing is invented.

Method: a bench with real pseudo-terminals outlives a machine process that is killed with SIGKILL hundreds of times
while bills are inserted, games are played and money is cashed out. Afterwards the journal is compared with the
machine's messages, the acceptor's box and the recorded draws. The quick test kills the machine eleven times, once for
each aim of the rig's cycle; the slow test ``--kills N`` times.
"""

import asyncio

import pytest
from kill_rig import AIMS, KINDS, LEVELS_GAME, STATES, Rig
from rigs.moments import get_real_now

from egm.tickets.ledger_access import open_machine_ledger
from egm.tickets.model import TicketState
from meters import Journal
from paytables import Choice, ReplayDrawSource, Wager, load_game, play_through
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

CREDIT = tuple(f"credit:1:{kind}" for kind in ("cashable", "restricted", "nonrestricted"))
QUICK_KILLS = len(AIMS)
#: Three hundred runs of half a second on an idle computer; a loaded one takes longer for the same coverage.
pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module", params=["quick", pytest.param("whole", marks=pytest.mark.slow)])
def campaign(tmp_path_factory, request):
    kills = QUICK_KILLS if request.param == "quick" else request.config.getoption("--kills")
    rig = Rig(tmp_path_factory.mktemp("kill"), seed=20261121)
    asyncio.run(rig.campaign(kills))
    assert not rig.witness.contradictions, f"{rig.witness.contradictions[:3]}\n{rig.read_last_log()}"
    with Journal.open(rig.folder.root, now=get_real_now) as journal:
        yield rig, journal, list(journal.entries())


def _credit_after(entries):
    """Return the available credit after each entry, computed here from the transfers alone."""
    available, after, reserved = 0, {}, {}
    for entry in entries:
        moves = [(t.source, t.target, t.amount_cents) for t in entry.transfers]
        if entry.phase == "reserve":
            reserved[entry.id] = moves
            available -= sum(cents for source, _, cents in moves if source in CREDIT)
        elif entry.phase in {"settle", "void"}:
            for source, target, cents in reserved.pop(entry.ref):
                if entry.phase == "settle":
                    available += cents if target in CREDIT else 0
                else:
                    available += cents if source in CREDIT else 0
        else:
            available += sum(c for _, t, c in moves if t in CREDIT) - sum(
                c for s, _, c in moves if s in CREDIT
            )
        after[entry.sequence] = available
    return after


@pytest.mark.requirement("A-01", "A-08", "F-01")
def test_the_killed_machine_ends_the_campaign_in_order(campaign):
    rig, journal, entries = campaign
    assert rig.witness.kills >= QUICK_KILLS
    assert rig.last_status == 0
    assert "out_of_service" not in rig.witness.states
    assert rig.witness.states >= STATES
    journal.self_audit()
    kinds = [entry.kind for entry in entries]
    assert set(kinds) >= KINDS
    assert kinds.count("power.up") > rig.witness.kills // 2, "hardly a machine came up: the test shows little"


@pytest.mark.requirement("G-02", "G-05")
def test_every_bill_and_ticket_in_the_box_is_credited_exactly_once(campaign):
    rig, journal, entries = campaign
    box = rig.bill_state()
    credited = [
        entry.record["amount_cents"] if entry.kind == "bill.in" else entry.record["number"][-4:]
        for entry in entries
        if entry.kind in {"bill.in", "voucher.in"}
    ]
    in_box = [paper[-4:] if isinstance(paper, str) else paper for paper in box["stacked"]]
    assert credited == in_box
    bills_cents = sum(paper for paper in in_box if isinstance(paper, int))
    assert bills_cents == box["stacked_cents"] == -journal.balance_cents("world:bill")
    assert box["inserted_cents"] == box["stacked_cents"] + box["returned_cents"] == rig.witness.inserted_cents
    assert bills_cents, "no bill at all: the test shows nothing"


@pytest.mark.requirement("H-06", "H-07", "H-08")
def test_each_ticket_is_worth_its_money_exactly_once(campaign):
    rig, journal, entries = campaign
    with open_machine_ledger(rig.folder.root) as store:
        tickets = {record.ticket.number: record for record in store.iter_records()}
    worth = {TicketState.ISSUED: 0, TicketState.REDEEMED: 0, TicketState.VOID: 0}
    for record in tickets.values():
        worth[record.state] += record.ticket.amount_cents  # a KeyError is a ticket left half-way
    printed = [entry.record["id"] for entry in entries if entry.kind == "voucher.out"]
    redeemed = [number for number, record in tickets.items() if record.state is TicketState.REDEEMED]
    assert len(printed) == len(set(printed))
    good = {
        record.issue_id: number for number, record in tickets.items() if record.state is not TicketState.VOID
    }
    assert set(printed) == set(good)
    assert set(good.values()) <= set(rig.tickets()), "a ticket is owed that nobody holds"
    assert (
        journal.balance_cents("out:voucher:cashable")
        == worth[TicketState.ISSUED] + worth[TicketState.REDEEMED]
    )
    assert -journal.balance_cents("world:voucher_in:cashable") == worth[TicketState.REDEEMED]
    assert len([entry for entry in entries if entry.kind == "voucher.in"]) == len(redeemed)
    assert redeemed, "no ticket was redeemed: the test shows nothing"
    assert "void" in rig.manager.rulings, "no machine died between the record of a ticket and its first byte"


@pytest.mark.requirement("D-13")
def test_every_accepted_coin_is_credited(campaign):
    rig, journal, _ = campaign
    coins = rig.coin_state()
    assert coins["hopper_cents"] + coins["drop_cents"] == -journal.balance_cents("world:coin")
    assert journal.balance_cents("stock:hopper") == coins["hopper_cents"]
    assert coins["accepted_coins"] >= rig.witness.kills // 10, "hardly a coin: the test shows little"


@pytest.mark.requirement("A-08", "D-15")
def test_every_acknowledged_credit_is_in_the_journal(campaign):
    rig, _, entries = campaign
    after = _credit_after(entries)
    for sequence, shown_cents in rig.witness.snapshots.items():
        assert after[sequence] == shown_cents, f"the screen showed {shown_cents} at entry {sequence}"
    assert len(rig.witness.snapshots) > rig.witness.kills


def test_money_in_equals_money_out(campaign):
    _, journal, _ = campaign
    sources = (
        "world:bill",
        "world:coin",
        "world:voucher_in:cashable",
        "house:win",
        "house:attendant_jackpot",
    )
    sinks = ("house:wager", "out:handpay_cancelled_credit", "out:handpay_jackpot", "out:voucher:cashable")
    meters = journal.meters()
    levels = meters.get_value("mach_progressive") + meters.get_value("att_progressive")
    value_in = levels - sum(journal.balance_cents(name) for name in sources)
    value_out = sum(journal.balance_cents(name) for name in sinks)
    assert value_in == value_out + journal.credits_cents()
    assert value_in > 0
    assert journal.credits_cents() == 0
    assert journal.list_pending() == []


@pytest.mark.requirement("A-08", "B-08")
def test_an_interrupted_game_ends_with_its_recorded_outcome(campaign):
    rig, _, entries = campaign
    starts = {e.record["play_id"]: dict(e.record) for e in entries if e.kind == "game.start"}
    for entry in entries:
        if entry.kind == "game.choice":
            starts[entry.record["play_id"]]["outcome"] = entry.record["outcome"]
    ends = [e.record for e in entries if e.kind == "game.end"]
    assert len(ends) == len({end["play_id"] for end in ends}) == len(starts)
    for end in ends:
        start = starts[end["play_id"]]
        assert end["win_cents"] == start["outcome"]["win_credits"] * start["denomination_cents"]
    for play_id, (win_credits, display) in rig.witness.outcomes.items():
        assert starts[play_id]["outcome"]["win_credits"] == win_credits
        assert starts[play_id]["outcome"]["display"] == display
    lost = rig.witness.interrupted - rig.witness.resumed
    assert not lost, f"interrupted by a kill and never shown again: {lost}"
    assert len(rig.witness.resumed) > rig.witness.kills // 3, "hardly a game was interrupted"


@pytest.mark.requirement("A-08", "I-14")
def test_the_audit_derives_every_progressive_level(campaign):
    _, journal, entries = campaign
    report = Auditor(GameFiles([LEVELS_GAME.parent])).audit_entries(journal.iter_bodies())
    assert report.findings == []
    assert report.level_count == 12
    hits = [entry.record for entry in entries if entry.kind == "progressive.hit"]
    paid = journal.meters().get_value("mach_progressive") + journal.meters().get_value("att_progressive")
    assert sum(hit["amount_cents"] for hit in hits) == paid == journal.meters().get_value("progressive.wins")
    assert hits, "no level was won: the test shows nothing"


@pytest.mark.requirement("A-25", "E-01")
def test_recorded_draws_give_the_recorded_outcomes(campaign):
    rig, _, entries = campaign
    games = {"three-levels": load_game(LEVELS_GAME), "maple-classic": load_game("maple-classic")}
    plays, wins_cents = {}, {}
    for entry in entries:
        match entry.kind:
            case "game.start":
                plays[entry.record["play_id"]] = dict(entry.record)
            case "game.choice":
                play = plays[entry.record["play_id"]]
                play["steps"] = [*play["steps"], entry.record]
                play["outcome"] = entry.record["outcome"]
            case "game.end":
                wins_cents[entry.record["play_id"]] = entry.record["win_cents"]
    for play_id, play in plays.items():
        game = games[play["game"]["id"]]
        assert game.digest == play["game"]["digest"]
        draws = ReplayDrawSource([draw for step in play["steps"] for draw in step["draws"]])
        choices = [Choice(step["choice"]) for step in play["steps"][1:]]
        outcome = play_through(game, Wager.from_json(play["wager"]), draws, choices)
        draws.check_all_numbers_used()
        assert outcome.to_json() == play["outcome"]
        assert outcome.returned_credits * play["denomination_cents"] == wins_cents[play_id]
    assert len(plays) > rig.witness.kills // 3, "hardly a game was played: the test shows little"
