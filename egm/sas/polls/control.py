"""What a host does to the machine: takes it out of service and gives it back."""

from collections.abc import Sequence
from typing import Final

from egm.cabinet.states import Event
from egm.sas.codec import ACK, Reply
from egm.sas.host import Host
from egm.sas.poll import ONE_BYTE, Poll
from egm.sas.settings import Group
from egm.sas.wire import LongPoll


def shut_down(host: Host, _: LongPoll) -> Reply:
    """01: no play until start-up; a game begun is finished, and credits can be cashed out."""
    host.handle(Event.DISABLED, source=host.source, reason="host")
    return ACK


def start_up(host: Host, _: LongPoll) -> Reply:
    """02: the same host gives the machine back."""
    host.handle(Event.ENABLED, source=host.source)
    return ACK


ROWS: Final[Sequence[Poll]] = (
    Poll(code=0x01, response=ONE_BYTE, effect=shut_down, group=Group.CONTROL),
    Poll(code=0x02, response=ONE_BYTE, effect=start_up, group=Group.CONTROL),
)
