"""Long poll: one row of what this machine answers, how it is answered, and what that does.

There are two kinds. An *answer* is made on the line's own thread from the :class:`Readout` alone: it reads,
and is ready at once. An *effect* runs on the machine's loop, where it may let things happen and write the
journal; the line waits for it within its limit, tells the host to ask again beyond that, and gives the
result to the repeat. An effect is never run twice for one poll and its repeats, as long as its reply says
``once``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from egm.config.sas_line import Group
from egm.links.sas.codec import Reply
from egm.links.sas.host import Host
from egm.links.sas.readout import Readout
from egm.links.sas.wire import LongPoll

Answer: TypeAlias = Callable[[LongPoll, Readout], Reply | None]
"""None is silence: this machine does not have what is asked for."""

Effect: TypeAlias = Callable[[Host, LongPoll], Reply | None]

Acknowledged: TypeAlias = Callable[[Host, LongPoll, Reply], None]

VARIABLE: Final = 0
ONE_BYTE: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """One poll this machine answers, by ``answer`` or by ``effect``.

    ``response`` is the whole answer's size on the wire in bytes (``VARIABLE``: it has its own length;
    ``ONE_BYTE``: an acknowledgement). ``acknowledged`` runs on the loop once the host is known to have the
    answer. ``group`` is the switch it hangs on. ``broadcast``: also obeyed at address 0, unanswered.
    ``by_denomination``: may be asked behind the multi-denomination preamble B0.
    """

    code: int
    response: int
    answer: Answer | None = None
    effect: Effect | None = None
    acknowledged: Acknowledged | None = None
    group: Group = Group.STANDARD
    broadcast: bool = False
    by_denomination: bool = False
