"""Declaration of a long poll that this machine answers: its command code, and the function that makes the reply.

An *answer* function runs on the line's own thread. It uses only the :class:`SasReadout`, the prepared data of the
machine, and replies at once. An *effect* function runs on the machine's event loop, where it may submit events and
write the journal. The line waits for it up to a limit, then asks the host to poll again; the repeated poll gets the
result. An effect whose reply has ``is_resent_on_repeat`` runs only once for a poll and its repeats.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from egm.config.sas_line import SasPollGroup
from egm.links.sas.codec import Reply
from egm.links.sas.host import SasHost
from egm.links.sas.readout import SasReadout
from egm.links.sas.wire import LongPoll

#: A function that makes the reply to a long poll from the readout (the machine's prepared data for this host).
#:
#: It returns None, which means no reply, if the machine lacks what was requested.
PollAnswerFunction: TypeAlias = Callable[[LongPoll, SasReadout], Reply | None]

#: Executes a poll on the machine and returns the reply; None means no reply.
PollEffectFunction: TypeAlias = Callable[[SasHost, LongPoll], Reply | None]

#: Called once the host is known to have received the reply to a poll.
AcknowledgementFunction: TypeAlias = Callable[[SasHost, LongPoll, Reply], None]

#: Size of a reply that states its own length.
VARIABLE_REPLY_SIZE: Final = 0
#: Size of a reply that is only an acknowledgement.
ONE_BYTE_REPLY_SIZE: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PollImplementation:
    """A long poll that this machine answers, and the one function that makes the reply.

    A poll that only reads data has an ``answer_function``, which runs on the thread of the host's line. Any other poll
    has an ``effect_function``, which runs on the machine's event loop and may change the machine.
    """

    code: int
    """The poll's command code."""
    reply_size_bytes: int
    """The size of the whole reply on the line, in bytes.

    ``VARIABLE_REPLY_SIZE``: the reply states its own length; ``ONE_BYTE_REPLY_SIZE``: an acknowledgement.
    """
    answer_function: PollAnswerFunction | None = None
    effect_function: PollEffectFunction | None = None
    acknowledgement_function: AcknowledgementFunction | None = None
    """The function to run on the machine's event loop once the host is known to have the reply, or None."""
    group: SasPollGroup = SasPollGroup.STANDARD
    """The option group of polls to which the poll belongs; the cabinet file switches groups on."""
    is_executed_as_broadcast: bool = False
    """Whether the poll is also executed if it is sent to address 0, where it gets no reply."""
    can_be_limited_to_denomination: bool = False
    """Whether a host may put this poll into poll B0, which requests the poll's reply for one denomination only."""
