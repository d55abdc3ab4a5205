"""What the staff may fill in at the machine: a table of forms, shown by the service menu.

A form becomes one :class:`~egm.kernel.events.Event`, and the state table decides. Its
values are those of its fields (amounts as ``int`` minor units, under names that end in ``_cents``), its own
constant ``values``, and who filled it in: ``person`` (a staff number) and ``persons`` (all who authorised it,
``person`` first), every one verified by PIN a moment ago. The guard :func:`authorised` holds exactly for such
an event; nothing that comes over a line or from a player's screen can carry it.

Words are in the screen's catalogues: ``form.<id>.title``, ``form.<id>.<field>`` and, for a choice,
``form.<id>.<field>_<choice>``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from egm.errors import OperatorError
from egm.integrity.clock_trust import clock_is_doubted
from egm.kernel.events import Event, EventType
from egm.kernel.machine import Cabinet
from egm.people import Permission, Roster
from egm.play.prizes_in_kind import prize_may_be_cash
from egm.progressive.unproved import DECLINE, PAY, prize_is_held
from egm.staff.interventions import (
    base_is_in_place,
    base_is_withdrawn,
    every_door_is_closed,
    intervention_is_open,
    no_intervention_is_open,
    somebody_is_at_work,
)
from egm.staff.numbers import number_is_locked
from egm.staff.options import machine_is_open, nothing_is_owed
from egm.staff.registers import INFORMED_BY
from egm.staff.rulings import (
    credits_are_unclaimed,
    game_cannot_end,
    handpay_waits,
)
from egm.staff.stock import BOXES, box_is_to_be_counted
from egm.staff.technician import hard_meters_are_fitted, software_is_signed, technician_is_needed


class FieldKind(StrEnum):
    """How a field is typed in."""

    TEXT = "text"
    DIGITS = "digits"
    """Digits with their leading zeros, kept as text: a number on a document, a ticket."""
    NUMBER = "number"
    """A count."""
    AMOUNT = "amount"
    """Minor units."""
    CHOICE = "choice"


class FieldError(OperatorError):
    """What was typed is no value of the field; ``reason`` is a code of ``service.refused``."""

    def __init__(self, name: str, reason: str, detail: str) -> None:
        super().__init__(f"{name}: {detail}")
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One thing a form asks; ``least`` and ``most`` bound a number or an amount, ``length_max`` a text."""

    name: str
    kind: FieldKind = FieldKind.TEXT
    required: bool = True
    choices: tuple[str, ...] = ()
    length_max: int = 80
    least: int = 0
    most: int = 10**12
    plain: bool = False
    """The choices are shown as they stand: numbers, names of devices."""

    def read(self, text: str) -> str | int | None:
        """The value typed; None for an optional field left empty. Raises :class:`FieldError`."""
        text = text.strip()
        if not text:
            if self.required:
                raise FieldError(self.name, "missing", "a value is needed")
            return None
        if len(text) > self.length_max or not text.isprintable():
            raise FieldError(self.name, "too_long", f"at most {self.length_max} printable characters")
        if self.kind is FieldKind.TEXT:
            return text
        if self.kind is FieldKind.CHOICE:
            if text not in self.choices:
                raise FieldError(self.name, "not_offered", f"{text!r} is none of {', '.join(self.choices)}")
            return text
        if not (text.isascii() and text.isdigit()):
            raise FieldError(self.name, "not_digits", f"{text!r} is not a number")
        if self.kind is FieldKind.DIGITS:
            return text
        value = int(text)
        if not self.least <= value <= self.most:
            raise FieldError(self.name, "out_of_range", f"{value} is not {self.least} to {self.most}")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form. ``persons``: how many must authorise it, or more where the profile asks for two.

    ``needs`` are guards the rule of the event asks for: the form shows which of them hold, to save typing
    in vain. ``listed``: it stands in the main menu; one that is not is begun from a page of its own. Words of
    a need: ``service.needs.<guard>``.
    """

    id: str
    event: EventType
    permission: Permission
    fields: tuple[Field, ...] = ()
    persons: int = 1
    needs: tuple[Callable[[Cabinet, Event], bool], ...] = ()
    listed: bool = True
    values: Mapping[str, Any] = field(default_factory=dict)

    def persons_needed(self, cabinet: Cabinet) -> int:
        """How many must authorise it here."""
        return max(self.persons, 2 if self.permission in cabinet.profile.staff.two_persons else 1)


_AMOUNT: Final = Field(name="amount_cents", kind=FieldKind.AMOUNT, least=1)
_REASON: Final = Field(name="reason")
_PLACE: Final = Field(name="place")
_PLAY_ID: Final = Field(name="play_id", required=False)

_BASE: Final = (Field(name="base"), Field(name="lock"), Field(name="cashier"))

_ON: Final = Field(name="on", kind=FieldKind.CHOICE, choices=("yes", "no"))

#: The table. Whoever brings an event that staff may cause adds its row.
FORMS: Final[tuple[Form, ...]] = (
    Form(
        id="hold",
        event=EventType.DISABLED,
        permission=Permission.HOLD,
        fields=(Field(name="reason"),),
        values={"source": "operator"},
    ),
    Form(
        id="release",
        event=EventType.ENABLED,
        permission=Permission.HOLD,
        values={"source": "operator"},
    ),
    Form(id="restart", event=EventType.RESTART, permission=Permission.RESTART),
    Form(
        id="settle_faults",
        event=EventType.FAULTS_SETTLED,
        permission=Permission.RESTART,
        fields=(Field(name="finding", length_max=200),),
        needs=(technician_is_needed,),
    ),
    Form(
        id="clock",
        event=EventType.CLOCK_CONFIRMED,
        permission=Permission.RESTART,
        fields=(Field(name="date", kind=FieldKind.DIGITS, length_max=8),),
        needs=(clock_is_doubted,),
    ),
    Form(
        id="verify",
        event=EventType.VERIFY,
        permission=Permission.READ_SOFTWARE,
        needs=(software_is_signed,),
    ),
    Form(
        id="counters",
        event=EventType.COUNTERS_EXCHANGED,
        permission=Permission.CONFIGURE,
        fields=(_REASON, Field(name="readings", length_max=200)),
        needs=(machine_is_open, hard_meters_are_fitted),
    ),
    Form(
        id="unlock",
        event=EventType.NUMBER_UNLOCKED,
        permission=Permission.ENROL,
        fields=(Field(name="number", kind=FieldKind.DIGITS, length_max=8), _REASON),
        needs=(number_is_locked,),
    ),
    *(
        Form(
            id=f"options_{option}",
            event=EventType.OPTIONS,
            permission=Permission.CONFIGURE,
            fields=fields,
            needs=(machine_is_open, nothing_is_owed),
            listed=False,
            values={"option": option},
        )
        for option, fields in (
            ("game", (_ON,)),
            ("denomination", (Field(name="denomination_cents", kind=FieldKind.CHOICE, plain=True), _ON)),
            ("bet_limit", (Field(name="bet_limit_cents", kind=FieldKind.AMOUNT, least=1),)),
            ("bet_minimum", (Field(name="bet_minimum_cents", kind=FieldKind.AMOUNT),)),
        )
    ),
    Form(
        id="level_move",
        event=EventType.MOVE_LEVEL,
        permission=Permission.CONFIGURE,
        fields=(Field(name="source"), Field(name="target")),
        needs=(machine_is_open, nothing_is_owed),
    ),
    Form(
        id="intervention",
        event=EventType.INTERVENTION_OPENED,
        permission=Permission.OPEN_DOORS,
        fields=(Field(name="reason"),),
        needs=(no_intervention_is_open,),
        values={"kind": "repair"},
    ),
    Form(
        id="collection",
        event=EventType.INTERVENTION_OPENED,
        permission=Permission.COLLECT,
        fields=(Field(name="reason"),),
        needs=(no_intervention_is_open,),
        values={"kind": "collection"},
    ),
    Form(
        id="intervention_end",
        event=EventType.INTERVENTION_CLOSED,
        permission=Permission.OPEN_DOORS,
        fields=(Field(name="work", length_max=200), Field(name="parts", required=False, length_max=200)),
        needs=(intervention_is_open, every_door_is_closed),
        values={"kind": "repair"},
    ),
    Form(
        id="collection_end",
        event=EventType.INTERVENTION_CLOSED,
        permission=Permission.COLLECT,
        fields=(Field(name="work", length_max=200),),
        needs=(intervention_is_open, every_door_is_closed),
        values={"kind": "collection"},
    ),
    Form(
        id="hopper_fill",
        event=EventType.HOPPER_FILLED,
        permission=Permission.COLLECT,
        fields=(_AMOUNT,),
    ),
    Form(
        id="box_count",
        event=EventType.BOX_COUNTED,
        permission=Permission.COLLECT,
        fields=(
            Field(name="box", kind=FieldKind.CHOICE, choices=tuple(BOXES)),
            Field(name="counted_cents", kind=FieldKind.AMOUNT),
        ),
        needs=(box_is_to_be_counted,),
    ),
    Form(
        id="base_out",
        event=EventType.BASE_WITHDRAWN,
        permission=Permission.COLLECT,
        fields=(*_BASE, _REASON),
        needs=(somebody_is_at_work, base_is_in_place),
    ),
    Form(
        id="base_in",
        event=EventType.BASE_RETURNED,
        permission=Permission.COLLECT,
        fields=_BASE,
        needs=(somebody_is_at_work, base_is_withdrawn),
    ),
    # ------------------------------------------------------------------ paying by hand (Monaco 21.1-21.2, 24)
    Form(
        id="handpay",
        event=EventType.HANDPAY_FORM,
        permission=Permission.PAY_BY_HAND,
        fields=(
            Field(name="method", kind=FieldKind.CHOICE, choices=("cash", "cheque", "transfer")),
            Field(name="name", required=False),
            Field(
                name="document",
                kind=FieldKind.CHOICE,
                required=False,
                choices=("passport", "identity_card", "licence", "permit"),
            ),
            Field(name="number", required=False),
        ),
        needs=(handpay_waits,),
    ),
    Form(
        id="prize_cash",
        event=EventType.EXCHANGE_PRIZE,
        permission=Permission.PAY_BY_HAND,
        needs=(prize_may_be_cash,),
    ),
    Form(
        id="machine_check",
        event=EventType.MACHINE_CHECKED,
        permission=Permission.SETTLE,
        fields=(Field(name="remark", required=False),),
    ),
    Form(
        id="dispute",
        event=EventType.DISPUTE_DECIDED,
        permission=Permission.SETTLE,
        fields=(Field(name="claim"), Field(name="mechanic"), Field(name="decision"), _PLAY_ID),
    ),
    Form(
        id="disputed",
        event=EventType.DISPUTED_AMOUNT,
        permission=Permission.SETTLE,
        fields=(Field(name="amount_cents", kind=FieldKind.AMOUNT), _REASON),
        listed=False,
    ),
    Form(
        id="incident",
        event=EventType.INCIDENT_JUDGED,
        permission=Permission.JUDGE,
        fields=(
            Field(name="what"),
            Field(name="judgement"),
            Field(name="informed", kind=FieldKind.CHOICE, choices=INFORMED_BY),
            Field(name="officer"),
        ),
    ),
    Form(
        id="complement",
        event=EventType.COMPLEMENT,
        permission=Permission.SETTLE,
        fields=(_AMOUNT, _REASON, _PLAY_ID, Field(name="slip", kind=FieldKind.NUMBER, required=False)),
    ),
    # ------------------------------------------------------------------ orphans (Monaco 21.3)
    Form(
        id="orphan_credits",
        event=EventType.ORPHAN_CREDITS,
        permission=Permission.SETTLE,
        fields=(_PLACE,),
        needs=(credits_are_unclaimed,),
    ),
    Form(
        id="orphan_handpay",
        event=EventType.ORPHAN_HANDPAY,
        permission=Permission.SETTLE,
        fields=(_PLACE,),
        needs=(handpay_waits,),
    ),
    Form(
        id="orphan_ticket",
        event=EventType.ORPHAN_TICKET,
        permission=Permission.SETTLE,
        fields=(Field(name="number", kind=FieldKind.DIGITS), _PLACE),
    ),
    Form(
        id="exclusion",
        event=EventType.EXCLUSION_NOTED,
        permission=Permission.SETTLE,
        fields=(Field(name="who"), _REASON),
    ),
    # ------------------------------------------------------------------ Québec ss. 94-95
    Form(
        id="forfeit_game",
        event=EventType.FORFEIT_GAME,
        permission=Permission.SETTLE,
        persons=2,
        fields=(_REASON,),
    ),
    Form(
        id="forfeit_prize",
        event=EventType.FORFEIT_PRIZE,
        permission=Permission.SETTLE,
        persons=2,
        fields=(_REASON,),
    ),
    Form(
        id="forfeit_credits",
        event=EventType.FORFEIT_CREDITS,
        permission=Permission.SETTLE,
        persons=2,
        fields=(_AMOUNT, _REASON),
    ),
    Form(
        id="prize_ruling",
        event=EventType.PRIZE_RULED,
        permission=Permission.SETTLE,
        persons=2,
        fields=(Field(name="decision", kind=FieldKind.CHOICE, choices=(PAY, DECLINE)), _REASON),
        needs=(prize_is_held,),
    ),
    Form(
        id="refund_game",
        event=EventType.REFUND_GAME,
        permission=Permission.SETTLE,
        persons=2,
        fields=(_REASON,),
        needs=(game_cannot_end,),
    ),
)


def form(form_id: str) -> Form | None:
    """The form of this id, or None."""
    return next((row for row in FORMS if row.id == form_id), None)


def authorised(cabinet: Cabinet, event: Event) -> bool:
    """The event came from its form, filled in by as many different persons as it needs, each permitted."""
    row = form(str(event.data.get("form", "")))
    return (
        row is not None
        and row.event is event.type
        and authorise(cabinet, event, row.permission, row.persons_needed(cabinet))
    )


def authorise(cabinet: Cabinet, event: Event, permission: Permission, persons: int) -> bool:
    """Whether so many different persons, each permitted and enrolled still, stand behind an event."""
    named = event.data.get("persons", ())
    if len(set(named)) < persons:
        return False
    people = [cabinet.state(Roster).get(person_id) for person_id in named]
    return all(person is not None and person.may(permission) for person in people)
