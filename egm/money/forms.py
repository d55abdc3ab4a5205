"""Staff forms about money: hand-pays, and rulings about money that is owed or found."""

from typing import Final

from egm.kernel.events import EventType
from egm.money.rulings import credits_are_unclaimed, handpay_waits
from egm.people import Permission
from egm.staff.form import (
    AMOUNT_FIELD,
    LOCATION_FIELD,
    PLAY_ID_FIELD,
    REASON_FIELD,
    FieldKind,
    Form,
    FormField,
)

#: The ruling form for a disputed amount. Its page opens it with the bounds of the amount.
DISPUTED_AMOUNT_FORM: Final = Form(
    id="disputed",
    event=EventType.RULE_ON_DISPUTED_AMOUNT,
    permission=Permission.RULE_ON_MONEY,
    fields=(FormField(name="amount_cents", kind=FieldKind.AMOUNT), REASON_FIELD),
)

#: The ruling form for a ticket that may have come out of the printer.
DISPUTED_TICKET_FORM: Final = Form(
    id="disputed_ticket",
    event=EventType.RULE_ON_DISPUTED_AMOUNT,
    permission=Permission.RULE_ON_MONEY,
    fields=(FormField(name="ticket", kind=FieldKind.CHOICE, choices=("good", "void")), REASON_FIELD),
)

MONEY_FORMS: Final[tuple[Form, ...]] = (
    Form(
        id="handpay",
        event=EventType.RECORD_HANDPAY_FORM,
        permission=Permission.PAY_BY_HAND,
        menu_section="money",
        fields=(
            FormField(name="method", kind=FieldKind.CHOICE, choices=("cash", "cheque", "transfer")),
            FormField(name="name", is_required=False),
            FormField(
                name="document",
                kind=FieldKind.CHOICE,
                is_required=False,
                choices=("passport", "identity_card", "licence", "permit"),
            ),
            FormField(name="number", is_required=False),
        ),
        submission_guards=(handpay_waits,),
    ),
    Form(
        id="complement",
        event=EventType.PAY_COMPLEMENT,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        fields=(
            AMOUNT_FIELD,
            REASON_FIELD,
            PLAY_ID_FIELD,
            FormField(name="slip", kind=FieldKind.NUMBER, is_required=False),
        ),
    ),
    Form(
        id="orphan_credits",
        event=EventType.REGISTER_UNCLAIMED_CREDITS,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        fields=(LOCATION_FIELD,),
        submission_guards=(credits_are_unclaimed,),
    ),
    Form(
        id="orphan_handpay",
        event=EventType.REGISTER_UNCLAIMED_HANDPAY,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        fields=(LOCATION_FIELD,),
        submission_guards=(handpay_waits,),
    ),
    Form(
        id="orphan_ticket",
        event=EventType.REGISTER_FOUND_TICKET,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        fields=(FormField(name="number", kind=FieldKind.DIGITS), LOCATION_FIELD),
    ),
    Form(
        id="forfeit_prize",
        event=EventType.FORFEIT_PRIZE,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        person_count=2,
        fields=(REASON_FIELD,),
    ),
    Form(
        id="forfeit_credits",
        event=EventType.FORFEIT_CREDITS,
        permission=Permission.RULE_ON_MONEY,
        menu_section="players",
        person_count=2,
        fields=(AMOUNT_FIELD, REASON_FIELD),
    ),
    DISPUTED_AMOUNT_FORM,
    DISPUTED_TICKET_FORM,
)
