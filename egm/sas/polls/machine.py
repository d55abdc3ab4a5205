"""Who the machine is: identity, version, time."""

from collections.abc import Sequence
from typing import Final

from egm.sas.codec import Reply, counted
from egm.sas.poll import VARIABLE, Poll
from egm.sas.readout import Readout
from egm.sas.wire import LongPoll

SAS_VERSION: Final = b"602"
_SERIAL_BYTES_MAX: Final = 40


def version_and_serial(_: LongPoll, readout: Readout) -> Reply:
    """54: the SAS version and the serial number."""
    return Reply(counted(SAS_VERSION + readout.serial.encode("ascii", "replace")[:_SERIAL_BYTES_MAX]))


ROWS: Final[Sequence[Poll]] = (Poll(code=0x54, response=VARIABLE, answer=version_and_serial),)
