"""Declaration of a long poll that this machine answers: its command code, and its answer or its effect.

An *answer* is computed on the line's own thread from the :class:`SasReadout` alone, and is ready at once. An
*effect* runs on the machine's event loop, where it may submit events and write the journal; the line waits
for it within its limit, then asks the host to poll again, and gives the result to the repeat. An effect never
runs twice for one poll and its repeats, as long as its reply says ``executes_once``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from egm.config.sas_line import PollGroup
from egm.links.sas.codec import Reply
from egm.links.sas.host import SasHost
from egm.links.sas.readout import SasReadout
from egm.links.sas.wire import LongPoll

PollAnswerFunction: TypeAlias = Callable[[LongPoll, SasReadout], Reply | None]
"""A function that computes a poll's reply from the readout (the machine's data for this host).

It returns None for no reply, if the machine lacks what was requested.
"""

#: Carries out a poll on the machine and returns the reply; None means no reply.
PollEffectFunction: TypeAlias = Callable[[SasHost, LongPoll], Reply | None]

#: Called once the host is known to have received the reply to a poll.
AcknowledgementFunction: TypeAlias = Callable[[SasHost, LongPoll, Reply], None]

#: Size of a reply that states its own length.
VARIABLE_RESPONSE_LENGTH: Final = 0
#: Size of a reply that is only an acknowledgement.
ONE_BYTE_RESPONSE: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PollImplementation:
    """A long poll that this machine answers, by ``answer_function`` or by ``effect_function``.

    ``response_length`` is the whole reply's size on the line in bytes (``VARIABLE_RESPONSE_LENGTH``: the
    reply states its own length; ``ONE_BYTE_RESPONSE``: an acknowledgement). ``acknowledgement_function``
    runs on the machine's event loop once the host is known to have the reply. ``group`` is the option that
    enables the poll. ``is_executed_as_broadcast``: also executed at address 0, without a reply.
    ``is_allowed_by_denomination``: may follow the multi-denomination preamble B0.
    """

    code: int
    response_length: int
    answer_function: PollAnswerFunction | None = None
    effect_function: PollEffectFunction | None = None
    acknowledgement_function: AcknowledgementFunction | None = None
    group: PollGroup = PollGroup.STANDARD
    is_executed_as_broadcast: bool = False
    is_allowed_by_denomination: bool = False
