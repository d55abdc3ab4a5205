"""An audit rule: what one kind of journal entry must contain, field by field, and what money it may move.

The fields are stated as patterns, which may bind values to names: see :mod:`tools.audit.rules.pattern`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from egm.kernel.entries import AnyEntryDeclaration, EntryError
from egm.kernel.events import State
from egm.people import Permission
from egm.record_codec import FieldCondition, get_stored_key, list_conditions
from egm.record_fields import (
    ACTOR_ID_CONDITION,
    MACHINE_SERIAL_NUMBER_CONDITION,
    STAFF_NUMBER_CONDITION,
    STAFF_NUMBERS_CONDITION,
)
from meters.entry import StoredEntry
from meters.ledger import Ledger
from meters.transaction import Transaction, Transfer
from tools.audit.rules.facts import Facts
from tools.audit.rules.pattern import (
    OWN_ENTRY_ID,
    CheckContext,
    DerivedValue,
    Matcher,
    Pattern,
    PatternMismatch,
    compile_partial_object,
    compile_pattern,
    format_storage_key,
    format_value,
)
from tools.audit.rules.states import (
    can_be_in_states,
    derive_machine_state,
    is_from_earlier_version,
    was_idle_within,
)

#: Checks what patterns cannot express. Raises :class:`PatternMismatch`.
Check: TypeAlias = Callable[[CheckContext], None]

#: Conditions of record fields that can be checked only against facts from earlier entries.
_CHECK_BY_CONDITION: Final[Mapping[FieldCondition, Callable[[Facts, Any], bool]]] = {
    STAFF_NUMBER_CONDITION: Facts.is_staff,
    ACTOR_ID_CONDITION: Facts.is_known_actor,
    STAFF_NUMBERS_CONDITION: lambda facts, persons: all(map(facts.is_staff, persons)),
    MACHINE_SERIAL_NUMBER_CONDITION: Facts.adopt_or_match_serial_number,
}


class DeclarationMismatch(PatternMismatch):
    """The checked entry does not have the form that its feature declared for this kind of entry.

    Another rule for the same kind of entry may fit.
    """


@dataclass(frozen=True, slots=True)
class ExpectedTransfer:
    """The patterns of a transfer that a rule requires.

    ``source`` and ``target`` are accounts, ``cents`` is the amount in minor units, and ``dims`` are the
    dimensions of this transfer alone: names and values, such as the ticket kind, by which meters divide the
    amount.
    """

    source: str
    target: str
    cents: Pattern = "$:cents"
    dims: Pattern = field(default_factory=dict)
    may_repeat: bool = False
    """Whether any number of such transfers, also none, is allowed.

    A pattern name that such a transfer binds is unbound again after the transfer.
    """
    is_optional: bool = False
    """Whether the transfer may be absent. A pattern name that it binds is unbound again after it."""


@dataclass(frozen=True, kw_only=True)
class AuditRule:
    """A rule for one kind of journal entry: how its fields must relate to the journal before it.

    ``record``, ``stored_after`` and ``counts`` list only the members that depend on other values; the other members
    are checked against the declaration of this kind of entry.
    """

    entry_declaration: AnyEntryDeclaration
    """The declaration of this kind of entry by its feature; the entry must have the declared form."""
    id: Pattern = OWN_ENTRY_ID
    """The pattern of the entry's id."""
    ref: Pattern = None
    """The pattern of the id of the reservation that the entry ends; None if it ends none."""
    stored_before: Mapping[str, Pattern] = field(default_factory=dict)
    """The patterns of what the memory must hold before the entry, by storage key; the pattern None means no value."""
    record: Pattern = field(default_factory=dict)
    """The pattern of the entry's record."""
    stored_after: Mapping[str, Pattern] = field(default_factory=dict)
    """The patterns of what the entry must store in the machine's memory, by storage key."""
    counts: Pattern = field(default_factory=dict)
    """The pattern of the occurrences (such as a game won) that the entry counts."""
    expected_transfers: Sequence[ExpectedTransfer] | DerivedValue = ()
    """The required transfers in order, or a pattern that derives them as (source, target, cents).

    If the entry ends a reservation, the first transfer of that reservation is bound to the names
    ``reserved_source``, ``reserved_target`` and ``reserved_cents``.
    """
    dims: Mapping[str, Pattern] = field(default_factory=dict)
    """The patterns of the dimensions for all transfers of the entry, such as game and denomination, by name."""
    allowed_machine_states: frozenset[State] | None = None
    """The machine states in which the entry is allowed; None: not checked.

    The state is derived from the machine's memory before the entry. The rule of an entry that moves or reserves money,
    or creates a storage key, must have allowed machine states, if need be ``ALL_STATES``.
    """
    allowed_after_kinds: frozenset[str] = frozenset()
    """Kinds of entries after which any machine state is allowed.

    The kind of the last entry that moved, reserved or released money of the position decides.
    """
    late_order_seconds: int = 0
    """For how many seconds after the machine was last idle a late order may still be recorded.

    An order to a device, such as to stack a bill, is decided while the machine is idle. Its entry may follow a change
    of state by some seconds.
    """
    late_order_machine_states: frozenset[State] = frozenset()
    """The machine states in which an order decided while the machine was idle may still be recorded.

    It must be recorded within ``late_order_seconds``.
    """
    extra_checks: tuple[Check, ...] = ()
    """Functions that check what patterns cannot express; they raise :class:`PatternMismatch`."""
    permission: Permission | None = None
    """The permission that every person in the record's ``persons`` (or its ``person``) needs."""
    persons_min: int = 0
    """The smallest number of persons that the entry's record must name. Only checked with a ``permission``."""

    @property
    def kind(self) -> str:
        """Return the kind of the entries that the rule checks."""
        return self.entry_declaration.kind

    def check(self, entry: StoredEntry, ledger: Ledger, facts: Facts) -> None:
        """Check an entry against the rule. Raises :class:`PatternMismatch`.

        ``ledger`` and ``facts`` have the balances, stored values and facts before the entry.
        """
        transaction = entry.transaction
        self._check_declared_form_and_identities(transaction, facts)
        context = CheckContext(entry, ledger, facts)
        self._check_machine_state(context)
        if self.entry_declaration.closed_reservations:
            self._check_reservation(context)
        deferred_matchers = self._match_memory(context)
        for name, matcher, value in (
            ("record", self._record_matcher, transaction.record),
            ("state", self._stored_after_matcher, self._strip_position(transaction.state, context.position)),
            ("id", self._id_matcher, transaction.id),
            ("ref", self._ref_matcher, transaction.ref),
            ("counts", self._counts_matcher, transaction.counts),
        ):
            _match_at_name(name, matcher, value, context)
        for key, matcher in deferred_matchers:
            _match_at_name(
                f"memory.{key}",
                matcher,
                context.stored_value_before(key.format(**context.bound_values)),
                context,
            )
        self._check_transfers(transaction.transfers, context)
        dims = dict(transaction.dims)
        dims.pop("position", None)  # EntryRulesAudit checks that the position exists
        _match_at_name("dims", self._dims_matcher, dims, context)
        self._check_persons(context)
        for check in self.extra_checks:
            check(context)

    # ------------------------------------------------------------------ parts of the check
    def _check_declared_form_and_identities(self, transaction: Transaction, facts: Facts) -> None:
        """Check that the entry has its declared form, and that the persons and the machine in its record are known."""
        try:
            self.entry_declaration.check_transaction(transaction, facts.keys)
        except EntryError as error:
            raise DeclarationMismatch(str(error).removeprefix(f"{self.kind}: ")) from None
        record: Any = transaction.record or {}
        for name, condition in self._identity_fields:
            if record.get(name) is not None and not _CHECK_BY_CONDITION[condition](facts, record[name]):
                raise PatternMismatch(
                    f"record.{name}: {format_value(record[name])} is {condition.error_text}"
                )

    def _check_machine_state(self, context: CheckContext) -> None:
        """Check that the rule allows the checked entry in the machine's state before it.

        Raises :class:`PatternMismatch` if it does not. If the machine was idle, the time is stored for later
        checks.
        """
        if self.allowed_machine_states is None:
            return
        state = derive_machine_state(context.ledger, context.position, context.facts)
        if state is State.IDLE:
            context.facts.last_idle_times[context.position] = context.entry.time_utc
        if (
            can_be_in_states(state, self.allowed_machine_states)
            or context.facts.last_money_entry_kinds.get(context.position) in self.allowed_after_kinds
        ):
            return
        # Earlier versions wrote a late order in any state.
        may_be_late = is_from_earlier_version(context.ledger) or state in self.late_order_machine_states
        late_seconds = self.late_order_seconds if may_be_late else 0
        if not (late_seconds and was_idle_within(context.entry, context.facts, late_seconds)):
            raise PatternMismatch(
                f"the entry is not allowed while the machine is {state}, according to its memory"
            )

    def _check_reservation(self, context: CheckContext) -> None:
        """Check that the checked entry ends an open reservation of a permitted kind.

        The reservation's first transfer is bound to the names ``reserved_source``, ``reserved_target`` and
        ``reserved_cents``.
        """
        reservation = context.ledger.pending_reservations.get(context.entry.transaction.ref or "")
        if reservation is None:
            raise PatternMismatch(
                f"ref: no reservation {format_value(context.entry.transaction.ref)} is open"
            )
        kind = context.facts.original_reservation_kinds.get(reservation.id, reservation.kind)
        permitted_kinds = self.entry_declaration.closed_reservation_kinds
        if kind not in permitted_kinds:
            raise PatternMismatch(
                f"ref: the entry ends a reservation of {kind}; expected {' or '.join(permitted_kinds)}"
            )
        context.reservation = reservation
        first_transfer = reservation.transfers[0]
        context.bound_values.update(
            reserved_source=first_transfer.source,
            reserved_target=first_transfer.target,
            reserved_cents=first_transfer.amount_cents,
        )

    def _match_memory(self, context: CheckContext) -> list[tuple[str, Matcher]]:
        """Match the machine's memory before the checked entry against the rule's ``stored_before``.

        Return (storage key, matcher) for each key that cannot be matched yet, because it contains a pattern name that
        only a later field of the entry binds.
        """
        deferred_matchers = []
        for key, matcher in self._stored_before_patterns:
            if "{" in key:
                deferred_matchers.append((key, matcher))
            else:
                _match_at_name(f"memory.{key}", matcher, context.stored_value_before(key), context)
        return deferred_matchers

    def _strip_position(self, stored_values: Mapping[str, Any], position: int) -> Mapping[str, Any]:
        """Return the values that an entry stores, by storage key without the prefix of its player position.

        Raises :class:`PatternMismatch` for a key of another position.
        """
        if position == 1:
            for key in stored_values:
                number, separator, _ = key.partition("/")
                if separator and number.isdigit():
                    raise PatternMismatch(f"state.{key}: the key does not belong to position 1")
            return stored_values
        position_prefix = f"{position}/"
        stripped_values = {}
        for key, value in stored_values.items():
            name = key.removeprefix(position_prefix)
            if format_storage_key(name, position) != key:
                raise PatternMismatch(f"state.{key}: the key does not belong to position {position}")
            stripped_values[name] = value
        return stripped_values

    def _check_transfers(self, transfers: tuple[Transfer, ...], context: CheckContext) -> None:
        """Check that the entry makes exactly the rule's transfers, in order. Raises :class:`PatternMismatch`."""
        if isinstance(self.expected_transfers, DerivedValue):
            expected_triples = [tuple(triple) for triple in self.expected_transfers.derive_value(context)]
            recorded_triples = [(t.source, t.target, t.amount_cents) for t in transfers]
            if expected_triples != recorded_triples or any(t.dims for t in transfers):
                raise PatternMismatch(
                    f"transfers: expected {format_value(expected_triples)}, found {format_value(recorded_triples)}"
                )
            return
        unmatched_transfers = list(transfers)
        for expected_transfer, matchers in self._transfer_patterns:
            while unmatched_transfers and _is_matching_transfer(
                unmatched_transfers[0],
                matchers,
                context,
                keeps_bound_names=not (expected_transfer.may_repeat or expected_transfer.is_optional),
            ):
                unmatched_transfers.pop(0)
                if not expected_transfer.may_repeat:
                    break
            else:
                if not (expected_transfer.may_repeat or expected_transfer.is_optional):
                    missing_accounts = f"{expected_transfer.source} to {expected_transfer.target}"
                    unmatched_triples = [(t.source, t.target, t.amount_cents) for t in unmatched_transfers]
                    raise PatternMismatch(
                        f"transfers: expected one from {missing_accounts}, found {format_value(unmatched_triples)}"
                    )
        if unmatched_transfers:
            raise PatternMismatch(
                f"transfers: none is expected from {unmatched_transfers[0].source} to {unmatched_transfers[0].target}, "
                f"found {unmatched_transfers[0].amount_cents} cents"
            )

    def _check_persons(self, context: CheckContext) -> None:
        """Check that enough persons are named, and that the role of each has the rule's permission.

        If the record has both ``person`` and ``persons``, ``person`` must be the first of ``persons``. This is not
        checked in records with a ``form`` or ``slip``: there, ``persons`` begins with the people who filled in the
        form. If the rule has no permission, nothing is checked.
        """
        if self.permission is None:
            return
        record: Any = context.entry.record
        persons = record["persons"] if "persons" in record else [record["person"]]
        if (
            record.get("person", persons[0]) not in persons[:1]
            and "form" not in record
            and "slip" not in record
        ):
            raise PatternMismatch(
                f"record.person: expected the first of record.persons, {format_value(persons)}; "
                f"found {format_value(record['person'])}"
            )
        if len(persons) < self.persons_min:
            raise PatternMismatch(
                f"record.persons: expected at least {self.persons_min} people, found {format_value(persons)}"
            )
        for person in persons:
            if not context.facts.has_permission(person, self.permission):
                raise PatternMismatch(
                    f"record.persons: {format_value(person)} lacks the permission {self.permission}"
                )

    # ------------------------------------------------------------------ compiled once
    @cached_property
    def _identity_fields(self) -> tuple[tuple[str, FieldCondition], ...]:
        """Return (field name, condition) for each field of the record that names persons or the machine."""
        record = self.entry_declaration.record
        return tuple(
            (get_stored_key(field), condition)
            for field in (fields(record) if is_dataclass(record) else ())
            for condition in list_conditions(field.type)
            if condition in _CHECK_BY_CONDITION
        )

    @cached_property
    def _record_matcher(self) -> Matcher:
        """Return the compiled pattern that the members of the entry's record must match."""
        return _compile_members(self.record)

    @cached_property
    def _id_matcher(self) -> Matcher:
        """Return the compiled pattern that the entry's id must match."""
        return compile_pattern(self.id)

    @cached_property
    def _ref_matcher(self) -> Matcher:
        """Return the compiled pattern of the id of the reservation that the entry ends."""
        return compile_pattern(self.ref)

    @cached_property
    def _stored_after_matcher(self) -> Matcher:
        """Return the compiled pattern of what the entry must store in the machine's memory."""
        return _compile_members(self.stored_after)

    @cached_property
    def _counts_matcher(self) -> Matcher:
        """Return the compiled pattern of the occurrences that the entry must count."""
        return _compile_members(self.counts)

    @cached_property
    def _dims_matcher(self) -> Matcher:
        """Return the compiled pattern that the dimensions of all transfers, without the position, must match."""
        return compile_pattern(self.dims)

    @cached_property
    def _stored_before_patterns(self) -> list[tuple[str, Matcher]]:
        """Return the compiled patterns of what the memory must hold before the entry, each with its storage key."""
        return [(key, compile_pattern(part)) for key, part in self.stored_before.items()]

    @cached_property
    def _transfer_patterns(self) -> list[tuple[ExpectedTransfer, tuple[Matcher, ...]]]:
        """Return each required transfer with the compiled patterns of its parts."""
        expected_transfers = (
            () if isinstance(self.expected_transfers, DerivedValue) else self.expected_transfers
        )
        return [
            (
                expected_transfer,
                tuple(
                    map(
                        compile_pattern,
                        (
                            expected_transfer.source,
                            expected_transfer.target,
                            expected_transfer.cents,
                            expected_transfer.dims,
                        ),
                    )
                ),
            )
            for expected_transfer in expected_transfers
        ]


def _compile_members(pattern: Pattern) -> Matcher:
    """Return a function that matches a value against the pattern.

    If the value is an object, only the members that the pattern lists are checked.
    """
    if not isinstance(pattern, Mapping):
        return compile_pattern(pattern)
    return compile_partial_object(pattern) if pattern else _accept_anything


def _accept_anything(_value: Any, _context: CheckContext) -> None:
    """Match every value."""


def _match_at_name(name: str, matcher: Matcher, value: Any, context: CheckContext) -> None:
    """Match one part of the checked entry; if it does not match, put the part's name in front of the error's path."""
    try:
        matcher(value, context)
    except PatternMismatch as mismatch:
        mismatch.path.insert(0, name)
        raise


def _is_matching_transfer(
    transfer: Transfer, matchers: tuple[Matcher, ...], context: CheckContext, *, keeps_bound_names: bool
) -> bool:
    """Return whether a transfer matches the compiled patterns of an expected transfer.

    With ``keeps_bound_names``, names bound by the match stay bound.
    """
    values_before = context.bound_values
    context.bound_values = dict(values_before)
    values = (transfer.source, transfer.target, transfer.amount_cents, dict(transfer.dims))
    try:
        for matcher, value in zip(matchers, values, strict=True):
            matcher(value, context)
    except PatternMismatch:
        context.bound_values = values_before
        return False
    if not keeps_bound_names:
        context.bound_values = values_before
    return True
