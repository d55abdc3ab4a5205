"""The audit derives the amount of every level from draws and definitions and reports an entry with another amount."""

import json

import pytest
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
)

from egm.config.cabinet_file import load_cabinet
from egm.kernel.events import EventType, State
from egm.progressive.keys import ProgressiveKey
from egm.testing.machine import GeneratorOutOfService, MachineRig, create_generator
from meters import open_view
from meters.entry import encode_canonical_json
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

MISS = 49


@pytest.fixture(scope="module")
def shelf():
    return GameFiles([GAME.parent])


@pytest.fixture(scope="module")
def bodies(tmp_path_factory):
    """A journal with losses, a hit of two levels, mystery hits (one in a void game) and a hit after a choice."""
    folder = tmp_path_factory.mktemp("audited")
    numbers = (B, NO_LUCK, MISS, A, LUCK, MISS, B, NO_LUCK, 0, C, MISS, 1, NO_LUCK, C, 0)
    rig = make_levels_machine(folder, *numbers).boot().insert(10000)
    for _ in range(3):
        rig.play()
        rig.report_shown()
    rig.play()
    rig.engine.handle(EventType.CHOOSE, value=1)
    rig.report_shown()
    rig.play()
    rig.close()
    rig = make_levels_machine(folder).boot()
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CHOOSE, value=1)
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    rig.engine.handle(
        EventType.REFUND_GAME, form="refund_game", person="2", persons=("2", "5"), reason="planted"
    )
    rig.close()
    make_levels_machine(folder, levels=(LINKED[0], *OWN[1:])).boot().close()
    with open_view(folder) as view:
        return list(view.iter_bodies())


def audit(bodies, shelf):
    return Auditor(shelf).audit_entries(bodies)


@pytest.mark.requirement("I-14", "B-08", "D-02")
def test_the_audit_derives_every_progressive_level_of_an_honest_journal(bodies, shelf):
    report = audit(bodies, shelf)
    assert report.findings == []
    assert (report.game_count, report.void_game_count, report.level_count) == (4, 1, 12)


def find_entry_index(bodies, kind, number=-1):
    return [n for n, body in enumerate(bodies) if json.loads(body)["kind"] == kind][number]


def edit_entry(bodies, index, change):
    raw = json.loads(bodies[index])
    change(raw)
    return [*bodies[:index], encode_canonical_json(raw), *bodies[index + 1 :]]


HIT = {"level": "top", "pool": "x"}


def hit(raw, **changes):
    raw["record"]["hits"][0].update(changes)


@pytest.mark.parametrize(
    ("kind", "number", "change", "reason"),
    [
        (
            "game.start",
            1,
            lambda raw: hit(raw, amount_cents=9999),
            "amount_cents of level three-levels.top.50: expected",
        ),
        ("game.start", 1, lambda raw: raw["record"]["hits"].pop(), "record hits: expected"),
        (
            "game.start",
            0,
            lambda raw: raw["record"]["hits"].append(HIT | {"mystery": False}),
            "record hits: expected",
        ),
        ("game.start", 0, lambda raw: raw["record"]["hits"].append(HIT), "record: hits.0.mystery is missing"),
        ("game.start", 0, lambda raw: raw["record"]["mystery"][0].__setitem__(1, 0), "record hits: expected"),
        ("game.start", 0, lambda raw: raw["record"]["mystery"].clear(), "expected a draw below"),
        ("game.start", 0, lambda raw: raw["record"].pop("pools"), "record.pools: expected"),
        (
            "game.start",
            0,
            lambda raw: raw["record"]["fed"][0].update(pool=""),
            "the wager does not play for level",
        ),
        ("game.start", 0, lambda raw: raw["record"]["fed"].pop(), "record.fed: wager_cents for level"),
        (
            "game.start",
            0,
            lambda raw: raw["record"].update(broadcast_cents={"three-levels.top.50": 5}),
            "record.fed: wager_cents for level",
        ),
        (
            "game.start",
            0,
            lambda raw: raw["state"].update({"level:three-levels.top.50": None}),
            "state.level:three-levels",
        ),
        ("game.choice", 0, lambda raw: raw["record"].pop("hits"), "record hits: expected"),
        (
            "progressive.opened",
            0,
            lambda raw: raw["record"]["terms"].update(base_cents=7),
            "transfers of the levels: expected",
        ),
        (
            "progressive.opened",
            0,
            lambda raw: raw["record"]["terms"].update(increment="1/3"),
            "state.level:three-levels",
        ),
        ("progressive.opened", 0, lambda raw: raw["record"].update(stake_cents=9), "level three-levels"),
        ("progressive.opened", 0, lambda raw: raw["record"].pop("terms"), "cannot be read"),
    ],
)
def test_a_progressive_amount_that_cannot_be_derived_is_reported(bodies, shelf, kind, number, change, reason):
    report = audit(edit_entry(bodies, find_entry_index(bodies, kind, number), change), shelf)
    assert any(reason in finding.text for finding in report.findings), report.findings


def test_a_payment_that_differs_from_the_locked_amount_is_reported(bodies, shelf):
    paid = next(n for n, body in enumerate(bodies) if b"house:progressive" in body)

    def less(raw):
        for transfer in raw["transfers"]:
            if transfer[0].startswith("house:progressive"):
                transfer[2] -= 1

    report = audit(edit_entry(bodies, paid, less), shelf)
    assert any(f.sequence == paid + 1 and "levels hit" in f.text for f in report.findings)


@pytest.mark.requirement("I-15")
def test_contributions_and_awards_of_a_link_are_audited(tmp_path, shelf):
    rig = await_linked_award(tmp_path)
    (claim,) = rig.journal.states(ProgressiveKey.CLAIM)
    rig.engine.handle(
        EventType.AWARD_LOCKED, claim=claim.removeprefix(ProgressiveKey.CLAIM), amount_cents=1711
    )
    assert rig.state is State.IDLE
    rig.close()
    with open_view(tmp_path) as view:
        bodies = list(view.iter_bodies())
    assert audit(bodies, shelf).findings == []
    start = find_entry_index(bodies, "game.start")
    for change, reason in (
        (lambda raw: raw["record"]["fed"][0].update(sequence=2), "expected 1"),
        (lambda raw: raw["record"]["fed"][0].update(amount="1/7"), "expected 5/7 of"),
    ):
        report = audit(edit_entry(bodies, start, change), shelf)
        assert any(reason in finding.text for finding in report.findings)
    answer = find_entry_index(bodies, "progressive.award")
    report = audit(edit_entry(bodies, answer, lambda raw: raw["record"].update(amount_cents=5)), shelf)
    assert any("levels hit" in finding.text for finding in report.findings)


@pytest.mark.parametrize("game_id", ["lantern-harbour", "archipelago-keno"])
def test_the_levels_of_the_demonstration_cabinet_are_played_and_audited(tmp_path, game_id):
    slots = load_cabinet().progressives
    rig = MachineRig(tmp_path, games=(game_id,), levels=slots, generator=create_generator()).boot()
    assert not rig.refused_games
    for n in range(60):
        if rig.credit_cents < 1000:
            rig.insert(10000)
        rig.engine.handle(EventType.SELECT_BET, value=rig.machine.games[game_id].bet_options[n % 4])
        rig.play()
        assert rig.state is State.PLAYING, rig.notice
        rig.report_shown()
        if rig.state is State.HANDPAY:
            rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    rig.close()
    with open_view(tmp_path) as view:
        report = Auditor(GameFiles()).audit_entries(view.iter_bodies())
    assert report.findings == []
    assert report.game_count == 60
    assert report.level_count
