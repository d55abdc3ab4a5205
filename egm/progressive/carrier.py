"""Interface of a carrier, which transports the messages of the progressive link, such as MQTT."""

from typing import Protocol

from egm.progressive.messages import FromController, FromMachine


class CarrierListener(Protocol):
    """Receiver of a carrier's reports about the connection to the controller. Its methods run on the machine's loop."""

    def handle_connection(self) -> None:
        """Handle a new connection to the progressive controller; called again after each interruption."""
        ...

    def handle_disconnection(self, why: str) -> None:
        """Handle the loss of the connection to the progressive controller."""
        ...

    def process_message(self, message: FromController) -> None:
        """Handle a message of the progressive controller. Messages may arrive twice, late, and out of order."""
        ...

    def handle_invalid_message(self, text: str) -> None:
        """Handle data of the progressive controller that are not a valid message; ``text`` says what is wrong."""
        ...


class LinkCarrier(Protocol):
    """A connection to a progressive controller. It stores nothing: the link repeats lost messages."""

    async def run(self, listener: CarrierListener) -> None:
        """Carry messages between machine and controller until cancelled, reconnecting after each interruption.

        ``listener`` receives the controller's messages and the changes of the connection.
        """
        ...

    def send(self, message: FromMachine) -> None:
        """Send a message to the progressive controller, or drop it without a connection; never waits."""
        ...
