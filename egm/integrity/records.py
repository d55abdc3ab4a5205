"""The stored record of why a host, a link or an operator disables the machine."""

from dataclasses import dataclass

from egm.record_fields import IsoTime


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablingRecord:
    """Why a host, a link or an operator disables the machine, and since when."""

    reason: str
    since: IsoTime
