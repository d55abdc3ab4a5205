"""From a ticket to what a printer is told, and what each printer must have resident for it."""

from typing import Final

from babel.dates import format_datetime
from babel.numbers import format_currency

from egm.devices.interface import TicketJob
from egm.devices.tcl.driver import Template
from egm.tickets.model import Ticket, grouped
from egm.tickets.words import amount_in_words

#: The fields of the cash-out ticket, in the order of the template resident in the printer.
FIELDS: Final = (
    "title",
    "site",
    "machine",
    "number",
    "amount",
    "words",
    "issued",
    "sequence",
    "expires",
    "barcode",
)
TEMPLATE: Final = "cashout"

#: For printers with templates of their own.
TCL_TEMPLATES: Final = {TEMPLATE: Template("0", FIELDS)}
#: For printers that are told each line.
ITHACA_LAYOUTS: Final = {TEMPLATE: tuple(f"{{{name}}}" for name in FIELDS if name != "barcode")}

_WORDS: Final = {
    "en": {
        "title": "CASH-OUT TICKET",
        "machine": "Machine {serial} / {number}",
        "sequence": "Ticket {number}",
        "expires": "Void after {date}",
        "never": "No expiry",
    },
    "fr": {
        "title": "COUPON DE REMBOURSEMENT",
        "machine": "Appareil {serial} / {number}",
        "sequence": "Coupon {number}",
        "expires": "Nul après le {date}",
        "never": "Sans échéance",
    },
}


def job_of(job_id: str, ticket: Ticket, language: str) -> TicketJob:
    """The print job of a ticket, worded in ``language`` (the cabinet's languages are ``en`` and ``fr``)."""
    words, locale = _WORDS[language], f"{language}_CA"
    zone = ticket.house.zone
    issued = format_datetime(ticket.issued_at.astimezone(zone), "yyyy-MM-dd HH:mm:ss", locale=locale)
    expires = words["never"]
    if ticket.expires_at is not None:
        date = format_datetime(ticket.expires_at.astimezone(zone), "yyyy-MM-dd HH:mm", locale=locale)
        expires = words["expires"].format(date=date)
    return TicketJob(
        job_id=job_id,
        template=TEMPLATE,
        barcode=ticket.number,
        fields={
            "title": words["title"],
            "site": ticket.house.site,
            "machine": words["machine"].format(serial=ticket.machine_serial, number=ticket.operator_number),
            "number": grouped(ticket.number),
            "amount": _money(ticket.amount_cents, ticket.currency, locale),
            "words": amount_in_words(ticket.amount_cents, ticket.currency, language),
            "issued": issued,
            "sequence": words["sequence"].format(number=ticket.sequence),
            "expires": expires,
        },
    )


def _money(amount_cents: int, currency: str, locale: str) -> str:
    whole, cents = divmod(amount_cents, 100)
    return format_currency(f"{whole}.{cents:02d}", currency, locale=locale)
