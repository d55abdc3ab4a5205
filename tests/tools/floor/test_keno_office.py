"""The Keno office records tickets before their draw, holds one draw for all of them, and pays each claim once."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from egm.errors import OperatorError
from egm.testing.machine import ScriptedGenerator, create_generator
from meters import JournalDamaged, Transaction, Transfer
from paytables import ReplayDrawSource, WagerError, load_game
from paytables.keno.claims import (
    KenoTicketRefusal,
    KenoTicketState,
    PresentedTicket,
    TicketCondition,
    TicketRefusedError,
)
from paytables.keno.printed_ticket import compute_control_number
from tools.floor.keno.entries import KIND_BY_RECORD_CLASS
from tools.floor.keno.office import (
    DESK_ACCOUNT,
    HOUSE_ACCOUNT,
    OWED_ACCOUNT,
    STAKED_ACCOUNT,
    KenoOffice,
    open_journal,
)
from tools.floor.keno.verification import iter_findings

GAME = "aurora-keno"
PLACE = "cage-1"
#: A selection of one number of which two tickets of three win: the draw is that of the balls 1 to 20.
LOW = tuple([0] * 20)


class Venue:
    """An office with a clock that the test sets and scripted draws."""

    def __init__(self, folder, game=None):
        self.folder, self.game = folder, game or load_game(GAME)
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.journal = open_journal(folder, self.now)
        self.office = KenoOffice.create(
            self.journal, self.game, self.now, source=GAME, casino="Mont", claim_place=PLACE, unit_cents=25
        )
        self.generator = create_generator()

    def now(self):
        return self.time

    def reopen(self):
        self.journal.close()
        self.journal = open_journal(self.folder, self.now)
        self.office = KenoOffice(self.journal, self.game, self.now)

    def sell(self, *numbers, draws=1, stake=1, **options):
        selection = {"groups": [list(numbers)], "stakes": {str(len(numbers)): stake}}
        return self.record({"selections": [selection], "draws": draws}, **options)

    def record(self, request, **options):
        with self.generator.step() as draw:
            return self.office.sell(request, draw, station="K-07", **options)

    def hold(self, generator=None):
        """Close the sales and hold the draw; by default the balls are 1 to 20 and every factor is the lowest."""
        self.office.close_sales()
        return self.hold_closed(generator)

    def hold_closed(self, generator=None):
        with (generator or ScriptedGenerator(*LOW, 0)).step() as draw:
            return self.office.conduct_draw(draw)

    def claim(self, ticket, condition=TicketCondition.INTACT, place=PLACE, **says):
        presented = PresentedTicket(condition, ticket.printed_ticket.control_number, says)
        return self.office.claim(presented, claim_place=place)

    def balances(self):
        return tuple(
            self.journal.balance_cents(account)
            for account in (DESK_ACCOUNT, STAKED_ACCOUNT, OWED_ACCOUNT, HOUSE_ACCOUNT)
        )


@pytest.fixture
def venue(tmp_path):
    opened = Venue(tmp_path / "office")
    yield opened
    opened.journal.close()


def refusal(call, *arguments, **options):
    with pytest.raises(TicketRefusedError) as raised:
        call(*arguments, **options)
    return raised.value.code


WON = (1, 2, 3, 4, 5)
LOST = (70, 71, 72, 73, 74)


@pytest.mark.requirement("M-06")
def test_only_tickets_recorded_by_the_office_take_part_in_a_draw(venue):
    won, lost = venue.sell(*WON), venue.sell(*LOST)
    stored = [entry.record["number"] for entry in venue.journal.entries("keno.sold")]
    assert stored == [1, 2]
    assert venue.hold().prize_credits_by_ticket.keys() == {won.printed_ticket.ticket_number}
    assert venue.office.find_ticket(2).decided_draws[1].credits == 0
    # a paper that was made with another secret, of the same selections
    forged = compute_control_number(lost.printed_ticket, b"another secret")
    assert (
        refusal(venue.office.claim, PresentedTicket(TicketCondition.INTACT, forged), claim_place=PLACE)
        is KenoTicketRefusal.NOT_PROVEN
    )
    with pytest.raises(TicketRefusedError, match="no ticket 3 is recorded here"):
        venue.office.find_ticket(3)


@pytest.mark.requirement("M-06", "M-05")
def test_an_invalid_ticket_is_refused_and_nothing_is_recorded(venue):
    before = venue.journal.sequence
    with pytest.raises(WagerError, match="81"):
        venue.sell(1, 81)
    with pytest.raises(WagerError, match="draws"):
        venue.sell(1, 2, draws=0)
    assert venue.journal.sequence == before


@pytest.mark.requirement("M-05", "M-18")
def test_the_numbers_of_a_quick_pick_are_drawn_before_it_is_recorded(venue):
    request = {"selections": [{"groups": [6], "stakes": {"6": 2}}]}
    first, second = venue.record(request), venue.record(request)
    picked = [ticket.printed_ticket.selections[0]["groups"][0] for ticket in (first, second)]
    assert all(len(set(numbers)) == 6 and numbers == sorted(numbers) for numbers in picked)
    assert picked[0] != picked[1]
    venue.reopen()
    recorded = [venue.office.find_ticket(number).printed_ticket for number in (1, 2)]
    assert recorded == [first.printed_ticket, second.printed_ticket]


@pytest.mark.requirement("M-08")
def test_a_ticket_not_paid_for_before_its_draw_is_void(venue):
    unpaid, paid_later = (venue.sell(*WON, is_paid=False) for _ in range(2))
    venue.office.pay(paid_later.printed_ticket.ticket_number)
    result = venue.hold()
    assert result.prize_credits_by_ticket.keys() == {2}
    assert venue.office.find_ticket(1).state is KenoTicketState.VOID
    assert refusal(venue.office.pay, 1) is KenoTicketRefusal.VOID
    assert refusal(venue.claim, unpaid) is KenoTicketRefusal.VOID
    assert venue.claim(paid_later).credits == result.prize_credits_by_ticket[2]


@pytest.mark.requirement("M-08")
@pytest.mark.parametrize(
    "condition", [condition for condition in TicketCondition if condition is not TicketCondition.INTACT]
)
def test_a_defective_ticket_is_paid_only_if_its_control_number_proves_it(venue, condition):
    ticket = venue.sell(*WON)
    prize = venue.hold().prize_credits_by_ticket[1]
    for unproven in (None, "", "1" * 20, ticket.printed_ticket.control_number[::-1]):
        code = refusal(venue.office.claim, PresentedTicket(condition, unproven), claim_place=PLACE)
        assert code is KenoTicketRefusal.NOT_PROVEN
    payment = venue.claim(ticket, condition)
    assert (payment.credits, payment.is_paper_void) == (prize, True)


@pytest.mark.requirement("M-09")
def test_the_recorded_ticket_determines_the_payment_and_not_the_paper(venue):
    ticket = venue.sell(*WON)
    prize = venue.hold().prize_credits_by_ticket[1]
    venue.time += timedelta(days=2)
    says = {"selections": [{"groups": [[1, 2, 3, 4]]}], "cost_a_draw_credits": 99, "casino": "Mont"}
    says |= {"draws": [2], "claim_place": "cage-2", "claim_days": 1, "most_paid_credits": 1}
    payment = venue.claim(ticket, **says)
    assert (payment.credits, payment.draws) == (prize, (1,))
    assert payment.differing_values == tuple(sorted(says.keys() - {"casino"}))
    (claimed,) = venue.journal.entries("keno.claimed")
    assert claimed.record["differs"] == list(payment.differing_values)
    assert venue.journal.balance_cents(OWED_ACCOUNT) == 0


@pytest.mark.requirement("M-09")
def test_verification_accepts_a_claim_whose_paper_stated_something_of_which_there_is_no_record(venue):
    ticket = venue.sell(*WON)
    venue.hold()
    assert venue.claim(ticket, cashier="Luc").differing_values == ("cashier",)
    assert [*iter_findings(venue.journal, venue.game)] == []


@pytest.mark.requirement("M-11")
def test_a_prize_is_paid_once_where_it_is_payable_and_within_its_time(venue):
    ticket = venue.sell(*WON)
    assert refusal(venue.claim, ticket) is KenoTicketRefusal.NOT_IN_THIS_STATE  # before its draw
    prize = venue.hold().prize_credits_by_ticket[1]
    assert refusal(venue.claim, ticket, place="cage-2") is KenoTicketRefusal.WRONG_PLACE
    of_another = replace(ticket.printed_ticket, ticket_number=2)
    presented = PresentedTicket(TicketCondition.INTACT, compute_control_number(of_another, b"another secret"))
    assert refusal(venue.office.claim, presented, claim_place=PLACE) is KenoTicketRefusal.NOT_PROVEN
    late = venue.sell(*WON)
    venue.hold()
    venue.time += timedelta(days=ticket.printed_ticket.claim_days)
    assert venue.claim(ticket).credits == prize
    assert refusal(venue.claim, ticket) is KenoTicketRefusal.ALREADY_PAID
    venue.time += timedelta(days=1)
    assert refusal(venue.claim, late) is KenoTicketRefusal.TOO_LATE
    assert venue.office.expire() == {1: 0, 2: prize}
    assert venue.office.list_tickets() == {}
    assert venue.office.compute_totals().owed_cents == 0


@pytest.mark.requirement("M-12")
def test_a_ticket_for_several_draws_is_settled_once_per_draw(venue):
    ticket = venue.sell(*WON, draws=3)
    prize = venue.hold().prize_credits_by_ticket[1]
    assert venue.claim(ticket).draws == (1,)
    assert refusal(venue.claim, ticket) is KenoTicketRefusal.ALREADY_PAID
    assert venue.hold(ScriptedGenerator(*[60] * 20, 0)).prize_credits_by_ticket == {}
    assert venue.hold().prize_credits_by_ticket == {1: prize}
    payment = venue.claim(ticket)
    assert (payment.credits, payment.draws) == (prize, (3,))
    assert venue.hold().prize_credits_by_ticket == {}  # the fourth draw is not one of the ticket
    record = venue.office.find_ticket(1)
    assert (sorted(record.decided_draws), record.claim_deadline) == (
        [1, 2, 3],
        venue.time.date() + timedelta(days=ticket.printed_ticket.claim_days),
    )


@pytest.mark.requirement("M-13")
def test_draws_and_tickets_are_numbered_consecutively_across_a_restart(venue):
    numbers = [venue.sell(*LOST).printed_ticket.ticket_number for _ in range(2)]
    draw_numbers = [venue.hold().number]
    venue.reopen()
    numbers.append(venue.sell(*LOST).printed_ticket.ticket_number)
    draw_numbers.append(venue.hold().number)
    venue.sell(*LOST)
    draw_numbers.append(venue.office.close_sales())
    venue.office.fail_draw("the blower stopped")
    draw_numbers.append(venue.hold().number)
    assert (numbers, draw_numbers) == ([1, 2, 3], [1, 2, 3, 4])


@pytest.mark.requirement("M-14")
def test_a_ticket_can_be_cancelled_only_before_sales_for_its_draw_close(venue):
    ticket = venue.sell(*WON, draws=2)
    unpaid = venue.sell(*WON, is_paid=False)
    assert venue.office.cancel(1) == ticket.printed_ticket.cost_credits
    assert venue.office.cancel(unpaid.printed_ticket.ticket_number) == 0
    assert venue.balances() == (0, 0, 0, 0)
    assert refusal(venue.office.cancel, 1) is KenoTicketRefusal.VOID
    venue.sell(*WON)
    venue.office.close_sales()
    assert refusal(venue.office.cancel, 3) is KenoTicketRefusal.NOT_IN_THIS_STATE
    with pytest.raises(OperatorError, match="draw 1 is closed"):
        venue.sell(*WON)
    assert venue.hold_closed().prize_credits_by_ticket.keys() == {3}


@pytest.mark.requirement("M-15")
def test_a_failed_draw_refunds_every_stake_on_it(venue):
    several, single = venue.sell(*WON, draws=2), venue.sell(*LOST, stake=2)
    with pytest.raises(OperatorError, match="sales for draw 1 have not ended"):
        venue.office.fail_draw("too early")
    venue.office.close_sales()
    venue.office.fail_draw("the blower stopped")
    assert venue.claim(single).credits == single.printed_ticket.cost_credits
    assert venue.claim(several).credits == several.printed_ticket.cost_per_draw_credits
    assert venue.hold().prize_credits_by_ticket.keys() == {1}
    (failed,) = venue.journal.entries("keno.draw_failed")
    assert (failed.record["draw"], failed.record["reason"]) == (1, "the blower stopped")


@pytest.mark.requirement("M-16")
def test_totals_are_those_of_all_tickets_and_a_difference_is_detected(venue):
    venue.sell(*WON)
    venue.sell(*LOST, draws=2)
    prize_cents = venue.hold().prize_credits_by_ticket[1] * 25
    totals = venue.office.compute_totals()
    assert (totals.tickets, totals.draws) == (2, 1)
    assert (totals.desk_cents, totals.staked_cents) == (75, 25)
    assert (totals.owed_cents, totals.house_cents) == (prize_cents, 50 - prize_cents)
    theft = Transaction(id="theft", kind="planted", transfers=(Transfer(OWED_ACCOUNT, HOUSE_ACCOUNT, 25),))
    venue.journal.append(theft)
    with pytest.raises(OperatorError, match="keno:owed"):
        venue.office.compute_totals()


@pytest.mark.requirement("M-16")
@pytest.mark.parametrize("copies", [1, 2])
def test_damage_to_one_copy_is_repaired_and_damage_to_both_is_reported(venue, copies):
    venue.sell(*WON)
    venue.journal.close()
    first, second = venue.folder / "journal.sqlite", venue.folder / "second" / "000000000001.log"
    for path in (first, second)[:copies]:
        data = bytearray(path.read_bytes())
        if path is first:
            data[data.index(b"keno.sold")] ^= 1
        else:
            data[64::64] = bytes(255 - byte for byte in data[64::64])
        path.write_bytes(data)
    if copies == 2:
        with pytest.raises(JournalDamaged):
            open_journal(venue.folder, venue.now)
        venue.journal = open_journal(venue.folder.parent / "other", venue.now)
    else:
        venue.journal = open_journal(venue.folder, venue.now)
        venue.office = KenoOffice(venue.journal, venue.game, venue.now)
        assert venue.office.find_ticket(1).state is KenoTicketState.SOLD


@pytest.mark.requirement("M-04", "M-06")
def test_a_ticket_wins_in_each_draw_what_the_machines_game_pays_for_the_same_numbers(venue):
    """The machine's game replays the recorded draws with the ticket as the wager."""
    bonuses = [bonus.id for bonus in venue.game.rules.definition.bonuses]
    requests = [
        {"selections": [{"groups": [[3, 11, 27], [42, 80]], "stakes": {"3": 1, "5": 2}}], "bonuses": bonuses},
        {
            "selections": [{"groups": [list(range(1, 11))], "stakes": {"10": 1}}, {"groups": [[7, 8]], "stakes": {"2": 5}}],
            "bonuses": bonuses,
        },
    ]  # fmt: skip
    rules, won = venue.game.rules, 0
    for _ in range(30):
        tickets = [venue.record(request) for request in requests]
        result = venue.hold(venue.generator)
        entry = next(venue.journal.entries("keno.drawn", newest_first=True))
        for ticket, request in zip(tickets, requests, strict=True):
            wager = rules.build_wager(ticket.printed_ticket.cost_credits, **request)
            play = rules.play(wager, ReplayDrawSource(entry.record["draws"]))
            paid = 0
            try:
                while True:
                    paid += next(play).credits
            except StopIteration:
                pass
            assert result.prize_credits_by_ticket.get(ticket.printed_ticket.ticket_number, 0) == paid
            won += paid > 0
    assert won > 5


@pytest.mark.requirement("M-02", "M-06")
def test_the_maximum_of_a_draw_is_shared_among_all_its_tickets(tmp_path):
    game = load_game(GAME)
    most = game.rules.definition.prize_limit_credits
    top = max(game.rules.keno_pays.pays_by_spot_count[10].values())
    stake = max(game.rules.definition.ticket_limits.stake_options)
    venue = Venue(tmp_path / "office")
    count = most // (top * stake) + 2
    for _ in range(count):
        venue.sell(*range(1, 11), stake=stake)
    prizes = venue.hold().prize_credits_by_ticket
    assert sum(prizes.values()) == most < count * top * stake
    assert max(prizes.values()) - min(prizes.values()) <= 1
    venue.journal.close()


@pytest.mark.requirement("M-16")
def test_accounts_agree_with_all_tickets_after_every_random_act(venue):
    """After every random act, the accounts match the tickets; at the end nothing is owed."""
    dice, sold, paid_out = Random(11), [], 0
    for step in range(150):
        act = dice.randrange(8)
        with_draw = venue.office._read_counters().is_closed
        if with_draw and act < 6:
            venue.hold_closed(venue.generator)
        elif with_draw:
            venue.office.fail_draw("planted")
        elif act < 4:
            numbers = dice.sample(range(1, 81), dice.randint(2, 8))
            sold.append(venue.sell(*numbers, draws=dice.randint(1, 3), is_paid=dice.random() < 0.8))
        elif act == 4 and sold:
            with suppress(TicketRefusedError):
                venue.office.cancel(dice.choice(sold).printed_ticket.ticket_number)
        elif act == 5 and sold:
            with suppress(TicketRefusedError):
                paid_out += venue.claim(dice.choice(sold)).credits
        else:
            venue.office.close_sales()
        venue.office.compute_totals()
        if step % 40 == 39:
            venue.reopen()
    assert len(sold) > 40
    assert paid_out
    while any(ticket.claim_deadline is None and ticket.state is not KenoTicketState.VOID for ticket in venue.office.list_tickets().values()):  # fmt: skip
        if not venue.office._read_counters().is_closed:
            venue.office.close_sales()
        venue.hold_closed(venue.generator)
    venue.time += timedelta(days=400)
    venue.office.expire()
    desk, staked, owed, house = venue.balances()
    assert (staked, owed, venue.office.list_tickets()) == (0, 0, {})
    assert desk + house == 0


def test_an_office_is_opened_once_for_a_game_that_it_can_sell(venue, tmp_path):
    options = {"source": GAME, "casino": "Mont", "claim_place": PLACE, "unit_cents": 25}
    with pytest.raises(OperatorError, match="there is a Keno office here already"):
        KenoOffice.create(venue.journal, venue.game, venue.now, **options)
    with pytest.raises(OperatorError, match=r"was opened for aurora-keno .* not for archipelago-keno"):
        KenoOffice(venue.journal, load_game("archipelago-keno"), venue.now)
    with open_journal(tmp_path / "new", venue.now) as journal:
        with pytest.raises(OperatorError, match="no Keno office was opened here"):
            KenoOffice(journal, venue.game, venue.now)
        with pytest.raises(OperatorError, match="no credit of 7: it offers"):
            KenoOffice.create(journal, venue.game, venue.now, **{**options, "unit_cents": 7})
        with pytest.raises(OperatorError, match=r"progressive levels|no \[terms\]"):
            KenoOffice.create(journal, load_game("summit-keno"), venue.now, **options)
        assert json.dumps(journal.state("keno:office")) == "null"


class TestVerification:
    """The verification computes every entry again from the journal and reports each difference."""

    @pytest.fixture
    def evening(self, venue):
        """A journal with one entry of each kind."""
        won, cancelled = venue.sell(*WON, draws=2), venue.sell(*LOST)
        venue.sell(*WON, is_paid=False)
        venue.sell(*LOST, is_paid=False)
        venue.office.pay(3)
        venue.office.cancel(cancelled.printed_ticket.ticket_number)
        venue.hold()
        venue.claim(won, casino="Val")
        venue.office.close_sales()
        venue.office.fail_draw("planted")
        venue.claim(won)
        venue.time += timedelta(days=400)
        venue.office.expire()
        return venue

    @pytest.mark.requirement("M-16")
    def test_a_recomputed_evening_has_no_findings(self, evening):
        assert {entry.kind for entry in evening.journal.entries()} >= {*KIND_BY_RECORD_CLASS.values()}
        assert [*iter_findings(evening.journal, evening.game)] == []

    @pytest.mark.requirement("M-16")
    @pytest.mark.parametrize(
        ("kind", "change"),
        [
            ("keno.drawn", {"balls": [*range(61, 81)]}),
            ("keno.drawn", {"prizes": {}}),
            ("keno.drawn", {"prizes": {"1": 1}}),
            ("keno.drawn", {"draw": 2}),
            ("keno.sales_closed", {"tickets": [1]}),
            ("keno.sales_closed", {"void": []}),
            ("keno.claimed", {"draws": [1, 2]}),
            ("keno.claimed", {"place": "cage-2"}),
            ("keno.expired", {"unclaimed_credits": 1}),
            ("keno.sold", {"number": 7}),
            ("keno.opened", {"unit_cents": 100}),
            ("keno.paid", {"number": 1}),
        ],
    )
    def test_a_changed_record_is_reported(self, evening, monkeypatch, kind, change):
        self.change(
            evening.journal,
            monkeypatch,
            kind,
            lambda transaction: {"record": {**transaction.record, **change}},
        )
        findings = [*iter_findings(evening.journal, evening.game)]
        assert findings
        assert kind in findings[0]

    @pytest.mark.requirement("M-16")
    @pytest.mark.parametrize(
        "kind", ["keno.sold", "keno.cancelled", "keno.drawn", "keno.draw_failed", "keno.claimed"]
    )
    def test_changed_transfers_and_tickets_are_reported(self, evening, monkeypatch, kind):
        with monkeypatch.context() as patch:
            transfer = Transfer(DESK_ACCOUNT, OWED_ACCOUNT, 25)
            self.change(
                evening.journal,
                patch,
                kind,
                lambda transaction: {"transfers": (*transaction.transfers, transfer)},
            )
            assert kind in next(iter_findings(evening.journal, evening.game))
        self.change(
            evening.journal,
            monkeypatch,
            kind,
            lambda transaction: {"state": {**transaction.state, "keno:ticket:9": {}}},
        )
        assert kind in next(iter_findings(evening.journal, evening.game))

    def change(self, journal, patch, kind, make):
        """Make the journal return a changed first entry of a kind."""
        entries, changed = [*journal.entries()], []
        for entry in entries:
            if entry.kind == kind and not changed:
                transaction = replace(entry.transaction, **make(entry.transaction))
                changed.append(entry._replace(transaction=transaction))
                entries[entries.index(entry)] = changed[0]
        patch.setattr(journal, "entries", lambda kinds: (entry for entry in entries if entry.kind in kinds))
