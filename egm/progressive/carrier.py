"""Interface of a carrier, which transports the messages of the progressive link, such as MQTT."""

from typing import Protocol

from egm.progressive.messages import ControllerMessage, MachineMessage


class CarrierListener(Protocol):
    """The object to which a carrier passes messages and changes of the connection to the controller.

    The carrier calls its methods on the machine's event loop.
    """

    def handle_connected(self) -> None:
        """Handle a new connection to the progressive controller; called again after each interruption."""
        ...

    def handle_disconnected(self, reason: str) -> None:
        """Handle the loss of the connection to the progressive controller."""
        ...

    def process_message(self, message: ControllerMessage) -> None:
        """Process a message of the progressive controller. Messages may arrive twice, late, and out of order."""
        ...

    def handle_invalid_message(self, text: str) -> None:
        """Handle received data that is not a valid message; ``text`` says what is wrong with it."""
        ...


class LinkCarrier(Protocol):
    """A connection to a progressive controller over some network, such as MQTT.

    It stores no messages: :class:`~egm.progressive.link.ControllerLink` sends lost ones again.
    """

    async def run(self, listener: CarrierListener) -> None:
        """Connect to the controller and carry messages until cancelled, reconnecting after each interruption.

        ``listener`` receives the controller's messages and the changes of the connection.
        """
        ...

    def send(self, message: MachineMessage) -> None:
        """Send a message to the controller without waiting; drop it if there is no connection."""
        ...
