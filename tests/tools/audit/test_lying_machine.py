"""False entries that a machine writes with its own key, each of which once passed the audit, are reported.

Goal: the audit follows each reservation from opening to end, checks that games begin and end in valid order, replays
void games, and allows each kind of entry to move only what that kind moves, whatever the entry's id is.
"""

import json

import pytest
from journals import CREDIT, clock, insert, make_state

from meters import Journal, JournalPolicy, Phase, Transaction, Transfer, open_view
from meters.machine_key import MachineKey
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor
from tools.dev.lies import adopt_entries, compute_journal_tag, rewrite_chain

KEY = MachineKey(bytes(range(32)))


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """The entries of an honest machine, signed with the test's key."""
    with open_view(make_state(tmp_path_factory.mktemp("state"))) as view:
        return adopt_entries(list(view.iter_bodies()), KEY)


@pytest.fixture(scope="module")
def shelf():
    return GameFiles()


def check_named_entries(entries, shelf, *sequences):
    """Return the findings by entry; check that at least one is at ``sequences``."""
    report = Auditor(shelf).audit_entries(rewrite_chain(entries, KEY, compute_journal_tag(entries[0])))
    found = {finding.sequence: finding.text for finding in report.findings}
    assert found.keys() & set(sequences), found
    return found


def build_lamp_entry(entries, *transfers, **fields):
    """Return an entry of a kind that may move no money, with the given transfers."""
    return {
        "id": f"lamp.lit-{len(entries) + 1}-{compute_journal_tag(entries[0])}",
        "kind": "lamp.lit",
        "time": entries[-1]["time"],
        "transfers": [list(transfer) for transfer in transfers],
        **fields,
    }


def find_won_game_end(entries):
    """Return the index of the end of a won game; the game's start directly precedes it."""
    return next(
        index for index, raw in enumerate(entries) if raw["kind"] == "game.end" and raw.get("transfers")
    )


def test_an_honest_journal_has_no_findings(honest, shelf):
    report = Auditor(shelf).audit_entries(rewrite_chain(honest, KEY, compute_journal_tag(honest[0])))
    assert report.findings == []


@pytest.mark.requirement("E-13", "B-08")
@pytest.mark.parametrize("back", [True, False], ids=["stake back", "stake kept"])
@pytest.mark.parametrize("persons", [["attendant"], ["1001"]])
def test_voiding_a_won_game_with_a_key_is_reported(honest, shelf, back, persons):
    index = find_won_game_end(honest)
    start, end = honest[index - 1], honest[index]
    play_id = start["record"]["play_id"]
    staked = start["transfers"][0][2]
    void = {
        "id": f"{play_id}.void",
        "kind": "game.void",
        "time": end["time"],
        "counts": {"games_void": 1},
        "state": {"game": None},
        "record": {
            "play_id": play_id,
            "refund_cents": staked if back else 0,
            "machine": "TEST-1",
            "place": "7",
            "reason": "it broke",
            "persons": persons,
            "ruling": "defect",
            "recorded": {"decided": False, "win_cents": None, "levels_cents": 0},
        },
        **({"transfers": [["house:refund_defect", CREDIT, staked]]} if back else {}),
    }
    findings = check_named_entries([*honest[:index], void], shelf, index + 1)
    assert (
        "no two people ruled" in findings[index + 1]
        or "record.recorded: expected decided" in findings[index + 1]
    )


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("which", ["game.end", "game.start"])
def test_a_win_or_wager_that_is_only_reserved_and_then_voided_is_reported(honest, shelf, which):
    index = find_won_game_end(honest) - (which == "game.start")
    entries = json.loads(json.dumps(honest[: index + 1]))
    entries[index]["phase"] = "reserve"
    given_up = build_lamp_entry(entries, phase="void", ref=entries[index]["id"])
    del given_up["transfers"]
    check_named_entries([*entries, given_up], shelf, index + 1)
    check_named_entries([*entries, given_up], shelf, index + 2)


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize("target", ["house:orphan", "out:hopper"])
def test_a_win_paid_to_another_account_is_reported(honest, shelf, target):
    index = find_won_game_end(honest)
    entries = json.loads(json.dumps(honest[: index + 1]))
    entries[index]["transfers"][0][1] = target
    check_named_entries(entries, shelf, index + 1)


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(
    "transfer",
    [
        (CREDIT, "house:forfeit", 500),
        (CREDIT, "out:hopper", 500),
        ("world:bill", CREDIT, 100_000),
        ("house:bonus", CREDIT, 100_000),
        ("house:complement", "out:handpay_complement", 100_000),
    ],
    ids=lambda transfer: f"{transfer[0]}-{transfer[1]}",
)
def test_a_lamp_entry_that_moves_money_is_reported(honest, shelf, transfer):
    index = find_won_game_end(honest)
    entries = honest[: index + 1]
    findings = check_named_entries([*entries, build_lamp_entry(entries, transfer)], shelf, index + 2)
    assert f"{transfer[2]} cents from {transfer[0]} to {transfer[1]}" in findings[index + 2]


@pytest.mark.requirement("E-13", "H-08")
def test_a_voucher_credited_twice_is_reported(honest, shelf):
    entries = honest[: find_won_game_end(honest) + 1]
    entry_count, mark = len(entries), compute_journal_tag(honest[0])
    for _ in range(2):
        paper = {
            "id": f"ticket-{entry_count + 1}-{mark}",
            "amount_cents": 900,
            "ticket": "••••1234",
            "phase": "ordered",
            "mark": 0,
        }
        credited = {"amount_cents": 900, "number": "••••1234"}
        entries = [
            *entries,
            {
                "id": paper["id"],
                "kind": "voucher.escrow",
                "time": entries[-1]["time"],
                "phase": "reserve",
                "transfers": [["world:voucher_in:cashable", CREDIT, 900]],
                "state": {"paper": paper},
            },
            {
                "id": f"{paper['id']}.in",
                "kind": "voucher.in",
                "time": entries[-1]["time"],
                "phase": "settle",
                "ref": paper["id"],
                "counts": {"vouchers_accepted": 1},
                "state": {"paper": paper | {"phase": "vended"}},
                "record": credited,
            },
        ]
    findings = check_named_entries(entries, shelf, entry_count + 3, entry_count + 4)
    assert "was used by an earlier entry" in "".join(findings.values())


@pytest.mark.requirement("E-13", "D-02")
@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("counts", "games_played"), 1001),
        (("dims", "game"), "seven-rivers"),
        (("dims", "paytable"), "maple-classic@9.0.0"),
        (("dims", "denomination_cents"), 10),
        (("dims", "wager_level"), 2),
    ],
    ids=str,
)
@pytest.mark.parametrize("which", ["game.end", "game.start"])
def test_counts_and_meter_dimensions_that_differ_from_the_game_are_reported(
    honest, shelf, which, where, value
):
    index = find_won_game_end(honest) - (which == "game.start")
    entries = json.loads(json.dumps(honest[: find_won_game_end(honest) + 1]))
    entries[index].setdefault(where[0], {})[where[1]] = value
    check_named_entries(entries, shelf, index + 1)


@pytest.mark.requirement("B-08")
def test_a_game_id_in_a_journal_is_never_opened_as_a_path(tmp_path, monkeypatch, honest):
    """Definitions come only from the library and the given folders; an id in the journal is not a file name."""
    index = find_won_game_end(honest)
    entries = json.loads(json.dumps(honest[: index + 1]))
    evil = tmp_path / "evil.toml"
    evil.write_text("[game]\n")
    monkeypatch.chdir(tmp_path)
    for name in (str(evil), "evil.toml", "../evil", "evil"):
        entries[index - 1]["record"]["game"]["id"] = name
        entries[index - 1]["record"]["game"]["digest"] = "1" * 64
        shelf = GameFiles()
        loaded = []
        monkeypatch.setattr(shelf, "_load", loaded.append)
        findings = check_named_entries(entries, shelf, index)
        assert "no definition available" in " ".join(findings.values())
        assert name not in loaded


@pytest.mark.requirement("A-05")
def test_a_reservation_ended_by_another_kind_of_entry_is_reported(tmp_path, shelf):
    with Journal.open(tmp_path, now=_now(), policy=JournalPolicy()) as journal:
        insert(journal, 1000)
        sequence = journal.sequence + 1
        journal.append(
            Transaction(
                id=f"handpay-{sequence}-{journal.journal_tag}",
                kind="handpay.pending",
                phase=Phase.RESERVE,
                transfers=(Transfer(CREDIT, "out:handpay_cancelled_credit", 1000),),
                state={
                    "handpay": {
                        "id": f"handpay-{sequence}-{journal.journal_tag}",
                        "kind": "cancelled_credit",
                        "amount_cents": 1000,
                    },
                    "cash_out_goes_on": None,
                },
            )
        )
        journal.append(
            Transaction(
                id=f"handpay-{sequence}-{journal.journal_tag}.paid",
                kind="voucher.out",
                phase=Phase.SETTLE,
                ref=f"handpay-{sequence}-{journal.journal_tag}",
                state={
                    "pay_out": None,
                    "print": {"id": "a ticket", "language": "en", "state": "barcode_done"},
                },
                record={"id": "a ticket", "way": "ticket", "amount_cents": 1000},
            )
        )
        bodies = list(journal.iter_bodies())
    report = Auditor(shelf).audit_entries(bodies)
    assert [finding.sequence for finding in report.findings] == [sequence + 1]
    assert "ends a reservation of handpay.pending" in report.findings[0].text


def _now():
    ticks = clock()
    return lambda: next(ticks)
