"""The journal entries of the links: a SAS host's line, its time and what it has read; requests of a GAT verifier."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from egm.kernel.entries import EntryDeclaration
from egm.links.keys import LinksKey
from egm.progressive.keys import ProgressiveKey
from egm.record_codec import omit_if_default, stored_as
from egm.record_fields import Count, IsoTime, PositiveNumber


# ---------------------------------------------------------------------------------------------- hosts
@dataclass(frozen=True, slots=True, kw_only=True)
class HostLineEvent:
    """The machine has started to wait for a SAS host, or the host has started or stopped polling."""

    host_name: str = field(metadata=stored_as("host"))
    """The name of the host, which is the name of its SAS line in the cabinet file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTimeRecorded:
    """A SAS host has sent its time."""

    host_name: str = field(metadata=stored_as("host"))
    host_time: IsoTime = field(metadata=stored_as("told"))
    """The time that the host sent."""
    ahead_seconds: int
    """By how many seconds the host's clock is ahead of the machine's, rounded up; negative if it is behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollFailed:
    """A poll of a SAS host got no reply, because the machine itself failed; recorded once per poll code and run."""

    host_name: str = field(metadata=stored_as("host"))
    poll_code: str = field(metadata=stored_as("poll"))
    """The command code of the poll, two hexadecimal digits."""
    reason: str = field(metadata=stored_as("why"))
    """The reason why the machine could not answer the poll."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RomSignatureFailed:
    """The ROM signature that a SAS host requested could not be computed."""

    host_name: str = field(metadata=stored_as("host"))
    reason: str = field(metadata=stored_as("why"))
    """The reason why the signature could not be computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressiveWinsRead:
    """The SAS host that broadcasts the amounts of progressive levels has read wins of these levels."""

    host_name: str = field(metadata=stored_as("host"))
    win_count: PositiveNumber = field(metadata=stored_as("wins"))
    """The number of wins that the host has read."""


HOST_START_AWAITED: Final = EntryDeclaration(
    kind="host.start_awaited",
    record=HostLineEvent,
    description="The machine waits for a host to start it for the first time, as the jurisdiction requires.",
    written_keys=(LinksKey.HAS_AWAITED_HOST_START,),
)
HOST_POLLS_AWAITED: Final = EntryDeclaration(
    kind="host.awaited",
    record=HostLineEvent,
    description="The machine has started and waits for a host to poll it.",
    written_keys=(LinksKey.HOST_STOPPED_POLLING_AT,),
)
HOST_LINK_LOST: Final = EntryDeclaration(
    kind="host.link_lost",
    record=HostLineEvent,
    description="A host has stopped polling.",
    counts={"host_comm_loss": 1},
    written_keys=(LinksKey.HOST_STOPPED_POLLING_AT,),
)
HOST_LINK_UP: Final = EntryDeclaration(
    kind="host.link_up",
    record=HostLineEvent,
    description="A host polls the machine.",
    written_keys=(LinksKey.HOST_STOPPED_POLLING_AT,),
)
HOST_TIME_RECORDED: Final = EntryDeclaration(
    kind="host.time", record=HostTimeRecorded, written_keys=(LinksKey.HOST_CLOCK_AHEAD_SECONDS,)
)
HOST_POLL_FAILED: Final = EntryDeclaration(kind="host.poll_failed", record=PollFailed)
ROM_SIGNATURE_FAILED: Final = EntryDeclaration(kind="host.unsigned", record=RomSignatureFailed)
PROGRESSIVE_WINS_READ: Final = EntryDeclaration(
    kind="progressive.read", record=ProgressiveWinsRead, written_keys=(ProgressiveKey.UNREAD_BROADCAST_WIN,)
)


# ---------------------------------------------------------------------------------------------- a verifier (GAT)
@dataclass(frozen=True, slots=True, kw_only=True)
class GatCalculation:
    """The last calculation that a verifier requested over GAT, and its result.

    ``result_kind`` is the kind of result; "" if the request was refused. ``finished_time`` is "" until the calculation
    has ended. ``failure_reason`` is "" unless it has failed.
    """

    parameters: tuple[str, ...]
    """The parameters as the verifier sent them."""
    authentication_level: Count = field(metadata=stored_as("level"))
    """The authentication level that the verifier requested (GAT)."""
    result_kind: str = field(metadata=stored_as("kind"))
    algorithm: str
    """The name of the hash algorithm."""
    finished_time: str = field(metadata=stored_as("finished"))
    result_by_component: Mapping[str, str] = field(metadata=stored_as("values"))
    """The result by the name of the software component: a signature or, in a list of the software, a digest."""
    failure_reason: str = field(metadata=stored_as("trouble"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GatRequest:
    """A verifier has requested a calculation over GAT."""

    parameters: tuple[str, ...]
    """The parameters as the verifier sent them."""
    authentication_level: Count = field(metadata=stored_as("level"))
    """The authentication level that the verifier requested (GAT)."""
    refusal_reason: str = omit_if_default("", key="refused")
    """The reason why the calculation was not started; empty if it was started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatResult:
    """A calculation for a GAT verifier has ended, with its results or with the reason why it failed."""

    parameters: tuple[str, ...]
    """The parameters as the verifier sent them."""
    algorithm: str
    """The name of the hash algorithm."""
    result_by_component: Mapping[str, str] = field(metadata=stored_as("values"))
    """The result by the name of the software component: a signature or, in a list of the software, a digest."""
    failure_reason: str = field(metadata=stored_as("trouble"))
    """The reason why the calculation failed; empty if it has results."""


GAT_REQUEST: Final = EntryDeclaration(
    kind="gat.request", record=GatRequest, written_keys=(LinksKey.LAST_GAT_CALCULATION,)
)
GAT_RESULT: Final = EntryDeclaration(
    kind="gat.result", record=GatResult, written_keys=(LinksKey.LAST_GAT_CALCULATION,)
)
