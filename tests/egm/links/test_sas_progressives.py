"""Levels that a host broadcasts on a SAS line: valid for five seconds, frozen at a hit, reported from a queue."""

import json

import pytest
from rigs.three_levels import GAME, LUCK, NO_LUCK, A, B, make_levels_machine

from egm.app.view import build_snapshot
from egm.config.levels import LevelScope, ProgressiveLevelTable
from egm.kernel.events import Event, EventType, State
from egm.links.sas.crc import append_crc
from egm.money.keys import MoneyKey
from egm.play.rulings import void_game
from egm.play.void_rule import VoidReason
from egm.progressive.broadcast import create_broadcast_services
from egm.progressive.display import LevelAmountSources
from egm.progressive.keys import ProgressiveKey
from egm.staff.events import RulingForm
from egm.staff.form import build_ruling_details
from egm.testing.sas import SasHostBench, create_machine_context
from meters import open_view
from meters.entry import encode_canonical_json
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

LEVELS = (
    ProgressiveLevelTable(
        game="three-levels", level="top", kind=LevelScope.LINKED, carrier="sas", stakes={"50": "2.3"}
    ),
    ProgressiveLevelTable(game="three-levels", level="luck"),
    ProgressiveLevelTable(game="three-levels", level="mystery"),
)
ACK, MISS = "01", 49


def list_findings(bodies):
    """Return the texts of the audit's findings about a journal's entries."""
    return [finding.text for finding in Auditor(GameFiles([GAME.parent])).audit_entries(bodies).findings]


@pytest.fixture
def make(tmp_path):
    opened = []

    def bench(*numbers) -> SasHostBench:
        if opened:
            opened[-1].rig.close()
        rig = make_levels_machine(tmp_path, *numbers, levels=LEVELS)
        rig.machine.component(LevelAmountSources).link = None
        opened.append(SasHostBench(tmp_path, rig, enable=["progressives"]))
        (opened[-1].levels,) = create_broadcast_services(create_machine_context(rig, tmp_path, {}))
        opened[-1].read_exceptions()
        return opened[-1]

    yield bench
    for opened_bench in opened:
        opened_bench.rig.close()


def read_level(bench):
    return build_snapshot(bench.rig.engine).progressives[0]


@pytest.mark.sas(polls="80 86", exceptions="53")
@pytest.mark.requirement("I-02", "I-07", "K-12")
def test_broadcast_level_is_shown_while_received_and_not_played_for_otherwise(make):
    bench = make(B, NO_LUCK, MISS)
    bench.rig.insert(2000)
    assert (read_level(bench).status, read_level(bench).amount_cents) == ("down", 0)
    assert bench.send_long_poll(0x80, "02030000012345") == ACK
    assert (read_level(bench).status, read_level(bench).amount_cents) == ("up", 12345)
    bench.rig.clock.pass_seconds(5)
    assert read_level(bench).status == "up"
    bench.rig.clock.pass_seconds(0.001)
    assert (read_level(bench).status, read_level(bench).amount_cents) == ("down", 12345)
    bench.rig.play()
    assert (bench.rig.state, bench.rig.notice) == (State.IDLE, "refused.levels_are_up")
    bench.levels._record_changes()
    assert 0x53 in bench.read_exceptions()
    assert bench.send_long_poll(0x86, "0d02030000012399040000000001") == ACK
    assert read_level(bench).amount_cents == 12399
    bench.rig.play()
    assert bench.rig.state is State.PLAYING
    assert bench.rig.records("game.start")[-1]["fed"] == [
        {"pool": "three-levels.luck.50", "wager_cents": 50},
        {"pool": "three-levels.mystery.50", "wager_cents": 50},
    ]


def test_a_broadcast_to_all_machines_is_read_without_a_reply(make):
    bench = make()
    assert bench.send(append_crc(bytes.fromhex("008002030000000777"))) == b""
    assert read_level(bench).amount_cents == 777


@pytest.mark.parametrize(
    ("code", "data"),
    [
        (0x80, "00030000012345"),
        (0x80, "02000000012345"),
        (0x80, "02210000012345"),
        (0x80, "0203000001234A"),
        (0x86, "06020300000123"),
        (0x86, "0102"),
    ],
)
def test_an_invalid_broadcast_changes_no_level(make, code, data):
    bench = make()
    assert bench.send_long_poll(code, data) == ""
    assert read_level(bench).status == "down"


@pytest.mark.sas(polls="83 84 85 87", exceptions="56")
@pytest.mark.requirement("I-09", "I-10", "I-20")
def test_a_hit_pays_the_amount_last_broadcast_and_waits_for_the_host_to_read_it(make, tmp_path):
    bench = make(A, NO_LUCK, MISS, A, NO_LUCK, MISS)
    bench.rig.insert(2000)
    for amount in ("0000012345", "0000000500"):
        bench.send_long_poll(0x80, "0203" + amount)
        bench.rig.play()
        bench.send_long_poll(0x80, "02030000099999")  # later than the hit
        bench.rig.report_shown()
    assert bench.rig.credit_cents == 2000 + 2 * (100 - 50) + 12345 + 500
    assert bench.rig.records("progressive.fell")
    assert 0x56 in bench.read_exceptions()
    first, second = "02030000012345", "02030000000500"
    assert bench.send_long_poll(0x83, "0001") == "000100012845"
    assert bench.read(0x84) == first
    assert bench.read(0x87) == "0e0202" + first[2:] + second[2:]
    restarted = make()  # the host did not receive the reply, and the machine repeats it
    assert restarted.read(0x85) == first
    restarted.poll_other_address()
    assert restarted.read(0x85) == second
    restarted.poll_other_address()
    assert restarted.read(0x85) == "00" * 7
    assert restarted.rig.journal.states(ProgressiveKey.UNREAD_BROADCAST_WIN) == {}
    restarted.rig.close()
    with open_view(tmp_path) as journal_view:
        bodies = list(journal_view.iter_bodies())
    assert list_findings(bodies) == []
    index = next(n for n, body in enumerate(bodies) if b'"progressive_win:' in body)
    entry = json.loads(bodies[index])
    entry["state"] = {
        key: value for key, value in entry["state"].items() if not key.startswith("progressive_win:")
    }
    bodies[index] = encode_canonical_json(entry)
    assert any("the wins in state for the host do not match" in text for text in list_findings(bodies))


@pytest.mark.sas(polls="1B", exceptions="51")
@pytest.mark.requirement("I-09", "K-12")
def test_the_hand_pay_of_a_broadcast_level_states_its_group_and_level_and_its_amount_in_cents(make):
    bench = make(A, NO_LUCK, MISS)
    bench.rig.insert(2000)
    bench.send_long_poll(0x80, "02030009999900")
    bench.rig.play()
    bench.rig.report_shown()
    assert bench.rig.state is State.HANDPAY
    assert 0x51 in bench.read_exceptions()
    win_cents = bench.rig.machine.memory.get(MoneyKey.HANDPAY)["amount_cents"]
    assert win_cents >= 9999900
    assert bench.read(0x1B) == f"0203{win_cents:010}" + "00" * 13


@pytest.mark.not_audited
@pytest.mark.sas(polls="85")
@pytest.mark.requirement("F-14", "I-09")
def test_the_hit_of_a_void_game_is_not_reported_to_the_host(make, tmp_path):
    """The hit was not paid; if the host received it, it would reset its level for nothing.

    The audit reports a void game that leaves its hit to the host, or removes the hit of another game.
    """
    bench = make(A, NO_LUCK, MISS, A, NO_LUCK, MISS)
    bench.rig.insert(2000)
    bench.send_long_poll(0x80, "02030000012345")
    bench.rig.play()
    bench.rig.report_shown()
    bench.send_long_poll(0x80, "02030000000500")
    bench.rig.play()
    bench.rig.engine.handle(EventType.DOOR_OPENED, door="main")
    event = Event(EventType.REFUND_GAME, RulingForm(persons=("2", "5"), reason="it is stuck"))
    details = build_ruling_details(bench.rig.machine, event)
    void_game(bench.rig.machine, is_refunded=True, void_reason=VoidReason.DEFECT, **details)
    assert bench.rig.credit_cents == 2000 + 100 - 50 + 12345
    assert bench.read(0x85) == "02030000012345"
    with open_view(tmp_path) as journal_view:
        bodies = list(journal_view.iter_bodies())
    assert not any("wins that state removes" in text for text in list_findings(bodies))
    (index,) = (n for n, body in enumerate(bodies) if b'"kind":"game.void"' in body)
    honest_entry = json.loads(bodies[index])
    (void_win,) = (key for key in honest_entry["state"] if key.startswith("progressive_win:"))
    paid_win = next(key for key in bench.rig.journal.states(ProgressiveKey.UNREAD_BROADCAST_WIN))
    for false_wins in ({}, {paid_win: None}, {paid_win: None, void_win: None}):
        state = {key: value for key, value in honest_entry["state"].items() if key != void_win} | false_wins
        bodies[index] = encode_canonical_json(honest_entry | {"state": state})
        assert any("wins that state removes" in text for text in list_findings(bodies))
    bench.poll_other_address()
    assert bench.read(0x85) == "00" * 7


def test_a_machine_without_broadcast_levels_ignores_broadcasts(tmp_path):
    rig = make_levels_machine(tmp_path)
    assert create_broadcast_services(create_machine_context(rig, tmp_path, {})) == ()
    rig.close()


@pytest.mark.parametrize("name", ["1", "0.1", "256.1", "1.33", "a.b"])
def test_an_invalid_sas_level_is_refused(name):
    with pytest.raises(
        ValueError, match=r"stakes: a level on a SAS line is written as GROUP\.LEVEL, 1\.1 to 255\.32"
    ):
        ProgressiveLevelTable(game="g", level="l", kind=LevelScope.LINKED, carrier="sas", stakes={"50": name})


@pytest.mark.sas(polls="83", exceptions="54")
@pytest.mark.requirement("I-20")
def test_a_stand_alone_level_is_reported_as_another_kind_of_progressive_win(make):
    bench = make(B, LUCK, MISS)
    bench.rig.insert(2000)
    bench.send_long_poll(0x80, "02030000012345")
    bench.read_exceptions()
    bench.rig.play()
    bench.rig.report_shown()
    exceptions = bench.read_exceptions()
    assert 0x54 in exceptions
    assert 0x56 not in exceptions
    assert bench.send_long_poll(0x83, "0000") == "000000000500"
    assert bench.send_long_poll(0x83, "0009") == ""
    assert bench.read(0x84) == "00" * 7


def test_without_a_broadcast_level_in_play_broadcasts_get_no_reply(tmp_path):
    rig = make_levels_machine(tmp_path)
    bench = SasHostBench(tmp_path, rig, enable=["progressives"])
    assert bench.send_long_poll(0x80, "02030000012345") == ""
    assert bench.read(0x85) == "00" * 7
    rig.close()
