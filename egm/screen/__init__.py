"""The screen: the process that owns pixels and sound, and knows only the messages it is sent.

``view = f(snapshot, time)``: :mod:`egm.screen.view` holds everything that is drawn, the scenes draw it and
change nothing, and the one thing a person can do here is to wish (:class:`egm.kernel.messages.Intent`).
"""

from typing import Final

CLOSED: Final = 5
"""The exit status of a screen that a person has closed; any other end is a fault, and it is started again."""
