"""Checks and expected values that several audit rules use: new ids, the player's credit, session counts."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from egm.kernel.credits import CASH_OUT_CREDIT_KINDS, CreditKind, build_credit_transfers
from egm.kernel.positions import Position
from egm.money.records.money import CashOutRecord, CashOutRemainder, HandpayRecord
from egm.play.records.protection import SessionRecord
from egm.record_codec import is_record, to_json
from egm.tickets.ledger_comparison import LedgerAnchor
from meters.identifiers import JOURNAL_TAG_PATTERN
from meters.reading import read_meters
from meters.transaction import Transfer
from tools.audit.rules.pattern import (
    CheckContext,
    PatternMismatch,
    format_storage_key,
    format_value,
    is_json_equal,
)
from tools.audit.rules.rule import Check

#: The value that stands for "the entry must not store this key" among expected values.
ABSENT_VALUE: Final = object()
#: The account of the position's cashable credit.
CASHABLE_ACCOUNT: Final = "credit:{position}:cashable"

#: Matches what follows the kind in an id: a sequence number, and the journal tag.
_ID_SUFFIX_PATTERN: Final = re.compile(rf"([0-9]+)(?:-({JOURNAL_TAG_PATTERN}))?")


def require_new_id(id_prefix: str, bound_name: str = "id", *, is_entry_id: bool = False) -> Check:
    """Return the check that the pattern name ``bound_name`` is bound to a valid new id with this prefix.

    The id has the form prefix-N-tag: N is the number of this entry or an earlier one, the tag identifies the
    journal. With ``is_entry_id``, N must be the number of this entry. Ids of earlier versions without a tag are
    accepted.
    """

    def check(context: CheckContext) -> None:
        """Check that the id has the form prefix-N-tag of this journal."""
        value = context[bound_name]
        match = (
            _ID_SUFFIX_PATTERN.fullmatch(value.removeprefix(f"{id_prefix}-"))
            if value.startswith(f"{id_prefix}-")
            else None
        )
        if (
            match is None
            or int(match[1]) > context.entry.sequence
            or (is_entry_id and int(match[1]) != context.entry.sequence)
            or match[2] not in {None, context.facts.journal_tag}
        ):
            number_text = (
                f"at this entry ({context.entry.sequence})" if is_entry_id else "at this entry or before it"
            )
            raise PatternMismatch(
                f"id {format_value(value)} is not one that this journal gives: expected {id_prefix}-N-"
                f"{context.facts.journal_tag}, where N is the number of an entry {number_text}"
            )

    return check


def require_all_credit(credit_kind: str, amount_name: str = "cents") -> Check:
    """Return the check that an amount equals all of the player's credit of this kind.

    ``credit_kind`` is the kind of credit, or the pattern name to which the kind is bound; ``amount_name`` is
    the pattern name to which the amount is bound.
    """

    def check(context: CheckContext) -> None:
        """Check that the amount equals all of the player's credit of this kind."""
        account = context.format_credit_account(context.bound_values.get(credit_kind, credit_kind))
        available_cents = context.ledger.available_cents(account)
        if context[amount_name] != available_cents:
            raise PatternMismatch(
                f"the entry takes {format_value(context[amount_name])} cents from {account}; expected all of it, "
                f"{available_cents} cents"
            )

    return check


def sum_credit_cents(context: CheckContext) -> int:
    """Return the player's credit of all kinds before the entry, in minor units; reserved credit is not included."""
    return sum(context.ledger.available_cents(context.format_credit_account(kind)) for kind in CreditKind)


def sum_cashable_credit_cents(context: CheckContext) -> int:
    """Return the player's credit that can be cashed out as money, before the checked entry, in minor units."""
    return sum(
        context.ledger.available_cents(context.format_credit_account(kind)) for kind in CASH_OUT_CREDIT_KINDS
    )


def require_paid_coins(key: str, record_class: type[CashOutRecord | HandpayRecord]) -> Check:
    """Return the check that a new cash-out or hand-pay states what an earlier payout already paid of it in coins.

    ``key`` is the storage key of the new record, and ``record_class`` is the class of the record. If nothing was paid
    in coins, the record must state nothing.
    """

    def check(context: CheckContext) -> None:
        """Check that the stored cash-out or hand-pay states the coins already paid, and no coins if none were paid."""
        remainder = (
            None
            if context.stored_value_before("cash_out_goes_on") is True
            else context.stored_record_before(CashOutRemainder, "cash_out_goes_on")
        )
        expected = (
            remainder.coin_payout
            if remainder is not None and remainder.amount_cents == sum_cashable_credit_cents(context)
            else None
        )
        record = context.stored_record_after(record_class, key)
        recorded_payout = None if record is None else record.coin_payout
        if recorded_payout != expected:
            raise PatternMismatch(f"state.{key}.in_coins: expected {expected}, found {recorded_payout}")

    return check


def derive_debit_transfers(
    context: CheckContext,
    amount_cents: int,
    target: str,
    credit_kinds: Iterable[CreditKind] = tuple(CreditKind),
) -> list[tuple[str, str, int]]:
    """Return the transfers that take an amount from the player's credit, as (source, target, minor units).

    The kinds of credit are used in the order of ``credit_kinds``. Raises :class:`PatternMismatch` if the credit is
    less than the amount.
    """
    position = Position(context.position)
    available_cents = sum(
        context.ledger.available_cents(position.name_credit_account(kind)) for kind in credit_kinds
    )
    if type(amount_cents) is not int or not 0 <= amount_cents <= available_cents:
        raise PatternMismatch(
            f"the entry takes {format_value(amount_cents)} cents from the credits, which hold {available_cents} cents"
        )
    transfers: tuple[Transfer, ...] = build_credit_transfers(
        amount_cents, target, context.ledger.available_cents, credit_kinds, position
    )
    return [(transfer.source, transfer.target, transfer.amount_cents) for transfer in transfers]


def format_journal_head(context: CheckContext) -> str:
    """Return the journal head before the entry (last sequence number and start of the hash) as printed on slips."""
    return f"{context.ledger.sequence}:{context.ledger.head_hex[:12]}"


def require_stored_value(key: str, derive_value: Callable[[CheckContext], Any]) -> Check:
    """Return the check that the entry stores under ``key`` exactly the value that ``derive_value`` returns.

    If ``derive_value`` returns :data:`ABSENT_VALUE`, the entry must not store the key.
    """

    def check(context: CheckContext) -> None:
        """Check that the entry stores the expected value under the key, or does not store the key if it must not."""
        derived = derive_value(context)
        expected = to_json(derived) if is_record(derived) else derived
        stored_value = context.entry.state.get(format_storage_key(key, context.position), ABSENT_VALUE)
        if expected is ABSENT_VALUE and stored_value is ABSENT_VALUE:
            return
        if (
            expected is ABSENT_VALUE
            or stored_value is ABSENT_VALUE
            or not is_json_equal(stored_value, expected)
        ):
            stored_text, expected_text = (
                "nothing" if value is ABSENT_VALUE else format_value(value)
                for value in (stored_value, expected)
            )
            raise PatternMismatch(f"state.{key}: expected {expected_text}, found {stored_text}")

    return check


def read_nonzero_meters(context: CheckContext, *, with_period_meters: bool = False) -> dict[str, int]:
    """Return the meters before the entry that are not zero, by name.

    Meters that count since an event (``.since_`` in their name) are only included if ``with_period_meters`` is True.
    """
    value_by_meter = read_meters(context.ledger).values
    return {
        name: value
        for name, value in value_by_meter.items()
        if value and (with_period_meters or ".since_" not in name)
    }


def report_unless(
    finding: str | Callable[[CheckContext], str], condition: Callable[[CheckContext], bool]
) -> Check:
    """Return a check that raises :class:`PatternMismatch` with ``finding`` unless ``condition`` returns True.

    ``finding`` says which field is wrong. If it is a function, it builds this text from the entry's values.
    """

    def check(context: CheckContext) -> None:
        """Raise :class:`PatternMismatch` with the text of the finding unless the condition is met."""
        if not condition(context):
            raise PatternMismatch(finding if isinstance(finding, str) else finding(context))

    return check


def report_unless_equal(
    finding: str, get_found: Callable[[CheckContext], Any], get_expected: Callable[[CheckContext], Any]
) -> Check:
    """Return a check that raises :class:`PatternMismatch` unless two JSON values are equal.

    ``get_found`` and ``get_expected`` return the values for the checked entry. ``finding`` says which field differs;
    both values are added to the text.
    """

    def check(context: CheckContext) -> None:
        """Raise :class:`PatternMismatch` with the expected and the found value unless they are equal."""
        expected_value, found_value = get_expected(context), get_found(context)
        if not is_json_equal(found_value, expected_value):
            raise PatternMismatch(
                f"{finding}: expected {format_value(expected_value)}, found {format_value(found_value)}"
            )

    return check


def derive_session_counts(context: CheckContext, *, wagered_cents: int = 0, won_cents: int = 0) -> Any:
    """Return the session counts to store after a game, or ABSENT_VALUE if the machine has no player sessions.

    The first call after a power-up also stores in the facts whether the machine has player sessions: it has them if
    the checked entry stores a session.
    """
    if context.facts.has_player_session is None:
        context.facts.has_player_session = (
            format_storage_key("session", context.position) in context.entry.state
        )
    if not context.facts.has_player_session:
        return ABSENT_VALUE
    session = context.stored_record_before(SessionRecord, "session")
    if session is None:  # a new session starts with this game
        recorded_session = context.stored_record_after(SessionRecord, "session")
        session = SessionRecord(
            started_at="" if recorded_session is None else recorded_session.started_at,
            wagered_cents=0,
            won_cents=0,
            time_reminder_count=0,
            spend_reminder_count=0,
        )
    return replace(
        session,
        wagered_cents=session.wagered_cents + wagered_cents,
        won_cents=session.won_cents + won_cents,
    )


def check_signed_in_if_menu_open(context: CheckContext) -> None:
    """Check that the first person in the checked entry's record is the one signed in to the service menu.

    Nothing is checked if the menu is closed or the journal records no staff.
    """
    record = context.record
    persons = (record.get("persons") or [record.get("person")]) if type(record) is dict else [None]
    check_first_person(context, persons[0])


def check_first_person(context: CheckContext, person: object) -> None:
    """Check that ``person``, the first one of a staff form, is the one signed in to the service menu.

    Nothing is checked if the menu is closed or the journal records no staff.
    """
    menu = context.stored_value_before("menu")
    if not context.facts.role_by_staff_number or type(menu) is not dict or menu.get("person") is None:
        return
    if person != menu["person"]:
        raise PatternMismatch(
            f"record.persons: the first person is {format_value(person)}, "
            f"expected the signed-in {format_value(menu['person'])}"
        )


def check_position_is_one(context: CheckContext) -> None:
    """Check that the checked entry belongs to player position 1, which represents the whole machine."""
    if context.position != 1:
        raise PatternMismatch(
            f"dims.position: only position 1 may write this entry of the whole machine, found {context.position}"
        )


def check_signed_in_to_menu(context: CheckContext) -> None:
    """Check that the first person in the checked entry's record was signed in to the service menu.

    Nothing is checked if the journal records no staff.
    """
    check_somebody_signed_in(context)
    check_signed_in_if_menu_open(context)


def check_somebody_signed_in(context: CheckContext) -> None:
    """Check that a member of staff was signed in to the service menu, if the journal records staff."""
    menu = context.stored_value_before("menu")
    if context.facts.role_by_staff_number and (type(menu) is not dict or menu.get("person") is None):
        raise PatternMismatch(
            "the entry was made with a staff form, but nobody was signed in to the menu before it"
        )


# ---------------------------------------------------------------------------------------------- the ticket ledger


def check_ticket_ledger_grows(context: CheckContext) -> None:
    """Check that the ticket ledger has not become shorter or been replaced since the journal last recorded its end.

    Nothing is checked if the entry does not record the ledger's end, or if no earlier entry has recorded it.
    """
    anchor_before = context.stored_record_before(LedgerAnchor, "tickets")
    anchor_after = context.stored_record_after(LedgerAnchor, "tickets")
    if anchor_before is None or anchor_after is None:
        return
    if (
        anchor_after.move_number < anchor_before.move_number
        or replace(anchor_after, move_number=anchor_before.move_number, digest=anchor_before.digest)
        != anchor_before
    ):
        raise PatternMismatch(
            f"state.tickets: the ticket ledger lost entries, or its recorded past differs: expected "
            f"{format_value(to_json(anchor_before))} or a longer ledger, found {format_value(to_json(anchor_after))}"
        )
