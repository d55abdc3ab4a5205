"""Records of earlier versions are read and written again unchanged; invalid records are refused."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from rigs.three_levels import LINKED, make_levels_machine

from egm.devices.ledgers import PayoutRecord
from egm.host.keys import HostKey
from egm.kernel.events import Event, EventType, State
from egm.kernel.games import Selection
from egm.kernel.keys import KernelKey
from egm.money import disputed_amounts
from egm.money.keys import MoneyKey
from egm.money.records import host, money
from egm.money.ticket_terms import HostTicketTerms
from egm.play import player_protection as protection
from egm.play.keys import PlayKey
from egm.play.recall_page import RecallListPage
from egm.play.records import game_record as games
from egm.play.records.games import find_last_game, find_open_game
from egm.progressive import records as progressive
from egm.progressive.events import AwardLocked
from egm.progressive.keys import ProgressiveKey
from egm.progressive.level import Level
from egm.progressive.level_changes import LinkProgress
from egm.record_codec import RecordError, from_json, inline_record, omit_if_default, to_json
from egm.testing.machine import write_undeclared_entry
from egm.tickets.ledger_comparison import LedgerAnchor
from meters import open_view
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

VECTORS = Path(__file__).parents[2] / "vectors"
_LINES = (VECTORS / "journal" / "records-before-types.jsonl").read_text().splitlines()
WRITTEN = [json.loads(line) for line in _LINES]
STATES = {
    KernelKey.SELECTION: Selection,
    PlayKey.GAME: games.GamePointer,
    PlayKey.LAST_GAME: games.LastGame,
    MoneyKey.PAY_OUT: money.CashOutRecord,
    MoneyKey.PRINT_JOB: money.PrintingRecord,
    MoneyKey.HOPPER_PAYOUT: PayoutRecord,
    MoneyKey.UNPOSTED_COINS: money.DispensedCoins,
    MoneyKey.DISPUTED_AMOUNT: disputed_amounts.DisputedAmount,
    MoneyKey.DISPUTED_AMOUNT_RULING: disputed_amounts.UnpostedRuling,
    MoneyKey.HANDPAY: money.HandpayRecord,
    MoneyKey.UNCLAIMED_HANDPAY: money.UnclaimedRecord,
    MoneyKey.PAPER_BEING_STACKED: money.PaperRecord,
    PlayKey.SESSION: protection.SessionRecord,
    PlayKey.REMINDER: protection.ReminderRecord,
    PlayKey.OWN_LIMITS: protection.OwnLimits,
    HostKey.LAST_TICKET_REDEMPTION: host.HostTicketRecord,
    MoneyKey.TICKET_LEDGER_ANCHOR: LedgerAnchor,
    MoneyKey.TICKET_TERMS: HostTicketTerms,
    ProgressiveKey.OWN_LEVEL: Level,
    HostKey.LAST_TRANSFER: host.TransferRecord,
    HostKey.REGISTRATION: host.RegistrationRecord,
    MoneyKey.RESTRICTED_CREDIT_TERMS: host.RestrictedTerms,
    HostKey.CASH_OUT_TERMS: host.CashOutTerms,
    ProgressiveKey.CLAIM: progressive.ClaimRecord,
    ProgressiveKey.HELD_PRIZE: progressive.HeldPrize,
    ProgressiveKey.LINK_PROGRESS: LinkProgress,
    ProgressiveKey.UNREAD_BROADCAST_WIN: progressive.BroadcastWin,
    ProgressiveKey.PRIZE_COMMITMENT: progressive.CommittedPrize,
}
ENTRIES = {
    "game.start": games.GameRecord,
    "game.carried": games.GameRecord,
    "game.choice": games.GameChoice,
    "progressive.won": games.MysteryPrizeRecord,
    "progressive.sealed": progressive.ReceivedCommitment,
    "aft.complete": host.TransferRecord,
    "aft.failed": host.TransferRecord,
}


def kind_of(written):
    return STATES[written["state"]] if "state" in written else ENTRIES[written["record"]]


def test_there_is_a_sample_of_each_record():
    assert {kind_of(written_record) for written_record in WRITTEN} == {*STATES.values(), *ENTRIES.values()}


@pytest.mark.parametrize(
    "written", WRITTEN, ids=lambda written_record: written_record.get("state") or written_record.get("record")
)
def test_records_of_earlier_versions_are_read_and_rewritten_identically(written):
    record = from_json(kind_of(written), written["value"], "the journal")
    assert to_json(record) == written["value"]


@pytest.mark.parametrize(
    "written", WRITTEN, ids=lambda written_record: written_record.get("state") or written_record.get("record")
)
def test_no_field_is_lost_or_added_and_none_changes_its_type(written):
    kind, value = kind_of(written), written["value"]
    with pytest.raises(RecordError, match=r"^the journal: surprise is 1, a field that is not known$"):
        from_json(kind, {**value, "surprise": 1}, "the journal")
    for name in value.keys() - {"choice"}:  # which may be any JSON
        with pytest.raises(RecordError, match=rf"^the journal: {name}"):
            from_json(kind, {**value, name: 1.5}, "the journal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    parts: tuple[Inner, ...]
    named: tuple[int, str]
    by_name: dict[str, Inner]
    sure: bool
    maybe: str | None
    note: str = omit_if_default("")
    since: int = 7


WHOLE = {
    "parts": [{"cents": 1}],
    "named": [1, "x"],
    "by_name": {"a": {"cents": 2}},
    "sure": True,
    "maybe": None,
}


def test_a_missing_field_is_read_as_its_default():
    record = from_json(Outer, WHOLE, "here")
    assert record == Outer(
        parts=(Inner(cents=1),), named=(1, "x"), by_name={"a": Inner(cents=2)}, sure=True, maybe=None
    )
    assert to_json(record) == {**WHOLE, "since": 7}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([], "here is [], not a record"),
        ({"parts": [{"cents": 1}, {"cents": True}]}, "here: parts.1.cents is True, not of type int"),
        ({"parts": [{}]}, "here: parts.0.cents is missing"),
        ({"parts": {"cents": 1}}, "here: parts is {'cents': 1}, not a list"),
        ({"named": [1]}, "here: named is [1], not 2 values"),
        ({"named": [1, 2]}, "here: named.1 is 2, not of type str"),
        ({"by_name": {"a": {"cents": "2"}}}, "here: by_name.a.cents is '2', not of type int"),
        ({"by_name": []}, "here: by_name is [], not a table"),
        ({"sure": 1}, "here: sure is 1, not of type bool"),
        ({"maybe": 5}, "here: maybe is 5, not of type str"),
        ({"note": "x" * 200}, ""),
        ({"since": "y" * 200}, f"here: since is '{'y' * 79}..., not of type int"),
    ],
)
def test_an_invalid_field_is_named_with_its_path_and_value(wrong, says):
    data = {**WHOLE, **wrong} if isinstance(wrong, dict) else wrong
    if not says:
        assert from_json(Outer, data, "here").note == "x" * 200
        return
    with pytest.raises(RecordError) as raised:
        from_json(Outer, data, "here")
    assert str(raised.value) == says


def test_a_number_that_a_record_cannot_hold_is_a_mistake_of_the_program():
    @dataclass(frozen=True, slots=True)
    class Floating:
        odds: float

    with pytest.raises(TypeError, match="no fields of type <class 'float'>"):
        to_json(Floating(0.5))


# ---------------------------------------------------------------------------------------------- a stored journal
def test_a_journal_of_an_earlier_version_is_continued_recalled_and_audited(tmp_path):
    folder = tmp_path / "state"
    with zipfile.ZipFile(VECTORS / "journal" / "awaiting-award-before-types.zip") as archive:
        archive.extractall(folder)
    rig = make_levels_machine(folder, levels=LINKED, devices=("printer",)).boot()
    assert (rig.state, rig.credit_cents) == (State.AWAITING_AWARD, 4950)
    game = find_open_game(rig.machine)
    assert game is not None
    assert [(hit.pool_id, hit.amount_cents) for hit in game.levels.hits] == [
        ("three-levels.mystery.50", 501),
        ("TOP", None),
        ("LUCK", None),
    ]
    for hit, cents in zip(game.levels.hits[1:], (1900, 1800), strict=True):
        rig.submit_event(
            Event(EventType.AWARD_LOCKED, AwardLocked(claim_id=hit.claim_id, amount_cents=cents))
        )
    assert (rig.state, rig.credit_cents) == (State.IDLE, 4950 + game.win_cents + 501 + 1900 + 1800)
    ended = find_last_game(rig.machine)
    assert ended is not None
    assert ended[1].paid_cents == game.win_cents + 501 + 1900 + 1800
    (plays,) = RecallListPage().build_page(rig.machine).tables
    assert len(plays.rows) == 2
    rig.close()
    with open_view(folder) as view:
        report = Auditor(GameFiles([VECTORS])).audit_entries(view.iter_bodies())
    assert report.findings == []


def test_a_record_that_is_damaged_stops_the_machine_by_its_name(tmp_path):
    rig = make_levels_machine(tmp_path).boot()
    write_undeclared_entry(rig.machine, "planted", state={PlayKey.GAME: {"play_id": 7}})
    with pytest.raises(RecordError, match=r"^the memory's 'game': play_id is 7, not of type str$"):
        find_open_game(rig.machine)
    rig.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    inner: Inner = inline_record()
    name: str


def test_a_record_without_a_default_is_inlined_and_may_not_be_missing():
    owner = Owner(inner=Inner(cents=1), name="x")
    assert to_json(owner) == {"cents": 1, "name": "x"}
    assert from_json(Owner, {"cents": 1, "name": "x"}, "here") == owner
    with pytest.raises(RecordError, match=r"^here: cents is missing$"):
        from_json(Owner, {"name": "x"}, "here")
