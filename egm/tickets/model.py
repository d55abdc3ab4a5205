"""The ticket: its data, its states, and how it is displayed and stored."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Any, Final, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from egm.tickets.errors import InvalidTicket

#: Digits of a ticket number as printed: two for the system, sixteen for the ticket.
TICKET_NUMBER_DIGIT_COUNT: Final = 18
#: What precedes the staff number in the actor of a cashier's moves.
CAGE_ACTOR_PREFIX: Final = "cage:"
#: Issuer of a ticket that this ledger learned of from a host: the host owes it.
HOST_ISSUER: Final = "host"
#: Digits of an unredeemed ticket's number that may be shown (E-06).
_UNMASKED_DIGIT_COUNT: Final = 4


class TicketKind(StrEnum):
    """The kinds of tickets: one for each kind of credit (the first three), and the receipts that are paid by hand."""

    CASHABLE = "cashable"
    RESTRICTED = "restricted"
    NONRESTRICTED = "nonrestricted"
    HANDPAY_RECEIPT = "handpay_receipt"  # a cancelled credit, paid by hand
    JACKPOT_RECEIPT = "jackpot_receipt"  # a win the machine cannot pay

    @property
    def is_receipt(self) -> bool:
        """Return whether the ticket is a receipt, which an attendant pays and no machine accepts."""
        return self in {TicketKind.HANDPAY_RECEIPT, TicketKind.JACKPOT_RECEIPT}


class TicketState(StrEnum):
    """The states of a ticket (AGE 20.2.1)."""

    RESERVED = "reserved"
    """A number is reserved, but the ticket is not known to be printed, so it is not money."""
    ISSUED = "issued"
    """The ticket is printed: it is money outside the machine, owed to the bearer."""
    PENDING = "pending"
    """A machine or cashier has locked the ticket for a redemption that is not finished."""
    REDEEMED = "redeemed"
    VOID = "void"
    """The ticket was not or perhaps not printed, or a person has voided it."""
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Venue:
    """The venue that issues a ticket; printed on every ticket, and stored with the ticket for duplicates.

    ``time_zone`` is an IANA name (``America/Montreal``); records are in UTC, printed times are local.
    """

    site: str
    """The name of the venue."""
    address: str = ""
    licence_holder: str = ""
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        _ = self.zone

    @property
    def zone(self) -> tzinfo:
        """Return the venue's time zone. Raises :class:`InvalidTicket` if this computer does not know it."""
        if self.time_zone == "UTC":
            return UTC
        try:
            return ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name is a folder of zones
            raise InvalidTicket(
                f"house: time_zone {self.time_zone!r} is not known to this computer"
            ) from None

    def find_last_valid_moment(self, expires_at: datetime) -> datetime:
        """Return the last second at which a ticket that expires at this moment is valid, in the venue's local time."""
        return (expires_at - timedelta(seconds=1)).astimezone(self.zone)


#: The fields of a ticket that the ledger stores under another name.
_STORED_NAME_BY_FIELD: Final = {"venue": "house", "is_duplicate": "duplicate", "journal_head": "witness"}
#: The field of a ticket for each of these stored names.
_FIELD_BY_STORED_NAME: Final = {name: field for field, name in _STORED_NAME_BY_FIELD.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One ticket as issued. Times are UTC in whole seconds."""

    number: str
    sequence: int
    """The running number of the ticket among all tickets that the issuing machine has issued, from 1."""
    kind: TicketKind
    amount_cents: int
    currency: str
    denomination_cents: int
    """The value of one credit at the cash-out, in minor units (Québec's tickets print the number of credits)."""
    issued_at: datetime
    expires_at: datetime | None
    """The first moment at which the ticket is no longer valid; None if it never expires."""
    machine_serial: str
    operator_number: str
    venue: Venue
    """The venue that issued the ticket."""
    template: str
    is_duplicate: bool = False
    """Whether this is a reprint. It has the original's number, and only one of the two can be redeemed (H-07)."""
    journal_head: str = ""
    """The machine's journal head (last entry and first digits of its hash) when the ticket was numbered.

    It is printed on the ticket, so tickets held by players prove later what the journal contained.
    """

    def __post_init__(self) -> None:
        if len(self.number) != TICKET_NUMBER_DIGIT_COUNT or not (
            self.number.isascii() and self.number.isdigit()
        ):
            raise InvalidTicket(f"ticket: number {self.number!r} is not {TICKET_NUMBER_DIGIT_COUNT} digits")
        if self.amount_cents <= 0 or self.denomination_cents <= 0 or self.sequence <= 0:
            raise InvalidTicket(
                f"ticket {mask_number(self.number)}: amount, denomination and sequence must be above 0"
            )
        for time in (self.issued_at, self.expires_at):
            if time is not None and time.utcoffset() is None:
                raise InvalidTicket(f"ticket {mask_number(self.number)}: {time} has no time zone")

    @property
    def credits(self) -> int:
        """Return the ticket's amount in whole credits of its denomination."""
        return self.amount_cents // self.denomination_cents

    @property
    def masked_number(self) -> str:
        """Return the ticket's number with all but its last digits hidden, for display until the ticket is redeemed."""
        return mask_number(self.number)

    def to_json(self) -> str:
        """Return the ticket as a JSON object; :meth:`from_json` decodes it."""
        values = {_STORED_NAME_BY_FIELD.get(name, name): value for name, value in asdict(self).items()}
        for name in ("issued_at", "expires_at"):
            values[name] = values[name] and values[name].isoformat()
        return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the ticket decoded from :meth:`to_json`. Raises :class:`InvalidTicket` naming what is wrong."""
        try:
            stored_values: Any = json.loads(text)
            if not isinstance(stored_values, dict):
                raise TypeError("it is not an object")
            if unknown_names := stored_values.keys() & _STORED_NAME_BY_FIELD.keys():
                raise ValueError(f"unknown field {', '.join(sorted(unknown_names))}")
            values: dict[str, Any] = {
                _FIELD_BY_STORED_NAME.get(str(name), str(name)): value
                for name, value in stored_values.items()
            }
            return cls(
                **{
                    **values,
                    "kind": TicketKind(values["kind"]),
                    "issued_at": datetime.fromisoformat(values["issued_at"]),
                    "expires_at": values["expires_at"] and datetime.fromisoformat(values["expires_at"]),
                    "venue": _parse_venue(values["venue"]),
                }
            )
        except (ValueError, KeyError, RecursionError, TypeError) as error:
            raise InvalidTicket(f"not a ticket: {error!r}: {text[:200]}") from None


def _parse_venue(values: Mapping[str, str]) -> Venue:
    """Return the venue from the data of a stored ticket. Raises ValueError for an unknown field."""
    field_names = {field.name for field in fields(Venue)}
    if unknown_fields := set(values) - field_names:
        raise ValueError(f"house: unknown field {', '.join(sorted(unknown_fields))}")
    return Venue(**values)


def mask_number(ticket_number: str) -> str:
    """Return a ticket number with all but its last digits hidden: unredeemed numbers are secret (AGE 5.1.5)."""
    return "•" * (len(ticket_number) - _UNMASKED_DIGIT_COUNT) + ticket_number[-_UNMASKED_DIGIT_COUNT:]


def group_digits(ticket_number: str) -> str:
    """Return a ticket number in groups for reading aloud: two digits, then groups of four."""
    return "-".join([ticket_number[:2], *(ticket_number[i : i + 4] for i in range(2, len(ticket_number), 4))])
