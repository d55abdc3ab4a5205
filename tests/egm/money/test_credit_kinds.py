"""Restricted, nonrestricted and cashable credit: which is wagered first, what wins pay, and what can be cashed out."""

from datetime import UTC, date, datetime

import pytest
from rigs.cards import script_cards
from rigs.forms import ONE, TWO, fill_in
from rigs.lies import audit_findings, read_signed_entries
from rigs.transfers import transfer_in, write_promotional_profile

from egm.app.view import build_snapshot
from egm.devices.interface import MoneyDevices, PrintState
from egm.errors import InvariantError
from egm.kernel.credits import CreditKind, build_credit_transfers, divide_stakes_among_amounts
from egm.kernel.events import EventType, State
from egm.kernel.positions import Position
from egm.money.restricted_credit import find_restricted_terms
from egm.money.value_in import list_acceptable_bills, should_accept_tickets
from egm.testing.machine import GeneratorOutOfService, MachineRig, ScriptedGenerator, create_generator
from egm.tickets.model import TicketKind, TicketState
from egm.tickets.record import TicketAction
from tools.audit.games import GameFiles
from tools.audit.verify import Auditor

RESTRICTED, NONRESTRICTED, CASHABLE = CreditKind.RESTRICTED, CreditKind.NONRESTRICTED, CreditKind.CASHABLE
MAPLES, LOSS = (23, 7, 5), (0, 0, 0)

account = Position().name_credit_account


@pytest.fixture
def make(tmp_path):
    opened = []

    def rig(profile="generic", **options) -> MachineRig:
        if opened:
            opened[-1].close()
        opened.append(MachineRig(tmp_path, profile=profile, devices=("printer",), **options))
        return opened[-1].boot()

    yield rig
    for opened_rig in opened:
        opened_rig.close()


@pytest.fixture
def generous(tmp_path):
    """The generic profile with promotional tickets in both directions."""
    return write_promotional_profile(tmp_path)


def read_credit_kinds(rig: MachineRig) -> tuple[int, int, int]:
    return tuple(rig.machine.read_credit_cents(kind) for kind in (RESTRICTED, NONRESTRICTED, CASHABLE))


@pytest.mark.requirement("D-01", "D-12")
def test_a_wager_takes_restricted_then_nonrestricted_then_the_players_own(make):
    rig = transfer_in(make(generator=ScriptedGenerator(*LOSS)), restricted=2, nonrestricted=2).insert(100)
    rig.play()  # five cents
    assert read_credit_kinds(rig) == (0, 0, 99)
    entry = next(iter(rig.journal.entries("game.start")))
    assert [(t.source, t.amount_cents) for t in entry.transfers] == [
        (account(RESTRICTED), 2),
        (account(NONRESTRICTED), 2),
        (account(CASHABLE), 1),
    ]
    meters = rig.journal.meters().values
    assert meters["coin_in"] == 5
    assert [meters[f"coin_in.{kind}"] for kind in CreditKind] == [2, 2, 1]
    assert [meters[f"credits.{kind}"] for kind in CreditKind] == [0, 0, 99]


def test_wins_of_promotional_credit_are_cashable(make):
    rig = transfer_in(make(generator=ScriptedGenerator(*MAPLES)), restricted=5)
    rig.play()
    rig.report_shown()
    assert read_credit_kinds(rig) == (0, 0, 300)


@pytest.mark.requirement("F-03")
def test_the_credit_meter_shows_every_kind(make):
    rig = transfer_in(make(), restricted=300, nonrestricted=40).insert(100)
    now = build_snapshot(rig.engine)
    assert (now.credit_cents, now.restricted_cents, now.nonrestricted_cents) == (440, 300, 40)


@pytest.mark.requirement("D-12")
def test_restricted_credit_is_never_paid_as_money(make):
    rig = transfer_in(make(), restricted=300, nonrestricted=40).insert(100)
    rig.cash_out_ticket()
    assert rig.hands.jobs[-1].fields["amount"].endswith("1.40")
    assert read_credit_kinds(rig) == (300, 0, 0)
    assert rig.journal.meters().values["ticket_out.cashable.count"] == 1
    before = rig.journal.sequence
    rig.engine.handle(EventType.CASH_OUT)
    assert (rig.state, rig.notice, rig.journal.sequence) == (State.IDLE, "refused.has_credit", before)


def test_a_hand_pay_contains_no_promotional_credit(make):
    rig = transfer_in(make(), restricted=300, nonrestricted=40)
    rig.machine.component(MoneyDevices).printer = None
    rig.engine.handle(EventType.CASH_OUT)
    assert rig.state is State.HANDPAY
    rig.engine.handle(EventType.KEY_TURNED)
    assert read_credit_kinds(rig) == (300, 0, 0)
    assert rig.journal.meters().values["att_cancel_credit"] == 40


@pytest.mark.requirement("D-02")
def test_a_void_game_returns_the_stake_of_each_credit_kind_and_is_counted(make):
    rig = transfer_in(make(games=("hold-fast",), generator=ScriptedGenerator(*LOSS)), restricted=3).insert(
        100
    )
    rig.play()
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CHOOSE, value=rig.hands.messages[-1].options[0])
    rig.engine.handle(EventType.OPEN_SERVICE_MENU, key="operator")
    ruling = {"form": "refund_game", "person": "2", "persons": ("2", "5"), "reason": "planted"}
    rig.engine.handle(EventType.REFUND_GAME, **ruling)
    assert read_credit_kinds(rig) == (3, 0, 100)
    assert rig.journal.meters().values["games_void"] == 1


def test_play_goes_on_with_credit_whose_ticket_could_not_be_numbered(make):
    rig = transfer_in(make(), nonrestricted=40)
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CASH_OUT)  # the credit is converted, and then the ticket gets no number
    assert (rig.state, read_credit_kinds(rig)) == (State.OUT_OF_SERVICE, (0, 0, 40))
    rig.next_generators.append(create_generator())
    rig.engine.handle(EventType.KEY_TURNED, key="attendant")
    rig.play()
    assert (rig.state, read_credit_kinds(rig)) == (State.PLAYING, (0, 0, 35))


# ---------------------------------------------------------------------------------------------- tickets
@pytest.mark.requirement("D-04", "D-12")
def test_restricted_credit_leaves_on_a_ticket_of_its_kind_and_comes_back_as_such(make, generous):
    rig = transfer_in(make(generous), restricted=300).insert(100)
    rig.cash_out_ticket()
    assert read_credit_kinds(rig) == (300, 0, 0)
    number = rig.cash_out_ticket()
    record = rig.ticket_store.find_ticket(number)
    assert (record.ticket.kind, record.ticket.amount_cents) == (TicketKind.RESTRICTED, 300)
    assert read_credit_kinds(rig) == (0, 0, 0)
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    assert read_credit_kinds(rig) == (300, 0, 0)
    meters = rig.journal.meters().values
    for way in ("out", "in"):
        name = f"ticket_{way}.promo_restricted"
        assert (meters[f"{name}.value"], meters[f"{name}.count"]) == (300, 1)
    assert rig.ticket_store.find_ticket(number).state is TicketState.REDEEMED


@pytest.mark.parametrize(
    ("ticket_day", "meter_day", "played", "expected_date"),
    [
        (None, date(2026, 1, 2), True, "2027-01-01"),
        (date(2026, 1, 20), date(2026, 1, 2), True, "2026-01-20"),
        (date(2026, 1, 20), date(2026, 1, 2), False, "2026-01-20"),
        (date(2026, 1, 20), date(2026, 1, 25), True, "2026-01-25"),
        (date(2026, 1, 20), date(2026, 1, 20), True, "2026-01-20"),
        (date.max, date(2026, 1, 2), True, ""),
        (date(2026, 1, 20), None, True, ""),
    ],
)
@pytest.mark.parametrize("days_later", [0, 3])
def test_a_restricted_ticket_never_expires_before_its_own_date(
    make, generous, ticket_day, meter_day, played, expected_date, days_later
):
    """Regression: its credit expired on the date of another promotion, of which credit had been transferred since."""
    rig = make(generous, generator=ScriptedGenerator(*LOSS))
    transfer_in(rig, "first", expiry_date=ticket_day, restricted=300)
    generator, rig.machine.random_service = rig.machine.random_service, create_generator()
    number = rig.cash_out_ticket()
    rig.machine.random_service = generator
    transfer_in(rig, "second", expiry_date=meter_day, restricted=5)
    if played:
        rig.play()
        rig.report_shown()
    left_cents = rig.machine.read_credit_cents(RESTRICTED)
    rig.clock.pass_seconds(days_later * 24 * 3600)
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    assert find_restricted_terms(rig.machine).expiry_date == expected_date
    rig.engine.handle(EventType.RESTRICTED_CREDIT_EXPIRED)
    assert read_credit_kinds(rig) == (300 + left_cents, 0, 0)
    assert Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []


@pytest.mark.requirement("E-13")
@pytest.mark.parametrize(
    ("kind", "terms"),
    [
        ("restricted", {"expires": "2026-01-01", "pool": 0}),
        ("restricted", {"expires": "2026-01-20", "pool": 5}),
        ("restricted", None),
        ("cashable", {"expires": "2026-01-20", "pool": 0}),
    ],
    ids=["earlier date", "another pool", "deleted", "cashable ticket"],
)
def test_the_audit_names_a_ticket_that_changes_the_terms_of_restricted_credit_wrongly(
    make, generous, kind, terms
):
    rig = make(generous)
    transfer_in(rig, "first", expiry_date=date(2026, 1, 20), restricted=300)
    if kind == "cashable":
        rig.insert(500)
    number = rig.cash_out_ticket()
    transfer_in(rig, "second", expiry_date=date(2026, 1, 2), restricted=5)
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    entries = read_signed_entries(rig)
    assert audit_findings(entries) == {}
    credited = next(entry for entry in entries if entry["kind"] == "voucher.in")
    assert ("restricted" in credited["state"]) is (kind == "restricted")
    credited["state"]["restricted"] = terms
    assert "state.restricted" in audit_findings(entries)[entries.index(credited) + 1]


def test_a_revived_restricted_ticket_brings_credit_that_does_not_expire(make, generous):
    """Two people ruled that the ticket is owed regardless of its date; its credit must not expire at once."""
    rig = make(generous, generator=ScriptedGenerator(*LOSS))
    transfer_in(rig, "first", expiry_date=date(2026, 1, 2), restricted=300)
    number = rig.cash_out_ticket()
    rig.clock.pass_seconds(3 * 24 * 3600)
    rig.ticket_store.record_move(
        number,
        TicketAction.REVIVE,
        action_time=rig.clock.now(),
        actor="cage:2",
        details={"why": "a wrong clock"},
    )
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    rig.escrow_ledger.close_confirmed_paper()
    rig.engine.handle(EventType.RESTRICTED_CREDIT_EXPIRED)
    assert read_credit_kinds(rig) == (300, 0, 0)
    assert Auditor(GameFiles()).audit_entries(rig.journal.iter_bodies()).findings == []


@pytest.mark.parametrize("last_day", [date(9999, 12, 30), date.max])
def test_restricted_credit_valid_to_the_end_of_the_calendar_leaves_on_a_ticket(make, generous, last_day):
    """Regression: the ticket's expiry was beyond the calendar, and the machine stopped at the cash-out."""
    rig = make(generous)
    transfer_in(rig, "day", expiry_date=last_day, restricted=500)
    number = rig.cash_out_ticket()
    expires_at = rig.ticket_store.find_ticket(number).ticket.expires_at
    assert expires_at == (None if last_day == date.max else datetime(9999, 12, 31, tzinfo=UTC))
    rig.offer_ticket(number)
    rig.escrow_ledger.credit_stacked_paper()
    assert read_credit_kinds(rig) == (500, 0, 0)


def test_a_restricted_ticket_that_fails_leaves_its_credit_on_the_meter(make, generous):
    rig = transfer_in(make(generous), restricted=300)
    rig.engine.handle(EventType.CASH_OUT)
    assert read_credit_kinds(rig) == (0, 0, 0)
    rig.report_print_state(PrintState.FAILED, "paper jam")
    assert (rig.state, read_credit_kinds(rig)) == (State.IDLE, (300, 0, 0))
    assert rig.notice == "restricted_stays"


def test_a_promotional_ticket_is_refused_where_the_profile_says_so(make, generous):
    rig = transfer_in(make(generous), restricted=300)
    number = rig.cash_out_ticket()
    strict = make()
    strict.offer_ticket(number)
    assert strict.notice == "ticket_refused.wrong_kind"
    assert strict.ticket_store.find_ticket(number).state is TicketState.ISSUED
    assert strict.credit_cents == 0


# ---------------------------------------------------------------------------------------------- the audit
@pytest.mark.requirement("A-25")
def test_the_audit_derives_promotional_money_again(make, generous):
    rig = transfer_in(
        make(generous, generator=ScriptedGenerator(*MAPLES, *LOSS)), restricted=300, nonrestricted=40
    ).insert(100)
    for _ in range(2):
        rig.play()
        rig.report_shown()
    rig.machine.random_service = create_generator()
    for _ in range(2):
        rig.cash_out_ticket()
    report = Auditor(GameFiles()).audit_entries(
        rig.journal.iter_bodies(), expected_head=(rig.journal.sequence, rig.journal.head_hash)
    )
    assert (report.finding_count, report.game_count, report.credits_cents) == (0, 2, 0)
    assert report.meters == rig.journal.meters().values
    assert (report.meters["coin_in.restricted"], report.meters["ticket_out.promo_restricted.value"]) == (
        10,
        290,
    )


# ---------------------------------------------------------------------------------------------- the rule
def test_no_more_credit_is_taken_than_there_is():
    with pytest.raises(InvariantError, match="5 cents short"):
        build_credit_transfers(10, "house:wager", lambda name: 5 if name == account(CASHABLE) else 0)


def test_a_returned_stake_goes_to_its_credit_kinds():
    wager = build_credit_transfers(
        7, "house:wager", {account(RESTRICTED): 3, account(NONRESTRICTED): 0, account(CASHABLE): 9}.get
    )
    staked = [(t.source, t.amount_cents) for t in wager]
    assert divide_stakes_among_amounts(staked, (0, 0, 7), Position()) == (
        (),
        (),
        ((account(RESTRICTED), 3), (account(CASHABLE), 4)),
    )


def test_of_a_partly_lost_stake_promotional_credit_is_lost_first():
    staked = [(account(CASHABLE), 5), (account(RESTRICTED), 4)]
    lost, stays, back = divide_stakes_among_amounts(staked, (2, 3, 4), Position())
    assert lost == ((account(RESTRICTED), 2),)
    assert stays == ((account(RESTRICTED), 2), (account(CASHABLE), 1))
    assert back == ((account(CASHABLE), 4),)


@pytest.mark.parametrize("amounts", [(4, 3, 3), (4, 3, 1), (10, -1, 0)])
def test_the_parts_of_a_stake_add_up_to_it(amounts):
    with pytest.raises(InvariantError, match="the stakes"):
        divide_stakes_among_amounts([(account(CASHABLE), 9)], amounts, Position())


@pytest.mark.requirement("A-28", "F-14")
def test_a_void_game_returns_the_stake_to_each_credit_kind(make):
    rig = transfer_in(make(games=("quebec-blackjack",)), restricted=300, nonrestricted=100).insert(1000)
    before = read_credit_kinds(rig)
    rig.machine.random_service = script_cards("5s 9h 6d", 6)
    rig.engine.handle(EventType.SELECT_BET, value=20, options={"bets": {"main": 20}})
    rig.play()
    assert read_credit_kinds(rig) == (0, 0, 900)
    rig.machine.random_service = GeneratorOutOfService()
    rig.engine.handle(EventType.CHOOSE, value="hit")
    assert fill_in(rig, "refund_game", **TWO, reason="the generator failed") is None
    assert read_credit_kinds(rig) == before


@pytest.mark.requirement("F-15")
def test_forfeited_promotional_credit_is_metered_with_cashable_credit(make):
    rig = transfer_in(make(), restricted=300, nonrestricted=40).insert(100)
    answers = {"reason": "a device in the coin slot", "place": "7"}
    fill_in(rig, "forfeit_credits", **TWO, **answers, amount_cents=440)
    assert (read_credit_kinds(rig), rig.journal.meters().values["forfeit_tamper"]) == ((0, 0, 0), 440)


@pytest.mark.requirement("F-18")
@pytest.mark.parametrize(
    ("credit", "orphan_cents"),
    [({"restricted": 300}, 0), ({"nonrestricted": 40}, 40), ({"restricted": 300, "nonrestricted": 40}, 40)],
)
def test_unclaimed_credit_of_every_kind_leaves_by_a_recorded_decision(make, credit, orphan_cents):
    rig = transfer_in(make(), **credit)
    fill_in(rig, "orphan_credits", place="bank 4")
    assert (rig.notice, rig.credit_cents) == ("refused.authorised", sum(credit.values()))
    fill_in(rig, "orphan_credits", **ONE, place="bank 4")
    assert read_credit_kinds(rig) == (0, 0, 0)
    values = rig.journal.meters().values
    assert (values["orphan"], values["expired"]) == (orphan_cents, credit.get("restricted", 0))
    (record,) = rig.records("orphan.credits")
    assert (record["persons"], record["place"]) == (["2"], "bank 4")


@pytest.mark.requirement("F-12")
@pytest.mark.parametrize("kind", ["restricted", "nonrestricted"])
@pytest.mark.parametrize(("missing_cents", "is_accepted"), [(1, True), (0, False)])
def test_promotional_credit_counts_towards_the_limit_of_bills_and_tickets(
    make, kind, missing_cents, is_accepted
):
    rig = make()
    rig = transfer_in(rig, **{kind: rig.profile.value_in.credit_limit_cents - missing_cents})
    accepted = (
        bool(list_acceptable_bills(rig.machine, rig.state)),
        should_accept_tickets(rig.machine, rig.state),
    )
    assert accepted == (is_accepted, is_accepted)
