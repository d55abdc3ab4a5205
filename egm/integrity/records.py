"""Stored records of integrity that other features read: what disables the machine, and the installed software."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from egm.record_codec import stored_as
from egm.record_fields import IsoTime


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablingRecord:
    """Why a host, a link or an operator disables the machine, and since when."""

    reason: str
    disabled_at: IsoTime = field(metadata=stored_as("since"))


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledSoftware:
    """The stored description of the installed software, as its manufacturer signed it.

    ``components`` has the digest of each component, by name.
    """

    version: str
    signer: str
    components: Mapping[str, str]
