"""The ticket: what one is, where it is in its life, and how it is shown and stored."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any, Final, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from egm.tickets.errors import InvalidTicket

#: Digits of a validation number as printed: two of the system, sixteen of the ticket.
DIGITS: Final = 18
#: How the moves a cashier makes are signed.
CAGE: Final = "cage:"
#: Who issued a ticket that this ledger learned of from a host: it is the host who owes it.
ELSEWHERE: Final = "host"
#: What of an unredeemed ticket's number may be shown (E-06).
_SHOWN: Final = 4


class TicketKind(StrEnum):
    """What a ticket is worth, and to whom. The first three are the credit kinds of the chart of accounts."""

    CASHABLE = "cashable"
    RESTRICTED = "restricted"
    NONRESTRICTED = "nonrestricted"
    HANDPAY_RECEIPT = "handpay_receipt"  # a cancelled credit, paid by hand
    JACKPOT_RECEIPT = "jackpot_receipt"  # a win the machine cannot pay

    @property
    def is_receipt(self) -> bool:
        """Whether it is paid by people only, and never taken by a machine."""
        return self in {TicketKind.HANDPAY_RECEIPT, TicketKind.JACKPOT_RECEIPT}


class TicketState(StrEnum):
    """Where a ticket is in its life (AGE 20.2.1)."""

    RESERVED = "reserved"  # it has a number; nothing says that it was printed, so it is not money
    ISSUED = "issued"  # printed: money out of the machine, owed to whoever holds it
    PENDING = "pending"  # locked to one redeemer, who has not said the end yet
    REDEEMED = "redeemed"
    VOID = "void"  # never printed, or cancelled by a person
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Who issues: printed on every ticket, and kept with it so that a duplicate says the same.

    ``time_zone`` is an IANA name (``America/Montreal``); records are in UTC, people read local time.
    """

    site: str
    address: str = ""
    licence_holder: str = ""
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        _ = self.zone

    @property
    def zone(self) -> tzinfo:
        """The time zone. Raises :class:`InvalidTicket` when this computer does not know it."""
        if self.time_zone == "UTC":
            return UTC
        try:
            return ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder of zones is no zone
            raise InvalidTicket(f"house: time_zone {self.time_zone!r} is not known here") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One ticket. Times are UTC in whole seconds; ``expires_at`` is the first moment it is no longer good.

    ``sequence`` counts the tickets of its machine from 1. ``denomination_cents`` is that of the credits it
    was made from (Québec prints their number). ``duplicate`` marks a reprint: the same number, still to be
    redeemed once (H-07). ``witness`` is the head of its machine's journal when it was numbered (entry and
    first digits of the hash): paper in many hands that holds the journal to what it was.
    """

    number: str
    sequence: int
    kind: TicketKind
    amount_cents: int
    currency: str
    denomination_cents: int
    issued_at: datetime
    expires_at: datetime | None
    machine_serial: str
    operator_number: str
    house: House
    template: str
    duplicate: bool = False
    witness: str = ""

    def __post_init__(self) -> None:
        if len(self.number) != DIGITS or not (self.number.isascii() and self.number.isdigit()):
            raise InvalidTicket(f"ticket: number {self.number!r} is not {DIGITS} digits")
        if self.amount_cents <= 0 or self.denomination_cents <= 0 or self.sequence <= 0:
            raise InvalidTicket(f"ticket {mask(self.number)}: amount, denomination and sequence are above 0")
        for when in (self.issued_at, self.expires_at):
            if when is not None and when.utcoffset() is None:
                raise InvalidTicket(f"ticket {mask(self.number)}: {when} has no time zone")

    @property
    def credits(self) -> int:
        """Whole credits of its denomination."""
        return self.amount_cents // self.denomination_cents

    @property
    def masked(self) -> str:
        """The number as it may be shown while the ticket is unredeemed."""
        return mask(self.number)

    def to_json(self) -> str:
        """The ticket as one JSON object; :meth:`from_json` gives it back."""
        values = asdict(self)
        for name in ("issued_at", "expires_at"):
            values[name] = values[name] and values[name].isoformat()
        return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote. Raises :class:`InvalidTicket` naming what is wrong."""
        try:
            values: Any = json.loads(text)
            return cls(
                **{
                    **values,
                    "kind": TicketKind(values["kind"]),
                    "issued_at": datetime.fromisoformat(values["issued_at"]),
                    "expires_at": values["expires_at"] and datetime.fromisoformat(values["expires_at"]),
                    "house": _house(values["house"]),
                }
            )
        except (ValueError, KeyError, RecursionError, TypeError) as why:
            raise InvalidTicket(f"not a ticket: {why!r}: {text[:200]}") from None


def _house(values: Mapping[str, str]) -> House:
    known = {field.name for field in fields(House)}
    if unknown := set(values) - known:
        raise ValueError(f"house: unknown {', '.join(sorted(unknown))}")
    return House(**values)


def mask(number: str) -> str:
    """All but the last digits hidden: nobody may learn an unredeemed ticket's number (AGE 5.1.5)."""
    return "•" * (len(number) - _SHOWN) + number[-_SHOWN:]


def grouped(number: str) -> str:
    """A validation number as people read it aloud: two digits, then fours."""
    return "-".join([number[:2], *(number[i : i + 4] for i in range(2, len(number), 4))])
