"""The stored record of a host, a link or an operator that holds the machine out of service."""

from dataclasses import dataclass

from egm.record_fields import Time


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablingRecord:
    """Why a host, a link or an operator holds the machine out of service, and since when."""

    reason: str
    since: Time
