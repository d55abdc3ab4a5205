"""One SAS line as the cabinet file describes it: ``[sas.<name>]``."""

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from egm.config.documented_fields import DocumentedFieldsMixin


class SasPollGroup(StrEnum):
    """The groups of SAS polls that a line of the cabinet file can switch on or off.

    Groups that are based on general knowledge of the protocol only, not on a published description, are off by
    default.
    """

    STANDARD = "standard"
    """Meters, games, bills, doors, identity: always on."""
    CONTROL = "control"
    """A host's control of the machine: disable and enable it, bills, games, maintenance, sounds."""
    HANDPAY_RESET = "handpay_reset"
    HOPPER_STATUS = "hopper_status"
    MULTI_DENOMINATION = "multi_denomination"
    ROM_SIGNATURE = "rom_signature"
    TICKETS = "tickets"
    AFT = "aft"
    REAL_TIME_EVENTS = "real_time"
    GAME_DELAY = "delay"
    PROGRESSIVES = "progressives"


#: The groups of polls that are on by default.
DEFAULT_POLL_GROUPS: Final = frozenset(SasPollGroup) - {
    SasPollGroup.HANDPAY_RESET,
    SasPollGroup.HOPPER_STATUS,
    SasPollGroup.REAL_TIME_EVENTS,
    SasPollGroup.GAME_DELAY,
    SasPollGroup.PROGRESSIVES,
}


class SasLineTable(DocumentedFieldsMixin, BaseModel):
    """One SAS line to a host, under a name of your choice."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    port: str = "pty"
    """A serial port; ``pty`` for a pseudo-terminal that the machine creates; or ``socket://`` or ``rfc2217://``."""
    address: Annotated[int, Field(ge=1, le=127, strict=True)] = 1
    """The machine's SAS address on the line."""
    framing: Literal["strict", "lenient"] = "strict"
    """With strict framing, the wakeup bit marks the first byte of a message; lenient framing is for lines without a
    wakeup bit."""
    gap_max_ms: Annotated[int, Field(ge=5, le=1000, strict=True)] | None = Field(None, alias="gap_ms")
    """The longest pause within a message, in milliseconds; by default 5, or 30 on a pseudo-terminal or with
    lenient framing."""
    requires_sync: bool = Field(False, alias="require_sync")
    """Whether, after a pause in polling, the machine replies only after it has seen a poll to a different machine."""
    sends_chirps: bool = Field(True, alias="chirp")
    """Whether to send the machine's address from time to time while no host polls it."""
    queue_length: Annotated[int, Field(ge=20, le=1000, strict=True)] = Field(20, alias="queue")
    """The number of exceptions (SAS events) that are stored until the host polls them."""
    busy_after_ms: Annotated[int, Field(ge=1, le=19, strict=True)] = Field(15, alias="busy_ms")
    """The milliseconds after which a poll that changes something gets the busy reply; a reply is due within 20."""
    denomination_cents: Annotated[int, Field(gt=0, strict=True)] = 1
    """The accounting denomination: the value of one credit of every meter, in minor units."""
    enabled_groups: frozenset[SasPollGroup] = Field(frozenset(), alias="enable")
    """Groups of polls to switch on that are off by default (egm/links/sas/CONFORMANCE.md)."""
    disabled_groups: frozenset[SasPollGroup] = Field(frozenset(), alias="disable")
    """Groups of polls to switch off that are on by default; `standard` cannot be."""

    @model_validator(mode="after")
    def _check_consistency(self) -> "SasLineTable":
        """Return the SAS line; raise an error if its keys contradict each other."""
        if "://" in self.port and self.framing == "strict":
            raise ValueError(f'{self.port} cannot carry the wakeup bit of SAS: framing must be "lenient"')
        if SasPollGroup.STANDARD in self.disabled_groups:
            raise ValueError(
                "disable: the group standard cannot be disabled; to have no SAS, remove this line's table"
            )
        return self

    @property
    def permitted_groups(self) -> frozenset[SasPollGroup]:
        """Return the groups of SAS long polls that the host on this line may use."""
        return (DEFAULT_POLL_GROUPS | self.enabled_groups) - self.disabled_groups

    @property
    def gap_ns(self) -> int:
        """Return the longest pause allowed within a SAS message, in nanoseconds."""
        has_exact_timing = self.framing == "strict" and self.port != "pty"
        milliseconds = self.gap_max_ms if self.gap_max_ms is not None else 5 if has_exact_timing else 30
        return milliseconds * 1_000_000
