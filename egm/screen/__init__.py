"""The screen process: the only process that draws and plays sound.

It knows only the messages it receives. What is drawn is a function of these messages and of time:
:mod:`egm.screen.view` holds everything that is drawn, and the scenes draw it and change nothing. A person's
touch never changes the machine directly; it only produces a request (:class:`egm.kernel.messages.Intent`).
"""

from typing import Final

#: The address on which the browser screen listens: this computer only.
LOOPBACK_ADDRESS: Final = "127.0.0.1"
#: The exit status of the screen process if a person closed it.
#:
#: After any other exit status, ``egm run`` restarts the screen. The exception is status 2 (an operator error)
#: within seconds of the first start: it ends the cabinet.
EXIT_CODE_CLOSED_BY_PERSON: Final = 5
