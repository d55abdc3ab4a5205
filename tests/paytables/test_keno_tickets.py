"""Keno tickets: their content, their proof, when they are void, and what a claim is paid (ss. 75 to 86)."""

import json
import re
from datetime import UTC, date, datetime, timedelta

import pytest

from paytables import load_game
from paytables.keno import claims
from paytables.keno.claims import (
    KenoTicketRecord,
    KenoTicketRefusal,
    KenoTicketState,
    PresentedTicket,
    TicketCondition,
    TicketRefusedError,
)
from paytables.keno.printed_ticket import (
    LINE_LABELS,
    Acknowledgement,
    PrintedTicket,
    TicketLine,
    TicketNotIssuedError,
    build_slip,
    compute_control_number,
    is_well_formed_control_number,
    issue_ticket,
    list_ticket_lines,
)

KEY = bytes(range(32))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RULES = load_game("aurora-keno").rules
ASKED = {
    "selections": [
        {"groups": [[3, 11, 27], [42, 80]], "stakes": {"3": 1, "5": 2}},
        {"groups": [[7, 8]], "stakes": {"2": 5}},
    ],
    "draws": 3,
    "bonuses": ["northern-lights"],
}


def a_paper(number=1234, **changes):
    acknowledgement = Acknowledgement(ticket_number=number, draw_numbers=(501, 502, 503), recorded_at=NOON)
    given = {"casino": "Mont", "station": "K-07", "claim_place": "cage-1", "key": KEY, **changes}
    return issue_ticket(RULES.definition, RULES.build_ticket(ASKED), acknowledgement, **given)


def paid():
    return claims.record_ticket_payment(KenoTicketRecord(a_paper()))


def settle_first_draws(*prizes):
    """Return a paid ticket whose first draws are settled with these prizes."""
    record = paid()
    for draw, prize in zip((501, 502, 503), prizes, strict=False):
        record = claims.settle_ticket_draw(claims.record_draw_closing(record, draw), draw, prize, NOON.date())
    return record


def present_ticket(record, condition=TicketCondition.INTACT, **says):
    return PresentedTicket(condition, record.printed_ticket.control_number, says)


def read_refusal(call, *args, **kwargs):
    with pytest.raises(TicketRefusedError) as found:
        call(*args, **kwargs)
    return found.value.code


@pytest.mark.requirement("M-07", "M-11", "M-13")
@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_ticket_states_everything_that_the_by_law_requires(language):
    paper = a_paper()
    ticket_lines = list_ticket_lines(RULES.definition, paper, language, lambda credits_: f"<{credits_}>")
    text = {}
    for line, label, text_part in ticket_lines:
        assert label == LINE_LABELS[line][language]
        text.setdefault(line, []).append(text_part)
    assert set(text) == set(TicketLine)
    assert text[TicketLine.ISSUED] == ["2026-03-01 12:00:00 UTC"]
    assert text[TicketLine.SELECTION] == ["03 11 27 / 42 80", "07 08"]
    assert "<1>" in text[TicketLine.STAKE][0]
    assert "<2>" in text[TicketLine.STAKE][0]
    assert text[TicketLine.TOTAL] == [f"<{(1 + 2 + 5) * 2 * 3}>"]
    assert text[TicketLine.DRAWS] == ["501-503"]
    assert text[TicketLine.CONTROL][0].replace(" ", "") == paper.control_number
    assert text[TicketLine.PAID_MAX] == ["<2000000>"]
    assert "365" in text[TicketLine.CLAIM][0]
    assert text[TicketLine.CLAIM][0].endswith(RULES.definition.terms.claim_at.model_dump()[language])
    assert text[TicketLine.NUMBER] == ["Mont 000001234"]
    assert text[TicketLine.STATION] == ["K-07"]
    assert "2026-03-01 12:00:00" in text[TicketLine.ISSUED][0]


def test_every_line_of_a_ticket_has_text_in_both_languages():
    assert set(LINE_LABELS) == set(TicketLine)
    assert all(set(words) == {"en", "fr"} and all(words.values()) for words in LINE_LABELS.values())
    assert LINE_LABELS[TicketLine.NUMBER] == {"en": "Ticket", "fr": "Billet"}
    labels = [label for words in LINE_LABELS.values() for label in words.values()]
    assert not [label for label in labels if re.search("[a-z][A-Z]", label)]  # the name of a class is no text


@pytest.mark.requirement("M-01", "M-02", "M-03")
@pytest.mark.parametrize("name", ["aurora-keno", "archipelago-keno"])
def test_the_slip_states_the_numbers_the_rules_and_the_highest_payment(name):
    definition = load_game(name).rules.definition
    shown = build_slip(definition)
    assert shown["spots"] == list(range(shown["fewest_spots"], shown["most_spots"] + 1))
    assert shown["most_paid_a_draw_credits"] == definition.prize_limit.credits
    assert set(shown["rules_at"]) == set(shown["rules"]) == {"en", "fr"}
    assert len(shown["prizes"]) == len(definition.pay_tables)


@pytest.mark.requirement("M-06")
def test_a_ticket_without_a_central_record_is_refused():
    given = {"casino": "Mont", "station": "K-07", "claim_place": "cage-1", "key": KEY}
    ticket = RULES.build_ticket(ASKED)
    with pytest.raises(TicketNotIssuedError, match="has not recorded"):
        issue_ticket(RULES.definition, ticket, None, **given)
    short = Acknowledgement(ticket_number=1, draw_numbers=(501, 502), recorded_at=NOON)
    with pytest.raises(TicketNotIssuedError, match="3 draws were bought"):
        issue_ticket(RULES.definition, ticket, short, **given)
    quick = RULES.build_ticket({"selections": [{"groups": [5], "stakes": {"5": 1}}]})
    acknowledgement = Acknowledgement(ticket_number=1, draw_numbers=(501,), recorded_at=NOON)
    with pytest.raises(TicketNotIssuedError, match="no numbers yet"):
        issue_ticket(RULES.definition, quick, acknowledgement, **given)
    bare = RULES.definition.model_copy(update={"terms": None})
    with pytest.raises(TicketNotIssuedError, match="no \\[terms\\]"):
        issue_ticket(
            bare, ticket, Acknowledgement(ticket_number=1, draw_numbers=(1, 2, 3), recorded_at=NOON), **given
        )


def test_the_control_number_depends_on_the_whole_ticket_and_the_key():
    paper = a_paper()
    assert is_well_formed_control_number(paper.control_number)
    assert compute_control_number(paper, KEY) == paper.control_number
    assert compute_control_number(paper, KEY[::-1]) != paper.control_number
    numbers = {paper.control_number}
    for field, other in [
        ("ticket_number", 1235),
        ("station", "K-08"),
        ("draws", [501, 502, 504]),
        ("bonuses", []),
        ("cost_a_draw_credits", 17),
        ("selections", paper.to_json()["selections"][:1]),
    ]:
        numbers.add(compute_control_number(PrintedTicket.from_json({**paper.to_json(), field: other}), KEY))
    assert len(numbers) == 7


def test_the_check_digits_detect_every_wrong_and_every_exchanged_digit():
    right = a_paper().control_number
    for i in range(20):
        for digit in "0123456789":
            assert is_well_formed_control_number(right[:i] + digit + right[i + 1 :]) is (digit == right[i])
    for i in range(19):
        exchanged = right[:i] + right[i + 1] + right[i] + right[i + 2 :]
        assert is_well_formed_control_number(exchanged) is (exchanged == right)
    assert not is_well_formed_control_number(right[:-1])
    assert not is_well_formed_control_number("٣" * 20)


@pytest.mark.requirement("M-08")
def test_a_ticket_unpaid_at_its_draw_is_void_despite_a_control_number():
    record = claims.record_draw_closing(KenoTicketRecord(a_paper()), 501)
    assert record.state is KenoTicketState.VOID
    assert read_refusal(claims.record_ticket_payment, record) is KenoTicketRefusal.VOID
    assert (
        read_refusal(
            claims.claim_ticket, record, present_ticket(record), claim_place="cage-1", claimed_at=NOON
        )
        is KenoTicketRefusal.VOID
    )


@pytest.mark.requirement("M-08")
@pytest.mark.parametrize("condition", list(TicketCondition))
def test_a_damaged_ticket_is_void_unless_its_control_number_proves_it(condition):
    record = settle_first_draws(40)
    for number in (None, "", "12", compute_control_number(a_paper(99), KEY)):
        bad = PresentedTicket(condition, number)
        assert (
            read_refusal(claims.claim_ticket, record, bad, claim_place="cage-1", claimed_at=NOON)
            is KenoTicketRefusal.NOT_PROVEN
        )
    after, claim = claims.claim_ticket(
        record, present_ticket(record, condition), claim_place="cage-1", claimed_at=NOON
    )
    assert (claim.credits, claim.draws) == (40, (501,))
    assert claim.is_paper_void is (condition is not TicketCondition.INTACT)
    assert after.unpaid_credits == 0


@pytest.mark.requirement("M-08")
def test_a_damaged_ticket_that_won_nothing_is_not_accepted():
    record = settle_first_draws(0, 0, 0)
    mutilated = present_ticket(record, TicketCondition.MUTILATED)
    assert (
        read_refusal(claims.claim_ticket, record, mutilated, claim_place="cage-1", claimed_at=NOON)
        is KenoTicketRefusal.NO_PRIZE
    )


@pytest.mark.requirement("M-09")
def test_the_central_data_prevail_and_a_difference_is_reported():
    record = settle_first_draws(15)
    ticket_data = {"cost_a_draw_credits": 900, "draws": [501, 502, 503], "bonuses": []}
    _, claim = claims.claim_ticket(
        record,
        present_ticket(record, TicketCondition.ALTERED, **ticket_data),
        claim_place="cage-1",
        claimed_at=NOON,
    )
    assert claim.credits == 15
    assert claim.differing_values == ("bonuses", "cost_a_draw_credits")


@pytest.mark.requirement("M-11")
def test_a_prize_must_be_claimed_at_the_claim_place_and_in_time():
    record = settle_first_draws(0, 0, 20)
    assert record.claim_deadline == date(2027, 3, 1)
    undrawn = claims.record_draw_closing(paid(), 501)
    assert (
        read_refusal(
            claims.claim_ticket, undrawn, present_ticket(record), claim_place="cage-1", claimed_at=NOON
        )
        is KenoTicketRefusal.TOO_EARLY
    )
    last = datetime(2027, 3, 1, 23, 59, tzinfo=UTC)
    assert (
        read_refusal(
            claims.claim_ticket, record, present_ticket(record), claim_place="cage-2", claimed_at=last
        )
        is KenoTicketRefusal.WRONG_PLACE
    )
    late = last + timedelta(minutes=1)
    assert (
        read_refusal(
            claims.claim_ticket, record, present_ticket(record), claim_place="cage-1", claimed_at=late
        )
        is KenoTicketRefusal.TOO_LATE
    )
    of_another = PresentedTicket(TicketCondition.INTACT, a_paper(1235).control_number)
    assert (
        read_refusal(claims.claim_ticket, record, of_another, claim_place="cage-1", claimed_at=last)
        is KenoTicketRefusal.NOT_PROVEN
    )
    after, claim = claims.claim_ticket(record, present_ticket(record), claim_place="cage-1", claimed_at=last)
    assert claim.credits == 20
    assert (
        read_refusal(
            claims.claim_ticket, after, present_ticket(record), claim_place="cage-1", claimed_at=last
        )
        is KenoTicketRefusal.ALREADY_PAID
    )
    assert read_refusal(claims.expire_ticket, record, last.date()) is KenoTicketRefusal.TOO_EARLY
    gone, unclaimed = claims.expire_ticket(record, late.date())
    assert (gone.state, unclaimed) == (KenoTicketState.EXPIRED, 20)
    assert (
        read_refusal(claims.claim_ticket, gone, present_ticket(record), claim_place="cage-1", claimed_at=last)
        is KenoTicketRefusal.NOT_IN_THIS_STATE
    )


@pytest.mark.requirement("M-12", "M-11")
def test_each_draw_of_a_ticket_is_settled_once():
    record = settle_first_draws(8)
    assert record.claim_deadline is None
    assert (
        read_refusal(claims.settle_ticket_draw, record, 501, 8, NOON.date())
        is KenoTicketRefusal.DRAW_IS_CLOSED_OR_DECIDED
    )
    assert (
        read_refusal(claims.settle_ticket_draw, record, 502, 8, NOON.date()) is KenoTicketRefusal.DRAW_IS_OPEN
    )
    assert (
        read_refusal(claims.settle_ticket_draw, record, 999, 8, NOON.date()) is KenoTicketRefusal.NOT_ITS_DRAW
    )
    assert (
        read_refusal(claims.record_draw_closing, record, 501) is KenoTicketRefusal.DRAW_IS_CLOSED_OR_DECIDED
    )
    assert read_refusal(claims.record_draw_closing, record, 999) is KenoTicketRefusal.NOT_ITS_DRAW
    record, claim = claims.claim_ticket(record, present_ticket(record), claim_place="cage-1", claimed_at=NOON)
    assert claim.draws == (501,)
    record = claims.settle_ticket_draw(claims.record_draw_closing(record, 502), 502, 0, NOON.date())
    record = claims.settle_ticket_draw(
        claims.record_draw_closing(record, 503), 503, 30, NOON.date() + timedelta(days=1)
    )
    record, claim = claims.claim_ticket(record, present_ticket(record), claim_place="cage-1", claimed_at=NOON)
    assert (claim.credits, claim.draws) == (30, (503,))
    assert record.claim_deadline == date(2027, 3, 2)


@pytest.mark.requirement("M-14")
def test_a_ticket_can_be_cancelled_only_before_its_first_draw():
    record, refund = claims.cancel_ticket(paid())
    assert (record.state, refund) == (KenoTicketState.VOID, a_paper().cost_credits)
    record, refund = claims.cancel_ticket(KenoTicketRecord(a_paper()))
    assert (record.state, refund) == (KenoTicketState.VOID, 0)
    assert (
        read_refusal(claims.cancel_ticket, claims.record_draw_closing(paid(), 501))
        is KenoTicketRefusal.NOT_IN_THIS_STATE
    )
    assert read_refusal(claims.cancel_ticket, record) is KenoTicketRefusal.VOID


@pytest.mark.requirement("M-15")
def test_a_failed_draw_returns_its_stake():
    record = claims.record_draw_fault(claims.record_draw_closing(paid(), 501), 501, NOON.date())
    assert (
        read_refusal(claims.settle_ticket_draw, record, 501, 5, NOON.date())
        is KenoTicketRefusal.DRAW_IS_CLOSED_OR_DECIDED
    )
    _, claim = claims.claim_ticket(record, present_ticket(record), claim_place="cage-1", claimed_at=NOON)
    assert claim.credits == a_paper().cost_per_draw_credits == a_paper().cost_credits // 3


@pytest.mark.requirement("M-16")
def test_a_stored_ticket_record_is_read_back_unchanged():
    for record in (
        KenoTicketRecord(a_paper()),
        paid(),
        settle_first_draws(5),
        settle_first_draws(5, 0, 9),
        claims.record_draw_closing(KenoTicketRecord(a_paper()), 501),
    ):
        assert KenoTicketRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_a_ticket_event_that_the_state_table_lacks_is_refused():
    calls = {
        claims.TicketEvent.PAY: claims.record_ticket_payment,
        claims.TicketEvent.CANCEL: lambda r: claims.cancel_ticket(r)[0],
        claims.TicketEvent.CLOSE: lambda r: claims.record_draw_closing(r, 502),
        claims.TicketEvent.SETTLE: lambda r: claims.settle_ticket_draw(r, 501, 5, NOON.date()),
        claims.TicketEvent.FAULT: lambda r: claims.record_draw_fault(r, 501, NOON.date()),
        claims.TicketEvent.CLAIM: lambda r: claims.claim_ticket(
            r, present_ticket(r), claim_place="cage-1", claimed_at=NOON
        )[0],
        claims.TicketEvent.EXPIRE: lambda r: claims.expire_ticket(r, date(2030, 1, 1))[0],
    }
    assert set(calls) == set(claims.TicketEvent)
    for state in KenoTicketState:
        for event, call in calls.items():
            decided = (
                {}
                if event in {claims.TicketEvent.SETTLE, claims.TicketEvent.FAULT}
                else settle_first_draws(5, 5, 5).decided_draws
            )
            record = KenoTicketRecord(a_paper(), state, frozenset({501}), decided)
            if (state, event) in claims.TICKET_TRANSITIONS:
                assert call(record).state is claims.TICKET_TRANSITIONS[state, event]
            else:
                expected = (
                    KenoTicketRefusal.VOID
                    if state is KenoTicketState.VOID
                    else KenoTicketRefusal.NOT_IN_THIS_STATE
                )
                assert read_refusal(call, record) is expected


def test_a_negative_prize_is_refused():
    with pytest.raises(ValueError, match="-1 credits"):
        claims.settle_ticket_draw(claims.record_draw_closing(paid(), 501), 501, -1, NOON.date())
