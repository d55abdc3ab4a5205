"""The stored record of why a host, a link or an operator disables the machine."""

from dataclasses import dataclass, field

from egm.record_codec import stored_as
from egm.record_fields import IsoTime


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablingRecord:
    """Why a host, a link or an operator disables the machine, and since when."""

    reason: str
    disabled_at: IsoTime = field(metadata=stored_as("since"))
