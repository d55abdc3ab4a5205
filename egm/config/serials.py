"""A machine's serial number: one rule for its characters, applied wherever a serial number is read.

The serial number is also part of the names of certificates, files and MQTT topics, so no other characters are
allowed.
"""

import re
from typing import Annotated, Final

from pydantic import Field

from egm.errors import OperatorError

#: The form of a serial number: at most 24 capital letters, digits and hyphens.
_SERIAL_PATTERN: Final = r"[A-Z0-9-]{1,24}"
#: The rule as a field of a table or a message.
Serial = Annotated[str, Field(pattern=f"^{_SERIAL_PATTERN}$")]


def check_serial(text: str) -> str:
    """Return ``text`` if it is a valid serial number of a machine. Raises OperatorError otherwise."""
    if not re.fullmatch(_SERIAL_PATTERN, text):
        reason = "capital letters, digits and hyphens, 24 at most, as the cabinet file has it"
        raise OperatorError(f"{text!r} is not a valid machine serial number: {reason}")
    return text
